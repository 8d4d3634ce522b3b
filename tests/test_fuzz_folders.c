/* Mutated data sets: folders with a graph, features, labels and a split, and OGB's. Each is loaded, valid, or
 * refused with a message; nothing leaks, and no memory is taken that the files do not account for.
 * FEATBLAS_CASES=n tries n of each kind, FEATBLAS_SEED=n others. */
#include "support/check.h"
#include "support/compare.h"
#include "support/fail_alloc.h"
#include "support/mutate.h"
#include "support/temporary.h"

#include "data/dataset.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define CASES rng_cases(1500)

typedef struct member {
    const char *name, *text;
    bool packed;
} member;

typedef struct kind {
    const char *folder;
    const char *const *inside;
    const member *members;
    int count;
} kind;

static const char *const no_folders[] = {NULL}, *const ogb_folders[] = {"raw", "split", "split/time", NULL};

static const member matrices[] = {
    {"edges.mtx", "%%MatrixMarket matrix coordinate real symmetric\n5 5 4\n2 1 1.5\n3 2 1\n4 3 2\n5 5 -1\n",
     0},
    {"features.mtx", "%%MatrixMarket matrix coordinate pattern general\n5 3 4\n1 1\n2 1\n4 2\n5 3\n", 0},
    {"labels.txt", "0\n2\n1\n-1\n2\n", 0},
    {"split.txt", "train\nval\ntest\nnone\ntrain\n", 0},
};
static const member tables[] = {
    {"edges.tsv", "source\ttarget\n0\t1\n1\t2\n2\t3\n3\t4\n4\t0\n", 0},
    {"features.csv", "0.5,1\n1.5,2\n2.5,-3\n3.5,4e2\n4.5,5\n", 1},
    {"labels.csv", "a,b\n0,1\n1,1\nnan,0\n,1\n1,0.5\n", 0},
    {"split.txt", "# parts\ntrain\r\nvalid\r\nnone\r\nnone\r\ntest\r\n", 1},
};
static const member ogb[] = {
    {"raw/edge.csv.gz", "0,1\n2,1\n3,0\n", 1},
    {"raw/node-feat.csv.gz", "0.5,1\n1.5,2\n2.5,3\n3.5,4\n4.5,5\n", 1},
    {"raw/node-label.csv.gz", "0\n2\n1\n2\n2\n", 1},
    {"raw/num-node-list.csv.gz", "5\n", 1},
    {"split/time/train.csv.gz", "0\n4\n", 1},
    {"split/time/valid.csv.gz", "1\n", 1},
    {"split/time/test.csv.gz", "3\n2\n", 1},
};

#define MEMBERS(m) (m), (int)(sizeof(m) / sizeof *(m))
static const kind kinds[] = {{"matrices", no_folders, MEMBERS(matrices)},
                             {"tables", no_folders, MEMBERS(tables)},
                             {"ogb", ogb_folders, MEMBERS(ogb)}};

static void write_member(const kind *k, int m, const input *in)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", k->folder, k->members[m].name);
    if (k->members[m].packed)
        write_gzip(path, in->bytes, in->size);
    else
        write_bytes(path, in->bytes, in->size);
}

static void make_folder(const char *folder, const char *inside)
{
    char path[128];
    snprintf(path, sizeof path, "%s%s%s", folder, inside ? "/" : "", inside ? inside : "");
    assert_int_equal(mkdir(temp_path(path), 0777), 0);
}

static void remove_folder(const kind *k)
{
    char path[128];
    for (int m = 0; m < k->count; m++) {
        snprintf(path, sizeof path, "%s/%s", k->folder, k->members[m].name);
        remove(temp_path(path));
    }
    for (int f = 2; f >= 0 && k->inside[0]; f--) {
        snprintf(path, sizeof path, "%s/%s", k->folder, k->inside[f]);
        rmdir(temp_path(path));
    }
    rmdir(temp_path(k->folder));
}

static void assert_whole(const dataset *set, int number)
{
    int64_t parts[DATASET_PARTS] = {0};
    assert_valid(set->graph, false);
    assert_true((set->sparse_features != NULL) + (set->dense_features != NULL) == 1);
    if (set->sparse_features)
        assert_valid(set->sparse_features, false);
    for (int64_t v = 0; v < set->nvertices; v++) {
        if (set->labels && (set->labels[v] < -1 || set->labels[v] >= set->nclasses))
            fail_msg("case %d: class %d of %lld", number, set->labels[v], (long long)set->nclasses);
        for (int p = 0; p < DATASET_PARTS && set->part[0]; p++)
            parts[p] += set->part[p][v] == 1;
    }
    for (int p = 0; p < DATASET_PARTS; p++)
        assert_int_equal(parts[p], set->part_count[p]);
}

static dataset_options some_options(rng *r)
{
    if (rng_below(r, 4))
        return (dataset_options){.undirected = rng_below(r, 2)};
    return (dataset_options){.features_made = (dataset_made)(rng_below(r, 4) ? 0 : rng_below(r, 3)),
                             .task = (dataset_task)(rng_below(r, 4) ? 0 : rng_below(r, 3)),
                             .nclasses = rng_below(r, 4) ? 0 : rng_below(r, 5),
                             .nfeatures = rng_below(r, 8) ? 0 : rng_below(r, 4),
                             .undirected = rng_below(r, 2),
                             .labels_optional = rng_below(r, 2),
                             .split_optional = rng_below(r, 2)};
}

static void try_load(const kind *k, const dataset_options *options, int number, int *accepted)
{
    dataset set = {0};
    int64_t before, after;
    char path[512];
    snprintf(path, sizeof path, "%s", temp_path(k->folder));
    FtB_Context_memory(NULL, &before, NULL);
    GrB_Info info = dataset_load(&set, path, options);
    if (info == GrB_SUCCESS) {
        ++*accepted;
        assert_whole(&set, number);
    } else if (set.graph || set.labels || (info != FTB_LIMIT && !strstr(FtB_error(), k->folder))) {
        fail_msg("case %d: %d, \"%s\"", number, (int)info, FtB_error());
    } else if (info != FTB_FORMAT && info != FTB_IO && info != FTB_LIMIT && info != GrB_INVALID_VALUE &&
               info != GrB_DIMENSION_MISMATCH) {
        fail_msg("case %d: %d, \"%s\" is no error of a data set", number, (int)info, FtB_error());
    }
    dataset_free(&set);
    FtB_Context_memory(NULL, &after, NULL);
    assert_int_equal(before, after);
}

static void mutated(const kind *k)
{
    static input in;
    const int cases = CASES;
    int accepted = 0;
    make_folder(k->folder, NULL);
    for (int f = 0; k->inside[f]; f++)
        make_folder(k->folder, k->inside[f]);
    for (int number = 0; number < cases; number++) {
        rng r = rng_case(number);
        const int changed = (int)rng_below(&r, k->count);
        for (int m = 0; m < k->count; m++) {
            put_text(&in, k->members[m].text);
            for (int64_t n = m == changed || rng_below(&r, 20) == 0 ? 1 + rng_below(&r, 2) : 0; n > 0; n--)
                mutate(&in, &r, true);
            write_member(k, m, &in);
        }
        const dataset_options options = some_options(&r);
        try_load(k, &options, number, &accepted);
    }
    remove_folder(k);
    print_message("%s: %d of %d cases were accepted\n", k->folder, accepted, cases);
    assert_true(accepted > cases / 100);
}

static void folder_of_matrices(void **state)
{
    (void)state;
    mutated(&kinds[0]);
}

static void folder_of_tables(void **state)
{
    (void)state;
    mutated(&kinds[1]);
}

static void ogb_folder(void **state)
{
    (void)state;
    mutated(&kinds[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(folder_of_matrices),
                                       cmocka_unit_test(folder_of_tables), cmocka_unit_test(ogb_folder)};
    limit_memory(1024);
    live_allocations(); /* pairs every allocation with its release */
    FtB_Context_set_memory_limit(NULL, 64 << 20);
    FtB_Context_set_threads(NULL, 2);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

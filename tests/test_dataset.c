/* Data sets: the layouts on disk, what is made where something is missing, and what is refused. Cora itself
 * is loaded where FEATBLAS_DATA names the folder with it. */
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/temporary.h"

#include "core/core.h"
#include "data/dataset.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPTIONS(...) (&(const dataset_options){__VA_ARGS__})
#define SYMMETRIC "%%MatrixMarket matrix coordinate pattern symmetric\n"

/* ---- folders */

static void make_folder(const char *name)
{
    assert_true(mkdir(temp_path(name), 0777) == 0 || access(temp_path(name), W_OK) == 0);
}

/* A path of four vertices, two features, two classes; files that are NULL are left out. */
typedef struct small {
    const char *edges, *features, *labels, *split;
} small;
static const small usual = {SYMMETRIC "4 4 3\n2 1\n3 2\n4 3\n",
                            "%%MatrixMarket matrix coordinate pattern general\n"
                            "4 2 3\n1 1\n2 1\n4 2\n",
                            "0\n0\n1\n1\n", "train\nval\ntest\nnone\n"};

static void put(const char *folder, const char *name, const char *text)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    remove(temp_path(path));
    if (text)
        write_string(path, text);
}

static const char *make_small(const small *s)
{
    make_folder("small");
    put("small", "edges.mtx", s->edges);
    put("small", "features.mtx", s->features);
    put("small", "labels.txt", s->labels);
    put("small", "split.txt", s->split);
    static char path[512]; /* temp_path's does not last */
    snprintf(path, sizeof path, "%s", temp_path("small"));
    return path;
}

static dataset load(const char *path, const dataset_options *options)
{
    dataset set = {0};
    assert_ok(dataset_load(&set, path, options));
    return set;
}

static void refuse(const char *path, const dataset_options *options, GrB_Info info, const char *message)
{
    dataset set = {.nvertices = 77};
    assert_fails(info, message, dataset_load(&set, path, options));
    assert_true(set.nvertices == 77 && !set.graph && !set.labels);
}

static float dense_at(const dataset *set, int64_t v, int64_t f)
{
    return ((const float *)block_values(set->dense_features))[v * set->nfeatures + f];
}

/* 1 where the graph has the edge. */
static int edge(const dataset *set, int64_t i, int64_t j)
{
    const ftb_pattern *p = set->graph->pattern;
    for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++)
        if (ftb_col(p, e) == j)
            return 1;
    return 0;
}

/* ---- the form of cora/ */

static void folder(void **state)
{
    (void)state;
    dataset set = load(make_small(&usual), NULL);
    assert_true(set.nvertices == 4 && set.nedges == 6 && set.graph->width == 0);
    assert_true(edge(&set, 0, 1) && edge(&set, 1, 0) && !edge(&set, 0, 2));
    assert_true(set.sparse_features && !set.dense_features && set.nfeatures == 2);
    assert_true(set.nclasses == 2 && !set.targets && set.ntargets == 0);
    for (int v = 0; v < 4; v++) {
        assert_int_equal(set.labels[v], v / 2);
        for (int part = 0; part < DATASET_PARTS; part++)
            assert_int_equal(set.part[part][v], part == v);
    }
    for (int part = 0; part < DATASET_PARTS; part++)
        assert_int_equal(set.part_count[part], 1);
    assert_string_equal(dataset_part_name(DATASET_VAL), "val");
    dataset_free(&set);
    dataset_free(&set);
    /* more classes than the labels name; labels that are missing */
    small s = usual;
    s.labels = "# class\n0\n1\n-1\n\nnan\n";
    s.split = "train\r\nvalid\r\nnone\r\n none \r\n";
    set = load(make_small(&s), OPTIONS(.nclasses = 5));
    assert_true(set.nclasses == 5 && set.labels[1] == 1 && set.labels[2] == -1 && set.labels[3] == -1);
    assert_true(set.part_count[DATASET_VAL] == 1 && set.part_count[DATASET_TEST] == 0);
    dataset_free(&set);
}

static void dense_features(void **state)
{
    (void)state;
    small s = usual;
    static const char *const texts[] = {
        "%%MatrixMarket matrix array real general\n4 2\n1\n2\n3\n4\n5\n6\n7\n8.5\n",
        "a,b\n1,5\n2,6\n3,7\n4,8.5\n"};
    for (int t = 0; t < 2; t++) {
        s.features = texts[t];
        dataset set = load(make_small(&s), OPTIONS(.nfeatures = 2));
        assert_true(set.dense_features && !set.sparse_features && set.nfeatures == 2);
        assert_true(dense_at(&set, 1, 0) == 2 && dense_at(&set, 3, 1) == 8.5f);
        dataset_free(&set);
    }
    FtB_Block X;
    const double values[] = {1, 2, 3, 4};
    assert_ok(FtB_Block_wrap_const(&X, values, 4, 1, 1, FTB_FP64));
    assert_ok(FtB_Block_write(X, temp_path("x.npy"), FTB_NPY, 0));
    FtB_Block_free(&X);
    make_small(&s);
    dataset set = load(temp_path("small"), OPTIONS(.features = temp_path("x.npy")));
    assert_true(set.nfeatures == 1 && dense_at(&set, 3, 0) == 4);
    dataset_free(&set);
}

static void targets(void **state)
{
    (void)state;
    small s = usual;
    s.labels = "0.5\n-1\n2\nnan\n";
    dataset set = load(make_small(&s), NULL);
    assert_true(set.ntargets == 1 && !set.labels && set.nclasses == 0 && !set.binary);
    assert_true(((float *)block_values(set.targets))[1] == -1 &&
                isnan(((float *)block_values(set.targets))[3]));
    dataset_free(&set);
    s.labels = "0,1,1\n1,0,0\n0,0,1\n,,\n";
    set = load(make_small(&s), NULL);
    assert_true(set.ntargets == 3 && set.binary && set.targets->ncols == 3);
    dataset_free(&set);
    s.labels = "7\n9\n9\n3\n"; /* whole numbers, but no classes */
    set = load(make_small(&s), OPTIONS(.task = DATASET_TARGETS));
    assert_true(set.ntargets == 1 && ((float *)block_values(set.targets))[0] == 7);
    dataset_free(&set);
    refuse(temp_path("small"), NULL, FTB_FORMAT, "labels.txt:1: class 7 is outside 0..3");
    put("small", "labels.txt", NULL);
    put("small", "targets.csv", "y\n0.25\n1\n2\n3\n");
    set = load(temp_path("small"), NULL);
    assert_true(set.ntargets == 1 && ((float *)block_values(set.targets))[0] == 0.25f);
    dataset_free(&set);
    put("small", "targets.csv", NULL);
}

/* ---- files one by one */

static void single_files(void **state)
{
    (void)state;
    make_small(&usual);
    char edges[512], labels[512], split[512];
    snprintf(edges, sizeof edges, "%s", temp_path("small/edges.mtx"));
    snprintf(labels, sizeof labels, "%s", temp_path("small/labels.txt"));
    snprintf(split, sizeof split, "%s", temp_path("small/split.txt"));
    dataset set = load(edges, OPTIONS(.labels = labels, .split = split, .features_made = DATASET_ONE_HOT));
    assert_true(set.nfeatures == 4 && set.sparse_features->pattern->nvals == 4 &&
                set.sparse_features->width == 0);
    for (int v = 0; v < 4; v++)
        assert_int_equal(ftb_col(set.sparse_features->pattern, v), v);
    dataset_free(&set);
    set = load(edges, OPTIONS(.labels_optional = true, .features_made = DATASET_DEGREE));
    assert_true(set.nfeatures == DATASET_DEGREES && !set.labels && !set.targets && !set.part[0]);
    for (int v = 0; v < 4; v++)
        assert_int_equal(ftb_col(set.sparse_features->pattern, v), v == 0 || v == 3 ? 1 : 2);
    dataset_free(&set);
    set = load(edges, OPTIONS(.labels = labels, .split_optional = true, .features_made = DATASET_DEGREE));
    assert_true(set.labels && !set.part[0]);
    dataset_free(&set);
    refuse(edges, NULL, GrB_INVALID_VALUE, "edges.mtx: has no features; --features");
    refuse(edges, OPTIONS(.features_made = DATASET_DEGREE), GrB_INVALID_VALUE, "has no labels; --labels");
    refuse(edges, OPTIONS(.features_made = DATASET_DEGREE, .labels = labels), GrB_INVALID_VALUE,
           "has no split into train, val and test; --split");
    refuse(edges, OPTIONS(.features_made = DATASET_DEGREE, .labels = labels, .split = split, .nfeatures = 3),
           GrB_DIMENSION_MISMATCH, "degree features: 256 features; expected 3");
    refuse("-", NULL, GrB_INVALID_VALUE, "standard input");
    refuse(temp_path("absent"), OPTIONS(.features_made = DATASET_DEGREE, .labels_optional = true), FTB_IO,
           "absent: cannot read");
}

/* Edges as a table; both ways round, and once. */
static void edge_tables(void **state)
{
    (void)state;
    const dataset_options only_graph = {.features_made = DATASET_ONE_HOT, .labels_optional = true};
    write_string("e.csv", "from,to\n0,1\n1,2\n2,1\n");
    dataset set = load(temp_path("e.csv"), &only_graph);
    assert_true(set.nvertices == 3 && set.nedges == 3 && edge(&set, 0, 1) && !edge(&set, 1, 0) &&
                set.graph->width == 0);
    dataset_free(&set);
    dataset_options both = only_graph;
    both.undirected = true;
    set = load(temp_path("e.csv"), &both);
    assert_true(set.nedges == 4 && edge(&set, 1, 0));
    dataset_free(&set);
    write_string("e.tsv", "0\t1\t0.5\n3\t0\t2\n0\t3\t4\n");
    set = load(temp_path("e.tsv"), &both);
    assert_true(set.nvertices == 4 && set.nedges == 4 && set.graph->width == 1);
    const float *w = matrix_values(set.graph); /* (0,1) (0,3) (1,0) (3,0): both keep their own */
    assert_true(w[0] == 0.5f && w[1] == 4 && w[2] == 0.5f && w[3] == 2);
    dataset_free(&set);
    write_string("e.tsv", "0 1 1\n1 0 1\n"); /* ones are no values */
    set = load(temp_path("e.tsv"), &only_graph);
    assert_true(set.graph->width == 0);
    dataset_free(&set);
    write_string("l.txt", "0\n1\n0\n1\n1\n"); /* says how many vertices there are */
    write_string("s.txt", "train\ntrain\ntest\ntest\nval\n");
    set = load(temp_path("e.tsv"), OPTIONS(.features_made = DATASET_DEGREE, .labels = temp_path("l.txt"),
                                           .split = temp_path("s.txt")));
    assert_true(set.nvertices == 5 && set.nedges == 2);
    dataset_free(&set);
    static const struct {
        const char *text, *message;
    } wrong[] = {{"a,b\n0,1\n\n0,-1\n", "e.csv:4: -1 is no vertex"},
                 {"0,1\n0,1.5\n", "e.csv:2: 1.5 is no vertex"},
                 {"0\n1\n", "1 columns; expected two vertices"},
                 {"0,1,2,3\n", "4 columns; expected two vertices"},
                 {"0,1\n0,nan\n", "e.csv:2:3: 'nan' is not a finite number"},
                 {"a,b\n", "a graph without vertices"}};
    for (size_t t = 0; t < sizeof wrong / sizeof *wrong; t++) {
        write_string("e.csv", wrong[t].text);
        refuse(temp_path("e.csv"), &only_graph, FTB_FORMAT, wrong[t].message);
    }
    write_string("e.csv", "0,5\n");
    refuse(
        temp_path("e.csv"),
        OPTIONS(.features_made = DATASET_DEGREE, .labels = temp_path("l.txt"), .split = temp_path("s.txt")),
        FTB_FORMAT, "e.csv:1: vertex 5 is outside 0..4");
}

/* ---- OGB's layout */

static void put_gzip(const char *name, const char *text)
{
    char path[64];
    snprintf(path, sizeof path, "ogb/%s", name);
    write_gzip(path, text, strlen(text));
}

static void make_ogb(void)
{
    make_folder("ogb");
    make_folder("ogb/raw");
    make_folder("ogb/split");
    make_folder("ogb/split/time");
    put_gzip("raw/edge.csv.gz", "0,1\n2,1\n3,0\n");
    put_gzip("raw/node-feat.csv.gz", "0.5,1\n1.5,2\n2.5,3\n3.5,4\n4.5,5\n");
    put_gzip("raw/node-label.csv.gz", "0\n2\n1\n2\n2\n");
    put_gzip("raw/num-node-list.csv.gz", "5\n");
    put_gzip("split/time/train.csv.gz", "0\n4\n");
    put_gzip("split/time/valid.csv.gz", "1\n");
    put_gzip("split/time/test.csv.gz", "3\n");
}

static void ogb(void **state)
{
    (void)state;
    make_ogb();
    dataset set = load(temp_path("ogb"), NULL);
    assert_true(set.nvertices == 5 && set.nedges == 3 && set.nclasses == 3 && set.nfeatures == 2);
    assert_true(edge(&set, 1, 0) && edge(&set, 1, 2) && edge(&set, 0, 3) &&
                !edge(&set, 0, 1)); /* into the second */
    assert_true(dense_at(&set, 4, 0) == 4.5f);
    assert_true(set.part[DATASET_TRAIN][4] && set.part[DATASET_VAL][1] && set.part[DATASET_TEST][3]);
    assert_true(set.part_count[DATASET_TRAIN] == 2);
    dataset_free(&set);
    set = load(temp_path("ogb"), OPTIONS(.split = "time", .undirected = true));
    assert_int_equal(set.nedges, 6);
    dataset_free(&set);
    refuse(temp_path("ogb"), OPTIONS(.split = "place"), FTB_IO, "place: there is no such split");
    put_gzip("raw/num-node-list.csv.gz", "4\n");
    refuse(temp_path("ogb"), NULL, GrB_DIMENSION_MISMATCH, "features of 5 vertices; the graph has 4");
    put_gzip("raw/num-node-list.csv.gz", "3\n2\n");
    refuse(temp_path("ogb"), NULL, FTB_FORMAT, "2 graphs; expected one");
    put_gzip("raw/num-node-list.csv.gz", "3,2\n");
    refuse(temp_path("ogb"), NULL, FTB_FORMAT, "2 graphs; expected one");
    put_gzip("raw/num-node-list.csv.gz", "9223372036854775807\n");
    refuse(temp_path("ogb"), NULL, FTB_FORMAT,
           "num-node-list.csv.gz: 9223372036854775807 vertices; expected 1 to 2^40");
    put_gzip("raw/num-node-list.csv.gz", "5\n");
    put_gzip("split/time/test.csv.gz", "3\n5\n");
    refuse(temp_path("ogb"), NULL, FTB_FORMAT, "test.csv.gz:2: vertex 5 is outside 0..4");
    put_gzip("split/time/test.csv.gz", "3\n1\n");
    refuse(temp_path("ogb"), NULL, FTB_FORMAT, "test.csv.gz:2: vertex 1 is in part val already");
    remove(temp_path("ogb/split/time/test.csv.gz"));
    refuse(temp_path("ogb"), NULL, FTB_IO, "has no test.csv");
    put_gzip("split/time/test.csv.gz", "3\n");
    make_folder("ogb/split/other");
    refuse(temp_path("ogb"), NULL, GrB_INVALID_VALUE, "--split names one");
    rmdir(temp_path("ogb/split/other"));
    remove(temp_path("ogb/raw/node-feat.csv.gz"));
    set = load(temp_path("ogb"), OPTIONS(.features_made = DATASET_DEGREE));
    assert_int_equal(set.nfeatures, DATASET_DEGREES);
    dataset_free(&set);
}

/* ---- what is refused */

static void refused(void **state)
{
    (void)state;
    static const struct {
        small files; /* NULL: as usual */
        GrB_Info info;
        const char *message;
    } rows[] = {
        {{.edges = SYMMETRIC "3 3 1\n2 1\n"},
         GrB_DIMENSION_MISMATCH,
         "features of 4 vertices; the graph has 3"},
        {{.edges = "%%MatrixMarket matrix coordinate pattern general\n4 3 1\n2 1\n"},
         GrB_DIMENSION_MISMATCH,
         "edges.mtx: 4 rows and 3 columns"},
        {{.features = "1,2\n3,4\n5,nan\n7,8\n"},
         FTB_FORMAT,
         "features.mtx:3:3: 'nan' is not a finite number"},
        {{.features = "%%MatrixMarket matrix coordinate real general\n4 2 2\n1 1 1\n4 2 inf\n"},
         FTB_FORMAT,
         "features.mtx:4:5: expected a finite number"},
        {{.labels = "0\n1\n1\n"}, GrB_DIMENSION_MISMATCH, "labels of 3 vertices; the graph has 4"},
        {{.labels = "class\n0\n1\n-2\n1\n"}, FTB_FORMAT, "labels.txt:4: class -2 is outside 0..3"},
        {{.labels = "-1\n-1\nnan\n-1\n"}, FTB_FORMAT, "no vertex has a class"},
        {{.labels = "0\n1\nx\n1\n"}, FTB_FORMAT, "labels.txt:3:1: 'x' is not a number"},
        {{.labels = "0\n-1\n1\n1\n"},
         FTB_FORMAT,
         "labels.txt:2: vertex 1 has no class, and is in part val of"},
        {{.labels = "0\n0.5\nnan\n1\n"},
         FTB_FORMAT,
         "labels.txt:3: vertex 2 has no target, and is in part test of"},
        {{.labels = "0\n0.5\n1e39\n1\n"}, FTB_FORMAT, "labels.txt:3: target 1e+39 does not fit 32 bits"},
        {{.split = "train\ntset\ntest\ntest\n"},
         FTB_FORMAT,
         "split.txt:2: 'tset' is no part; expected train, val"},
        {{.split = "train\ntest\n"}, GrB_DIMENSION_MISMATCH, "parts of 2 vertices; the graph has 4"},
        {{.split = "train\nval\ntest\ntest\nval\n"},
         GrB_DIMENSION_MISMATCH,
         "parts of 5 vertices; the graph has 4"},
        {{.split = "test\nval\ntest\ntest\n"}, FTB_FORMAT, "split.txt: no vertex is in part train"},
    };
    for (size_t t = 0; t < sizeof rows / sizeof *rows; t++) {
        small s = usual;
        s.edges = rows[t].files.edges ? rows[t].files.edges : s.edges;
        s.features = rows[t].files.features ? rows[t].files.features : s.features;
        s.labels = rows[t].files.labels ? rows[t].files.labels : s.labels;
        s.split = rows[t].files.split ? rows[t].files.split : s.split;
        refuse(make_small(&s), NULL, rows[t].info, rows[t].message);
    }
}

/* What options ask for and files do not hold; and files that are not there. */
static void refused_options(void **state)
{
    (void)state;
    const char *path = make_small(&usual);
    refuse(path, OPTIONS(.nclasses = 1), FTB_FORMAT, "labels.txt:3: class 1 is outside 0..0");
    refuse(path, OPTIONS(.nfeatures = 9), GrB_DIMENSION_MISMATCH, "features.mtx: 2 features; expected 9");
    put("small", "labels.txt", "0.5\n1\n2\n3\n");
    refuse(path, OPTIONS(.task = DATASET_CLASSES), FTB_FORMAT, "labels.txt:1: 0.5 is no class");
    put("small", "labels.txt", "0 1\n1 0\n2 0\n3 0\n");
    refuse(path, OPTIONS(.task = DATASET_CLASSES), FTB_FORMAT, "2 columns; a class is one");
    put("small", "split.txt", NULL);
    refuse(path, NULL, GrB_INVALID_VALUE, "has no split");
    put("small", "features.mtx", NULL);
    refuse(path, NULL, GrB_INVALID_VALUE, "has no features");
    put("small", "edges.mtx", NULL);
    refuse(path, NULL, FTB_IO, "holds no graph; expected edges.mtx");
}

/* ---- memory */

static GrB_Info load_call(void *arg)
{
    dataset set = {0};
    GrB_Info info = dataset_load(&set, temp_path(arg), OPTIONS(.undirected = true));
    dataset_free(&set);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    static char cora_like[] = "small", ogb_like[] = "ogb", weighted[] = "small";
    make_small(&usual);
    fail_every_allocation(load_call, NULL, cora_like);
    make_ogb();
    fail_every_allocation(load_call, NULL, ogb_like);
    small s = usual;
    s.edges = "%%MatrixMarket matrix coordinate real general\n4 4 2\n1 2 0.5\n4 1 3\n";
    s.labels = "0.5\n1\n2\n3\n";
    make_small(&s);
    fail_every_allocation(load_call, NULL, weighted);
}

/* ---- the real one */

static void cora(void **state)
{
    (void)state;
    const char *data = getenv("FEATBLAS_DATA");
    char path[512];
    snprintf(path, sizeof path, "%s/cora", data ? data : "");
    if (!data || access(path, R_OK) != 0) {
        print_message("FEATBLAS_DATA does not name a folder with cora/: skipped\n");
        skip();
    }
    dataset set = load(path, NULL);
    assert_true(set.nvertices == 2708 && set.nedges == 2 * 5278 && set.nfeatures == 1433 &&
                set.nclasses == 7);
    assert_true(set.sparse_features && set.sparse_features->pattern->nvals == 49216);
    assert_true(set.part_count[0] == 140 && set.part_count[1] == 500 && set.part_count[2] == 1000);
    dataset_free(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folder),
        cmocka_unit_test(dense_features),
        cmocka_unit_test(targets),
        cmocka_unit_test(single_files),
        cmocka_unit_test(edge_tables),
        cmocka_unit_test(ogb),
        cmocka_unit_test(refused),
        cmocka_unit_test(refused_options),
        cmocka_unit_test(failing_allocations),
        cmocka_unit_test(cora),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

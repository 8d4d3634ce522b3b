/* Which vertices are for training, validation and test: a word per vertex, or a list of vertices per part. */
#include "data/dataset_parts.h"

#include <math.h>
#include <stdio.h>

const char *const dataset_split_stems[DATASET_PARTS] = {"train", "valid", "test"};

const char *dataset_part_name(dataset_part part)
{
    static const char *const names[DATASET_PARTS] = {"train", "val", "test"};
    return names[part];
}

static int part_of(const char *word, int64_t length)
{
    static const struct {
        const char *word;
        int part; /* -1: none */
    } words[] = {{"train", DATASET_TRAIN},    {"val", DATASET_VAL},   {"valid", DATASET_VAL},
                 {"validation", DATASET_VAL}, {"test", DATASET_TEST}, {"none", -1}};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        if ((size_t)length == strlen(words[w].word) && memcmp(word, words[w].word, (size_t)length) == 0)
            return words[w].part;
    return -2;
}

static GrB_Info read_words(dataset *set, const char *path)
{
    const int64_t n = set->nvertices;
    dataset_lines l;
    const char *word = NULL;
    int64_t length = 0, v = 0;
    GrB_Info info = dataset_lines_open(&l, path);
    if (info != GrB_SUCCESS)
        return info;
    for (;; v++) {
        FTB_CHECK(dataset_lines_next(&l, &word, &length));
        if (!word)
            break;
        const int part = part_of(word, length);
        if (part < -1) {
            info = ftb_fail(FTB_FORMAT, "%s:%lld: '%.*s' is no part; expected train, val, test or none", path,
                            (long long)l.line, (int)ftb_min(length, 40), word);
            goto done;
        }
        if (v < n && part >= 0)
            set->part[part][v] = 1;
    }
    if (v != n)
        info = ftb_fail(GrB_DIMENSION_MISMATCH, "%s: parts of %lld vertices; the graph has %lld", path,
                        (long long)v, (long long)n);
done:
    dataset_lines_close(&l);
    return info;
}

/* The vertices of a part, by number. */
static GrB_Info read_list(dataset *set, const char *path, dataset_part part)
{
    const int64_t n = set->nvertices;
    char where[DATASET_PATH + 64];
    FtB_Block list = NULL;
    int64_t count, columns;
    void *data;
    GrB_Info info = FtB_Block_read(&list, path, FTB_BLOCK_READ_OPTIONS(.type = FTB_FP64, .finite = true));
    if (info != GrB_SUCCESS)
        return info;
    FtB_Block_shape(list, &count, &columns, NULL, NULL, &data);
    if (columns != 1)
        info = ftb_fail(FTB_FORMAT, "%s: %lld columns; expected a vertex a line", path, (long long)columns);
    for (int64_t k = 0; k < count && info == GrB_SUCCESS; k++) {
        const double v = ((const double *)data)[k];
        if (!(v >= 0 && v < (double)n && v == floor(v))) {
            info = ftb_fail(FTB_FORMAT, "%s: vertex %g is outside 0..%lld",
                            dataset_where(where, path, k, count), v, (long long)(n - 1));
            break;
        }
        for (int other = 0; other < DATASET_PARTS; other++)
            if (set->part[other][(int64_t)v] && info == GrB_SUCCESS)
                info =
                    ftb_fail(FTB_FORMAT, "%s: vertex %.0f is in part %s already",
                             dataset_where(where, path, k, count), v, dataset_part_name((dataset_part)other));
        set->part[part][(int64_t)v] = 1;
    }
    FtB_Block_free(&list);
    return info;
}

static GrB_Info read_lists(dataset *set, const char *folder)
{
    char path[DATASET_PATH];
    for (int part = 0; part < DATASET_PARTS; part++) {
        if (!dataset_find_file(path, folder, dataset_split_stems[part]))
            return ftb_fail(FTB_IO, "%s: has no %s.csv", folder, dataset_split_stems[part]);
        GrB_Info info = read_list(set, path, (dataset_part)part);
        if (info != GrB_SUCCESS)
            return info;
    }
    return GrB_SUCCESS;
}

static bool has_label(const dataset *set, int64_t v)
{
    void *data;
    if (set->labels)
        return set->labels[v] >= 0;
    FtB_Block_shape(set->targets, NULL, NULL, NULL, NULL, &data);
    for (int64_t t = 0; t < set->ntargets; t++)
        if (isnan(((const float *)data)[v * set->ntargets + t]))
            return false;
    return true;
}

/* Every vertex of a part must have what it is to learn. */
static GrB_Info check_parts(dataset *set, const dataset_files *files, const dataset_options *options)
{
    char where[DATASET_PATH + 64];
    for (int part = 0; part < DATASET_PARTS; part++)
        for (int64_t v = 0; v < set->nvertices; v++) {
            set->part_count[part] += set->part[part][v];
            if (set->part[part][v] && !has_label(set, v))
                return ftb_fail(FTB_FORMAT, "%s: vertex %lld has no %s, and is in part %s of %s",
                                dataset_where(where, files->labels, v, set->nvertices), (long long)v,
                                set->labels ? "class" : "target", dataset_part_name((dataset_part)part),
                                files->split);
        }
    if (set->part_count[DATASET_TRAIN] == 0 && !options->split_optional)
        return ftb_fail(FTB_FORMAT, "%s: no vertex is in part train", files->split);
    return GrB_SUCCESS;
}

GrB_Info dataset_read_split(dataset *set, const dataset_files *files, const dataset_options *options)
{
    for (int part = 0; part < DATASET_PARTS; part++)
        if (!(set->part[part] = ftb_new0(NULL, set->nvertices, 1)))
            return ftb_nomem();
    GrB_Info info =
        dataset_is_folder(files->split) ? read_lists(set, files->split) : read_words(set, files->split);
    return info == GrB_SUCCESS ? check_parts(set, files, options) : info;
}

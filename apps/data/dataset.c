/* Loads data sets; docs/datasets.md has the layouts. */
#include "data/dataset_parts.h"

#include <math.h>

void dataset_free(dataset *set)
{
    FtB_Matrix_free(&set->graph);
    FtB_Matrix_free(&set->sparse_features);
    FtB_Block_free(&set->dense_features);
    FtB_Block_free(&set->targets);
    ftb_delete(set->labels);
    for (int part = 0; part < DATASET_PARTS; part++)
        ftb_delete(set->part[part]);
    *set = (dataset){0};
}

/* OGB's num-node-list: one number, since there is one graph. */
static GrB_Info read_count(int64_t *nvertices, const char *path)
{
    FtB_Block block = NULL;
    int64_t graphs, numbers;
    void *data;
    GrB_Info info = FtB_Block_read(&block, path, FTB_BLOCK_READ_OPTIONS(.type = FTB_INT64));
    if (info != GrB_SUCCESS)
        return info;
    FtB_Block_shape(block, &graphs, &numbers, NULL, NULL, &data);
    if (graphs != 1 || numbers != 1)
        info = ftb_fail(FTB_FORMAT, "%s: %lld graphs; expected one", path, (long long)(graphs * numbers));
    else if (*(const int64_t *)data < 1 || *(const int64_t *)data > DATASET_VERTICES)
        info = ftb_fail(FTB_FORMAT, "%s: %lld vertices; expected 1 to 2^40", path,
                        (long long)*(const int64_t *)data);
    else
        *nvertices = *(const int64_t *)data;
    FtB_Block_free(&block);
    return info;
}

static int64_t feature_rows(const dataset *set)
{
    int64_t rows = -1;
    if (set->dense_features)
        FtB_Block_shape(set->dense_features, &rows, NULL, NULL, NULL, NULL);
    if (set->sparse_features)
        FtB_Matrix_shape(set->sparse_features, &rows, NULL, NULL, NULL, NULL);
    return rows;
}

/* What is missing, before anything large is read. */
static GrB_Info check_files(const dataset_files *files, const char *path, const dataset_options *options)
{
    if (!*files->features && options->features_made == DATASET_REQUIRED)
        return ftb_fail(GrB_INVALID_VALUE,
                        "%s: has no features; --features names a file, or says one-hot or degree", path);
    if (!*files->labels && !options->labels_optional)
        return ftb_fail(GrB_INVALID_VALUE, "%s: has no labels; --labels names a file", path);
    if (*files->labels && !*files->split && !options->split_optional)
        return ftb_fail(GrB_INVALID_VALUE, "%s: has no split into train, val and test; --split names a file",
                        path);
    return GrB_SUCCESS;
}

static GrB_Info load(dataset *set, const char *path, const dataset_files *files, FtB_Block *values,
                     const dataset_options *options)
{
    int64_t n = -1;
    GrB_Info info = check_files(files, path, options);
    if (info == GrB_SUCCESS && *files->features)
        info = dataset_read_features(set, files->features, options);
    n = feature_rows(set);
    if (info == GrB_SUCCESS && *files->labels)
        info = dataset_read_values(values, files->labels);
    if (*values && n < 0)
        FtB_Block_shape(*values, &n, NULL, NULL, NULL, NULL);
    if (info == GrB_SUCCESS && *files->count)
        info = read_count(&n, files->count);
    if (info == GrB_SUCCESS)
        info = dataset_read_graph(set, files, n, options);
    if (info == GrB_SUCCESS && *files->features && feature_rows(set) != set->nvertices)
        info = ftb_fail(GrB_DIMENSION_MISMATCH, "%s: features of %lld vertices; the graph has %lld",
                        files->features, (long long)feature_rows(set), (long long)set->nvertices);
    if (info == GrB_SUCCESS && !*files->features)
        info = dataset_make_features(set, options);
    if (info == GrB_SUCCESS && *values)
        info = dataset_take_labels(set, *values, files->labels, options);
    if (info == GrB_SUCCESS && *values && *files->split)
        info = dataset_read_split(set, files, options);
    return info;
}

bool dataset_has_features(const char *path)
{
    static const dataset_options defaults = {0};
    dataset_files *files = ftb_new(NULL, 1, sizeof *files);
    const bool has = files && dataset_find(files, path, &defaults) == GrB_SUCCESS && *files->features;
    ftb_delete(files);
    return has;
}

GrB_Info dataset_load(dataset *set, const char *path, const dataset_options *options)
{
    static const dataset_options defaults = {0};
    dataset loaded = {0};
    FtB_Block values = NULL;
    options = options ? options : &defaults;
    dataset_files *files = ftb_new(NULL, 1, sizeof *files); /* several paths: too much for a stack */
    if (!files)
        return ftb_nomem();
    GrB_Info info = dataset_find(files, path, options);
    if (info == GrB_SUCCESS)
        info = load(&loaded, path, files, &values, options);
    if (info == GrB_SUCCESS)
        *set = loaded;
    else
        dataset_free(&loaded);
    FtB_Block_free(&values);
    ftb_delete(files);
    return info;
}

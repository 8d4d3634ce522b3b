/* What the vertices are to learn: a class or targets for each. */
#include "data/dataset_parts.h"

#include <math.h>

GrB_Info dataset_read_values(FtB_Block *values, const char *path)
{
    return FtB_Block_read(values, path, FTB_BLOCK_READ_OPTIONS(.type = FTB_FP64));
}

static bool all_whole(const double *values, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
        if (!isnan(values[k]) && values[k] != floor(values[k]))
            return false;
    return true;
}

static GrB_Info take_classes(dataset *set, const double *values, const char *path, int64_t nclasses)
{
    const int64_t n = set->nvertices, limit = ftb_min(nclasses > 0 ? nclasses : ftb_max(n, 2), INT32_MAX);
    char where[DATASET_PATH + 64];
    int64_t most = -1;
    if (!(set->labels = ftb_new(NULL, n, sizeof *set->labels)))
        return ftb_nomem();
    for (int64_t v = 0; v < n; v++) {
        const double value = values[v];
        if (!isnan(value) && value != floor(value))
            return ftb_fail(FTB_FORMAT, "%s: %g is no class; classes are numbers from 0, -1 for none",
                            dataset_where(where, path, v, n), value);
        if (value < -1 || value >= (double)limit)
            return ftb_fail(FTB_FORMAT, "%s: class %.0f is outside 0..%lld", dataset_where(where, path, v, n),
                            value, (long long)(limit - 1));
        set->labels[v] = isnan(value) ? -1 : (int32_t)value;
        most = ftb_max(most, set->labels[v]);
    }
    set->nclasses = nclasses > 0 ? nclasses : most + 1;
    if (most < 0)
        return ftb_fail(FTB_FORMAT, "%s: no vertex has a class", path);
    return GrB_SUCCESS;
}

static GrB_Info take_targets(dataset *set, const double *values, int64_t columns, const char *path)
{
    const int64_t n = set->nvertices;
    char where[DATASET_PATH + 64];
    void *data;
    GrB_Info info = FtB_Block_new(&set->targets, n, columns, FTB_FP32);
    if (info != GrB_SUCCESS)
        return info;
    FtB_Block_shape(set->targets, NULL, NULL, NULL, NULL, &data);
    set->binary = true;
    for (int64_t k = 0; k < n * columns; k++) {
        ((float *)data)[k] = (float)values[k];
        if (isinf(((float *)data)[k]))
            return ftb_fail(FTB_FORMAT, "%s: target %g does not fit 32 bits",
                            dataset_where(where, path, k / columns, n), values[k]);
        set->binary = set->binary && (isnan(values[k]) || values[k] == 0 || values[k] == 1);
    }
    set->ntargets = columns;
    return GrB_SUCCESS;
}

GrB_Info dataset_take_labels(dataset *set, FtB_Block block, const char *path, const dataset_options *options)
{
    int64_t nrows, columns;
    void *data;
    FtB_Block_shape(block, &nrows, &columns, NULL, NULL, &data);
    if (nrows != set->nvertices)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "%s: labels of %lld vertices; the graph has %lld", path,
                        (long long)nrows, (long long)set->nvertices);
    if (columns < 1)
        return ftb_fail(FTB_FORMAT, "%s: has no columns", path);
    bool classes = options->task == DATASET_CLASSES;
    if (options->task == DATASET_AUTO)
        classes = columns == 1 && all_whole(data, nrows);
    if (classes && columns > 1)
        return ftb_fail(FTB_FORMAT, "%s: %lld columns; a class is one", path, (long long)columns);
    return classes ? take_classes(set, data, path, options->nclasses)
                   : take_targets(set, data, columns, path);
}

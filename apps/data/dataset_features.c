/* Features: of a file, as sparse as it is, or made of the graph. */
#include "data/dataset_parts.h"

static GrB_Info check_columns(const dataset *set, const char *path, const dataset_options *options)
{
    if (options->nfeatures == 0 || set->nfeatures == options->nfeatures)
        return GrB_SUCCESS;
    return ftb_fail(GrB_DIMENSION_MISMATCH, "%s: %lld features; expected %lld", path,
                    (long long)set->nfeatures, (long long)options->nfeatures);
}

GrB_Info dataset_read_features(dataset *set, const char *path, const dataset_options *options)
{
    const ftb_format *format;
    bool dense;
    int64_t width = 1;
    GrB_Info info = dataset_probe(path, &format, &dense);
    if (info != GrB_SUCCESS)
        return info;
    if (dense) {
        info = FtB_Block_read(&set->dense_features, path,
                              FTB_BLOCK_READ_OPTIONS(.type = FTB_FP32, .finite = true));
        if (info == GrB_SUCCESS)
            info = FtB_Block_shape(set->dense_features, NULL, &set->nfeatures, NULL, NULL, NULL);
    } else {
        info = FtB_Matrix_read(&set->sparse_features, NULL, NULL, path,
                               FTB_READ_OPTIONS(.type = FTB_FP32, .finite = true));
        if (info == GrB_SUCCESS)
            info = FtB_Matrix_shape(set->sparse_features, NULL, &set->nfeatures, NULL, &width, NULL);
    }
    if (info == GrB_SUCCESS && width > 1)
        info =
            ftb_fail(GrB_INVALID_VALUE, "%s: %lld values per feature; expected one", path, (long long)width);
    return info == GrB_SUCCESS ? check_columns(set, path, options) : info;
}

GrB_Info dataset_make_features(dataset *set, const dataset_options *options)
{
    const int64_t n = set->nvertices;
    const bool degrees = options->features_made == DATASET_DEGREE;
    const int64_t *rowptr;
    GrB_Info info = FtB_Matrix_csr(set->graph, &rowptr, NULL, NULL);
    if (info != GrB_SUCCESS)
        return info;
    int64_t *I = ftb_new(NULL, n, sizeof *I), *J = ftb_new(NULL, n, sizeof *J);
    info = I && J ? GrB_SUCCESS : ftb_nomem();
    for (int64_t v = 0; v < n && info == GrB_SUCCESS; v++) {
        I[v] = v;
        J[v] = degrees ? ftb_min(rowptr[v + 1] - rowptr[v], DATASET_DEGREES - 1) : v;
    }
    set->nfeatures = degrees ? DATASET_DEGREES : n;
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_build(&set->sparse_features, FTB_FP32, n, set->nfeatures, 0, n, I, J, NULL,
                                FTB_DUP_SUM, NULL);
    ftb_delete(I);
    ftb_delete(J);
    return info == GrB_SUCCESS ? check_columns(set, degrees ? "degree features" : "one-hot features", options)
                               : info;
}

/* Features as models want them: on a tape, with rows that sum to 1 where they count words. */
#include "learn/model.h"

#include "core/core.h"

#include <math.h>

static bool whole(double x) { return x >= 0 && x == floor(x); }

bool model_counts(const dataset *set)
{
    int64_t nvals, width = 0;
    const void *values = NULL;
    if (set->dense_features) {
        FtB_Block X = set->dense_features;
        for (int64_t i = 0; i < X->nrows; i++)
            for (int64_t j = 0; j < X->ncols; j++)
                if (!whole(((const float *)ftb_block_data(X))[i * X->ld + j]))
                    return false;
        return true;
    }
    if (FtB_Matrix_shape(set->sparse_features, NULL, NULL, &nvals, &width, NULL) != GrB_SUCCESS ||
        FtB_Matrix_csr(set->sparse_features, NULL, NULL, &values) != GrB_SUCCESS)
        return false;
    for (int64_t e = 0; width > 0 && e < nvals; e++)
        if (!whole(((const float *)values)[e]))
            return false;
    return true;
}

/* to = from / sum of |from|, zeros where that is 0; from NULL: ones. */
static void normalise(float *to, const float *from, int64_t count)
{
    double sum = 0;
    for (int64_t e = 0; e < count; e++)
        sum += from ? fabs((double)from[e]) : 1;
    for (int64_t e = 0; e < count; e++)
        to[e] = sum > 0 ? (float)((from ? (double)from[e] : 1) / sum) : 0;
}

static GrB_Info normalise_sparse(FtB_Matrix *X)
{
    const int64_t *rowptr;
    const void *values;
    int64_t nrows, width;
    FtB_Matrix scaled = NULL;
    FtB_Block V = NULL;
    GrB_Info info = FtB_Matrix_like(&scaled, *X, 1, FTB_FP32);
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_values(&V, scaled);
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_csr(*X, &rowptr, NULL, &values);
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_shape(*X, &nrows, NULL, NULL, &width, NULL);
    if (info == GrB_SUCCESS) {
        for (int64_t i = 0; i < nrows; i++)
            normalise((float *)ftb_block_data(V) + rowptr[i],
                      width > 0 ? (const float *)values + rowptr[i] : NULL, rowptr[i + 1] - rowptr[i]);
        FtB_Matrix old = *X;
        *X = scaled;
        scaled = old;
    }
    FtB_Block_free(&V);
    FtB_Matrix_free(&scaled);
    return info;
}

static GrB_Info make_dense(dataset *set)
{
    const int64_t *rowptr;
    const void *cols, *values;
    int64_t width;
    FtB_Block X = NULL;
    GrB_Info info = FtB_Matrix_shape(set->sparse_features, NULL, NULL, NULL, &width, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_csr(set->sparse_features, &rowptr, &cols, &values);
    if (info == GrB_SUCCESS)
        info = FtB_Block_new(&X, set->nvertices, set->nfeatures, FTB_FP32);
    if (info != GrB_SUCCESS)
        return info;
    const bool wide = set->nfeatures >= FTB_INT32_LIMIT;
    for (int64_t i = 0; i < set->nvertices; i++)
        for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++) {
            int64_t j = wide ? ((const int64_t *)cols)[e] : ((const int32_t *)cols)[e];
            ((float *)ftb_block_data(X))[i * X->ld + j] = width > 0 ? ((const float *)values)[e] : 1;
        }
    FtB_Matrix_free(&set->sparse_features);
    set->dense_features = X;
    return info;
}

GrB_Info model_prepare(dataset *set, const model_options *o)
{
    FtB_Block X = set->dense_features;
    GrB_Info info = GrB_SUCCESS;
    if (o->rows == MODEL_ROWS_NORMALISED && !X)
        info = normalise_sparse(&set->sparse_features);
    for (int64_t i = 0; X && o->rows == MODEL_ROWS_NORMALISED && i < X->nrows; i++) {
        float *row = (float *)ftb_block_data(X) + i * X->ld;
        normalise(row, row, X->ncols);
    }
    const bool largest = o->aggregate && strcmp(o->aggregate, "max") == 0;
    if (info == GrB_SUCCESS && !X && largest)
        info = make_dense(set);
    return info;
}

FtB_Var model_input(FtB_Tape tape, const dataset *set)
{
    return set->dense_features ? FtB_input(tape, set->dense_features) : FtB_input(tape, set->sparse_features);
}

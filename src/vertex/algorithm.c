/* Arguments and first values of the programs that come with the library. */
#include "vertex/algorithm.h"

#include "core/options.h"
#include "cpu/block/write_run.h"
#include "cpu/graph/simple_run.h"

GrB_Info ftb_check_graph(FtB_Matrix A)
{
    const GrB_Info info = ftb_arg_matrix_anywhere(&A, FTB_ARG(A), "A", false);
    if (info == GrB_SUCCESS && A->pattern->nrows != A->pattern->ncols)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "A is %lld x %lld; expected as many rows as columns",
                        (long long)A->pattern->nrows, (long long)A->pattern->ncols);
    return info;
}

GrB_Info ftb_check_result(FtB_Block X, const char *name, FtB_Matrix A, int64_t ncols, unsigned types)
{
    GrB_Info info = ftb_check_graph(A);
    if (info == GrB_SUCCESS)
        info = ftb_arg_block_anywhere(&X, FTB_ARG(X), name, false);
    if (info != GrB_SUCCESS)
        return info;
    if (X->nrows != A->pattern->nrows || X->ncols != ncols)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "%s is %lld x %lld; expected %lld x %lld", name,
                        (long long)X->nrows, (long long)X->ncols, (long long)A->pattern->nrows,
                        (long long)ncols);
    if (!(types & FTB_TYPE_BIT(X->type)))
        return ftb_fail(GrB_DOMAIN_MISMATCH, "%s: dtype %s cannot hold what belongs there", name,
                        FtB_Type_name(X->type));
    if (!X->owner->writable)
        return ftb_fail(GrB_INVALID_VALUE, "%s wraps memory that must not be written", name);
    return GrB_SUCCESS;
}

GrB_Info ftb_simple_graph(ftb_pattern **simple, FtB_Context ctx, FtB_Matrix A)
{
    *simple = NULL;
    if (A->pattern->wide)
        return ftb_fail(FTB_LIMIT, "A has %lld vertices; expected fewer than 2^31",
                        (long long)A->pattern->nrows);
    return ftb_simple_pattern(simple, ctx, A->pattern);
}

GrB_Info ftb_set_column(FtB_Block X, const void *values, FtB_Type type)
{
    GrB_Info info = ftb_buffer_ask(X->owner, FTB_UPDATE);
    if (info != GrB_SUCCESS)
        return info;
    const size_t size = FtB_Type_size(X->type), from = FtB_Type_size(type);
    char *to = ftb_block_data(X);
    for (int64_t v = 0; v < X->nrows; v++)
        ftb_cast(to + (size_t)(v * X->ld) * size, X->type, (const char *)values + (size_t)v * from, type, 1);
    return FtB_Block_changed(X);
}

GrB_Info ftb_check_sources(FtB_Matrix A, const int64_t *sources, int64_t nsources)
{
    if (nsources < 0)
        return ftb_fail(GrB_INVALID_VALUE, "nsources is %lld; expected 0 or more", (long long)nsources);
    if (!sources && nsources > 0)
        return ftb_fail(GrB_NULL_POINTER, "sources is NULL; expected %lld vertices", (long long)nsources);
    for (int64_t c = 0; c < nsources; c++)
        if (sources[c] < 0 || sources[c] >= A->pattern->nrows)
            return ftb_fail(GrB_INDEX_OUT_OF_BOUNDS, "sources[%lld] is %lld; expected 0 to %lld",
                            (long long)c, (long long)sources[c], (long long)A->pattern->nrows - 1);
    return GrB_SUCCESS;
}

GrB_Info ftb_set_sources(FtB_Block X, double value, double at_source, bool own, const int64_t *sources,
                         int64_t count)
{
    GrB_Info info = ftb_buffer_ask(X->owner, FTB_UPDATE);
    if (info != GrB_SUCCESS)
        return info;
    char *data = ftb_block_data(X);
    const size_t size = FtB_Type_size(X->type);
    const ftb_plain_rows rows = {data, X->type, X->nrows, X->ncols, X->ld};
    ftb_rows_fill(X->ctx, &rows, value);
    for (int64_t c = 0; c < count; c++) {
        char *to = data + (size_t)(sources[c] * X->ld + c) * size;
        if (own)
            ftb_cast(to, X->type, &sources[c], FTB_INT64, 1);
        else
            ftb_cast(to, X->type, &at_source, FTB_FP64, 1);
    }
    return FtB_Block_changed(X);
}

GrB_Info ftb_start_at(FtB_Run_options *o, const FtB_Run_options *given, const int64_t *sources, int64_t count,
                      const char *call)
{
    static const int64_t nobody;
    *o = (FtB_Run_options){.size = 0};
    GrB_Info info = ftb_options_read(o, sizeof *o, given, call, "FTB_RUN_OPTIONS");
    if (info == GrB_SUCCESS && (o->start.at || o->frontier))
        info = ftb_fail(GrB_INVALID_VALUE, "%s: options: %s is given, but the program says who begins", call,
                        o->start.at ? "start" : "frontier");
    if (info == GrB_SUCCESS && o->supersteps)
        *o->supersteps = 0;
    o->size = sizeof *o;
    o->start = (FtB_Ids){count < 0 ? NULL : count == 0 ? &nobody : sources, count < 0 ? 0 : count};
    return info;
}

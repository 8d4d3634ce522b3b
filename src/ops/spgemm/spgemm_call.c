/* What FtB_mxm and FtB_project do alike around a product: the slot of the result, the sink, the end. */
#include "ops/backends.h"
#include "ops/spgemm/spgemm.h"

GrB_Info ftb_product_output(FtB_Matrix *C, FtB_Sink *sink, FtB_Context *ctx, FtB_Arg slot)
{
    if (slot.kind != FTB_KIND_SINK) {
        GrB_Info info = ftb_arg_matrix_listed(C, slot, "C", false);
        if (info == GrB_SUCCESS)
            *ctx = (*C)->ctx;
        return info;
    }
    *sink = (FtB_Sink)(uintptr_t)slot.handle;
    if ((*sink)->magic != FTB_MAGIC_SINK)
        return ftb_fail(GrB_UNINITIALIZED_OBJECT, "C: not an FtB_Sink, or already freed");
    *ctx = (*sink)->ctx;
    return GrB_SUCCESS;
}

/* What the product will announce to its sink. */
static ftb_sink_shape shape_of(const ftb_spgemm_product *product, bool symmetric)
{
    return (ftb_sink_shape){.ctx = product->ctx,
                            .nrows = product->p.nrows,
                            .ncols = product->p.ncols,
                            .nvals = -1,
                            .type = product->finish.out_type,
                            .width = product->finish.out_width,
                            .base = 1,
                            .symmetric = symmetric};
}

void ftb_product_reserve(ftb_spgemm_product *product, FtB_Sink sink, bool symmetric)
{
    const ftb_sink_shape shape = shape_of(product, symmetric);
    if (sink)
        product->reserve = ftb_sink_least(sink, &shape);
}

/* By the device, unless messages are a C function. */
static GrB_Info run(ftb_spgemm_product *product, FtB_Sink sink)
{
    const bool away = !product->semiring->function && !product->left->numbers && !product->right->numbers;
    const ftb_backend *who = away ? FTB_WHO_FITS(product->ctx, spgemm, product) : NULL;
    const FtB_Matrix mask = product->mask;
    const ftb_place places[] = {{.values = product->A->values, .read = &product->a, .name = "A"},
                                {.values = product->B->values, .read = &product->b, .name = "B"},
                                {.values = mask ? mask->values : NULL, .read = &product->m, .name = "M"},
                                {.values = product->admits.values ? mask->values : NULL,
                                 .read = &product->admits.values,
                                 .name = "M"}};
    GrB_Info info;
    FTB_RUN(info, who, spgemm, places, product, &product->plan, sink);
    return info;
}

/* Rows of `left`, whatever their numbers, go to the sink. */
static GrB_Info begin_and_run(ftb_spgemm_product *product, FtB_Sink sink, bool symmetric)
{
    const int64_t left = ftb_memory_left(product->ctx);
    ftb_sink_shape shape = shape_of(product, symmetric);
    if (left < INT64_MAX)
        shape.room = ftb_max(left - product->plan.bytes, 1);
    ftb_sink_shape indices = shape;
    indices.type = FTB_INT64;
    GrB_Info info = ftb_sink_begin(sink, &shape);
    if (info != GrB_SUCCESS)
        return info;
    if (product->winners)
        FTB_CHECK(ftb_sink_begin(product->winners, &indices));
    FTB_CHECK(run(product, sink));
    if (product->winners)
        FTB_CHECK(ftb_sink_end(product->winners));
    info = ftb_sink_end(sink);
done:
    if (info != GrB_SUCCESS) {
        ftb_sink_abort(sink);
        ftb_sink_abort(product->winners);
    }
    return info;
}

GrB_Info ftb_product_number(FtB_Matrix *T, const ftb_spgemm_product *product)
{
    ftb_pattern_number_as((*T)->pattern, product->left); /* which is T's alone */
    GrB_Info info = ftb_matrix_whole(*T);
    if (info != GrB_SUCCESS)
        FtB_Matrix_free(T);
    return info;
}

GrB_Info ftb_product_to_matrix(FtB_Matrix *T, ftb_spgemm_product *product, FtB_Type type)
{
    FtB_Sink sink = NULL;
    *T = NULL;
    GrB_Info info = ftb_sink_matrix(&sink, product->ctx, T, type);
    if (info == GrB_SUCCESS)
        info = begin_and_run(product, sink, false);
    FtB_Sink_free(&sink);
    return info == GrB_SUCCESS ? ftb_product_number(T, product) : info;
}

GrB_Info ftb_product_to_sink(ftb_spgemm_product *product, FtB_Sink sink, bool symmetric)
{
    FtB_Matrix T = NULL;
    if (!product->left->numbers)
        return begin_and_run(product, sink, symmetric);
    GrB_Info info = ftb_product_to_matrix(&T, product, 0);
    if (info == GrB_SUCCESS)
        info = ftb_sink_take(sink, T);
    FtB_Matrix_free(&T);
    return info;
}

GrB_Info ftb_product_end(ftb_spgemm_product *product, FtB_Context ctx, GrB_Info info)
{
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(ctx);
    ftb_product_delete(product);
    return info;
}

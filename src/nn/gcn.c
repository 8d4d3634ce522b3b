/* Graph convolution: Y = D^-1/2 (A + I) D^-1/2 X W + b, D the row sums of A + I.
 *
 * Kipf and Welling, "Semi-supervised classification with graph convolutional networks", ICLR 2017. */
#include "nn/layer.h"

#include <math.h>

static GrB_Info make(FtB_Layer layer)
{
    GrB_Info info = ftb_layer_add(layer, "lin.weight", layer->in, layer->out, FTB_START_GLOROT);
    if (info == GrB_SUCCESS && !layer->options.no_bias)
        info = ftb_layer_add(layer, "bias", 1, layer->out, FTB_START_ZERO);
    return info;
}

/* 1 / sqrt(degree) of each row, in layer->scale; 0 where there are no entries. */
static GrB_Info degrees(FtB_Layer layer, FtB_Matrix B)
{
    const ftb_pattern *p = B->pattern;
    if (layer->scale)
        return GrB_SUCCESS;
    GrB_Info info = FtB_Block_new(&layer->scale, p->nrows, 1, layer->options.type);
    for (int64_t i = 0; info == GrB_SUCCESS && i < p->nrows; i++) {
        int64_t degree = p->rowptr[i + 1] - p->rowptr[i];
        double scale = degree > 0 ? 1 / sqrt((double)degree) : 0;
        ftb_cast((char *)layer->scale->data + (size_t)i * FtB_Type_size(layer->scale->type),
                 layer->scale->type, &scale, FTB_FP64, 1);
    }
    return info;
}

static FtB_Var propagate(const ftb_layer_call *call, FtB_Matrix B, FtB_Var x)
{
    FtB_Var r = FtB_input(call->tape, call->layer->scale);
    return FtB_multiply("plus : src * r[j] * r[i]", B, FTB_OPERAND("src", x), FTB_OPERAND("r", r));
}

static FtB_Var apply(const ftb_layer_call *call)
{
    FtB_Layer layer = call->layer;
    FtB_Matrix B = call->A;
    GrB_Info info = layer->options.no_self_loops ? GrB_SUCCESS : ftb_layer_self_loops(&B, layer, call->A);
    if (info == GrB_SUCCESS && B->pattern->nrows != B->pattern->ncols)
        info = ftb_fail(GrB_DIMENSION_MISMATCH, "gcn: A is not square");
    if (info == GrB_SUCCESS)
        info = degrees(layer, B);
    if (info != GrB_SUCCESS)
        return ftb_var_failed(call->tape, info);
    FtB_Var w = ftb_layer_var(call, "lin.weight"), y;
    if (ftb_layer_project_first(call, call->src, layer->out))
        return ftb_layer_bias(call, propagate(call, B, FtB_matmul(call->src, w)));
    y = propagate(call, B, call->src);
    return FtB_linear(y, ftb_layer_find(layer, "lin.weight"), ftb_layer_find(layer, "bias"));
}

const ftb_layer_kind ftb_gcn = {"gcn", make, apply};

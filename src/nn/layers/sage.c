/* GraphSAGE: y_i = aggregate of x_j over neighbours j, times W_l, + b + x_i W_r. The aggregate is their mean,
 * sum, max, or (pool) the max of relu(x_j W + c); 0 where there are no neighbours. With `normalize`, y_i /
 * |y_i|.
 *
 * Means and sums of x_j W_l are those of x_j, times W_l: whichever is cheaper. Hamilton et al., "Inductive
 * representation learning on large graphs", NIPS 2017. */
#include "nn/layers/layer.h"

static const char *const names[] = {"mean", "sum", "max", "pool"}, *const texts[] = {
                                                                       "mean : src", "plus : src",
                                                                       "max : src", "max : src"};
enum { MEAN, SUM, MAX, POOL, COUNT };

static GrB_Info make(FtB_Layer layer)
{
    const FtB_Layer_options *o = &layer->options;
    int64_t targets = o->in_dst > 0 ? o->in_dst : layer->in;
    int how = ftb_layer_aggregate(layer, names, COUNT);
    GrB_Info info = GrB_SUCCESS;
    if (how == COUNT)
        return ftb_fail(GrB_INVALID_VALUE, "options: aggregate is '%s'; expected mean, max, pool or sum",
                        o->aggregate);
    if (how == POOL)
        info = ftb_layer_add(layer, "lin.weight", layer->in, layer->in, FTB_START_GLOROT);
    if (info == GrB_SUCCESS && how == POOL)
        info = ftb_layer_add(layer, "lin.bias", 1, layer->in, FTB_START_ZERO);
    if (info == GrB_SUCCESS)
        info = ftb_layer_add(layer, "lin_l.weight", layer->in, layer->out, FTB_START_GLOROT);
    if (info == GrB_SUCCESS && !o->no_bias)
        info = ftb_layer_add(layer, "lin_l.bias", 1, layer->out, FTB_START_ZERO);
    if (info == GrB_SUCCESS && !o->no_root)
        info = ftb_layer_add(layer, "lin_r.weight", targets, layer->out, FTB_START_GLOROT);
    return info;
}

static FtB_Var apply(const ftb_layer_call *call)
{
    FtB_Layer layer = call->layer;
    const int how = ftb_layer_aggregate(layer, names, COUNT);
    FtB_Var x = call->src, y;
    if (how == POOL)
        x = FtB_relu(FtB_linear(x, ftb_layer_find(layer, "lin.weight"), ftb_layer_find(layer, "lin.bias")));
    if (how <= SUM && ftb_layer_project_first(call, x, layer->out, 1)) {
        y = FtB_multiply(texts[how], call->A,
                         FTB_OPERAND("src", FtB_matmul(x, ftb_layer_var(call, "lin_l.weight"))));
        if (!layer->options.no_root)
            y = FtB_add(y, FtB_linear(call->dst, ftb_layer_find(layer, "lin_r.weight"),
                                      ftb_layer_find(layer, "lin_l.bias")));
        else if (!layer->options.no_bias)
            y = FtB_add(y, ftb_layer_var(call, "lin_l.bias"));
    } else {
        y = FtB_linear(FtB_multiply(texts[how], call->A, FTB_OPERAND("src", x)),
                       ftb_layer_find(layer, "lin_l.weight"), ftb_layer_find(layer, "lin_l.bias"));
        if (!layer->options.no_root)
            y = ftb_matmul_onto(y, call->dst, ftb_layer_var(call, "lin_r.weight"));
    }
    /* up to a length of 1e-12, as PyTorch's normalize */
    return layer->options.normalize ? FtB_map("x / sqrt(max(dot(x, x), 1e-24))", FTB_OPERAND("x", y)) : y;
}

const ftb_layer_kind ftb_sage = {"sage", make, apply};

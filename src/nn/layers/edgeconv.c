/* Edge convolution: y_i = max (or mean, or sum) over neighbours j of h([x_i, x_j - x_i]); 0 where there are
 * none. h is one linear map, or two with relu between.
 *
 *     [x_i, x_j - x_i] W + b = (x_i (U - V) + b) + x_j V        U, V: the upper and the lower half of W
 *
 * so the first map is two products of vertices, not of edges, and with one map what is left is the max of
 * rows. Wang et al., "Dynamic graph CNN for learning on point clouds", TOG 2019. */
#include "nn/layers/layer.h"

static const char *const names[] = {"max", "mean", "sum"};
static const char *const one_map[] = {"max : src + dst", "mean : src + dst", "plus : src + dst"},
                         *const two_maps[] = {"max : relu(src + dst) @ W + bias",
                                              "mean : relu(src + dst) @ W + bias",
                                              "plus : relu(src + dst) @ W + bias"},
                         *const two_without_bias[] = {"max : relu(src + dst) @ W",
                                                      "mean : relu(src + dst) @ W",
                                                      "plus : relu(src + dst) @ W"};
enum { COUNT = 3 };

static GrB_Info make(FtB_Layer layer)
{
    const FtB_Layer_options *o = &layer->options;
    int64_t first = o->hidden > 0 ? o->hidden : layer->out;
    if (ftb_layer_aggregate(layer, names, COUNT) == COUNT)
        return ftb_fail(GrB_INVALID_VALUE, "options: aggregate is '%s'; expected max, mean or sum",
                        o->aggregate);
    if (layer->in > INT64_MAX / 2)
        return ftb_fail(GrB_INVALID_VALUE, "%lld columns are too many", (long long)layer->in);
    GrB_Info info = ftb_layer_add(layer, "nn.0.weight", 2 * layer->in, first, FTB_START_GLOROT);
    if (info == GrB_SUCCESS && !o->no_bias)
        info = ftb_layer_add(layer, "nn.0.bias", 1, first, FTB_START_ZERO);
    if (info == GrB_SUCCESS && o->hidden > 0)
        info = ftb_layer_add(layer, "nn.2.weight", first, layer->out, FTB_START_GLOROT);
    if (info == GrB_SUCCESS && o->hidden > 0 && !o->no_bias)
        info = ftb_layer_add(layer, "nn.2.bias", 1, layer->out, FTB_START_ZERO);
    return info;
}

static FtB_Var apply(const ftb_layer_call *call)
{
    FtB_Layer layer = call->layer;
    int how = ftb_layer_aggregate(layer, names, COUNT);
    bool bias = !layer->options.no_bias;
    FtB_Var w = ftb_layer_var(call, "nn.0.weight");
    FtB_Var u = ftb_layer_rows(w, 0, layer->in), v = ftb_layer_rows(w, layer->in, layer->in);
    FtB_Var src = FtB_matmul(call->src, v), dst = FtB_matmul(call->dst, FtB_subtract(u, v));
    if (bias)
        dst = FtB_add(dst, ftb_layer_var(call, "nn.0.bias"));
    if (layer->options.hidden == 0)
        return FtB_multiply(one_map[how], call->A, FTB_OPERAND("src", src), FTB_OPERAND("dst", dst));
    if (!bias)
        return FtB_multiply(two_without_bias[how], call->A, FTB_OPERAND("src", src), FTB_OPERAND("dst", dst),
                            FTB_OPERAND("W", ftb_layer_var(call, "nn.2.weight")));
    return FtB_multiply(two_maps[how], call->A, FTB_OPERAND("src", src), FTB_OPERAND("dst", dst),
                        FTB_OPERAND("W", ftb_layer_var(call, "nn.2.weight")),
                        FTB_OPERAND("bias", ftb_layer_var(call, "nn.2.bias")));
}

const ftb_layer_kind ftb_edgeconv = {"edgeconv", make, apply};

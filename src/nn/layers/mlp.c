/* MLP aggregation: y_i = max (or mean, or sum) over neighbours j of relu((x_i + x_j) W + b); 0 where there
 * are none.
 *
 * The product moves to the vertices; a max also swallows relu, and is then that of rows alone. Hu et al.,
 * "FeatGraph", SC 2020. */
#include "nn/layers/layer.h"

static const char *const names[] = {"max", "mean", "sum"}, *const texts[] = {"max : relu(src + dst)",
                                                                             "mean : relu(src + dst)",
                                                                             "plus : relu(src + dst)"};
enum { COUNT = 3 };

static GrB_Info make(FtB_Layer layer)
{
    if (ftb_layer_aggregate(layer, names, COUNT) == COUNT)
        return ftb_fail(GrB_INVALID_VALUE, "options: aggregate is '%s'; expected max, mean or sum",
                        layer->options.aggregate);
    GrB_Info info = ftb_layer_add(layer, "nn.0.weight", layer->in, layer->out, FTB_START_GLOROT);
    if (info == GrB_SUCCESS && !layer->options.no_bias)
        info = ftb_layer_add(layer, "nn.0.bias", 1, layer->out, FTB_START_ZERO);
    return info;
}

static FtB_Var apply(const ftb_layer_call *call)
{
    FtB_Parameter w = ftb_layer_find(call->layer, "nn.0.weight"),
                  bias = ftb_layer_find(call->layer, "nn.0.bias");
    return FtB_multiply(texts[ftb_layer_aggregate(call->layer, names, COUNT)], call->A,
                        FTB_OPERAND("src", FtB_linear(call->src, w, NULL)),
                        FTB_OPERAND("dst", FtB_linear(call->dst, w, bias)));
}

const ftb_layer_kind ftb_mlp = {"mlp", make, apply};

/* Simple graph convolution: Y = S^K X W + b, S = D^-1/2 (A + I) D^-1/2: powers, then one linear map.
 *
 * Of constant features the powers are constants, computed once; else the map comes first where that is
 * cheaper. Wu et al., "Simplifying graph convolutional networks", ICML 2019. */
#include "nn/layers/layer.h"

static GrB_Info make(FtB_Layer layer)
{
    GrB_Info info = ftb_layer_add(layer, "lin.weight", layer->in, layer->out, FTB_START_GLOROT);
    if (info == GrB_SUCCESS && !layer->options.no_bias)
        info = ftb_layer_add(layer, "lin.bias", 1, layer->out, FTB_START_ZERO);
    return info;
}

static int64_t hops(const FtB_Layer layer) { return layer->options.hops > 0 ? layer->options.hops : 2; }

static FtB_Var power(const ftb_layer_call *call, FtB_Var x)
{
    for (int64_t k = 0; k < hops(call->layer) && x.node >= 0; k++)
        x = ftb_layer_propagate(call, x, 1);
    return x;
}

static FtB_Var apply(const ftb_layer_call *call)
{
    FtB_Layer layer = call->layer;
    if (ftb_layer_project_first(call, call->src, layer->out, hops(layer))) {
        FtB_Var y = power(call, FtB_matmul(call->src, ftb_layer_var(call, "lin.weight")));
        return layer->options.no_bias ? y : FtB_add(y, ftb_layer_var(call, "lin.bias"));
    }
    return FtB_linear(power(call, call->src), ftb_layer_find(layer, "lin.weight"),
                      ftb_layer_find(layer, "lin.bias"));
}

const ftb_layer_kind ftb_sgc = {"sgc", make, apply};

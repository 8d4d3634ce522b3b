/* Graph convolution: Y = D^-1/2 (A + I) D^-1/2 X W + b, D the row sums of A + I.
 *
 * Kipf and Welling, "Semi-supervised classification with graph convolutional networks", ICLR 2017. */
#include "nn/layers/layer.h"

static GrB_Info make(FtB_Layer layer)
{
    GrB_Info info = ftb_layer_add(layer, "lin.weight", layer->in, layer->out, FTB_START_GLOROT);
    if (info == GrB_SUCCESS && !layer->options.no_bias)
        info = ftb_layer_add(layer, "bias", 1, layer->out, FTB_START_ZERO);
    return info;
}

static FtB_Var apply(const ftb_layer_call *call)
{
    FtB_Layer layer = call->layer;
    if (ftb_layer_project_first(call, call->src, layer->out, 1)) {
        FtB_Var z = FtB_matmul(call->src, ftb_layer_var(call, "lin.weight"));
        return ftb_layer_bias(call, ftb_layer_propagate(call, z, 1));
    }
    return FtB_linear(ftb_layer_propagate(call, call->src, 1), ftb_layer_find(layer, "lin.weight"),
                      ftb_layer_find(layer, "bias"));
}

const ftb_layer_kind ftb_gcn = {"gcn", make, apply};

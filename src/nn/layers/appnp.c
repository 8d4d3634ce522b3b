/* Personalised propagation: Z <- (1 - a) S Z + a X, K times from Z = X, S = D^-1/2 (A + I) D^-1/2. No
 * parameters: X is what an MLP predicts of each vertex alone.
 *
 * Gasteiger et al., "Predict then propagate: graph neural networks meet personalized PageRank", ICLR 2019. */
#include "nn/layers/layer.h"

static GrB_Info make(FtB_Layer layer)
{
    double teleport = layer->options.teleport;
    if (layer->in != layer->out)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "%lld to %lld columns; expected as many",
                        (long long)layer->in, (long long)layer->out);
    if (!(teleport >= 0 && teleport <= 1))
        return ftb_fail(GrB_INVALID_VALUE, "options: teleport is %g; expected 0 < a <= 1", teleport);
    return GrB_SUCCESS;
}

static FtB_Var apply(const ftb_layer_call *call)
{
    const FtB_Layer_options *o = &call->layer->options;
    double teleport = o->teleport > 0 ? o->teleport : 0.1;
    int64_t hops = o->hops > 0 ? o->hops : 10;
    FtB_Var z = call->src, home = FtB_scale(call->dst, teleport);
    for (int64_t k = 0; k < hops && z.node >= 0; k++)
        z = FtB_add(ftb_layer_propagate(call, z, 1 - teleport), home);
    return z;
}

const ftb_layer_kind ftb_appnp = {"appnp", make, apply};

/* Graph isomorphism network: y_i = relu(((1 + eps) x_i + sum of x_j over neighbours j) W1 + b1) W2 + b2;
 * with batch_norm, batch norm before relu.
 *
 * The sum and W1 change places where that is cheaper. eps is fixed or learned.
 * Xu et al., "How powerful are graph neural networks?", ICLR 2019. */
#include "nn/layers/layer.h"

static GrB_Info add_norm(FtB_Layer layer, int64_t hidden)
{
    GrB_Info info = ftb_layer_add(layer, "nn.1.weight", 1, hidden, FTB_START_ONE);
    if (info == GrB_SUCCESS)
        info = ftb_layer_add(layer, "nn.1.bias", 1, hidden, FTB_START_ZERO);
    if (info == GrB_SUCCESS)
        info = ftb_layer_add(layer, "nn.1.running_mean", 1, hidden, FTB_START_ZERO);
    if (info == GrB_SUCCESS)
        info = FtB_Parameter_set_trained(ftb_layer_find(layer, "nn.1.running_mean"), false);
    if (info == GrB_SUCCESS)
        info = ftb_layer_add(layer, "nn.1.running_var", 1, hidden, FTB_START_ONE);
    if (info == GrB_SUCCESS)
        info = FtB_Parameter_set_trained(ftb_layer_find(layer, "nn.1.running_var"), false);
    return info;
}

static GrB_Info make(FtB_Layer layer)
{
    const FtB_Layer_options *o = &layer->options;
    int64_t hidden = o->hidden > 0 ? o->hidden : layer->out;
    GrB_Info info = ftb_layer_add(layer, "eps", 1, 1, FTB_START_ZERO);
    if (info == GrB_SUCCESS)
        info = FtB_Parameter_set_trained(ftb_layer_find(layer, "eps"), o->train_eps);
    if (info == GrB_SUCCESS)
        ftb_cast(ftb_block_data(ftb_layer_find(layer, "eps")->value), o->type, &o->eps, FTB_FP64, 1);
    if (info == GrB_SUCCESS)
        info = ftb_layer_add(layer, "nn.0.weight", layer->in, hidden, FTB_START_GLOROT);
    if (info == GrB_SUCCESS && !o->no_bias)
        info = ftb_layer_add(layer, "nn.0.bias", 1, hidden, FTB_START_ZERO);
    if (info == GrB_SUCCESS && o->batch_norm)
        info = add_norm(layer, hidden);
    if (info == GrB_SUCCESS)
        info = ftb_layer_add(layer, o->batch_norm ? "nn.3.weight" : "nn.2.weight", hidden, layer->out,
                             FTB_START_GLOROT);
    if (info == GrB_SUCCESS && !o->no_bias)
        info = ftb_layer_add(layer, o->batch_norm ? "nn.3.bias" : "nn.2.bias", 1, layer->out, FTB_START_ZERO);
    return info;
}

static FtB_Var norm(FtB_Layer layer, FtB_Var x)
{
    return FtB_batch_norm(x, ftb_layer_find(layer, "nn.1.weight"), ftb_layer_find(layer, "nn.1.bias"),
                          ftb_layer_find(layer, "nn.1.running_mean"),
                          ftb_layer_find(layer, "nn.1.running_var"), 0.1, 1e-5);
}

/* (1 + eps) own + sum over neighbours */
static FtB_Var gather(const ftb_layer_call *call, FtB_Var x, FtB_Var own)
{
    FtB_Var sum = FtB_multiply("plus : src", call->A, FTB_OPERAND("src", x));
    return FtB_map("s + (1 + eps) * x", FTB_OPERAND("s", sum), FTB_OPERAND("x", own),
                   FTB_OPERAND("eps", ftb_layer_var(call, "eps")));
}

static FtB_Var apply(const ftb_layer_call *call)
{
    FtB_Layer layer = call->layer;
    FtB_Parameter w = ftb_layer_find(layer, "nn.0.weight"), bias = ftb_layer_find(layer, "nn.0.bias");
    FtB_Var h;
    if (ftb_layer_project_first(call, call->src, w->value->ncols, 1)) {
        FtB_Var z = FtB_linear(call->src, w, NULL),
                own = call->dst.node == call->src.node ? z : FtB_linear(call->dst, w, NULL);
        h = gather(call, z, own);
        h = bias ? FtB_add(h, ftb_layer_var(call, "nn.0.bias")) : h;
    } else {
        h = FtB_linear(gather(call, call->src, call->dst), w, bias);
    }
    const bool normed = layer->options.batch_norm;
    h = FtB_relu(normed ? norm(layer, h) : h);
    return FtB_linear(h, ftb_layer_find(layer, normed ? "nn.3.weight" : "nn.2.weight"),
                      ftb_layer_find(layer, normed ? "nn.3.bias" : "nn.2.bias"));
}

const ftb_layer_kind ftb_gin = {"gin", make, apply};

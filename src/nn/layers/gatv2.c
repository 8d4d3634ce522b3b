/* GATv2: y_i = sum over j of softmax_j(a . leaky_relu(l_j + r_i)) l_j, l = x W_l + b_l of sources, r = x W_r
 * + b_r of targets, head by head; features u of edges join as l_j + r_i + u_ij W_e.
 *
 * Unlike GAT's, the score ranks neighbours differently for different targets. Self-loops are added unless
 * targets are others than sources. Brody et al., "How attentive are graph attention networks?", ICLR 2022. */
#include "nn/layers/layer.h"

#include <stdio.h>

static GrB_Info make(FtB_Layer layer)
{
    const FtB_Layer_options *o = &layer->options;
    int64_t width = o->heads * layer->out, targets = o->in_dst > 0 ? o->in_dst : layer->in;
    GrB_Info info = ftb_layer_add(layer, "lin_l.weight", layer->in, width, FTB_START_GLOROT);
    if (info == GrB_SUCCESS && !o->no_bias)
        info = ftb_layer_add(layer, "lin_l.bias", 1, width, FTB_START_ZERO);
    if (info == GrB_SUCCESS)
        info = ftb_layer_add(layer, "lin_r.weight", targets, width, FTB_START_GLOROT);
    if (info == GrB_SUCCESS && !o->no_bias)
        info = ftb_layer_add(layer, "lin_r.bias", 1, width, FTB_START_ZERO);
    if (info == GrB_SUCCESS)
        info = ftb_layer_add_heads(layer, "att");
    if (info == GrB_SUCCESS && o->edge_width > 0)
        info = ftb_layer_add(layer, "lin_edge.weight", o->edge_width, width, FTB_START_GLOROT);
    return info == GrB_SUCCESS ? ftb_layer_add_result(layer, targets) : info;
}

static FtB_Var linear(const ftb_layer_call *call, FtB_Var x, const char *weight, const char *bias)
{
    FtB_Layer layer = call->layer;
    return FtB_heads(FtB_linear(x, ftb_layer_find(layer, weight), ftb_layer_find(layer, bias)),
                     layer->options.heads);
}

static FtB_Var apply(const ftb_layer_call *call)
{
    const FtB_Layer_options *o = &call->layer->options;
    FtB_Matrix B;
    FtB_Var edge;
    char score[96];
    if (!ftb_layer_attention_graph(call, true, &B, &edge))
        return ftb_var_lost(call->src);
    FtB_Var l = linear(call, call->src, "lin_l.weight", "lin_l.bias"),
            r = linear(call, call->dst, "lin_r.weight", "lin_r.bias"),
            a = FtB_heads(ftb_layer_var(call, "att"), o->heads);
    bool edges = edge.node >= 0;
    if (edges)
        edge = FtB_matmul(edge, ftb_layer_var(call, "lin_edge.weight"));
    const FtB_Operand operands[] = {FTB_OPERAND("src", l), FTB_OPERAND("dst", r), FTB_OPERAND("att", a),
                                    FTB_OPERAND("values", l), FTB_OPERAND("edge", edge)};
    snprintf(score, sizeof score, "plus : dot(leaky_relu(src + dst%s, %s), att)", edges ? " + edge" : "",
             ftb_number(o->slope).text);
    FtB_Var y = (FtB_attend)(FTB_SLOT((const char *)score), B, o->dropout, operands, edges ? 5 : 4);
    return ftb_layer_attention_result(call, y);
}

const ftb_layer_kind ftb_gatv2 = {"gatv2", make, apply};

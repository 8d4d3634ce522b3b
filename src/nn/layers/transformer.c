/* Dot-product attention: y_i = sum over j of softmax_j(k_j . q_i / sqrt(d)) v_j + x_i W + b, head by head,
 * with keys k = x K, queries q = x Q, values v = x V, each with a bias; features u of edges are added to keys
 * and values as u_ij W_e. No self-loops. Vaswani et al., "Attention is all you need", NIPS 2017; on graphs:
 * Shi et al., "Masked label prediction", IJCAI 2021. */
#include "nn/layers/layer.h"

#include <math.h>
#include <stdio.h>

static GrB_Info add_linear(FtB_Layer layer, const char *name, int64_t in, int64_t out, bool bias)
{
    char whole[32];
    snprintf(whole, sizeof whole, "%s.weight", name);
    GrB_Info info = ftb_layer_add(layer, whole, in, out, FTB_START_GLOROT);
    snprintf(whole, sizeof whole, "%s.bias", name);
    return info == GrB_SUCCESS && bias ? ftb_layer_add(layer, whole, 1, out, FTB_START_ZERO) : info;
}

static GrB_Info make(FtB_Layer layer)
{
    const FtB_Layer_options *o = &layer->options;
    int64_t width = o->heads * layer->out, targets = o->in_dst > 0 ? o->in_dst : layer->in;
    GrB_Info info = add_linear(layer, "lin_key", layer->in, width, true);
    if (info == GrB_SUCCESS)
        info = add_linear(layer, "lin_query", targets, width, true);
    if (info == GrB_SUCCESS)
        info = add_linear(layer, "lin_value", layer->in, width, true);
    if (info == GrB_SUCCESS && o->edge_width > 0)
        info = add_linear(layer, "lin_edge", o->edge_width, width, false);
    if (info == GrB_SUCCESS && !o->no_root)
        info = add_linear(layer, "lin_skip", targets, o->average ? layer->out : width, !o->no_bias);
    return info;
}

static FtB_Var linear(const ftb_layer_call *call, FtB_Var x, const char *name)
{
    char weight[32], bias[32];
    snprintf(weight, sizeof weight, "%s.weight", name);
    snprintf(bias, sizeof bias, "%s.bias", name);
    return FtB_linear(x, ftb_layer_find(call->layer, weight), ftb_layer_find(call->layer, bias));
}

/* With features of edges, e of them on each entry: in steps, since they have a part in what is summed, too.
 */
static FtB_Var with_edges(const ftb_layer_call *call, FtB_Matrix A, FtB_Var q, FtB_Var k, FtB_Var v,
                          FtB_Var e, double scale)
{
    const FtB_Layer_options *o = &call->layer->options;
    char score[96];
    snprintf(score, sizeof score, "plus : dot(src + edge, dst) * %s", ftb_number(scale).text);
    FtB_Var w = FtB_on_edges((const char *)score, A, FTB_OPERAND("src", k), FTB_OPERAND("dst", q),
                             FTB_OPERAND("edge", e));
    w = FtB_heads(FtB_dropout(FtB_edge_softmax(w, FTB_BY_ROW), o->dropout), o->heads);
    return FtB_multiply("plus : (src + edge) * w[e]", A, FTB_OPERAND("src", v), FTB_OPERAND("edge", e),
                        FTB_OPERAND("w", w));
}

static FtB_Var apply(const ftb_layer_call *call)
{
    const FtB_Layer_options *o = &call->layer->options;
    FtB_Matrix A;
    FtB_Var edge, y;
    char score[96];
    double scale = 1 / sqrt((double)call->layer->out);
    if (!ftb_layer_attention_graph(call, false, &A, &edge))
        return ftb_var_lost(call->src);
    FtB_Var q = FtB_heads(linear(call, call->dst, "lin_query"), o->heads),
            k = FtB_heads(linear(call, call->src, "lin_key"), o->heads),
            v = FtB_heads(linear(call, call->src, "lin_value"), o->heads);
    snprintf(score, sizeof score, "plus : dot(src, dst) * %s", ftb_number(scale).text);
    if (edge.node >= 0)
        y = with_edges(call, A, q, k, v, FtB_matmul(edge, ftb_layer_var(call, "lin_edge.weight")), scale);
    else
        y = FtB_attend((const char *)score, A, o->dropout, FTB_OPERAND("src", k), FTB_OPERAND("dst", q),
                       FTB_OPERAND("values", v));
    y = o->average ? FtB_mean_heads(y) : FtB_heads(y, 1);
    return o->no_root ? y : FtB_add(y, linear(call, call->dst, "lin_skip"));
}

const ftb_layer_kind ftb_transformer = {"transformer", make, apply};

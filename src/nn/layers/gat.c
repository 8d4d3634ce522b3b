/* Graph attention: y_i = sum over j of softmax_j(leaky_relu(a_s . z_j + a_t . z_i)) z_j, z = x W, head by
 * head.
 *
 * The two halves of a score are one number per vertex and head, so nothing of size edges x features is
 * stored; without features of edges nothing per edge is (FtB_attend). Where targets are other vertices than
 * sources, their half is x_i (W a_t), and their z is never made. With features u of edges, a_e . u_ij W_e =
 * u_ij (W_e a_e) joins the score. Self-loops are added unless targets are others than sources. Velickovic et
 * al., "Graph attention networks", ICLR 2018. */
#include "nn/layers/layer.h"

#include <stdio.h>

static GrB_Info make(FtB_Layer layer)
{
    const FtB_Layer_options *o = &layer->options;
    int64_t width = o->heads * layer->out;
    bool own = o->in_dst > 0; /* targets have weights of their own */
    GrB_Info info =
        ftb_layer_add(layer, own ? "lin_src.weight" : "lin.weight", layer->in, width, FTB_START_GLOROT);
    if (info == GrB_SUCCESS && own)
        info = ftb_layer_add(layer, "lin_dst.weight", o->in_dst, width, FTB_START_GLOROT);
    if (info == GrB_SUCCESS)
        info = ftb_layer_add_heads(layer, "att_src");
    if (info == GrB_SUCCESS)
        info = ftb_layer_add_heads(layer, "att_dst");
    if (info == GrB_SUCCESS && o->edge_width > 0)
        info = ftb_layer_add(layer, "lin_edge.weight", o->edge_width, width, FTB_START_GLOROT);
    if (info == GrB_SUCCESS && o->edge_width > 0)
        info = ftb_layer_add_heads(layer, "att_edge");
    return info == GrB_SUCCESS ? ftb_layer_add_result(layer, own ? o->in_dst : layer->in) : info;
}

/* x (W a): a score's part without x W. */
static FtB_Var part(const ftb_layer_call *call, FtB_Var x, const char *weight, const char *attention)
{
    int64_t heads = call->layer->options.heads;
    FtB_Var w = ftb_head_dots(ftb_layer_var(call, weight), ftb_layer_var(call, attention), heads);
    return FtB_heads(FtB_matmul(x, FtB_heads(w, 1)), heads);
}

static FtB_Var apply(const ftb_layer_call *call)
{
    const FtB_Layer_options *o = &call->layer->options;
    FtB_Matrix B;
    FtB_Var edge;
    char score[96];
    bool own = o->in_dst > 0;
    if (!ftb_layer_attention_graph(call, true, &B, &edge))
        return ftb_var_lost(call->src);
    FtB_Var z = FtB_heads(FtB_matmul(call->src, ftb_layer_var(call, own ? "lin_src.weight" : "lin.weight")),
                          o->heads);
    FtB_Var s = ftb_head_dots(z, ftb_layer_var(call, "att_src"), o->heads);
    FtB_Var t = own || call->dst.node != call->src.node
                    ? part(call, call->dst, own ? "lin_dst.weight" : "lin.weight", "att_dst")
                    : ftb_head_dots(z, ftb_layer_var(call, "att_dst"), o->heads);
    bool edges = edge.node >= 0;
    if (edges)
        edge = part(call, edge, "lin_edge.weight", "att_edge");
    const FtB_Operand operands[] = {FTB_OPERAND("src", s), FTB_OPERAND("dst", t), FTB_OPERAND("values", z),
                                    FTB_OPERAND("edge", edge)};
    snprintf(score, sizeof score, "plus : leaky_relu(dst + src%s, %s)", edges ? " + edge" : "",
             ftb_number(o->slope).text);
    FtB_Var y = (FtB_attend)(FTB_SLOT((const char *)score), B, o->dropout, operands, edges ? 4 : 3);
    return ftb_layer_attention_result(call, y);
}

const ftb_layer_kind ftb_gat = {"gat", make, apply};

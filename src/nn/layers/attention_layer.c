/* What GAT, GATv2 and the transformer layer share: their graph, and what becomes of heads. */
#include "nn/layers/layer.h"

#include <math.h>

GrB_Info ftb_layer_add_heads(FtB_Layer layer, const char *name)
{
    int64_t heads = layer->options.heads, out = layer->out;
    GrB_Info info = ftb_layer_add(layer, name, 1, heads * out, FTB_START_GLOROT);
    if (info != GrB_SUCCESS)
        return info;
    FtB_Block X = ftb_layer_find(layer, name)->value;
    double scale = sqrt((double)(1 + heads * out) / (double)(heads + out)); /* of Glorot's bounds */
    for (int64_t k = 0; k < X->ncols; k++) {
        char *at = (char *)ftb_block_data(X) + (size_t)k * FtB_Type_size(X->type);
        double value = scale * ftb_get_real(at, X->type, 0);
        ftb_cast(at, X->type, &value, FTB_FP64, 1);
    }
    return info;
}

static int64_t result_columns(FtB_Layer layer)
{
    return layer->options.average ? layer->out : layer->options.heads * layer->out;
}

GrB_Info ftb_layer_add_result(FtB_Layer layer, int64_t targets)
{
    GrB_Info info = GrB_SUCCESS;
    if (layer->options.residual)
        info = ftb_layer_add(layer, "res.weight", targets, result_columns(layer), FTB_START_GLOROT);
    if (info == GrB_SUCCESS && !layer->options.no_bias)
        info = ftb_layer_add(layer, "bias", 1, result_columns(layer), FTB_START_ZERO);
    return info;
}

static GrB_Info check_edge(const ftb_layer_call *call)
{
    const ftb_nn_node *e = call->tape->nodes[call->edge.node];
    char shape[80];
    int64_t width = call->layer->options.edge_width;
    if (!e->graph || e->sparse || e->graph->pattern != call->A->pattern || e->ncols != width)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "%s, edge: %s; expected %lld values on each edge of A",
                        call->layer->kind->name, ftb_node_shape(e, shape, sizeof shape), (long long)width);
    return GrB_SUCCESS;
}

bool ftb_layer_attention_graph(const ftb_layer_call *call, bool loops, FtB_Matrix *B, FtB_Var *edge)
{
    GrB_Info info = GrB_SUCCESS;
    bool add = loops && !call->layer->options.no_self_loops && !call->bipartite &&
               call->A->pattern->nrows <= call->A->pattern->ncols;
    *B = call->A;
    *edge = call->edge;
    if (call->edge.node >= 0)
        info = check_edge(call);
    if (info == GrB_SUCCESS && add)
        info = ftb_layer_self_loops(B, call->layer, call->A);
    if (info != GrB_SUCCESS) {
        ftb_var_failed(call->tape, info);
        return false;
    }
    if (edge->node >= 0 && add)
        *edge = ftb_loop_edges(*edge, *B);
    return true;
}

FtB_Var ftb_layer_attention_result(const ftb_layer_call *call, FtB_Var y)
{
    y = call->layer->options.average ? FtB_mean_heads(y) : FtB_heads(y, 1);
    if (call->layer->options.residual)
        y = ftb_matmul_onto(y, call->dst, ftb_layer_var(call, "res.weight"));
    return ftb_layer_bias(call, y);
}

/* Sums over neighbours as GCN, SGC and APPNP normalise them: Y = factor D^-1/2 (A + I) D^-1/2 X, D the row
 * sums of A + I, for rows and columns alike (also of directed graphs, as PyG's gcn_norm). An entry (i, i) of
 * A keeps its weight; weights are A's values, or 1 where it has none.
 *
 * On a hop of a sample, whose targets are the first of its sources, D is that of the graph that it was picked
 * of, and what was picked of a row stands for all of it (cpu/nn/gcn_weights.h).
 *
 * Without weights the factors stand beside the sum, and no entry has a value; where rows are long, so do the
 * self-loops, and A + I is not stored. With weights the normalised
 * values are stored once per layer and graph. */
#include "core/whole.h"
#include "cpu/nn/gcn_weights.h"
#include "nn/layers/layer.h"

#include <math.h>

/* What layer->scale and layer->derived hold of the graph that the layer looks at. */

/* own: 1 where self-loops count that p does not have. */
static GrB_Info degrees(FtB_Block *scale, FtB_Type type, const ftb_pattern *p, int64_t own, double factor)
{
    GrB_Info info = FtB_Block_new(scale, p->nrows, 1, type);
    for (int64_t i = 0; info == GrB_SUCCESS && i < p->nrows; i++) {
        double value = sqrt(factor) * ftb_inverse_root((double)(p->rowptr[i + 1] - p->rowptr[i] + own));
        ftb_cast((char *)ftb_block_data(*scale) + (size_t)i * FtB_Type_size(type), type, &value, FTB_FP64, 1);
    }
    return info;
}

/* Whether A's columns are more vertices than its rows: a hop of a sample, also where all were there before.
 */
static bool is_hop(const ftb_pattern *p) { return p->whole || p->nrows < p->ncols; }

/* A's weights, normalised, on the pattern q. */
static GrB_Info weights(FtB_Matrix *B, FtB_Layer layer, ftb_pattern *q, FtB_Matrix A, double factor)
{
    const FtB_Type type = layer->options.type;
    const ftb_whole *whole = A->pattern->whole;
    ftb_gcn_hop h = {
        .of = {.ctx = A->ctx, .p = A->pattern, .q = q, .stored = A->type, .type = type, .factor = factor},
        .loops = !layer->options.no_self_loops,
        .whole = whole};
    ftb_buffer *values = ftb_buffer_adopt(A->ctx, ftb_new(A->ctx, q->nvals, FtB_Type_size(type)));
    GrB_Info info = values ? ftb_buffer_ask_as(A->values, FTB_READ, "A") : ftb_nomem();
    if (info == GrB_SUCCESS && whole)
        info = ftb_buffer_ask(whole->graph->values, FTB_READ);
    if (info == GrB_SUCCESS && whole)
        info = ftb_buffer_ask(whole->vertices, FTB_READ);
    if (info == GrB_SUCCESS && whole && h.loops)
        info = ftb_pattern_loops(whole->graph->pattern, &h.whole_loops);
    h.of.weights = info == GrB_SUCCESS ? ftb_values(A) : NULL;
    if (info == GrB_SUCCESS)
        info = is_hop(A->pattern) ? ftb_gcn_hop_run(&h, ftb_buffer_data(values))
                                  : ftb_gcn_weights_run(&h.of, ftb_buffer_data(values));
    if (info == GrB_SUCCESS)
        return ftb_matrix_make(B, A->ctx, type, 1, ftb_pattern_retain(q), values);
    ftb_buffer_release(values);
    return info;
}

#define LONG_ROWS 64 /* entries, on average: a pass over the features costs little beside the sum then */

/* Whether A + I need not be stored, since A has long rows and no diagonal: A X + X then. */
static bool loops_apart(const FtB_Layer layer, const FtB_Matrix A)
{
    const ftb_pattern *p = A->pattern;
    if (layer->options.no_self_loops || A->width > 0 || is_hop(p) || p->nvals < LONG_ROWS * p->nrows)
        return false;
    for (int64_t i = 0; i < p->nrows; i++) {
        int64_t first, end;
        ftb_pattern_own(p, i, &first, &end);
        if (first < end)
            return false;
    }
    return true;
}

static GrB_Info derive(const ftb_layer_call *call, double factor)
{
    const FtB_Layer layer = call->layer;
    const FtB_Matrix A = call->A;
    ftb_pattern *q = A->pattern;
    FtB_Type type = layer->options.type;
    if (q->nrows > q->ncols || (q->nrows < q->ncols && call->bipartite))
        return ftb_fail(GrB_DIMENSION_MISMATCH,
                        "A is %lld x %lld; expected a square matrix, whose degrees normalise both ends, or "
                        "one whose targets are the first of the sources",
                        (long long)q->nrows, (long long)q->ncols);
    if (A->width > 1)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "A has %lld values per entry; expected one weight or none",
                        (long long)A->width);
    if (layer->derived)
        return GrB_SUCCESS;
    layer->loops_apart = loops_apart(layer, A);
    bool stored = !layer->options.no_self_loops && !layer->loops_apart;
    GrB_Info info = stored ? ftb_pattern_diagonal(q, &q) : GrB_SUCCESS;
    if (info == GrB_SUCCESS && A->width == 1)
        ftb_watch_matrix(&layer->values, A);
    if (info == GrB_SUCCESS && (A->width == 1 || is_hop(A->pattern)))
        return weights(&layer->derived, layer, q, A, factor);
    if (info == GrB_SUCCESS && !layer->scale)
        info = degrees(&layer->scale, type, q, layer->loops_apart, factor);
    if (info == GrB_SUCCESS)
        info = ftb_matrix_make(&layer->derived, A->ctx, type, 0, ftb_pattern_retain(q), NULL);
    return info;
}

FtB_Var ftb_layer_propagate(const ftb_layer_call *call, FtB_Var x, double factor)
{
    FtB_Layer layer = call->layer;
    const ftb_pattern *p = call->A->pattern;
    GrB_Info info = derive(call, factor);
    if (info == GrB_SUCCESS && x.node >= 0 && call->tape->nodes[x.node]->nrows != p->ncols)
        info = ftb_fail(GrB_DIMENSION_MISMATCH,
                        "A is %lld x %lld; expected a square matrix: of a hop of a sample there is one step",
                        (long long)p->nrows, (long long)p->ncols);
    if (info != GrB_SUCCESS)
        return ftb_var_failed(call->tape, ftb_wrap_error(info, "%s: ", layer->kind->name));
    if (layer->derived->width == 1)
        return FtB_multiply("plus : edge * src", layer->derived, FTB_OPERAND("src", x));
    /* The factors as operations of their own: they work in place, where a product would need new memory. */
    FtB_Var r = FtB_input(call->tape, layer->scale), own = FtB_times(x, r);
    FtB_Var sum = FtB_multiply("plus : src", layer->derived, FTB_OPERAND("src", own));
    return FtB_times(layer->loops_apart ? FtB_add(sum, own) : sum, r);
}

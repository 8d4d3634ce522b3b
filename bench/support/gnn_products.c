/* The sparse products of a model: inside an epoch, and alone.
 *
 * Inside, operations that are sparse products are replaced by ones that call them and look at the clock: this
 * reads the tape's own records (nn/nn.h). Alone, each of them is the plain product of its shape on blocks
 * that are made here, warm, as the benchmarks of products take it; gradients are the same product with A'. */
#include "gnn.h"

#include "core/core.h"
#include "nn/nn.h"

#include <stdlib.h>
#include <string.h>

typedef enum kind { NONE, SUM, SPARSE, ATTENTION } kind;

static kind kind_of(const ftb_nn_node *n)
{
    if (!n->op || n->constant)
        return NONE;
    if (strcmp(n->op->name, "multiply") == 0)
        return SUM;
    if (strcmp(n->op->name, "attend") == 0)
        return ATTENTION;
    return strcmp(n->op->name, "linear") == 0 && ftb_node_in(n, 0)->sparse ? SPARSE : NONE;
}

/* ---- inside */

enum { EPOCHS = 100 };

typedef struct timed_op {
    ftb_nn_op op; /* what the node calls */
    const ftb_nn_op *inner;
} timed_op;

static double inside, inside_cpu; /* seconds so far: operations have no other place to leave them */

static GrB_Info timed_forward(ftb_nn_node *n, const ftb_nn_call *c)
{
    const double start = bench_now(), cpu = bench_cpu();
    GrB_Info info = ((const timed_op *)n->op)->inner->forward(n, c);
    inside += bench_now() - start;
    inside_cpu += bench_cpu() - cpu;
    return info;
}

static GrB_Info timed_gradient(ftb_nn_node *n, const ftb_nn_call *c)
{
    const double start = bench_now(), cpu = bench_cpu();
    GrB_Info info = ((const timed_op *)n->op)->inner->gradient(n, c);
    inside += bench_now() - start;
    inside_cpu += bench_cpu() - cpu;
    return info;
}

bool gnn_products_inside(gnn_model *m, int count, bench_result *result)
{
    double seconds[EPOCHS], cpu[EPOCHS];
    FtB_Tape tape = m->tape;
    timed_op *ops = calloc((size_t)tape->count, sizeof *ops);
    bool ok = ops != NULL;
    for (int64_t k = 0; ok && k < tape->count; k++) {
        ftb_nn_node *n = tape->nodes[k];
        if (kind_of(n) == NONE)
            continue;
        ops[k] = (timed_op){*n->op, n->op};
        ops[k].op.forward = timed_forward;
        ops[k].op.gradient = timed_gradient;
        n->op = &ops[k].op;
    }
    ok = ok && gnn_epoch(m);
    for (int epoch = 0; ok && epoch < count; epoch++) {
        inside = inside_cpu = 0;
        ok = gnn_epoch(m);
        seconds[epoch] = inside;
        cpu[epoch] = inside_cpu;
    }
    for (int64_t k = 0; ops && k < tape->count; k++)
        if (ops[k].inner)
            tape->nodes[k]->op = ops[k].inner;
    free(ops);
    result->seconds = ok ? gnn_median(seconds, count) : 0;
    result->cpu = ok ? gnn_median(cpu, count) : 0;
    return ok;
}

/* ---- alone */

enum { A_DST, A_SRC, A_V, A_OUT, A_DOUT, A_DDST, A_DSRC, A_DV, BLOCKS };

typedef struct alone {
    FtB_Matrix A;
    FtB_Block block[BLOCKS], lse;
    kind kind;
    bool gradient;
} alone;

static bool sum_step(void *state)
{
    alone *a = state;
    const bool sparse = a->kind == SPARSE;
    FtB_Semiring s = sparse ? FTB_PLUS_MUL : FTB_PLUS_SRC;
    return gnn_ok(FtB_mxm(a->block[A_OUT], NULL, NULL, s, a->A, a->block[A_V], NULL)) &&
           (!a->gradient ||
            gnn_ok(FtB_mxm(a->block[A_DV], NULL, NULL, s, a->A, a->block[A_OUT], FTB_DESC_T0)));
}

static bool attention_step(void *state)
{
    alone *a = state;
    static const char score[] = "plus : leaky_relu(dst + src, 0.2)";
    const char *text = score;
    FtB_Block *b = a->block;
    const FtB_Attention_options *options = FTB_ATTENTION_OPTIONS(.lse = a->lse);
    return gnn_ok(FtB_attention(b[A_OUT], a->A, NULL, text, b[A_DST], b[A_SRC], b[A_V], options, NULL)) &&
           (!a->gradient || gnn_ok(FtB_attention_grad(b[A_DDST], b[A_DSRC], b[A_DV], b[A_DOUT], a->A, text,
                                                      b[A_DST], b[A_SRC], b[A_V], b[A_OUT], options, NULL)));
}

static bool block(FtB_Block *X, int64_t nrows, int64_t ncols, int64_t heads)
{
    FtB_Block whole = NULL;
    float *x;
    int64_t ld;
    bool ok = gnn_ok(FtB_Block_new(&whole, nrows, ncols, FTB_FP32)) &&
              gnn_ok(FtB_Block_shape(whole, NULL, NULL, &ld, NULL, (void **)&x)) &&
              gnn_ok(FtB_Block_heads(X, whole, heads));
    for (int64_t i = 0; ok && i < nrows; i++)
        for (int64_t f = 0; f < ncols; f++)
            x[i * ld + f] = bench_feature(i, f, 1);
    FtB_Block_free(&whole);
    return ok;
}

/* The graph as layers see it: GraphSAGE's as it is, others' with an entry (i, i) in every row. */
static bool layer_graph(FtB_Matrix *A, const gnn_task *t)
{
    ftb_pattern *p = t->A->pattern;
    if (strcmp(t->what->model, "sage") != 0 && !gnn_ok(ftb_pattern_diagonal(p, &p)))
        return false;
    return gnn_ok(ftb_matrix_make(A, t->A->ctx, FTB_FP32, 0, ftb_pattern_retain(p), NULL));
}

static bool alone_new(alone *a, const ftb_nn_node *n, const gnn_task *t)
{
    *a = (alone){.kind = kind_of(n)};
    const int64_t heads = a->kind == ATTENTION ? n->heads : 1, width = n->ncols;
    const int source = a->kind == SPARSE ? 1 : 0; /* whose gradient is the transposed product */
    a->gradient = n->gradient && (a->kind == ATTENTION || ftb_node_in(n, source)->gradient);
    if (a->kind == SPARSE)
        return gnn_ok(FtB_Matrix_dup(&a->A, t->S)) && block(&a->block[A_V], t->nfeatures, width, 1) &&
               block(&a->block[A_DV], t->nfeatures, width, 1) && block(&a->block[A_OUT], t->n, width, 1);
    bool ok = layer_graph(&a->A, t);
    for (int b = A_DST; ok && a->kind == ATTENTION && b < BLOCKS; b++)
        ok = block(&a->block[b], t->n, b == A_DST || b == A_SRC || b == A_DDST || b == A_DSRC ? heads : width,
                   heads);
    if (a->kind == ATTENTION)
        return ok && gnn_ok(FtB_Block_new(&a->lse, t->n, heads, FTB_FP32));
    return ok && block(&a->block[A_V], t->n, width, 1) && block(&a->block[A_DV], t->n, width, 1) &&
           block(&a->block[A_OUT], t->n, width, 1);
}

static void alone_free(alone *a)
{
    FtB_Matrix_free(&a->A);
    FtB_Block_free(&a->lse);
    for (int b = 0; b < BLOCKS; b++)
        FtB_Block_free(&a->block[b]);
}

bool gnn_products_alone(gnn_model *m, const gnn_task *t, bench_result *all)
{
    bool ok = true;
    for (int64_t k = 0; ok && k < m->tape->count; k++) {
        const ftb_nn_node *n = m->tape->nodes[k];
        alone a;
        bench_result result = {0};
        if (kind_of(n) == NONE)
            continue;
        ok = alone_new(&a, n, t) && bench_time(a.kind == ATTENTION ? attention_step : sum_step, &a, &result);
        all->seconds += result.seconds;
        all->cpu += result.cpu;
        alone_free(&a);
    }
    return ok;
}

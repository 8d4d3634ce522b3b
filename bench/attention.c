/* The benchmark of attention, softmax(Q K') V over the entries of a graph, with its bars: in one pass beside
 * three steps, forward and backward, and beside DGL's three steps. bench/blocks.sh runs it. */
#include "featblas.h"
#include "support/stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RAND "rand-100k"

/* Q, K, V, their gradients and the result's, all nvertices x dim with heads. */
enum { Q, K, V, C, DC, DQ, DK, DV, BLOCKS };

typedef struct call {
    FtB_Block block[BLOCKS], lse;
    FtB_Matrix A, S, T; /* S, T: scores and their gradients, of the three steps */
} call;

static bool say(GrB_Info info)
{
    if (info != GrB_SUCCESS)
        fprintf(stderr, "attention: %s\n", FtB_error());
    return info == GrB_SUCCESS;
}

static bool fused(void *state)
{
    call *c = state;
    return say(FtB_attention(c->block[C], c->A, NULL, FTB_PLUS_DOT, c->block[Q], c->block[K], c->block[V],
                             FTB_ATTENTION_OPTIONS(.lse = c->lse), NULL));
}

static bool fused_grad(void *state)
{
    call *c = state;
    FtB_Block *b = c->block;
    return say(FtB_attention_grad(b[DQ], b[DK], b[DV], b[DC], c->A, FTB_PLUS_DOT, b[Q], b[K], b[V], b[C],
                                  FTB_ATTENTION_OPTIONS(.lse = c->lse), NULL));
}

static bool staged(void *state)
{
    call *c = state;
    FtB_Block *b = c->block;
    return say(FtB_mxm(c->S, c->A, NULL, FTB_PLUS_DOT, b[Q], b[K], FTB_DESC_RST1)) &&
           say(FtB_softmax(c->S, c->S, FTB_BY_ROW)) &&
           say(FtB_mxm(b[C], NULL, NULL, FTB_PLUS_MUL, c->S, b[V], NULL));
}

/* After a forward pass, whose weights S has: dV = S' dC, T = dS = dC V', then through the softmax, and dQ = T
 * K, dK = T' Q. */
static bool staged_grad(void *state)
{
    call *c = state;
    FtB_Block *b = c->block;
    return say(FtB_mxm(b[DV], NULL, NULL, FTB_PLUS_MUL, c->S, b[DC], FTB_DESC_T0)) &&
           say(FtB_mxm(c->T, c->A, NULL, FTB_PLUS_DOT, b[DC], b[V], FTB_DESC_RST1)) &&
           say(FtB_softmax_grad(c->T, c->S, c->T, FTB_BY_ROW)) &&
           say(FtB_mxm(b[DQ], NULL, NULL, FTB_PLUS_MUL, c->T, b[K], NULL)) &&
           say(FtB_mxm(b[DK], NULL, NULL, FTB_PLUS_MUL, c->T, b[Q], FTB_DESC_T0));
}

static bool make_block(FtB_Block *X, const float *from, int64_t nrows, int64_t ncols, int64_t heads)
{
    FtB_Block whole = NULL;
    void *data = NULL;
    bool ok = say(FtB_Block_new(&whole, nrows, ncols, FTB_FP32)) &&
              say(FtB_Block_shape(whole, NULL, NULL, NULL, NULL, &data)) &&
              say(FtB_Block_heads(X, whole, heads));
    if (ok && from)
        memcpy(data, from, (size_t)(nrows * ncols) * sizeof *from);
    FtB_Block_free(&whole);
    return ok;
}

/* The blocks and the graph, in the context that is engaged. */
static bool make_call(call *c, bench_stage *stage, const bench_case *k)
{
    const int64_t n = stage->graph.nrows;
    bench_stage_targets(stage);
    const float *from[BLOCKS] = {[Q] = stage->Y, [K] = stage->X, [V] = stage->X, [DC] = stage->Y};
    bool ok = say(gen_matrix(&c->A, &stage->graph)) && say(FtB_Block_new(&c->lse, n, k->heads, FTB_FP32));
    for (int x = 0; ok && x < BLOCKS; x++)
        ok = make_block(&c->block[x], from[x], n, k->dim, k->heads);
    return ok;
}

static bool make_edges(call *c, int64_t heads)
{
    return say(FtB_Matrix_like(&c->S, c->A, heads, FTB_FP32)) &&
           say(FtB_Matrix_like(&c->T, c->A, heads, FTB_FP32));
}

static double block_sum(FtB_Block X)
{
    int64_t nrows, ncols;
    void *data = NULL;
    FtB_Block_shape(X, &nrows, &ncols, NULL, NULL, &data);
    return bench_sum(data, nrows * ncols);
}

/* A context of its own counts what a pass holds beside its operands. */
static bool ours(const bench_settings *s, const bench_measure *m, bench_result *result)
{
    const bench_case k = bench_case_of(m);
    const bool three = strncmp(k.operation, "staged", 6) == 0, back = strstr(k.operation, "grad") != NULL;
    bench_stage *stage = bench_stage_get(m);
    FtB_Context ctx = NULL;
    int64_t held = 0, peak = 0;
    call c = {0};
    (void)s;
    bool ok = say(FtB_Context_new(&ctx)) && say(FtB_Context_engage(ctx)) &&
              say(FtB_Context_set_threads(ctx, m->threads)) && make_call(&c, stage, &k) &&
              (!three || make_edges(&c, k.heads));
    FtB_Context_memory(ctx, &held, NULL);
    if (ok && back)
        ok = three ? staged(&c) : fused(&c);
    ok = ok && bench_time(three ? back ? staged_grad : staged : back ? fused_grad : fused, &c, result);
    FtB_Context_memory(ctx, NULL, &peak);
    result->bytes = bench_stage_bytes(m);
    result->peak = (double)(peak - held);
    result->check = ok ? block_sum(c.block[back ? DQ : C]) : 0;
    for (int x = 0; x < BLOCKS; x++)
        FtB_Block_free(&c.block[x]);
    FtB_Block_free(&c.lse);
    FtB_Matrix_free(&c.T);
    FtB_Matrix_free(&c.S);
    FtB_Matrix_free(&c.A);
    FtB_Context_engage(NULL);
    FtB_Context_free(&ctx);
    return ok;
}

static void both_threads(bench_suite *b, const bench_case *c)
{
    bench_add(b, "FeatBLAS", c, RAND, 1, ours);
    bench_add(b, "FeatBLAS", c, RAND, 2, ours);
    bench_two_threads(b, "FeatBLAS", c, RAND, 1.8);
}

int main(int argc, char **argv)
{
    static bench_suite b;
    const bench_case forward = {"attention", 128, 8}, three = {"staged attention", 128, 8},
                     backward = {"attention grad", 128, 8}, three_back = {"staged attention grad", 128, 8};
    bench_add_machine(&b, RAND, 128);
    both_threads(&b, &forward);
    bench_add(&b, "FeatBLAS", &three, RAND, 1, ours);
    bench_ratio(&b, "FeatBLAS", &forward, "FeatBLAS", &three, RAND, 1, 1.5);
    both_threads(&b, &backward);
    bench_add(&b, "FeatBLAS", &three_back, RAND, 1, ours);
    bench_ratio(&b, "FeatBLAS", &backward, "FeatBLAS", &three_back, RAND, 1, 1.3);
    bench_add(&b, "DGL", &forward, RAND, 1, bench_peer);
    /* Less than a byte per entry and head: nothing is stored per edge, but the partition's two bytes. */
    bench_peak(&b, "FeatBLAS", &forward, RAND, 48e6 * 8);
    return bench_suite_run(&b, argc, argv);
}

/* The benchmark of block x block' under a sparse mask, and of softmax on edges, with its bars, beside a plain
 * loop, GraphBLAS and DGL. bench/blocks.sh runs it. */
#include "featblas.h"
#include "plain/plain.h"
#include "support/peer_grb.h"
#include "support/stage.h"

#include <stdio.h>
#include <string.h>

#define RAND "rand-100k"

/* ---- ours */

typedef struct call {
    FtB_Matrix S, A;
    FtB_Block Y, X;
    bool softmax;
} call;

/* A dot replaces the whole of S, whose memory it may use again. */
static bool run_ours(void *state)
{
    call *c = state;
    GrB_Info info = c->softmax ? FtB_softmax(c->S, c->A, FTB_BY_ROW)
                               : FtB_mxm(c->S, c->A, NULL, FTB_PLUS_DOT, c->Y, c->X, FTB_DESC_RST1);
    if (info != GrB_SUCCESS)
        fprintf(stderr, "%s: %s\n", c->softmax ? "FtB_softmax" : "FtB_mxm", FtB_error());
    return info == GrB_SUCCESS;
}

static double sum_of(FtB_Matrix S)
{
    double sum = 0;
    const void *values = NULL;
    int64_t nvals, width;
    FtB_Matrix_shape(S, NULL, NULL, &nvals, &width, NULL);
    if (FtB_Matrix_csr(S, NULL, NULL, &values) == GrB_SUCCESS && values)
        sum = bench_sum(values, nvals * width);
    return sum;
}

static bool ours(const bench_settings *s, const bench_measure *m, bench_result *result)
{
    const bench_case k = bench_case_of(m);
    bench_stage *stage = bench_stage_get(m);
    const gen_graph *g = &stage->graph;
    call c = {.A = stage->A, .softmax = strcmp(k.operation, "softmax") == 0};
    (void)s;
    FtB_Context_set_threads(NULL, m->threads);
    bench_stage_targets(stage);
    if (c.softmax) {
        bench_stage_edges(stage, k.heads);
        c.A = stage->W;
    }
    bool ok = FtB_Matrix_like(&c.S, c.A, k.heads, FTB_FP32) == GrB_SUCCESS &&
              bench_block(&c.X, stage->X, g->ncols, k.dim, k.heads) &&
              bench_block(&c.Y, stage->Y, g->nrows, k.dim, k.heads) && bench_time(run_ours, &c, result);
    result->bytes = bench_stage_bytes(m);
    result->check = ok ? sum_of(c.S) : 0;
    FtB_Block_free(&c.Y);
    FtB_Block_free(&c.X);
    FtB_Matrix_free(&c.S);
    return ok;
}

/* ---- the plain loops */

typedef struct plain_call {
    plain_graph graph;
    const bench_stage *stage;
    bool softmax;
} plain_call;

static bool run_plain(void *state)
{
    plain_call *p = state;
    const bench_stage *s = p->stage;
    if (p->softmax)
        plain_softmax(&p->graph, s->weights, s->scores, s->heads);
    else
        plain_dot(&p->graph, s->Y, s->X, s->scores, s->heads, s->dim);
    return true;
}

static bool plain(const bench_settings *s, const bench_measure *m, bench_result *result)
{
    const bench_case k = bench_case_of(m);
    bench_stage *stage = bench_stage_get(m);
    const gen_graph *g = &stage->graph;
    plain_call p = {{g->nrows, g->rowptr, g->colidx, m->threads}, stage, strcmp(k.operation, "softmax") == 0};
    (void)s;
    bench_stage_targets(stage);
    bench_stage_edges(stage, k.heads);
    bool ok = bench_time_cold(run_plain, &p, result);
    result->bytes = bench_stage_bytes(m);
    result->check = bench_sum(stage->scores, g->nvals * k.heads);
    return ok;
}

/* ---- the cases */

static void both_threads(bench_suite *b, const bench_case *c, const char *graph)
{
    bench_add(b, "FeatBLAS", c, graph, 1, ours);
    bench_add(b, "FeatBLAS", c, graph, 2, ours);
    bench_two_threads(b, "FeatBLAS", c, graph, 1.8);
}

static void beside(bench_suite *b, const bench_case *c, const char *other, bench_function run, double bar)
{
    bench_add(b, other, c, RAND, 1, run);
    bench_ratio(b, "FeatBLAS", c, other, c, RAND, 1, bar);
}

int main(int argc, char **argv)
{
    static bench_suite b;
    const bench_case dot = {"dot", 128, 1}, heads = {"dot", 128, 8}, softmax = {"softmax", 128, 8};
    bench_add_machine(&b, RAND, 128);
    both_threads(&b, &dot, RAND);
    bench_share_of_l2(&b, "FeatBLAS", &dot, RAND, 0.38);
    beside(&b, &dot, "DGL", bench_peer, 15);
    beside(&b, &dot, "plain loop", plain, 4);
    beside(&b, &dot, "GraphBLAS", bench_grb_sddmm, 18);
    both_threads(&b, &heads, RAND);
    bench_ratio(&b, "FeatBLAS", &heads, "FeatBLAS", &dot, RAND, 1, 1 / 1.5);
    beside(&b, &heads, "DGL", bench_peer, 12);
    bench_add(&b, "plain loop", &heads, RAND, 1, plain);
    both_threads(&b, &softmax, RAND);
    beside(&b, &softmax, "DGL", bench_peer, 4);
    bench_add(&b, "plain loop", &softmax, RAND, 1, plain);
    return bench_suite_run(&b, argc, argv);
}

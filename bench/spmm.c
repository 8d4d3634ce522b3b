/* The benchmark of products of a sparse matrix and a feature block, with its bars, beside a plain loop, MKL,
 * GraphBLAS, DGL and scipy. bench/blocks.sh runs it.
 *
 * Ours run through the public interface; their first run, which builds partitions, is outside the clock, and
 * so are MKL's create and optimize: both are shown as "setup". */
#include "core/isa.h"
#include "featblas.h"
#include "plain/plain.h"
#include "support/mkl.h"
#include "support/peer_grb.h"
#include "support/stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RAND "rand-100k"
enum { MLP_WIDTH = 128 };

/* What the libraries are asked for. */
typedef struct operation {
    const char *name, *text;
    bool edges, targets; /* reads edge values, the targets' features */
} operation;
static const operation operations[] = {
    {"sum", "plus : src", false, false},
    {"max", "max : src", false, false},
    {"min", "min : src", false, false},
    {"mean", "mean : src", false, false},
    {"weighted", "plus : edge * src", true, false},
    {"heads", "plus : edge * src", true, false},
    {"tanh", "plus : tanh(src * dst + edge)", true, true},
    {"compiled tanh", "plus : tanh(src * dst + edge)", true, true}, /* by the host compiler */
    {"mlp", "max : relu((src + dst) @ W)", false, true},
};

static const operation *find(const char *name)
{
    for (size_t o = 0; o < sizeof operations / sizeof *operations; o++)
        if (strcmp(operations[o].name, name) == 0)
            return &operations[o];
    fprintf(stderr, "no operation %s\n", name);
    exit(1);
}

/* Results and weights of the one operation whose result is wider than its input. */
typedef struct mlp {
    float *W, *C;
} mlp;

static bool mlp_new(mlp *t, int64_t nrows, int64_t dim)
{
    t->W = malloc((size_t)(dim * MLP_WIDTH) * sizeof *t->W);
    t->C = malloc((size_t)(nrows * MLP_WIDTH) * sizeof *t->C);
    for (int64_t w = 0; t->W && w < dim * MLP_WIDTH; w++)
        t->W[w] = (float)(w * 7 % 31) / 31 - 0.4f;
    if (t->C)
        memset(t->C, 0, (size_t)(nrows * MLP_WIDTH) * sizeof *t->C);
    return t->W && t->C;
}

static void mlp_free(mlp *t)
{
    free(t->W);
    free(t->C);
}

/* ---- ours */

typedef struct call {
    FtB_Matrix A;
    FtB_Block C, X;
    FtB_Semiring semiring;
} call;

static bool multiply(void *state)
{
    call *c = state;
    GrB_Info info = FtB_mxm(c->C, NULL, NULL, c->semiring, c->A, c->X, NULL);
    if (info != GrB_SUCCESS)
        fprintf(stderr, "FtB_mxm: %s\n", FtB_error());
    return info == GrB_SUCCESS;
}

static bool bind(call *c, const operation *o, bench_stage *stage, mlp *t)
{
    FtB_Semiring free_names = NULL;
    FtB_Block Y = NULL, W = NULL;
    bool ok = FtB_Semiring_new(&free_names, o->text) == GrB_SUCCESS;
    if (ok && o->targets) {
        bench_stage_targets(stage);
        ok = bench_block(&Y, stage->Y, stage->graph.nrows, stage->dim, 1);
    }
    if (ok && t->W)
        ok = bench_block(&W, t->W, stage->dim, MLP_WIDTH, 1) &&
             FtB_Semiring_bind(&c->semiring, free_names, FTB_BIND("dst", Y), FTB_BIND("W", W)) == GrB_SUCCESS;
    else if (ok && o->targets)
        ok = FtB_Semiring_bind(&c->semiring, free_names, FTB_BIND("dst", Y)) == GrB_SUCCESS;
    else if (ok) {
        c->semiring = free_names;
        free_names = NULL;
    }
    FtB_Semiring_free(&free_names);
    FtB_Block_free(&Y);
    FtB_Block_free(&W);
    return ok;
}

static bool ours(const bench_settings *s, const bench_measure *m, bench_result *result)
{
    const bench_case k = bench_case_of(m);
    const operation *o = find(k.operation);
    bench_stage *stage = bench_stage_get(m);
    const int64_t nrows = stage->graph.nrows;
    const bool wide = strcmp(o->name, "mlp") == 0;
    call c = {.A = stage->A};
    mlp t = {0};
    (void)s;
    FtB_Context_set_threads(NULL, m->threads);
    if (o->edges) {
        bench_stage_edges(stage, k.heads);
        c.A = stage->W;
    }
    if (strcmp(o->name, "compiled tanh") == 0)
        setenv("FEATBLAS_JIT", "cc", 1);
    bool ok = !wide || mlp_new(&t, nrows, k.dim);
    ok = ok && bench_block(&c.X, stage->X, stage->graph.ncols, k.dim, k.heads) &&
         bench_block(&c.C, wide ? t.C : stage->C, nrows, wide ? MLP_WIDTH : k.dim, k.heads) &&
         bind(&c, o, stage, &t) && bench_time(multiply, &c, result);
    result->bytes = bench_stage_bytes(m);
    result->check = wide ? bench_sum(t.C, nrows * MLP_WIDTH) : bench_sum(stage->C, nrows * k.dim);
    unsetenv("FEATBLAS_JIT");
    FtB_Semiring_free(&c.semiring);
    FtB_Block_free(&c.C);
    FtB_Block_free(&c.X);
    mlp_free(&t);
    return ok;
}

/* The first product of a new matrix less its second: what is built once. */
static bool partition(const bench_settings *s, const bench_measure *m, bench_result *result)
{
    bench_stage *stage = bench_stage_get(m);
    call c = {0};
    bench_result again = {0};
    (void)s;
    FtB_Context_set_threads(NULL, m->threads);
    bool ok = gen_matrix(&c.A, &stage->graph) == GrB_SUCCESS &&
              bench_block(&c.X, stage->X, stage->graph.ncols, stage->dim, 1) &&
              bench_block(&c.C, stage->C, stage->graph.nrows, stage->dim, 1) &&
              FtB_Semiring_new(&c.semiring, "plus : src") == GrB_SUCCESS;
    double start = bench_now(), cpu = bench_cpu();
    ok = ok && multiply(&c);
    result->seconds = bench_now() - start;
    result->cpu = bench_cpu() - cpu;
    ok = ok && bench_time_cold(multiply, &c, &again);
    result->seconds -= again.seconds;
    result->cpu -= again.cpu;
    FtB_Semiring_free(&c.semiring);
    FtB_Block_free(&c.C);
    FtB_Block_free(&c.X);
    FtB_Matrix_free(&c.A);
    return ok;
}

/* ---- the plain loops */

typedef struct plain_call {
    plain_graph graph;
    bench_stage *stage;
    const char *operation;
    mlp mlp;
} plain_call;

static bool run_plain(void *state)
{
    plain_call *p = state;
    const bench_stage *s = p->stage;
    if (strcmp(p->operation, "sum") == 0)
        plain_sum(&p->graph, s->X, s->C, s->dim);
    else if (strcmp(p->operation, "max") == 0)
        plain_max(&p->graph, s->X, s->C, s->dim);
    else if (strcmp(p->operation, "mean") == 0)
        plain_mean(&p->graph, s->X, s->C, s->dim);
    else if (strcmp(p->operation, "tanh") == 0)
        plain_tanh(&p->graph, s->weights, s->X, s->Y, s->C, s->dim);
    else if (strcmp(p->operation, "mlp") == 0)
        plain_mlp(&p->graph, s->X, s->Y, p->mlp.W, p->mlp.C, s->dim, MLP_WIDTH);
    else
        plain_weighted(&p->graph, s->weights, s->heads, s->X, s->C, s->dim);
    return true;
}

static bool plain(const bench_settings *s, const bench_measure *m, bench_result *result)
{
    const bench_case k = bench_case_of(m);
    const operation *o = find(k.operation);
    plain_call p = {.stage = bench_stage_get(m), .operation = o->name};
    const gen_graph *g = &p.stage->graph;
    const bool wide = strcmp(o->name, "mlp") == 0;
    (void)s;
    if (o->edges)
        bench_stage_edges(p.stage, k.heads);
    if (o->targets)
        bench_stage_targets(p.stage);
    p.graph = (plain_graph){g->nrows, g->rowptr, g->colidx, m->threads};
    bool ok = (!wide || mlp_new(&p.mlp, g->nrows, k.dim)) && bench_time_cold(run_plain, &p, result);
    result->bytes = bench_stage_bytes(m);
    result->check = wide ? bench_sum(p.mlp.C, g->nrows * MLP_WIDTH) : bench_sum(p.stage->C, g->nrows * k.dim);
    mlp_free(&p.mlp);
    return ok;
}

/* ---- the cases */

/* Ours and another's, with the least ratio between them. */
static void beside(bench_suite *b, const bench_case *c, const char *graph, const char *other,
                   bench_function run, double bar)
{
    bench_add(b, "FeatBLAS", c, graph, 1, ours);
    bench_add(b, other, c, graph, 1, run);
    bench_ratio(b, "FeatBLAS", c, other, c, graph, 1, bar);
}

static void both_threads(bench_suite *b, const bench_case *c, const char *graph)
{
    bench_add(b, "FeatBLAS", c, graph, 1, ours);
    bench_add(b, "FeatBLAS", c, graph, 2, ours);
    bench_two_threads(b, "FeatBLAS", c, graph, 1.8);
}

static void add_sums(bench_suite *b)
{
    const double wide = ftb_isa() == FTB_ISA_AVX512 ? 0.5 : 0.55;
    const struct {
        int dim;
        double share, mkl, dgl;
    } rows[] = {{128, wide, 9, 8}, {32, 0.5, 5, 3}, {64, 0.5, 8, 7}, {256, 0.5, 8, 7}, {512, 0.5, 8, 7}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const bench_case c = {"sum", rows[r].dim, 1};
        beside(b, &c, RAND, "MKL", bench_mkl, rows[r].mkl);
        beside(b, &c, RAND, "DGL", bench_peer, rows[r].dgl);
        bench_share_of_l2(b, "FeatBLAS", &c, RAND, rows[r].share);
        bench_add(b, "plain loop", &c, RAND, 1, plain);
        both_threads(b, &c, RAND);
    }
    const bench_case c = {"sum", 128, 1};
    beside(b, &c, RAND, "GraphBLAS", bench_grb_spmm, 12);
    bench_add(b, "scipy", &c, RAND, 1, bench_scipy);
    const bench_case vector = {"weighted", 1, 1};
    beside(b, &vector, RAND, "MKL", bench_mkl, 1);
    both_threads(b, &vector, RAND);
}

static void add_variants(bench_suite *b)
{
    const bench_case sum = {"sum", 128, 1};
    const bench_case cases[] = {
        {"max", 128, 1}, {"min", 128, 1}, {"mean", 128, 1}, {"weighted", 128, 1}, {"heads", 128, 8}};
    for (size_t v = 0; v < sizeof cases / sizeof *cases; v++) {
        both_threads(b, &cases[v], RAND);
        bench_ratio(b, "FeatBLAS", &cases[v], "FeatBLAS", &sum, RAND, 1, 1 / 1.3);
    }
    bench_add(b, "MKL", &cases[3], RAND, 1, bench_mkl);
    bench_add(b, "GraphBLAS", &cases[0], RAND, 1, bench_grb_spmm);
    bench_add(b, "DGL", &cases[0], RAND, 1, bench_peer);
    bench_add(b, "DGL", &cases[4], RAND, 1, bench_peer);
}

static void add_expressions(bench_suite *b)
{
    const bench_case mlp_case = {"mlp", 8, 1}, tanh_case = {"tanh", 32, 1}, narrow = {"sum", 32, 1};
    beside(b, &mlp_case, RAND, "plain loop", plain, 20);
    both_threads(b, &mlp_case, RAND);
    beside(b, &tanh_case, RAND, "plain loop", plain, 0.5);
    both_threads(b, &tanh_case, RAND);
    const bench_case compiled = {"compiled tanh", 32, 1};
    both_threads(b, &compiled, RAND);
    bench_ratio(b, "FeatBLAS", &compiled, "plain loop", &tanh_case, RAND, 1, 0.9);
    const bench_case build = {"partition", 32, 1};
    bench_add(b, "FeatBLAS", &build, RAND, 2, partition);
    bench_add(b, "plain loop", &narrow, RAND, 2, plain);
    bench_ratio(b, "FeatBLAS", &build, "plain loop", &narrow, RAND, 2, 1);
}

/* Skewed graphs of high degree. */
static void add_skewed(bench_suite *b, const char *graph)
{
    static const int dims[] = {32, 64, 128, 512};
    bench_add_machine(b, graph, 128);
    for (size_t d = 0; d < sizeof dims / sizeof *dims; d++) {
        const bench_case c = {"sum", dims[d], 1};
        beside(b, &c, graph, "MKL", bench_mkl, dims[d] >= 64 ? 7 : 5);
        both_threads(b, &c, graph);
    }
    const bench_case c = {"sum", 128, 1};
    bench_add(b, "plain loop", &c, graph, 1, plain);
    bench_add(b, "DGL", &c, graph, 1, bench_peer);
}

/* Low degree: never under the best of the others. */
static void add_sparse(bench_suite *b, const char *graph, int dim)
{
    const bench_case c = {"sum", dim, 1};
    if (b->nmeasures == 0 || strcmp(b->measures[b->nmeasures - 1].input, graph) != 0)
        bench_add_machine(b, graph, dim);
    beside(b, &c, graph, "MKL", bench_mkl, 1);
    beside(b, &c, graph, "plain loop", plain, 1);
    beside(b, &c, graph, "DGL", bench_peer, 1);
    beside(b, &c, graph, "GraphBLAS", bench_grb_spmm, 1);
    beside(b, &c, graph, "scipy", bench_scipy, 1);
    both_threads(b, &c, graph);
}

int main(int argc, char **argv)
{
    static bench_suite b;
    bench_add_machine(&b, RAND, 128);
    add_sums(&b);
    add_variants(&b);
    add_expressions(&b);
    add_sparse(&b, "arxiv-like", 32);
    add_sparse(&b, "arxiv-like", 128);
    add_skewed(&b, "proteins-like");
    add_skewed(&b, "reddit-like");
    add_sparse(&b, "products-like", 32);
    add_sparse(&b, "products-like", 128);
    add_sparse(&b, "road-like", 32);
    add_sparse(&b, "road-like@4000000", 128); /* at 24 million vertices, X and C take 25 GB */
    return bench_suite_run(&b, argc, argv);
}

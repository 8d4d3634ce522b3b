/* SuiteSparse:GraphBLAS at its best: full matrices packed without a copy by it, a pattern of one value
 * ("iso"). */
#include <GraphBLAS.h>

#include "peer_grb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct product {
    GrB_Matrix C, A, X, Y;
    GrB_BinaryOp accum;
    GrB_Semiring semiring;
    GrB_Info info;
    int steps; /* C += A * X was done so often */
} product;

static bool start(int threads)
{
    GrB_Info info = GrB_init(GrB_NONBLOCKING); /* GrB_INVALID_VALUE: it has been */
    if (info != GrB_SUCCESS && info != GrB_INVALID_VALUE)
        return false;
    return GxB_Global_Option_set(GxB_GLOBAL_NTHREADS, threads) == GrB_SUCCESS;
}

static void *copy(const void *from, size_t bytes)
{
    void *to = malloc(bytes);
    if (to && from)
        memcpy(to, from, bytes);
    return to;
}

/* A full matrix; x NULL: zeros. */
static GrB_Matrix full(const float *x, int64_t nrows, int64_t ncols)
{
    const size_t bytes = (size_t)(nrows * ncols) * sizeof *x;
    GrB_Matrix F = NULL;
    void *data = x ? copy(x, bytes) : calloc(1, bytes);
    if (data && GrB_Matrix_new(&F, GrB_FP32, (GrB_Index)nrows, (GrB_Index)ncols) == GrB_SUCCESS &&
        GxB_Matrix_pack_FullR(F, &data, bytes, false, NULL) != GrB_SUCCESS)
        GrB_Matrix_free(&F);
    free(data); /* NULL once packed */
    return F;
}

/* The graph with one weight per entry, or with ones (values NULL). */
static GrB_Matrix sparse(const gen_graph *g, const float *values)
{
    static const float one = 1;
    const size_t n = (size_t)g->nrows, nvals = (size_t)g->nvals;
    const size_t bytes = values ? nvals * sizeof one : sizeof one;
    GrB_Matrix A = NULL;
    GrB_Index *Ap = copy(g->rowptr, (n + 1) * sizeof *Ap), *Aj = malloc(nvals * sizeof *Aj);
    void *Ax = copy(values ? values : &one, bytes);
    for (size_t e = 0; Aj && e < nvals; e++)
        Aj[e] = (GrB_Index)g->colidx[e];
    if (Ap && Aj && Ax && GrB_Matrix_new(&A, GrB_FP32, n, (GrB_Index)g->ncols) == GrB_SUCCESS &&
        GxB_Matrix_pack_CSR(A, &Ap, &Aj, &Ax, (n + 1) * sizeof *Ap, nvals * sizeof *Aj, bytes, !values, false,
                            NULL) != GrB_SUCCESS)
        GrB_Matrix_free(&A);
    free(Ax);
    free(Aj);
    free(Ap);
    return A;
}

static bool choose(product *p, const char *operation)
{
    const struct {
        const char *name;
        GrB_Semiring semiring;
        GrB_BinaryOp accum;
    } rows[] = {{"sum", GxB_PLUS_SECOND_FP32, GrB_PLUS_FP32},
                {"max", GxB_MAX_SECOND_FP32, GrB_MAX_FP32},
                {"min", GxB_MIN_SECOND_FP32, GrB_MIN_FP32},
                {"weighted", GrB_PLUS_TIMES_SEMIRING_FP32, GrB_PLUS_FP32},
                {"dot", GrB_PLUS_TIMES_SEMIRING_FP32, NULL}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        if (strcmp(rows[r].name, operation) == 0) {
            p->semiring = rows[r].semiring;
            p->accum = rows[r].accum;
            return true;
        }
    return false;
}

static bool spmm(void *state)
{
    product *p = state;
    p->steps++;
    p->info = GrB_mxm(p->C, NULL, p->accum, p->semiring, p->A, p->X, NULL);
    return p->info == GrB_SUCCESS && GrB_wait(p->C, GrB_MATERIALIZE) == GrB_SUCCESS;
}

static bool sddmm(void *state)
{
    product *p = state;
    p->info = GrB_mxm(p->C, p->A, NULL, p->semiring, p->Y, p->X, GrB_DESC_ST1);
    return p->info == GrB_SUCCESS && GrB_wait(p->C, GrB_MATERIALIZE) == GrB_SUCCESS;
}

static bool finish(product *p, const bench_measure *m, bool ok, bench_result *result)
{
    if (!ok)
        fprintf(stderr, "%s: %d\n", m->name, (int)p->info);
    else
        GrB_reduce(&result->check, NULL, GrB_PLUS_MONOID_FP64, p->C, NULL);
    if (p->accum == GrB_PLUS_FP32)
        result->check /= p->steps;
    result->bytes = bench_stage_bytes(m);
    GrB_free(&p->C);
    GrB_free(&p->A);
    GrB_free(&p->X);
    GrB_free(&p->Y);
    return ok;
}

bool bench_grb_spmm(const bench_settings *s, const bench_measure *m, bench_result *result)
{
    const bench_case c = bench_case_of(m);
    bench_stage *stage = bench_stage_get(m);
    const bool weighted = strcmp(c.operation, "weighted") == 0;
    product p = {0};
    (void)s;
    if (!start(m->threads) || !choose(&p, c.operation))
        return false;
    if (weighted)
        bench_stage_edges(stage, 1);
    p.A = sparse(&stage->graph, weighted ? stage->weights : NULL);
    p.X = full(stage->X, stage->graph.ncols, c.dim);
    p.C = full(NULL, stage->graph.nrows, c.dim);
    return finish(&p, m, p.A && p.X && p.C && bench_time_cold(spmm, &p, result), result);
}

bool bench_grb_sddmm(const bench_settings *s, const bench_measure *m, bench_result *result)
{
    const bench_case c = bench_case_of(m);
    bench_stage *stage = bench_stage_get(m);
    product p = {0};
    (void)s;
    if (!start(m->threads) || !choose(&p, c.operation))
        return false;
    bench_stage_targets(stage);
    p.A = sparse(&stage->graph, NULL);
    p.X = full(stage->X, stage->graph.ncols, c.dim);
    p.Y = full(stage->Y, stage->graph.nrows, c.dim);
    p.info = GrB_Matrix_new(&p.C, GrB_FP32, (GrB_Index)stage->graph.nrows, (GrB_Index)stage->graph.ncols);
    return finish(&p, m, p.A && p.X && p.Y && p.C && bench_time_cold(sddmm, &p, result), result);
}

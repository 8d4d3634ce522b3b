/* What each idea brings: rungs from a plain loop to the planned kernel, on one graph and width, taken in
 * turn; the least CPU time of a few. One thread, FP32, rand-100k, d = 128. docs/kernels.md shows the table.
 *
 *   build/release/bench_ladder [sum|dot] [repeats] */
#include "featblas.h"
#include "plain/plain.h"
#include "support/stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GRAPH "rand-100k"
enum { DIM = 128 };

typedef struct rung {
    const char *what;
    bool dot;                                    /* block x block', else sparse x block */
    const char *kernel, *segment, *tile, *ahead; /* NULL: as planned; kernel "plain": no library */
    double seconds;
} rung;

static rung rungs[] = {
    {"plain loop, -O3 -ffast-math", false, "plain", NULL, NULL, NULL, 0},
    {"accumulators in registers", false, "direct", NULL, NULL, "0", 0},
    {"+ sources fetched 12 entries ahead", false, "direct", NULL, NULL, "12", 0},
    {"packed tiles of 64, two segments", false, "partitioned", "65536", "64", NULL, 0},
    {"packed tiles of 64, segments that fit L2", false, "partitioned", NULL, "64", NULL, 0},
    {"as planned", false, NULL, NULL, NULL, NULL, 0},
    {"plain loop, -O3 -ffast-math", true, "plain", NULL, NULL, NULL, 0},
    {"four dot products at a time", true, "rows", NULL, NULL, NULL, 0},
    {"packed segments that fit L2, rows in parts", true, "segments", NULL, NULL, NULL, 0},
    {"as planned", true, NULL, NULL, NULL, NULL, 0},
};
enum { RUNGS = sizeof rungs / sizeof *rungs };

typedef struct call {
    bench_stage *stage;
    FtB_Block C, X, Y;
    FtB_Matrix S;
    FtB_Descriptor desc;
    rung *rung;
} call;

static bool say(GrB_Info info)
{
    if (info != GrB_SUCCESS)
        fprintf(stderr, "ladder: %s\n", FtB_error());
    return info == GrB_SUCCESS;
}

static bool run(void *state)
{
    call *c = state;
    bench_stage *s = c->stage;
    const plain_graph graph = {s->graph.nrows, s->graph.rowptr, s->graph.colidx, 1};
    bool plain = c->rung->kernel && strcmp(c->rung->kernel, "plain") == 0;
    if (plain && c->rung->dot)
        plain_dot(&graph, s->Y, s->X, s->scores, 1, DIM);
    else if (plain)
        plain_sum(&graph, s->X, s->C, DIM);
    else if (c->rung->dot)
        return say(FtB_mxm(c->S, s->A, NULL, FTB_PLUS_DOT, c->Y, c->X, c->desc));
    else
        return say(FtB_mxm(c->C, NULL, NULL, FTB_PLUS_SRC, s->A, c->X, c->desc));
    return true;
}

static bool force(FtB_Plan plan, const rung *r)
{
    const char *const set[][2] = {
        {"kernel", r->kernel}, {"segment", r->segment}, {"tile", r->tile}, {"ahead", r->ahead}};
    bool ok = true;
    for (int k = 0; k < 4 && ok; k++)
        ok = !set[k][1] || say(FtB_Plan_set(plan, set[k][0], set[k][1]));
    return ok;
}

static bool time_rung(call *c, rung *r, bool first)
{
    FtB_Plan plan = NULL;
    bench_result result = {0};
    c->rung = r;
    bool ok = say(FtB_Descriptor_new(&c->desc));
    bool plain = r->kernel && strcmp(r->kernel, "plain") == 0; /* nothing to prepare */
    if (ok && !plain) {
        ok = r->dot ? say(FtB_Descriptor_set(c->desc, FTB_TRANSPOSE1, true)) &&
                          say(FtB_Descriptor_set(c->desc, FTB_STRUCTURAL, true)) &&
                          say(FtB_Descriptor_set(c->desc, FTB_REPLACE, true)) &&
                          say(FtB_mxm_plan(&plan, c->S, c->stage->A, NULL, FTB_PLUS_DOT, c->Y, c->X, c->desc,
                                           FTB_ESTIMATE))
                    : say(FtB_mxm_plan(&plan, c->C, NULL, NULL, FTB_PLUS_SRC, c->stage->A, c->X, NULL,
                                       FTB_ESTIMATE));
        ok = ok && force(plan, r) && say(FtB_Descriptor_set(c->desc, FTB_PLAN, plan));
    }
    ok = ok && (first && !plain ? bench_time(run, c, &result) : bench_time_cold(run, c, &result));
    if (ok && (first || result.cpu < r->seconds))
        r->seconds = result.cpu;
    FtB_Descriptor_free(&c->desc);
    FtB_Plan_free(&plan);
    return ok;
}

static void print(const call *c)
{
    const double bytes = (double)c->stage->graph.rowptr[c->stage->graph.nrows] * DIM * sizeof(float);
    printf("%-44s %9s %9s %8s\n", GRAPH ", d = 128, one thread", "seconds", "GB/s", "ratio");
    for (int r = 0, start = 0; r < RUNGS; r++) {
        start = rungs[r].dot == rungs[start].dot ? start : r;
        if (rungs[r].seconds <= 0)
            continue;
        if (r == start)
            printf("%s\n", rungs[r].dot ? "dot(src, dst) for every entry" : "sum of src");
        printf("  %-42s %9.3f %9.1f %8.2f\n", rungs[r].what, rungs[r].seconds,
               1e-9 * bytes / rungs[r].seconds, rungs[start].seconds / rungs[r].seconds);
    }
}

int main(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : "";
    const int repeats = argc > 2 ? atoi(argv[2]) : 3;
    const bench_measure m = {.input = GRAPH, .argument = "sum:128:1"};
    call c = {.stage = bench_stage_get(&m)};
    const gen_graph *g = &c.stage->graph;
    bench_stage_targets(c.stage);
    bench_stage_edges(c.stage, 1);
    bool ok = say(FtB_Context_set_threads(NULL, 1)) && bench_block(&c.X, c.stage->X, g->ncols, DIM, 1) &&
              bench_block(&c.Y, c.stage->Y, g->nrows, DIM, 1) &&
              bench_block(&c.C, c.stage->C, g->nrows, DIM, 1) &&
              say(FtB_Matrix_new(&c.S, FTB_FP32, g->nrows, g->ncols, 1));
    for (int t = 0; t < repeats && ok; t++)
        for (int r = 0; r < RUNGS && ok; r++)
            if (strcmp(only, rungs[r].dot ? "sum" : "dot") != 0)
                ok = time_rung(&c, &rungs[r], t == 0);
    if (ok)
        print(&c);
    FtB_Matrix_free(&c.S);
    FtB_Block_free(&c.X);
    FtB_Block_free(&c.Y);
    FtB_Block_free(&c.C);
    bench_stage_free();
    return !ok;
}

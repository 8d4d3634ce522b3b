/* Whether plans are right: over operations, graphs and widths, the time of the estimated plan beside that of
 * every plan that can be forced: the direct kernel, and segments of many sizes and tiles. A good planner
 * stays within 1.25 of the best and never falls under 0.95 of the direct kernel. CPU time of one thread.
 *
 *   FEATBLAS_BLOCKS=plans bench/blocks.sh --only "rand-100k, d = 128"
 *   FEATBLAS_BLOCKS=plans bench/blocks.sh --only "dot rand-100k"
 *
 * FEATBLAS_PLANS="reddit-like@10000 road-like@100000": other graphs. FEATBLAS_WISDOM=my.wisdom: with what was
 * calibrated or measured. FEATBLAS_TRIALS=1: every trial, too, with the seconds that were predicted of it. */
#include "featblas.h"
#include "plan/machine.h"
#include "support/stage.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const graphs[] = {"arxiv-like@2000", "arxiv-like",    "rand-100k",        "proteins-like",
                                     "reddit-like",     "products-like", "road-like@4000000"};

/* Sums of sources; of sources times a weight of each edge and head; dot products on edges; attention. */
typedef enum operation { SUM, WEIGHTED, DOT, ATTENTION } operation;
typedef struct shape {
    operation op;
    const char *name; /* before the graph's */
    int dim, heads;
} shape;
static const shape shapes[] = {{SUM, "", 1, 1},
                               {SUM, "", 8, 1},
                               {SUM, "", 32, 1},
                               {SUM, "", 64, 1},
                               {SUM, "", 100, 1},
                               {SUM, "", 128, 1},
                               {SUM, "", 256, 1},
                               {SUM, "", 602, 1},
                               {SUM, "", 1024, 1},
                               {WEIGHTED, "weighted ", 64, 1},
                               {WEIGHTED, "weighted 8 heads ", 128, 8},
                               {DOT, "dot ", 32, 1},
                               {DOT, "dot ", 128, 1},
                               {DOT, "dot ", 256, 1},
                               {DOT, "dot 8 heads ", 128, 8},
                               {ATTENTION, "attention ", 64, 1},
                               {ATTENTION, "attention 8 heads ", 128, 8},
                               {ATTENTION, "attention 4 heads ", 256, 4}};

/* A forced choice and what it took. */
typedef struct trial {
    const char *kernel; /* NULL: as planned */
    int segment, tile;  /* 0: the planner's */
    double seconds, predicted;
} trial;

typedef struct call {
    const shape *shape;
    FtB_Block C, X, Y;
    FtB_Matrix A, S; /* S: values on edges */
    FtB_Descriptor desc;
} call;

static bool say(GrB_Info info)
{
    if (info != GrB_SUCCESS)
        fprintf(stderr, "plans: %s\n", FtB_error());
    return info == GrB_SUCCESS;
}

static bool run(void *state)
{
    call *c = state;
    switch (c->shape->op) {
    case SUM:
        return say(FtB_mxm(c->C, NULL, NULL, FTB_PLUS_SRC, c->A, c->X, c->desc));
    case WEIGHTED:
        return say(FtB_mxm(c->C, NULL, NULL, FTB_PLUS_MUL, c->A, c->X, c->desc));
    case DOT:
        return say(FtB_mxm(c->S, c->A, NULL, FTB_PLUS_DOT, c->Y, c->X, c->desc));
    case ATTENTION:
        break;
    }
    return say(FtB_attention(c->C, c->A, NULL, FTB_PLUS_DOT, c->Y, c->X, c->X, NULL, c->desc));
}

static GrB_Info plan_of(FtB_Plan *plan, const call *c)
{
    switch (c->shape->op) {
    case SUM:
        return FtB_mxm_plan(plan, c->C, NULL, NULL, FTB_PLUS_SRC, c->A, c->X, NULL, FTB_ESTIMATE);
    case WEIGHTED:
        return FtB_mxm_plan(plan, c->C, NULL, NULL, FTB_PLUS_MUL, c->A, c->X, NULL, FTB_ESTIMATE);
    case DOT:
        return FtB_mxm_plan(plan, c->S, c->A, NULL, FTB_PLUS_DOT, c->Y, c->X, FTB_DESC_RST1, FTB_ESTIMATE);
    case ATTENTION:
        break;
    }
    return FtB_attention_plan(plan, c->C, c->A, NULL, FTB_PLUS_DOT, c->Y, c->X, c->X, NULL, NULL,
                              FTB_ESTIMATE);
}

static bool set(FtB_Plan plan, const char *key, int value)
{
    char text[16];
    snprintf(text, sizeof text, "%d", value);
    return value == 0 || say(FtB_Plan_set(plan, key, text));
}

/* What FTB_DESC_RST1 says, for dot products. */
static bool describe_dot(FtB_Descriptor desc)
{
    return say(FtB_Descriptor_set(desc, FTB_TRANSPOSE1, true)) &&
           say(FtB_Descriptor_set(desc, FTB_STRUCTURAL, true)) &&
           say(FtB_Descriptor_set(desc, FTB_REPLACE, true));
}

/* The least of a few times, since others only ever slow it down. */
static bool time_trial(call *c, trial *t, int repeats)
{
    FtB_Plan plan = NULL;
    bench_result result;
    bool ok = say(FtB_Descriptor_new(&c->desc)) && (c->shape->op != DOT || describe_dot(c->desc)) &&
              say(plan_of(&plan, c)) && (!t->kernel || say(FtB_Plan_set(plan, "kernel", t->kernel))) &&
              set(plan, "segment", t->segment) && set(plan, "tile", t->tile) &&
              say(FtB_Plan_get(plan, "seconds", &t->predicted)) &&
              say(FtB_Descriptor_set(c->desc, FTB_PLAN, FTB_ARG(plan)));
    t->seconds = 1e30;
    for (int r = 0; ok && r < repeats; r++) {
        ok = r ? bench_time_cold(run, c, &result) : bench_time(run, c, &result);
        t->seconds = ok && result.cpu < t->seconds ? result.cpu : t->seconds;
    }
    FtB_Descriptor_free(&c->desc);
    FtB_Plan_free(&plan);
    if (ok && getenv("FEATBLAS_TRIALS"))
        printf("    %-12s segment %6d tile %4d %10.3f ms, predicted %10.3f, %5.2f\n",
               t->kernel ? t->kernel : "as planned", t->segment, t->tile, 1e3 * t->seconds,
               1e3 * t->predicted, t->predicted / t->seconds);
    return ok;
}

static void describe(char *text, size_t size, const trial *t)
{
    if (t->segment)
        snprintf(text, size, "%s, segment %d, tile %d", t->kernel, t->segment, t->tile);
    else
        snprintf(text, size, "%s", t->kernel ? t->kernel : "as planned");
}

static bool keep_better(call *c, trial t, int repeats, trial *best)
{
    if (!time_trial(c, &t, repeats))
        return false;
    if (t.seconds < best->seconds)
        *best = t;
    return true;
}

/* Segments of every size whose features take from an eighth of L2 to eight times L2. */
static bool try_segments(call *c, const char *kernel, int tile, double source_bytes, int repeats, trial *best)
{
    const double l2 = (double)ftb_machine_here()->l2;
    for (int segment = 256; segment <= 65536; segment *= 2) {
        const double bytes = segment * source_bytes;
        if (bytes <= 8 * l2 && (bytes >= l2 / 8 || segment == 65536) &&
            !keep_better(c, (trial){kernel, segment, tile, 0, 0}, repeats, best))
            return false;
    }
    return true;
}

/* The best of all; *direct gets the direct kernel's. */
static bool best_of_all(call *c, int repeats, trial *best, trial *direct)
{
    const shape *s = c->shape;
    const bool spmm = s->op == SUM || s->op == WEIGHTED;
    *direct = (trial){.kernel = spmm ? "direct" : "rows"};
    if (!time_trial(c, direct, repeats))
        return false;
    *best = *direct;
    if (s->op == ATTENTION && !keep_better(c, (trial){.kernel = "staged"}, repeats, best))
        return false;
    if (s->op == DOT)
        return try_segments(c, "segments", 0, 4.0 * s->dim, repeats, best);
    if (s->op == ATTENTION) { /* tiles are heads; sources are keys and values */
        for (int tile = 1; tile <= s->heads; tile *= 4)
            if (!try_segments(c, "segments", tile, 8.0 * s->dim / s->heads * tile, repeats, best))
                return false;
        return true;
    }
    for (int tile = 16; tile <= 128 && (tile == 16 || tile / 2 < s->dim); tile *= 2)
        if (!try_segments(c, "partitioned", tile, 4.0 * (s->dim < tile ? s->dim : tile), repeats, best))
            return false;
    return true;
}

/* The furthest from the bars so far. */
typedef struct worst {
    double over_best, over_direct;
    char best_case[64], direct_case[64];
    int rows, missed;
} worst;

static void note(worst *w, const char *graph, int dim, double over_best, double over_direct, bool met)
{
    w->rows++;
    w->missed += !met;
    if (over_best > w->over_best) {
        w->over_best = over_best;
        snprintf(w->best_case, sizeof w->best_case, "%s, d = %d", graph, dim);
    }
    if (over_direct > w->over_direct) {
        w->over_direct = over_direct;
        snprintf(w->direct_case, sizeof w->direct_case, "%s, d = %d", graph, dim);
    }
}

static bool make_operands(call *c, bench_stage *stage)
{
    const gen_graph *g = &stage->graph;
    const shape *s = c->shape;
    c->A = s->op == WEIGHTED ? stage->W : stage->A;
    return bench_block(&c->X, stage->X, g->ncols, s->dim, s->heads) &&
           (s->op == DOT || bench_block(&c->C, stage->C, g->nrows, s->dim, s->heads)) &&
           (s->op < DOT || bench_block(&c->Y, stage->Y, g->nrows, s->dim, s->heads)) &&
           (s->op != DOT || say(FtB_Matrix_like(&c->S, c->A, s->heads, FTB_FP32)));
}

/* One line of the table. False if it cannot be measured. */
static bool row(const bench_settings *s, const char *graph, const shape *of, json_t *rows, worst *w)
{
    const bench_measure m = {.input = graph, .argument = bench_text("sum:%d:%d", of->dim, of->heads)};
    const char *name = bench_text("%s%s", of->name, graph);
    char which[64];
    call c = {.shape = of};
    trial planned = {0}, best, direct;
    bench_stage *stage = bench_stage_get(&m);
    if (of->op == WEIGHTED)
        bench_stage_edges(stage, of->heads);
    if (of->op >= DOT)
        bench_stage_targets(stage);
    bool ok = make_operands(&c, stage) && time_trial(&c, &planned, s->repeats) &&
              best_of_all(&c, s->repeats, &best, &direct);
    FtB_Block_free(&c.X);
    FtB_Block_free(&c.Y);
    FtB_Block_free(&c.C);
    FtB_Matrix_free(&c.S);
    if (!ok)
        return false;
    if (planned.seconds < best.seconds)
        best = planned;
    describe(which, sizeof which, &best);
    ok = planned.seconds <= 1.25 * best.seconds && planned.seconds <= direct.seconds / 0.95;
    note(w, name, of->dim, planned.seconds / best.seconds, planned.seconds / direct.seconds, ok);
    printf("%-36s %6d %10.3f %10.3f %10.3f %7.2f %7.2f  %-36s %s\n", name, of->dim, 1e3 * planned.seconds,
           1e3 * direct.seconds, 1e3 * best.seconds, planned.seconds / best.seconds,
           direct.seconds / planned.seconds, which, ok ? "" : "missed");
    fflush(stdout);
    json_array_append_new(rows, json_pack("{s:s, s:i, s:f, s:f, s:f, s:s, s:b}", "graph", name, "width",
                                          of->dim, "planned", planned.seconds, "direct", direct.seconds,
                                          "best", best.seconds, "best_plan", which, "met", ok));
    return true;
}

/* What X, Y, C and values on edges take; wide blocks of large graphs are left out. */
static bool fits(const char *graph, const shape *s)
{
    const char *scaled = strchr(graph, '@');
    const double vertices = scaled                               ? strtod(scaled + 1, NULL)
                            : strncmp(graph, "products", 8) == 0 ? 2.4e6
                                                                 : 3e5;
    return (s->op < DOT ? 8.0 : 12.0) * vertices * s->dim < 0.4 * (double)ftb_machine_here()->memory;
}

static bool all_widths(const bench_settings *s, const char *graph, json_t *rows, worst *w)
{
    bool ok = true;
    for (const shape *h = shapes; h < shapes + sizeof shapes / sizeof *shapes; h++)
        if (bench_wanted(s, bench_text("%s%s, d = %d", h->name, graph, h->dim)) && fits(graph, h))
            ok = row(s, graph, h, rows, w) && ok;
    return ok;
}

int main(int argc, char **argv)
{
    bench_settings s = {.repeats = 3};
    worst w = {0};
    bool ok = true;
    const char *wanted = getenv("FEATBLAS_PLANS"); /* graphs, with spaces between them */
    char name[64];
    if (!bench_parse(&s, argc - 1, argv + 1))
        return 2;
    FtB_Context_set_threads(NULL, 1);
    if (getenv("FEATBLAS_WISDOM") && !say(FtB_Wisdom_load(NULL, getenv("FEATBLAS_WISDOM"))))
        return 1;
    json_t *rows = json_array();
    printf("%-36s %6s %10s %10s %10s %7s %7s\n", "graph", "width", "planned ms", "direct ms", "best ms",
           "/ best", "direct /");
    for (int length = 0; wanted && sscanf(wanted, " %63s%n", name, &length) == 1; wanted += length)
        ok = all_widths(&s, name, rows, &w) && ok;
    for (size_t g = 0; !getenv("FEATBLAS_PLANS") && g < sizeof graphs / sizeof *graphs; g++)
        ok = all_widths(&s, graphs[g], rows, &w) && ok;
    printf("worst: %.2f of the best (%s); %.2f of the direct kernel (%s); %d of %d missed\n", w.over_best,
           w.best_case, w.over_direct, w.direct_case, w.missed, w.rows);
    if (s.json && json_dump_file(rows, s.json, JSON_INDENT(1)) != 0)
        fprintf(stderr, "%s cannot be written\n", s.json);
    json_decref(rows);
    bench_stage_free();
    return ok ? 0 : 1;
}

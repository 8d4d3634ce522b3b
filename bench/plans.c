/* Whether plans are right: over operations, graphs and widths, the time of the estimated plan beside that of
 * plans that can be forced: the direct kernel, and segments of many sizes and tiles. A good planner
 * stays within 1.25 of the best and never falls under 0.95 of the direct kernel. CPU time of one thread.
 *
 * A large graph takes seconds a product, so that not everything is waited for:
 *  - segments of every size, 256 to 65536 sources, whose features take from an eighth of L2 to eight times
 *    L2, make a grid with the tiles. Every third size of each tile is tried, then the neighbours of all that
 *    come within NEAR of the best, until there are none left to try;
 *  - a trial that takes GIVE_UP times the best so far is cancelled (of the direct kernel, "> " is printed);
 *    what comes within NEAR of the best is run again, and the best of all in turn with the estimated plan;
 *  - partitions are built outside the clock, and kept from trial to trial while memory lasts. Plans are made
 *    as if there were none.
 *
 *   FEATBLAS_BLOCKS=plans bench/blocks.sh --only "rand-100k, d = 128"
 *   FEATBLAS_BLOCKS=plans bench/blocks.sh --only "dot rand-100k"
 *
 * FEATBLAS_PLANS="reddit-like@10000 road-like@100000": other graphs. FEATBLAS_WISDOM=my.wisdom: with what was
 * calibrated or measured. FEATBLAS_TRIALS=1: every trial, too, with the seconds that were predicted of it. */
#include "core/partition.h"
#include "featblas.h"
#include "plan/machine.h"
#include "support/stage.h"

#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define GIVE_UP 1.5      /* times the best so far */
#define NEAR 1.1         /* of the best: neighbours are looked at */
#define SHORT 0.05       /* seconds: shorter runs are repeated for a mean, and not given up */
#define KEPT_SHARE 0.4   /* of memory: matrices and partitions */
#define BLOCKS_SHARE 0.4 /* of memory: feature blocks and values on edges */

static const char *const graphs[] = {"arxiv-like@2000", "arxiv-like",    "rand-100k",        "proteins-like",
                                     "reddit-like",     "products-like", "road-like@4000000"};

/* Sums of sources; of sources times a weight of each edge and head; dot products on edges; attention, also
 * with the logs of sums, as training wants them. */
typedef enum operation { SUM, WEIGHTED, DOT, ATTENTION, ATTENTION_LSE } operation;
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
                               {ATTENTION_LSE, "attention with lse ", 64, 1},
                               {ATTENTION, "attention 8 heads ", 128, 8},
                               {ATTENTION, "attention 4 heads ", 256, 4}};

/* A forced choice and what it took. */
typedef struct trial {
    const char *kernel; /* NULL: as planned */
    int segment, tile;  /* 0: the planner's */
    double seconds, predicted;
    bool cut; /* cancelled: it takes longer */
} trial;

typedef struct call {
    const shape *shape;
    FtB_Block C, X, Y, lse; /* lse: NULL where it is not wanted */
    FtB_Matrix A, S;        /* S: values on edges */
    FtB_Descriptor desc;
} call;

static bool say(GrB_Info info)
{
    if (info != GrB_SUCCESS)
        fprintf(stderr, "plans: %s\n", FtB_error());
    return info == GrB_SUCCESS;
}

static GrB_Info compute(call *c)
{
    switch (c->shape->op) {
    case SUM:
        return FtB_mxm(c->C, NULL, NULL, FTB_PLUS_SRC, c->A, c->X, c->desc);
    case WEIGHTED:
        return FtB_mxm(c->C, NULL, NULL, FTB_PLUS_MUL, c->A, c->X, c->desc);
    case DOT:
        return FtB_mxm(c->S, c->A, NULL, FTB_PLUS_DOT, c->Y, c->X, c->desc);
    case ATTENTION:
    case ATTENTION_LSE:
        break;
    }
    return FtB_attention(c->C, c->A, NULL, FTB_PLUS_DOT, c->Y, c->X, c->X,
                         FTB_ATTENTION_OPTIONS(.lse = c->lse), c->desc);
}

static bool run(void *state) { return say(compute(state)); }

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
    case ATTENTION_LSE:
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

/* ---- one trial */

static void drop_partitions(ftb_pattern *p)
{
    while (p->partitions) {
        ftb_partition *next = p->partitions->next;
        ftb_partition_release(p->partitions);
        p->partitions = next;
    }
}

/* At most, of one partition: columns, and visits. */
static double partition_bytes(const ftb_pattern *p, double segment)
{
    const double visits = (double)p->nrows * ceil((double)p->ncols / segment);
    return 2.0 * (double)p->nvals + 20 * fmin((double)p->nvals, visits);
}

/* The partition that the plan wants, ahead of the clock. */
static bool build_partition(ftb_pattern *p, FtB_Plan plan)
{
    double segment;
    int64_t now;
    ftb_partition *partition = NULL;
    if (!say(FtB_Plan_get(plan, "segment", &segment)) || segment == 0)
        return segment == 0;
    FtB_Context_memory(NULL, &now, NULL);
    if ((double)now + partition_bytes(p, segment) > KEPT_SHARE * (double)ftb_machine_here()->memory)
        drop_partitions(p);
    bool ok = say(ftb_partition_get(&partition, p, (int64_t)segment));
    ftb_partition_release(partition);
    return ok;
}

/* A plan of the trial; what partitions there are does not sway it. */
static bool make_plan(FtB_Plan *plan, const call *c, trial *t)
{
    ftb_pattern *p = c->A->pattern;
    ftb_partition *kept = p->partitions;
    p->partitions = NULL;
    bool ok = say(plan_of(plan, c)) && (!t->kernel || say(FtB_Plan_set(*plan, "kernel", t->kernel))) &&
              set(*plan, "segment", t->segment) && set(*plan, "tile", t->tile) &&
              say(FtB_Plan_get(*plan, "seconds", &t->predicted));
    p->partitions = kept;
    return ok;
}

static void give_up(int signal)
{
    (void)signal;
    FtB_Context_cancel(NULL);
}

/* Cancels what runs then; 0: nothing. In seconds of this process's own. */
static void give_up_after(double seconds)
{
    const double whole = floor(fmin(seconds, 1e6));
    const struct itimerval t = {
        .it_value = {(time_t)whole, (suseconds_t)(1e6 * fmin(seconds - whole, 0.999))}};
    signal(SIGPROF, give_up);
    setitimer(ITIMER_PROF, &t, NULL);
}

/* Runs it once, or as often as takes a fifth of a second. */
static bool run_trial(call *c, trial *t, double limit)
{
    bench_result result = {.cpu = INFINITY};
    const double start = bench_cpu();
    give_up_after(limit < SHORT ? 0 : limit);
    const GrB_Info info = compute(c);
    give_up_after(0);
    ftb_cancel_clear(NULL); /* it may have come when the call was done */
    const double seconds = bench_cpu() - start;
    t->cut = info == FTB_CANCELLED;
    if (!t->cut && (!say(info) || (seconds < SHORT && !bench_time_cold(run, c, &result))))
        return false;
    t->seconds = fmin(t->seconds, fmin(seconds, result.cpu));
    return true;
}

/* The least of its times so far, since others only ever slow it down. */
static bool time_trial(call *c, trial *t, double limit)
{
    FtB_Plan plan = NULL;
    bool ok = say(FtB_Descriptor_new(&c->desc)) && (c->shape->op != DOT || describe_dot(c->desc)) &&
              make_plan(&plan, c, t) && say(FtB_Descriptor_set(c->desc, FTB_PLAN, FTB_ARG(plan))) &&
              build_partition(c->A->pattern, plan) && run_trial(c, t, limit);
    if (ok && getenv("FEATBLAS_TRIALS")) {
        double segment = 0, tile = 0;
        FtB_Plan_get(plan, "segment", &segment);
        FtB_Plan_get(plan, "tile", &tile);
        printf("    %-12s segment %6.0f tile %4.0f %10.3f ms%s, predicted %10.3f, %5.2f\n",
               t->kernel ? t->kernel : "as planned", segment, tile, 1e3 * t->seconds, t->cut ? " cut" : "",
               1e3 * t->predicted, t->predicted / t->seconds);
        fflush(stdout);
    }
    FtB_Descriptor_free(&c->desc);
    FtB_Plan_free(&plan);
    return ok;
}

static void describe(char *text, size_t size, const trial *t)
{
    if (t->segment)
        snprintf(text, size, "%s, segment %d, tile %d", t->kernel, t->segment, t->tile);
    else
        snprintf(text, size, "%s", t->kernel ? t->kernel : "as planned");
}

/* Runs the trial, twice where it may be the best. */
static bool keep_better(call *c, trial *t, trial *best)
{
    t->seconds = INFINITY;
    if (!time_trial(c, t, GIVE_UP * best->seconds))
        return false;
    if (!t->cut && t->seconds < NEAR * best->seconds && !time_trial(c, t, GIVE_UP * best->seconds))
        return false;
    if (!t->cut && t->seconds < best->seconds)
        *best = *t;
    return true;
}

/* ---- many */

enum { LEAST_SEGMENT = 256, SEGMENTS = 9, TILES = 4, STEP = 3 };

/* Segments LEAST_SEGMENT << s, tiles tile[t]. */
typedef struct grid {
    call *c;
    const char *kernel;
    trial *best;
    int ntiles, tile[TILES];
    double source_bytes[TILES]; /* of a tile */
    trial tried[SEGMENTS][TILES];
    bool ok;
} grid;

/* Whether the place is on the grid, worth trying, and not tried yet. */
static bool is_open(const grid *g, int s, int t)
{
    const double l2 = (double)ftb_machine_here()->l2;
    if (s < 0 || s >= SEGMENTS || t < 0 || t >= g->ntiles || g->tried[s][t].kernel)
        return false;
    const double bytes = (double)(LEAST_SEGMENT << s) * g->source_bytes[t];
    return bytes <= 8 * l2 && (bytes >= l2 / 8 || s == SEGMENTS - 1);
}

static bool try_place(grid *g, int s, int t)
{
    if (!g->ok || !is_open(g, s, t))
        return false;
    g->tried[s][t] = (trial){.kernel = g->kernel, .segment = LEAST_SEGMENT << s, .tile = g->tile[t]};
    g->ok = keep_better(g->c, &g->tried[s][t], g->best);
    return true;
}

static bool try_neighbours(grid *g, int s, int t)
{
    const trial *here = &g->tried[s][t];
    if (!here->kernel || here->cut || here->seconds > NEAR * g->best->seconds)
        return false;
    bool any = try_place(g, s - 1, t);
    any = try_place(g, s + 1, t) || any;
    any = try_place(g, s, t - 1) || any;
    return try_place(g, s, t + 1) || any;
}

static bool try_grid(grid *g)
{
    g->ok = true;
    for (int t = 0; t < g->ntiles; t++)
        for (int s = t % STEP; s < SEGMENTS; s += STEP)
            try_place(g, s, t);
    for (bool more = true; more;) {
        more = false;
        for (int t = 0; t < g->ntiles; t++)
            for (int s = 0; s < SEGMENTS; s++)
                more = try_neighbours(g, s, t) || more;
    }
    return g->ok;
}

static void add_tile(grid *g, int tile, double source_bytes)
{
    g->tile[g->ntiles] = tile;
    g->source_bytes[g->ntiles++] = source_bytes;
}

static bool is_spmm(const shape *s) { return s->op == SUM || s->op == WEIGHTED; }

static bool try_segments(call *c, trial *best)
{
    const shape *s = c->shape;
    grid g = {.c = c, .kernel = is_spmm(s) ? "partitioned" : "segments", .best = best};
    if (s->op == DOT)
        add_tile(&g, 0, 4.0 * s->dim);
    for (int tile = 1; s->op >= ATTENTION && tile <= s->heads; tile *= 4) /* heads: of keys and values */
        add_tile(&g, tile, 8.0 * s->dim / s->heads * tile);
    for (int tile = 16; is_spmm(s) && tile <= 128 && (tile == 16 || tile / 2 < s->dim); tile *= 2)
        add_tile(&g, tile, 4.0 * (s->dim < tile ? s->dim : tile));
    return try_grid(&g);
}

/* The estimated plan; the best of all, which may be that; the direct kernel's. */
typedef struct outcome {
    trial planned, best, direct;
} outcome;

static bool try_all(call *c, int repeats, outcome *o)
{
    trial staged = {.kernel = "staged"};
    *o = (outcome){.planned.seconds = INFINITY, .direct.kernel = is_spmm(c->shape) ? "direct" : "rows"};
    if (!time_trial(c, &o->planned, 0) || !time_trial(c, &o->planned, 0))
        return false;
    o->best = o->planned;
    if (!keep_better(c, &o->direct, &o->best) ||
        (c->shape->op >= ATTENTION && !keep_better(c, &staged, &o->best)) || !try_segments(c, &o->best))
        return false;
    for (int r = 1; r < repeats && o->planned.seconds > NEAR * o->best.seconds; r++)
        if (!time_trial(c, &o->planned, 0) || !time_trial(c, &o->best, 0))
            return false;
    if (o->planned.seconds < o->best.seconds)
        o->best = o->planned;
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
           (s->op != ATTENTION_LSE || say(FtB_Block_new(&c->lse, g->nrows, s->heads, FTB_FP32))) &&
           (s->op != DOT || say(FtB_Matrix_like(&c->S, c->A, s->heads, FTB_FP32)));
}

static bool report(const shape *of, const char *name, const outcome *o, json_t *rows, worst *w)
{
    const double planned = o->planned.seconds, best = o->best.seconds, direct = o->direct.seconds;
    const bool ok = planned <= 1.25 * best && planned <= direct / 0.95;
    char which[64];
    describe(which, sizeof which, &o->best);
    note(w, name, of->dim, planned / best, planned / direct, ok);
    printf("%-36s %6d %10.3f %2s%10.3f %10.3f %7.2f %2s%7.2f  %-36s %s\n", name, of->dim, 1e3 * planned,
           o->direct.cut ? ">" : "", 1e3 * direct, 1e3 * best, planned / best, o->direct.cut ? ">" : "",
           direct / planned, which, ok ? "" : "missed");
    fflush(stdout);
    json_array_append_new(rows, json_pack("{s:s, s:i, s:f, s:f, s:b, s:f, s:s, s:b}", "graph", name, "width",
                                          of->dim, "planned", planned, "direct", direct, "direct_cut",
                                          o->direct.cut, "best", best, "best_plan", which, "met", ok));
    return true;
}

/* One line of the table. False if it cannot be measured. */
static bool row(const bench_settings *s, const char *graph, const shape *of, json_t *rows, worst *w)
{
    const bench_measure m = {.input = graph, .argument = bench_text("sum:%d:%d", of->dim, of->heads)};
    const char *name = bench_text("%s%s", of->name, graph);
    call c = {.shape = of};
    outcome o;
    bench_stage *stage = bench_stage_get(&m);
    if (of->op == WEIGHTED)
        bench_stage_edges(stage, of->heads);
    if (of->op >= DOT)
        bench_stage_targets(stage);
    bool ok = make_operands(&c, stage) && try_all(&c, s->repeats, &o);
    FtB_Block_free(&c.X);
    FtB_Block_free(&c.Y);
    FtB_Block_free(&c.lse);
    FtB_Block_free(&c.C);
    FtB_Matrix_free(&c.S);
    return ok && report(of, name, &o, rows, w);
}

/* What X, Y, C and values on edges take; wide blocks of large graphs are left out. */
static bool fits(const char *graph, const shape *s)
{
    const char *scaled = strchr(graph, '@');
    int64_t vertices = 100000; /* of rand-100k */
    double entries = 48e6;
    gen_like_size(bench_text("%.*s", (int)strcspn(graph, "@"), graph),
                  scaled ? strtol(scaled + 1, NULL, 10) : 0, &vertices, &entries);
    const double features = (s->op < DOT ? 8.0 : 12.0) * (double)vertices * s->dim;
    const double edges = (s->op == WEIGHTED ? 8.0 : s->op == SUM ? 0 : 4.0) * entries * s->heads;
    return features + edges < BLOCKS_SHARE * (double)ftb_machine_here()->memory;
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
    printf("%-36s %6s %10s %12s %10s %7s %9s\n", "graph", "width", "planned ms", "direct ms", "best ms",
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

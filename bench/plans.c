/* Whether plans are right: over graphs and widths, the time of the estimated plan beside that of every plan
 * that can be forced: the direct kernel, and partitions of many segments and tiles. A good planner stays
 * within 1.25 of the best and never falls under 0.95 of the direct kernel. CPU time of one thread.
 *
 *   FEATBLAS_BLOCKS=plans bench/blocks.sh --only "rand-100k, d = 128"
 *   FEATBLAS_PLANS="reddit-like@10000 road-like@100000" FEATBLAS_BLOCKS=plans bench/blocks.sh   smaller
 * graphs */
#include "featblas.h"
#include "plan/machine.h"
#include "support/stage.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const graphs[] = {"arxiv-like@2000", "arxiv-like",    "rand-100k",        "proteins-like",
                                     "reddit-like",     "products-like", "road-like@4000000"};
static const int widths[] = {1, 8, 32, 64, 100, 128, 256, 602, 1024};

/* A forced choice and what it took. */
typedef struct trial {
    const char *kernel; /* NULL: as planned */
    int segment, tile;  /* 0: the planner's */
    double seconds;
} trial;

typedef struct call {
    FtB_Block C, X;
    FtB_Matrix A;
    FtB_Descriptor desc;
} call;

static bool say(GrB_Info info)
{
    if (info != GrB_SUCCESS)
        fprintf(stderr, "plans: %s\n", FtB_error());
    return info == GrB_SUCCESS;
}

static bool multiply(void *state)
{
    call *c = state;
    return say(FtB_mxm(c->C, NULL, NULL, FTB_PLUS_SRC, c->A, c->X, c->desc));
}

static bool set(FtB_Plan plan, const char *key, int value)
{
    char text[16];
    snprintf(text, sizeof text, "%d", value);
    return value == 0 || say(FtB_Plan_set(plan, key, text));
}

/* The least of a few times, since others only ever slow it down. */
static bool time_trial(call *c, trial *t, int repeats)
{
    FtB_Plan plan = NULL;
    bench_result result;
    bool ok = say(FtB_Descriptor_new(&c->desc)) &&
              say(FtB_mxm_plan(&plan, c->C, NULL, NULL, FTB_PLUS_SRC, c->A, c->X, NULL, FTB_ESTIMATE)) &&
              (!t->kernel || say(FtB_Plan_set(plan, "kernel", t->kernel))) &&
              set(plan, "segment", t->segment) && set(plan, "tile", t->tile) &&
              say(FtB_Descriptor_set(c->desc, FTB_PLAN, FTB_ARG(plan)));
    t->seconds = 1e30;
    for (int r = 0; ok && r < repeats; r++) {
        ok = r ? bench_time_cold(multiply, c, &result) : bench_time(multiply, c, &result);
        t->seconds = ok && result.cpu < t->seconds ? result.cpu : t->seconds;
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

/* The best of all; *direct gets the direct kernel's. */
static bool best_of_all(call *c, int dim, int repeats, trial *best, trial *direct)
{
    const int64_t l2 = ftb_machine_here()->l2;
    *direct = (trial){.kernel = "direct"};
    if (!time_trial(c, direct, repeats))
        return false;
    *best = *direct;
    for (int tile = 16; tile <= 128; tile *= 2)
        for (int segment = 512; segment <= 65536; segment *= 2) {
            const int64_t bytes = (int64_t)segment * (dim < tile ? dim : tile) * 4;
            trial t = {"partitioned", segment, tile, 0};
            if ((tile > 16 && tile / 2 >= dim) || bytes > 2 * l2 || (bytes < l2 / 8 && segment < 65536))
                continue;
            if (!time_trial(c, &t, repeats))
                return false;
            if (t.seconds < best->seconds)
                *best = t;
        }
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

/* One line of the table. False if it cannot be measured. */
static bool row(const bench_settings *s, const char *graph, int dim, json_t *rows, worst *w)
{
    const bench_measure m = {.input = graph, .argument = bench_text("sum:%d:1", dim)};
    char which[64];
    call c = {0};
    trial planned = {0}, best, direct;
    bench_stage *stage = bench_stage_get(&m);
    c.A = stage->A;
    bool ok = say(FtB_Block_wrap(&c.X, stage->X, stage->graph.ncols, dim, dim, FTB_FP32)) &&
              say(FtB_Block_wrap(&c.C, stage->C, stage->graph.nrows, dim, dim, FTB_FP32)) &&
              time_trial(&c, &planned, s->repeats) && best_of_all(&c, dim, s->repeats, &best, &direct);
    FtB_Block_free(&c.X);
    FtB_Block_free(&c.C);
    if (!ok)
        return false;
    if (planned.seconds < best.seconds)
        best = planned;
    describe(which, sizeof which, &best);
    ok = planned.seconds <= 1.25 * best.seconds && planned.seconds <= direct.seconds / 0.95;
    note(w, graph, dim, planned.seconds / best.seconds, planned.seconds / direct.seconds, ok);
    printf("%-20s %6d %10.3f %10.3f %10.3f %7.2f %7.2f  %-36s %s\n", graph, dim, 1e3 * planned.seconds,
           1e3 * direct.seconds, 1e3 * best.seconds, planned.seconds / best.seconds,
           direct.seconds / planned.seconds, which, ok ? "" : "missed");
    fflush(stdout);
    json_array_append_new(rows, json_pack("{s:s, s:i, s:f, s:f, s:f, s:s, s:b}", "graph", graph, "width", dim,
                                          "planned", planned.seconds, "direct", direct.seconds, "best",
                                          best.seconds, "best_plan", which, "met", ok));
    return true;
}

/* What X and C take; wide blocks of large graphs are left out. */
static bool fits(const char *graph, int dim)
{
    const char *scaled = strchr(graph, '@');
    const double vertices = scaled                               ? strtod(scaled + 1, NULL)
                            : strncmp(graph, "products", 8) == 0 ? 2.4e6
                                                                 : 3e5;
    return 8.0 * vertices * dim < 0.4 * (double)ftb_machine_here()->memory;
}

static bool all_widths(const bench_settings *s, const char *graph, json_t *rows, worst *w)
{
    bool ok = true;
    for (size_t d = 0; d < sizeof widths / sizeof *widths; d++)
        if (bench_wanted(s, bench_text("%s, d = %d", graph, widths[d])) && fits(graph, widths[d]))
            ok = row(s, graph, widths[d], rows, w) && ok;
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
    json_t *rows = json_array();
    printf("%-20s %6s %10s %10s %10s %7s %7s\n", "graph", "width", "planned ms", "direct ms", "best ms",
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

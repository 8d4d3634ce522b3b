/* Puts together and runs the benchmarks of feature blocks. */
#include "suite.h"
#include "stage.h"

#include "plan/bandwidth.h"
#include "plan/machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *bench_text(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        abort();
    va_end(arguments);
    return text;
}

bench_case bench_case_of(const bench_measure *m)
{
    bench_case c = {.dim = 1, .heads = 1};
    if (sscanf(m->argument, "%31[^:]:%d:%d", c.operation, &c.dim, &c.heads) != 3)
        abort();
    return c;
}

const char *bench_case_name(const char *library, const bench_case *c, const char *graph)
{
    if (c->heads > 1)
        return bench_text("%s %s, %s, %d x %d", library, c->operation, graph, c->heads, c->dim / c->heads);
    return bench_text("%s %s, %s, d = %d", library, c->operation, graph, c->dim);
}

bool bench_scipy(const bench_settings *s, const bench_measure *m, bench_result *result)
{
    bench_measure asked = *m;
    asked.argument = bench_text("scipy %s", m->argument);
    return bench_peer(s, &asked, result);
}

void bench_add(bench_suite *b, const char *library, const bench_case *c, const char *graph, int threads,
               bench_function run)
{
    const char *name = bench_case_name(library, c, graph);
    for (int i = 0; i < b->nmeasures; i++)
        if (strcmp(b->measures[i].name, name) == 0 && b->measures[i].threads == threads)
            return;
    if (b->nmeasures == BENCH_MOST)
        abort();
    b->measures[b->nmeasures++] =
        (bench_measure){.name = name,
                        .threads = threads,
                        .run = run,
                        .input = graph,
                        .argument = bench_text("%s:%d:%d", c->operation, c->dim, c->heads)};
}

static void add_bar(bench_suite *b, bench_bar bar)
{
    if (b->nbars == BENCH_MOST)
        abort();
    b->bars[b->nbars++] = bar;
}

void bench_ratio(bench_suite *b, const char *library, const bench_case *c, const char *against,
                 const bench_case *other, const char *graph, int threads, double bar)
{
    const char *name = bench_case_name(library, c, graph);
    const bool same =
        strcmp(c->operation, other->operation) == 0 && c->dim == other->dim && c->heads == other->heads;
    const char *text = same ? bench_text("%s / %s", name, against)
                            : bench_text("%s / %s %s %d x %d", name, against, other->operation, other->heads,
                                         other->dim / other->heads);
    if (threads > 1)
        text = bench_text("%s, %d threads", text, threads);
    add_bar(b, (bench_bar){text, BENCH_RATIO, name, threads, bench_case_name(against, other, graph), threads,
                           bar});
}

void bench_two_threads(bench_suite *b, const char *library, const bench_case *c, const char *graph,
                       double bar)
{
    const char *name = bench_case_name(library, c, graph);
    add_bar(b, (bench_bar){bench_text("%s: two threads over one", name), BENCH_RATIO, name, 2, name, 1, bar});
}

static const char *bandwidth_name(const char *what, const char *graph)
{
    return bench_text("read %s, beside %s", what, graph);
}

void bench_share_of_l2(bench_suite *b, const char *library, const bench_case *c, const char *graph,
                       double bar)
{
    const char *name = bench_case_name(library, c, graph);
    add_bar(b, (bench_bar){bench_text("%s: gather rate over L2's", name), BENCH_SHARE, name, 1,
                           bandwidth_name("256 KB", graph), 1, bar});
}

void bench_peak(bench_suite *b, const char *library, const bench_case *c, const char *graph, double most)
{
    const char *name = bench_case_name(library, c, graph);
    add_bar(
        b, (bench_bar){bench_text("%s: held beside the operands", name), BENCH_PEAK, name, 1, NULL, 0, most});
}

/* ---- the machine's own rates */

static bool read_rate(const bench_settings *s, const bench_measure *m, bench_result *result)
{
    const bench_case c = bench_case_of(m); /* "read": dim is the size in KB */
    const double rate = ftb_measure_read((int64_t)c.dim << 10, 0.2);
    (void)s;
    result->seconds = result->cpu = 1;
    result->bytes = rate;
    return rate > 0;
}

static void add_read(bench_suite *b, const char *graph, const char *what, int64_t bytes)
{
    b->measures[b->nmeasures++] =
        (bench_measure){.name = bandwidth_name(what, graph),
                        .threads = 1,
                        .run = read_rate,
                        .input = graph,
                        .argument = bench_text("read:%lld:1", (long long)(bytes >> 10))};
}

typedef struct gather {
    const bench_stage *stage;
    float sum;
} gather;

/* Rows of X in the order in which the graph's entries name them, summed into one row that stays in L1. */
static bool gather_rows(void *state)
{
    gather *g = state;
    const int64_t d = g->stage->dim;
    float sum[1024] = {0};
    for (int64_t e = 0; e < g->stage->graph.nvals; e++) {
        const float *x = g->stage->X + d * g->stage->graph.colidx[e];
        for (int64_t f = 0; f < d; f++)
            sum[f] += x[f];
    }
    g->sum = sum[0];
    return true;
}

static bool gather_rate(const bench_settings *s, const bench_measure *m, bench_result *result)
{
    gather state = {.stage = bench_stage_get(m)};
    (void)s;
    result->bytes = bench_stage_bytes(m);
    return bench_time(gather_rows, &state, result);
}

void bench_add_machine(bench_suite *b, const char *graph, int dim)
{
    const ftb_machine_facts *machine = ftb_machine_here();
    if (b->nmeasures + 4 > BENCH_MOST || dim > 1024)
        abort();
    add_read(b, graph, "256 KB", 256 << 10);
    add_read(b, graph, "L3", 8 * machine->l2);
    add_read(b, graph, "DRAM", machine->memory / 16);
    bench_add(b, "machine", &(bench_case){"gather", dim, 1}, graph, 1, gather_rate);
}

/* ---- running */

/* The measurements from `from` on that have the same graph. */
static int same_graph(const bench_suite *b, int from)
{
    int to = from;
    while (to < b->nmeasures && strcmp(b->measures[to].input, b->measures[from].input) == 0)
        to++;
    return to - from;
}

static bool peer_files(const bench_settings *s, const bench_suite *b, int from, int count)
{
    for (int i = from; s->python && i < from + count; i++)
        if ((b->measures[i].run == bench_peer || b->measures[i].run == bench_scipy) &&
            bench_wanted(s, b->measures[i].name))
            return bench_stage_file(s, b->measures[i].input);
    return true;
}

int bench_suite_run(bench_suite *b, int argc, char **argv)
{
    bench_settings s = {.repeats = 3};
    if (!bench_parse(&s, argc - 1, argv + 1))
        return 2;
    for (int from = 0, count; from < b->nmeasures; from += count) {
        count = same_graph(b, from);
        if (!peer_files(&s, b, from, count))
            return 1;
        bench_run(&s, count, b->measures + from, b->runs + from);
    }
    bench_report(&s, b->nmeasures, b->measures, b->runs, b->nbars, b->bars);
    bench_stage_free();
    return 0;
}

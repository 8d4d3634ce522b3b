/* The tables and the JSON file of a benchmark. */
#include "bench.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values, int count)
{
    double sorted[BENCH_REPEATS];
    memcpy(sorted, values, sizeof sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, by_value);
    return count ? 0.5 * (sorted[count / 2] + sorted[(count - 1) / 2]) : 0;
}

static double seconds(const bench_runs *r) { return median(r->seconds, r->count); }
static double cpu(const bench_runs *r) { return median(r->cpu, r->count); }

/* The runs of a measurement; NULL: none. */
static const bench_runs *find(int count, const bench_measure *measures, const bench_runs *runs,
                              const char *name, int threads)
{
    for (int i = 0; name && i < count; i++)
        if (strcmp(measures[i].name, name) == 0 && measures[i].threads == threads && runs[i].count)
            return &runs[i];
    return NULL;
}

/* What was reached; 0: not measured. */
static double reached(const bench_bar *b, const bench_runs *r, const bench_runs *against)
{
    if (!r)
        return 0;
    switch (b->kind) {
    case BENCH_RATIO:
        return against ? seconds(against) / seconds(r) : 0;
    case BENCH_RATE:
        return r->last.bytes / seconds(r) / 1e6;
    case BENCH_MEMORY:
        return against && r->last.peak > 0 ? against->last.peak / r->last.peak : 0;
    case BENCH_SHARE:
        return against ? r->last.bytes / seconds(r) / (against->last.bytes / seconds(against)) : 0;
    case BENCH_SECONDS:
        return seconds(r);
    default:
        return r->last.peak;
    }
}

/* The same by CPU time, which a busy machine distorts less; 0 where it says nothing. */
static double reached_by_cpu(const bench_bar *b, const bench_runs *r, const bench_runs *against)
{
    if (!against || cpu(r) <= 0 || b->threads != b->against_threads)
        return 0;
    const double ratio = cpu(against) / cpu(r);
    return b->kind == BENCH_RATIO   ? ratio
           : b->kind == BENCH_SHARE ? ratio * r->last.bytes / against->last.bytes
                                    : 0;
}

static bool met(const bench_bar *b, double value)
{
    return b->kind <= BENCH_SHARE ? value >= b->bar : value <= b->bar;
}

static void show(char *text, size_t size, const bench_bar *b, double value)
{
    switch (b->kind) {
    case BENCH_RATIO:
    case BENCH_MEMORY:
        snprintf(text, size, "%.2f x", value);
        break;
    case BENCH_RATE:
        snprintf(text, size, "%.0f MB/s", value);
        break;
    case BENCH_SHARE:
        snprintf(text, size, "%.0f %%", 100 * value);
        break;
    case BENCH_SECONDS:
        snprintf(text, size, "%.1f ms", 1e3 * value);
        break;
    default:
        snprintf(text, size, "%.0f MiB", value / 1048576);
    }
}

static json_t *numbers(const double *values, int count)
{
    json_t *array = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(array, json_real(values[i]));
    return array;
}

static json_t *measure_json(const bench_measure *m, const bench_runs *r)
{
    return json_pack("{s:s, s:i, s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:o}", "name", m->name, "threads",
                     m->threads, "input", m->input, "median", seconds(r), "cpu_median", cpu(r), "check",
                     r->last.check, "bytes", r->last.bytes, "peak", r->last.peak, "setup", r->last.setup,
                     "seconds", numbers(r->seconds, r->count), "cpu", numbers(r->cpu, r->count));
}

static json_t *measures_table(int count, const bench_measure *measures, const bench_runs *runs)
{
    json_t *all = json_array();
    printf("%-44s %7s %10s %10s %10s %8s %5s %20s\n", "measurement", "threads", "seconds", "CPU", "setup",
           "GB/s", "runs", "check");
    for (int i = 0; i < count; i++) {
        const bench_measure *m = &measures[i];
        const bench_runs *r = &runs[i];
        if (!r->count)
            continue;
        printf("%-44s %7d %10.4f %10.4f %10.4f %8.2f %5d %20.15g\n", m->name, m->threads, seconds(r), cpu(r),
               r->last.setup, 1e-9 * r->last.bytes / seconds(r), r->count, r->last.check);
        json_array_append_new(all, measure_json(m, r));
    }
    return all;
}

/* One line of the second table; whether the bar was missed. */
static bool bar_row(const bench_bar *b, const bench_runs *r, const bench_runs *against, json_t *rows)
{
    char value[32] = "not measured", bar[32], cpu_value[32] = "";
    double got = reached(b, r, against);
    bool ok = got > 0 && met(b, got);
    if (got > 0)
        show(value, sizeof value, b, got);
    const double by_cpu = got > 0 ? reached_by_cpu(b, r, against) : 0;
    if (by_cpu > 0)
        show(cpu_value, sizeof cpu_value, b, by_cpu);
    show(bar, sizeof bar, b, b->bar);
    printf("%-64s %12s %12s %10s %s\n", b->text, value, bar, cpu_value, got > 0 && !ok ? "missed" : "");
    json_array_append_new(rows, json_pack("{s:s, s:f, s:f, s:f, s:b}", "case", b->text, "reached", got,
                                          "by_cpu", by_cpu, "bar", b->bar, "met", ok));
    return got > 0 && !ok;
}

int bench_report(const bench_settings *s, int count, const bench_measure *measures, const bench_runs *runs,
                 int nbars, const bench_bar *bars)
{
    int missed = 0;
    json_t *rows = json_array(), *all = measures_table(count, measures, runs);
    printf("\n%-64s %12s %12s %10s\n", "case", "reached", "bar", "by CPU");
    for (int i = 0; i < nbars; i++) {
        const bench_bar *b = &bars[i];
        if (!bench_wanted(s, b->name))
            continue;
        missed += bar_row(b, find(count, measures, runs, b->name, b->threads),
                          find(count, measures, runs, b->against, b->against_threads), rows);
    }
    json_t *root = json_pack("{s:i, s:i, s:o, s:o}", "cores", (int)sysconf(_SC_NPROCESSORS_ONLN), "repeats",
                             s->repeats, "measurements", all, "cases", rows);
    if (s->json && json_dump_file(root, s->json, JSON_INDENT(1)) != 0)
        fprintf(stderr, "%s cannot be written\n", s->json);
    json_decref(root);
    return missed;
}

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

static double median(const bench_runs *r)
{
    double sorted[BENCH_REPEATS];
    memcpy(sorted, r->seconds, sizeof sorted);
    qsort(sorted, (size_t)r->count, sizeof *sorted, by_value);
    return r->count ? 0.5 * (sorted[r->count / 2] + sorted[(r->count - 1) / 2]) : 0;
}

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
        return against ? median(against) / median(r) : 0;
    case BENCH_RATE:
        return r->last.bytes / median(r) / 1e6;
    case BENCH_SECONDS:
        return median(r);
    default:
        return r->last.peak;
    }
}

static bool met(const bench_bar *b, double value)
{
    return b->kind == BENCH_RATIO || b->kind == BENCH_RATE ? value >= b->bar : value <= b->bar;
}

static void show(char *text, size_t size, const bench_bar *b, double value)
{
    switch (b->kind) {
    case BENCH_RATIO:
        snprintf(text, size, "%.2f x", value);
        break;
    case BENCH_RATE:
        snprintf(text, size, "%.0f MB/s", value);
        break;
    case BENCH_SECONDS:
        snprintf(text, size, "%.1f ms", 1e3 * value);
        break;
    default:
        snprintf(text, size, "%.0f MiB", value / 1048576);
    }
}

static json_t *measure_json(const bench_measure *m, const bench_runs *r)
{
    json_t *seconds = json_array();
    for (int i = 0; i < r->count; i++)
        json_array_append_new(seconds, json_real(r->seconds[i]));
    return json_pack("{s:s, s:i, s:s, s:f, s:f, s:f, s:f, s:o}", "name", m->name, "threads", m->threads,
                     "input", m->input, "median", median(r), "check", r->last.check, "bytes", r->last.bytes,
                     "peak", r->last.peak, "seconds", seconds);
}

static json_t *measures_table(int count, const bench_measure *measures, const bench_runs *runs)
{
    json_t *all = json_array();
    printf("%-40s %7s %11s %5s %20s\n", "measurement", "threads", "seconds", "runs", "check");
    for (int i = 0; i < count; i++) {
        const bench_measure *m = &measures[i];
        const bench_runs *r = &runs[i];
        if (!r->count)
            continue;
        printf("%-40s %7d %11.4f %5d %20.15g\n", m->name, m->threads, median(r), r->count, r->last.check);
        json_array_append_new(all, measure_json(m, r));
    }
    return all;
}

int bench_report(const bench_settings *s, int count, const bench_measure *measures, const bench_runs *runs,
                 int nbars, const bench_bar *bars)
{
    int missed = 0;
    json_t *rows = json_array(), *all = measures_table(count, measures, runs);
    printf("\n%-62s %12s %12s\n", "case", "reached", "bar");
    for (int i = 0; i < nbars; i++) {
        const bench_bar *b = &bars[i];
        char value[32] = "not measured", bar[32];
        double got = reached(b, find(count, measures, runs, b->name, b->threads),
                             find(count, measures, runs, b->against, b->against_threads));
        bool ok = got > 0 && met(b, got);
        missed += got > 0 && !ok;
        if (got > 0)
            show(value, sizeof value, b, got);
        show(bar, sizeof bar, b, b->bar);
        printf("%-62s %12s %12s %s\n", b->text, value, bar, got > 0 ? ok ? "" : "missed" : "");
        json_array_append_new(rows, json_pack("{s:s, s:f, s:f, s:b}", "case", b->text, "reached", got, "bar",
                                              b->bar, "met", ok));
    }
    json_t *root = json_pack("{s:i, s:i, s:o, s:o}", "cores", (int)sysconf(_SC_NPROCESSORS_ONLN), "repeats",
                             s->repeats, "measurements", all, "cases", rows);
    if (s->json && json_dump_file(root, s->json, JSON_INDENT(1)) != 0)
        fprintf(stderr, "%s cannot be written\n", s->json);
    json_decref(root);
    return missed;
}

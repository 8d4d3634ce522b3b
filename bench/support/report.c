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

static double median(const bench_measure *m)
{
    double sorted[BENCH_REPEATS];
    memcpy(sorted, m->seconds, sizeof sorted);
    qsort(sorted, (size_t)m->count, sizeof *sorted, by_value);
    return m->count ? 0.5 * (sorted[m->count / 2] + sorted[(m->count - 1) / 2]) : 0;
}

static const bench_measure *find(int nmeasures, const bench_measure *measures, const char *name, int threads)
{
    for (int i = 0; name && i < nmeasures; i++)
        if (strcmp(measures[i].name, name) == 0 && measures[i].threads == threads && measures[i].count)
            return &measures[i];
    return NULL;
}

/* What was reached; 0: not measured. */
static double reached(const bench_bar *b, const bench_measure *m, const bench_measure *against)
{
    if (!m)
        return 0;
    switch (b->kind) {
    case BENCH_RATIO:
        return against ? median(against) / median(m) : 0;
    case BENCH_RATE:
        return m->last.bytes / median(m) / 1e6;
    case BENCH_SECONDS:
        return median(m);
    default:
        return m->last.peak;
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

static json_t *measure_json(const bench_measure *m)
{
    json_t *runs = json_array();
    for (int i = 0; i < m->count; i++)
        json_array_append_new(runs, json_real(m->seconds[i]));
    return json_pack("{s:s, s:i, s:s, s:f, s:f, s:f, s:f, s:o}", "name", m->name, "threads", m->threads,
                     "input", m->input ? m->input : "", "median", median(m), "check", m->last.check, "bytes",
                     m->last.bytes, "peak", m->last.peak, "seconds", runs);
}

static json_t *measures_table(int nmeasures, const bench_measure *measures)
{
    json_t *all = json_array();
    printf("%-40s %7s %11s %5s %20s\n", "measurement", "threads", "seconds", "runs", "check");
    for (int i = 0; i < nmeasures; i++) {
        const bench_measure *m = &measures[i];
        if (!m->count)
            continue;
        printf("%-40s %7d %11.4f %5d %20.9g\n", m->name, m->threads, median(m), m->count, m->last.check);
        json_array_append_new(all, measure_json(m));
    }
    return all;
}

int bench_report(const bench_settings *s, int nmeasures, const bench_measure *measures, int nbars,
                 const bench_bar *bars)
{
    int missed = 0;
    json_t *rows = json_array(), *all = measures_table(nmeasures, measures);
    printf("\n%-62s %12s %12s\n", "case", "reached", "bar");
    for (int i = 0; i < nbars; i++) {
        const bench_bar *b = &bars[i];
        char value[32] = "not measured", bar[32];
        double got = reached(b, find(nmeasures, measures, b->name, b->threads),
                             find(nmeasures, measures, b->against, b->against_threads));
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

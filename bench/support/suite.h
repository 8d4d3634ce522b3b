/* Benchmarks of feature blocks: cases are an operation, a graph and a width, measured for several libraries.
 * Measurements of one graph are taken in turn; then comes the next graph, so that only one is held. */
#ifndef BENCH_SUITE_H
#define BENCH_SUITE_H

#include "bench.h"

enum { BENCH_MOST = 512 };

typedef struct bench_suite {
    int nmeasures, nbars;
    bench_measure measures[BENCH_MOST];
    bench_bar bars[BENCH_MOST];
    bench_runs runs[BENCH_MOST];
} bench_suite;

/* What is computed. As text, "operation:dim:heads", it is the argument of a measurement. */
typedef struct bench_case {
    char operation[32];
    int dim; /* columns in all */
    int heads;
} bench_case;
bench_case bench_case_of(const bench_measure *m);

/* "FeatBLAS sum, rand-100k, d = 128", kept until the program ends. */
const char *bench_case_name(const char *library, const bench_case *c, const char *graph);
/* printf to memory kept until the program ends. */
const char *bench_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A peer's measurement by scipy; bench_peer asks DGL. */
bool bench_scipy(const bench_settings *s, const bench_measure *m, bench_result *result);
/* Adds one, unless it is there; those of one graph must follow each other. */
void bench_add(bench_suite *b, const char *library, const bench_case *c, const char *graph, int threads,
               bench_function run);
/* seconds of `against` (library and case) / seconds of `library`'s case, at least bar; one graph, as many
 * threads. */
void bench_ratio(bench_suite *b, const char *library, const bench_case *c, const char *against,
                 const bench_case *other, const char *graph, int threads, double bar);
/* Two threads over one. */
void bench_two_threads(bench_suite *b, const char *library, const bench_case *c, const char *graph,
                       double bar);
/* Gather rate over the read bandwidth of 256 KB, which is measured beside it. */
void bench_share_of_l2(bench_suite *b, const char *library, const bench_case *c, const char *graph,
                       double bar);
/* Bytes held beside the operands, at most `most`. */
void bench_peak(bench_suite *b, const char *library, const bench_case *c, const char *graph, double most);
/* Read bandwidths and gather rates of this machine, beside the graph's measurements. */
void bench_add_machine(bench_suite *b, const char *graph, int dim);

/* Parses options, writes what peers read, measures, reports. The program's exit status. */
int bench_suite_run(bench_suite *b, int argc, char **argv);

#endif

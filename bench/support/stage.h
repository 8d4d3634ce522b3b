/* The operands of a measurement of feature blocks: one graph and dense arrays, made on first use and held
 * until another graph or width is asked for. */
#ifndef BENCH_STAGE_H
#define BENCH_STAGE_H

#include "gen/gen.h"
#include "suite.h"

typedef struct bench_stage {
    char name[64]; /* of the graph */
    gen_graph graph;
    FtB_Matrix A; /* its pattern, which keeps its partitions */
    FtB_Matrix W; /* the same pattern with the weights as values */
    int64_t dim, heads;
    float *X, *Y, *C;        /* nvertices x dim: features of sources and targets, results */
    float *weights, *scores; /* nvals x heads: edge values (those of W), results on edges */
} bench_stage;

/* The stage with what the measurement's case wants of: graph, X, C (and Y, weights and scores where asked
 * for). Ends the program where there is no memory. A graph is "rand-100k", a name of gen_make_like, or
 * "road-like@4000000": so many vertices. Features are functions of their place, the same in
 * bench/peers/blocks.py. */
bench_stage *bench_stage_get(const bench_measure *m);
void bench_stage_targets(bench_stage *s);
void bench_stage_edges(bench_stage *s, int64_t heads);
/* Bytes of features that the case gathers: entries x dim x 4. */
double bench_stage_bytes(const bench_measure *m);
/* A value in [-1, 1) that depends on its place alone: integers that wrap, so that numpy gives the same. */
float bench_feature(int64_t row, int64_t column, uint32_t salt);
/* The sum of C, or of an array: compared between libraries. */
double bench_sum(const float *x, int64_t count);
/* Writes the graph for the peers, unless it is there. */
bool bench_stage_file(const bench_settings *s, const char *graph);
void bench_stage_free(void);
/* The array as a block with so many heads. */
bool bench_block(FtB_Block *X, float *data, int64_t nrows, int64_t ncols, int64_t heads);

/* Runs the step once for what it prepares (setup: how much longer that took), then at least once and for at
 * least 0.2 seconds; seconds and CPU of one step. */
typedef bool (*bench_step)(void *state);
bool bench_time(bench_step step, void *state, bench_result *result);
/* The same without the first run, for what has nothing to warm up. */
bool bench_time_cold(bench_step step, void *state, bench_result *result);

#endif

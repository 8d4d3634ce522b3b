/* Vertex programs on a device beside the host: what both compute has the same bits, and is told alike. */
#ifndef TESTS_VERTEX_THERE_H
#define TESTS_VERTEX_THERE_H

#include "featblas_vertex.h"

#include <stdbool.h>

typedef struct there_program {
    const char *name;
    FtB_Program_texts texts;
    FtB_Type type, other; /* of its fields x and y */
    int64_t ncols;
    bool some; /* some vertices begin, a column each; else all do */
    int64_t rounds;
    double first, rest; /* x at (source c, c); elsewhere. rest NaN: something, by vertex and column */
    bool sums;          /* of reals */
    bool host;          /* no device takes it */
} there_program;

extern const there_program there_programs[];
extern const int there_count;

/* A graph of n vertices, with loops, parallel entries and vertices without any; values of `type` in (0, 1),
 * or none where that is 0. */
FtB_Matrix there_graph(int64_t n, int64_t nvals, FtB_Type type);
/* Runs one on the host and on the default context's device, in a way, step by step or all at once; without
 * `bits` the order of sums may show. Returns how many supersteps the device did. */
int64_t there_compare(const there_program *p, FtB_Matrix A, FtB_Way way, bool steps, bool bits);

#endif

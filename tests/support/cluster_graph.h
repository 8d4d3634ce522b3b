/* Small graphs of which every pair is looked at, and labels of their vertices. */
#ifndef TESTS_CLUSTER_GRAPH_H
#define TESTS_CLUSTER_GRAPH_H

#include "support/rng.h"

#include <stdbool.h>

enum { MOST = 50 };

/* A matrix of FP32, and how many entries (i, j) it has. */
typedef struct graph {
    FtB_Matrix A;
    int64_t n, nvals;
    int entries[MOST][MOST];
} graph;

/* At most so many entries, which may come again where `multi`. */
graph make_graph(rng *r, int64_t n, int64_t nvals, bool multi, int64_t width);
/* 0 to nparts - 1, small ones more often. */
void random_labels(rng *r, int32_t *labels, int64_t n, int64_t nparts);

#endif

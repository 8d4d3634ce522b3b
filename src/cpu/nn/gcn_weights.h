/* Weights of edges as GCN normalises them: loops over rows on the host, once per layer and graph. */
#ifndef FTB_GCN_WEIGHTS_H
#define FTB_GCN_WEIGHTS_H

#include "core/core.h"

typedef struct ftb_gcn_weights {
    FtB_Context ctx;
    const ftb_pattern *p, *q; /* q: p, or p with exactly one entry (i, i) in every row; 1 where p has none */
    FtB_Type stored, type;    /* of the weights, and of the results */
    const void *weights;      /* one of each entry of p; NULL, of a hop: 1 */
    double factor;
} ftb_gcn_weights;

/* values(e) = factor w(e) / sqrt(d(i) d(j)) for the entries of q, d being the sums of its rows; a row whose
 * sum is not above 0 gives 0. */
GrB_Info ftb_gcn_weights_run(const ftb_gcn_weights *w, void *values);

/* A hop of a sample, m x n, m <= n: targets are the first of the sources. */
typedef struct ftb_gcn_hop {
    ftb_gcn_weights of;
    bool loops;                    /* q has exactly one entry (i, i) in every row */
    const struct ftb_whole *whole; /* what it was picked of, whose values are asked for; NULL: not known */
    int64_t whole_loops;           /* entries (i, i) of that */
} ftb_gcn_hop;

/* Of the graph G that it was picked of, d being sums of G's rows, with a loop each where loops are added:
 *
 *     values(e) = factor s(i) w(e) / sqrt(d(i) d(j)),   s(i) = entries of G's row i over those that were
 * picked
 *
 * where loops are not picked but always there, with G's weight or 1, and s is of the others: what the layer
 * computes of all of G, on average over uniform picks. Where values are over their chances already, s is 1.
 * Where G is not known: w(e) / sqrt(d(i) c(j)), d and c being sums of rows and columns of the hop itself. */
GrB_Info ftb_gcn_hop_run(const ftb_gcn_hop *h, void *values);
/* 1 / sqrt(degree), or 0. */
double ftb_inverse_root(double degree);

#endif

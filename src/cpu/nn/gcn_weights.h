/* Weights of edges as GCN normalises them: loops over rows on the host, once per layer and graph. */
#ifndef FTB_GCN_WEIGHTS_H
#define FTB_GCN_WEIGHTS_H

#include "core/core.h"

typedef struct ftb_gcn_weights {
    FtB_Context ctx;
    const ftb_pattern *p, *q; /* q: p, or p with exactly one entry (i, i) in every row; 1 where p has none */
    FtB_Type stored, type;    /* of the weights, and of the results */
    const void *weights;      /* one of each entry of p */
    double factor;
} ftb_gcn_weights;

/* values(e) = factor w(e) / sqrt(d(i) d(j)) for the entries of q, d being the sums of its rows; a row whose
 * sum is not above 0 gives 0. */
GrB_Info ftb_gcn_weights_run(const ftb_gcn_weights *w, void *values);
/* 1 / sqrt(degree), or 0. */
double ftb_inverse_root(double degree);

#endif

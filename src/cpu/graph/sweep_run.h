/* Sweeps over the ranks of a graph in place: slice after slice of vertices, each from what those before it
 * have become. */
#ifndef FTB_SWEEP_RUN_H
#define FTB_SWEEP_RUN_H

#include "core/core.h"

/* rank(v) = back(v) + damping * sum over u that links to v of value * share(u) * rank(u). */
typedef struct ftb_sweep {
    FtB_Context ctx;
    const ftb_pattern *t; /* n x n, n < 2^31: the columns of row v are who links to v */
    FtB_Type type;        /* FP32 or FP64, of all values */
    const void *values;   /* of t's entries; NULL: 1 each */
    const void *share;    /* n: what a vertex gives to a link of value 1; 0: it has none */
    const void *back;     /* n */
    double damping;       /* less than 1 */
    void *rank;           /* n, in and out */
    double changed, sum;  /* out: of the absolute changes, and of the ranks */
    void *room;           /* between sweeps, of ftb_sweep_new */
} ftb_sweep;
/* Room for sweeps from the ranks as they are; ftb_sweep_delete must follow, also on failure. */
GrB_Info ftb_sweep_new(ftb_sweep *w);
void ftb_sweep_delete(ftb_sweep *w);
/* A sweep. Bits do not depend on threads. FTB_CANCELLED: ranks are those of a part of it. */
GrB_Info ftb_sweep_run(ftb_sweep *w);

#endif

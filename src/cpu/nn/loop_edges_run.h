/* Features of edges on a graph whose self-loops were added: loops over rows on the host. */
#ifndef FTB_LOOP_EDGES_RUN_H
#define FTB_LOOP_EDGES_RUN_H

#include "core/core.h"

/* p: the pattern as it was; q: with exactly one entry (i, i) in every row (ftb_pattern_diagonal). Values of
 * FP32 or FP64, `width` of them per entry, packed. */
typedef struct ftb_looped_edges {
    FtB_Context ctx;
    FtB_Type type;
    int64_t width;
    const ftb_pattern *p, *q;
} ftb_looped_edges;

/* y, on q: an entry keeps its own; the loop of row i gets the mean of the row's other entries, or 0. */
void ftb_looped_edges_run(const ftb_looped_edges *l, void *y, const void *x);
/* dx(e) = dy(e) + dy(loop) / (other entries of the row), of a loop that p had 0; or that added. */
void ftb_looped_edges_grad_run(const ftb_looped_edges *l, void *dx, const void *dy, bool add);

#endif

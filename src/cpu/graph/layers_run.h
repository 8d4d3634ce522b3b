/* Topological levels: who waits for whom. */
#ifndef FTB_LAYERS_RUN_H
#define FTB_LAYERS_RUN_H

#include "core/core.h"

typedef struct ftb_layers {
    FtB_Context ctx;
    const ftb_pattern *p; /* n x n: j waits for i where there is (i, j) */
    int64_t *level;       /* out, n: one more than the greatest of those that v waits for; -1: on a cycle, or
                             behind one */
    int64_t *order;       /* out, n: who has a level, by level; in one in any order */
    int64_t nlevels, nordered; /* out */
} ftb_layers;
GrB_Info ftb_layers_run(ftb_layers *w);

#endif

/* Topological levels: who waits for whom. */
#ifndef FTB_TOPOLOGICAL_RUN_H
#define FTB_TOPOLOGICAL_RUN_H

#include "core/core.h"

typedef struct ftb_topological {
    FtB_Context ctx;
    const ftb_pattern *p; /* n x n: j waits for i where there is (i, j) */
    int64_t *level;       /* out, n: one more than the greatest of those that v waits for; -1: on a cycle, or
                             behind one */
    int64_t *order;       /* out, n: who has a level, by level; in one in any order */
    int64_t nlevels, nordered; /* out */
} ftb_topological;
GrB_Info ftb_topological_run(ftb_topological *w);

#endif

/* Triangles with each vertex of a graph without directions, and what lies between its neighbours. */
#ifndef FTB_TRIANGLES_RUN_H
#define FTB_TRIANGLES_RUN_H

#include "core/core.h"

/* Of the edges that p has in one direction or both. */
typedef struct ftb_triangles {
    FtB_Context ctx;
    ftb_pattern *p;   /* n x n, n < 2^31, without loops and parallel entries */
    bool entries;     /* what is counted: entries of p from one neighbour to another, not edges */
    int64_t *each;    /* out, n: triangles with the vertex; or these entries */
    int64_t *degrees; /* out, n: neighbours; NULL: not wanted */
} ftb_triangles;
GrB_Info ftb_triangles_run(ftb_triangles *w);

#endif

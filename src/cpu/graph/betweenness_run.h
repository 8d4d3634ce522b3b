/* Betweenness: how many shortest paths from some sources lead through each vertex. */
#ifndef FTB_BETWEENNESS_RUN_H
#define FTB_BETWEENNESS_RUN_H

#include "core/core.h"
#include "featblas_vertex.h"

/* sums(v) = sum over sources s and all t, s != v != t, of the share of the shortest paths from s to t that go
 * through v. Sources are added in their order, and so are the neighbours of a vertex: bits depend neither on
 * threads nor on the way. */
typedef struct ftb_betweenness {
    FtB_Context ctx;
    ftb_pattern *out, *in; /* n x n, n < 2^31, without parallel entries; and its transpose */
    const int64_t *sources;
    int64_t nsources;
    double *sums;    /* out: n */
    FtB_Way way;     /* of levels: FTB_WAY_PUSH or FTB_WAY_PULL for all of them; else what takes less */
    bool scaled;     /* numbers of paths have a scale from the beginning, not only where they need one */
    uint64_t *none;  /* made by ftb_betweenness_run, bits: who has no entries that lead to it */
    int64_t nothers; /* how many have some */
} ftb_betweenness;
GrB_Info ftb_betweenness_run(ftb_betweenness *w);

#endif

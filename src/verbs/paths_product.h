/* Shortest paths: what the verb `paths` computes. */
#ifndef FTB_PATHS_PRODUCT_H
#define FTB_PATHS_PRODUCT_H

#include "core/core.h"

/* dist(v, c) = the least of itself and of the sums dist(u, c) + length + length + ... along the entries of a
 * path from a vertex u of `start` to v, added in that order. A sum goes on from v only if it is less than
 * what dist(v, c) was, or v is of `start`. Lengths that are NaN are none. */
typedef struct ftb_paths_product {
    FtB_Context ctx;
    ftb_pattern *p;      /* n x n, of narrow columns */
    const void *lengths; /* values; NULL: 1 */
    FtB_Type ltype;
    const int64_t *at; /* nvals: entry e has length at[e]; NULL: e */
    void *dist;        /* n x ncols, ld apart */
    FtB_Type type;     /* FP32 or FP64 */
    int64_t ncols, ld;
    FtB_Type sums;        /* FP32 or FP64, in which an entry is added, before the sum is cast to `type` */
    const int64_t *start; /* ascending, each once; NULL: all vertices */
    int64_t nstart;
    double delta; /* width of a bucket; 0: any */
    /* False, and nothing is done: a length is negative, or dist has -0.0, NaN or -infinity; or there are
       several columns and one is finite for a vertex that is not of `start`, which would tell of it when
       another column of its falls. */
    bool *fits;
} ftb_paths_product;

#endif

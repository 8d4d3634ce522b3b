/* Shortest paths from one source, level by level, and what leads back along them. */
#ifndef FTB_BETWEENNESS_SEARCH_H
#define FTB_BETWEENNESS_SEARCH_H

#include "cpu/graph/betweenness_run.h"

/* A positive number for each vertex, 0 where there is none: x 2^(512 scale). */
typedef struct ftb_betweenness_values {
    double *x;
    int32_t *scale; /* NULL: 0 */
} ftb_betweenness_values;

/* Arrays of n. Between sources values are 0, and nobody is seen but `none`. */
typedef struct ftb_betweenness_search {
    const ftb_betweenness *w;
    int threads;                  /* inside a level */
    ftb_betweenness_values paths; /* from the source to v; in the end what the source adds to v */
    ftb_betweenness_values gain;  /* sums of what comes back; then (1 + that of v) / paths */
    int32_t *order;               /* who was reached, level after level, ascending in each */
    int32_t *found;               /* of a part of the vertices, from its first place on */
    int32_t *start;               /* n + 2: level l begins at order[start[l]] */
    uint64_t *seen, *member,
        *next; /* bits: reached or without entries; of the last level, and of the one after */
    int64_t nlevels, unseen, left; /* who is not seen, and its entries */
    bool large;                    /* the last source has more paths than numbers without a scale hold */
} ftb_betweenness_search;

/* Bytes of a vertex. */
enum { FTB_BETWEENNESS_BYTES = 30, FTB_BETWEENNESS_SCALED_BYTES = 38 };
/* On failure, too, ftb_betweenness_search_delete must follow. */
GrB_Info ftb_betweenness_search_new(ftb_betweenness_search *s, const ftb_betweenness *w, int threads);
void ftb_betweenness_search_delete(ftb_betweenness_search *s);
/* What `source` adds, into paths. false: `large`, or the context was cancelled; nothing more can be done with
 * s. */
bool ftb_betweenness_search_run(ftb_betweenness_search *s, int64_t source);
/* Adds it to the sums, and makes s ready for the next source. */
void ftb_betweenness_search_add(ftb_betweenness_search *s);

#endif

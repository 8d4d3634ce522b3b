/* What the ways to ranks share: of n vertices and k columns, whose surfers begin again where the column says.
 * What comes to a vertex from nowhere is `back` of its column, times what is there for it: 1 for each, or,
 * with `source`, for the column's, or by `teleport`. */
#ifndef FTB_VERTEX_PAGERANK_H
#define FTB_VERTEX_PAGERANK_H

#include "vertex/algorithm.h"

typedef struct ftb_pages {
    FtB_Pagerank_options o; /* with defaults in their places */
    FtB_Matrix A;
    int64_t n, k;
    FtB_Block rank;     /* n x k: the caller's */
    FtB_Block share;    /* n x 1: of a link, 0 without links */
    FtB_Matrix loose;   /* 1 x n: who has no links; NULL: nobody has none, or what they have is lost */
    FtB_Block source;   /* 1 x k, INT64; NULL: of all, or of o.teleport */
    const double *unit; /* each column's: what comes back to whom 1 is there for, where 1 comes back in all */
    FtB_Block back;     /* 1 x k */
    int64_t supersteps; /* out: how many there were, */
    bool more;          /* and whether ranks still changed by more than they may */
} ftb_pages;

/* Whether links give by the values of their entries. */
static inline bool ftb_pages_weighted(const ftb_pages *p)
{
    return p->o.kind == FTB_PAGERANK_NETWORKX && p->A->width > 0;
}
/* By how much the ranks of a column may still change, in all. */
static inline double ftb_pages_limit(const ftb_pages *p)
{
    return p->o.tolerance * (p->o.kind == FTB_PAGERANK_NETWORKX ? (double)p->n : 1);
}

/* base, n x k, becomes what comes from nowhere to each vertex, where nothing is lost. */
GrB_Info ftb_pages_base(const ftb_pages *p, FtB_Block base);
/* Ranks are divided by their sums, columns each by its own. */
GrB_Info ftb_pages_divide(const ftb_pages *p);
/* back becomes what comes back where `lost` (k; NULL: nothing) is of who has no links. (pagerank.c) */
GrB_Info ftb_pages_back(const ftb_pages *p, const double *lost);

/* Supersteps over all vertices, until ranks change by less than the limit. (pagerank_rounds.c) */
GrB_Info ftb_pages_rounds(ftb_pages *p);
/* Vertices send what changes, as long as it is more than the limit allows. (pagerank_changes.c) */
GrB_Info ftb_pages_changes(ftb_pages *p);
/* Sweeps in place. (pagerank_sweeps.c) */
GrB_Info ftb_pages_sweeps(ftb_pages *p);

#endif

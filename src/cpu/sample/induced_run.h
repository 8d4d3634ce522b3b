/* The entries of a matrix among some of its vertices. */
#ifndef FTB_INDUCED_RUN_H
#define FTB_INDUCED_RUN_H

#include "core/core.h"

typedef struct ftb_induced {
    FtB_Context ctx;
    const ftb_pattern *p;
    const int64_t *vertices; /* their rows and columns, in this order; of those that are equal the first
                                counts as column */
    const int32_t *trees;    /* of each: entries are within a tree; NULL: there is one */
    int64_t count;
    int64_t *rowptr, *entries; /* out, ftb_new()ed: count + 1; of p */
    int32_t *columns;          /* out */
} ftb_induced;
GrB_Info ftb_induced_run(ftb_induced *w);

#endif

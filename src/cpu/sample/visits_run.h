/* The vertices that walks visit most often. */
#ifndef FTB_VISITS_RUN_H
#define FTB_VISITS_RUN_H

#include "core/core.h"

/* Row r has `width` vertices, -1: none, of which the own, own[r], does not count. */
typedef struct ftb_visits {
    FtB_Context ctx;
    const int64_t *walks, *own;
    int64_t nrows, width;
    int64_t k;       /* of a row, < 0: all */
    bool wide;       /* columns are int64_t, else int32_t */
    int64_t *rowptr; /* nrows + 1, the caller's */
    /* out, ftb_new()ed: vertices in each row ascending, and how often they were visited */
    void *columns;
    int64_t *counts;
} ftb_visits;
GrB_Info ftb_visits_run(ftb_visits *v);

#endif

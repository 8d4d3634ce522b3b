/* Pairs that a pattern has no entry for. */
#ifndef FTB_NEGATIVE_RUN_H
#define FTB_NEGATIVE_RUN_H

#include "core/core.h"

typedef struct ftb_negative {
    FtB_Context ctx;
    ftb_pattern *p;
    const int64_t *rows; /* NULL: all of p's */
    int64_t nrows, k;
    bool replace, loops, global;
    uint64_t seed, stream; /* of core/draws.h */
    int64_t *rowptr;       /* out, ftb_new()ed: nrows + 1 */
    void *columns;         /* out, in each row ascending */
} ftb_negative;
/* FTB_LIMIT where there are 2^62 pairs. */
GrB_Info ftb_negative_run(ftb_negative *w);

#endif

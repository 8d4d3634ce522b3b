/* Shortest paths, on the host. */
#ifndef FTB_PATHS_RUN_H
#define FTB_PATHS_RUN_H

#include "cpu/kernels/paths_kernels.h"
#include "verbs/paths_product.h"

GrB_Info ftb_paths_run(const ftb_paths_product *p);

/* ---- what its files share */

/* The first failure of several threads, whose messages are their own. Begins as {GrB_SUCCESS}. */
typedef struct ftb_paths_failure {
    GrB_Info info;
    char message[512];
} ftb_paths_failure;
void ftb_paths_note(ftb_paths_failure *f, GrB_Info info); /* of success: nothing */
bool ftb_paths_failed(const ftb_paths_failure *f);        /* beside others that note */
GrB_Info ftb_paths_raise(const ftb_paths_failure *f);     /* behind them: to this thread */

/* A column from where it begins, filled into x->dist, to the end, by so many threads; bins are theirs, and
 * empty. (paths_search.c) */
GrB_Info ftb_paths_search(FtB_Context ctx, ftb_paths *x, const ftb_paths_product *p, ftb_bins *bins,
                          int threads);

#endif

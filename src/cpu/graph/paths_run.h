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

/* A product at work. */
typedef struct ftb_paths_job {
    const ftb_paths_product *p;
    ftb_paths x; /* but for dist and where buckets begin */
    int64_t n;
    int threads;
    int64_t degree; /* the greatest, of many columns */
    ftb_bins *bins; /* of each thread, empty */
    void *cast;     /* lengths of another type */
    void *columns;  /* n values each */
} ftb_paths_job;
size_t ftb_paths_size(const ftb_paths_job *j); /* bytes of a distance */

/* Who begins: vertices of a list, or all, whose distance is finite. */
typedef struct ftb_paths_begin {
    const int64_t *start; /* NULL: all */
    int64_t nstart;
    const ftb_paths_due *due; /* then of all: those that wait for the column; NULL: any do */
    int column;
    int64_t most; /* edges to be walked, about, whereupon bins are what they are; 0: all */
} ftb_paths_begin;

/* A column from where it begins, filled into x->dist, to the end, by so many threads; bins are theirs, and
 * empty. x->passed is the last bucket then; -1: nobody begins. (paths_search.c) */
GrB_Info ftb_paths_search(FtB_Context ctx, ftb_paths *x, const ftb_paths_begin *from, ftb_bins *bins,
                          int threads);

/* `count` columns of rows, `ld` apart, become columns of n values, or the other way round. (paths_run.c) */
void ftb_paths_turn(const ftb_paths_job *j, void *rows, int64_t ld, int64_t count, void *columns,
                    bool to_columns);
/* So many of j->columns, from->column being that of the first, to the end. (paths_run.c) */
GrB_Info ftb_paths_columns(const ftb_paths_job *j, int64_t count, const ftb_paths_begin *from);

/* Many columns, row by row, as long as many fall together, and the rest column by column; on failure dist is
 * as it was. (paths_shared.c) */
enum {
    FTB_PATHS_SHARED = 16, /* columns at least */
    FTB_PATHS_HUB = 9 /* entries of some row: where no row has as many, as of roads, columns never meet */
};
GrB_Info ftb_paths_shared(ftb_paths_job *j);

#endif

/* Sampling, on the host: picking entries of rows, and numbering what was picked. */
#ifndef FTB_SAMPLE_RUN_H
#define FTB_SAMPLE_RUN_H

#include "verbs/sample_product.h"

/* Bits do not depend on threads. Allocates all that it needs before anything is written. GrB_INVALID_VALUE: a
 * value of `key` is none that the selector takes; the message has its place. */
GrB_Info ftb_sample_run(const ftb_sample_product *product);
/* FTB_LIMIT, too, where there are more numbers than int32_t has. */
GrB_Info ftb_relabel_run(ftb_relabel_product *product);

/* Those whose picks follow from draws and values of every entry. (sample_keys.c) */
GrB_Info ftb_sample_by_keys(const ftb_sample_product *product);
/* Tables of all rows for weights, into s->p->nvals slots; a row that has none says so in its first. */
GrB_Info ftb_sample_tables(const ftb_sample_product *s, ftb_alias_slot *slots);
/* Weighted, where there are tables. *bad: some row has none, and nothing was picked. (sample/draw_run.c) */
GrB_Info ftb_sample_by_tables(const ftb_sample_product *product, bool *bad);
/* Rows get room for k picks before anybody knows whether so many can be; and move together where some have
 * less. */
void ftb_sample_room(const ftb_sample_product *s);
void ftb_sample_close(const ftb_sample_product *s, const int64_t *counts);

static inline int64_t ftb_sample_row(const ftb_sample_product *s, int64_t r)
{
    return s->rows ? s->rows[r] : r;
}
static inline int64_t ftb_sample_degree(const ftb_sample_product *s, int64_t r)
{
    const int64_t i = ftb_sample_row(s, r);
    return s->p->rowptr[i + 1] - s->p->rowptr[i];
}
static inline uint64_t ftb_sample_seed(const ftb_sample_product *s, int64_t r)
{
    return s->seeds ? s->seeds[s->trees[r]] : s->seed;
}

/* Rows of picks with an entry for their own vertex. */
typedef struct ftb_self_rows {
    FtB_Context ctx;
    const ftb_pattern *p;    /* that was picked of */
    const int64_t *vertices; /* by number; of the first nseeds some may be equal */
    int64_t nseeds;          /* 0: none are the same */
    int64_t nrows, row0;     /* rows are those of numbers from row0 on */
    int64_t *rowptr;         /* ftb_new()ed, as the next two; all three become longer ones */
    int32_t *local;
    int64_t *entries; /* -1: p has none; NULL: they are not wanted */
} ftb_self_rows;
/* Adds what is not there. (sample_self.c) */
GrB_Info ftb_sample_self(ftb_self_rows *rows);
/* Copies values of `size` bytes: to[t] = from[entries[t]], `one` where that is -1. (sample_self.c) */
void ftb_sample_values(FtB_Context ctx, char *to, const char *from, const int64_t *entries, int64_t count,
                       size_t size, const char *one);

#endif

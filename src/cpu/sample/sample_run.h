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
/* Values of the key for the rows' entries, those of row r from weight[offset[r]] on; 1 where there is none.
 */
GrB_Info ftb_sample_weights(const ftb_sample_product *s, double *weight, const int64_t *offset);
/* Of all columns, the squares of such values summed, each with those before it. (sample/layer_run.c) */
GrB_Info ftb_sample_norms(const ftb_sample_product *all, double *sums);
/* Weighted, where there are tables, and uniform of what is there. *bad: some row has no table, and nothing
 * was picked. (sample/draw_run.c) */
GrB_Info ftb_sample_by_draws(const ftb_sample_product *product, bool *bad);
/* Rows get room for `most` picks (< 0: for all entries) before anybody knows whether so many can be; and move
 * together where some have less, with `scale` where it is there. */
void ftb_sample_room(const ftb_sample_product *s, int64_t most);
void ftb_sample_close(const ftb_sample_product *s, const int64_t *counts);

/* The column of picked entry `at`. */
static inline void ftb_sample_put_column(const ftb_sample_product *s, int64_t at)
{
    if (s->p->wide)
        ((int64_t *)s->columns)[at] = ((const int64_t *)s->p->colidx)[s->entries[at]];
    else
        ((int32_t *)s->columns)[at] = ((const int32_t *)s->p->colidx)[s->entries[at]];
}
static inline int64_t ftb_sample_row(const ftb_sample_product *s, int64_t r)
{
    return s->rows ? s->rows[r] : r;
}
static inline int64_t ftb_sample_degree(const ftb_sample_product *s, int64_t r)
{
    const int64_t i = ftb_sample_row(s, r);
    return s->p->rowptr[i + 1] - s->p->rowptr[i];
}
static inline uint64_t ftb_sample_stream(const ftb_sample_product *s, int64_t r)
{
    return s->streams ? s->streams[s->trees[r]] : s->stream;
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
    double *scale;    /* of each entry, 1 of one that is added; NULL: there is none */
} ftb_self_rows;
/* Adds what is not there. (sample_self.c) */
GrB_Info ftb_sample_self(ftb_self_rows *rows);
/* Where order[t] is a number of an entry: becomes that entry, and *scale, ftb_new()ed, what that number's is.
 * (sample_self.c) */
GrB_Info ftb_sample_reorder(FtB_Context ctx, int64_t *order, const int64_t *entries, double **scale,
                            int64_t count);
/* Copies `width` values, times the entry's scale, to FP32 or FP64; of 1 where from is NULL, or the entry -1.
 * (sample_self.c) */
typedef struct ftb_scaled_values {
    FtB_Context ctx;
    void *to;
    FtB_Type to_type, type;
    const void *from;
    int64_t width, count;
    const int64_t *entries;
    const double *scale;
} ftb_scaled_values;
void ftb_sample_scaled(const ftb_scaled_values *v);
/* Copies values of `size` bytes: to[t] = from[entries[t]], `one` where that is -1. (sample_self.c) */
void ftb_sample_values(FtB_Context ctx, char *to, const char *from, const int64_t *entries, int64_t count,
                       size_t size, const char *one);

#endif

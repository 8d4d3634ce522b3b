/* Selectors that look at all rows of a hop together: by the columns that these have entries in. */
#ifndef FTB_ROWS_COLUMNS_H
#define FTB_ROWS_COLUMNS_H

#include "cpu/sample/sample_run.h"

/* Rows that are picked of together: all of a product's, or those of one of its trees, with its draws. */
typedef struct ftb_together {
    const ftb_sample_product *s;
    const int64_t *row; /* numbers of the product's rows; NULL: all of them */
    int64_t count;
    uint64_t seed, stream;
    const double *weight; /* LADIES: of all entries of all rows, those of row r from offset[r] on */
    const int64_t *offset;
    int64_t *counts; /* out: of each of the product's rows, its picks */
    int64_t work;    /* out: rows and entries that were looked at */
} ftb_together;

static inline int64_t ftb_together_row(const ftb_together *g, int64_t t) { return g->row ? g->row[t] : t; }

/* The columns of such rows' entries that are there, each once, ascending; rows are numbered as the group has
 * them, entries row by row. */
typedef struct ftb_rows_columns {
    int64_t nentries, ncolumns;
    int64_t *offset;  /* count + 1: each row's entries */
    int32_t *row;     /* of each entry */
    int32_t *place;   /* in its row */
    int32_t *number;  /* of each entry: which column is its own */
    int64_t *column;  /* of each number */
    int64_t *begin;   /* ncolumns + 1: each column's entries among those below */
    uint64_t *sorted; /* by column, then by number */
    int bits;         /* an entry's number is so many bits of a word there */
    void *memory[2];
} ftb_rows_columns;

/* FTB_LIMIT where there are 2^31 entries, or more of them and columns than 64 bits tell apart. */
GrB_Info ftb_columns_of_rows(ftb_rows_columns *c, const ftb_together *g);
void ftb_columns_delete(ftb_rows_columns *c);

static inline int64_t ftb_columns_entry(const ftb_rows_columns *c, int64_t at)
{
    return (int64_t)(c->sorted[at] & ((UINT64_C(1) << c->bits) - 1));
}

/* LABOR with iterations of importance; LADIES and FastGCN: the picks of such rows, in the room that these
 * have, from where the row begins on. */
GrB_Info ftb_sample_labor(ftb_together *g);
GrB_Info ftb_sample_layer(ftb_together *g);
/* All rows', tree by tree. (sample/together_run.c) */
GrB_Info ftb_sample_together(const ftb_sample_product *s);

#endif

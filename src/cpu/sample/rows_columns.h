/* Selectors that look at all rows of a hop together: by the columns that these have entries in. */
#ifndef FTB_ROWS_COLUMNS_H
#define FTB_ROWS_COLUMNS_H

#include "cpu/sample/sample_run.h"

/* The columns of some rows' entries, each once, ascending; entries are numbered row by row. */
typedef struct ftb_rows_columns {
    int64_t nentries, ncolumns;
    int64_t *offset;  /* nrows + 1: each row's entries */
    int32_t *row;     /* of each entry */
    int32_t *number;  /* of each entry: which column is its own */
    int64_t *column;  /* of each number */
    int64_t *begin;   /* ncolumns + 1: each column's entries among those below */
    uint64_t *sorted; /* by column, then by number */
    int bits;         /* an entry's number is so many bits of a word there */
    void *memory[2];
} ftb_rows_columns;

/* FTB_LIMIT where there are 2^31 entries, or more of them and columns than 64 bits tell apart. */
GrB_Info ftb_columns_of_rows(ftb_rows_columns *c, const ftb_sample_product *s);
void ftb_columns_delete(ftb_rows_columns *c);

static inline int64_t ftb_columns_entry(const ftb_rows_columns *c, int64_t at)
{
    return (int64_t)(c->sorted[at] & ((UINT64_C(1) << c->bits) - 1));
}

/* LABOR with iterations of importance; LADIES and FastGCN. Rows have room for all that they may get. */
GrB_Info ftb_sample_labor(const ftb_sample_product *s);
GrB_Info ftb_sample_layer(const ftb_sample_product *s);

#endif

/* Matrices of far more rows than entries.
 *
 * Such a pattern *lists* its rows: beside a sorted list of those that have entries there is an ordinary
 * pattern of them alone, `listed`, over the same columns, and kernels see only the latter. Row pointers of
 * all rows are a derived form, which is made when somebody asks for it and memory allows: ftb_arg_matrix
 * does, so that an operation that knows nothing of lists sees an ordinary pattern. One that does takes its
 * matrices by ftb_arg_matrix_listed, works on ftb_pattern_rows, and what it makes of numbered rows becomes a
 * pattern of all rows by ftb_matrix_whole, as ftb_matrix_become and ftb_write do for it. */
#ifndef FTB_HYPERSPARSE_H
#define FTB_HYPERSPARSE_H

#include "core/core.h"

#define FTB_LISTED_SHARE 16 /* rows for each entry: from here on they are listed */
/* Rows, below which pointers are not worth a list: they take 32 KB. Tests lower it to -1: all are listed. */
#define FTB_LISTED_ROWS 4096
extern int64_t ftb_listed_rows;

/* Whether a pattern of so many rows and entries lists its rows. */
static inline bool ftb_listed_fits(int64_t nrows, int64_t nvals)
{
    return ftb_listed_rows < 0 ? nrows > 0 : nrows >= ftb_listed_rows && nvals < nrows / FTB_LISTED_SHARE;
}

/* The rows that are held, as an ordinary pattern: p itself, or those that it lists. */
static inline ftb_pattern *ftb_pattern_rows(ftb_pattern *p) { return p->listed ? p->listed : p; }
/* The number of row r, in the matrix, of a pattern that may be one of listed rows; how many there are. */
static inline int64_t ftb_row_number(const ftb_pattern *p, int64_t r)
{
    return p->numbers ? p->numbers[r] : r;
}
/* The row of entry e. */
static inline int64_t ftb_row_of_entry(ftb_pattern *p, int64_t e)
{
    const ftb_pattern *held = ftb_pattern_rows(p);
    int64_t r = 0;
    while (held->rowptr[r + 1] <= e)
        r++;
    return ftb_row_number(held, r);
}
static inline int64_t ftb_rows_in_all(const ftb_pattern *p) { return p->numbers ? p->all_rows : p->nrows; }

/* The numbers of I, each once, ascending, and where each of I is among them. */
GrB_Info ftb_rows_list(ftb_buffer **numbers, int64_t **ranks, FtB_Context ctx, const int64_t *I,
                       int64_t count);
/* Says that the rows of p are numbers[0], numbers[1], ... of all_rows: ascending; adopted, also on failure.
 * NULL, for which p is released, where numbers is NULL; p may be NULL. */
ftb_pattern *ftb_pattern_number(ftb_pattern *p, int64_t all_rows, ftb_buffer *numbers);
/* The same rows as those of `like`, which may have no numbers. */
ftb_pattern *ftb_pattern_number_as(ftb_pattern *p, const ftb_pattern *like);
/* The pattern of all rows, of one of numbered rows, which is adopted, also on failure: listed without those
 * that are empty, or ordinary where there are too many entries. NULL on failure, and of NULL. */
ftb_pattern *ftb_pattern_whole(ftb_pattern *numbered);
/* Makes the row pointers of all rows, if they are not there. `name` begins the message. */
GrB_Info ftb_pattern_all_rows(ftb_pattern *p, const char *name);
/* Of a pattern of listed rows the same with the columns that have entries alone, which are numbered, too: the
 * entries are the same. Borrowed, made on first use. */
GrB_Info ftb_pattern_both(ftb_pattern *listed, ftb_pattern **both);
/* The transpose, which may list its rows. */
GrB_Info ftb_pattern_transpose_listed(ftb_pattern *p, ftb_pattern **transpose, const int64_t **from);
/* A pattern of tuples in any order, kept in their order where they are at one place; perm: nvals, where each
 * of them went, or NULL. All are in range. (build.c) */
GrB_Info ftb_pattern_build(ftb_pattern **p, FtB_Context ctx, int64_t nrows, int64_t ncols, int64_t nvals,
                           const int64_t *I, const int64_t *J, int64_t *perm);

/* As ftb_matrix_transpose; T may list its rows. */
GrB_Info ftb_matrix_transpose_listed(FtB_Matrix *T, FtB_Matrix A);
/* A's held rows as a matrix, which shares all with A. */
GrB_Info ftb_matrix_rows(FtB_Matrix *R, FtB_Matrix A);
/* A's rows of those numbers alone, which ascend, as a matrix of numbered rows. */
GrB_Info ftb_matrix_at_rows(FtB_Matrix *R, FtB_Matrix A, ftb_buffer *numbers, int64_t count);
/* Two matrices or three (M may be NULL), all of which list their rows, over the rows that any of them has. */
GrB_Info ftb_matrix_align(FtB_Matrix aligned[3], FtB_Matrix A, FtB_Matrix B, FtB_Matrix M);
/* A becomes a matrix of all rows, if its are numbered. */
GrB_Info ftb_matrix_whole(FtB_Matrix A);

#endif

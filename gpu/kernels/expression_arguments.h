/* What the host and kernels around an expression (expression.cuh) agree on. Read by C and NVRTC. */
#ifndef FTB_EXPRESSION_ARGUMENTS_H
#define FTB_EXPRESSION_ARGUMENTS_H

#include "gpu/kernels/spmm_direct.h" /* pieces of rows, and those that were cut */

/* Which kernels a source has: expression_rows; expression_entries; expression_reduce, and with it _join. */
#define FTB_EXPRESSION_ROWS 0
#define FTB_EXPRESSION_ENTRIES 1
#define FTB_EXPRESSION_REDUCE 2
#define FTB_EXPRESSION_JOIN 3

enum { FTB_EXPRESSION_FEEDS = 24, FTB_EXPRESSION_BLOCK = 128 };

typedef struct ftb_expression_arguments {
    /* Feed n of those that the program reads: row r at data + r * ld values; or a number for all. */
    const void *data[FTB_EXPRESSION_FEEDS];
    long long ld[FTB_EXPRESSION_FEEDS];
    unsigned long long number[FTB_EXPRESSION_FEEDS]; /* bits of its compute type */
    long long nrows, ncols;                          /* of the result; entries: rows of the pattern */
    long long nvals, npieces;
    const long long *rowptr;
    const int *colidx;
    const long long *from; /* where entries are, of feeds that are in another order */
    const ftb_spmm_piece *pieces;
    const ftb_spmm_cut *cuts;
    long long ncuts;
    void *out, *partial; /* partial: slot s at partial + s * ncols */
    long long *won;      /* reduce: the entries that won, row i at won + i * ldwon; NULL: not wanted */
    long long *partial_won;
    long long ldwon;
    long long ldo;
    int add;
    int skips; /* rows: those without entries are not computed */
} ftb_expression_arguments;

#endif

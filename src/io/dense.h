/* Readers of dense values. */
#ifndef FTB_DENSE_H
#define FTB_DENSE_H

#include "io/input.h"

/* What a reader makes of a file. */
typedef struct ftb_dense {
    FtB_Context ctx;
    FtB_Type type; /* of the values */
    int64_t nrows, ncols;
    bool by_column; /* columns one after another, instead of rows */
    void *data;     /* nrows x ncols, ftb_new()ed */
} ftb_dense;

/* options->found is there. */
GrB_Info ftb_read_mtx_array(ftb_dense *d, ftb_input *in, const FtB_Block_read_options *options);
GrB_Info ftb_read_table(ftb_dense *d, ftb_input *in, const FtB_Block_read_options *options);

/* ---- lines of numbers (numbers.c) */

typedef struct ftb_numbers {
    ftb_text text;
    FtB_Type type;  /* of the values, as they are stored */
    int64_t ncols;  /* numbers in a line */
    char delimiter; /* ' ': runs of blanks and tabs */
    bool finite;    /* NaN and infinities are refused */
    bool comments;  /* lines that begin with % are passed over */
    int64_t limit;  /* lines of numbers; more are refused; -1: any number */
    int64_t nrows, room;
    void *data;     /* nrows x ncols, ftb_new()ed */
    char **cut;     /* per piece: where it begins */
    int64_t *start; /* rows before it, in the round */
    ftb_complaint *wrong;
} ftb_numbers;
/* Reads all lines from `rest` on, in the batch [first, end) and those that follow. */
GrB_Info ftb_numbers_read(ftb_numbers *n, char *first, char *rest, char *end);
/* Frees all but the data, which it hands over where `data` is not NULL. */
void ftb_numbers_stop(ftb_numbers *n, void **data);

#endif

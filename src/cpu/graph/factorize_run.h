/* Factors of ratings, on the host: working copies, and rounds. */
#ifndef FTB_FACTORIZE_RUN_H
#define FTB_FACTORIZE_RUN_H

#include "cpu/block/write_run.h"
#include "cpu/kernels/factorize_kernels.h"

/* Ratings by row: less their offset, of the factors' type. */
typedef struct ftb_rated {
    ftb_pattern *p; /* borrowed */
    void *value;
} ftb_rated;

/* Ratings by block: slices of rows times slices of columns, of about as many ratings each. Blocks that share
 * neither rows nor columns may be worked on at once, and `slices` such sets cover all. */
typedef struct ftb_rating_blocks {
    int64_t slices;
    int64_t *first; /* slices x slices + 1: a block's first visit; blocks of a row slice side by side */
    int32_t *row, *column;
    int64_t *start;
    void *value;
} ftb_rating_blocks;

typedef struct ftb_factorize {
    FtB_Context ctx;
    FtB_Type type; /* FP32 or FP64 */
    int64_t nrows, ncols, nfactors, pitch;
    void *U, *V;              /* pitch apart */
    void *nextU, *nextV;      /* of GRADIENT */
    ftb_rated rows, columns;  /* columns: the transpose; none of SGD */
    uint32_t *column_counts;  /* ratings */
    ftb_rating_blocks blocks; /* of SGD */
    double rate, lambda;
    bool once;
} ftb_factorize;

/* Working factors, of zeros. Begins as zeros, but for what its caller knows; ftb_factorize_delete after it,
 * also where it fails. */
GrB_Info ftb_factorize_new(ftb_factorize *w);
/* Room for those after a step. */
GrB_Info ftb_factorize_new_next(ftb_factorize *w);
void ftb_factorize_delete(ftb_factorize *w);
/* Working factors of a block, and back. */
void ftb_factorize_take(const ftb_factorize *w, void *to, FtB_Block X);
void ftb_factorize_give(const ftb_factorize *w, FtB_Block X, const void *from);
/* Draws the first guess of U and V, whose products are about what ratings are, and not all alike. */
void ftb_factorize_draw(const ftb_factorize *w, uint64_t seed);
/* Counts ratings by column; rows and columns without any become 0. */
GrB_Info ftb_factorize_clear_empty(ftb_factorize *w);
/* Values of R, whose pattern the result borrows; `name` of R is for messages of one that is not finite. */
GrB_Info ftb_rated_new(ftb_rated *r, const ftb_factorize *w, FtB_Matrix R, double offset, const char *name);
/* The same by column: w->columns of w->rows. */
GrB_Info ftb_rated_turn(ftb_factorize *w);
/* The sum of squared errors. */
GrB_Info ftb_factorize_error_run(double *sum, const ftb_factorize *w, const ftb_rated *r);
bool ftb_factorize_finite(const ftb_factorize *w);

/* What w->rows has, by block. (factorize_blocks.c) */
GrB_Info ftb_rating_blocks_new(ftb_factorize *w);
void ftb_rating_blocks_delete(ftb_rating_blocks *b);

/* A round each. FTB_CANCELLED, GrB_NO_VALUE. (factorize_rounds.c) */
GrB_Info ftb_factorize_descend_run(const ftb_factorize *w, int64_t round);
GrB_Info ftb_factorize_solve_run(const ftb_factorize *w);
GrB_Info ftb_factorize_gradient_run(ftb_factorize *w);

#endif

/* Blocks in plain sight: random ones, with gaps between rows that nobody may touch, and the write rule. */
#ifndef TESTS_REF_BLOCK_H
#define TESTS_REF_BLOCK_H

#include "oracle/ref_dense.h"
#include "support/rng.h"

typedef struct ref_block {
    FtB_Type type;
    int64_t nrows, ncols;
    ref_number *values;
} ref_block;

ref_block *ref_block_new(FtB_Type type, int64_t nrows, int64_t ncols);
ref_block *ref_block_read(FtB_Block X);
void ref_block_free(ref_block *R);
static inline ref_number *ref_block_at(const ref_block *R, int64_t i, int64_t f)
{
    return &R->values[i * R->ncols + f];
}

/* A block of small values; often a column view of a wider one. */
FtB_Block ref_block_random(rng *r, FtB_Type type, int64_t nrows, int64_t ncols);
/* The bytes of the memory that X is a view of, malloc()ed, to be handed to ref_block_check. */
void *ref_block_snapshot(FtB_Block X);
/* X holds R's values, cast to X's dtype (reals within tolerance * max(1, |value|)), and the memory around X
 * is as in `before` (or NULL: not looked at). Frees both. */
void ref_block_check(FtB_Block X, ref_block *R, void *before, double tolerance, const char *what);

/* C<M> = accum(C, T). present: of each row of T; NULL: all are. M may be NULL, accum too. */
ref_block *ref_block_write(const ref_block *C, const ref_block *M, const ref_flags *flags, double fill,
                           const ref_op *accum, const ref_block *T, const bool *present);

/* A descriptor that says what flags say, with a fill value. */
FtB_Descriptor ref_block_descriptor(const ref_flags *flags, double fill);
/* 0, 1, a few, or enough for several pieces and threads. */
int64_t ref_block_dimension(rng *r);

#endif

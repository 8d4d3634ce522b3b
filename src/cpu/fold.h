/* Segments of entries reduced by a monoid, whatever their dtype: what reductions of matrices and blocks
 * share. */
#ifndef FTB_FOLD_H
#define FTB_FOLD_H

#include "cpu/kernels/reduce_rows.h"
#include "verbs/reduce_product.h"

typedef struct ftb_fold {
    FtB_Context ctx;
    ftb_monoid monoid;
    FtB_Type from;   /* the entries' dtype; 0: they have no values, and are 1 */
    FtB_Type domain; /* entries are cast to it first: a GrB_Monoid's type, or their own */
    FtB_Type type;   /* in which the monoid works */
    FtB_Type result; /* what the reduction gives */
    int64_t width;   /* values of an entry */
    bool in_place;   /* no cast before or after */
    int64_t room;    /* entries, and rows, that are cast together */
    int threads;
    char *scratch; /* per thread: two arrays of entries, one of results, one of row pointers */
    size_t bytes;  /* per thread */
} ftb_fold;

/* Of entries of `width` values, for the product's monoid and types. */
GrB_Info ftb_fold_begin(ftb_fold *f, const ftb_reduce_product *product, int64_t width, int threads);
void ftb_fold_end(ftb_fold *f);
/* out: of f->result, packed; rows without entries hold nothing of meaning. s->x: of f->from. */
void ftb_fold_rows(const ftb_fold *f, int thread, const ftb_segments *s, void *out);
/* out = `count` results, packed, reduced in this order; of none: the identity. */
void ftb_fold_partial(const ftb_fold *f, const void *partial, int64_t count, void *out);

#endif

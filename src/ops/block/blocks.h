/* What operations on feature blocks share. */
#ifndef FTB_BLOCKS_H
#define FTB_BLOCKS_H

#include "expr/message.h"
#include "ops/ops.h"
#include "verbs/copy_product.h"

/* C<M> = accum(C, T), the write rule on blocks: M admits rows (NULL: all; flags as for matrices). T: C->nrows
 * rows of C->ncols values of `type`, ld apart; it may be C's own memory if there is neither M nor accum and
 * types agree. present: row pointers; a row i with present[i] == present[i + 1] is absent from T (with accum
 * it keeps C, else it gets flags->fill); NULL: none is. Rows that M does not admit keep C, or get the fill
 * value under replace. (block_write.c) */
GrB_Info ftb_block_write(FtB_Block C, FtB_Block M, const ftb_flags *flags, FtB_Op accum, void *T,
                         FtB_Type type, int64_t ld, const int64_t *present);
/* What ftb_block_write would refuse, for results of nrows x ncols of `type`: call it before computing. */
GrB_Info ftb_block_write_check(FtB_Block C, FtB_Block M, const ftb_flags *flags, FtB_Op accum, int64_t nrows,
                               int64_t ncols, FtB_Type type);
/* The rows that M admits, ascending, ftb_new()ed; *count: how many. M NULL: *rows NULL and count all. */
GrB_Info ftb_block_rows(int64_t **rows, int64_t *count, FtB_Block M, const ftb_flags *flags, int64_t nrows);
/* y = x, or with p->add y + x, by the verb `copy`, wherever they are: all of y's rows, of FP32 or FP64 both;
 * x NULL: p->value. Of *p, ldx, value and add are the caller's, and so is y's version on the host (watch.h).
 * (block_write.c) */
GrB_Info ftb_block_put(ftb_copy_product *p, FtB_Block y, FtB_Block x);
/* *Y: as many rows of `like`'s type, of 0s, of the context of the call that they are for. */
GrB_Info ftb_block_like(FtB_Block *Y, FtB_Context ctx, FtB_Block like, int64_t count, int64_t ncols);
/* *Y: X's rows of those numbers, new, packed; X is asked for on the host, as `name`. */
GrB_Info ftb_block_pick(FtB_Block *Y, FtB_Context ctx, FtB_Block X, const int64_t *numbers, int64_t count,
                        const char *name);
/* The reverse: Y's rows of those numbers become X's, of the same type, and with `fill` all others that. Fails
 * only where Y cannot be brought to the host. */
GrB_Info ftb_block_put_back(FtB_Block Y, FtB_Block X, const int64_t *numbers, const double *fill,
                            const char *name);
/* Whether an output's memory and an input's share bytes. */
bool ftb_block_overlaps(FtB_Block output, const void *data, size_t bytes);
/* X's values as `type` (a compute type), nrows x ncols, packed (ld = ncols): *copy is ftb_new()ed, or NULL
 * where X itself will do (*data, *ld then are X's). */
GrB_Info ftb_block_as(const void **data, int64_t *ld, void **copy, FtB_Block X, FtB_Type type);

/* Sparse x block (spmm.c) and block x block' under a mask (sddmm.c): FtB_mxm and, with E, FtB_mxm_arg hand
 * over. */
GrB_Info ftb_spmm(FtB_Arg C, FtB_Arg E, FtB_Arg M, FtB_Arg accum, FtB_Arg semiring, FtB_Arg A, FtB_Arg B,
                  FtB_Arg desc);
GrB_Info ftb_sddmm(FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg semiring, FtB_Arg A, FtB_Arg B, FtB_Arg desc);

#endif

/* What operations on sparse vectors share. */
#ifndef FTB_OPS_VECTORS_H
#define FTB_OPS_VECTORS_H

#include "core/vector/vector_forms.h"
#include "ops/call.h"

/* C<M> = accum(C, T), the write rule (ops/write.c) of vectors. M and accum may be NULL; M may be C. T has C's
 * size and any dtype; it is emptied. C is unchanged on failure. (vector_write.c) */
GrB_Info ftb_vector_write(FtB_Vector C, FtB_Vector M, const ftb_flags *flags, FtB_Op accum, ftb_vector *T);
/* What that would refuse, for a T of this dtype: call it before computing T. */
GrB_Info ftb_vector_write_check(FtB_Vector C, FtB_Vector M, FtB_Op accum, FtB_Type type);
/* A mask and a descriptor as a merge has them. */
struct ftb_vector_merge;
void ftb_vector_masked(struct ftb_vector_merge *job, const ftb_vector *M, const ftb_flags *flags);
/* The inputs of a vector's entries. */
ftb_map_input ftb_vector_entries(const ftb_vector *v);
/* C becomes left and right merged as job says, left being C's content; in place where little changes. */
GrB_Info ftb_vector_change(FtB_Vector C, struct ftb_vector_merge *job, FtB_Op op);
/* *T: left and right merged as job says, by op where both have an entry. */
GrB_Info ftb_vector_merged(ftb_vector *T, struct ftb_vector_merge *job, FtB_Op op);

/* The arguments of C<M> = accum(C, ...), unwrapped and checked; ftb_vector_end must follow, on failure, too.
 */
typedef struct ftb_vector_call {
    FtB_Context ctx; /* C's */
    FtB_Vector C, M;
    ftb_flags flags;
    FtB_Op accum;
} ftb_vector_call;
GrB_Info ftb_vector_begin(ftb_vector_call *call, FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg desc);
GrB_Info ftb_vector_end(ftb_vector_call *call, GrB_Info info);
/* Refuses, naming the argument, another size. */
GrB_Info ftb_vector_check_size(FtB_Vector v, const char *name, int64_t size, const char *expected);

#endif

/* The arguments of an operation C<M> = accum(C, f(A[, B])) on sparse matrices, unwrapped and checked. */
#ifndef FTB_CALL_H
#define FTB_CALL_H

#include "ops/merge.h"

typedef struct ftb_call {
    FtB_Context ctx; /* C's */
    FtB_Matrix C, M;
    FtB_Matrix A, B; /* after transposes; A without B over the rows that are held (core/hypersparse.h) */
    ftb_flags flags;
    FtB_Op accum, op;
    FtB_Matrix transposed[2], held; /* ours */
} ftb_call;

/* Slots of one call; an operation without op or B says so in `has`. anywhere: values are not asked for on the
 * host; ftb_call_ask does. */
typedef struct ftb_slots {
    FtB_Arg C, M, accum, op, A, B, desc;
    bool has_op, has_B, anywhere;
} ftb_slots;

/* Unwraps and checks, then transposes. On failure too, ftb_call_end must follow. */
GrB_Info ftb_call_begin(ftb_call *call, const ftb_slots *slots);
/* Asks for all that was unwrapped on the host, for reading. */
GrB_Info ftb_call_ask(const ftb_call *call);
/* Releases; `info` is what the call returns, FTB_CANCELLED clears the flag. */
GrB_Info ftb_call_end(ftb_call *call, GrB_Info info);

/* *T: the entries of A, whose rows may be listed or numbered, whose byte in keep[] is not 0. (select.c) */
GrB_Info ftb_keep(FtB_Matrix *T, FtB_Context ctx, FtB_Matrix A, const uint8_t *keep);

#endif

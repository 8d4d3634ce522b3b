/* What assignments to matrices and to vectors share. */
#ifndef FTB_OPS_ASSIGN_H
#define FTB_OPS_ASSIGN_H

#include "ops/parts/lines.h"

/* A number that is assigned to every place. */
typedef struct ftb_assigned {
    FtB_Type type; /* FP64 or INT64 */
    double real;
    int64_t integer;
} ftb_assigned;
bool ftb_is_number(ftb_assigned *x, FtB_Arg arg);

/* C(I)<M> = accum(C(I), u), or of a number; the list has no place twice. *u is emptied. (assign_vector.c) */
GrB_Info ftb_assign_vector(ftb_vector_call *call, const ftb_vector *u, const ftb_assigned *x,
                           const ftb_index_list *places);
GrB_Info ftb_assign_to_vector(FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg A, FtB_Arg I, FtB_Arg J,
                              FtB_Arg desc);

#endif

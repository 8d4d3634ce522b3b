/* Operations entry by entry whose C is a vector: FtB_apply and its like hand over. */
#ifndef FTB_VECTOR_ELEMENTWISE_H
#define FTB_VECTOR_ELEMENTWISE_H

#include "ops/call.h"

GrB_Info ftb_vector_apply(const ftb_slots *slots);
GrB_Info ftb_vector_select(const ftb_slots *slots);
GrB_Info ftb_vector_ewise(const ftb_slots *slots, bool lone); /* union, or intersection */
GrB_Info ftb_vector_reduce(FtB_Arg y, FtB_Arg M, FtB_Arg accum, FtB_Arg monoid, FtB_Arg A, FtB_Arg desc);
/* The values of a vector side by side: its own, or *own, to be ftb_delete()d. */
GrB_Info ftb_vector_packed(const void **values, void **own, FtB_Vector v);

#endif

/* Operands of sparse x block as its kernels take them. */
#ifndef FTB_SPMM_OPERANDS_H
#define FTB_SPMM_OPERANDS_H

#include "plan/spmm_plan.h"
#include "verbs/spmm_product.h"

/* `product`, with copies where its operands are of another type than the kernel's, or lie in another order.
 */
typedef struct ftb_spmm_operands {
    ftb_spmm_product product;
    void *edges, *block; /* copies; NULL: none was needed */
} ftb_spmm_operands;

/* On failure, too, ftb_spmm_operands_clear() is wanted. (spmm_operands.c) */
GrB_Info ftb_spmm_operands_take(ftb_spmm_operands *o, const ftb_spmm_product *product,
                                const ftb_spmm_plan *plan);
void ftb_spmm_operands_clear(ftb_spmm_operands *o);

#endif

/* Values for the entries of a pattern from rows of two blocks, on the host, as a plan says. */
#ifndef FTB_SDDMM_RUN_H
#define FTB_SDDMM_RUN_H

#include "verbs/sddmm_product.h"

/* What the planner wants to know of dot products, for at most so many threads. */
ftb_sddmm_facts ftb_sddmm_facts_of(const ftb_sddmm_product *product, int threads);
/* Allocates all that it needs before anything is written. plan: of DOT alone. */
GrB_Info ftb_sddmm_run(const ftb_sddmm_product *product, const ftb_sddmm_plan *plan);
/* The same of the gradients of sums. (sddmm_grad_run.c) */
GrB_Info ftb_sddmm_grad_run(const ftb_sddmm_grad_product *product);

#endif

/* Attention and its gradient on the host: state of rows and walks over the entries, as a plan says. */
#ifndef FTB_ATTENTION_RUN_H
#define FTB_ATTENTION_RUN_H

#include "cpu/kernels/attention_kernels.h"
#include "verbs/attention_product.h"

/* Fused: nothing is stored per entry. Allocates all that it needs before out is written, but for scratch.
 * (attention_run.c) */
GrB_Info ftb_attention_run(const ftb_attention_product *product, const ftb_sddmm_plan *plan);
/* (attention_grad_run.c) */
GrB_Info ftb_attention_grad_run(const ftb_attention_grad_product *product,
                                const ftb_attention_grad_plan *plan);

/* What the planner wants to know of a walk over product->p. (attention_run.c) */
ftb_sddmm_facts ftb_attention_facts(const ftb_attention_product *product, bool backward, int threads);
/* Widths, score and dropout, for a kernel. (attention_run.c) */
ftb_attention_job ftb_attention_describe(const ftb_attention_product *product);
/* heads of `width` values that are `padded` values wide in rows of `from`, lie together in those of `to`,
 * which may be `from`. (attention_run.c) */
void ftb_attention_compact(void *to, int64_t ldto, const void *from, int64_t ldfrom, FtB_Type type,
                           int64_t rows, int64_t heads, int64_t padded, int64_t width, int threads);

#endif

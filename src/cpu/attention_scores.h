/* Scores of any text, made by the interpreter for the entries of a kernel's step. */
#ifndef FTB_ATTENTION_SCORES_H
#define FTB_ATTENTION_SCORES_H

#include "verbs/attention_product.h"

/* What ftb_attention_scores_run takes as its argument: one per thread. On failure what was made is to be
 * deleted, too. (attention_scores.c) */
GrB_Info ftb_attention_scores_new(void ***args, const ftb_attention_product *product, int count);
void ftb_attention_scores_delete(void **args, int count);
/* An ftb_attention_scores (cpu/kernels/attention_kernels.h). */
void ftb_attention_scores_run(void *arg, int64_t row, int64_t entry, int64_t count, void *out);

#endif

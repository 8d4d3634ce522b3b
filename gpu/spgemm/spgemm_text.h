/* Texts of a sparse x sparse product, as a source of kernels (kernels/spgemm_text.cuh): its message where no
 * kernel knows that, its epilogue and its filter. */
#ifndef FTB_GPU_SPGEMM_TEXT_H
#define FTB_GPU_SPGEMM_TEXT_H

#include "gpu/kernels/spgemm_rows.h"
#include "gpu/texts/text_source.h"
#include "verbs/spgemm_product.h"

/* Which kernels texts give: FTB_SPGEMM_TEXT_ROWS, _FINISH; 0: there are none. */
int ftb_gpu_spgemm_texts(const ftb_spgemm_product *product);
/* Whether a source can be made of them. */
bool ftb_gpu_spgemm_text_fits(const ftb_spgemm_product *product);
GrB_Info ftb_gpu_spgemm_text_new(ftb_gpu_text *text, const ftb_spgemm_product *product);
/* Bytes of a cell's mark. */
int64_t ftb_gpu_spgemm_mark(const ftb_spgemm_product *product);
/* What is bound to the message, by its bits. */
void ftb_gpu_spgemm_numbers(ftb_spgemm_figures *figures, const ftb_spgemm_product *product);

#endif

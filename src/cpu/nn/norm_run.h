/* Normalisation on the host. */
#ifndef FTB_NORM_RUN_H
#define FTB_NORM_RUN_H

#include "cpu/kernels/norm_kernels.h"
#include "verbs/norm_product.h"

GrB_Info ftb_layer_norm_run(const ftb_norm_product *p);
GrB_Info ftb_layer_norm_grad_run(const ftb_norm_product *p);
GrB_Info ftb_batch_norm_run(const ftb_norm_product *p);
GrB_Info ftb_batch_norm_grad_run(const ftb_norm_product *p);

/* ---- what these are made of: passes over the rows by kernels (norm_run.c) */

typedef void (*ftb_norm_rows)(const ftb_norm *c, int64_t first, int64_t last);
typedef void (*ftb_norm_parts)(const ftb_norm *c, int64_t first, int64_t last, double *sums, void *scratch);

void ftb_norm_each(ftb_norm_rows kernel, const ftb_norm *c, const ftb_norm_product *p);
/* kernel(part), of the rows in parts (parts.h), into sums + 2 ncols part. */
GrB_Info ftb_norm_by_part(double **sums, ftb_norm_parts kernel, const ftb_norm *c, const ftb_norm_product *p);
/* The same, and the sum over the parts, in the first one's place. */
GrB_Info ftb_norm_total(double **sums, ftb_norm_parts kernel, const ftb_norm *c, const ftb_norm_product *p);
/* Sums to where the product wants them: along the normalised rows dgain, plain ones, ncols behind, dshift. */
void ftb_norm_give(const ftb_norm_product *p, const double *sums);

#endif

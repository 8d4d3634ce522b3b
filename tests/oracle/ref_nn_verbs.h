/* Verbs of networks (ref_device.h). */
#ifndef TESTS_ORACLE_REF_NN_VERBS_H
#define TESTS_ORACLE_REF_NN_VERBS_H

#include "verbs/verbs.h"

GrB_Info ref_copy(const ftb_copy_product *p);
GrB_Info ref_dropout(const ftb_dropout_product *p);
GrB_Info ref_head_dots(const ftb_head_dots_product *p);
GrB_Info ref_head_dots_grad(const ftb_head_dots_product *p);
GrB_Info ref_mean_heads(const ftb_mean_heads_product *p);
GrB_Info ref_mean_heads_grad(const ftb_mean_heads_product *p);
GrB_Info ref_layer_norm(const ftb_norm_product *p);
GrB_Info ref_layer_norm_grad(const ftb_norm_product *p);
GrB_Info ref_batch_norm(const ftb_norm_product *p);
GrB_Info ref_batch_norm_grad(const ftb_norm_product *p);
GrB_Info ref_loss(const ftb_loss_product *p);
GrB_Info ref_loss_grad(const ftb_loss_product *p);
GrB_Info ref_update(const ftb_update_product *p);
GrB_Info ref_sum_squares(const ftb_sum_squares_product *p);

static inline double ref_get(const void *x, FtB_Type type, int64_t k) { return ftb_get_real(x, type, k); }
static inline void ref_put(void *x, FtB_Type type, int64_t k, double value)
{
    ftb_cast((char *)x + (size_t)k * FtB_Type_size(type), type, &value, FTB_FP64, 1);
}

#endif

/* The verbs that GPUs have (verbs/verbs.h), and of which products. */
#ifndef FTB_GPU_VERBS_H
#define FTB_GPU_VERBS_H

#include "verbs/verbs.h"

GrB_Info ftb_gpu_spmm(const ftb_spmm_product *product, const ftb_spmm_plan *plan);
bool ftb_gpu_spmm_fits(const ftb_spmm_product *product);
GrB_Info ftb_gpu_spgemm(const ftb_spgemm_product *product, const ftb_spgemm_plan *plan, FtB_Sink sink);
bool ftb_gpu_spgemm_fits(const ftb_spgemm_product *product);
GrB_Info ftb_gpu_spgemm_plan_of(ftb_spgemm_plan *plan, ftb_spgemm_facts *facts,
                                const ftb_spgemm_product *product);
GrB_Info ftb_gpu_spmm_plan_of(ftb_spmm_plan *plan, ftb_spmm_facts *facts, const ftb_spmm_product *product);
GrB_Info ftb_gpu_copy(const ftb_copy_product *product);
GrB_Info ftb_gpu_dropout(const ftb_dropout_product *product);
GrB_Info ftb_gpu_mean_heads(const ftb_mean_heads_product *product);
GrB_Info ftb_gpu_mean_heads_grad(const ftb_mean_heads_product *product);
GrB_Info ftb_gpu_update(const ftb_update_product *product);
GrB_Info ftb_gpu_sum_squares(const ftb_sum_squares_product *product);
GrB_Info ftb_gpu_gather(const ftb_gather_product *product);
GrB_Info ftb_gpu_scatter(const ftb_scatter_product *product);
bool ftb_gpu_scatter_fits(const ftb_scatter_product *product);
GrB_Info ftb_gpu_head_dots(const ftb_head_dots_product *product);
GrB_Info ftb_gpu_head_dots_grad(const ftb_head_dots_product *product);
GrB_Info ftb_gpu_sample(const ftb_sample_product *product);
bool ftb_gpu_sample_fits(const ftb_sample_product *product);
GrB_Info ftb_gpu_relabel(ftb_relabel_product *product);
bool ftb_gpu_relabel_fits(const ftb_relabel_product *product);
GrB_Info ftb_gpu_hops(ftb_hops_product *product);
bool ftb_gpu_hops_fit(const ftb_hops_product *product);

GrB_Info ftb_gpu_vertex_renew(const ftb_vertex_renew_product *product);
bool ftb_gpu_vertex_renew_fits(const ftb_vertex_renew_product *product);
GrB_Info ftb_gpu_vertex_flags(const ftb_vertex_flags_product *product);
GrB_Info ftb_gpu_vertex_sums(const ftb_vertex_sums_product *product);
GrB_Info ftb_gpu_winners(const ftb_winners_product *product);
GrB_Info ftb_gpu_winners_grad(const ftb_winners_product *product);
bool ftb_gpu_winners_fits(const ftb_winners_product *product); /* and its gradient */
GrB_Info ftb_gpu_outer(const ftb_outer_product *product);
bool ftb_gpu_outer_fits(const ftb_outer_product *product);
GrB_Info ftb_gpu_reduce(const ftb_reduce_product *product);
bool ftb_gpu_reduce_fits(const ftb_reduce_product *product);
GrB_Info ftb_gpu_apply(const ftb_apply_product *product);
bool ftb_gpu_apply_fits(const ftb_apply_product *product);
GrB_Info ftb_gpu_dense(const ftb_dense_product *product);
GrB_Info ftb_gpu_loss(const ftb_loss_product *product);
GrB_Info ftb_gpu_loss_grad(const ftb_loss_product *product);
bool ftb_gpu_loss_fits(const ftb_loss_product *product); /* and its gradient */
GrB_Info ftb_gpu_layer_norm(const ftb_norm_product *product);
GrB_Info ftb_gpu_layer_norm_grad(const ftb_norm_product *product);
GrB_Info ftb_gpu_batch_norm(const ftb_norm_product *product);
GrB_Info ftb_gpu_batch_norm_grad(const ftb_norm_product *product);
bool ftb_gpu_batch_norm_fits(const ftb_norm_product *product); /* and its gradient */
GrB_Info ftb_gpu_map_rows(const ftb_map_rows_product *product);
bool ftb_gpu_map_rows_fits(const ftb_map_rows_product *product);
GrB_Info ftb_gpu_messages(const ftb_messages_product *product);
bool ftb_gpu_messages_fits(const ftb_messages_product *product);
GrB_Info ftb_gpu_aggregate(const ftb_aggregate_product *product);
bool ftb_gpu_aggregate_fits(const ftb_aggregate_product *product);
GrB_Info ftb_gpu_softmax(const ftb_softmax_product *product);
bool ftb_gpu_softmax_fits(const ftb_softmax_product *product);
GrB_Info ftb_gpu_sddmm(const ftb_sddmm_product *product, const ftb_sddmm_plan *plan);
bool ftb_gpu_sddmm_fits(const ftb_sddmm_product *product);
GrB_Info ftb_gpu_sddmm_plan_of(ftb_sddmm_plan *plan, ftb_sddmm_facts *facts,
                               const ftb_sddmm_product *product);
GrB_Info ftb_gpu_sddmm_grad(const ftb_sddmm_grad_product *product);
bool ftb_gpu_sddmm_grad_fits(const ftb_sddmm_grad_product *product);
GrB_Info ftb_gpu_attention(const ftb_attention_product *product, const ftb_sddmm_plan *plan);
bool ftb_gpu_attention_fits(const ftb_attention_product *product);
bool ftb_gpu_attention_reads(const ftb_attention_product *product); /* its operands, and its pattern's rows */
GrB_Info ftb_gpu_attention_grad(const ftb_attention_grad_product *product,
                                const ftb_attention_grad_plan *plan);
bool ftb_gpu_attention_grad_fits(const ftb_attention_grad_product *product);

#endif

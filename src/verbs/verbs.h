/* The table of verbs: what a device can do.
 *
 * A verb is a function of a plain product, whose operands' addresses are the device's (its pattern is the
 * host's), and where there is a choice of a plan; nothing is left to ask back. It allocates all that it needs
 * before anything is written, so that one that fails has written nothing. It knows of no rows but those its
 * product names: a part of them is a product whose addresses begin later.
 *
 * The host's function of a verb is ftb_<verb>_run. What is NULL is done by it: docs/design.md, "A device". */
#ifndef FTB_VERBS_H
#define FTB_VERBS_H

#include "plan/spmm_plan.h"
#include "verbs/aggregate_product.h"
#include "verbs/apply_product.h"
#include "verbs/attention_product.h"
#include "verbs/components_product.h"
#include "verbs/copy_product.h"
#include "verbs/dense_product.h"
#include "verbs/dropout_product.h"
#include "verbs/gather_product.h"
#include "verbs/head_dots_product.h"
#include "verbs/hops_product.h"
#include "verbs/kept_rows.h"
#include "verbs/loss_product.h"
#include "verbs/map_rows_product.h"
#include "verbs/mean_heads_product.h"
#include "verbs/messages_product.h"
#include "verbs/norm_product.h"
#include "verbs/outer_product.h"
#include "verbs/paths_product.h"
#include "verbs/reduce_product.h"
#include "verbs/sample_product.h"
#include "verbs/sddmm_product.h"
#include "verbs/softmax_product.h"
#include "verbs/spgemm_product.h"
#include "verbs/spmm_product.h"
#include "verbs/update_product.h"
#include "verbs/vertex_product.h"
#include "verbs/winners_product.h"

/* Of verbs that a device has for some products only: whether it has it for this one, before operands are
 * asked for (FTB_WHO_FITS). NULL: for all. */
typedef struct ftb_verb_limits {
    bool (*spmm)(const ftb_spmm_product *product);
    bool (*spgemm)(const ftb_spgemm_product *product);
    bool (*aggregate)(const ftb_aggregate_product *product);
    bool (*messages)(const ftb_messages_product *product);
    bool (*winners)(const ftb_winners_product *product);
    bool (*winners_grad)(const ftb_winners_product *product);
    bool (*map_rows)(const ftb_map_rows_product *product);
    bool (*outer)(const ftb_outer_product *product);
    bool (*reduce)(const ftb_reduce_product *product);
    bool (*apply)(const ftb_apply_product *product);
    bool (*batch_norm)(const ftb_norm_product *product);
    bool (*batch_norm_grad)(const ftb_norm_product *product);
    bool (*loss)(const ftb_loss_product *product);
    bool (*loss_grad)(const ftb_loss_product *product);
    bool (*scatter)(const ftb_scatter_product *product); /* of those that add: replacing it has for all */
    bool (*softmax)(const ftb_softmax_product *product);
    bool (*sddmm)(const ftb_sddmm_product *product);
    bool (*sddmm_grad)(const ftb_sddmm_grad_product *product);
    bool (*attention)(const ftb_attention_product *product);
    bool (*attention_grad)(const ftb_attention_grad_product *product);
    /* The device's own plan of a product, into plan->gpu, of what was asked for there, and what it is made
     * from, into facts->gpu: for FtB_Plan_explain. NULL: it has none. */
    GrB_Info (*spmm_plan)(ftb_spmm_plan *plan, ftb_spmm_facts *facts, const ftb_spmm_product *product);
    GrB_Info (*sddmm_plan)(ftb_sddmm_plan *plan, ftb_sddmm_facts *facts, const ftb_sddmm_product *product);
    GrB_Info (*spgemm_plan)(ftb_spgemm_plan *plan, ftb_spgemm_facts *facts,
                            const ftb_spgemm_product *product);
    bool (*sample)(const ftb_sample_product *product);
    bool (*relabel)(const ftb_relabel_product *product);
    bool (*vertex_renew)(const ftb_vertex_renew_product *product);
    /* What `sample` and `relabel` give hop by hop, all at once: the same bits. NULL: hop by hop. */
    bool (*hops_fit)(const ftb_hops_product *product);
    GrB_Info (*hops)(ftb_hops_product *product);
    /* Rows that stay on the host, gathered there. NULL: it does not read the host's memory. */
    const ftb_row_keeper *keeper;
} ftb_verb_limits;

typedef struct ftb_verbs {
    GrB_Info (*spmm)(const ftb_spmm_product *product, const ftb_spmm_plan *plan);
    GrB_Info (*spgemm)(const ftb_spgemm_product *product, const ftb_spgemm_plan *plan, FtB_Sink sink);
    GrB_Info (*aggregate)(const ftb_aggregate_product *product);
    GrB_Info (*messages)(const ftb_messages_product *product);
    GrB_Info (*winners)(const ftb_winners_product *product);
    GrB_Info (*winners_grad)(const ftb_winners_product *product);
    GrB_Info (*dense)(const ftb_dense_product *product);
    GrB_Info (*attention)(const ftb_attention_product *product, const ftb_sddmm_plan *plan);
    GrB_Info (*attention_grad)(const ftb_attention_grad_product *product,
                               const ftb_attention_grad_plan *plan);
    GrB_Info (*softmax)(const ftb_softmax_product *product);
    GrB_Info (*gather)(const ftb_gather_product *product);
    GrB_Info (*scatter)(const ftb_scatter_product *product);
    GrB_Info (*reduce)(const ftb_reduce_product *product);
    GrB_Info (*apply)(const ftb_apply_product *product);
    GrB_Info (*sddmm)(const ftb_sddmm_product *product, const ftb_sddmm_plan *plan);
    GrB_Info (*sddmm_grad)(const ftb_sddmm_grad_product *product);
    GrB_Info (*outer)(const ftb_outer_product *product);
    GrB_Info (*copy)(const ftb_copy_product *product);
    GrB_Info (*dropout)(const ftb_dropout_product *product);
    GrB_Info (*head_dots)(const ftb_head_dots_product *product);
    GrB_Info (*head_dots_grad)(const ftb_head_dots_product *product);
    GrB_Info (*mean_heads)(const ftb_mean_heads_product *product);
    GrB_Info (*mean_heads_grad)(const ftb_mean_heads_product *product);
    GrB_Info (*layer_norm)(const ftb_norm_product *product);
    GrB_Info (*layer_norm_grad)(const ftb_norm_product *product);
    GrB_Info (*batch_norm)(const ftb_norm_product *product);
    GrB_Info (*batch_norm_grad)(const ftb_norm_product *product);
    GrB_Info (*loss)(const ftb_loss_product *product);
    GrB_Info (*loss_grad)(const ftb_loss_product *product);
    GrB_Info (*map_rows)(const ftb_map_rows_product *product);
    GrB_Info (*update)(const ftb_update_product *product);
    GrB_Info (*sum_squares)(const ftb_sum_squares_product *product);
    GrB_Info (*sample)(const ftb_sample_product *product);
    GrB_Info (*relabel)(ftb_relabel_product *product);
    GrB_Info (*components)(const ftb_components_product *product);
    GrB_Info (*paths)(const ftb_paths_product *product);
    GrB_Info (*vertex_renew)(const ftb_vertex_renew_product *product);
    GrB_Info (*vertex_flags)(const ftb_vertex_flags_product *product);
    GrB_Info (*vertex_sums)(const ftb_vertex_sums_product *product);
    const ftb_verb_limits *limits; /* NULL: there are none */
} ftb_verbs;

#endif

/* The verbs of the device that does not exist: the host's own, on the memory that can be read. */
#include "support/pretend.h"

#include "cpu/attention_run.h"
#include "cpu/block/apply_run.h"
#include "cpu/block/gather_run.h"
#include "cpu/dense_run.h"
#include "cpu/message_run.h"
#include "cpu/nn/copy_run.h"
#include "cpu/nn/dropout_run.h"
#include "cpu/nn/head_dots_run.h"
#include "cpu/nn/loss_run.h"
#include "cpu/nn/map_rows_run.h"
#include "cpu/nn/mean_heads_run.h"
#include "cpu/nn/norm_run.h"
#include "cpu/nn/update_run.h"
#include "cpu/outer_run.h"
#include "cpu/reduce_run.h"
#include "cpu/sample/sample_run.h"
#include "cpu/sddmm_run.h"
#include "cpu/softmax_run.h"
#include "cpu/spgemm_run.h"
#include "cpu/spmm_run.h"
#include "cpu/vertex/vertex_verbs.h"
#include "cpu/winners_run.h"
#include "support/pretend_graph.h"
#include "verbs/verbs.h"

/* A field of a product: its address here. */
#define HERE(field) ((field) = pretend_own(field))

/* The patterns of a product: as they are on the device, until the verb is done. NULL is none. */
typedef struct twins {
    ftb_pattern *first, *second;
} twins;

static GrB_Info twins_new(twins *t, ftb_pattern *first, ftb_pattern *second)
{
    t->first = pretend_pattern(first);
    t->second = second == first ? t->first : first && !t->first ? NULL : pretend_pattern(second);
    if ((!first || t->first) && (!second || t->second))
        return GrB_SUCCESS;
    ftb_pattern_release(t->first);
    if (t->second != t->first)
        ftb_pattern_release(t->second);
    return pretend_refused() ? FTB_NO_DEVICE : ftb_nomem();
}

static GrB_Info twins_end(twins *t, GrB_Info info)
{
    ftb_pattern_release(t->first);
    if (t->second != t->first)
        ftb_pattern_release(t->second);
    return info;
}

static GrB_Info spmm(const ftb_spmm_product *product, const ftb_spmm_plan *plan)
{
    ftb_spmm_product p = *product;
    twins t;
    GrB_Info info = twins_new(&t, product->p, NULL);
    if (info != GrB_SUCCESS)
        return info;
    pretend_enter();
    HERE(p.x);
    HERE(p.y);
    HERE(p.out);
    p.p = t.first;
    pretend_leave();
    return twins_end(&t, ftb_spmm_run(&p, plan));
}

static GrB_Info spgemm(const ftb_spgemm_product *product, const ftb_spgemm_plan *plan, FtB_Sink sink)
{
    ftb_spgemm_product p = *product;
    twins t;
    GrB_Info info = twins_new(&t, product->left, product->right);
    if (info != GrB_SUCCESS)
        return info;
    pretend_enter();
    HERE(p.a);
    HERE(p.b);
    HERE(p.m);
    HERE(p.admits.values);
    p.left = t.first;
    p.right = t.second;
    pretend_leave();
    return twins_end(&t, ftb_spgemm_run(&p, plan, sink));
}

/* A copy of a product's message, its feeds here. Between pretend_enter and _leave. */
static ftb_message message_here(const ftb_message *of)
{
    ftb_message m = *of;
    for (int f = 0; f < m.nfeeds; f++)
        if (m.feeds[f].owner)
            HERE(m.feeds[f].data);
    return m;
}

static GrB_Info aggregate(const ftb_aggregate_product *product)
{
    ftb_aggregate_product p = *product;
    twins t;
    GrB_Info info = twins_new(&t, product->p, NULL);
    if (info != GrB_SUCCESS)
        return info;
    pretend_enter();
    const ftb_message m = message_here(product->m);
    p.m = &m;
    HERE(p.out);
    HERE(p.won);
    p.p = t.first;
    pretend_leave();
    return twins_end(&t, ftb_aggregate_run(&p));
}

static GrB_Info run_winners(const ftb_winners_product *product,
                            GrB_Info (*run)(const ftb_winners_product *product))
{
    ftb_winners_product p = *product;
    twins t;
    GrB_Info info = twins_new(&t, product->p, NULL);
    if (info != GrB_SUCCESS)
        return info;
    pretend_enter();
    HERE(p.won);
    HERE(p.x);
    HERE(p.out);
    HERE(p.any);
    p.p = t.first;
    pretend_leave();
    return twins_end(&t, run(&p));
}

static GrB_Info winners(const ftb_winners_product *product) { return run_winners(product, ftb_winners_run); }

static GrB_Info winners_grad(const ftb_winners_product *product)
{
    return run_winners(product, ftb_winners_grad_run);
}

static GrB_Info messages(const ftb_messages_product *product)
{
    ftb_messages_product p = *product;
    twins t;
    GrB_Info info = twins_new(&t, product->p, NULL);
    if (info != GrB_SUCCESS)
        return info;
    pretend_enter();
    const ftb_message m = message_here(product->m);
    p.m = &m;
    HERE(p.out);
    p.p = t.first;
    pretend_leave();
    return twins_end(&t, ftb_messages_run(&p));
}

static GrB_Info dense(const ftb_dense_product *product)
{
    ftb_dense_product p = *product;
    pretend_enter();
    HERE(p.a);
    HERE(p.b);
    HERE(p.c);
    pretend_leave();
    return ftb_dense_run(&p);
}

static GrB_Info attention(const ftb_attention_product *product, const ftb_sddmm_plan *plan)
{
    ftb_attention_product p = *product;
    twins t;
    GrB_Info info = twins_new(&t, product->p, NULL);
    if (info != GrB_SUCCESS)
        return info;
    pretend_enter();
    HERE(p.x.data);
    HERE(p.y.data);
    HERE(p.v.data);
    HERE(p.out);
    HERE(p.lse);
    p.p = t.first;
    pretend_leave();
    return twins_end(&t, ftb_attention_run(&p, plan));
}

static GrB_Info attention_grad(const ftb_attention_grad_product *product, const ftb_attention_grad_plan *plan)
{
    ftb_attention_grad_product p = *product;
    twins t;
    GrB_Info info = twins_new(&t, product->of.p, product->transpose);
    if (info != GrB_SUCCESS)
        return info;
    pretend_enter();
    HERE(p.of.x.data);
    HERE(p.of.y.data);
    HERE(p.of.v.data);
    HERE(p.lse);
    HERE(p.t);
    HERE(p.d);
    HERE(p.q);
    HERE(p.k);
    HERE(p.v);
    p.of.p = t.first;
    p.transpose = t.second;
    pretend_leave();
    return twins_end(&t, ftb_attention_grad_run(&p, plan));
}

static GrB_Info softmax(const ftb_softmax_product *product)
{
    ftb_softmax_product p = *product;
    twins t;
    GrB_Info info = twins_new(&t, product->p, NULL);
    if (info != GrB_SUCCESS)
        return info;
    pretend_enter();
    HERE(p.in);
    HERE(p.d);
    HERE(p.out);
    HERE(p.lse);
    p.p = t.first;
    pretend_leave();
    return twins_end(&t, ftb_softmax_run(&p));
}

static GrB_Info gather(const ftb_gather_product *product)
{
    ftb_gather_product p = *product;
    pretend_enter();
    HERE(p.x);
    HERE(p.y);
    pretend_leave();
    return ftb_gather_run(&p);
}

static GrB_Info scatter(const ftb_scatter_product *product)
{
    ftb_scatter_product p = *product;
    pretend_enter();
    HERE(p.x);
    HERE(p.y);
    pretend_leave();
    return ftb_scatter_run(&p);
}

static GrB_Info reduce(const ftb_reduce_product *product)
{
    ftb_reduce_product p = *product;
    twins t;
    GrB_Info info = twins_new(&t, (ftb_pattern *)(uintptr_t)product->p, NULL);
    if (info != GrB_SUCCESS)
        return info;
    pretend_enter();
    HERE(p.x);
    HERE(p.out);
    p.p = t.first;
    pretend_leave();
    return twins_end(&t, ftb_reduce_run(&p));
}

static GrB_Info apply(const ftb_apply_product *product)
{
    ftb_apply_product p = *product;
    pretend_enter();
    HERE(p.x.data);
    HERE(p.y.data);
    HERE(p.out);
    pretend_leave();
    return ftb_apply_run(&p);
}

static GrB_Info sddmm(const ftb_sddmm_product *product, const ftb_sddmm_plan *plan)
{
    ftb_sddmm_product p = *product;
    twins t;
    GrB_Info info = twins_new(&t, product->p, NULL);
    if (info != GrB_SUCCESS)
        return info;
    pretend_enter();
    HERE(p.x.data);
    HERE(p.y.data);
    HERE(p.out);
    p.p = t.first;
    pretend_leave();
    return twins_end(&t, ftb_sddmm_run(&p, plan));
}

static GrB_Info sddmm_grad(const ftb_sddmm_grad_product *product)
{
    ftb_sddmm_grad_product p = *product;
    twins t;
    GrB_Info info = twins_new(&t, product->p, product->q);
    if (info != GrB_SUCCESS)
        return info;
    pretend_enter();
    HERE(p.x.data);
    HERE(p.y.data);
    HERE(p.grad);
    HERE(p.dx);
    HERE(p.dy);
    p.p = t.first;
    p.q = t.second;
    pretend_leave();
    return twins_end(&t, ftb_sddmm_grad_run(&p));
}

static GrB_Info outer(const ftb_outer_product *product)
{
    ftb_outer_product p = *product;
    pretend_enter();
    HERE(p.l);
    HERE(p.r);
    HERE(p.sum);
    pretend_leave();
    return ftb_outer_run(&p);
}

static GrB_Info copy_rows(const ftb_copy_product *product)
{
    ftb_copy_product p = *product;
    pretend_enter();
    HERE(p.x);
    HERE(p.y);
    pretend_leave();
    return ftb_copy_run(&p);
}

static GrB_Info dropout(const ftb_dropout_product *product)
{
    ftb_dropout_product p = *product;
    pretend_enter();
    HERE(p.x);
    HERE(p.y);
    pretend_leave();
    return ftb_dropout_run(&p);
}

static ftb_head_dots_product head_dots_here(const ftb_head_dots_product *product)
{
    ftb_head_dots_product p = *product;
    pretend_enter();
    HERE(p.x);
    HERE(p.a);
    HERE(p.y);
    HERE(p.dy);
    HERE(p.dx);
    HERE(p.da);
    pretend_leave();
    return p;
}

static GrB_Info head_dots(const ftb_head_dots_product *product)
{
    const ftb_head_dots_product p = head_dots_here(product);
    return ftb_head_dots_run(&p);
}

static GrB_Info head_dots_grad(const ftb_head_dots_product *product)
{
    const ftb_head_dots_product p = head_dots_here(product);
    return ftb_head_dots_grad_run(&p);
}

static ftb_mean_heads_product mean_heads_here(const ftb_mean_heads_product *product)
{
    ftb_mean_heads_product p = *product;
    pretend_enter();
    HERE(p.x);
    HERE(p.y);
    pretend_leave();
    return p;
}

static GrB_Info mean_heads(const ftb_mean_heads_product *product)
{
    const ftb_mean_heads_product p = mean_heads_here(product);
    return ftb_mean_heads_run(&p);
}

static GrB_Info mean_heads_grad(const ftb_mean_heads_product *product)
{
    const ftb_mean_heads_product p = mean_heads_here(product);
    return ftb_mean_heads_grad_run(&p);
}

static ftb_norm_product norm_here(const ftb_norm_product *product)
{
    ftb_norm_product p = *product;
    pretend_enter();
    HERE(p.x);
    HERE(p.gain);
    HERE(p.shift);
    HERE(p.y);
    HERE(p.keep);
    HERE(p.kept);
    HERE(p.mean);
    HERE(p.variance);
    HERE(p.running_mean);
    HERE(p.running_variance);
    HERE(p.dy);
    HERE(p.dx);
    HERE(p.dgain);
    HERE(p.dshift);
    pretend_leave();
    return p;
}

static GrB_Info layer_norm(const ftb_norm_product *product)
{
    const ftb_norm_product p = norm_here(product);
    return ftb_layer_norm_run(&p);
}

static GrB_Info layer_norm_grad(const ftb_norm_product *product)
{
    const ftb_norm_product p = norm_here(product);
    return ftb_layer_norm_grad_run(&p);
}

static GrB_Info batch_norm(const ftb_norm_product *product)
{
    const ftb_norm_product p = norm_here(product);
    return ftb_batch_norm_run(&p);
}

static GrB_Info batch_norm_grad(const ftb_norm_product *product)
{
    const ftb_norm_product p = norm_here(product);
    return ftb_batch_norm_grad_run(&p);
}

static ftb_loss_product loss_here(const ftb_loss_product *product)
{
    ftb_loss_product p = *product;
    pretend_enter();
    HERE(p.x);
    HERE(p.t);
    HERE(p.labels);
    HERE(p.mask);
    HERE(p.out);
    HERE(p.dout);
    HERE(p.dx);
    HERE(p.dt);
    pretend_leave();
    return p;
}

static GrB_Info loss(const ftb_loss_product *product)
{
    const ftb_loss_product p = loss_here(product);
    return ftb_loss_run(&p);
}

static GrB_Info loss_grad(const ftb_loss_product *product)
{
    const ftb_loss_product p = loss_here(product);
    return ftb_loss_grad_run(&p);
}

static GrB_Info map_rows(const ftb_map_rows_product *product)
{
    ftb_map_rows_product p = *product;
    pretend_enter();
    const ftb_message m = message_here(product->m);
    p.m = &m;
    HERE(p.y);
    pretend_leave();
    return ftb_map_rows_run(&p);
}

static GrB_Info update(const ftb_update_product *product)
{
    ftb_update_product p = *product;
    pretend_enter();
    HERE(p.gradient);
    HERE(p.values);
    HERE(p.first);
    HERE(p.second);
    pretend_leave();
    return ftb_update_run(&p);
}

static GrB_Info sum_squares(const ftb_sum_squares_product *product)
{
    ftb_sum_squares_product p = *product;
    pretend_enter();
    HERE(p.gradient);
    HERE(p.sum);
    pretend_leave();
    return ftb_sum_squares_run(&p);
}

static GrB_Info sample(const ftb_sample_product *product)
{
    ftb_sample_product p = *product;
    twins t;
    GrB_Info info = twins_new(&t, product->p, NULL);
    if (info != GrB_SUCCESS)
        return info;
    p.p = t.first;
    pretend_enter();
    if (!p.tables) /* else they are the host's */
        HERE(p.values);
    HERE(p.tables);
    pretend_leave();
    return twins_end(&t, ftb_sample_run(&p));
}

static GrB_Info vertex_renew(const ftb_vertex_renew_product *product)
{
    ftb_vertex_renew_product p = *product;
    pretend_enter();
    HERE(p.fresh);
    HERE(p.state);
    HERE(p.who);
    HERE(p.changed);
    pretend_leave();
    return ftb_vertex_renew_run(&p);
}

static GrB_Info vertex_flags(const ftb_vertex_flags_product *product)
{
    ftb_vertex_flags_product p = *product;
    pretend_enter();
    HERE(p.x);
    HERE(p.with);
    HERE(p.weights);
    HERE(p.out);
    HERE(p.counts);
    pretend_leave();
    return ftb_vertex_flags_run(&p);
}

static GrB_Info vertex_sums(const ftb_vertex_sums_product *product)
{
    ftb_vertex_sums_product p = *product;
    pretend_enter();
    HERE(p.x);
    HERE(p.sums);
    pretend_leave();
    return ftb_vertex_sums_run(&p);
}

static GrB_Info relabel(ftb_relabel_product *product) { return ftb_relabel_run(product); }

const ftb_verbs pretend_verbs = {
    .spmm = spmm,
    .spgemm = spgemm,
    .aggregate = aggregate,
    .messages = messages,
    .winners = winners,
    .winners_grad = winners_grad,
    .dense = dense,
    .attention = attention,
    .attention_grad = attention_grad,
    .softmax = softmax,
    .gather = gather,
    .scatter = scatter,
    .reduce = reduce,
    .apply = apply,
    .sddmm = sddmm,
    .sddmm_grad = sddmm_grad,
    .outer = outer,
    .copy = copy_rows,
    .dropout = dropout,
    .head_dots = head_dots,
    .head_dots_grad = head_dots_grad,
    .mean_heads = mean_heads,
    .mean_heads_grad = mean_heads_grad,
    .layer_norm = layer_norm,
    .layer_norm_grad = layer_norm_grad,
    .batch_norm = batch_norm,
    .batch_norm_grad = batch_norm_grad,
    .loss = loss,
    .loss_grad = loss_grad,
    .map_rows = map_rows,
    .update = update,
    .sum_squares = sum_squares,
    .sample = sample,
    .relabel = relabel,
    .components = pretend_components,
    .paths = pretend_paths,
    .vertex_renew = vertex_renew,
    .vertex_flags = vertex_flags,
    .vertex_sums = vertex_sums,
};

/* Gradients of scores leaky_relu(src + dst) on edges: what both are sums of is computed once, with the sums
 * by row, and added up by column after that (cpu/kernels/sddmm_sum.c). */
#include "ops/grad/grad.h"

#include "ops/merge.h"
#include "ops/sddmm.h"

#define PARTS_PER_THREAD 8

/* The entries' gradients, and dst's. */
static GrB_Info make_slopes(ftb_grad *g, ftb_sums_job *s)
{
    FtB_Type type = g->type.message;
    int64_t heads = s->heads, count;
    if (__builtin_mul_overflow(g->p->nvals, heads, &count))
        count = INT64_MAX; /* refused by the allocator, with its message */
    g->slopes = ftb_new(g->ctx, count, FtB_Type_size(type));
    g->by_row =
        (ftb_grad_rows){ftb_new(g->ctx, g->p->nrows * heads, FtB_Type_size(type)), type, g->p->nrows, heads};
    if (!g->slopes || !g->by_row.data)
        return ftb_nomem();
    s->grad = ftb_values(g->dE);
    s->out = g->slopes;
    s->sum = g->by_row.data;
    int threads = ftb_threads_for(g->ctx, count);
    int64_t parts = (int64_t)threads * PARTS_PER_THREAD;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int64_t part = 0; part < parts; part++) {
        int64_t first = ftb_pattern_cut(g->p, part, parts), last = ftb_pattern_cut(g->p, part + 1, parts);
        FTB_PICK_REAL(ftb_sums_grad, type)(s, first, last);
    }
    return GrB_SUCCESS;
}

/* src's: sums over the rows of the transpose. */
static GrB_Info sum_columns(ftb_grad_rows *T, ftb_grad *g, ftb_sums_job *s)
{
    FtB_Type type = g->type.message;
    ftb_pattern *q;
    const int64_t *from;
    GrB_Info info = ftb_pattern_transpose(g->p, &q, &from);
    if (info != GrB_SUCCESS)
        return info;
    *T = (ftb_grad_rows){ftb_new(g->ctx, q->nrows * s->heads, FtB_Type_size(type)), type, q->nrows, s->heads};
    if (!T->data)
        return ftb_nomem();
    s->rowptr = q->rowptr;
    s->out = g->slopes;
    s->sum = T->data;
    int threads = ftb_threads_for(g->ctx, q->nvals * s->heads);
    int64_t parts = (int64_t)threads * PARTS_PER_THREAD;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int64_t part = 0; part < parts; part++) {
        int64_t first = ftb_pattern_cut(q, part, parts), last = ftb_pattern_cut(q, part + 1, parts);
        FTB_PICK_REAL(ftb_sums_listed, type)(s, from, first, last);
    }
    return GrB_SUCCESS;
}

bool ftb_grad_sums_fit(const ftb_grad *g)
{
    ftb_sums_job s;
    return g->on_edges && g->dE->type == g->type.message && ftb_sddmm_sums(&s, &g->forward, &g->type, g->p);
}

GrB_Info ftb_grad_sums(ftb_grad_rows *T, ftb_grad *g, const ftb_feed *feed)
{
    ftb_sums_job s;
    ftb_sddmm_sums(&s, &g->forward, &g->type, g->p);
    bool columns = feed->side == FTB_SIDE_COL, there = g->slopes && (columns || g->by_row.data);
    if (!there) { /* the rows' sums were handed out already, if slopes are there: they are made once more */
        ftb_delete(g->slopes);
        ftb_delete(g->by_row.data);
        g->slopes = g->by_row.data = NULL;
    }
    GrB_Info info = there ? GrB_SUCCESS : make_slopes(g, &s);
    if (info == GrB_SUCCESS && columns)
        return sum_columns(T, g, &s);
    if (info == GrB_SUCCESS) {
        *T = g->by_row;
        g->by_row.data = NULL;
    }
    return info;
}

/* Gradients of scores leaky_relu(src + dst) on entries: what both are sums of is computed once, with the sums
 * by row, and added up by column after that (cpu/kernels/sddmm_sum.c). */
#include "cpu/kernels/sddmm_sum.h"
#include "cpu/sddmm_run.h"

#define PARTS_PER_THREAD 8

/* By the rows of the pattern, or by its columns: the transpose's rows. */
static void run(const ftb_sddmm_grad_product *g, const ftb_sums_job *s, bool columns, int threads)
{
    const ftb_pattern *p = columns ? g->q : g->p;
    const int64_t parts = (int64_t)threads * PARTS_PER_THREAD;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int64_t part = 0; part < parts; part++) {
        const int64_t first = ftb_pattern_cut(p, part, parts), last = ftb_pattern_cut(p, part + 1, parts);
        if (columns)
            FTB_PICK_REAL(ftb_sums_listed, g->type)(s, g->from, first, last);
        else
            FTB_PICK_REAL(ftb_sums_grad, g->type)(s, first, last);
    }
}

GrB_Info ftb_sddmm_grad_run(const ftb_sddmm_grad_product *g)
{
    const ftb_pattern *p = g->p;
    const size_t size = FtB_Type_size(g->type);
    int64_t count;
    if (__builtin_mul_overflow(p->nvals, g->heads, &count))
        count = INT64_MAX; /* refused by the allocator, with its message */
    void *slopes = ftb_new(g->ctx, count, size);
    void *aside = g->dy ? NULL : ftb_new(g->ctx, p->nrows * g->heads, size);
    if (!slopes || (!g->dy && !aside)) {
        ftb_delete(slopes);
        ftb_delete(aside);
        return ftb_nomem();
    }
    const int threads = ftb_threads_for(g->ctx, count);
    ftb_sums_job s = {.rowptr = p->rowptr,
                      .column = p->colidx,
                      .column_size = p->wide ? 8 : 4,
                      .heads = g->heads,
                      .x = g->x.data,
                      .y = g->y.data,
                      .xld = g->x.ld,
                      .yld = g->y.ld,
                      .slope = g->slope,
                      .grad = g->grad,
                      .out = slopes,
                      .sum = g->dy ? g->dy : aside};
    run(g, &s, false, threads);
    if (g->dx) {
        s.rowptr = g->q->rowptr;
        s.sum = g->dx;
        run(g, &s, true, threads);
    }
    ftb_delete(slopes);
    ftb_delete(aside);
    return GrB_SUCCESS;
}

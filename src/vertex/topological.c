/* Topological order: levels, and vertices by level; or the vertices of a cycle. */
#include "cpu/graph/topological_run.h"
#include "vertex/algorithm.h"

#define LEVELS (FTB_TYPE_BIT(FTB_INT32) | FTB_TYPE_BIT(FTB_INT64) | FTB_TYPE_BIT(FTB_FP64))

/* Who has no level waits for somebody who has none, and so on round a cycle. */
static GrB_Info fail_by_cycle(const ftb_topological *w)
{
    const ftb_pattern *p = w->p;
    int64_t *before = ftb_new(w->ctx, p->nrows, sizeof *before),
            *mark = ftb_new(w->ctx, p->nrows, sizeof *mark);
    char text[FTB_CYCLE_TEXT];
    GrB_Info info = before && mark ? GrB_SUCCESS : ftb_nomem();
    if (info == GrB_SUCCESS) {
        for (int64_t v = 0; v < p->nrows; v++)
            before[v] = -1;
        for (int64_t u = 0; u < p->nrows; u++)
            for (int64_t e = p->rowptr[u]; e < p->rowptr[u + 1] && w->level[u] < 0; e++)
                before[ftb_col(p, e)] = u;
        ftb_put_cycle(text, before, ftb_find_cycle(before, mark, p->nrows));
        info = ftb_fail(GrB_INVALID_VALUE, "A: the cycle %s has no order", text);
    }
    ftb_delete(before);
    ftb_delete(mark);
    return info;
}

/* In a level, vertices by number: by counting. */
static GrB_Info put_order(const ftb_topological *w, FtB_Block order)
{
    int64_t *at = ftb_new0(w->ctx, w->nlevels + 1, sizeof *at);
    if (!at)
        return ftb_nomem();
    for (int64_t v = 0; v < w->p->nrows; v++)
        at[w->level[v] + 1]++;
    for (int64_t l = 0; l < w->nlevels; l++)
        at[l + 1] += at[l];
    for (int64_t v = 0; v < w->p->nrows; v++)
        w->order[at[w->level[v]]++] = v;
    ftb_delete(at);
    return ftb_set_column(order, w->order, FTB_INT64);
}

GrB_Info FtB_topological(FtB_Block levels, FtB_Block order, FtB_Matrix A)
{
    ftb_topological w = {.ctx = ftb_context()};
    GrB_Info info;
    FTB_CHECK(ftb_check_result(levels, "levels", A, 1, LEVELS));
    if (order)
        FTB_CHECK(ftb_check_result(order, "order", A, 1, FTB_TYPE_BIT(FTB_INT64)));
    w.p = A->pattern;
    w.level = ftb_new(w.ctx, w.p->nrows, sizeof *w.level);
    w.order = ftb_new(w.ctx, w.p->nrows, sizeof *w.order);
    if (!w.level || !w.order)
        FTB_CHECK(ftb_nomem());
    FTB_CHECK(ftb_topological_run(&w));
    if (w.nordered < w.p->nrows)
        FTB_CHECK(fail_by_cycle(&w));
    if (order)
        FTB_CHECK(put_order(&w, order));
    info = ftb_set_column(levels, w.level, FTB_INT64);
done:
    ftb_delete(w.level);
    ftb_delete(w.order);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(w.ctx);
    return info;
}

/* Selectors that look at all rows of a hop together: FastGCN, LADIES and LABOR-i. Rows of a tree, or of a
 * stacked batch, are a group of their own, in their order, with its draws: what is picked of them is what
 * would be if they were all. Weights of all rows are evaluated in one go; groups are picked of side by side
 * where there are many, else each by all threads. */
#include "cpu/entries/keep_run.h"
#include "cpu/sample/rows_columns.h"

typedef struct groups {
    const ftb_sample_product *s;
    int64_t count;
    ftb_together *group;
    GrB_Info *status;
    int64_t *rows; /* by group; NULL: there is one */
    double *weight;
    int64_t *offset, *counts;
} groups;

/* Rows sorted by tree, by counting. */
static GrB_Info list_rows(groups *w)
{
    const ftb_sample_product *s = w->s;
    int64_t ntrees = 0;
    for (int64_t r = 0; r < s->nrows; r++)
        ntrees = ftb_max(ntrees, (int64_t)s->trees[r] + 1);
    int64_t *begin = ftb_new0(s->ctx, ntrees + 1, sizeof *begin);
    w->rows = ftb_new(s->ctx, s->nrows, sizeof *w->rows);
    w->group = ftb_new0(s->ctx, ntrees, sizeof *w->group);
    if (!begin || !w->rows || !w->group) {
        ftb_delete(begin);
        return ftb_nomem();
    }
    for (int64_t r = 0; r < s->nrows; r++)
        begin[s->trees[r] + 1]++;
    ftb_rows_sum(begin, ntrees);
    for (int64_t r = 0; r < s->nrows; r++)
        w->rows[begin[s->trees[r]]++] = r;
    for (int64_t first = 0, t = 0; t < ntrees; first = begin[t++])
        if (begin[t] > first)
            w->group[w->count++] = (ftb_together){.row = w->rows + first, .count = begin[t] - first};
    ftb_delete(begin);
    return GrB_SUCCESS;
}

static GrB_Info make_groups(groups *w)
{
    const ftb_sample_product *s = w->s;
    if (s->trees) {
        const GrB_Info info = list_rows(w);
        if (info != GrB_SUCCESS)
            return info;
    } else {
        w->count = 1;
        w->group = ftb_new0(s->ctx, 1, sizeof *w->group);
        if (!w->group)
            return ftb_nomem();
        w->group->count = s->nrows;
    }
    w->status = ftb_new0(s->ctx, w->count, sizeof *w->status);
    w->counts = ftb_new(s->ctx, s->nrows, sizeof *w->counts);
    if (!w->status || !w->counts)
        return ftb_nomem();
    for (int64_t g = 0; g < w->count; g++) {
        ftb_together *group = &w->group[g];
        group->s = s;
        group->seed = s->trees ? ftb_sample_seed(s, group->row[0]) : s->seed;
        group->stream = s->trees ? ftb_sample_stream(s, group->row[0]) : s->stream;
        group->weight = w->weight;
        group->offset = w->offset;
        group->counts = w->counts;
    }
    return GrB_SUCCESS;
}

static GrB_Info weigh(groups *w)
{
    const ftb_sample_product *s = w->s;
    w->offset = ftb_new(s->ctx, s->nrows + 1, sizeof *w->offset);
    if (!w->offset)
        return ftb_nomem();
    w->offset[0] = 0;
    for (int64_t r = 0; r < s->nrows; r++)
        w->offset[r + 1] = w->offset[r] + ftb_sample_degree(s, r);
    w->weight = ftb_new(s->ctx, w->offset[s->nrows], sizeof *w->weight);
    return w->weight ? ftb_sample_weights(s, w->weight, w->offset) : ftb_nomem();
}

static GrB_Info pick(ftb_together *g)
{
    return g->s->selector == FTB_SAMPLE_LABOR ? ftb_sample_labor(g) : ftb_sample_layer(g);
}

/* A message is of the thread that says it: what fails beside others is done again for it. */
static GrB_Info pick_all(const groups *w)
{
    const ftb_sample_product *s = w->s;
    const int threads = ftb_threads_for(s->ctx, s->rowptr[s->nrows] + s->nrows);
    if (w->count < threads) {
        GrB_Info info = GrB_SUCCESS;
        for (int64_t g = 0; g < w->count && info == GrB_SUCCESS; g++)
            info = pick(&w->group[g]);
        return info;
    }
    atomic_bool stopped = false;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t g = 0; g < w->count; g++)
        if (!ftb_stops(s->ctx, &stopped))
            w->status[g] = pick(&w->group[g]);
    GrB_Info info = ftb_check_stopped(s->ctx, &stopped);
    for (int64_t g = 0; g < w->count && info == GrB_SUCCESS; g++)
        if (w->status[g] != GrB_SUCCESS)
            info = pick(&w->group[g]);
    return info;
}

GrB_Info ftb_sample_together(const ftb_sample_product *s)
{
    groups w = {.s = s};
    GrB_Info info = GrB_SUCCESS;
    if (s->selector == FTB_SAMPLE_LADIES)
        FTB_CHECK(weigh(&w));
    FTB_CHECK(make_groups(&w));
    FTB_CHECK(pick_all(&w));
    ftb_sample_close(s, w.counts);
    for (int64_t g = 0; s->work && g < w.count; g++)
        *s->work += w.group[g].work;
done:
    ftb_delete(w.group);
    ftb_delete(w.status);
    ftb_delete(w.rows);
    ftb_delete(w.weight);
    ftb_delete(w.offset);
    ftb_delete(w.counts);
    return info;
}

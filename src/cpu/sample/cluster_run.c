/* Graphs for partitions: a row is merged of those of the matrix and of its transpose, both ascending.
 * Clusters of partitions: vertices sorted by label, by counting. */
#include "cpu/sample/cluster_run.h"

#include "cpu/entries/keep_run.h"

static void put(const ftb_mutual *m, void *list, int64_t at, int64_t value)
{
    if (m->bytes == 4)
        ((int32_t *)list)[at] = (int32_t)value;
    else
        ((int64_t *)list)[at] = value;
}

/* What the edges of one row are like. */
typedef struct mutual_row {
    int64_t count, least, most; /* edges; entries that one is of */
} mutual_row;

/* Edges of row r, from `to` on where there is room. */
static mutual_row merge_row(const ftb_mutual *m, int64_t r, int64_t to)
{
    const int64_t i = m->order ? m->order[r] : r;
    int64_t a = m->p->rowptr[i], b = m->t->rowptr[i];
    const int64_t a_end = m->p->rowptr[i + 1], b_end = m->t->rowptr[i + 1];
    mutual_row row = {0, INT64_MAX, 0};
    while (a < a_end || b < b_end) {
        const int64_t x = a < a_end ? ftb_col(m->p, a) : INT64_MAX,
                      y = b < b_end ? ftb_col(m->t, b) : INT64_MAX;
        const int64_t j = x < y ? x : y;
        int64_t entries = 0;
        for (; a < a_end && ftb_col(m->p, a) == j; a++)
            entries++;
        for (; b < b_end && ftb_col(m->t, b) == j; b++)
            entries++;
        if (j == i)
            continue;
        if (m->column)
            put(m, m->column, to + row.count, m->place ? m->place[j] : j);
        if (m->weight)
            put(m, m->weight, to + row.count, entries);
        row.count++;
        row.least = ftb_min(row.least, entries);
        row.most = ftb_max(row.most, entries);
    }
    return row;
}

GrB_Info ftb_mutual_run(ftb_mutual *m)
{
    const int64_t n = m->p->nrows;
    const int threads = ftb_threads_for(m->ctx, 2 * m->p->nvals + n);
    int64_t least = INT64_MAX, most = 0, *begin = ftb_new(m->ctx, n + 1, sizeof *begin);
    m->rowptr = ftb_new(m->ctx, n + 1, (size_t)m->bytes);
    if (!begin || !m->rowptr) {
        ftb_delete(begin);
        return ftb_nomem();
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic, 256) reduction(min                           \
                                                                               : least) reduction(max        \
                                                                                                  : most)
    for (int64_t r = 0; r < n; r++) {
        const mutual_row row = merge_row(m, r, 0);
        begin[r + 1] = row.count;
        least = ftb_min(least, row.least);
        most = ftb_max(most, row.most);
    }
    m->nvals = ftb_rows_sum(begin, n);
    void *column = ftb_new(m->ctx, m->nvals, (size_t)m->bytes),
         *weight = most > least ? ftb_new(m->ctx, m->nvals, (size_t)m->bytes) : NULL;
    m->column = column;
    m->weight = weight;
    if (!column || (most > least && !weight)) {
        ftb_delete(begin);
        return ftb_nomem();
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic, 256)
    for (int64_t r = 0; r < n; r++)
        merge_row(m, r, begin[r]);
    for (int64_t r = 0; r <= n; r++)
        put(m, m->rowptr, r, begin[r]);
    ftb_delete(begin);
    return GrB_SUCCESS;
}

void ftb_mutual_delete(ftb_mutual *m)
{
    ftb_delete(m->order);
    ftb_delete(m->place);
    ftb_delete(m->rowptr);
    ftb_delete(m->column);
    ftb_delete(m->weight);
    m->order = m->place = NULL;
    m->rowptr = m->column = m->weight = NULL;
}

/* ---- labels */

int64_t ftb_labels_beyond(const int32_t *labels, int64_t n, int64_t nparts)
{
    for (int64_t v = 0; v < n; v++)
        if (labels[v] < 0 || labels[v] >= nparts)
            return v;
    return n;
}

int64_t ftb_labels_cut(FtB_Context ctx, const ftb_pattern *p, const int32_t *labels)
{
    int64_t cut = 0;
#pragma omp parallel for num_threads(ftb_threads_for(ctx, p->nvals + p->nrows)) schedule(dynamic, 256)       \
    reduction(+ : cut)
    for (int64_t i = 0; i < p->nrows; i++)
        for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++)
            cut += labels[i] != labels[ftb_col(p, e)];
    return cut;
}

void ftb_labels_list(int64_t *begin, int64_t *list, const int32_t *labels, int64_t n, int64_t nparts)
{
    for (int64_t c = 0; c <= nparts; c++)
        begin[c] = 0;
    for (int64_t v = 0; v < n; v++)
        begin[labels[v] + 1]++;
    for (int64_t c = 0; c < nparts; c++)
        begin[c + 1] += begin[c];
    for (int64_t v = 0; v < n; v++)
        list[begin[labels[v]]++] = v;
    for (int64_t c = nparts; c > 0; c--)
        begin[c] = begin[c - 1];
    begin[0] = 0;
}

/* Weights of edges, normalised, row after row over threads (gcn_weights.h). */
#include "cpu/nn/gcn_weights.h"

#include "core/whole.h"

#include <math.h>

double ftb_inverse_root(double degree) { return degree > 0 ? 1 / sqrt(degree) : 0; }

static double weight(const ftb_gcn_weights *w, int64_t e)
{
    return w->weights ? ftb_get_real(w->weights, w->stored, e) : 1;
}

/* Weights of row i of q, whose diagonal p may lack: 1 there. Returns their sum. */
static double row_weights(double *to, const ftb_gcn_weights *w, int64_t i)
{
    const ftb_pattern *p = w->p, *q = w->q;
    double sum = 0;
    int64_t from = p->rowptr[i];
    for (int64_t e = q->rowptr[i]; e < q->rowptr[i + 1]; e++) {
        int64_t j = ftb_col(q, e);
        bool there = from < p->rowptr[i + 1] && ftb_col(p, from) == j;
        to[e] = there ? weight(w, from++) : 1;
        if (q != p) /* of several entries (i, i) the last counts */
            while (j == i && there && from < p->rowptr[i + 1] && ftb_col(p, from) == i)
                to[e] = weight(w, from++);
        sum += to[e];
    }
    return sum;
}

GrB_Info ftb_gcn_weights_run(const ftb_gcn_weights *w, void *values)
{
    const ftb_pattern *q = w->q;
    double *exact = ftb_new(w->ctx, q->nvals, sizeof *exact),
           *root = exact ? ftb_new(w->ctx, q->nrows, sizeof *root) : NULL;
    if (!root) {
        ftb_delete(exact);
        return ftb_nomem();
    }
#pragma omp parallel for schedule(dynamic, 256) num_threads(ftb_threads_for(w->ctx, q->nvals))
    for (int64_t i = 0; i < q->nrows; i++)
        root[i] = ftb_inverse_root(row_weights(exact, w, i));
#pragma omp parallel for schedule(dynamic, 256) num_threads(ftb_threads_for(w->ctx, q->nvals))
    for (int64_t i = 0; i < q->nrows; i++)
        for (int64_t e = q->rowptr[i]; e < q->rowptr[i + 1]; e++) {
            double value = w->factor * root[i] * exact[e] * root[ftb_col(q, e)];
            ftb_cast((char *)values + (size_t)e * FtB_Type_size(w->type), w->type, &value, FTB_FP64, 1);
        }
    ftb_delete(exact);
    ftb_delete(root);
    return GrB_SUCCESS;
}

/* ---- of a hop */

/* What the row of a vertex of the whole graph has: entries beside those of its own column, the sum of their
 * weights, and the weight of its loop. Where loops are not added all entries are alike. */
typedef struct whole_row {
    int64_t others;
    double sum, own;
} whole_row;

static whole_row look_at(const ftb_gcn_hop *h, int64_t vertex)
{
    const FtB_Matrix A = h->whole->graph;
    const ftb_pattern *p = A->pattern;
    const void *weights = ftb_values(A);
    int64_t begin = p->rowptr[vertex], end = p->rowptr[vertex + 1], first = end, last = end;
    if (h->loops && h->whole_loops > 0)
        ftb_pattern_own(p, vertex, &first, &last);
    whole_row row = {.others = end - begin - (last - first), .own = h->loops};
    row.sum = (double)row.others;
    if (!weights)
        return row;
    if (last > first)
        row.own = ftb_get_real(weights, A->type, last - 1);
    row.sum = 0;
    for (int64_t e = begin; e < end; e++)
        row.sum += e < first || e >= last ? ftb_get_real(weights, A->type, e) : 0;
    return row;
}

/* 1 / sqrt of what the whole graph's rows sum up to, of all sources, and of targets how much more of their
 * rows there is than was picked, and their loops' weights. */
static void roots_of_whole(const ftb_gcn_hop *h, double *root, double *more, double *own)
{
    const ftb_pattern *q = h->of.q;
    const int64_t *vertex = ftb_buffer_data(h->whole->vertices);
#pragma omp parallel for schedule(dynamic, 256) num_threads(ftb_threads_for(h->of.ctx, q->ncols))
    for (int64_t j = 0; j < q->ncols; j++) {
        const whole_row row = look_at(h, vertex[j]);
        root[j] = ftb_inverse_root(row.sum + row.own);
        if (j >= q->nrows)
            continue;
        const int64_t picked = q->rowptr[j + 1] - q->rowptr[j] - h->loops;
        more[j] = h->whole->corrected ? 1 : picked > 0 ? (double)row.others / (double)picked : 0;
        own[j] = row.own;
    }
}

GrB_Info ftb_gcn_hop_run(const ftb_gcn_hop *h, void *values)
{
    const ftb_gcn_weights *w = &h->of;
    const ftb_pattern *q = w->q;
    double *exact = ftb_new(w->ctx, q->nvals, sizeof *exact),
           *root = ftb_new0(w->ctx, q->ncols, sizeof *root), *row = ftb_new(w->ctx, q->nrows, sizeof *row),
           *more = ftb_new(w->ctx, q->nrows, sizeof *more), *own = ftb_new(w->ctx, q->nrows, sizeof *own);
    GrB_Info info = exact && root && row && more && own ? GrB_SUCCESS : ftb_nomem();
    if (info != GrB_SUCCESS)
        goto done;
#pragma omp parallel for schedule(dynamic, 256) num_threads(ftb_threads_for(w->ctx, q->nvals))
    for (int64_t i = 0; i < q->nrows; i++)
        row[i] = row_weights(exact, w, i);
    if (h->whole) {
        roots_of_whole(h, root, more, own);
    } else {
        for (int64_t e = 0; e < q->nvals; e++)
            root[ftb_col(q, e)] += exact[e];
        for (int64_t j = 0; j < q->ncols; j++)
            root[j] = ftb_inverse_root(root[j]);
    }
#pragma omp parallel for schedule(dynamic, 256) num_threads(ftb_threads_for(w->ctx, q->nvals))
    for (int64_t i = 0; i < q->nrows; i++)
        for (int64_t e = q->rowptr[i]; e < q->rowptr[i + 1]; e++) {
            const int64_t j = ftb_col(q, e);
            const bool loop = h->loops && j == i;
            double value = w->factor * exact[e] * root[j] * (h->whole ? root[i] : ftb_inverse_root(row[i]));
            if (h->whole)
                value = loop ? w->factor * own[i] * root[i] * root[i] : value * more[i];
            ftb_cast((char *)values + (size_t)e * FtB_Type_size(w->type), w->type, &value, FTB_FP64, 1);
        }
done:
    ftb_delete(exact);
    ftb_delete(root);
    ftb_delete(row);
    ftb_delete(more);
    ftb_delete(own);
    return info;
}

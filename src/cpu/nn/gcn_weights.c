/* Weights of edges, normalised, row after row over threads (gcn_weights.h). */
#include "cpu/nn/gcn_weights.h"

#include <math.h>

double ftb_inverse_root(double degree) { return degree > 0 ? 1 / sqrt(degree) : 0; }

static double weight(const ftb_gcn_weights *w, int64_t e) { return ftb_get_real(w->weights, w->stored, e); }

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

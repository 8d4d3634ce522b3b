/* Features of edges with self-loops, row after row over threads (loop_edges_run.h). */
#include "cpu/nn/loop_edges_run.h"

/* Where row i of the pattern with loops differs from p's: entry t of p, which is not its loop, is entry
 * t + shift, or t + shift + 1 behind the loop. */
typedef struct row {
    int64_t first, last; /* of p */
    int64_t start, loop; /* of the other */
    int64_t others;      /* entries but the loop */
} row;

static row row_of(const ftb_pattern *p, const ftb_pattern *q, int64_t i)
{
    row r = {p->rowptr[i], p->rowptr[i + 1], q->rowptr[i], q->rowptr[i], q->rowptr[i + 1] - q->rowptr[i] - 1};
    while (ftb_col(q, r.loop) != i)
        r.loop++;
    return r;
}

#define WALK(suffix, T)                                                                                      \
    static void spread_##suffix(T *restrict y, const T *restrict x, int64_t width, const ftb_pattern *p,     \
                                const ftb_pattern *q, int64_t i)                                             \
    {                                                                                                        \
        row r = row_of(p, q, i);                                                                             \
        T *mean = y + r.loop * width;                                                                        \
        int64_t to = r.start;                                                                                \
        memset(mean, 0, (size_t)width * sizeof *mean);                                                       \
        for (int64_t e = r.first; e < r.last; e++) {                                                         \
            if (ftb_col(p, e) == i)                                                                          \
                continue;                                                                                    \
            to += to == r.loop;                                                                              \
            for (int64_t f = 0; f < width; f++) {                                                            \
                y[to * width + f] = x[e * width + f];                                                        \
                mean[f] += x[e * width + f];                                                                 \
            }                                                                                                \
            to++;                                                                                            \
        }                                                                                                    \
        for (int64_t f = 0; f < width && r.others > 0; f++)                                                  \
            mean[f] /= (T)r.others;                                                                          \
    }                                                                                                        \
    static void gather_##suffix(T *restrict dx, const T *restrict dy, int64_t width, const ftb_pattern *p,   \
                                const ftb_pattern *q, int64_t i, bool add)                                   \
    {                                                                                                        \
        row r = row_of(p, q, i);                                                                             \
        int64_t from = r.start;                                                                              \
        for (int64_t e = r.first; e < r.last; e++) {                                                         \
            bool loop = ftb_col(p, e) == i;                                                                  \
            from += !loop && from == r.loop;                                                                 \
            for (int64_t f = 0; f < width; f++) {                                                            \
                T d = loop ? 0 : dy[from * width + f] + dy[r.loop * width + f] / (T)r.others;                \
                dx[e * width + f] = add ? dx[e * width + f] + d : d;                                         \
            }                                                                                                \
            from += !loop;                                                                                   \
        }                                                                                                    \
    }
WALK(f32, float)
WALK(f64, double)

void ftb_looped_edges_run(const ftb_looped_edges *l, void *y, const void *x)
{
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for(l->ctx, l->q->nvals))
    for (int64_t i = 0; i < l->q->nrows; i++)
        if (l->type == FTB_FP32)
            spread_f32(y, x, l->width, l->p, l->q, i);
        else
            spread_f64(y, x, l->width, l->p, l->q, i);
}

void ftb_looped_edges_grad_run(const ftb_looped_edges *l, void *dx, const void *dy, bool add)
{
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for(l->ctx, l->q->nvals))
    for (int64_t i = 0; i < l->q->nrows; i++)
        if (l->type == FTB_FP32)
            gather_f32(dx, dy, l->width, l->p, l->q, i, add);
        else
            gather_f64(dx, dy, l->width, l->p, l->q, i, add);
}

/* A sweep is blocked Gauss-Seidel: vertices of a slice are computed from what all were before it, whichever
 * thread has them, and become so together. Slices are as many as the graph is large, and are not taken in
 * their order: vertices with many links often have neighbouring numbers.
 *
 * In place, ranks together do not stay what they were. That error falls by little more than the damping in a
 * sweep, and there is but one of it: so the ranks of those that somebody links to are then multiplied by what
 * makes their sum right. Of S in all, of which those that have links have L, and with B from nowhere and F of
 * vertices that nobody links to, S = B + d (F + L), so that the factor is (B + d F) / (S - d L). Where that
 * once did not help, it is left out from then on: sweeps alone reach the same ranks, later.
 *
 * Of sums a part of PART vertices is one number, and these are added up in order. */
#include "cpu/graph/sweep_run.h"

#include <math.h>

enum { SLICES = 256, FEW = 16, SCATTER = 159, LEAST = 8, CHUNK = 64, PART = 1024 };
#define SLICE (INT64_C(1) << 15) /* vertices and entries: enough for several threads */

typedef struct part_sums {
    double all, linked, fixed, back, changed, sum; /* S, L, F, B; |new - old|, new */
} part_sums;

typedef struct room {
    void *sent, *old; /* rank * share, as of now; ranks as the sweep before left them */
    part_sums *parts;
    int64_t nparts;
    int threads, slices;
    double last; /* changes of the sweep before */
    bool alone;  /* ranks are not multiplied any more */
} room;

/* ---- the loops, of each type */

#define LOOPS(suffix, T)                                                                                     \
    static double linked_##suffix(const ftb_sweep *w, const T *sent, int64_t e, int64_t end)                 \
    {                                                                                                        \
        const int32_t *from = w->t->colidx;                                                                  \
        const T *values = w->values;                                                                         \
        double a = 0, b = 0, c = 0, d = 0;                                                                   \
        for (; values && e < end; e++)                                                                       \
            a += (double)values[e] * (double)sent[from[e]];                                                  \
        for (; e + 4 <= end; e += 4) {                                                                       \
            a += (double)sent[from[e]];                                                                      \
            b += (double)sent[from[e + 1]];                                                                  \
            c += (double)sent[from[e + 2]];                                                                  \
            d += (double)sent[from[e + 3]];                                                                  \
        }                                                                                                    \
        for (; e < end; e++)                                                                                 \
            a += (double)sent[from[e]];                                                                      \
        return (a + b) + (c + d);                                                                            \
    }                                                                                                        \
    static void receive_##suffix(const ftb_sweep *w, int64_t begin, int64_t end)                             \
    {                                                                                                        \
        const T *sent = ((const room *)w->room)->sent, *back = w->back;                                      \
        const int64_t *rowptr = w->t->rowptr;                                                                \
        T *rank = w->rank;                                                                                   \
        for (int64_t v = begin; v < end; v++)                                                                \
            rank[v] =                                                                                        \
                (T)((double)back[v] + w->damping * linked_##suffix(w, sent, rowptr[v], rowptr[v + 1]));      \
    }                                                                                                        \
    static void send_##suffix(const ftb_sweep *w, int64_t begin, int64_t end)                                \
    {                                                                                                        \
        const T *rank = w->rank, *share = w->share;                                                          \
        T *sent = ((const room *)w->room)->sent;                                                             \
        for (int64_t v = begin; v < end; v++)                                                                \
            sent[v] = rank[v] * share[v];                                                                    \
    }                                                                                                        \
    static void add_##suffix(const ftb_sweep *w, int64_t begin, int64_t end, part_sums *s)                   \
    {                                                                                                        \
        const T *rank = w->rank, *share = w->share, *back = w->back;                                         \
        const int64_t *rowptr = w->t->rowptr;                                                                \
        for (int64_t v = begin; v < end; v++) {                                                              \
            const bool open = rowptr[v] < rowptr[v + 1], links = share[v] != 0;                              \
            s->all += open ? (double)rank[v] : 0;                                                            \
            s->linked += open && links ? (double)rank[v] : 0;                                                \
            s->fixed += !open && links ? (double)rank[v] : 0;                                                \
            s->back += open ? (double)back[v] : 0;                                                           \
        }                                                                                                    \
    }                                                                                                        \
    static void settle_##suffix(const ftb_sweep *w, double factor, int64_t begin, int64_t end, part_sums *s) \
    {                                                                                                        \
        const int64_t *rowptr = w->t->rowptr;                                                                \
        T *rank = w->rank, *old = ((const room *)w->room)->old;                                              \
        for (int64_t v = begin; v < end; v++) {                                                              \
            rank[v] = rowptr[v] < rowptr[v + 1] ? (T)(factor * (double)rank[v]) : rank[v];                   \
            s->changed += fabs((double)rank[v] - (double)old[v]);                                            \
            s->sum += (double)rank[v];                                                                       \
            old[v] = rank[v];                                                                                \
        }                                                                                                    \
        send_##suffix(w, begin, end);                                                                        \
    }
LOOPS(f32, float)
LOOPS(f64, double)

static void receive(const ftb_sweep *w, int64_t begin, int64_t end)
{
    if (w->type == FTB_FP32)
        receive_f32(w, begin, end);
    else
        receive_f64(w, begin, end);
}

static void send(const ftb_sweep *w, int64_t begin, int64_t end)
{
    if (w->type == FTB_FP32)
        send_f32(w, begin, end);
    else
        send_f64(w, begin, end);
}

/* ---- sums */

/* The factor that makes the sum right; 1: there is none. */
static double find_factor(const ftb_sweep *w)
{
    const room *r = w->room;
    part_sums all = {0};
#pragma omp parallel for num_threads(r->threads) schedule(static)
    for (int64_t p = 0; p < r->nparts; p++) {
        const int64_t begin = p * PART, end = ftb_min(begin + PART, w->t->nrows);
        r->parts[p] = (part_sums){0};
        if (w->type == FTB_FP32)
            add_f32(w, begin, end, &r->parts[p]);
        else
            add_f64(w, begin, end, &r->parts[p]);
    }
    for (int64_t p = 0; p < r->nparts; p++) {
        all.all += r->parts[p].all;
        all.linked += r->parts[p].linked;
        all.fixed += r->parts[p].fixed;
        all.back += r->parts[p].back;
    }
    const double factor = (all.back + w->damping * all.fixed) / (all.all - w->damping * all.linked);
    return factor > 0 && isfinite(factor) ? factor : 1;
}

static void settle(ftb_sweep *w, double factor)
{
    const room *r = w->room;
#pragma omp parallel for num_threads(r->threads) schedule(static)
    for (int64_t p = 0; p < r->nparts; p++) {
        const int64_t begin = p * PART, end = ftb_min(begin + PART, w->t->nrows);
        r->parts[p] = (part_sums){0};
        if (w->type == FTB_FP32)
            settle_f32(w, factor, begin, end, &r->parts[p]);
        else
            settle_f64(w, factor, begin, end, &r->parts[p]);
    }
    w->changed = w->sum = 0;
    for (int64_t p = 0; p < r->nparts; p++) {
        w->changed += r->parts[p].changed;
        w->sum += r->parts[p].sum;
    }
}

/* ---- all */

GrB_Info ftb_sweep_new(ftb_sweep *w)
{
    const int64_t n = w->t->nrows;
    const size_t size = FtB_Type_size(w->type);
    room *r = ftb_new0(w->ctx, 1, sizeof *r);
    w->room = r;
    if (!r)
        return ftb_nomem();
    const int64_t work = n + w->t->nvals, slices = ftb_max(FEW, ftb_min(SLICES, work / SLICE));
    r->slices = (int)ftb_max(1, ftb_min(slices, n / LEAST));
    r->threads = ftb_threads_for(w->ctx, work / r->slices); /* which meet behind each */
    r->nparts = (n + PART - 1) / PART;
    r->last = INFINITY;
    r->sent = ftb_new(w->ctx, n, size);
    r->old = ftb_new(w->ctx, n, size);
    r->parts = ftb_new(w->ctx, r->nparts, sizeof *r->parts);
    if (!r->sent || !r->old || !r->parts)
        return ftb_nomem();
    memcpy(r->old, w->rank, (size_t)n * size);
    send(w, 0, n);
    return GrB_SUCCESS;
}

void ftb_sweep_delete(ftb_sweep *w)
{
    room *r = w->room;
    if (r) {
        ftb_delete(r->sent);
        ftb_delete(r->old);
        ftb_delete(r->parts);
    }
    ftb_delete(r);
    w->room = NULL;
}

GrB_Info ftb_sweep_run(ftb_sweep *w)
{
    room *r = w->room;
    const int64_t n = w->t->nrows;
    atomic_bool stopped = false;
#pragma omp parallel num_threads(r->threads)
    for (int s = 0; s < SLICES; s++) {
        const int slice = s * SCATTER % SLICES;
        const int64_t first = n * slice / r->slices, end = n * (slice + 1) / r->slices;
        if (slice >= r->slices)
            continue;
#pragma omp for schedule(dynamic, 1)
        for (int64_t v = first; v < end; v += CHUNK)
            if (!ftb_stops(w->ctx, &stopped))
                receive(w, v, ftb_min(v + CHUNK, end));
#pragma omp for schedule(static)
        for (int64_t v = first; v < end; v += CHUNK)
            send(w, v, ftb_min(v + CHUNK, end));
    }
    settle(w, r->alone ? 1 : find_factor(w));
    r->alone = r->alone || w->changed > w->damping * r->last;
    r->last = w->changed;
    return ftb_check_stopped(w->ctx, &stopped);
}

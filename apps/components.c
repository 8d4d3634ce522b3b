/* Principal components by subspace iteration on X'X of centred rows: two directions are multiplied by it and
 * made orthogonal until they stay. X'X is never formed, so that a step costs what reading X does. Golub and
 * Van Loan, "Matrix computations", section 8.2. */
#include "components.h"

#include "core/core.h"

#include <math.h>

enum { STEPS = 200 };

typedef struct work {
    FtB_Block X;
    int64_t d;
    double *mean, *v, *next; /* d; 2 x d each */
} work;

static const float *row(FtB_Block X, int64_t i) { return (const float *)ftb_block_data(X) + i * X->ld; }

static double along(const work *w, const float *x, const double *v)
{
    double sum = 0;
    for (int64_t j = 0; j < w->d; j++)
        sum += ((double)x[j] - w->mean[j]) * v[j];
    return sum;
}

static void centre(work *w)
{
    for (int64_t i = 0; i < w->X->nrows; i++)
        for (int64_t j = 0; j < w->d; j++)
            w->mean[j] += (double)row(w->X, i)[j];
    for (int64_t j = 0; j < w->d; j++)
        w->mean[j] /= fmax((double)w->X->nrows, 1);
}

static double dot(const double *a, const double *b, int64_t d)
{
    double sum = 0;
    for (int64_t j = 0; j < d; j++)
        sum += a[j] * b[j];
    return sum;
}

/* Makes both directions of length 1, or 0, and orthogonal; returns how far they moved from `old`. */
static double orthogonalise(double *v, const double *old, int64_t d)
{
    double moved = 0;
    for (int c = 0; c < 2; c++) {
        double *to = v + c * d;
        double shared = c == 1 ? dot(to, v, d) : 0, length;
        for (int64_t j = 0; j < d && c == 1; j++)
            to[j] -= shared * v[j];
        length = sqrt(dot(to, to, d));
        for (int64_t j = 0; j < d; j++)
            to[j] = length > 1e-150 ? to[j] / length : 0;
        moved = fmax(moved, 1 - fabs(dot(to, old + c * d, d)));
    }
    return moved;
}

static void step(work *w)
{
    memset(w->next, 0, (size_t)(2 * w->d) * sizeof *w->next);
    for (int64_t i = 0; i < w->X->nrows; i++) {
        const float *x = row(w->X, i);
        double a = along(w, x, w->v), b = along(w, x, w->v + w->d);
        for (int64_t j = 0; j < w->d; j++) {
            double centred = (double)x[j] - w->mean[j];
            w->next[j] += a * centred;
            w->next[w->d + j] += b * centred;
        }
    }
}

static void iterate(work *w)
{
    for (int64_t j = 0; j < w->d; j++) { /* any start that is not orthogonal to what is wanted */
        w->v[j] = 1 + sin((double)j + 1);
        w->v[w->d + j] = cos(2.3 * (double)j + 0.7);
    }
    orthogonalise(w->v, w->v, w->d);
    for (int s = 0; s < STEPS; s++) {
        step(w);
        double moved = orthogonalise(w->next, w->v, w->d);
        double *old = w->v;
        w->v = w->next;
        w->next = old;
        if (moved < 1e-12)
            break;
    }
    for (int c = 0; c < 2; c++) { /* of a direction's two signs, the one whose largest part is positive */
        double *v = w->v + c * w->d;
        int64_t largest = 0;
        for (int64_t j = 1; j < w->d; j++)
            largest = fabs(v[j]) > fabs(v[largest]) ? j : largest;
        for (int64_t j = 0, turn = v[largest] < 0; j < w->d && turn; j++)
            v[j] = -v[j];
    }
}

GrB_Info components(double *x, double *y, double *share, FtB_Block X)
{
    work w = {.X = X, .d = X->ncols};
    GrB_Info info = ftb_buffer_ask(X->owner, FTB_READ);
    double whole = 0, held = 0;
    if (info != GrB_SUCCESS)
        return info;
    w.mean = ftb_new0(NULL, w.d, sizeof *w.mean);
    w.v = ftb_new0(NULL, 2 * w.d, sizeof *w.v);
    w.next = ftb_new0(NULL, 2 * w.d, sizeof *w.next);
    if (!w.mean || !w.v || !w.next) {
        info = ftb_nomem();
        goto done;
    }
    centre(&w);
    iterate(&w);
    for (int64_t i = 0; i < X->nrows; i++) {
        x[i] = along(&w, row(X, i), w.v);
        y[i] = along(&w, row(X, i), w.v + w.d);
        held += x[i] * x[i] + y[i] * y[i];
        for (int64_t j = 0; j < w.d; j++)
            whole += pow((double)row(X, i)[j] - w.mean[j], 2);
    }
    *share = whole > 0 ? held / whole : 0;
done:
    ftb_delete(w.mean);
    ftb_delete(w.v);
    ftb_delete(w.next);
    return info;
}

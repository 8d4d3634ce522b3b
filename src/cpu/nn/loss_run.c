/* Losses over threads (loss_run.h).
 *
 * The softmax is that of attention's rows; the sum of exponentials is one over its greatest value, that of
 * the greatest x. */
#include "cpu/nn/loss_run.h"

#include "cpu/kernels/heads.h"
#include "cpu/kernels/softmax.h"

#include <math.h>
#include <omp.h>

static bool counts(const ftb_loss_product *p, int64_t i) { return !p->mask || ((const uint8_t *)p->mask)[i]; }

static int32_t label_of(const ftb_loss_product *p, int64_t i) { return ((const int32_t *)p->labels)[i]; }

static double value_of(const void *values, FtB_Type type, int64_t k)
{
    return type == FTB_FP32 ? (double)((const float *)values)[k] : ((const double *)values)[k];
}

static double x_at(const ftb_loss_product *p, int64_t i, int64_t j)
{
    return value_of(p->x, p->type, i * p->ldx + j);
}

static double t_at(const ftb_loss_product *p, int64_t i, int64_t j)
{
    return value_of(p->t, p->targets, i * p->ldt + j);
}

/* Row i's softmax, ncols values of x's type. */
static void softmax(void *to, const ftb_loss_product *p, int64_t i)
{
    double scratch[2 * FTB_LANES]; /* of one head: a maximum and a sum per lane */
    const char *from = (const char *)p->x + (size_t)(i * p->ldx) * FtB_Type_size(p->type);
    const int64_t row[] = {0, p->ncols};
    FTB_PICK_REAL(ftb_softmax_rows, p->type)(to, from, row, 1, 1, scratch);
}

/* log(sum exp x_i) - x_i[label]; room: for a row. */
static double class_loss(void *room, const ftb_loss_product *p, int64_t i)
{
    int64_t most = 0;
    softmax(room, p, i);
    for (int64_t j = 1; j < p->ncols; j++)
        if (x_at(p, i, j) > x_at(p, i, most))
            most = j;
    return (x_at(p, i, most) - x_at(p, i, label_of(p, i))) - log(value_of(room, p->type, most));
}

/* log(1 + exp(-|x|)) + max(x, 0) - x t */
static double binary_term(double x, double t) { return log1p(exp(-fabs(x))) + fmax(x, 0) - x * t; }

static double row_loss(const ftb_loss_product *p, int64_t i, void *room)
{
    double sum = 0;
    if (p->what == FTB_LOSS_CLASSES)
        return class_loss(room, p, i);
    for (int64_t j = 0; j < p->ncols; j++) {
        double x = x_at(p, i, j), t = t_at(p, i, j);
        sum += p->what == FTB_LOSS_BINARY ? binary_term(x, t) : (x - t) * (x - t);
    }
    return sum;
}

static double terms(const ftb_loss_product *p)
{
    return (double)p->counted * (p->what == FTB_LOSS_CLASSES ? 1 : (double)p->ncols);
}

/* One row per thread, for what a row's softmax is. */
static char *rooms_new(const ftb_loss_product *p, size_t *room)
{
    *room = ((size_t)p->ncols * FtB_Type_size(p->type) + 63) / 64 * 64;
    return ftb_new(p->ctx, ftb_threads(p->ctx), *room);
}

GrB_Info ftb_loss_run(const ftb_loss_product *p)
{
    enum { ROWS = 4096 }; /* of a partial sum: the order of additions does not depend on threads */
    int64_t parts = (p->nrows + ROWS - 1) / ROWS;
    size_t room;
    char *rooms = rooms_new(p, &room);
    double total = 0, *sums = rooms ? ftb_new0(p->ctx, ftb_max(parts, 1), sizeof *sums) : NULL;
    if (!sums) {
        ftb_delete(rooms);
        return ftb_nomem();
    }
#pragma omp parallel for schedule(static) num_threads(ftb_threads(p->ctx)) if (parts > 1)
    for (int64_t k = 0; k < parts; k++)
        for (int64_t i = k * ROWS; i < ftb_min(p->nrows, (k + 1) * ROWS); i++)
            if (counts(p, i))
                sums[k] += row_loss(p, i, rooms + (size_t)omp_get_thread_num() * room);
    for (int64_t k = 0; k < parts; k++)
        total += sums[k];
    total /= terms(p);
    ftb_cast(p->out, p->type, &total, FTB_FP64, 1);
    ftb_delete(sums);
    ftb_delete(rooms);
    return GrB_SUCCESS;
}

/* ---- gradients */

/* d loss / d x(i, j) of targets, or d loss / d t(i, j), without the mean */
static double slope(const ftb_loss_product *p, bool of_targets, int64_t i, int64_t j)
{
    double x = x_at(p, i, j), t = t_at(p, i, j);
    if (p->what == FTB_LOSS_SQUARED)
        return of_targets ? 2 * (t - x) : 2 * (x - t);
    return of_targets ? -x : 1 / (1 + exp(-x)) - t;
}

static void put(void *values, FtB_Type type, int64_t at, double value, bool add)
{
    if (type == FTB_FP32) {
        float *to = (float *)values + at;
        *to = (float)value + (add ? *to : 0);
    } else {
        double *to = (double *)values + at;
        *to = value + (add ? *to : 0);
    }
}

static void row_of_x(const ftb_loss_product *p, int64_t i, double factor, void *room)
{
    bool counted = counts(p, i), classes = counted && p->what == FTB_LOSS_CLASSES;
    if (classes)
        softmax(room, p, i);
    for (int64_t j = 0; j < p->ncols; j++) {
        double value = classes   ? value_of(room, p->type, j) - (j == label_of(p, i))
                       : counted ? slope(p, false, i, j)
                                 : 0;
        put(p->dx, p->type, i * p->lddx + j, factor * value, p->add_dx);
    }
}

static void row_of_targets(const ftb_loss_product *p, int64_t i, double factor)
{
    bool counted = counts(p, i);
    for (int64_t j = 0; j < p->ncols; j++)
        put(p->dt, p->targets, i * p->lddt + j, factor * (counted ? slope(p, true, i, j) : 0), p->add_dt);
}

GrB_Info ftb_loss_grad_run(const ftb_loss_product *p)
{
    double factor = value_of(p->dout, p->type, 0) / terms(p);
    size_t room;
    char *rooms = rooms_new(p, &room);
    if (!rooms)
        return ftb_nomem();
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for_values(p->ctx, p->nrows * p->ncols))
    for (int64_t i = 0; i < p->nrows; i++) {
        if (p->dt)
            row_of_targets(p, i, factor);
        if (p->dx)
            row_of_x(p, i, factor, rooms + (size_t)omp_get_thread_num() * room);
    }
    ftb_delete(rooms);
    return GrB_SUCCESS;
}

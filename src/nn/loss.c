/* Losses: means over masked rows, and their gradients.
 *
 * cross_entropy: L = mean of log(sum exp x_i) - x_i[label]; dx_i = (softmax(x_i) - e_label) / count. The
 * softmax is that of attention's rows; the sum of exponentials is one over its greatest value, that of the
 * greatest x. */
#include "nn/nn.h"

#include "core/words.h"
#include "cpu/kernels/heads.h"
#include "cpu/kernels/softmax.h"

#include <math.h>
#include <omp.h>

typedef enum kind { CLASSES, BINARY, SQUARED } kind;

typedef struct loss {
    kind kind;
    int32_t *labels; /* CLASSES: n */
    uint8_t *mask;   /* n, or NULL: all rows */
    int64_t counted; /* rows */
} loss;

static bool counts(const loss *l, int64_t i) { return !l->mask || l->mask[i]; }

static double value_of(const void *values, FtB_Type type, int64_t k)
{
    return type == FTB_FP32 ? (double)((const float *)values)[k] : ((const double *)values)[k];
}

static double at(FtB_Block X, int64_t i, int64_t j)
{
    return value_of(ftb_block_data(X), X->type, i * X->ld + j);
}

/* Row i's softmax, X->ncols values of X's type. */
static void softmax(void *to, FtB_Block X, int64_t i)
{
    double scratch[2 * FTB_LANES]; /* of one head: a maximum and a sum per lane */
    const char *from = (const char *)ftb_block_data(X) + (size_t)(i * X->ld) * FtB_Type_size(X->type);
    const int64_t row[] = {0, X->ncols};
    FTB_PICK_REAL(ftb_softmax_rows, X->type)(to, from, row, 1, 1, scratch);
}

/* log(sum exp x_i) - x_i[label]; p: room for a row. */
static double class_loss(void *p, FtB_Block X, int64_t i, int32_t label)
{
    int64_t most = 0;
    softmax(p, X, i);
    for (int64_t j = 1; j < X->ncols; j++)
        if (at(X, i, j) > at(X, i, most))
            most = j;
    return (at(X, i, most) - at(X, i, label)) - log(value_of(p, X->type, most));
}

/* log(1 + exp(-|x|)) + max(x, 0) - x t */
static double binary_term(double x, double t) { return log1p(exp(-fabs(x))) + fmax(x, 0) - x * t; }

static double row_loss(const loss *l, const ftb_nn_call *c, int64_t i, void *room)
{
    FtB_Block X = c->in[0];
    double sum = 0;
    if (l->kind == CLASSES)
        return class_loss(room, X, i, l->labels[i]);
    for (int64_t j = 0; j < X->ncols; j++) {
        double x = at(X, i, j), t = at(c->in[1], i, j);
        sum += l->kind == BINARY ? binary_term(x, t) : (x - t) * (x - t);
    }
    return sum;
}

static double terms(const loss *l, FtB_Block X)
{
    return (double)l->counted * (l->kind == CLASSES ? 1 : (double)X->ncols);
}

/* One row per thread, for what a row's softmax is. */
static char *rooms_new(const ftb_nn_call *c, size_t *room)
{
    *room = ((size_t)c->in[0]->ncols * FtB_Type_size(c->in[0]->type) + 63) / 64 * 64;
    return ftb_new(c->ctx, ftb_threads(c->ctx), *room);
}

static GrB_Info forward(ftb_nn_node *n, const ftb_nn_call *c)
{
    const loss *l = n->state;
    FtB_Block X = c->in[0];
    enum { ROWS = 4096 }; /* of a partial sum: the order of additions does not depend on threads */
    int64_t parts = (X->nrows + ROWS - 1) / ROWS;
    size_t room;
    char *rooms = rooms_new(c, &room);
    double total = 0, *sums = rooms ? ftb_new0(c->ctx, ftb_max(parts, 1), sizeof *sums) : NULL;
    if (!sums) {
        ftb_delete(rooms);
        return ftb_nomem();
    }
#pragma omp parallel for schedule(static) num_threads(ftb_threads(c->ctx)) if (parts > 1)
    for (int64_t p = 0; p < parts; p++)
        for (int64_t i = p * ROWS; i < ftb_min(X->nrows, (p + 1) * ROWS); i++)
            if (counts(l, i))
                sums[p] += row_loss(l, c, i, rooms + (size_t)omp_get_thread_num() * room);
    for (int64_t p = 0; p < parts; p++)
        total += sums[p];
    total /= terms(l, X);
    ftb_cast(ftb_block_data(c->out), c->out->type, &total, FTB_FP64, 1);
    ftb_delete(sums);
    ftb_delete(rooms);
    return GrB_SUCCESS;
}

/* d loss / d x(i, j) of targets, or d loss / d targets(i, j), without the mean */
static double slope(const loss *l, const ftb_nn_call *c, bool of_targets, int64_t i, int64_t j)
{
    double x = at(c->in[0], i, j), t = at(c->in[1], i, j);
    if (l->kind == SQUARED)
        return of_targets ? 2 * (t - x) : 2 * (x - t);
    return of_targets ? -x : 1 / (1 + exp(-x)) - t;
}

static void put(FtB_Block X, int64_t i, int64_t j, double value, bool add)
{
    if (X->type == FTB_FP32) {
        float *to = (float *)ftb_block_data(X) + i * X->ld + j;
        *to = (float)value + (add ? *to : 0);
    } else {
        double *to = (double *)ftb_block_data(X) + i * X->ld + j;
        *to = value + (add ? *to : 0);
    }
}

static void row_gradient(const loss *l, const ftb_nn_call *c, int k, int64_t i, double factor, void *room)
{
    FtB_Block X = c->in[0];
    bool counted = counts(l, i), classes = counted && l->kind == CLASSES;
    if (classes)
        softmax(room, X, i);
    for (int64_t j = 0; j < X->ncols; j++) {
        double value = classes   ? value_of(room, X->type, j) - (j == l->labels[i])
                       : counted ? slope(l, c, k == 1, i, j)
                                 : 0;
        put(c->din[k], i, j, factor * value, c->add[k]);
    }
}

static GrB_Info gradient(ftb_nn_node *n, const ftb_nn_call *c)
{
    const loss *l = n->state;
    FtB_Block X = c->in[0];
    double factor = at(c->dout, 0, 0) / terms(l, X);
    size_t room;
    char *rooms = rooms_new(c, &room);
    if (!rooms)
        return ftb_nomem();
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for_values(c->ctx, X->nrows * X->ncols))
    for (int64_t i = 0; i < X->nrows; i++)
        for (int k = n->nin - 1; k >= 0; k--)
            if (c->din[k])
                row_gradient(l, c, k, i, factor, rooms + (size_t)omp_get_thread_num() * room);
    ftb_delete(rooms);
    return GrB_SUCCESS;
}

static void clear(ftb_nn_node *n)
{
    loss *l = n->state;
    ftb_delete(l->labels);
    ftb_delete(l->mask);
}

static void print(const ftb_nn_node *n, FILE *file)
{
    static const char *const what[] = {"cross-entropy of softmax", "cross-entropy of sigmoid",
                                       "squared error"};
    const loss *l = n->state;
    fprintf(file, "%s, mean over %lld of %lld rows", what[l->kind], (long long)l->counted,
            (long long)ftb_node_in(n, 0)->nrows);
}

static const ftb_nn_op op = {.name = "loss",
                             .flags = FTB_NN_NEEDS_IN,
                             .forward = forward,
                             .gradient = gradient,
                             .print = print,
                             .clear = clear};

/* ---- recording */

static GrB_Info check_labels(const ftb_nn_node *x, const int32_t *labels, const uint8_t *mask)
{
    if (!labels)
        return ftb_fail(GrB_NULL_POINTER, "FtB_cross_entropy: labels is NULL");
    char below[FTB_WORDS];
    for (int64_t i = 0; i < x->nrows; i++)
        if ((!mask || mask[i]) && (labels[i] < 0 || labels[i] >= x->ncols))
            return ftb_fail(GrB_INVALID_VALUE, "FtB_cross_entropy: labels[%lld] is %d; expected %s",
                            (long long)i, (int)labels[i], ftb_below_text(below, x->ncols));
    return GrB_SUCCESS;
}

static GrB_Info copy_rows(loss *l, FtB_Context ctx, int64_t nrows, const int32_t *labels, const uint8_t *mask)
{
    if (labels && !(l->labels = ftb_new(ctx, nrows, sizeof *labels)))
        return ftb_nomem();
    if (labels)
        memcpy(l->labels, labels, (size_t)nrows * sizeof *labels);
    if (mask && !(l->mask = ftb_new(ctx, nrows, 1)))
        return ftb_nomem();
    if (mask)
        memcpy(l->mask, mask, (size_t)nrows);
    for (int64_t i = 0; i < nrows; i++)
        l->counted += counts(l, i);
    return l->counted ? GrB_SUCCESS
                      : ftb_fail(GrB_INVALID_VALUE, "loss: mask admits none of %lld rows", (long long)nrows);
}

static FtB_Var record(const ftb_nn_node *x, const ftb_nn_node *targets, kind what, const int32_t *labels,
                      const uint8_t *mask)
{
    static const char *const calls[] = {"FtB_cross_entropy", "FtB_binary_cross_entropy", "FtB_squared_error"};
    FtB_Tape tape = x->tape;
    char shape[80];
    const int64_t in[2] = {x->number, targets ? targets->number : -1};
    if (x->graph)
        return ftb_var_failed(
            tape, ftb_fail(GrB_INVALID_VALUE, "loss: x is sparse or lies on edges; expected rows"));
    if (x->nrows == 0 || x->ncols == 0)
        return ftb_var_failed(tape,
                              ftb_fail(GrB_DIMENSION_MISMATCH, "%s: x is %s; there is no mean of nothing",
                                       calls[what], ftb_node_shape(x, shape, sizeof shape)));
    GrB_Info info = what == CLASSES ? check_labels(x, labels, mask) : GrB_SUCCESS;
    if (info != GrB_SUCCESS)
        return ftb_var_failed(tape, info);
    ftb_nn_node *n = ftb_node_new(tape, &op, in, targets ? 2 : 1, 1, 1, sizeof(loss));
    if (!n)
        return (FtB_Var){tape, -1};
    loss *l = n->state;
    l->kind = what;
    info = copy_rows(l, tape->ctx, x->nrows, labels, mask);
    return info == GrB_SUCCESS ? ftb_node_var(n) : ftb_var_failed(tape, info);
}

FtB_Var FtB_cross_entropy(FtB_Var x, const int32_t *labels, const uint8_t *mask)
{
    const ftb_nn_node *n = ftb_var(x, "FtB_cross_entropy", "x");
    return n ? record(n, NULL, CLASSES, labels, mask) : ftb_var_lost(x);
}

static FtB_Var against(const char *call, FtB_Var x, FtB_Var targets, const uint8_t *mask, kind what)
{
    char shape[2][80];
    FtB_Tape tape = ftb_var_tape(x, targets);
    const ftb_nn_node *a = ftb_var_of(tape, x, call, "x"), *b = ftb_var_of(tape, targets, call, "targets");
    if (!a || !b)
        return (FtB_Var){tape, -1};
    if (b->graph || b->nrows != a->nrows || b->ncols != a->ncols)
        return ftb_var_failed(x.tape, ftb_fail(GrB_DIMENSION_MISMATCH,
                                               "%s: x is %s, targets is %s; expected rows of x's shape", call,
                                               ftb_node_shape(a, shape[0], sizeof shape[0]),
                                               ftb_node_shape(b, shape[1], sizeof shape[1])));
    return record(a, b, what, NULL, mask);
}

FtB_Var FtB_binary_cross_entropy(FtB_Var x, FtB_Var targets, const uint8_t *mask)
{
    return against("FtB_binary_cross_entropy", x, targets, mask, BINARY);
}

FtB_Var FtB_squared_error(FtB_Var x, FtB_Var targets, const uint8_t *mask)
{
    return against("FtB_squared_error", x, targets, mask, SQUARED);
}

/* Losses: means over masked rows, and their gradients.
 *
 * cross_entropy: L = mean of log(sum exp x_i) - x_i[label]; dx_i = (softmax(x_i) - e_label) / count. */
#include "core/words.h"
#include "cpu/nn/loss_run.h"
#include "nn/nn.h"
#include "ops/backends.h"

typedef struct loss {
    ftb_loss_form what;
    ftb_buffer *labels; /* CLASSES: n of int32_t */
    ftb_buffer *mask;   /* n of uint8_t, or NULL: all rows */
    int64_t counted;    /* rows */
} loss;

static ftb_loss_product product_of(const ftb_nn_node *n, const ftb_nn_call *c)
{
    const loss *l = n->state;
    const FtB_Block x = c->in[0], t = n->nin > 1 ? c->in[1] : NULL;
    return (ftb_loss_product){.ctx = c->ctx,
                              .what = l->what,
                              .type = x->type,
                              .targets = t ? t->type : x->type,
                              .nrows = x->nrows,
                              .ncols = x->ncols,
                              .ldx = x->ld,
                              .ldt = t ? t->ld : 0,
                              .counted = l->counted};
}

static GrB_Info forward(ftb_nn_node *n, const ftb_nn_call *c)
{
    const loss *l = n->state;
    ftb_loss_product p = product_of(n, c);
    const ftb_place places[] = {{.X = c->in[0], .read = &p.x},
                                {.X = n->nin > 1 ? c->in[1] : NULL, .read = &p.t},
                                {.values = l->labels, .read = &p.labels},
                                {.values = l->mask, .read = &p.mask},
                                {.X = c->out, .write = &p.out, .whole = true}};
    const ftb_backend *who = FTB_WHO_FITS(c->ctx, loss, &p);
    GrB_Info info;
    FTB_RUN(info, who, loss, places, &p);
    return info;
}

static GrB_Info gradient(ftb_nn_node *n, const ftb_nn_call *c)
{
    const loss *l = n->state;
    const FtB_Block dx = c->din[0], dt = c->din[1];
    ftb_loss_product p = product_of(n, c);
    p.lddx = dx ? dx->ld : 0;
    p.lddt = dt ? dt->ld : 0;
    p.add_dx = c->add[0];
    p.add_dt = c->add[1];
    const ftb_place places[] = {{.X = c->in[0], .read = &p.x},
                                {.X = n->nin > 1 ? c->in[1] : NULL, .read = &p.t},
                                {.values = l->labels, .read = &p.labels},
                                {.values = l->mask, .read = &p.mask},
                                {.X = c->dout, .read = &p.dout},
                                {.X = dx, .write = &p.dx, .whole = !p.add_dx},
                                {.X = dt, .write = &p.dt, .whole = !p.add_dt}};
    const ftb_backend *who = FTB_WHO_FITS(c->ctx, loss_grad, &p);
    GrB_Info info;
    FTB_RUN(info, who, loss_grad, places, &p);
    return info;
}

static void clear(ftb_nn_node *n)
{
    loss *l = n->state;
    ftb_buffer_release(l->labels);
    ftb_buffer_release(l->mask);
}

static void print(const ftb_nn_node *n, FILE *file)
{
    static const char *const what[] = {"cross-entropy of softmax", "cross-entropy of sigmoid",
                                       "squared error"};
    const loss *l = n->state;
    fprintf(file, "%s, mean over %lld of %lld rows", what[l->what], (long long)l->counted,
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

/* A buffer with a copy of an array; NULL on failure. */
static ftb_buffer *copy_of(FtB_Context ctx, const void *array, int64_t count, size_t size)
{
    void *made = ftb_new(ctx, count, size);
    if (made)
        memcpy(made, array, (size_t)count * size);
    return ftb_buffer_adopt(ctx, made);
}

static GrB_Info copy_rows(loss *l, FtB_Context ctx, int64_t nrows, const int32_t *labels, const uint8_t *mask)
{
    if (labels && !(l->labels = copy_of(ctx, labels, nrows, sizeof *labels)))
        return ftb_nomem();
    if (mask && !(l->mask = copy_of(ctx, mask, nrows, 1)))
        return ftb_nomem();
    for (int64_t i = 0; i < nrows; i++)
        l->counted += !mask || mask[i];
    return l->counted ? GrB_SUCCESS
                      : ftb_fail(GrB_INVALID_VALUE, "loss: mask admits none of %lld rows", (long long)nrows);
}

static FtB_Var record(const ftb_nn_node *x, const ftb_nn_node *targets, ftb_loss_form what,
                      const int32_t *labels, const uint8_t *mask)
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
    GrB_Info info = what == FTB_LOSS_CLASSES ? check_labels(x, labels, mask) : GrB_SUCCESS;
    if (info != GrB_SUCCESS)
        return ftb_var_failed(tape, info);
    ftb_nn_node *n = ftb_node_new(tape, &op, in, targets ? 2 : 1, 1, 1, sizeof(loss));
    if (!n)
        return (FtB_Var){tape, -1};
    loss *l = n->state;
    l->what = what;
    info = copy_rows(l, tape->ctx, x->nrows, labels, mask);
    return info == GrB_SUCCESS ? ftb_node_var(n) : ftb_var_failed(tape, info);
}

FtB_Var FtB_cross_entropy(FtB_Var x, const int32_t *labels, const uint8_t *mask)
{
    const ftb_nn_node *n = ftb_var(x, "FtB_cross_entropy", "x");
    return n ? record(n, NULL, FTB_LOSS_CLASSES, labels, mask) : ftb_var_lost(x);
}

static FtB_Var against(const char *call, FtB_Var x, FtB_Var targets, const uint8_t *mask, ftb_loss_form what)
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
    return against("FtB_binary_cross_entropy", x, targets, mask, FTB_LOSS_BINARY);
}

FtB_Var FtB_squared_error(FtB_Var x, FtB_Var targets, const uint8_t *mask)
{
    return against("FtB_squared_error", x, targets, mask, FTB_LOSS_SQUARED);
}

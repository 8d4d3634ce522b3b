/* Runs a record: constants once, then forward, then gradients in reverse. */
#include "nn/schedule.h"

#include "core/draws.h"
#include "core/spare.h"
#include "nn/shape.h"

/* ---- one operation */

static uint64_t seed_of(const ftb_nn_node *n)
{
    return ftb_random_mix(n->tape->seed, n->tape->run, (uint64_t)n->number);
}

/* seeds: of all nodes, where a device that records finds them; else NULL. */
static void prepare(ftb_nn_call *c, const ftb_nn_node *n, bool training, const uint64_t *seeds)
{
    *c = (ftb_nn_call){.ctx = n->tape->ctx,
                       .training = training,
                       .seed = seed_of(n),
                       .seed_at = seeds ? seeds + n->number : NULL,
                       .out = n->value,
                       .out_edges = n->edges,
                       .extra = training ? n->extra : NULL};
    for (int k = 0; k < n->nin; k++) {
        c->in[k] = ftb_node_in(n, k)->value;
        c->in_edges[k] = ftb_node_in(n, k)->edges;
    }
}

/* Whether what n reads is there: what FtB_input_take gave may have gone. */
static GrB_Info check_inputs(const ftb_nn_node *n)
{
    for (int k = 0; k < n->nin; k++)
        if (!ftb_node_in(n, k)->op && !ftb_node_in(n, k)->ready)
            return ftb_fail(
                GrB_NO_VALUE,
                "input %d was given by FtB_input_take, and went when nothing recorded read it any "
                "more; record all readers before the first run, or FtB_keep it",
                k + 1);
    return GrB_SUCCESS;
}

static GrB_Info ask(FtB_Block X, FtB_Matrix edges, ftb_access access)
{
    GrB_Info info = X ? ftb_buffer_ask(X->owner, access) : GrB_SUCCESS;
    return info == GrB_SUCCESS && edges ? ftb_buffer_ask(edges->values, access) : info;
}

GrB_Info ftb_nn_ask_host(const ftb_nn_node *n, const ftb_nn_call *c)
{
    GrB_Info info = GrB_SUCCESS;
    for (int k = 0; k < n->nin; k++)
        FTB_CHECK(ask(c->in[k], c->in_edges[k], FTB_READ));
    FTB_CHECK(ask(c->out, c->out_edges, c->dout || c->dout_edges ? FTB_READ : FTB_UPDATE));
    FTB_CHECK(ask(c->extra, NULL, FTB_UPDATE));
    FTB_CHECK(ask(c->dout, c->dout_edges, FTB_READ));
    for (int k = 0; k < n->nin; k++)
        FTB_CHECK(ask(c->din[k], c->din_edges[k], FTB_UPDATE));
done:
    return info;
}

static void see(ftb_replay *r, FtB_Block X, FtB_Matrix edges)
{
    if (r && X)
        ftb_replay_see(r, X->owner);
    if (r && edges)
        ftb_replay_see(r, edges->values);
}

static GrB_Info forward(ftb_nn_node *n, bool training, bool relu, ftb_replay *r, const uint64_t *seeds)
{
    ftb_nn_call c;
    GrB_Info info = check_inputs(n);
    if (info == GrB_SUCCESS) {
        prepare(&c, n, training, seeds);
        c.relu = relu;
        info = n->op->forward(n, &c);
        see(r, c.out, c.out_edges);
    }
    return info == GrB_SUCCESS ? info : ftb_wrap_error(info, "%s: ", n->op->name);
}

/* written: per root, whether its gradient holds something. */
static GrB_Info gradient(ftb_nn_node *n, bool *written, ftb_replay *r, const uint64_t *seeds)
{
    ftb_nn_call c;
    prepare(&c, n, true, seeds);
    c.dout = n->grad;
    c.dout_edges = n->grad_edges;
    for (int k = n->nin - 1; k >= 0; k--) { /* the first is last: it may be written where dout is */
        const ftb_nn_node *input = ftb_node_in(n, k);
        if (!input->gradient)
            continue;
        c.din[k] = input->grad;
        c.din_edges[k] = input->grad_edges;
        c.add[k] = written[input->root];
        written[input->root] = true;
    }
    GrB_Info info = n->op->gradient(n, &c);
    for (int k = 0; k < n->nin; k++)
        see(r, c.din[k], c.din_edges[k]);
    return info == GrB_SUCCESS ? info : ftb_wrap_error(info, "%s, gradient: ", n->op->name);
}

/* ---- constants */

static void constant_drop(ftb_nn_node *n)
{
    FtB_Block_free(&n->value);
    FtB_Matrix_free(&n->edges);
    n->ready = false;
}

/* n's own memory: that of its first input where nobody else needs it, else new. */
static GrB_Info constant_memory(ftb_nn_node *n, bool in_place)
{
    int64_t rows, cols;
    ftb_node_stored(n, &rows, &cols);
    const ftb_nn_node *input = in_place ? ftb_node_in(n, 0) : NULL;
    const FtB_Block X = input ? input->value : NULL;
    bool fits = X && X->nrows == rows && X->ncols == cols && X->ld == cols && X->type == n->type &&
                X->owner->owned && X->owner->writable && !X->owner->foreign &&
                atomic_load(&X->owner->refs) == (input->edges ? 2 : 1);
    GrB_Info info =
        fits ? ftb_block_view(&n->value, X->ctx, n->type, rows, cols, cols, ftb_buffer_retain(X->owner))
             : FtB_Block_new(&n->value, rows, cols, n->type);
    if (info != GrB_SUCCESS)
        return info;
    n->value->heads = n->heads;
    return n->graph ? ftb_matrix_over(&n->edges, n->graph->pattern, n->value) : GrB_SUCCESS;
}

static GrB_Info constant_run(ftb_nn_node *n, bool in_place)
{
    GrB_Info info;
    ftb_schedules_renew(n->tape);
    if (n->root != n->number) { /* a view of another constant */
        const ftb_nn_node *r = n->tape->nodes[n->root];
        info = check_inputs(n);
        if (info == GrB_SUCCESS)
            info = FtB_Block_heads(&n->value, r->value, n->heads);
        if (info == GrB_SUCCESS && n->graph)
            info = ftb_matrix_over(&n->edges, n->graph->pattern, n->value);
    } else {
        info = constant_memory(n, in_place);
        if (info == GrB_SUCCESS)
            info = forward(n, false, false, NULL, NULL);
    }
    if (info != GrB_SUCCESS)
        constant_drop(n);
    else
        n->ready = true;
    return info;
}

enum { BY_CONSTANT = 1, BY_OTHERS = 2 }; /* who reads a node: constants that are not there yet, others */

/* Whether nobody needs `constant` once node k has read it: no constant that comes after, and if it cannot be
 * computed again, since it is or is made of what FtB_input_take gave, nothing else that is on the tape. */
static bool last_read(FtB_Tape tape, const ftb_schedule *s, const uint8_t *read, int64_t k, int64_t constant)
{
    const ftb_nn_node *c = tape->nodes[constant];
    if (read[constant] != BY_CONSTANT || c->keep || (!c->op && !c->taken))
        return false;
    for (int64_t later = c->taken ? constant + 1 : k + 1; later < tape->count; later++) {
        const ftb_nn_node *n = tape->nodes[later];
        bool here = later < s->count && s->needed[later];
        bool reads = here ? later > k && n->constant && !n->ready && read[later] : c->taken;
        for (int j = 0; reads && j < n->nin; j++)
            if (n->in[j] == constant)
                return false;
    }
    return true;
}

/* Computes the constants that others read and that are not there yet; those in between go again. `read`:
 * scratch, per node. */
static GrB_Info constants(FtB_Tape tape, const ftb_schedule *s, uint8_t *read)
{
    memset(read, 0, (size_t)s->count);
    read[s->target] = BY_OTHERS;
    for (int64_t k = s->count - 1; k >= 0; k--) {
        const ftb_nn_node *n = tape->nodes[k];
        if (!s->needed[k] || !n->op)
            continue;
        if (n->keep)
            read[k] = BY_OTHERS;
        if (n->constant && (n->ready || !read[k]))
            continue;
        for (int j = 0; j < n->nin; j++)
            read[n->in[j]] |= n->constant ? BY_CONSTANT : BY_OTHERS;
    }
    GrB_Info info = GrB_SUCCESS;
    for (int64_t k = 0; k < s->count && info == GrB_SUCCESS; k++) {
        ftb_nn_node *n = tape->nodes[k];
        if (!s->needed[k] || !n->op || !n->constant || n->ready || !read[k])
            continue;
        bool in_place =
            (n->op->flags & FTB_NN_IN_PLACE) && !ftb_node_twice(n) && last_read(tape, s, read, k, n->in[0]);
        info = constant_run(n, in_place);
        for (int j = 0; j < n->nin; j++) /* after a failure, what it may have written over */
            if ((info == GrB_SUCCESS || (in_place && j == 0)) && last_read(tape, s, read, k, n->in[j]))
                constant_drop(tape->nodes[n->in[j]]);
    }
    return info;
}

/* Constants that were made of values which have changed are made again. `changed`: scratch, per node of the
 * tape. */
static GrB_Info look_at_values(FtB_Tape tape, bool *changed)
{
    for (int64_t k = 0; k < tape->count; k++) {
        ftb_nn_node *n = tape->nodes[k];
        bool same = true;
        if (n->constant) {
            GrB_Info info = ftb_watch_look(&n->values, &same, n->derived ? "a layer's A" : "an input");
            if (info != GrB_SUCCESS)
                return info;
        }
        if (!same && n->derived)
            return ftb_fail(GrB_INVALID_VALUE,
                            "the values of a layer's A have changed since it was recorded; "
                            "expected FtB_Tape_reset, and another record");
        changed[k] = !same;
        for (int j = 0; j < n->nin && n->constant; j++)
            changed[k] |= changed[n->in[j]];
        if (changed[k] && n->op && n->ready)
            constant_drop(n);
        if (!same)
            ftb_watch_renew(&n->values);
    }
    return GrB_SUCCESS;
}

/* ---- runs */

static GrB_Info gradients(FtB_Tape tape, const ftb_schedule *s, bool *written, ftb_replay *r,
                          const uint64_t *seeds)
{
    ftb_nn_node *target = tape->nodes[tape->nodes[s->target]->root];
    memset(written, 0, (size_t)s->count * sizeof *written);
    if (!target->gradient || !target->op)
        return ftb_fail(GrB_INVALID_VALUE, "FtB_backward: loss depends on no parameter that is trained");
    GrB_Info info = ftb_block_fill(target->grad, 1);
    see(r, target->grad, NULL);
    written[target->number] = true;
    for (int64_t k = s->count - 1; k >= 0 && info == GrB_SUCCESS; k--) {
        ftb_nn_node *n = tape->nodes[k];
        if (s->needed[k] && n->op && n->root == k && n->gradient && written[k])
            info = gradient(n, written, r, seeds);
    }
    for (int64_t k = 0; k < s->count && info == GrB_SUCCESS; k++) { /* reached by no gradient */
        FtB_Block G = tape->nodes[k]->parameter && s->needed[k] && !written[k] ? tape->nodes[k]->grad : NULL;
        if (G) {
            info = ftb_block_fill(G, 0);
            see(r, G, NULL);
        }
    }
    return info;
}

typedef struct pass {
    FtB_Tape tape;
    ftb_schedule *s;
    void *scratch;
} pass;

/* Whether node k + 1 is node k's relu, in the same memory, that k can make with its own: nobody reads it
 * without. */
static bool ends_in_relu(const pass *p, int64_t k)
{
    const ftb_schedule *s = p->s;
    const ftb_nn_node *n = p->tape->nodes[k], *next = k + 1 < s->count ? p->tape->nodes[k + 1] : NULL;
    return next && s->needed[k + 1] && next->op && !next->constant && next->root == k + 1 &&
           ftb_node_is_relu(next) && next->in[0] == k && s->slot[k][FTB_PART_VALUE] >= 0 &&
           s->slot[k][FTB_PART_VALUE] == s->slot[k + 1][FTB_PART_VALUE] && n->op->takes_relu &&
           n->op->takes_relu(n);
}

/* All operations, and their gradients in training, as work that may be recorded. */
static GrB_Info operations(void *of, ftb_replay *r, const void *seeds)
{
    const pass *p = of;
    const ftb_schedule *s = p->s;
    GrB_Info info = GrB_SUCCESS;
    for (int64_t k = 0; k < s->count && info == GrB_SUCCESS; k++) {
        ftb_nn_node *n = p->tape->nodes[k];
        if (!s->needed[k] || !n->op || n->constant || n->root != k)
            continue;
        const bool relu = ends_in_relu(p, k);
        info = forward(n, s->training, relu, r, seeds);
        k += relu; /* which is there, too */
    }
    return info == GrB_SUCCESS && s->training ? gradients(p->tape, s, p->scratch, r, seeds) : info;
}

/* Trains as all runs do, but that seeds may be read by a device, of a run that it recorded. */
static GrB_Info train(pass *p)
{
    ftb_schedule *s = p->s;
    if (!ftb_replay_possible(p->tape->ctx))
        return operations(p, NULL, NULL);
    if (!s->seeds && !(s->seeds = ftb_new(p->tape->ctx, s->count, sizeof *s->seeds)))
        return ftb_nomem();
    for (int64_t k = 0; k < s->count; k++)
        s->seeds[k] = seed_of(p->tape->nodes[k]);
    return ftb_replay_run(&s->replay, p->tape->ctx, operations, p, s->seeds,
                          s->count * (int64_t)sizeof *s->seeds);
}

static GrB_Info run(ftb_nn_node *y, bool training)
{
    FtB_Tape tape = y->tape;
    ftb_schedule *s;
    uint8_t *scratch = NULL;
    ftb_spare_round(tape->ctx);
    GrB_Info info = ftb_schedule_of(&s, tape, y->number, training);
    if (info != GrB_SUCCESS)
        return info;
    scratch = ftb_new(tape->ctx, tape->count, sizeof *scratch);
    if (!scratch)
        return ftb_nomem();
    FTB_CHECK(look_at_values(tape, (bool *)scratch));
    FTB_CHECK(constants(tape, s, scratch));
    FTB_CHECK(ftb_schedule_bind(tape, s));
    tape->run += training;
    pass p = {tape, s, scratch};
    info = training ? train(&p) : operations(&p, NULL, NULL);
done:
    ftb_delete(scratch);
    return info;
}

static GrB_Info check(ftb_nn_node **n, FtB_Var x, const char *call, const char *name)
{
    *n = ftb_var(x, call, name);
    if (*n)
        return GrB_SUCCESS;
    return x.tape ? FtB_Tape_status(x.tape) : GrB_NULL_POINTER;
}

static GrB_Info view(FtB_Block *X, const ftb_nn_node *n)
{
    return FtB_Block_heads(X, n->value, n->value->heads);
}

GrB_Info FtB_evaluate(FtB_Block *Y, FtB_Var y)
{
    ftb_nn_node *n;
    if (!Y)
        return ftb_fail(GrB_NULL_POINTER, "FtB_evaluate: Y is NULL");
    *Y = NULL;
    GrB_Info info = check(&n, y, "FtB_evaluate", "y");
    if (info == GrB_SUCCESS && (n->sparse))
        info = ftb_fail(GrB_INVALID_VALUE, "FtB_evaluate: y is sparse");
    if (info == GrB_SUCCESS)
        info = run(n, false);
    if (info == GrB_SUCCESS && !n->value)
        info = ftb_fail(GrB_NO_VALUE, "FtB_evaluate: y was given by FtB_input_take, and is gone");
    return info == GrB_SUCCESS ? view(Y, n) : info;
}

GrB_Info FtB_backward(FtB_Var loss)
{
    ftb_nn_node *n;
    GrB_Info info = check(&n, loss, "FtB_backward", "loss");
    if (info != GrB_SUCCESS)
        return info;
    if (n->nrows != 1 || n->ncols != 1)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "FtB_backward: loss is %lld x %lld; expected 1 x 1",
                        (long long)n->nrows, (long long)n->ncols);
    if (n->tape->inference)
        return ftb_fail(GrB_INVALID_VALUE,
                        "FtB_backward: the tape was made for inference (FtB_Tape_inference)");
    return run(n, true);
}

GrB_Info FtB_value(FtB_Block *X, FtB_Var x)
{
    ftb_nn_node *n;
    if (!X)
        return ftb_fail(GrB_NULL_POINTER, "FtB_value: X is NULL");
    *X = NULL;
    GrB_Info info = check(&n, x, "FtB_value", "x");
    if (info != GrB_SUCCESS)
        return info;
    const ftb_schedule *s = n->tape->bound;
    bool kept = n->ready ||
                (s && n->number < s->count && s->needed[n->number] && (n->keep || n->number == s->target));
    if (!kept || !n->value)
        return ftb_fail(GrB_NO_VALUE,
                        "FtB_value: x was not kept by the last run; expected the loss, what was "
                        "evaluated, or a variable of FtB_keep");
    return view(X, n);
}

GrB_Info FtB_scalar(double *value, FtB_Var x)
{
    FtB_Block X;
    if (!value)
        return ftb_fail(GrB_NULL_POINTER, "FtB_scalar: value is NULL");
    GrB_Info info = FtB_value(&X, x);
    if (info != GrB_SUCCESS)
        return info;
    info = ftb_buffer_ask_as(X->owner, FTB_READ, "FtB_scalar: x");
    if (info == GrB_SUCCESS && X->nrows == 1 && X->ncols == 1)
        *value = ftb_get_real(ftb_block_data(X), X->type, 0);
    else if (info == GrB_SUCCESS)
        info = ftb_fail(GrB_DIMENSION_MISMATCH, "FtB_scalar: x is %lld x %lld; expected 1 x 1",
                        (long long)X->nrows, (long long)X->ncols);
    FtB_Block_free(&X);
    return info;
}

/* Lives of values and gradients, and the slots that they share (schedule.h). */
#include "nn/schedule.h"

#include <stdlib.h>

#define NEVER INT64_MAX
#define SPARE 8 /* a slot that grows gets one in so many bytes more: batches are not all of a size */

/* What holds one piece of memory from its first to its last time: a value, a gradient, or several that hand
 * it on in place. */
typedef struct tenant {
    int64_t bytes, first, last;
    int32_t slot;
} tenant;

typedef struct lives {
    FtB_Tape tape;
    ftb_schedule *s;
    int64_t end;                                     /* 2 count: node k's gradient runs at end - k */
    int64_t (*first)[FTB_PARTS], (*last)[FTB_PARTS]; /* per root */
    tenant *tenants;
    int64_t count, room; /* of tenants */
    int64_t held;        /* bytes in use at this time */
} lives;

bool ftb_node_reads(const ftb_nn_node *n, int k)
{
    if (!(n->op->flags & FTB_NN_NEEDS_IN))
        return false;
    return !n->op->needs || n->op->needs(n, k);
}

static bool runs(const ftb_nn_node *n) { return n->op && !n->constant && n->root == n->number; }

static int64_t bytes_of(const ftb_nn_node *n, ftb_part part)
{
    int64_t rows = n->extra_rows, cols = n->extra_cols, count;
    if (part != FTB_PART_EXTRA)
        ftb_node_stored(n, &rows, &cols);
    FtB_Type type = part == FTB_PART_EXTRA ? n->extra_type : n->type;
    if (__builtin_mul_overflow(rows, cols, &count) ||
        __builtin_mul_overflow(count, (int64_t)FtB_Type_size(type), &count))
        return INT64_MAX; /* refused by the allocator */
    return count;
}

/* ---- when */

static void mark(ftb_schedule *s, FtB_Tape tape)
{
    s->needed[s->target] = true;
    for (int64_t k = s->target; k >= 0; k--) {
        const ftb_nn_node *n = tape->nodes[k];
        if (!s->needed[k])
            continue;
        for (int j = 0; j < n->nin; j++)
            s->needed[n->in[j]] = true;
    }
}

static void until(lives *l, int64_t root, ftb_part part, int64_t time)
{
    l->last[root][part] = ftb_max(l->last[root][part], time);
}

static void live_gradient(lives *l, const ftb_nn_node *n)
{
    int64_t k = n->number, when = l->end - k;
    if (n->op->flags & FTB_NN_NEEDS_OUT)
        until(l, k, FTB_PART_VALUE, when);
    until(l, k, FTB_PART_EXTRA, when);
    until(l, k, FTB_PART_GRAD, when);
    for (int j = 0; j < n->nin; j++) {
        int64_t r = ftb_node_in(n, j)->root;
        if (ftb_node_reads(n, j))
            until(l, r, FTB_PART_VALUE, when);
        if (l->tape->nodes[r]->gradient)
            l->first[r][FTB_PART_GRAD] = ftb_min(l->first[r][FTB_PART_GRAD], when);
    }
}

static void live(lives *l)
{
    for (int64_t k = 0; k < l->s->count; k++) {
        const ftb_nn_node *n = l->tape->nodes[k];
        for (int part = 0; part < FTB_PARTS; part++) {
            l->first[k][part] = NEVER;
            l->last[k][part] = k;
        }
        if (!l->s->needed[k])
            continue;
        if (n->keep || k == l->s->target)
            until(l, n->root, FTB_PART_VALUE, NEVER);
        if (!runs(n))
            continue;
        for (int j = 0; j < n->nin; j++)
            until(l, ftb_node_in(n, j)->root, FTB_PART_VALUE, k);
        if (l->s->training && n->gradient)
            live_gradient(l, n);
    }
    int64_t target = l->tape->nodes[l->s->target]->root;
    if (l->s->training)
        l->first[target][FTB_PART_GRAD] = l->end - l->s->target;
}

/* ---- where */

static GrB_Info take(lives *l, const ftb_nn_node *n, ftb_part part, int64_t time)
{
    int64_t bytes = bytes_of(n, part);
    if (l->count == l->room &&
        !ftb_resize(l->tape->ctx, (void **)&l->tenants, l->room = 2 * l->room + 16, sizeof *l->tenants))
        return ftb_nomem();
    l->tenants[l->count] = (tenant){.bytes = bytes, .first = time, .last = NEVER};
    l->s->slot[n->number][part] = (int32_t)l->count++;
    l->held += bytes;
    l->s->bytes = ftb_max(l->s->bytes, l->held);
    return GrB_SUCCESS;
}

/* Gives memory back, if this is the last time that its holder is needed. What was handed on in place is not
 * the old holder's to give. */
static void give(lives *l, int64_t node, ftb_part part, int64_t time)
{
    int32_t at = l->s->slot[node][part];
    if (at < 0 || l->last[node][part] != time)
        return;
    l->tenants[at].last = time;
    l->held -= bytes_of(l->tape->nodes[node], part);
    l->last[node][part] = -1;
}

/* Whether out of n may take over what holds the other part. */
static bool hand_on(lives *l, const ftb_nn_node *to, ftb_part to_part, int64_t from, ftb_part from_part,
                    int64_t time)
{
    ftb_schedule *s = l->s;
    if (s->slot[from][from_part] < 0 || l->last[from][from_part] != time ||
        bytes_of(to, to_part) != bytes_of(l->tape->nodes[from], from_part))
        return false;
    s->slot[to->number][to_part] = s->slot[from][from_part];
    l->last[from][from_part] = -1;
    return true;
}

bool ftb_node_twice(const ftb_nn_node *n)
{
    for (int j = 1; j < n->nin; j++)
        if (ftb_node_in(n, j)->root == ftb_node_in(n, 0)->root)
            return true;
    return false;
}

static GrB_Info place_forward(lives *l, const ftb_nn_node *n)
{
    int64_t k = n->number;
    bool training = l->s->training && n->gradient;
    GrB_Info info = GrB_SUCCESS;
    if (!(n->op->flags & FTB_NN_IN_PLACE) || ftb_node_twice(n) ||
        !hand_on(l, n, FTB_PART_VALUE, ftb_node_in(n, 0)->root, FTB_PART_VALUE, k))
        info = take(l, n, FTB_PART_VALUE, k);
    if (info == GrB_SUCCESS && training && n->extra_rows > 0)
        info = take(l, n, FTB_PART_EXTRA, k);
    for (int j = 0; j < n->nin; j++)
        give(l, ftb_node_in(n, j)->root, FTB_PART_VALUE, k);
    give(l, k, FTB_PART_VALUE, k);
    return info;
}

static GrB_Info place_gradient(lives *l, const ftb_nn_node *n)
{
    int64_t k = n->number, when = l->end - k;
    GrB_Info info = GrB_SUCCESS;
    for (int j = 0; j < n->nin && info == GrB_SUCCESS; j++) {
        const ftb_nn_node *r = l->tape->nodes[ftb_node_in(n, j)->root];
        if (!r->gradient || r->parameter || l->first[r->number][FTB_PART_GRAD] != when ||
            l->s->slot[r->number][FTB_PART_GRAD] >= 0)
            continue;
        if (j > 0 || !(n->op->flags & FTB_NN_GRAD_IN_PLACE) || ftb_node_twice(n) ||
            !hand_on(l, r, FTB_PART_GRAD, k, FTB_PART_GRAD, when))
            info = take(l, r, FTB_PART_GRAD, when);
    }
    for (int j = 0; j < n->nin; j++)
        give(l, ftb_node_in(n, j)->root, FTB_PART_VALUE, when);
    for (int part = 0; part < FTB_PARTS; part++)
        give(l, k, (ftb_part)part, when);
    return info;
}

static GrB_Info place(lives *l)
{
    const ftb_schedule *s = l->s;
    GrB_Info info = GrB_SUCCESS;
    for (int64_t k = 0; k < s->count && info == GrB_SUCCESS; k++)
        if (s->needed[k] && runs(l->tape->nodes[k]))
            info = place_forward(l, l->tape->nodes[k]);
    if (!s->training || info != GrB_SUCCESS)
        return info;
    const ftb_nn_node *target = l->tape->nodes[l->tape->nodes[s->target]->root];
    if (!target->gradient || !target->op)
        return info;
    info = take(l, target, FTB_PART_GRAD, l->end - s->target);
    for (int64_t k = s->count - 1; k >= 0 && info == GrB_SUCCESS; k--)
        if (s->needed[k] && runs(l->tape->nodes[k]) && l->tape->nodes[k]->gradient)
            info = place_gradient(l, l->tape->nodes[k]);
    return info;
}

static int larger_first(const void *a, const void *b)
{
    const tenant *x = *(tenant *const *)a, *y = *(tenant *const *)b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* The first slot in which no earlier of the tenants lives at the same time. busy: per slot,
 * who found it so, counted from 1. */
static int32_t free_slot(tenant *const *order, int64_t at, int64_t *busy)
{
    for (int64_t k = 0; k < at; k++)
        if (order[k]->first <= order[at]->last && order[at]->first <= order[k]->last)
            busy[order[k]->slot] = at + 1;
    int32_t slot = 0;
    while (busy[slot] == at + 1)
        slot++;
    return slot;
}

/* Slots for the tenants, the larger ones first: a small one never keeps a large one out. */
static GrB_Info assign(lives *l)
{
    FtB_Tape tape = l->tape;
    tenant **order = ftb_new(tape->ctx, ftb_max(l->count, 1), sizeof *order);
    int64_t *busy = ftb_new0(tape->ctx, l->count + 1, sizeof *busy);
    if (!order || !busy) {
        ftb_delete(order);
        ftb_delete(busy);
        return ftb_nomem();
    }
    for (int64_t k = 0; k < l->count; k++)
        order[k] = &l->tenants[k];
    qsort(order, (size_t)l->count, sizeof *order, larger_first);
    GrB_Info info = GrB_SUCCESS;
    for (int64_t k = 0; k < l->count && info == GrB_SUCCESS; k++) {
        int32_t slot = order[k]->slot = free_slot(order, k, busy);
        if (slot == tape->nslots) {
            if (!ftb_resize(tape->ctx, (void **)&tape->slots, tape->nslots + 1, sizeof *tape->slots))
                info = ftb_nomem();
            else
                tape->slots[tape->nslots++] = (ftb_slot){0};
        }
        if (info == GrB_SUCCESS)
            tape->slots[slot].bytes = ftb_max(tape->slots[slot].bytes, order[k]->bytes);
    }
    ftb_delete(order);
    ftb_delete(busy);
    for (int64_t k = 0; k < l->s->count && info == GrB_SUCCESS; k++)
        for (int part = 0; part < FTB_PARTS; part++)
            if (l->s->slot[k][part] >= 0)
                l->s->slot[k][part] = l->tenants[l->s->slot[k][part]].slot;
    return info;
}

/* ---- schedules */

static void schedule_delete(ftb_schedule *s)
{
    if (!s)
        return;
    ftb_replay_drop(&s->replay);
    ftb_delete(s->seeds);
    ftb_delete(s->needed);
    ftb_delete(s->slot);
    ftb_delete(s);
}

static GrB_Info make(ftb_schedule **made, FtB_Tape tape, int64_t target, bool training)
{
    int64_t count = target + 1;
    lives l = {.tape = tape, .end = 2 * count};
    GrB_Info info = GrB_OUT_OF_MEMORY;
    ftb_schedule *s = l.s = ftb_new0(tape->ctx, 1, sizeof *s);
    if (!s)
        return ftb_nomem();
    s->target = target;
    s->training = training;
    s->count = count;
    s->needed = ftb_new0(tape->ctx, count, sizeof *s->needed);
    s->slot = ftb_new(tape->ctx, count, sizeof *s->slot);
    l.first = ftb_new(tape->ctx, count, sizeof *l.first);
    l.last = ftb_new(tape->ctx, count, sizeof *l.last);
    if (!s->needed || !s->slot || !l.first || !l.last) {
        info = ftb_nomem();
        goto done;
    }
    memset(s->slot, 0xff, (size_t)count * sizeof *s->slot);
    mark(s, tape);
    live(&l);
    info = place(&l);
    if (info == GrB_SUCCESS)
        info = assign(&l);
done:
    ftb_delete(l.first);
    ftb_delete(l.last);
    ftb_delete(l.tenants);
    if (info != GrB_SUCCESS)
        schedule_delete(s);
    else
        *made = s;
    return info;
}

GrB_Info ftb_schedule_of(ftb_schedule **s, FtB_Tape tape, int64_t target, bool training)
{
    GrB_Info info = GrB_SUCCESS;
    for (*s = tape->schedules; *s; *s = (*s)->next)
        if ((*s)->target == target && (*s)->training == training)
            return info;
    info = make(s, tape, target, training);
    if (info == GrB_SUCCESS) {
        (*s)->next = tape->schedules;
        tape->schedules = *s;
    }
    return info;
}

/* ---- memory */

static void unbind(FtB_Tape tape)
{
    for (int64_t k = 0; tape->bound && k < tape->bound->count; k++) {
        ftb_nn_node *n = tape->nodes[k];
        FtB_Block_free(&n->extra);
        FtB_Matrix_free(&n->grad_edges);
        if (!n->parameter)
            FtB_Block_free(&n->grad);
        if (n->ready)
            continue;
        FtB_Block_free(&n->value);
        FtB_Matrix_free(&n->edges);
    }
    tape->bound = NULL;
}

static GrB_Info slot_hold(FtB_Tape tape, ftb_slot *slot)
{
    if (slot->buffer && slot->held >= slot->bytes)
        return GrB_SUCCESS;
    int64_t bytes = slot->bytes;
    if (slot->buffer) {
        ftb_schedules_renew(tape);
        if (bytes / SPARE <= ftb_memory_left(tape->ctx) - bytes)
            bytes += bytes / SPARE;
    }
    ftb_buffer_release(slot->buffer);
    slot->buffer = NULL;
    slot->held = 0;
    slot->buffer = ftb_buffer_adopt(tape->ctx, ftb_new(tape->ctx, bytes, 1));
    if (!slot->buffer)
        return ftb_nomem();
    slot->held = bytes;
    return GrB_SUCCESS;
}

GrB_Info ftb_matrix_over(FtB_Matrix *A, ftb_pattern *p, FtB_Block values)
{
    return ftb_matrix_make(A, values->ctx, values->type, values->ncols, ftb_pattern_retain(p),
                           ftb_buffer_retain(values->owner));
}

/* A block of n's shape over a slot, and the matrix of n's edges over it. */
static GrB_Info bind_part(ftb_nn_node *n, FtB_Block *X, FtB_Matrix *edges, const ftb_slot *slot,
                          ftb_part part)
{
    int64_t rows = n->extra_rows, cols = n->extra_cols;
    if (part != FTB_PART_EXTRA)
        ftb_node_stored(n, &rows, &cols);
    FtB_Type type = part == FTB_PART_EXTRA ? n->extra_type : n->type;
    GrB_Info info = ftb_block_view(X, n->tape->ctx, type, rows, cols, cols, ftb_buffer_retain(slot->buffer));
    if (info != GrB_SUCCESS || part == FTB_PART_EXTRA)
        return info;
    (*X)->heads = n->heads;
    return n->graph ? ftb_matrix_over(edges, n->graph->pattern, *X) : GrB_SUCCESS;
}

static GrB_Info bind_node(const ftb_schedule *s, ftb_nn_node *n)
{
    FtB_Tape tape = n->tape;
    const int32_t *slot = s->slot[n->root];
    const ftb_nn_node *root = tape->nodes[n->root];
    GrB_Info info = GrB_SUCCESS;
    if (root->ready) { /* a view of a leaf or of a constant */
        info = FtB_Block_heads(&n->value, root->value, n->heads);
        if (info == GrB_SUCCESS && root->grad && s->training)
            info = FtB_Block_heads(&n->grad, root->grad, n->heads);
        if (info == GrB_SUCCESS && n->graph)
            info = ftb_matrix_over(&n->edges, n->graph->pattern, n->value);
        return info;
    }
    if (slot[FTB_PART_VALUE] >= 0)
        info = bind_part(n, &n->value, &n->edges, &tape->slots[slot[FTB_PART_VALUE]], FTB_PART_VALUE);
    if (info == GrB_SUCCESS && slot[FTB_PART_GRAD] >= 0 && !n->parameter)
        info = bind_part(n, &n->grad, &n->grad_edges, &tape->slots[slot[FTB_PART_GRAD]], FTB_PART_GRAD);
    if (info == GrB_SUCCESS && n->root == n->number && slot[FTB_PART_EXTRA] >= 0)
        info = bind_part(n, &n->extra, NULL, &tape->slots[slot[FTB_PART_EXTRA]], FTB_PART_EXTRA);
    return info;
}

static bool slot_used(const ftb_schedule *s, int32_t slot)
{
    for (int64_t k = 0; k < s->count; k++)
        for (int part = 0; part < FTB_PARTS; part++)
            if (s->slot[k][part] == slot)
                return true;
    return false;
}

GrB_Info ftb_schedule_bind(FtB_Tape tape, ftb_schedule *s)
{
    GrB_Info info = GrB_SUCCESS;
    if (tape->bound == s)
        return info;
    unbind(tape);
    for (int32_t k = 0; k < (int32_t)tape->nslots && info == GrB_SUCCESS; k++)
        if (slot_used(s, k))
            info = slot_hold(tape, &tape->slots[k]);
    tape->bound = s; /* from here unbind takes away what was given */
    for (int64_t k = 0; k < s->count && info == GrB_SUCCESS; k++)
        if (s->needed[k] && tape->nodes[k]->op && !tape->nodes[k]->constant)
            info = bind_node(s, tape->nodes[k]);
    if (info != GrB_SUCCESS)
        unbind(tape);
    return info;
}

void ftb_schedules_drop(FtB_Tape tape)
{
    unbind(tape);
    while (tape->schedules) {
        ftb_schedule *s = tape->schedules;
        tape->schedules = s->next;
        schedule_delete(s);
    }
}

void ftb_schedules_renew(FtB_Tape tape)
{
    for (ftb_schedule *s = tape->schedules; s; s = s->next)
        ftb_replay_drop(&s->replay);
}

void ftb_slots_release(FtB_Tape tape)
{
    for (int64_t k = 0; k < tape->nslots; k++)
        ftb_buffer_release(tape->slots[k].buffer);
    ftb_delete(tape->slots);
    tape->slots = NULL;
    tape->nslots = 0;
}

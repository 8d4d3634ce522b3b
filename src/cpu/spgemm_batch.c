/* Rows of products whose message is a program or a C function: operands are laid side by side for up to
 * FTB_BATCH products, the message is evaluated for all of them, and the results are reduced into cells.
 * Long lists are not copied: the program reads them where they are. */
#include "core/hypersparse.h"
#include "cpu/interpreter.h"
#include "cpu/reduce.h"
#include "cpu/spgemm_run.h"
#include "expr/scalar.h"

#define DIRECT 192 /* products of one left entry from which copying costs more than another call */

struct ftb_message_batch {
    const ftb_spgemm_form *form;
    ftb_interpreter *machine;
    ftb_operand operands[FTB_MESSAGE_NAMES + FTB_BOUND_ROOM];
    int64_t count;
    uint32_t *id;   /* of each product */
    int64_t *k, *j; /* inner index and column */
    char *a, *b;    /* operand values */
    int64_t *degree_j, *degree_k;
    double *sum_j, *sum_k;
    int64_t i, degree_i;
    int64_t held; /* the row of the operands and the mask that i is */
    double sum_i;
    int64_t nrows, ncols;
    char *m; /* the mask's entry */
    char *z; /* messages */
    float *function_a, *function_b;
    uint32_t *cell; /* of each product */
};

static bool used(const struct ftb_message_batch *b, int name) { return b->form->product->message.used[name]; }

static void set_operand(struct ftb_message_batch *b, int name, const void *data, int64_t stride)
{
    int at = b->form->product->message.index[name];
    if (at >= 0)
        b->operands[at] = (ftb_operand){data, stride};
}

void ftb_batch_delete(struct ftb_message_batch *b)
{
    if (!b)
        return;
    ftb_interpreter_delete(b->machine);
    void *arrays[] = {b->id,    b->k,     b->j, b->a, b->b,          b->degree_j,   b->degree_k,
                      b->sum_j, b->sum_k, b->m, b->z, b->function_a, b->function_b, b->cell};
    for (size_t t = 0; t < sizeof arrays / sizeof arrays[0]; t++)
        ftb_delete(arrays[t]);
    ftb_delete(b);
}

int64_t ftb_batch_bytes(const ftb_spgemm_product *product)
{
    const ftb_sparse_message *m = &product->message;
    int64_t values = m->awidth + m->bwidth + ftb_max(product->width, 1) + 7; /* k, j, figures, the mask's */
    return (int64_t)sizeof(struct ftb_message_batch) + FTB_BATCH * (8 + 8 * values) +
           8 * ftb_max(m->awidth, m->bwidth) + (m->program ? ftb_interpreter_bytes(m->program) : 0);
}

GrB_Info ftb_batch_new(struct ftb_message_batch **out, const ftb_spgemm_form *form)
{
    const ftb_sparse_message *message = &form->product->message;
    FtB_Context ctx = form->product->ctx;
    *out = NULL;
    struct ftb_message_batch *b = ftb_new0(ctx, 1, sizeof *b);
    if (!b)
        return ftb_nomem();
    GrB_Info info = GrB_SUCCESS;
    b->form = form;
    b->nrows = form->product->finish.nrows;
    b->ncols = form->product->finish.ncols;
    int64_t n = FTB_BATCH, wide = ftb_max(message->awidth, message->bwidth);
    if (message->program)
        FTB_CHECK(ftb_interpreter_new(&b->machine, ctx, message->program));
    b->id = ftb_new(ctx, n, sizeof *b->id);
    b->cell = ftb_new(ctx, n, sizeof *b->cell);
    b->k = ftb_new(ctx, n, sizeof *b->k);
    b->j = ftb_new(ctx, n, sizeof *b->j);
    b->a = ftb_new(ctx, n * message->awidth, 8);
    b->b = ftb_new(ctx, n * message->bwidth, 8);
    b->degree_j = ftb_new(ctx, n, 8);
    b->degree_k = ftb_new(ctx, n, 8);
    b->sum_j = ftb_new(ctx, n, 8);
    b->sum_k = ftb_new(ctx, n, 8);
    b->m = ftb_new(ctx, n, 8);
    b->z = ftb_new(ctx, n * ftb_max(form->product->width, 1), 8);
    b->function_a = ftb_new(ctx, wide, sizeof *b->function_a);
    b->function_b = ftb_new(ctx, wide, sizeof *b->function_b);
    if (!b->id || !b->cell || !b->k || !b->j || !b->a || !b->b || !b->degree_j || !b->degree_k || !b->sum_j ||
        !b->sum_k || !b->m || !b->z || !b->function_a || !b->function_b)
        info = ftb_nomem();
done:
    if (info != GrB_SUCCESS) {
        ftb_batch_delete(b);
        return info;
    }
    memcpy(b->operands, message->fixed, sizeof b->operands);
    set_operand(b, FTB_NAME_I, &b->i, 0);
    set_operand(b, FTB_NAME_DI, &b->degree_i, 0);
    set_operand(b, FTB_NAME_SI, &b->sum_i, 0);
    set_operand(b, FTB_NAME_NROWS, &b->nrows, 0);
    set_operand(b, FTB_NAME_NCOLS, &b->ncols, 0);
    *out = b;
    return GrB_SUCCESS;
}

/* Reduces message t into its cell, general form. */
static void combine_one(const ftb_spgemm_form *form, ftb_row *row, uint32_t cell, const char *z, int64_t k,
                        bool fresh)
{
    FtB_Type type = form->product->sum_type;
    int64_t width = form->product->width;
    size_t size = FtB_Type_size(type) * (size_t)width;
    char *h = (char *)row->acc + cell * size;
    if (form->product->winners) { /* min or max of width 1: the winner's k */
        ftb_segment_arg(form->product->reducer.monoid, type, h, &row->arg[cell], z, 1, 1, k, fresh);
        return;
    }
    if (row->arg)
        row->arg[cell] = fresh ? 1 : row->arg[cell] + 1;
    if (!fresh) {
        ftb_monoid_apply(form->product->reducer.monoid, type, h, z, width);
    } else if (form->product->reducer.monoid == FTB_PLUS) { /* sums start from +0 */
        memset(h, 0, size);
        ftb_monoid_apply(FTB_PLUS, type, h, z, width);
    } else {
        memcpy(h, z, size);
    }
}

/* The cells of n products. */
static void find_cells(ftb_spgemm_locate locate, ftb_row *row, int64_t n, const uint32_t *id, uint32_t *cell)
{
    for (int64_t t = 0; t < n; t++)
        cell[t] = locate == FTB_LOCATE_HASH   ? ftb_bucket_of(row, id[t])
                  : locate == FTB_LOCATE_SLOT ? row->slot[id[t]]
                                              : id[t];
}

/* A fresh cell is marked (and listed; buckets were listed when they were taken). */
static inline bool freshen(ftb_row *row, uint32_t cell, bool list)
{
    bool fresh = !row->mark[cell];
    row->mark[cell] = 1;
    if (list) {
        row->list[row->count] = cell;
        row->count += fresh;
    }
    return fresh;
}

#define COMBINE(name, type, zero, expression)                                                                \
    static void name(ftb_row *row, int64_t n, const uint32_t *cell, const void *messages, bool list)         \
    {                                                                                                        \
        type *h = row->acc;                                                                                  \
        const type *message = messages;                                                                      \
        for (int64_t t = 0; t < n; t++) {                                                                    \
            type z = message[t];                                                                             \
            type x = freshen(row, cell[t], list) ? (zero) : h[cell[t]];                                      \
            h[cell[t]] = (expression);                                                                       \
        }                                                                                                    \
    }
/* `zero` is the identity, or z for min and max. */
COMBINE(plus_f32, float, 0, x + z)
COMBINE(plus_f64, double, 0, x + z)
COMBINE(plus_i64, uint64_t, 0, x + z)
COMBINE(min_f32, float, z, FTB_LEAST(x, z))
COMBINE(min_f64, double, z, FTB_LEAST(x, z))
COMBINE(max_f32, float, z, FTB_GREATEST(x, z))
COMBINE(max_f64, double, z, FTB_GREATEST(x, z))

typedef void (*combiner)(ftb_row *row, int64_t n, const uint32_t *cell, const void *messages, bool list);

static combiner combiner_of(const ftb_spgemm_form *form)
{
    static const struct {
        ftb_monoid monoid;
        FtB_Type type;
        combiner f;
    } table[] = {
        {FTB_PLUS, FTB_FP32, plus_f32},   {FTB_PLUS, FTB_FP64, plus_f64}, {FTB_PLUS, FTB_INT64, plus_i64},
        {FTB_PLUS, FTB_UINT64, plus_i64}, {FTB_MIN, FTB_FP32, min_f32},   {FTB_MIN, FTB_FP64, min_f64},
        {FTB_MAX, FTB_FP32, max_f32},     {FTB_MAX, FTB_FP64, max_f64},
    };
    if (form->product->width != 1 || form->product->reducer.mean || form->product->winners)
        return NULL;
    for (size_t t = 0; t < sizeof table / sizeof table[0]; t++)
        if (table[t].monoid == form->product->reducer.monoid && table[t].type == form->product->sum_type)
            return table[t].f;
    return NULL;
}

static void call_function(struct ftb_message_batch *b, int64_t n)
{
    const struct FtB_Semiring_opaque *s = b->form->product->message.semiring;
    const ftb_sparse_message *message = &b->form->product->message;
    const ftb_operand *oa = &b->operands[message->index[FTB_NAME_A]],
                      *ob = &b->operands[message->index[FTB_NAME_B]];
    size_t asize = FtB_Type_size(message->atype), bsize = FtB_Type_size(message->btype);
    for (int64_t t = 0; t < n; t++) {
        ftb_cast(b->function_a, FTB_FP32, (const char *)oa->data + (size_t)(t * oa->stride) * asize,
                 message->atype, message->awidth);
        ftb_cast(b->function_b, FTB_FP32, (const char *)ob->data + (size_t)(t * ob->stride) * bsize,
                 message->btype, message->bwidth);
        s->function((float *)b->z + t * s->function_width, b->function_b, NULL, b->function_a,
                    ftb_max(message->awidth, message->bwidth), s->theta);
    }
}

/* The mask's entry at (i, j): slots are numbered along the mask's row. */
static void load_mask(struct ftb_message_batch *b, const ftb_row *row, int64_t n, const uint32_t *id)
{
    const FtB_Matrix mask = b->form->product->mask;
    FtB_Type compute = ftb_type_compute(mask->type);
    size_t size = FtB_Type_size(mask->type), to = FtB_Type_size(compute);
    for (int64_t t = 0; t < n; t++) {
        if (row->slot[id[t]] == 0) /* not admitted: what is there is computed, and dropped */
            continue;
        int64_t entry = mask->pattern->rowptr[b->held] + row->slot[id[t]] - 1;
        ftb_cast(b->m + (size_t)t * to, compute,
                 (const char *)b->form->product->m + (size_t)(entry * mask->width) * size, mask->type, 1);
    }
}

/* Evaluates n products whose ids are given, and reduces them. k NULL: all have k0. */
static void run(struct ftb_message_batch *b, ftb_spgemm_locate locate, ftb_row *row, int64_t n,
                const uint32_t *id, const int64_t *k, int64_t k0)
{
    const ftb_spgemm_form *form = b->form;
    const ftb_spgemm *p = &form->p;
    if (used(b, FTB_NAME_J) || used(b, FTB_NAME_DJ) || used(b, FTB_NAME_SJ))
        for (int64_t t = 0; t < n; t++) {
            int64_t dense = p->order ? p->order[id[t]] : id[t];
            b->j[t] = p->column ? p->column[dense] : dense;
        }
    if (used(b, FTB_NAME_DJ))
        for (int64_t t = 0; t < n; t++)
            b->degree_j[t] = form->product->cols.degree[b->j[t]];
    if (used(b, FTB_NAME_SJ))
        for (int64_t t = 0; t < n; t++)
            b->sum_j[t] = form->product->cols.sum[b->j[t]];
    if (used(b, FTB_NAME_M))
        load_mask(b, row, n, id);
    set_operand(b, FTB_NAME_J, b->j, 1);
    set_operand(b, FTB_NAME_DJ, b->degree_j, 1);
    set_operand(b, FTB_NAME_SJ, b->sum_j, 1);
    set_operand(b, FTB_NAME_M, b->m, 1);
    if (form->product->message.program)
        ftb_interpreter_run(b->machine, n, b->operands, b->z);
    else
        call_function(b, n);
    FtB_Type type =
        form->product->message.program ? ftb_program_type(form->product->message.program) : FTB_FP32;
    if (type != form->product->sum_type)
        ftb_cast(b->z, form->product->sum_type, b->z, type, n * form->product->width);
    find_cells(locate, row, n, id, b->cell);
    bool list = locate == FTB_LOCATE_LIST || locate == FTB_LOCATE_DENSE;
    combiner combine = combiner_of(form);
    if (combine) {
        combine(row, n, b->cell, b->z, list);
        return;
    }
    size_t size = FtB_Type_size(form->product->sum_type) * (size_t)form->product->width;
    for (int64_t t = 0; t < n; t++)
        combine_one(form, row, b->cell[t], b->z + (size_t)t * size, k ? k[t] : k0,
                    freshen(row, b->cell[t], list));
}

static void flush(struct ftb_message_batch *b, ftb_spgemm_locate locate, ftb_row *row)
{
    const ftb_sparse_message *message = &b->form->product->message;
    if (b->count == 0)
        return;
    set_operand(b, FTB_NAME_A, b->a, b->form->p.aval ? message->awidth : 0);
    set_operand(b, FTB_NAME_B, b->b, b->form->p.bval ? message->bwidth : 0);
    set_operand(b, FTB_NAME_K, b->k, 1);
    set_operand(b, FTB_NAME_DK, b->degree_k, 1);
    set_operand(b, FTB_NAME_SK, b->sum_k, 1);
    run(b, locate, row, b->count, b->id, b->k, 0);
    b->count = 0;
}

/* The operands of left entry x: k and its figures, and a. */
static void copy_left(struct ftb_message_batch *b, int64_t k, const char *a, size_t asize, int64_t n)
{
    const ftb_spgemm_form *form = b->form;
    const int64_t number = ftb_row_number(form->product->right, k);
    for (int64_t t = b->count; t < b->count + n; t++)
        b->k[t] = number;
    if (used(b, FTB_NAME_DK))
        for (int64_t t = b->count; t < b->count + n; t++)
            b->degree_k[t] = form->product->inner.degree[k];
    if (used(b, FTB_NAME_SK))
        for (int64_t t = b->count; t < b->count + n; t++)
            b->sum_k[t] = form->product->inner.sum[k];
    if (!form->p.aval)
        return;
    if (asize == 4)
        for (int64_t t = b->count; t < b->count + n; t++)
            memcpy(b->a + 4 * t, a, 4);
    else if (asize == 8)
        for (int64_t t = b->count; t < b->count + n; t++)
            memcpy(b->a + 8 * t, a, 8);
    else
        for (int64_t t = b->count; t < b->count + n; t++)
            memcpy(b->a + (size_t)t * asize, a, asize);
}

static const uint32_t *ids_of(struct ftb_message_batch *b, int64_t e, int64_t n, uint32_t *room)
{
    const ftb_spgemm *p = &b->form->p;
    if (!p->id16)
        return (const uint32_t *)p->bid + e;
    for (int64_t t = 0; t < n; t++)
        room[t] = ((const uint16_t *)p->bid)[e + t];
    return room;
}

/* A long list: the program reads b in place. */
static void run_direct(struct ftb_message_batch *b, ftb_spgemm_locate locate, ftb_row *row, int64_t k,
                       const void *a, int64_t first, int64_t last)
{
    const ftb_spgemm_form *form = b->form;
    const ftb_sparse_message *message = &form->product->message;
    size_t bsize = FtB_Type_size(message->btype) * (size_t)message->bwidth;
    int64_t degree = form->product->inner.degree ? form->product->inner.degree[k] : 0;
    double sum = form->product->inner.sum ? form->product->inner.sum[k] : 0;
    const int64_t number = ftb_row_number(form->product->right, k);
    flush(b, locate, row);
    for (int64_t e = first; e < last; e += FTB_BATCH) {
        int64_t n = ftb_min(last - e, FTB_BATCH);
        set_operand(b, FTB_NAME_A, a, 0);
        set_operand(b, FTB_NAME_B, form->p.bval ? (const char *)form->p.bval + (size_t)e * bsize : b->b,
                    form->p.bval ? message->bwidth : 0);
        set_operand(b, FTB_NAME_K, &number, 0);
        set_operand(b, FTB_NAME_DK, &degree, 0);
        set_operand(b, FTB_NAME_SK, &sum, 0);
        run(b, locate, row, n, ids_of(b, e, n, b->id), NULL, number);
    }
}

void ftb_batch_row(struct ftb_message_batch *b, int64_t i, ftb_spgemm_locate locate, ftb_row *row)
{
    const ftb_spgemm_form *form = b->form;
    const ftb_spgemm *p = &form->p;
    const ftb_sparse_message *message = &form->product->message;
    size_t asize = FtB_Type_size(message->atype) * (size_t)message->awidth;
    size_t bsize = FtB_Type_size(message->btype) * (size_t)message->bwidth;
    b->held = i;
    b->i = ftb_row_number(form->product->left, i);
    b->degree_i = form->product->rows.degree ? form->product->rows.degree[i] : 0;
    b->sum_i = form->product->rows.sum ? form->product->rows.sum[i] : 0;
    if (!p->aval) { /* every entry counts as 1 */
        int64_t one = 1;
        ftb_cast(b->a, message->atype, &one, FTB_INT64, 1);
    }
    if (!p->bval) {
        int64_t one = 1;
        ftb_cast(b->b, message->btype, &one, FTB_INT64, 1);
    }
    for (int64_t x = p->arow[i]; x < p->arow[i + 1]; x++) {
        int64_t k = ftb_spgemm_k(p, x), first = ftb_spgemm_first(p, x), last = ftb_spgemm_last(p, x);
        const char *a = p->aval ? (const char *)p->aval + (size_t)(p->aperm ? p->aperm[x] : x) * asize : b->a;
        if (last - first >= DIRECT) {
            run_direct(b, locate, row, k, a, first, last);
            continue;
        }
        while (first < last) {
            int64_t n = ftb_min(last - first, FTB_BATCH - b->count);
            copy_left(b, k, a, asize, n);
            for (int64_t t = 0; t < n; t++)
                b->id[b->count + t] = ftb_spgemm_id(p, first + t);
            if (p->bval)
                memcpy(b->b + (size_t)b->count * bsize, (const char *)p->bval + (size_t)first * bsize,
                       (size_t)n * bsize);
            b->count += n;
            first += n;
            if (b->count == FTB_BATCH)
                flush(b, locate, row);
        }
    }
    flush(b, locate, row);
}

/* y<M> = accum(y, rows of A reduced by a monoid), and all of A reduced to one entry.
 *
 * Up to FTB_BATCH entries at a time are cast to the monoid's type and folded in halves, so that every
 * fold is one long loop and sums round like pairwise sums; batches follow in order. A row belongs to one
 * thread and slices of a whole matrix have a fixed size, so that threads cannot show. */
#include "ops/merge.h"

#include <omp.h>

#define PARTS_PER_THREAD 16
#define SLICE (64 * (int64_t)FTB_BATCH) /* entries, in reductions to a scalar */

typedef struct reducer {
    FtB_Context ctx;
    FtB_Matrix A;
    ftb_monoid monoid;
    FtB_Type domain; /* entries are cast to it first: a GrB_Monoid's type, or A's own */
    FtB_Type type;   /* in which the monoid works */
    FtB_Type result; /* what the reduction gives */
    int64_t width;   /* values per result */
    size_t item;     /* bytes of a result in `type` */
    char *scratch;   /* per thread: two batches */
    size_t batch;    /* bytes of a batch */
    int threads;
} reducer;

static GrB_Info reducer_begin(reducer *r, FtB_Context ctx, FtB_Arg monoid, FtB_Matrix A)
{
    FtB_Type type = 0;
    GrB_Info info = ftb_arg_monoid(&r->monoid, &type, monoid, "monoid");
    if (info != GrB_SUCCESS)
        return info;
    r->ctx = ctx;
    r->A = A;
    r->domain = type           ? type
                : A->width > 0 ? A->type
                               : FTB_INT8; /* entries of a pattern are counted exactly */
    r->type = ftb_monoid_type(r->monoid, ftb_type_compute(r->domain));
    r->result = type ? type : r->type;
    r->width = ftb_max(A->width, 1);
    r->item = (size_t)r->width * FtB_Type_size(r->type);
    r->threads = ftb_threads_for(ctx, A->pattern->nvals + A->pattern->nrows);
    if (r->width > INT64_MAX / (2 * FTB_BATCH * 8) / r->threads)
        return ftb_fail(GrB_OUT_OF_MEMORY, "a width of %lld is too large", (long long)r->width);
    r->batch = (size_t)r->width * FTB_BATCH * 8;
    r->scratch = ftb_new(ctx, 2 * r->threads, r->batch);
    return r->scratch ? GrB_SUCCESS : ftb_nomem();
}

/* count entries of A from `first` on, in the monoid's type, into `to`; `spare` is overwritten. */
static void load(const reducer *r, int64_t first, int64_t count, char *to, char *spare)
{
    const uint8_t one = 1;
    FtB_Matrix A = r->A;
    if (A->width == 0) {
        for (int64_t t = 0; t < count; t++)
            ftb_cast(to + (size_t)t * r->item, r->type, &one, FTB_UINT8, 1);
        return;
    }
    const char *from = (const char *)A->values->data + (size_t)(first * A->width) * FtB_Type_size(A->type);
    FtB_Type type = A->type;
    if (type != r->domain) {
        ftb_cast(spare, r->domain, from, type, count * A->width);
        from = spare;
        type = r->domain;
    }
    ftb_cast(to, r->type, from, type, count * A->width);
}

/* total = entries first .. first + count - 1 reduced, count > 0. */
static void fold(const reducer *r, int64_t first, int64_t count, char *total, char *scratch)
{
    for (int64_t done = 0; done < count; done += FTB_BATCH) {
        int64_t left = ftb_min(count - done, FTB_BATCH);
        load(r, first + done, left, scratch, scratch + r->batch);
        while (left > 1) {
            int64_t half = (left + 1) / 2;
            ftb_monoid_apply(r->monoid, r->type, scratch, scratch + (size_t)half * r->item,
                             (left - half) * r->width);
            left = half;
        }
        if (done == 0)
            memcpy(total, scratch, r->item);
        else
            ftb_monoid_apply(r->monoid, r->type, total, scratch, r->width);
    }
}

/* ---- rows to a block */

typedef enum row_state { ROW_KEEPS, ROW_GETS, ROW_FILLS } row_state;

typedef struct row_call {
    FtB_Block y, M;
    FtB_Matrix A, transposed;
    ftb_flags flags;
    FtB_Op accum;
    reducer r;
    ftb_map *map;
    char *totals; /* nrows results, in the reducer's type, then in its result's */
    char *out;    /* nrows results, in y's dtype */
    uint8_t *state;
} row_call;

static GrB_Info check_block(FtB_Block X, const char *name, int64_t nrows, int64_t ncols)
{
    if (X->nrows == nrows && X->ncols == ncols)
        return GrB_SUCCESS;
    return ftb_fail(GrB_DIMENSION_MISMATCH, "%s is %lld x %lld; expected %lld x %lld", name,
                    (long long)X->nrows, (long long)X->ncols, (long long)nrows, (long long)ncols);
}

static GrB_Info check(row_call *c, FtB_Arg y, FtB_Arg M, FtB_Arg accum, FtB_Arg A, FtB_Arg desc)
{
    GrB_Info info = GrB_SUCCESS;
    FTB_CHECK(ftb_arg_block(&c->y, y, "y", false));
    FTB_CHECK(ftb_arg_block(&c->M, M, "M", true));
    FTB_CHECK(ftb_arg_matrix(&c->A, A, "A", false));
    FTB_CHECK(ftb_arg_descriptor(&c->flags, desc));
    FTB_CHECK(ftb_arg_op(&c->accum, accum, "accum", true));
    int64_t nrows = c->flags.transpose0 ? c->A->pattern->ncols : c->A->pattern->nrows;
    FTB_CHECK(check_block(c->y, "y", nrows, ftb_max(c->A->width, 1)));
    if (c->M)
        FTB_CHECK(check_block(c->M, "M", nrows, 1));
    if (!c->y->owner->writable)
        return ftb_fail(GrB_INVALID_VALUE, "y wraps memory that must not be written");
done:
    return info;
}

static bool row_admitted(const row_call *c, int64_t i)
{
    bool yes = true;
    if (c->M && !c->flags.structural) {
        const char *value = (const char *)c->M->data + (size_t)(i * c->M->ld) * FtB_Type_size(c->M->type);
        uint8_t truth;
        ftb_cast(&truth, FTB_BOOL, value, c->M->type, 1);
        yes = truth != 0;
    }
    return yes != c->flags.complement;
}

/* Totals of rows first .. end - 1, and what becomes of each row of y. */
static void fold_rows(row_call *c, int64_t first, int64_t end, char *scratch)
{
    const int64_t *rowptr = c->A->pattern->rowptr;
    for (int64_t i = first; i < end; i++) {
        bool admitted = row_admitted(c, i), empty = rowptr[i] == rowptr[i + 1];
        c->state[i] = !admitted ? (c->flags.replace ? ROW_FILLS : ROW_KEEPS)
                      : !empty  ? ROW_GETS
                                : (c->accum ? ROW_KEEPS : ROW_FILLS);
        if (c->state[i] == ROW_GETS)
            fold(&c->r, rowptr[i], rowptr[i + 1] - rowptr[i], c->totals + (size_t)i * c->r.item, scratch);
    }
}

static GrB_Info compile_accum(row_call *c)
{
    ftb_map_input x = {c->y->data, c->y->type, c->r.width, c->y->ld};
    ftb_map_input y = {c->totals, c->r.result, c->r.width, c->r.width};
    GrB_Info info = ftb_map_new(&c->map, c->r.ctx, c->accum, &x, &y, NULL, 1);
    if (info == GrB_SUCCESS)
        info = ftb_map_check_rows(c->map, c->y->nrows, c->y->ncols);
    if (info == GrB_SUCCESS && c->map->width != c->r.width)
        info = ftb_fail(GrB_DIMENSION_MISMATCH, "accum makes %lld values of rows of %lld",
                        (long long)c->map->width, (long long)c->r.width);
    return info;
}

static GrB_Info compute(row_call *c)
{
    GrB_Info info = GrB_SUCCESS;
    const ftb_pattern *p = c->A->pattern;
    const reducer *r = &c->r;
    int64_t parts = ftb_min((int64_t)r->threads * PARTS_PER_THREAD, ftb_max(p->nrows, 1));
#pragma omp parallel for num_threads(r->threads) schedule(dynamic)
    for (int64_t part = 0; part < parts; part++)
        if (!ftb_cancelled(r->ctx))
            fold_rows(c, ftb_rows_cut(p->nrows, p->rowptr, NULL, part, parts),
                      ftb_rows_cut(p->nrows, p->rowptr, NULL, part + 1, parts),
                      r->scratch + 2 * r->batch * (size_t)omp_get_thread_num());
    FTB_CHECK(ftb_check_cancelled(r->ctx));
    if (r->result != r->type)
        ftb_cast(c->totals, r->result, c->totals, r->type, p->nrows * r->width);
    if (c->map) {
        ftb_map_output(c->map, c->out, c->y->type);
        for (int64_t i = 0; i < p->nrows; i++)
            if (c->state[i] == ROW_GETS)
                ftb_batch_push(c->map->batches, i, i, i, i, 0);
        ftb_batch_flush(c->map->batches);
    } else {
        ftb_cast(c->out, c->y->type, c->totals, r->result, p->nrows * r->width);
    }
done:
    return info;
}

/* The only part that changes y; it cannot fail. */
static void store(const row_call *c)
{
    size_t size = FtB_Type_size(c->y->type), row = size * (size_t)c->r.width;
    double fill = 0;
    ftb_cast(&fill, c->y->type, &c->flags.fill, FTB_FP64, 1);
    for (int64_t i = 0; i < c->y->nrows; i++) {
        char *to = (char *)c->y->data + (size_t)(i * c->y->ld) * size;
        if (c->state[i] == ROW_GETS)
            memcpy(to, c->out + (size_t)i * row, row);
        for (int64_t f = 0; c->state[i] == ROW_FILLS && f < c->r.width; f++)
            memcpy(to + (size_t)f * size, &fill, size);
    }
}

GrB_Info(FtB_reduce)(FtB_Arg y, FtB_Arg M, FtB_Arg accum, FtB_Arg monoid, FtB_Arg A, FtB_Arg desc)
{
    row_call c = {0};
    GrB_Info info = check(&c, y, M, accum, A, desc);
    if (info != GrB_SUCCESS)
        goto done;
    FTB_CHECK(reducer_begin(&c.r, c.y->ctx, monoid, c.A));
    int64_t count = 0;
    if (__builtin_mul_overflow(c.y->nrows, c.r.width, &count))
        count = INT64_MAX;
    if (!(c.totals = ftb_new0(c.r.ctx, count, 8)) || !(c.out = ftb_new0(c.r.ctx, count, 8)) ||
        !(c.state = ftb_new(c.r.ctx, c.y->nrows, 1)))
        FTB_CHECK(ftb_nomem());
    if (c.accum)
        FTB_CHECK(compile_accum(&c));
    if (c.flags.transpose0) {
        FTB_CHECK(ftb_matrix_transpose(&c.transposed, c.A));
        c.A = c.r.A = c.transposed;
    }
    FTB_CHECK(compute(&c));
    store(&c);
done:
    ftb_map_delete(c.map);
    ftb_delete(c.state);
    ftb_delete(c.out);
    ftb_delete(c.totals);
    ftb_delete(c.r.scratch);
    FtB_Matrix_free(&c.transposed);
    FtB_Op_free(&c.accum);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(c.r.ctx);
    return info;
}

/* ---- everything to one entry */

/* The identity as the domain has it: that of min over int8 is 127. */
static void identity(const reducer *r, void *value)
{
    ftb_monoid_identity(r->monoid, r->type, value);
    if (!ftb_type_integer(r->domain) || (r->monoid != FTB_MIN && r->monoid != FTB_MAX))
        return;
    bool is_signed = ftb_type_compute(r->domain) == FTB_INT64;
    int bits = 8 * (int)FtB_Type_size(r->domain);
    uint64_t most = UINT64_MAX >> (64 - bits + is_signed);
    uint64_t limit = r->monoid == FTB_MIN ? most : is_signed ? ~most : 0;
    memcpy(value, &limit, sizeof limit);
}

static GrB_Info reduce_slices(reducer *r, char *total, char **partial)
{
    int64_t nvals = r->A->pattern->nvals, slices = (nvals + SLICE - 1) / SLICE;
    GrB_Info info = GrB_SUCCESS;
    *partial = ftb_new(r->ctx, slices, r->item);
    if (!*partial)
        return ftb_nomem();
#pragma omp parallel for num_threads(r->threads) schedule(dynamic)
    for (int64_t slice = 0; slice < slices; slice++)
        if (!ftb_cancelled(r->ctx))
            fold(r, slice * SLICE, ftb_min(SLICE, nvals - slice * SLICE), *partial + (size_t)slice * r->item,
                 r->scratch + 2 * r->batch * (size_t)omp_get_thread_num());
    FTB_CHECK(ftb_check_cancelled(r->ctx));
    if (slices > 0)
        memcpy(total, *partial, r->item);
    for (int64_t slice = 1; slice < slices; slice++)
        ftb_monoid_apply(r->monoid, r->type, total, *partial + (size_t)slice * r->item, r->width);
    for (int64_t f = 0; slices == 0 && f < r->width; f++)
        identity(r, total + (size_t)f * FtB_Type_size(r->type));
done:
    return info;
}

GrB_Info(FtB_reduce_scalar)(void *s, FtB_Type type, FtB_Arg monoid, FtB_Arg A)
{
    reducer r = {0};
    FtB_Matrix matrix = NULL;
    char *total = NULL, *partial = NULL;
    GrB_Info info = GrB_SUCCESS;
    if (!s)
        return ftb_fail(GrB_NULL_POINTER, "s is NULL; expected room for the result");
    if (!ftb_type_valid(type))
        return ftb_fail(GrB_INVALID_VALUE, "type is %d, which is not an FtB_Type", (int)type);
    FTB_CHECK(ftb_arg_matrix(&matrix, A, "A", false));
    FTB_CHECK(reducer_begin(&r, matrix->ctx, monoid, matrix));
    total = ftb_new(r.ctx, r.width, 8);
    if (!total)
        FTB_CHECK(ftb_nomem());
    FTB_CHECK(reduce_slices(&r, total, &partial));
    if (r.result != r.type)
        ftb_cast(total, r.result, total, r.type, r.width);
    ftb_cast(s, type, total, r.result, r.width);
done:
    ftb_delete(partial);
    ftb_delete(total);
    ftb_delete(r.scratch);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(r.ctx);
    return info;
}

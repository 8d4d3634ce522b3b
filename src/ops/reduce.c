/* y<M> = accum(y, rows of A reduced by a monoid), and all of A reduced to one entry.
 *
 * A row belongs to one thread, and slices of what is reduced as a whole have a fixed size, so that threads
 * cannot show. Results go straight to y where nothing else is to be done to it, else through the write rule.
 */
#include "ops/block/block_map.h"
#include "ops/fold.h"
#include "ops/merge.h"

#include <omp.h>

/* The slots' macros are for callers: these are the functions. */
#undef FtB_reduce
#undef FtB_reduce_scalar

#define PARTS_PER_THREAD 16
#define SLICE (INT64_C(1) << 16) /* values, in reductions to one entry */
#define SLICE_ROWS 64            /* of a block at least: partial results then are few beside what is read */

typedef struct reduce_call {
    FtB_Context ctx; /* y's */
    FtB_Block y, M;
    FtB_Matrix A, transposed;
    FtB_Block X; /* instead of A */
    ftb_flags flags;
    FtB_Op accum;
    ftb_fold fold;
    int64_t nrows, ncols; /* of the result */
    const int64_t *present;
    int64_t *absent; /* row pointers of rows that are all empty */
    void *totals;    /* nrows x ncols of fold.result: y's memory, or */
    void *own;       /* ours */
} reduce_call;

/* ---- arguments */

static GrB_Info unwrap(reduce_call *c, FtB_Arg y, FtB_Arg M, FtB_Arg accum, FtB_Arg A, FtB_Arg desc)
{
    GrB_Info info = GrB_SUCCESS;
    FTB_CHECK(ftb_arg_block(&c->y, y, "y", false));
    c->ctx = c->y->ctx;
    FTB_CHECK(ftb_arg_block(&c->M, M, "M", true));
    info =
        A.kind == FTB_KIND_BLOCK ? ftb_arg_block(&c->X, A, "A", false) : ftb_arg_matrix(&c->A, A, "A", false);
    if (info != GrB_SUCCESS)
        goto done;
    FTB_CHECK(ftb_arg_descriptor(&c->flags, desc));
    FTB_CHECK(ftb_arg_op(&c->accum, accum, "accum", true));
done:
    return info;
}

static GrB_Info check_shape(reduce_call *c)
{
    bool columns = c->flags.transpose0;
    if (c->X) {
        c->nrows = columns ? 1 : c->X->nrows;
        c->ncols = columns ? c->X->ncols : c->X->heads;
    } else {
        c->nrows = columns ? c->A->pattern->ncols : c->A->pattern->nrows;
        c->ncols = ftb_max(c->A->width, 1);
    }
    if (c->y->nrows == c->nrows && c->y->ncols == c->ncols)
        return GrB_SUCCESS;
    return ftb_fail(GrB_DIMENSION_MISMATCH, "y is %lld x %lld; expected %lld x %lld", (long long)c->y->nrows,
                    (long long)c->y->ncols, (long long)c->nrows, (long long)c->ncols);
}

/* Rows of a block all have entries, or none has. */
static GrB_Info find_absent(reduce_call *c)
{
    if (!c->X) {
        c->present = c->A->pattern->rowptr;
        return GrB_SUCCESS;
    }
    if ((c->flags.transpose0 ? c->X->nrows : c->X->ncols) > 0)
        return GrB_SUCCESS;
    c->present = c->absent = ftb_new0(c->ctx, c->nrows + 1, sizeof *c->absent);
    return c->absent ? GrB_SUCCESS : ftb_nomem();
}

/* Where results go: into y itself if that is all, and nobody reads there. */
static GrB_Info place_totals(reduce_call *c)
{
    const FtB_Block y = c->y;
    bool direct =
        !c->M && !c->flags.complement && !c->accum && y->type == c->fold.result && y->ld == c->ncols;
    if (c->X)
        direct = direct && ftb_block_alias(y, c->X) == FTB_ALIAS_NONE;
    else if (c->A->width > 0)
        direct = direct && !ftb_block_overlaps(y, ftb_values(c->A),
                                               (size_t)(c->A->pattern->nvals * c->A->width) *
                                                   FtB_Type_size(c->A->type));
    c->totals = ftb_block_data(y);
    if (direct)
        return GrB_SUCCESS;
    c->totals = c->own = ftb_new(c->ctx, c->nrows * c->ncols, FtB_Type_size(c->fold.result));
    return c->own ? GrB_SUCCESS : ftb_nomem();
}

/* ---- rows */

/* Whether to stop: not once results go to y. */
static bool stops(const reduce_call *c) { return c->own && ftb_cancelled(c->ctx); }

static void *total(const reduce_call *c, int64_t i)
{
    return (char *)c->totals + (size_t)(i * c->ncols) * FtB_Type_size(c->fold.result);
}

static void fold_matrix(const reduce_call *c)
{
    const ftb_pattern *p = c->A->pattern;
    size_t item = (size_t)c->A->width * FtB_Type_size(c->A->type);
    const char *values = ftb_values(c->A);
    int64_t parts = ftb_min((int64_t)c->fold.threads * PARTS_PER_THREAD, ftb_max(p->nrows, 1));
#pragma omp parallel for num_threads(c->fold.threads) schedule(dynamic)
    for (int64_t part = 0; part < parts; part++) {
        int64_t first = ftb_pattern_cut(p, part, parts);
        int64_t end = ftb_pattern_cut(p, part + 1, parts);
        const ftb_segments rows = {.x = values ? values + (size_t)p->rowptr[first] * item : NULL,
                                   .start = p->rowptr + first,
                                   .nrows = end - first,
                                   .width = c->ncols,
                                   .ld = c->ncols};
        if (first < end && !stops(c))
            ftb_fold_rows(&c->fold, omp_get_thread_num(), &rows, total(c, first));
    }
}

/* Rows (with heads: heads of rows) of a block. */
static void fold_block(const reduce_call *c)
{
    const FtB_Block X = c->X;
    int64_t heads = X->heads, width = X->ncols / heads;
    bool steady = heads == 1 || X->ld == X->ncols; /* all heads of all rows are one step apart */
    ftb_block_pieces pieces = ftb_pieces_of(X->nrows, X->ncols, false);
    if (!steady) {
        pieces.rows = 1;
        pieces.count = X->nrows;
    }
#pragma omp parallel for num_threads(c->fold.threads) schedule(static)
    for (int64_t p = 0; p < pieces.count; p++) {
        ftb_block_piece at = ftb_piece_at(&pieces, p);
        const ftb_segments rows = {.x = (const char *)ftb_block_data(X) +
                                        (size_t)(at.row * X->ld) * FtB_Type_size(X->type),
                                   .nrows = at.nrows * heads,
                                   .count = width,
                                   .step = heads == 1 ? X->ld : width,
                                   .width = 1,
                                   .ld = 1};
        if (!stops(c))
            ftb_fold_rows(&c->fold, omp_get_thread_num(), &rows, total(c, at.row));
    }
}

/* out = count entries of `width` values, ld apart, reduced slice by slice. */
static GrB_Info fold_slices(const ftb_fold *f, const char *x, int64_t count, int64_t ld, char *out)
{
    int64_t slice = ftb_max(SLICE_ROWS, SLICE / ftb_max(f->width, 1)), slices = (count + slice - 1) / slice;
    size_t size = f->from ? FtB_Type_size(f->from) : 0, item = (size_t)f->width * FtB_Type_size(f->result);
    char *partial = ftb_new(f->ctx, slices * f->width, FtB_Type_size(f->result));
    if (!partial)
        return ftb_nomem();
#pragma omp parallel for num_threads(f->threads) schedule(dynamic)
    for (int64_t s = 0; s < slices; s++) {
        const ftb_segments one = {.x = size ? x + (size_t)(s * slice * ld) * size : NULL,
                                  .nrows = 1,
                                  .count = ftb_min(slice, count - s * slice),
                                  .width = f->width,
                                  .ld = ld};
        if (!ftb_cancelled(f->ctx))
            ftb_fold_rows(f, omp_get_thread_num(), &one, partial + (size_t)s * item);
    }
    GrB_Info info = ftb_check_cancelled(f->ctx);
    if (info == GrB_SUCCESS)
        ftb_fold_partial(f, partial, slices, out);
    ftb_delete(partial);
    return info;
}

static GrB_Info begin(reduce_call *c, FtB_Arg monoid)
{
    FtB_Type from = c->X ? c->X->type : c->A->width > 0 ? c->A->type : (FtB_Type)0;
    int64_t width = c->X && !c->flags.transpose0 ? 1 : c->ncols;
    int64_t values = c->X ? c->X->nrows * c->X->ncols : c->A->pattern->nvals + c->A->pattern->nrows;
    return ftb_fold_begin(&c->fold, c->ctx, monoid, from, width, ftb_threads_for_values(c->ctx, values));
}

static GrB_Info compute(reduce_call *c)
{
    GrB_Info info = ftb_check_cancelled(c->ctx);
    if (info != GrB_SUCCESS)
        return info;
    if (c->A)
        fold_matrix(c);
    else if (c->absent)
        return GrB_SUCCESS;
    else if (c->flags.transpose0)
        return fold_slices(&c->fold, ftb_block_data(c->X), c->X->nrows, c->X->ld, c->totals);
    else
        fold_block(c);
    return c->own ? ftb_check_cancelled(c->ctx) : GrB_SUCCESS;
}

GrB_Info FtB_reduce(FtB_Arg y, FtB_Arg M, FtB_Arg accum, FtB_Arg monoid, FtB_Arg A, FtB_Arg desc)
{
    reduce_call c = {0};
    GrB_Info info = unwrap(&c, y, M, accum, A, desc);
    if (info != GrB_SUCCESS)
        goto done;
    FTB_CHECK(check_shape(&c));
    FTB_CHECK(begin(&c, monoid));
    FTB_CHECK(ftb_block_write_check(c.y, c.M, &c.flags, c.accum, c.nrows, c.ncols, c.fold.result));
    if (c.A && c.flags.transpose0) {
        FTB_CHECK(ftb_matrix_transpose(&c.transposed, c.A));
        c.A = c.transposed;
    }
    FTB_CHECK(find_absent(&c));
    FTB_CHECK(place_totals(&c));
    FTB_CHECK(compute(&c));
    FTB_CHECK(ftb_block_write(c.y, c.M, &c.flags, c.accum, c.totals, c.fold.result, c.ncols, c.present));
done:
    ftb_fold_end(&c.fold);
    ftb_delete(c.own);
    ftb_delete(c.absent);
    FtB_Matrix_free(&c.transposed);
    FtB_Op_free(&c.accum);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(c.ctx);
    return info;
}

/* ---- everything to one entry */

GrB_Info FtB_reduce_scalar(void *s, FtB_Type type, FtB_Arg monoid, FtB_Arg A)
{
    ftb_fold f = {0};
    FtB_Matrix matrix = NULL;
    char *result = NULL;
    GrB_Info info = GrB_SUCCESS;
    if (!s)
        return ftb_fail(GrB_NULL_POINTER, "s is NULL; expected room for the result");
    if (!ftb_type_valid(type))
        return ftb_fail(GrB_INVALID_VALUE, "type is %d, which is not an FtB_Type", (int)type);
    FTB_CHECK(ftb_arg_matrix(&matrix, A, "A", false));
    int64_t nvals = matrix->pattern->nvals, width = ftb_max(matrix->width, 1);
    FTB_CHECK(ftb_fold_begin(&f, matrix->ctx, monoid, matrix->width > 0 ? matrix->type : (FtB_Type)0, width,
                             ftb_threads_for(matrix->ctx, nvals)));
    result = ftb_new(f.ctx, width, 8);
    if (!result)
        FTB_CHECK(ftb_nomem());
    FTB_CHECK(fold_slices(&f, ftb_values(matrix), nvals, width, result));
    ftb_cast(s, type, result, f.result, width);
done:
    ftb_delete(result);
    ftb_fold_end(&f);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(f.ctx);
    return info;
}

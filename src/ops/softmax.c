/* S = softmax of A's entries over rows or columns, and its gradient.
 *
 * A row's entries lie together: it is normalised where it lies. A column's are gathered by the transpose's
 * permutation, normalised, and put back; each column belongs to one thread, so that bits do not depend on how
 * many there are. FP64 where an operand has more than FP32 holds, else FP32. */
#include "cpu/kernels/softmax.h"
#include "core/watch.h"
#include "ops/block/blocks.h"
#include "ops/merge.h"

#include <omp.h>

/* The slots' macros are for callers: these are the functions. */
#undef FtB_softmax
#undef FtB_softmax_grad

#define PARTS_PER_THREAD 32

typedef struct softmax {
    FtB_Context ctx;
    ftb_pattern *p; /* rows of it are normalised: the transpose for columns */
    const int64_t *from;
    int64_t heads;
    FtB_Type type;
    size_t entry; /* bytes of an entry in `type` */
    char *out;
    const char *in, *d; /* d: NULL, or a gradient follows */
    int threads;
    int64_t longest; /* entries of a row */
    char *scratch;   /* per thread */
    size_t room;
} softmax;

/* Rows that lie at in (and d), to out. */
static void normalise(const softmax *w, void *out, const void *in, const void *d, const int64_t *start,
                      int64_t nrows, void *scratch)
{
    if (d)
        FTB_PICK_REAL(ftb_softmax_grad_rows, w->type)(out, in, d, start, nrows, w->heads, scratch);
    else
        FTB_PICK_REAL(ftb_softmax_rows, w->type)(out, in, start, nrows, w->heads, scratch);
}

static void gather(const softmax *w, char *to, const char *values, int64_t first, int64_t count)
{
    for (int64_t t = 0; t < count; t++)
        memcpy(to + (size_t)t * w->entry, values + (size_t)w->from[first + t] * w->entry, w->entry);
}

/* Row i, whose entries lie apart. */
static void one_row(const softmax *w, int64_t i, char *scratch)
{
    int64_t first = w->p->rowptr[i], count = w->p->rowptr[i + 1] - first;
    size_t column = (size_t)w->longest * w->entry;
    char *in = scratch + w->room - 2 * column, *d = in + column;
    gather(w, in, w->in, first, count);
    if (w->d)
        gather(w, d, w->d, first, count);
    normalise(w, in, in, w->d ? d : NULL, w->p->rowptr + i, 1, scratch);
    for (int64_t t = 0; t < count; t++)
        memcpy(w->out + (size_t)w->from[first + t] * w->entry, in + (size_t)t * w->entry, w->entry);
}

static void run_part(const softmax *w, int64_t row, int64_t last, char *scratch)
{
    size_t at = (size_t)w->p->rowptr[row] * w->entry;
    if (!w->from)
        normalise(w, w->out + at, w->in + at, w->d ? w->d + at : NULL, w->p->rowptr + row, last - row,
                  scratch);
    for (int64_t i = row; w->from && i < last; i++)
        one_row(w, i, scratch);
}

static GrB_Info run(softmax *w)
{
    const ftb_pattern *p = w->p;
    for (int64_t i = 0; w->from && i < p->nrows; i++)
        w->longest = ftb_max(w->longest, p->rowptr[i + 1] - p->rowptr[i]);
    w->room = (size_t)ftb_softmax_scratch(w->heads) * 8 + 2 * (size_t)w->longest * w->entry;
    w->scratch = ftb_new(w->ctx, w->threads, w->room);
    if (!w->scratch)
        return ftb_nomem();
    int64_t parts = (int64_t)w->threads * PARTS_PER_THREAD;
#pragma omp parallel for schedule(dynamic, 1) num_threads(w->threads)
    for (int64_t part = 0; part < parts; part++) {
        char *scratch = w->scratch + (size_t)omp_get_thread_num() * w->room;
        run_part(w, ftb_pattern_cut(p, part, parts), ftb_pattern_cut(p, part + 1, parts), scratch);
    }
    ftb_delete(w->scratch);
    return GrB_SUCCESS;
}

/* ---- arguments */

static GrB_Info check_operand(FtB_Matrix A, const char *name)
{
    if (A->width < 1)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "%s: width 0; expected entries with values", name);
    return GrB_SUCCESS;
}

static GrB_Info check_output(FtB_Matrix S, const char *name, FtB_Matrix A)
{
    if (!ftb_type_float(S->type))
        return ftb_fail(GrB_DOMAIN_MISMATCH, "%s: dtype %s; expected a floating one", name,
                        FtB_Type_name(S->type));
    if (S->pattern->nrows != A->pattern->nrows || S->pattern->ncols != A->pattern->ncols)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "%s: %lld x %lld; expected %lld x %lld", name,
                        (long long)S->pattern->nrows, (long long)S->pattern->ncols,
                        (long long)A->pattern->nrows, (long long)A->pattern->ncols);
    return GrB_SUCCESS;
}

static bool needs_fp64(FtB_Type type)
{
    return type == FTB_FP64 || (ftb_type_integer(type) && FtB_Type_size(type) > 2);
}

/* A's values in `type`: its own, or a copy. */
static GrB_Info values_as(const char **values, void **copy, FtB_Matrix A, FtB_Type type)
{
    FtB_Block V = NULL;
    const void *data = NULL;
    int64_t ld;
    *copy = NULL;
    if (A->type == type) {
        *values = ftb_values(A);
        return GrB_SUCCESS;
    }
    GrB_Info info = FtB_Matrix_values(&V, A);
    if (info == GrB_SUCCESS)
        info = ftb_block_as(&data, &ld, copy, V, type);
    FtB_Block_free(&V);
    *values = data;
    return info;
}

/* Where the result is computed: S's own values, if they are of A's pattern and of the right type and may be
 * written; else new ones. */
static bool writes_in_place(FtB_Matrix S, FtB_Matrix A, FtB_Type type)
{
    return S->pattern == A->pattern && S->width == A->width && S->type == type && S->values &&
           ftb_buffer_write(S->values);
}

static GrB_Info normalise_all(FtB_Matrix S, FtB_Matrix A, FtB_Matrix D, FtB_By by)
{
    GrB_Info info;
    FtB_Matrix T = NULL;
    void *copy = NULL, *copy_d = NULL, *made = NULL;
    bool wide = needs_fp64(S->type) || needs_fp64(A->type) || (D && needs_fp64(D->type));
    softmax w = {.ctx = S->ctx,
                 .p = A->pattern,
                 .heads = A->width,
                 .type = wide ? FTB_FP64 : FTB_FP32,
                 .entry = (size_t)A->width * (wide ? 8 : 4)};
    w.threads = ftb_threads_for(w.ctx, w.p->nvals * A->width);
    if (by == FTB_BY_COLUMN)
        FTB_CHECK(ftb_pattern_transpose(A->pattern, &w.p, &w.from));
    FTB_CHECK(values_as(&w.in, &copy, A, w.type));
    if (D)
        FTB_CHECK(values_as(&w.d, &copy_d, D, w.type));
    if (writes_in_place(S, A, w.type)) {
        w.out = ftb_values(S);
        info = run(&w);
        goto done;
    }
    made = ftb_new(w.ctx, A->pattern->nvals, w.entry);
    if (!made) {
        info = ftb_nomem();
        goto done;
    }
    w.out = made;
    FTB_CHECK(run(&w));
    info = ftb_matrix_make(&T, w.ctx, w.type, A->width, ftb_pattern_retain(A->pattern),
                           ftb_buffer_adopt(w.ctx, made));
    made = NULL;
    if (info == GrB_SUCCESS && (info = ftb_matrix_become(S, T)) != GrB_SUCCESS)
        FtB_Matrix_free(&T);
done:
    ftb_delete(copy);
    ftb_delete(copy_d);
    ftb_delete(made);
    return info;
}

static GrB_Info check_by(FtB_By by)
{
    if (by != FTB_BY_ROW && by != FTB_BY_COLUMN)
        return ftb_fail(GrB_INVALID_VALUE, "by: %d; expected FTB_BY_ROW or FTB_BY_COLUMN", (int)by);
    return GrB_SUCCESS;
}

GrB_Info FtB_softmax(FtB_Arg S, FtB_Arg A, FtB_By by)
{
    FtB_Matrix out, in;
    GrB_Info info;
    FTB_CHECK(ftb_arg_matrix(&out, S, "S", false));
    FTB_CHECK(ftb_arg_matrix(&in, A, "A", false));
    FTB_CHECK(check_operand(in, "A"));
    FTB_CHECK(check_output(out, "S", in));
    FTB_CHECK(check_by(by));
    info = normalise_all(out, in, NULL, by);
done:
    return info;
}

GrB_Info FtB_softmax_grad(FtB_Arg dA, FtB_Arg S, FtB_Arg dS, FtB_By by)
{
    FtB_Matrix out, in, d;
    GrB_Info info;
    FTB_CHECK(ftb_arg_matrix(&out, dA, "dA", false));
    FTB_CHECK(ftb_arg_matrix(&in, S, "S", false));
    FTB_CHECK(ftb_arg_matrix(&d, dS, "dS", false));
    FTB_CHECK(check_operand(in, "S"));
    FTB_CHECK(check_output(out, "dA", in));
    FTB_CHECK(check_by(by));
    if (d->width != in->width || d->pattern->nvals != in->pattern->nvals ||
        d->pattern->nrows != in->pattern->nrows || d->pattern->ncols != in->pattern->ncols) {
        info = ftb_fail(GrB_DIMENSION_MISMATCH,
                        "dS: %lld x %lld, %lld entries of width %lld; expected S's %lld x %lld, %lld entries "
                        "of width %lld",
                        (long long)d->pattern->nrows, (long long)d->pattern->ncols,
                        (long long)d->pattern->nvals, (long long)d->width, (long long)in->pattern->nrows,
                        (long long)in->pattern->ncols, (long long)in->pattern->nvals, (long long)in->width);
        goto done;
    }
    info = normalise_all(out, in, d, by);
done:
    return info;
}

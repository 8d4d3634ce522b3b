/* FtB_Block_read: which reader a file is for, and what becomes of its values. */
#include "core/hypersparse.h"
#include "core/options.h"
#include "core/words.h"
#include "io/format.h"

#include <math.h>

static GrB_Info read_options(FtB_Block_read_options *o, const FtB_Block_read_options *given)
{
    *o = (FtB_Block_read_options){.size = sizeof *o};
    GrB_Info info = ftb_options_read(o, sizeof *o, given, "FtB_Block_read", "FTB_BLOCK_READ_OPTIONS");
    if (info == GrB_SUCCESS)
        info = ftb_format_check("FtB_Block_read", o->format, FTB_READ_BLOCK, o->type);
    if (info == GrB_SUCCESS && (o->delimiter == '"' || o->delimiter == '\n' || o->delimiter == '\r'))
        info = ftb_fail(GrB_INVALID_VALUE, "FtB_Block_read: options.delimiter is a quote or a line end");
    return info;
}

/* ---- sparse files, as dense */

/* Value e of A, which `type` cannot hold. */
static GrB_Info unfit(FtB_Matrix A, int64_t e, FtB_Type type, const char *name)
{
    char value[FTB_WORDS];
    const int64_t row = ftb_row_of_entry(A->pattern, e);
    return ftb_fail(FTB_FORMAT, "%s: the value of entry (%lld, %lld) is %s, which %s cannot hold", name,
                    (long long)row, (long long)ftb_col(A->pattern, e),
                    ftb_value_text(value, ftb_values(A), A->type, e), FtB_Type_name(type));
}

static GrB_Info scatter(ftb_dense *d, FtB_Matrix A, FtB_Type type, const char *name)
{
    const ftb_pattern *p = A->pattern, *held = ftb_pattern_rows(A->pattern);
    const int64_t one = 1, n = p->ncols;
    int64_t cells;
    if (A->width > 1)
        return ftb_fail(GrB_INVALID_VALUE, "%s: has %lld values per entry; a block takes one", name,
                        (long long)A->width);
    if (__builtin_mul_overflow(p->nrows, n, &cells) || cells > INT64_MAX / 8)
        return ftb_fail(FTB_FORMAT, "%s: %lld x %lld values cannot be addressed", name, (long long)p->nrows,
                        (long long)n);
    d->type = type ? type : A->type;
    d->nrows = p->nrows;
    d->ncols = n;
    const int64_t size = (int64_t)FtB_Type_size(d->type), from = (int64_t)FtB_Type_size(A->type);
    if (!(d->data = ftb_new0(d->ctx, cells, (size_t)size)))
        return ftb_nomem();
    const char *values = ftb_values(A);
    const int64_t bad = values ? ftb_find_unfit(d->type, values, A->type, p->nvals) : -1;
    if (bad >= 0)
        return unfit(A, bad, d->type, name);
    char *data = d->data;
#pragma omp parallel for schedule(dynamic, 256) num_threads(ftb_threads(d->ctx)) if (p->nvals > 65536)
    for (int64_t r = 0; r < held->nrows; r++)
        for (int64_t e = held->rowptr[r]; e < held->rowptr[r + 1]; e++)
            ftb_cast(data + (ftb_row_number(held, r) * n + ftb_col(p, e)) * size, d->type,
                     values ? values + e * from : (const char *)&one, values ? A->type : FTB_INT64, 1);
    return GrB_SUCCESS;
}

static GrB_Info read_sparse(ftb_dense *d, const ftb_format *f, ftb_input *in, const FtB_Block_read_options *o)
{
    FtB_Edge_layout layout;
    const FtB_Read_options sparse = {
        .size = sizeof sparse, .finite = o->finite, .found = o->found, .layout = &layout};
    FtB_Matrix A = NULL;
    FtB_Labels labels[2] = {NULL, NULL};
    GrB_Info info = f->codec->matrix(&A, labels, d->ctx, in, &sparse);
    if (info == GrB_SUCCESS)
        info = scatter(d, A, o->type, ftb_input_name(in));
    FtB_Labels_free(&labels[0]);
    FtB_Labels_free(&labels[1]);
    FtB_Matrix_free(&A);
    return info;
}

/* ---- what becomes of the values */

int64_t ftb_find_not_finite(FtB_Context ctx, const void *values, FtB_Type type, int64_t count)
{
    int64_t found = INT64_MAX;
#pragma omp parallel for schedule(static) num_threads(ftb_threads(ctx))                                      \
    reduction(min                                                                                            \
              : found) if (count > 65536)
    for (int64_t at = 0; at < count; at++) {
        const double x = type == FTB_FP32   ? (double)((const float *)values)[at]
                         : type == FTB_FP64 ? ((const double *)values)[at]
                                            : ftb_get_real(values, type, at);
        if (!isfinite(x))
            found = ftb_min(found, at);
    }
    return found < INT64_MAX ? found : -1;
}

static GrB_Info check_finite(const ftb_dense *d, const char *name)
{
    if (!ftb_type_float(d->type))
        return GrB_SUCCESS;
    const int64_t at = ftb_find_not_finite(d->ctx, d->data, d->type, d->nrows * d->ncols);
    if (at < 0)
        return GrB_SUCCESS;
    const int64_t major = at / (d->by_column ? d->nrows : d->ncols),
                  minor = at % (d->by_column ? d->nrows : d->ncols);
    return ftb_fail(FTB_FORMAT, "%s: the value of row %lld, column %lld is %g; expected a finite number",
                    name, (long long)(d->by_column ? minor : major),
                    (long long)(d->by_column ? major : minor), ftb_get_real(d->data, d->type, at));
}

/* Rows i0 to i1 - 1 of out, m x n by rows, from `in`, n rows of m: in squares that stay in L1. */
static inline void turn(char *out, const char *in, int64_t i0, int64_t i1, int64_t m, int64_t n, size_t size)
{
    const int64_t side = 32;
    for (int64_t j0 = 0; j0 < n; j0 += side)
        for (int64_t i = i0; i < i1; i++)
            for (int64_t j = j0; j < ftb_min(j0 + side, n); j++)
                memcpy(out + (size_t)(i * n + j) * size, in + (size_t)(j * m + i) * size, size);
}

static GrB_Info to_rows(ftb_dense *d)
{
    if (!d->by_column || d->nrows == 1 || d->ncols == 1)
        return GrB_SUCCESS;
    const int64_t m = d->nrows, n = d->ncols, side = 32;
    const size_t size = FtB_Type_size(d->type);
    char *out = ftb_new(d->ctx, m * n, size);
    if (!out)
        return ftb_nomem();
#pragma omp parallel for schedule(static) num_threads(ftb_threads(d->ctx)) if (m * n > 65536)
    for (int64_t i0 = 0; i0 < m; i0 += side) {
        const int64_t i1 = ftb_min(i0 + side, m);
        switch (size) { /* a constant size makes memcpy an instruction */
        case 1:
            turn(out, d->data, i0, i1, m, n, 1);
            break;
        case 2:
            turn(out, d->data, i0, i1, m, n, 2);
            break;
        case 4:
            turn(out, d->data, i0, i1, m, n, 4);
            break;
        default:
            turn(out, d->data, i0, i1, m, n, 8);
        }
    }
    ftb_delete(d->data);
    d->data = out;
    d->by_column = false;
    return GrB_SUCCESS;
}

GrB_Info FtB_Block_read(FtB_Block *X, const char *path, const FtB_Block_read_options *options)
{
    if (!X || !path)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Block_read: %s is NULL", X ? "path" : "X");
    FtB_Context ctx = ftb_context();
    FtB_Block_read_options o;
    FtB_Format found = FTB_FORMAT_AUTO;
    const ftb_format *f;
    ftb_dense d = {.ctx = ctx};
    ftb_input *in = NULL;
    GrB_Info info;
    *X = NULL;
    FTB_CHECK(read_options(&o, options));
    FTB_CHECK(ftb_format_open(&in, &f, ctx, path, o.format));
    FtB_Format *told = o.found;
    o.found = &found;
    FTB_CHECK(ftb_format_is_block(f, in) ? f->codec->block(&d, in, &o) : read_sparse(&d, f, in, &o));
    if (o.finite)
        FTB_CHECK(check_finite(&d, ftb_input_name(in)));
    FTB_CHECK(to_rows(&d));
    ftb_buffer *owner = ftb_buffer_adopt(ctx, d.data);
    d.data = NULL;
    FTB_CHECK(ftb_block_view(X, ctx, d.type, d.nrows, d.ncols, d.ncols, owner));
    if (told)
        *told = found ? found : f->value;
done:
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(ctx);
    ftb_delete(d.data);
    ftb_input_close(&in);
    return info;
}

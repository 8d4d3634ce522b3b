/* FtB_Block_write: .npy, Matrix Market arrays, tables.
 *
 * Texts are made line by line in pieces that surely fit their buffers; the threads format the pieces of a
 * round, which are then appended in order. */
#include "core/number.h"
#include "io/format.h"
#include "io/npy.h"

#include <stdio.h>

#define PIECE_BYTES (256 * 1024)
#define PIECES_PER_THREAD 4
#define ROWS_BYTES (4 << 20) /* of a .npy file, between two looks at the cancel flag */

static GrB_Info append(ftb_block_writer *w, const void *bytes, int64_t count)
{
    const int error = ftb_file_append(w->file, &w->stream, bytes, count);
    return error ? ftb_file_failed(w->file, error) : GrB_SUCCESS;
}

static const void *row_of(const struct FtB_Block_opaque *X, int64_t i)
{
    return (const char *)ftb_block_data(X) + (size_t)(i * X->ld) * FtB_Type_size(X->type);
}

/* ---- .npy */

GrB_Info ftb_write_block_npy(ftb_block_writer *w, FtB_Context ctx)
{
    const struct FtB_Block_opaque *X = w->X;
    const FtB_Type type = X->type == FTB_BF16 ? FTB_FP32 : X->type;
    const int64_t size = (int64_t)FtB_Type_size(type), row = ftb_max(X->ncols * size, 1);
    const int64_t rows = ftb_max(ROWS_BYTES / row, 1);
    const bool packed = type == X->type && X->ld == X->ncols;
    char head[FTB_NPY_HEAD], shape[64];
    char *copy = packed ? NULL : ftb_new(ctx, rows * X->ncols, (size_t)size);
    GrB_Info info;
    if (!packed && !copy)
        return ftb_nomem();
    snprintf(shape, sizeof shape, "(%lld, %lld)", (long long)X->nrows, (long long)X->ncols);
    ftb_npy_head(head, ftb_npy_dtype(type), shape);
    FTB_CHECK(append(w, head, FTB_NPY_HEAD));
    for (int64_t i = 0; i < X->nrows && X->ncols > 0; i += rows) {
        const int64_t n = ftb_min(rows, X->nrows - i);
        for (int64_t r = 0; r < n && !packed; r++)
            ftb_cast(copy + r * X->ncols * size, type, row_of(X, i + r), X->type, X->ncols);
        FTB_CHECK(append(w, packed ? row_of(X, i) : copy, n * X->ncols * size));
        FTB_CHECK(ftb_progress(ctx, (double)(i + n), (double)X->nrows, "rows written"));
    }
done:
    ftb_delete(copy);
    return info;
}

/* ---- texts */

/* Lines first to end - 1: rows, or the values of an array, which come column by column. Returns the end. */
static char *format_lines(const ftb_block_writer *w, char *out, int64_t first, int64_t end)
{
    const struct FtB_Block_opaque *X = w->X;
    const char separator = w->format == FTB_CSV ? ',' : '\t';
    for (int64_t line = first; line < end; line++) {
        if (w->format == FTB_MTX) {
            out = ftb_format_value(out, row_of(X, line % X->nrows), X->type, line / X->nrows, w->digits);
        } else {
            for (int64_t f = 0; f < X->ncols; f++) {
                if (f > 0)
                    *out++ = separator;
                out = ftb_format_value(out, row_of(X, line), X->type, f, w->digits);
            }
        }
        *out++ = '\n';
    }
    return out;
}

GrB_Info ftb_write_block_text(ftb_block_writer *w, FtB_Context ctx)
{
    const struct FtB_Block_opaque *X = w->X;
    const bool array = w->format == FTB_MTX;
    const int64_t lines = array ? X->nrows * X->ncols : X->nrows;
    const int64_t room = (array ? 1 : X->ncols) * (FTB_NUMBER_ROOM + 1) + 1; /* of a line */
    const int64_t each = ftb_max(PIECE_BYTES / room, 1), capacity = each * room;
    const int threads = ftb_threads(ctx), pieces = threads == 1 ? 1 : PIECES_PER_THREAD * threads;
    char *text = ftb_new(ctx, pieces * capacity, 1), **ends = ftb_new(ctx, pieces, sizeof *ends);
    GrB_Info info = text && ends ? GrB_SUCCESS : ftb_nomem();
    if (info == GrB_SUCCESS && array) {
        char head[128];
        const int n =
            snprintf(head, sizeof head, "%%%%MatrixMarket matrix array %s general\n%lld %lld\n",
                     ftb_type_float(X->type) ? "real" : "integer", (long long)X->nrows, (long long)X->ncols);
        info = append(w, head, n);
    }
    for (int64_t line = 0; line < lines && info == GrB_SUCCESS; line += pieces * each) {
        const int count = (int)ftb_min(pieces, (lines - line + each - 1) / each);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (count > 1)
        for (int p = 0; p < count; p++)
            ends[p] =
                format_lines(w, text + p * capacity, line + p * each, ftb_min(line + (p + 1) * each, lines));
        for (int p = 0; p < count && info == GrB_SUCCESS; p++)
            info = append(w, text + p * capacity, ends[p] - (text + p * capacity));
        if (info == GrB_SUCCESS)
            info = ftb_progress(ctx, (double)line, (double)lines, "lines written");
    }
    ftb_delete(text);
    ftb_delete(ends);
    return info;
}

/* ---- the whole */

static GrB_Info check(FtB_Block X, const char *path, int digits)
{
    if (!X || !path)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Block_write: %s is NULL", X ? "path" : "X");
    if (X->magic != FTB_MAGIC_BLOCK)
        return ftb_fail(GrB_UNINITIALIZED_OBJECT, "FtB_Block_write: X is not an FtB_Block, or was freed");
    if (digits < 0 || digits > 17)
        return ftb_fail(GrB_INVALID_VALUE, "FtB_Block_write: %d digits; expected 0 to 17", digits);
    if (X->ncols > INT64_MAX / 64 || (X->ncols > 0 && X->nrows > INT64_MAX / 64 / X->ncols))
        return ftb_fail(GrB_INVALID_VALUE, "FtB_Block_write: %lld x %lld values are too many",
                        (long long)X->nrows, (long long)X->ncols);
    return ftb_buffer_ask_as(X->owner, FTB_READ, "FtB_Block_write: X");
}

GrB_Info FtB_Block_write(FtB_Block X, const char *path, FtB_Format format, int digits)
{
    ftb_block_writer w = {.X = X, .digits = digits};
    const ftb_format *f;
    ftb_stream *const streams[] = {&w.stream};
    GrB_Info info;
    FTB_CHECK(check(X, path, digits));
    FTB_CHECK(ftb_format_choose(&f, path, format, FTB_WRITE_BLOCK, "blocks"));
    w.format = f->value;
    FTB_CHECK(ftb_file_create(&w.file, X->ctx, path));
    info = f->codec->write_block(&w, X->ctx);
    if (info == GrB_SUCCESS)
        info = ftb_file_settle(w.file, streams, 1);
    if (info == GrB_SUCCESS)
        info = ftb_file_commit(&w.file);
done:
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(X->ctx);
    ftb_file_discard(&w.file);
    return info;
}

/* Raw CSR files; docs/formats.md. */
#include "io/arrays_sink.h"
#include "io/input.h"

static GrB_Info csr_begin(FtB_Sink sink, const ftb_sink_shape *shape)
{
    ftb_arrays_target *t = sink->state;
    int64_t column = (int64_t)ftb_col_size(shape->ncols), end, bytes;
    GrB_Info info;
    t->stored = shape->type;
    t->rowptr_bytes = 8;
    FTB_CHECK(ftb_arrays_open(sink));
    if (__builtin_mul_overflow(shape->nrows + 1, 8, &end) || __builtin_add_overflow(end, 64, &end))
        return ftb_fail(GrB_INVALID_VALUE, "%s: %lld rows are too many", t->target.path,
                        (long long)shape->nrows);
    t->rowptr.at = 64;
    t->colidx.at = t->values.at = end;
    if (shape->nvals >= 0) {
        t->values.at = end + (shape->nvals * column + 63) / 64 * 64;
    } else if (shape->width > 0) {
        /* The columns take at most this much; the file is sparse until the values come down. */
        if (__builtin_mul_overflow(shape->nrows, shape->ncols, &bytes) ||
            __builtin_mul_overflow(bytes, column, &bytes) || __builtin_add_overflow(bytes, end, &bytes))
            bytes = INT64_MAX;
        FTB_CHECK(ftb_file_reserve(ftb_arrays_file(t), bytes, &t->values.at));
        t->gap_end = t->values.at;
    }
done:
    return info;
}

static GrB_Info csr_end(FtB_Sink sink)
{
    ftb_arrays_target *t = sink->state;
    const ftb_sink_shape *shape = &sink->shape;
    int64_t columns_end = t->colidx.at + t->colidx.bytes;
    GrB_Info info;
    FTB_CHECK(ftb_arrays_last_rows(sink));
    if (shape->nvals < 0 && shape->width > 0)
        FTB_CHECK(ftb_file_close_gap(ftb_arrays_file(t), columns_end, &t->values.at, t->values.bytes));
    if (shape->width == 0)
        t->values.at = columns_end;
    ftb_csr_head h = {.magic = FTB_CSR_MAGIC,
                      .order = FTB_CSR_ORDER,
                      .version = 1,
                      .type = (uint8_t)shape->type,
                      .column_bytes = (uint8_t)ftb_col_size(shape->ncols),
                      .nrows = shape->nrows,
                      .ncols = shape->ncols,
                      .nvals = t->nvals,
                      .width = shape->width,
                      .columns_at = t->colidx.at,
                      .values_at = t->values.at};
    FTB_CHECK(ftb_file_write_at(ftb_arrays_file(t), 0, &h, sizeof h));
    FTB_CHECK(ftb_arrays_commit(sink, t->values.at + t->values.bytes));
done:
    return info;
}

const ftb_format_kind ftb_csr_kind = {{.name = "raw CSR file",
                                       .begin = csr_begin,
                                       .rows = ftb_arrays_rows,
                                       .end = csr_end,
                                       .abort = ftb_arrays_abort,
                                       .destroy = ftb_target_destroy,
                                       .least = ftb_arrays_least},
                                      sizeof(ftb_arrays_target)};

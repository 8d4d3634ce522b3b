/* Writing CSR arrays row by row. */
#include "io/arrays_sink.h"

#include <errno.h>
#include <zlib.h>

#define BLOCK_BYTES (INT64_C(1) << 20)
#define LEAST_BLOCK_BYTES (INT64_C(1) << 16) /* under a tight memory limit */

int64_t ftb_arrays_least(FtB_Sink sink, const ftb_sink_shape *shape)
{
    (void)sink, (void)shape;
    return LEAST_BLOCK_BYTES;
}

ftb_file *ftb_arrays_file(ftb_arrays_target *t) { return t->spool ? t->spool : t->target.file; }

GrB_Info ftb_arrays_open(FtB_Sink sink)
{
    ftb_arrays_target *t = sink->state;
    FtB_Context ctx = sink->shape.ctx;
    GrB_Info info = GrB_SUCCESS;
    t->block_bytes = ftb_max(ftb_min(ftb_sink_room(&sink->shape) / 2, BLOCK_BYTES), LEAST_BLOCK_BYTES);
    if (!(t->block = ftb_new(ctx, t->block_bytes, 1)))
        return ftb_nomem();
    FTB_CHECK(ftb_target_check_labels(&t->target, &sink->shape));
    FTB_CHECK(ftb_file_create(&t->target.file, ctx, t->target.path));
    FTB_CHECK(ftb_target_write_ids(&t->target, &sink->shape, 0));
    if (!ftb_file_seekable(t->target.file))
        FTB_CHECK(ftb_file_spool(&t->spool, ctx));
done:
    return info;
}

/* As zlib's crc32, by all threads. */
uint32_t ftb_crc(FtB_Context ctx, uint32_t crc, const void *bytes, int64_t count)
{
    enum { PARTS = 16 };
    uLong part[PARTS], whole = crc;
    int64_t each = (count + PARTS - 1) / PARTS;
#pragma omp parallel for schedule(static) num_threads(ftb_threads(ctx)) if (count > 65536)
    for (int p = 0; p < PARTS; p++) {
        int64_t first = ftb_min(p * each, count), end = ftb_min(first + each, count);
        part[p] = crc32_z(crc32_z(0, NULL, 0), (const Bytef *)bytes + first, (size_t)(end - first));
    }
    for (int p = 0; p < PARTS; p++)
        whole = crc32_combine(whole, part[p], ftb_min((p + 1) * each, count) - ftb_min(p * each, count));
    return (uint32_t)whole;
}

/* Writes behind what the array has; by one thread, since file systems lock a file against a second. */
static GrB_Info append(ftb_arrays_target *t, FtB_Context ctx, ftb_growing *array, const void *bytes,
                       int64_t count)
{
    if (t->checked)
        array->crc = ftb_crc(ctx, array->crc, bytes, count);
    array->stream.at = array->at + array->bytes;
    array->bytes += count;
    int error = ftb_file_append(ftb_arrays_file(t), &array->stream, bytes, count);
    return error ? ftb_file_failed(ftb_arrays_file(t), error) : GrB_SUCCESS;
}

/* Row pointers of `count` rows from t->next on: where each begins. rowptr NULL: they are empty. */
static GrB_Info append_rowptr(ftb_arrays_target *t, FtB_Context ctx, const int64_t *rowptr, int64_t count)
{
    const int64_t room = t->block_bytes / 8;
    GrB_Info info = GrB_SUCCESS;
    for (int64_t r = 0; r < count && info == GrB_SUCCESS; r += room) {
        int64_t n = ftb_min(room, count - r);
        for (int64_t b = 0; b < n; b++) {
            int64_t start = t->nvals + (rowptr ? rowptr[r + b] : 0);
            if (t->rowptr_bytes == 8)
                ((int64_t *)t->block)[b] = start;
            else
                ((int32_t *)t->block)[b] = (int32_t)start;
        }
        info = append(t, ctx, &t->rowptr, t->block, n * t->rowptr_bytes);
    }
    t->next += count;
    return info;
}

/* The row of every entry. */
static GrB_Info append_numbers(ftb_arrays_target *t, FtB_Context ctx, const FtB_Rows *rows)
{
    const int64_t room = t->block_bytes / 8, count = rows->rowptr[rows->nrows];
    int64_t *block = t->block, r = 0;
    GrB_Info info = GrB_SUCCESS;
    for (int64_t e = 0; e < count && info == GrB_SUCCESS; e += room) {
        const int64_t n = ftb_min(room, count - e);
        for (int64_t b = 0; b < n; b++) {
            while (e + b >= rows->rowptr[r + 1])
                r++;
            block[b] = rows->row0 + r;
        }
        info = append(t, ctx, &t->rowptr, block, n * (int64_t)sizeof *block);
    }
    return info;
}

static GrB_Info append_values(ftb_arrays_target *t, FtB_Context ctx, const FtB_Rows *rows, int64_t count)
{
    size_t from = FtB_Type_size(rows->type), to = FtB_Type_size(t->stored);
    GrB_Info info = GrB_SUCCESS;
    if (rows->width == 0 && t->stored == FTB_BOOL && t->checked) { /* npz has no patterns: ones */
        memset(t->block, 1, (size_t)t->block_bytes);
        for (int64_t e = 0; e < count && info == GrB_SUCCESS; e += t->block_bytes)
            info = append(t, ctx, &t->values, t->block, ftb_min(t->block_bytes, count - e));
        return info;
    }
    count *= rows->width;
    if (rows->type == t->stored)
        return append(t, ctx, &t->values, rows->values, count * (int64_t)to);
    const int64_t room = t->block_bytes / 8;
    for (int64_t e = 0; e < count && info == GrB_SUCCESS; e += room) {
        int64_t n = ftb_min(room, count - e);
        ftb_cast(t->block, t->stored, (const char *)rows->values + (size_t)e * from, rows->type, n);
        info = append(t, ctx, &t->values, t->block, n * (int64_t)to);
    }
    return info;
}

GrB_Info ftb_arrays_rows(FtB_Sink sink, const FtB_Rows *rows)
{
    ftb_arrays_target *t = sink->state;
    FtB_Context ctx = sink->shape.ctx;
    int64_t count = rows->rowptr[rows->nrows];
    int64_t columns = count * (int64_t)ftb_col_size(rows->ncols);
    GrB_Info info;
    if (t->gap_end > 0 && t->colidx.at + t->colidx.bytes > t->gap_end - columns)
        return ftb_file_failed(ftb_arrays_file(t), EFBIG);
    if (t->tuples) {
        FTB_CHECK(append_numbers(t, ctx, rows));
    } else {
        FTB_CHECK(append_rowptr(t, ctx, NULL, rows->row0 - t->next));
        FTB_CHECK(append_rowptr(t, ctx, rows->rowptr, rows->nrows));
    }
    FTB_CHECK(append(t, ctx, &t->colidx, rows->colidx, columns));
    FTB_CHECK(append_values(t, ctx, rows, count));
    t->nvals += count;
done:
    return info;
}

GrB_Info ftb_arrays_last_rows(FtB_Sink sink)
{
    ftb_arrays_target *t = sink->state;
    ftb_stream *const streams[] = {&t->rowptr.stream, &t->colidx.stream, &t->values.stream};
    GrB_Info info = GrB_SUCCESS;
    if (!t->tuples)
        info = append_rowptr(t, sink->shape.ctx, NULL, sink->shape.nrows + 1 - t->next);
    return info == GrB_SUCCESS ? ftb_file_settle(ftb_arrays_file(t), streams, 3) : info;
}

GrB_Info ftb_arrays_commit(FtB_Sink sink, int64_t size)
{
    ftb_arrays_target *t = sink->state;
    GrB_Info info = GrB_SUCCESS;
    if (t->spool)
        FTB_CHECK(ftb_file_send(t->target.file, t->spool, size));
    FTB_CHECK(ftb_target_commit(&t->target));
    ftb_arrays_abort(sink); /* what is left */
done:
    return info;
}

void ftb_arrays_abort(FtB_Sink sink)
{
    ftb_arrays_target *t = sink->state;
    ftb_file_discard(&t->spool);
    ftb_delete(t->block);
    t->block = NULL;
    ftb_target_abort(sink);
}

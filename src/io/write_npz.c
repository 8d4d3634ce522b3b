/* npz files as scipy.sparse.save_npz writes them: a zip archive of stored .npy arrays. We write the archive
 * ourselves, because the arrays' lengths and checksums are only known when all rows have come. Sizes are
 * always given in 64 bits. Format: PKWARE's APPNOTE, sections 4.3 and 4.5.3. */
#include "core/hypersparse.h"
#include "io/arrays_sink.h"
#include "io/npy.h"

#include <zlib.h>

#define MEMBERS 5
#define NAME_ROOM 16
#define LOCAL_BYTES(name) (30 + (int64_t)strlen(name) + 20)

typedef struct member {
    const char *name;
    int64_t at;   /* of its local header */
    int64_t size; /* .npy header and data */
    uint32_t crc; /* of the data; then of all */
    char head[FTB_NPY_HEAD];
} member;

enum { FORMAT, SHAPE, INDPTR, INDICES, DATA };

typedef struct npz_state {
    ftb_arrays_target arrays; /* first, as in every file sink */
    member member[MEMBERS];
} npz_state;

/* ---- little-endian numbers */

static char *put(char *out, uint64_t value, int bytes)
{
    for (int b = 0; b < bytes; b++)
        *out++ = (char)(value >> (8 * b) & 255);
    return out;
}

static char *put_common(char *p, const member *m, int extra)
{
    p = put(p, 45, 2);   /* needs zip64 */
    p = put(p, 0, 2);    /* no flags */
    p = put(p, 0, 2);    /* stored */
    p = put(p, 0, 2);    /* midnight, */
    p = put(p, 0x21, 2); /* 1 January 1980: the same rows give the same file */
    p = put(p, m->crc, 4);
    p = put(p, UINT32_MAX, 4); /* sizes: in the extra field */
    p = put(p, UINT32_MAX, 4);
    p = put(p, strlen(m->name), 2);
    return put(p, (uint64_t)extra, 2);
}

static GrB_Info write_local(ftb_file *file, const member *m)
{
    char bytes[30 + NAME_ROOM + 20 + FTB_NPY_HEAD], *p = bytes;
    size_t length = strlen(m->name);
    p = put(p, 0x04034b50, 4);
    p = put_common(p, m, 20);
    memcpy(p, m->name, length);
    p += length;
    p = put(p, 1, 2); /* zip64 */
    p = put(p, 16, 2);
    p = put(p, (uint64_t)m->size, 8);
    p = put(p, (uint64_t)m->size, 8);
    memcpy(p, m->head, FTB_NPY_HEAD);
    p += FTB_NPY_HEAD;
    return ftb_file_write_at(file, m->at, bytes, p - bytes);
}

/* The central directory and its ends, at `at`; *size: of the whole file. */
static GrB_Info write_directory(ftb_file *file, const member *members, int64_t at, int64_t *size)
{
    char bytes[MEMBERS * (46 + NAME_ROOM + 28) + 56 + 20 + 22], *p = bytes;
    for (int i = 0; i < MEMBERS; i++) {
        const member *m = &members[i];
        size_t length = strlen(m->name);
        p = put(p, 0x02014b50, 4);
        p = put(p, 45, 2); /* made by */
        p = put_common(p, m, 28);
        p = put(p, 0, 2 + 2 + 2); /* no comment, disk 0, no attributes */
        p = put(p, 0, 4);
        p = put(p, UINT32_MAX, 4); /* place: in the extra field */
        memcpy(p, m->name, length);
        p += length;
        p = put(p, 1, 2); /* zip64 */
        p = put(p, 24, 2);
        p = put(p, (uint64_t)m->size, 8);
        p = put(p, (uint64_t)m->size, 8);
        p = put(p, (uint64_t)m->at, 8);
    }
    int64_t directory = p - bytes;
    p = put(p, 0x06064b50, 4); /* its end, in 64 bits */
    p = put(p, 44, 8);
    p = put(p, 45, 2);
    p = put(p, 45, 2);
    p = put(p, 0, 8);
    p = put(p, MEMBERS, 8);
    p = put(p, MEMBERS, 8);
    p = put(p, (uint64_t)directory, 8);
    p = put(p, (uint64_t)at, 8);
    p = put(p, 0x07064b50, 4); /* where that is */
    p = put(p, 0, 4);
    p = put(p, (uint64_t)(at + directory), 8);
    p = put(p, 1, 4);
    p = put(p, 0x06054b50, 4); /* its end */
    p = put(p, 0, 4);
    p = put(p, MEMBERS, 2);
    p = put(p, MEMBERS, 2);
    p = put(p, UINT32_MAX, 4);
    p = put(p, UINT32_MAX, 4);
    p = put(p, 0, 2);
    *size = at + (p - bytes);
    return ftb_file_write_at(file, at, bytes, p - bytes);
}

/* ---- the sink */

/* A member of which `bytes` bytes of data were written behind its headers. */
static GrB_Info finish_member(ftb_file *file, member *m, const char *dtype, const char *shape, int64_t bytes,
                              uint32_t crc)
{
    ftb_npy_head(m->head, dtype, shape);
    m->size = FTB_NPY_HEAD + bytes;
    m->crc = (uint32_t)crc32_combine(crc32_z(crc32_z(0, NULL, 0), (const Bytef *)m->head, FTB_NPY_HEAD), crc,
                                     bytes);
    return write_local(file, m);
}

static GrB_Info finish_small(ftb_file *file, member *m, const char *dtype, const char *shape,
                             const void *data, int64_t bytes)
{
    GrB_Info info = finish_member(file, m, dtype, shape, bytes,
                                  (uint32_t)crc32_z(crc32_z(0, NULL, 0), data, (size_t)bytes));
    if (info == GrB_SUCCESS)
        info = ftb_file_write_at(file, m->at + LOCAL_BYTES(m->name) + FTB_NPY_HEAD, data, bytes);
    return info;
}

static int64_t data_at(const member *m) { return m->at + LOCAL_BYTES(m->name) + FTB_NPY_HEAD; }

static GrB_Info npz_begin(FtB_Sink sink, const ftb_sink_shape *shape)
{
    static const char *const names[2][MEMBERS] = {
        {"format.npy", "shape.npy", "indptr.npy", "indices.npy", "data.npy"},
        {"format.npy", "shape.npy", "row.npy", "col.npy", "data.npy"}};
    npz_state *s = sink->state;
    ftb_arrays_target *t = &s->arrays;
    member *m = s->member;
    int64_t column = (int64_t)ftb_col_size(shape->ncols), rows, columns;
    GrB_Info info;
    if (shape->width > 1)
        return ftb_fail(GrB_INVALID_VALUE, "%s: an entry of an npz file has one value; these have %lld",
                        t->target.path, (long long)shape->width);
    t->checked = true;
    t->stored = shape->width == 0 ? FTB_BOOL : shape->type == FTB_BF16 ? FTB_FP32 : shape->type;
    t->tuples = shape->nvals >= 0 && ftb_listed_fits(shape->nrows, shape->nvals);
    t->rowptr_bytes = column == 4 && shape->nvals >= 0 && shape->nvals <= INT32_MAX ? 4 : 8;
    for (int i = 0; i < MEMBERS; i++)
        m[i].name = names[t->tuples][i];
    if (t->tuples)
        rows = shape->nvals * (int64_t)sizeof(int64_t);
    else if (__builtin_mul_overflow(shape->nrows + 1, t->rowptr_bytes, &rows))
        return ftb_fail(GrB_INVALID_VALUE, "%s: %lld rows are too many", t->target.path,
                        (long long)shape->nrows);
    FTB_CHECK(ftb_arrays_open(sink));
    m[SHAPE].at = data_at(&m[FORMAT]) + 3;
    m[INDPTR].at = data_at(&m[SHAPE]) + 16;
    t->rowptr.at = data_at(&m[INDPTR]);
    m[INDICES].at = t->rowptr.at + rows;
    t->colidx.at = data_at(&m[INDICES]);
    if (shape->nvals >= 0) {
        m[DATA].at = t->colidx.at + shape->nvals * column;
    } else { /* as far up as the indices may reach */
        if (__builtin_mul_overflow(shape->nrows, shape->ncols, &columns) ||
            __builtin_mul_overflow(columns, column, &columns) ||
            __builtin_add_overflow(columns, t->colidx.at, &columns))
            columns = INT64_MAX;
        FTB_CHECK(ftb_file_reserve(ftb_arrays_file(t), columns, &m[DATA].at));
        t->gap_end = m[DATA].at;
    }
    t->values.at = data_at(&m[DATA]);
done:
    return info;
}

static GrB_Info npz_end(FtB_Sink sink)
{
    npz_state *s = sink->state;
    ftb_arrays_target *t = &s->arrays;
    member *m = s->member;
    ftb_file *file = ftb_arrays_file(t);
    int64_t dimensions[2] = {sink->shape.nrows, sink->shape.ncols}, size;
    char count[32], rows[32];
    GrB_Info info;
    FTB_CHECK(ftb_arrays_last_rows(sink));
    if (sink->shape.nvals < 0)
        FTB_CHECK(ftb_file_close_gap(file, t->colidx.at + t->colidx.bytes, &m[DATA].at,
                                     t->values.bytes ? t->values.at - m[DATA].at + t->values.bytes : 0));
    snprintf(count, sizeof count, "(%lld,)", (long long)t->nvals);
    snprintf(rows, sizeof rows, "(%lld,)", (long long)(t->tuples ? t->nvals : sink->shape.nrows + 1));
    FTB_CHECK(finish_small(file, &m[FORMAT], "S3", "()", t->tuples ? "coo" : "csr", 3));
    FTB_CHECK(finish_small(file, &m[SHAPE], "i8", "(2,)", dimensions, sizeof dimensions));
    FTB_CHECK(finish_member(file, &m[INDPTR], t->tuples || t->rowptr_bytes == 8 ? "i8" : "i4", rows,
                            t->rowptr.bytes, t->rowptr.crc));
    FTB_CHECK(finish_member(file, &m[INDICES], ftb_col_size(sink->shape.ncols) == 8 ? "i8" : "i4", count,
                            t->colidx.bytes, t->colidx.crc));
    FTB_CHECK(finish_member(file, &m[DATA], ftb_npy_dtype(t->stored), count, t->values.bytes, t->values.crc));
    FTB_CHECK(write_directory(file, m, m[DATA].at + LOCAL_BYTES(m[DATA].name) + m[DATA].size, &size));
    FTB_CHECK(ftb_arrays_commit(sink, size));
done:
    return info;
}

const ftb_format_kind ftb_npz_kind = {{.name = "npz file",
                                       .begin = npz_begin,
                                       .rows = ftb_arrays_rows,
                                       .end = npz_end,
                                       .abort = ftb_arrays_abort,
                                       .destroy = ftb_target_destroy,
                                       .least = ftb_arrays_least},
                                      sizeof(npz_state)};

/* Ids of rows and columns: in texts in place of positions, and for formats that have positions only as tables
 * beside the file, of which all appear or none. */
#include "core/number.h"
#include "io/target.h"

#include <stdio.h>
#include <stdlib.h>

#define BUFFER_BYTES (256 * 1024)
#define LEAST_BUFFER_BYTES (16 * 1024) /* under a tight memory limit */

/* ---- labels */

static bool needs_quotes(const char *label, int64_t length)
{
    static const char special[] = ",;\"\n\r\t";
    return length == 0 || label[0] == ' ' || label[length - 1] == ' ' || label[0] == '#' || label[0] == '%' ||
           strpbrk(label, special) != NULL;
}

char *ftb_put_label(char *out, FtB_Format format, FtB_Labels labels, int64_t at)
{
    const char *label = labels->bytes + labels->offset[at];
    int64_t length = (int64_t)strlen(label);
    if (format == FTB_CSV && needs_quotes(label, length)) {
        *out++ = '"';
        for (; *label; label++) {
            if (*label == '"')
                *out++ = '"';
            *out++ = *label;
        }
        *out++ = '"';
        return out;
    }
    memcpy(out, label, (size_t)length);
    if (format == FTB_TSV) /* a label cannot hold what separates fields and lines */
        for (int64_t c = 0; c < length; c++)
            if (out[c] == '\t' || out[c] == '\n' || out[c] == '\r')
                out[c] = ' ';
    return out + length;
}

int64_t ftb_label_room(FtB_Labels labels)
{
    int64_t longest = FTB_NUMBER_ROOM;
    for (int64_t at = 0; labels && at < labels->count; at++) /* every character may be a quote */
        longest = ftb_max(longest, 2 * (labels->offset[at + 1] - labels->offset[at]) + 2);
    return longest;
}

static GrB_Info check_count(const char *what, FtB_Labels labels, int64_t count)
{
    if (!labels || labels->count >= count)
        return GrB_SUCCESS;
    return ftb_fail(GrB_INVALID_VALUE, "there are %lld labels for %lld %s", (long long)labels->count,
                    (long long)count, what);
}

GrB_Info ftb_target_check_labels(const ftb_target *t, const ftb_sink_shape *shape)
{
    GrB_Info info = check_count("rows", t->rows, shape->nrows);
    return info == GrB_SUCCESS ? check_count("columns", t->cols, shape->ncols) : info;
}

/* ---- tables beside a file */

char *ftb_path_beside(const char *path, const char *what)
{
    const ftb_format *f;
    const size_t length = strlen(path), ending = ftb_format_ending(&f, path);
    char *beside = NULL;
    return asprintf(&beside, "%.*s.%s.csv", (int)(length - ending), path, what) < 0 ? NULL : beside;
}

GrB_Info ftb_write_ids(ftb_file **file, FtB_Context ctx, const char *path, const char *what,
                       FtB_Labels labels, int64_t count, int64_t base)
{
    static const char head[] = "position,id\n";
    const int64_t room = ftb_label_room(labels) + FTB_NUMBER_ROOM + 2,
                  size = ftb_max(ftb_min(BUFFER_BYTES, ftb_max(ftb_memory_left(ctx) / 4, LEAST_BUFFER_BYTES)),
                                 2 * room);
    char *beside = ftb_path_beside(path, what), *buffer = ftb_new(ctx, size, 1), *out = buffer;
    GrB_Info info = beside && buffer ? ftb_file_create(file, ctx, beside) : ftb_nomem();
    if (info == GrB_SUCCESS)
        info = ftb_file_write(*file, head, (int64_t)strlen(head));
    for (int64_t at = 0; at < count && info == GrB_SUCCESS; at++) {
        out = ftb_format_unsigned(out, (uint64_t)(at + base));
        *out++ = ',';
        out = ftb_put_label(out, FTB_CSV, labels, at);
        *out++ = '\n';
        if (at + 1 == count || out - buffer > size - room) {
            info = ftb_file_write(*file, buffer, out - buffer);
            out = buffer;
        }
    }
    ftb_delete(buffer);
    free(beside);
    return info;
}

GrB_Info ftb_target_write_ids(ftb_target *t, const ftb_sink_shape *shape, int64_t base)
{
    const bool same = t->rows == t->cols && shape->nrows == shape->ncols;
    GrB_Info info = GrB_SUCCESS;
    if (!ftb_file_seekable(t->file)) /* nothing is beside standard output, a pipe or a device */
        return GrB_SUCCESS;
    if (t->rows)
        info = ftb_write_ids(&t->beside[0], shape->ctx, t->path, same ? "ids" : "rows", t->rows, shape->nrows,
                             base);
    if (info == GrB_SUCCESS && t->cols && !same)
        info = ftb_write_ids(&t->beside[1], shape->ctx, t->path, "cols", t->cols, shape->ncols, base);
    return info;
}

GrB_Info ftb_target_commit(ftb_target *t)
{
    GrB_Info info = ftb_file_sync(t->file);
    for (int side = 0; side < 2 && info == GrB_SUCCESS; side++)
        if (t->beside[side])
            info = ftb_file_sync(t->beside[side]);
    for (int side = 0; side < 2 && info == GrB_SUCCESS; side++)
        if (t->beside[side])
            info = ftb_file_commit(&t->beside[side]);
    return info == GrB_SUCCESS ? ftb_file_commit(&t->file) : info;
}

void ftb_target_abort(FtB_Sink sink)
{
    ftb_target *t = sink->state;
    ftb_file_discard(&t->file);
    ftb_file_discard(&t->beside[0]);
    ftb_file_discard(&t->beside[1]);
}

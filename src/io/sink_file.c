/* Sinks that write files, and FtB_Matrix_write, which drives one with the rows of a matrix. */
#include "core/hypersparse.h"
#include "io/format.h"

/* ---- sinks */

void ftb_target_destroy(FtB_Sink sink)
{
    ftb_target *t = sink->state;
    ftb_delete(t->path);
    FtB_Labels_free(&t->rows);
    FtB_Labels_free(&t->cols);
}

GrB_Info ftb_sink_file(FtB_Sink *sink, FtB_Context ctx, const char *path, FtB_Format format, FtB_Labels rows,
                       FtB_Labels cols)
{
    if (!sink || !path)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Sink_file: %s is NULL", sink ? "path" : "sink");
    *sink = NULL;
    const ftb_format *f;
    GrB_Info info = ftb_format_choose(&f, path, format, FTB_WRITE_MATRIX, "matrices");
    if (info != GrB_SUCCESS)
        return info;
    FtB_Sink made = NULL;
    info = ftb_sink_new(&made, ctx, &f->codec->sink->methods, f->codec->sink->state);
    if (info != GrB_SUCCESS)
        return info;
    ftb_target *t = made->state;
    made->single_use = true;
    t->format = f->value;
    t->rows = ftb_labels_retain(rows);
    t->cols = ftb_labels_retain(cols);
    t->path = ftb_strdup(ctx, path);
    if (!t->path) {
        FtB_Sink_free(&made);
        return ftb_nomem();
    }
    *sink = made;
    return GrB_SUCCESS;
}

GrB_Info FtB_Sink_file(FtB_Sink *sink, const char *path, FtB_Format format, FtB_Labels labels)
{
    return ftb_sink_file(sink, ftb_context(), path, format, labels, labels);
}

/* ---- FtB_Matrix_write */

#define CHUNK_ENTRIES (4 << 20) /* between two looks at the cancel flag */

/* Rows from r on that a chunk takes: of listed ones those without gaps between them. */
static int64_t chunk_rows(const ftb_pattern *p, int64_t r, int64_t room)
{
    const int64_t first = p->rowptr[r];
    int64_t n = 1;
    while (n < room && r + n < p->nrows && p->rowptr[r + n + 1] - first <= CHUNK_ENTRIES &&
           ftb_row_number(p, r + n) == ftb_row_number(p, r) + n)
        n++;
    return n;
}

static GrB_Info write_rows(FtB_Sink sink, FtB_Matrix A)
{
    const ftb_pattern *p = ftb_pattern_rows(A->pattern);
    size_t column = ftb_col_size(p->ncols), value = FtB_Type_size(A->type) * (size_t)A->width;
    const int64_t room = 1 << 16; /* rows of a chunk */
    int64_t *rowptr = ftb_new(A->ctx, ftb_min(room, p->nrows) + 1, sizeof *rowptr);
    GrB_Info info = rowptr ? GrB_SUCCESS : ftb_nomem();
    for (int64_t i = 0; i < p->nrows && info == GrB_SUCCESS;) {
        const int64_t n = chunk_rows(p, i, room), first = p->rowptr[i];
        for (int64_t r = 0; r <= n; r++)
            rowptr[r] = p->rowptr[i + r] - first;
        FtB_Rows rows = {.row0 = ftb_row_number(p, i),
                         .nrows = n,
                         .ncols = p->ncols,
                         .rowptr = rowptr,
                         .colidx = (const char *)p->colidx + (size_t)first * column,
                         .type = A->type,
                         .width = A->width};
        if (A->values)
            rows.values = (const char *)ftb_values(A) + (size_t)first * value;
        info = ftb_sink_rows(sink, &rows);
        i += n;
        if (info == GrB_SUCCESS)
            info = ftb_progress(A->ctx, (double)p->rowptr[i], (double)p->nvals, "entries written");
    }
    ftb_delete(rowptr);
    return info;
}

GrB_Info ftb_sink_take(FtB_Sink sink, FtB_Matrix A)
{
    const ftb_pattern *p = A->pattern;
    const ftb_sink_shape shape = {.ctx = A->ctx,
                                  .nrows = p->nrows,
                                  .ncols = p->ncols,
                                  .nvals = p->nvals,
                                  .type = A->type,
                                  .width = A->width,
                                  .base = 1};
    GrB_Info info = ftb_sink_begin(sink, &shape);
    if (info != GrB_SUCCESS)
        return info;
    info = write_rows(sink, A);
    if (info == GrB_SUCCESS)
        return ftb_sink_end(sink);
    ftb_sink_abort(sink);
    return info;
}

GrB_Info FtB_Matrix_write(FtB_Matrix A, const char *path, FtB_Format format, FtB_Labels rows, FtB_Labels cols,
                          int digits)
{
    if (!A || !path)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Matrix_write: %s is NULL", A ? "path" : "A");
    if (A->magic != FTB_MAGIC_MATRIX)
        return ftb_fail(GrB_UNINITIALIZED_OBJECT, "FtB_Matrix_write: A is not a matrix, or was freed");
    const ftb_pattern *p = A->pattern;
    ftb_sink_shape shape = {.ctx = A->ctx,
                            .nrows = p->nrows,
                            .ncols = p->ncols,
                            .nvals = p->nvals,
                            .type = A->type,
                            .width = A->width};
    FtB_Sink sink = NULL;
    GrB_Info info;
    FTB_CHECK(ftb_buffer_ask_as(A->values, FTB_READ, "A"));
    FTB_CHECK(ftb_sink_file(&sink, A->ctx, path, format, rows, cols));
    FTB_CHECK(FtB_Sink_set_precision(sink, digits));
    FTB_CHECK(ftb_sink_begin(sink, &shape));
    FTB_CHECK(write_rows(sink, A));
    FTB_CHECK(ftb_sink_end(sink));
done:
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(A->ctx);
    FtB_Sink_free(&sink); /* removes what was not finished */
    return info;
}

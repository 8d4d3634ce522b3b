/* The sink that collects a matrix. The arrays grow in place (a large realloc moves pages, not bytes), so
 * the peak is the result plus the producer's chunk. */
#include "io/target.h"

typedef struct matrix_state {
    FtB_Context ctx;
    FtB_Matrix *out;
    FtB_Type type;   /* asked for; 0: the rows' own */
    int64_t *rowptr; /* nrows + 1; filled up to `filled` */
    int64_t filled;
    void *colidx, *values;
    int64_t nvals, room; /* entries */
} matrix_state;

static FtB_Type stored_type(const matrix_state *s, const ftb_sink_shape *shape)
{
    return s->type ? s->type : shape->type;
}

static bool resize(matrix_state *s, const ftb_sink_shape *shape, int64_t room)
{
    size_t value = FtB_Type_size(stored_type(s, shape)) * (size_t)shape->width;
    if (!ftb_resize(s->ctx, &s->colidx, room, ftb_col_size(shape->ncols)))
        return false;
    if (shape->width > 0 && !ftb_resize(s->ctx, &s->values, room, value))
        return false;
    s->room = room;
    return true;
}

/* An eighth more than needed, so that small chunks cost little, if that is to be had. */
static GrB_Info grow(matrix_state *s, const ftb_sink_shape *shape, int64_t need)
{
    if (need <= s->room)
        return GrB_SUCCESS;
    /* Doubling leaves long runs of fresh pages to the kernel; under a limit, room counts as if it were used.
     */
    int64_t extra = ftb_memory_left(s->ctx) == INT64_MAX ? s->room : s->room / 8;
    int64_t more = ftb_max(need, s->room + extra + 1024);
    int64_t bytes =
        (int64_t)(ftb_col_size(shape->ncols) + FtB_Type_size(stored_type(s, shape)) * (size_t)shape->width);
    if ((more - s->room) <= ftb_memory_left(s->ctx) / 4 / bytes && resize(s, shape, more))
        return GrB_SUCCESS;
    return resize(s, shape, need) ? GrB_SUCCESS : ftb_nomem();
}

static void clear(matrix_state *s)
{
    ftb_delete(s->rowptr);
    ftb_delete(s->colidx);
    ftb_delete(s->values);
    s->rowptr = NULL;
    s->colidx = s->values = NULL;
    s->filled = s->nvals = s->room = 0;
}

static GrB_Info matrix_begin(FtB_Sink sink, const ftb_sink_shape *shape)
{
    matrix_state *s = sink->state;
    int64_t room = ftb_max(shape->nvals, 0);
    s->rowptr = ftb_new(s->ctx, shape->nrows + 1, sizeof *s->rowptr);
    s->colidx = ftb_new(s->ctx, room, ftb_col_size(shape->ncols));
    if (shape->width > 0)
        s->values = ftb_new(s->ctx, room, FtB_Type_size(stored_type(s, shape)) * (size_t)shape->width);
    if (!s->rowptr || !s->colidx || (shape->width > 0 && !s->values))
        return ftb_nomem();
    s->rowptr[0] = 0;
    s->room = room;
    return GrB_SUCCESS;
}

static GrB_Info matrix_rows(FtB_Sink sink, const FtB_Rows *rows)
{
    matrix_state *s = sink->state;
    const ftb_sink_shape *shape = &sink->shape;
    int64_t count = rows->rowptr[rows->nrows], width = rows->width;
    GrB_Info info = grow(s, shape, s->nvals + count);
    if (info != GrB_SUCCESS)
        return info;
    for (; s->filled < rows->row0; s->filled++)
        s->rowptr[s->filled + 1] = s->nvals;
    for (int64_t r = 0; r < rows->nrows; r++)
        s->rowptr[rows->row0 + r + 1] = s->nvals + rows->rowptr[r + 1];
    s->filled = rows->row0 + rows->nrows;

    FtB_Type type = stored_type(s, shape);
    size_t column = ftb_col_size(shape->ncols), to = FtB_Type_size(type) * (size_t)width,
           from = FtB_Type_size(rows->type) * (size_t)width;
    const int64_t piece = 65536; /* several copiers reach the memory's bandwidth sooner than one */
#pragma omp parallel for schedule(static) num_threads(ftb_threads(s->ctx)) if (count > 4 * piece)
    for (int64_t e = 0; e < count; e += piece) {
        int64_t n = ftb_min(piece, count - e);
        memcpy((char *)s->colidx + (size_t)(s->nvals + e) * column,
               (const char *)rows->colidx + (size_t)e * column, (size_t)n * column);
        if (width > 0)
            ftb_cast((char *)s->values + (size_t)(s->nvals + e) * to, type,
                     (const char *)rows->values + (size_t)e * from, rows->type, n * width);
    }
    s->nvals += count;
    return GrB_SUCCESS;
}

/* Hands an array over to a buffer, which owns it also on failure. */
static ftb_buffer *adopt(matrix_state *s, void **array)
{
    void *data = *array;
    *array = NULL;
    return ftb_buffer_adopt(s->ctx, data);
}

static GrB_Info matrix_end(FtB_Sink sink)
{
    matrix_state *s = sink->state;
    const ftb_sink_shape *shape = &sink->shape;
    for (; s->filled < shape->nrows; s->filled++)
        s->rowptr[s->filled + 1] = s->nvals;
    if (s->nvals < s->room && !resize(s, shape, s->nvals))
        return ftb_nomem();
    ftb_buffer *rowptr = adopt(s, (void **)&s->rowptr), *colidx = adopt(s, &s->colidx), *values = NULL;
    if (shape->width > 0)
        values = adopt(s, &s->values);
    if (!rowptr || !colidx || (shape->width > 0 && !values)) {
        ftb_buffer_release(rowptr);
        ftb_buffer_release(colidx);
        ftb_buffer_release(values);
        return ftb_nomem();
    }
    ftb_pattern *pattern = ftb_pattern_new(s->ctx, shape->nrows, shape->ncols, rowptr, colidx);
    if (!pattern) {
        ftb_buffer_release(values);
        return ftb_nomem();
    }
    return ftb_matrix_make(s->out, s->ctx, stored_type(s, shape), shape->width, pattern, values);
}

static void matrix_abort(FtB_Sink sink) { clear(sink->state); }

static void matrix_destroy(FtB_Sink sink)
{
    matrix_state *s = sink->state;
    clear(s);
    ftb_context_release(s->ctx);
}

static const ftb_sink_methods matrix_methods = {.name = "matrix",
                                                .begin = matrix_begin,
                                                .rows = matrix_rows,
                                                .end = matrix_end,
                                                .abort = matrix_abort,
                                                .destroy = matrix_destroy};

GrB_Info ftb_sink_matrix(FtB_Sink *sink, FtB_Context ctx, FtB_Matrix *A, FtB_Type type)
{
    *sink = NULL;
    GrB_Info info = ftb_sink_new(sink, ctx, &matrix_methods, sizeof(matrix_state));
    if (info != GrB_SUCCESS)
        return info;
    matrix_state *s = (*sink)->state;
    s->ctx = ftb_context_retain(ctx);
    s->out = A;
    s->type = type;
    return GrB_SUCCESS;
}

/* Matrix Market, TSV and CSV writers.
 *
 * The entries of a chunk are cut into pieces that surely fit their buffers; the threads format pieces, and
 * one of them writes those that are ready. The text of a row's number or label is made once per row. */
#include "core/number.h"
#include "io/target.h"

#define PIECE_BYTES (256 * 1024)
#define LEAST_PIECE_BYTES (32 * 1024) /* under a tight memory limit */
#define PIECES_PER_THREAD 16          /* between two barriers: an interrupted thread holds up less */
#define COUNT_WIDTH 20                /* room for the number of entries in a Matrix Market size line */

typedef struct piece {
    char *text;
    int64_t e0, e1; /* entries */
    int64_t length;
    bool done; /* formatted */
} piece;

typedef struct text_state {
    ftb_target target;
    ftb_file *spool; /* a pipe gets the entries after their number, so they wait here */
    ftb_stream stream;
    piece *pieces;
    int npieces;
    int64_t line; /* bytes of the longest line */
    int64_t capacity;
    int64_t count_at; /* where the number of entries goes */
    int digits;
    bool symmetric; /* Matrix Market: (i, j) is written in the lower triangle */
    int64_t base;
} text_state;

/* ---- entries */

static inline char *put_id(const text_state *s, char *out, FtB_Labels labels, int64_t at)
{
    return labels ? ftb_put_label(out, s->target.format, labels, at)
                  : ftb_format_unsigned(out, (uint64_t)(at + s->base));
}

char *ftb_format_value(char *out, const void *values, FtB_Type type, int64_t at, int digits)
{
    switch (type) {
    case FTB_INT64:
        return ftb_format_integer(out, ((const int64_t *)values)[at]);
    case FTB_UINT64:
        return ftb_format_unsigned(out, ((const uint64_t *)values)[at]);
    case FTB_FP64:
        return ftb_format_real(out, ((const double *)values)[at], digits, false);
    case FTB_FP32:
        return ftb_format_real(out, (double)((const float *)values)[at], digits, true);
    default: /* storage types */
        if (ftb_type_float(type))
            return ftb_format_real(out, ftb_get_real(values, type, at), digits, true);
        return ftb_format_integer(out, ftb_get_integer(values, type, at));
    }
}

/* The row that entry e is in. */
static int64_t row_of(const FtB_Rows *rows, int64_t e)
{
    int64_t low = 0, high = rows->nrows; /* rowptr[low] <= e < rowptr[high] */
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (rows->rowptr[middle] <= e)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void format_piece(const text_state *s, const FtB_Rows *rows, piece *p)
{
    char *out = p->text, separator = s->target.format == FTB_CSV   ? ','
                                     : s->target.format == FTB_TSV ? '\t'
                                                                   : ' ';
    bool wide = ftb_col_size(rows->ncols) == 8;
    int64_t row = row_of(rows, p->e0), width = rows->width;
    const char *id = NULL; /* text of the row's id, in a line before */
    size_t id_length = 0;
    for (int64_t e = p->e0; e < p->e1; e++) {
        while (e >= rows->rowptr[row + 1]) {
            row++;
            id = NULL;
        }
        int64_t i = rows->row0 + row;
        int64_t j = wide ? ((const int64_t *)rows->colidx)[e] : ((const int32_t *)rows->colidx)[e];
        if (s->symmetric && j > i) {
            out = put_id(s, out, NULL, j);
            *out++ = ' ';
            out = put_id(s, out, NULL, i);
        } else {
            char *first = out;
            if (id) {
                memcpy(out, id, id_length);
                out += id_length;
            } else {
                out = put_id(s, out, s->target.rows, i);
                id_length = (size_t)(out - first);
            }
            id = first;
            *out++ = separator;
            out = put_id(s, out, s->target.cols, j);
        }
        for (int64_t f = 0; f < width; f++) {
            *out++ = separator;
            out = ftb_format_value(out, rows->values, rows->type, e * width + f, s->digits);
        }
        *out++ = '\n';
    }
    p->length = out - p->text;
}

/* ---- the sink */

static GrB_Info write_header(text_state *s, const ftb_sink_shape *shape)
{
    char text[256], count[32];
    const char *field = shape->width == 0 ? "pattern" : ftb_type_float(shape->type) ? "real" : "integer";
    snprintf(count, sizeof count, "%lld", (long long)shape->nvals);
    int n = snprintf(text, sizeof text, "%%%%MatrixMarket matrix coordinate %s %s\n%lld %lld ", field,
                     shape->symmetric ? "symmetric" : "general", (long long)shape->nrows,
                     (long long)shape->ncols);
    s->count_at = n;
    if (shape->nvals >= 0)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s\n", count);
    else
        n += snprintf(text + n, sizeof text - (size_t)n, "%*s\n", COUNT_WIDTH, "");
    if (s->spool)
        return GrB_SUCCESS; /* comes at the end */
    s->stream.at = n;
    return ftb_file_write(s->target.file, text, n);
}

/* Bytes that the longest line may take; -1: more than can be counted. */
static int64_t longest_line(const text_state *s, const ftb_sink_shape *shape)
{
    int64_t line, ids = ftb_label_room(s->target.rows) + ftb_label_room(s->target.cols) + 4;
    bool fits = !__builtin_mul_overflow(shape->width, FTB_NUMBER_ROOM + 1, &line) &&
                !__builtin_add_overflow(line, ids, &line);
    return fits ? line : -1;
}

static int64_t text_least(FtB_Sink sink, const ftb_sink_shape *shape)
{
    return ftb_max(longest_line(sink->state, shape), LEAST_PIECE_BYTES);
}

static GrB_Info text_begin(FtB_Sink sink, const ftb_sink_shape *shape)
{
    text_state *s = sink->state;
    bool mtx = s->target.format == FTB_MTX;
    GrB_Info info;
    s->digits = sink->digits;
    s->base = mtx ? 1 : shape->base;
    s->symmetric = mtx && shape->symmetric;
    if (mtx && shape->width > 1)
        return ftb_fail(GrB_INVALID_VALUE, "%s: a Matrix Market entry has one value; these have %lld",
                        s->target.path, (long long)shape->width);
    FTB_CHECK(ftb_target_check_labels(&s->target, shape));
    s->line = longest_line(s, shape);
    if (s->line < 0)
        return ftb_fail(GrB_INVALID_VALUE, "%s: %lld values in a line", s->target.path,
                        (long long)shape->width);
    const int64_t room = ftb_sink_room(shape);
    s->capacity = ftb_max(ftb_max(ftb_min(room / 4, PIECE_BYTES), LEAST_PIECE_BYTES), s->line);
    int threads = ftb_threads(shape->ctx);
    int64_t fit = room / 2 / s->capacity; /* fewer under a tight limit */
    s->npieces = threads == 1 ? 1 : (int)ftb_max(1, ftb_min(PIECES_PER_THREAD * threads, fit));
    s->pieces = ftb_new0(shape->ctx, s->npieces, sizeof *s->pieces);
    for (int p = 0; s->pieces && p < s->npieces; p++)
        if (!(s->pieces[p].text = ftb_new(shape->ctx, s->capacity, 1)))
            return ftb_nomem();
    if (!s->pieces)
        return ftb_nomem();
    FTB_CHECK(ftb_file_create(&s->target.file, shape->ctx, s->target.path));
    if (mtx) { /* the format knows numbers only */
        FTB_CHECK(ftb_target_write_ids(&s->target, shape, s->base));
        FtB_Labels_free(&s->target.rows);
        FtB_Labels_free(&s->target.cols);
    }
    if (mtx && shape->nvals < 0 && !ftb_file_seekable(s->target.file))
        FTB_CHECK(ftb_file_spool(&s->spool, shape->ctx));
    if (mtx)
        FTB_CHECK(write_header(s, shape));
done:
    return info;
}

/* What the threads that format share. */
typedef struct queue {
    int count, next; /* pieces below `next` are written, or being written */
    bool writing;    /* by one thread */
    int error;
} queue;

/* Takes note of a formatted piece. True: this thread is the one to write now. */
static bool offer(queue *q, piece *p)
{
    bool writer;
#pragma omp critical(ftb_text_queue)
    {
        p->done = true;
        writer = !q->writing;
        q->writing = true;
    }
    return writer;
}

/* The next piece to write, or NULL: whoever finishes it writes it. */
static piece *take(queue *q, piece *pieces)
{
    piece *p = NULL;
#pragma omp critical(ftb_text_queue)
    {
        if (q->next < q->count && pieces[q->next].done)
            p = &pieces[q->next++];
        else
            q->writing = false;
    }
    return p;
}

/* Formats and writes the pieces up to `count`. One thread writes at a time, since file systems lock a file
 * against a second writer; the others go on formatting. */
static GrB_Info write_pieces(text_state *s, FtB_Context ctx, const FtB_Rows *rows, int count)
{
    ftb_file *file = s->spool ? s->spool : s->target.file;
    queue q = {.count = count};
    for (int n = 0; n < count; n++)
        s->pieces[n].done = false;
#pragma omp parallel for schedule(dynamic, 1) num_threads(ftb_threads(ctx)) if (count > 1)
    for (int n = 0; n < count; n++) {
        format_piece(s, rows, &s->pieces[n]);
        if (!offer(&q, &s->pieces[n]))
            continue;
        for (piece *p; (p = take(&q, s->pieces));)
            if (!q.error) /* only the writer looks at these */
                q.error = ftb_file_append(file, &s->stream, p->text, p->length);
    }
    return q.error ? ftb_file_failed(file, q.error) : GrB_SUCCESS;
}

static GrB_Info text_rows(FtB_Sink sink, const FtB_Rows *rows)
{
    text_state *s = sink->state;
    int64_t each = s->capacity / s->line, nvals = rows->rowptr[rows->nrows];
    GrB_Info info = GrB_SUCCESS;
    for (int64_t e = 0; e < nvals && info == GrB_SUCCESS;) {
        int count = 0;
        for (; count < s->npieces && e < nvals; count++) {
            s->pieces[count].e0 = e;
            e = ftb_min(e + each, nvals);
            s->pieces[count].e1 = e;
        }
        info = write_pieces(s, sink->shape.ctx, rows, count);
    }
    return info;
}

static void text_close(text_state *s)
{
    for (int p = 0; s->pieces && p < s->npieces; p++)
        ftb_delete(s->pieces[p].text);
    ftb_delete(s->pieces);
    s->pieces = NULL;
    ftb_file_discard(&s->spool);
}

static GrB_Info text_end(FtB_Sink sink)
{
    text_state *s = sink->state;
    ftb_sink_shape shape = sink->shape;
    ftb_stream *const streams[] = {&s->stream};
    int64_t size = s->stream.at;
    GrB_Info info = ftb_file_settle(s->spool ? s->spool : s->target.file, streams, 1);
    if (info == GrB_SUCCESS && s->target.format == FTB_MTX && shape.nvals < 0) {
        shape.nvals = sink->stats.nvals;
        if (s->spool) {
            ftb_file *spool = s->spool;
            s->spool = NULL;
            info = write_header(s, &shape);
            if (info == GrB_SUCCESS)
                info = ftb_file_send(s->target.file, spool, size);
            ftb_file_discard(&spool);
        } else {
            char text[32];
            int n = snprintf(text, sizeof text, "%*lld", COUNT_WIDTH, (long long)shape.nvals);
            info = ftb_file_write_at(s->target.file, s->count_at, text, n);
        }
    }
    if (info == GrB_SUCCESS)
        info = ftb_target_commit(&s->target);
    if (info == GrB_SUCCESS)
        text_close(s);
    return info;
}

static void text_abort(FtB_Sink sink)
{
    text_close(sink->state);
    ftb_target_abort(sink);
}

const ftb_format_kind ftb_text_kind = {{.name = "text file",
                                        .begin = text_begin,
                                        .rows = text_rows,
                                        .end = text_end,
                                        .abort = text_abort,
                                        .destroy = ftb_target_destroy,
                                        .least = text_least},
                                       sizeof(text_state)};

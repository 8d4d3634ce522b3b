/* Edge lists: a line per entry, of row, column and perhaps a value; and adjacency lists: a line per row, of
 * its id and those of its columns.
 *
 * A column of ids is taken for integers, and values too, until a line shows otherwise; what was read before
 * is then converted, and the round of pieces is parsed again. Integer ids become their ranks at the end;
 * texts are numbered as they come, rows by one thread and columns by another. */
#include "core/number.h"
#include "io/edges.h"
#include "io/format.h"
#include "io/intern.h"

typedef enum event {
    NOTHING,
    ROW_TEXT,
    COL_TEXT,
    REAL_VALUE,
    WRONG,
    WRONG_VALUE
} event; /* from WRONG on errors */

/* What one thread found in its piece. A text id is kept as its place in the batch: offset << 32 | length,
 * and DOUBLED if it holds doubled quotes. */
typedef struct worker {
    ftb_piece *out;
    int64_t bytes[2]; /* of the texts, by side */
    event event;
    ftb_complaint wrong;
} worker;
#define DOUBLED ((int64_t)1 << 31)

typedef struct reader {
    ftb_edges_layout layout;
    ftb_rounds rounds;
    ftb_intern intern[2]; /* rows, columns */
    bool texts[2];        /* the side's ids are not all integers */
    bool real, single;    /* values */
    FtB_Type wanted;      /* the dtype that was asked for; 0: none was */
    worker *workers;
} reader;

/* ---- parsing */

/* The id in field f; side 0: row, 1: column. The text's bytes are counted by the caller. */
static bool take_id(const reader *r, const char *first, const char *line, const ftb_field *f, int side,
                    worker *w)
{
    ftb_piece *out = w->out;
    int64_t *id = side == 0 ? &out->I[out->count] : &out->J[out->count];
    int64_t length = f->end - f->text;
    if (length == 0 && !f->quoted) {
        w->event = WRONG;
        ftb_complain(&w->wrong, f->text, line, "the %s id is empty", side == 0 ? "row" : "column");
        return false;
    }
    if (!r->texts[side]) {
        if (ftb_field_integer(f, id))
            return true;
        w->event = side == 0 ? ROW_TEXT : COL_TEXT;
        return false;
    }
    const char *nul = memchr(f->text, '\0', (size_t)length);
    if (nul) {
        w->event = WRONG;
        ftb_complain(&w->wrong, nul, line, "a NUL byte");
        return false;
    }
    *id = (f->text - first) << 32 | length | (f->doubled ? DOUBLED : 0);
    return true;
}

/* Whether the value is one that the dtype which was asked for holds. */
static bool fits(const reader *r, const char *line, const ftb_field *f, const uint64_t *word, FtB_Type type,
                 worker *w)
{
    if (!r->wanted || ftb_find_unfit(r->wanted, word, type, 1) < 0)
        return true;
    w->event = WRONG;
    ftb_complain(&w->wrong, f->text, line, "the value is %.*s, which %s cannot hold",
                 (int)ftb_min(f->end - f->text, 40), f->text, FtB_Type_name(r->wanted));
    return false;
}

static bool take_value(const reader *r, const char *line, const ftb_field *f, worker *w)
{
    uint64_t *word = &w->out->X[w->out->count];
    int64_t integer;
    double real;
    if (!r->real && ftb_field_integer(f, &integer)) {
        memcpy(word, &integer, 8);
        return fits(r, line, f, word, FTB_INT64, w);
    }
    if (ftb_field_real(f, r->single, &real)) {
        memcpy(word, &real, 8);
        w->event = r->real ? NOTHING : REAL_VALUE;
        return r->real && fits(r, line, f, word, FTB_FP64, w);
    }
    const int64_t length = f->end - f->text;
    w->event = WRONG_VALUE;
    if (length == 0)
        ftb_complain(&w->wrong, f->text, line, "the value is empty");
    else
        ftb_complain(&w->wrong, f->text, line, "the value '%.*s' is not a number%s", (int)ftb_min(length, 40),
                     f->text, memchr(f->text, ',', (size_t)length) ? "; decimals have a point" : "");
    return false;
}

static void wrong_quote(worker *w, const ftb_field *f, const char *line)
{
    w->event = WRONG;
    ftb_complain(&w->wrong, f->text, line,
                 *f->text == '"' ? "this quote is never closed"
                                 : "expected the delimiter after the closing quote");
}

static void wrong_count(const reader *r, worker *w, const char *line, int64_t found)
{
    const ftb_edges_layout *l = &r->layout;
    w->event = WRONG;
    if (l->fields == 0 || found == l->fields) /* the fields of the first line could not be counted */
        ftb_complain(&w->wrong, line, line, "too few fields between %s: %lld",
                     ftb_delimiter_name(l->delimiter), (long long)found);
    else
        ftb_complain(&w->wrong, line, line,
                     "expected %lld field%s between %s, as in the first line, found %lld; lists of a row and "
                     "its columns "
                     "are read with options.adjacency",
                     (long long)l->fields, l->fields == 1 ? "" : "s", ftb_delimiter_name(l->delimiter),
                     (long long)found);
}

/* An entry whose ids, and value, were taken. */
static void add_entry(worker *w, const ftb_field *col)
{
    ftb_piece *out = w->out;
    w->bytes[1] += col->end - col->text;
    if (out->line)
        out->line[out->count] = out->lines;
    out->count++;
}

/* Parses the line at *p and moves on; false: w->event says why not. */
static bool parse_line(const reader *r, const char *first, const char **p, const char *end, worker *w)
{
    const ftb_edges_layout *l = &r->layout;
    const char *line = *p;
    ftb_field row = {0}, col = {0}, value = {0}, f;
    int64_t n = 0;
    for (ftb_field_end what = FTB_FIELD_MORE; what == FTB_FIELD_MORE; n++) {
        what = ftb_next_field(l, p, end, &f);
        if (what == FTB_FIELD_OPEN) {
            wrong_quote(w, &f, line);
            return false;
        }
        if (n == l->row)
            row = f;
        else if (n == l->col)
            col = f;
        if (n == l->value)
            value = f;
    }
    if ((l->fields > 0 && n != l->fields) || n <= ftb_max(ftb_max(l->row, l->col), l->value)) {
        wrong_count(r, w, line, n);
        return false;
    }
    if (!take_id(r, first, line, &row, 0, w) || !take_id(r, first, line, &col, 1, w) ||
        (l->value >= 0 && !take_value(r, line, &value, w)))
        return false;
    w->bytes[0] += row.end - row.text;
    add_entry(w, &col);
    *p += 1;
    return true;
}

/* The same for a list: every field behind the first that is not empty is a column. */
static bool parse_list(const reader *r, const char *first, const char **p, const char *end, worker *w)
{
    const char *line = *p;
    ftb_field row = {0}, f;
    for (ftb_field_end what = FTB_FIELD_MORE; what == FTB_FIELD_MORE;) {
        const bool begin = *p == line;
        what = ftb_next_field(&r->layout, p, end, &f);
        if (what == FTB_FIELD_OPEN) {
            wrong_quote(w, &f, line);
            return false;
        }
        if (begin)
            row = f;
        if (begin || (f.text == f.end && !f.quoted))
            continue;
        if (!take_id(r, first, line, &row, 0, w) || !take_id(r, first, line, &f, 1, w))
            return false;
        add_entry(w, &f);
    }
    w->bytes[0] += row.end - row.text;
    *p += 1;
    return true;
}

static void parse_piece(const reader *r, const char *first, const char *p, const char *end, worker *w)
{
    ftb_piece *out = w->out;
    out->count = out->lines = w->bytes[0] = w->bytes[1] = 0;
    out->ascending = false;
    w->event = NOTHING;
    while (p < end) {
        const char *line = p;
        if (!ftb_skip_line(&p, end, false) &&
            !(r->layout.lists ? parse_list : parse_line)(r, first, &p, end, w)) {
            if (w->event >= WRONG && (*line == '#' || *line == '%'))
                ftb_complain(&w->wrong, line, line, "comment lines are read before the data only");
            return;
        }
        out->lines += r->layout.quotes ? ftb_count_lines(line, p) : 1;
    }
}

/* ---- when a column turns out not to be integers */

/* Ids read so far become texts. */
static GrB_Info to_texts(reader *r, int side)
{
    ftb_tuples *t = &r->rounds.tuples;
    int64_t *id = side == 0 ? t->I : t->J;
    GrB_Info info = GrB_SUCCESS;
    for (int64_t e = 0; e < t->nvals; e++) {
        char text[32];
        if (e % 4096 == 0)
            FTB_CHECK(ftb_intern_reserve(&r->intern[side], 4096, 4096 * 20));
        id[e] = ftb_intern_add(&r->intern[side], text, ftb_format_integer(text, id[e]) - text);
    }
    r->texts[side] = true;
done:
    return info;
}

static void to_reals(reader *r)
{
    for (int64_t e = 0; e < r->rounds.tuples.nvals; e++) {
        double real = (double)(int64_t)r->rounds.tuples.X[e];
        memcpy(&r->rounds.tuples.X[e], &real, 8);
    }
    r->real = true;
}

/* Deals with the first event of a round; *again: it must be parsed again. */
static GrB_Info take_event(reader *r, const char *first, bool *again)
{
    *again = false;
    for (int p = 0; p < r->rounds.text.pieces; p++) {
        worker *w = &r->workers[p];
        const bool top = r->rounds.tuples.nvals == 0 && p == 0 && w->out->count == 0 && !r->layout.header;
        if (w->event == WRONG_VALUE && top)
            ftb_complain_more(&w->wrong, "; if the line names the columns, options.header says so");
        if (w->event >= WRONG)
            return ftb_text_failed(&r->rounds.text, first, &w->wrong);
        if (w->event == NOTHING)
            continue;
        *again = true;
        if (w->event == REAL_VALUE) {
            to_reals(r);
            return GrB_SUCCESS;
        }
        return to_texts(r, w->event == COL_TEXT);
    }
    return GrB_SUCCESS;
}

/* ---- numbering */

static GrB_Info reserve_texts(reader *r)
{
    GrB_Info info = GrB_SUCCESS;
    for (int side = 0; side < 2 && info == GrB_SUCCESS; side++) {
        int64_t count = 0, bytes = 0;
        for (int p = 0; p < r->rounds.text.pieces; p++) {
            count += r->rounds.pieces[p].count;
            bytes += r->workers[p].bytes[side];
        }
        if (r->texts[side])
            info = ftb_intern_reserve(&r->intern[side], count, bytes);
    }
    return info;
}

/* Replaces the places of texts by their numbers. */
static void number_texts(reader *r, char *first, int side)
{
    for (int p = 0; p < r->rounds.text.pieces; p++) {
        int64_t *id = side == 0 ? r->rounds.pieces[p].I : r->rounds.pieces[p].J;
        for (int64_t e = 0; e < r->rounds.pieces[p].count; e++) {
            char *text = first + (id[e] >> 32);
            int64_t length = id[e] & (DOUBLED - 1);
            if (id[e] & DOUBLED) { /* in place: the batch is not read again */
                int64_t n = 0;
                for (int64_t c = 0; c < length; c++, n++) {
                    text[n] = text[c];
                    c += text[c] == '"';
                }
                length = n;
            }
            id[e] = ftb_intern_add(&r->intern[side], text, length);
        }
    }
}

static GrB_Info take_round(void *state, char *first)
{
    reader *r = state;
    ftb_rounds *rounds = &r->rounds;
    const ftb_text *t = &rounds->text;
    char *const *cut = rounds->cut;
    bool again = true, parallel = cut[t->pieces] - cut[0] > 65536;
    GrB_Info info = GrB_SUCCESS;
    if (r->layout.lists)
        FTB_CHECK(ftb_rounds_reserve(rounds, 2));
    while (again) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(t->threads) if (parallel)
        for (int p = 0; p < t->pieces; p++)
            parse_piece(r, first, cut[p], cut[p + 1], &r->workers[p]);
        FTB_CHECK(take_event(r, first, &again));
    }
    FTB_CHECK(reserve_texts(r));
    if (ftb_input_size(t->in) >= 0 && rounds->tuples.nvals == 0) { /* all lines are about as long as these */
        int64_t count = 0;
        for (int p = 0; p < t->pieces; p++)
            count += rounds->pieces[p].count;
        double share = (double)(cut[t->pieces] - first) / (double)ftb_input_size(t->in);
        rounds->tuples.expected = (int64_t)(1.01 * (double)count / share) + 1;
    }
#pragma omp parallel for schedule(static, 1) num_threads(ftb_min(t->threads, 2)) if (parallel)
    for (int side = 0; side < 2; side++)
        if (r->texts[side])
            number_texts(r, first, side);
    info = ftb_rounds_append(rounds);
done:
    return info;
}

/* ---- the whole */

static GrB_Info start(reader *r, FtB_Context ctx, const FtB_Read_options *options)
{
    ftb_rounds *rounds = &r->rounds;
    r->real = options->type != 0 && ftb_type_float(options->type);
    r->single = options->type == FTB_FP32;
    r->wanted = options->type;
    GrB_Info info = ftb_tuples_start(&rounds->tuples, ctx, 0, 0, r->layout.value >= 0, false,
                                     options->duplicates == FTB_DUP_ERROR);
    if (info == GrB_SUCCESS)
        info = ftb_rounds_start(rounds, (void **)&r->workers, sizeof *r->workers);
    for (int p = 0; info == GrB_SUCCESS && p < rounds->text.pieces; p++)
        r->workers[p].out = &rounds->pieces[p];
    return info;
}

/* Passes over what comes before the data and finds out the layout. *rest: the first line of data in the
 * batch [*first, *end). */
static GrB_Info read_head(reader *r, const FtB_Read_options *options, char **first, char **rest, char **end)
{
    ftb_text *t = &r->rounds.text;
    const char *p, *data;
    int64_t lines = 0;
    bool fresh = true;
    GrB_Info info;
    do {
        FTB_CHECK(ftb_text_next(t, lines, first, end));
        if (*first == *end)
            return ftb_fail(FTB_FORMAT, "%s: has no lines of data", ftb_input_name(t->in));
        p = *first;
        if (fresh && *end - p >= 3 && memcmp(p, FTB_UTF8_MARK, 3) == 0)
            p += 3;
        fresh = false;
        while (p < *end && ftb_skip_line(&p, *end, true))
            ;
        lines = ftb_count_lines(*first, p);
    } while (p == *end);
    r->layout.delimiter = options->delimiter ? options->delimiter : ftb_guess_delimiter(p, *end);
    r->layout.quotes = r->layout.delimiter != ' ' && r->layout.delimiter != '\t';
    /* Once more, from the first line of fields, since a quoted one may reach past the end of this batch. */
    t->crossing = r->layout.quotes;
    t->delimiter = r->layout.delimiter;
    t->done -= (double)t->used;
    t->used = p - *first;
    FTB_CHECK(ftb_text_next(t, lines, first, end));
    FTB_CHECK(ftb_edges_detect(&r->layout, t, options, *first, *end, &data));
    *rest = *first + (data - *first);
done:
    return info;
}

static GrB_Info number_side(reader *r, int side, FtB_Labels *labels)
{
    ftb_tuples *t = &r->rounds.tuples;
    int64_t *count = side == 0 ? &t->nrows : &t->ncols;
    if (!r->texts[side])
        return ftb_rank_integers(t->ctx, side == 0 ? t->I : t->J, t->nvals, count, labels);
    *count = r->intern[side].count;
    return ftb_intern_labels(labels, &r->intern[side]);
}

/* A list without values whose duplicates are to be counted gets ones to count. */
static GrB_Info count_ones(reader *r)
{
    ftb_tuples *t = &r->rounds.tuples;
    t->X = ftb_new(t->ctx, t->nvals, sizeof *t->X);
    if (!t->X)
        return ftb_nomem();
    for (int64_t e = 0; e < t->nvals; e++)
        t->X[e] = 1;
    t->valued = true;
    return GrB_SUCCESS;
}

static GrB_Info read_edges(FtB_Matrix *A, FtB_Labels labels[2], FtB_Context ctx, ftb_input *in,
                           const FtB_Read_options *options)
{
    reader r = {.layout.delimiter = options->delimiter,
                .rounds.tuples.ctx = ctx,
                .intern = {{.ctx = ctx}, {.ctx = ctx}}};
    ftb_rounds *rounds = &r.rounds;
    ftb_tuples *t = &rounds->tuples;
    char *first = NULL, *rest = NULL, *end = NULL;
    int64_t left = ftb_memory_left(ctx);
    GrB_Info info;
    FTB_CHECK(ftb_text_open(&rounds->text, ctx, in));
    FTB_CHECK(read_head(&r, options, &first, &rest, &end));
    FTB_CHECK(start(&r, ctx, options));
    FTB_CHECK(ftb_rounds_run(rounds, first, rest, end, take_round, &r));
    if (t->nvals == 0)
        FTB_CHECK(ftb_fail(FTB_FORMAT, "%s: has no %s%s", ftb_input_name(in),
                           r.layout.lists ? "entries" : "lines of data",
                           r.layout.header ? " after the first line, which is taken for a header" : ""));
    ftb_rounds_stop(rounds);
    FTB_CHECK(ftb_tuples_reserve(t, t->nvals)); /* give back what is too much */
    FTB_CHECK(number_side(&r, 0, &labels[0]));
    FTB_CHECK(number_side(&r, 1, &labels[1]));
    if (!t->valued && options->duplicates == FTB_DUP_COUNT) {
        FTB_CHECK(count_ones(&r));
        r.real = false;
    }
    FtB_Type type = !t->valued ? FTB_BOOL : r.real ? FTB_FP64 : FTB_INT64;
    FTB_CHECK(ftb_tuples_build(A, t, type, options, ftb_input_name(in)));
    *options->found = r.layout.quotes ? FTB_CSV : FTB_TSV;
    *options->layout = (FtB_Edge_layout){.delimiter = r.layout.delimiter,
                                         .header = r.layout.header,
                                         .adjacency = r.layout.lists,
                                         .row = r.layout.row + 1,
                                         .col = r.layout.col + 1,
                                         .value = r.layout.value + 1};
done:
    if (info == FTB_LIMIT && rounds->text.in)
        info = ftb_text_too_large(
            &rounds->text, &(ftb_need){.left = left,
                                       .mirror = 1,
                                       .valued = r.layout.value >= 0 || options->duplicates == FTB_DUP_COUNT,
                                       .lined = options->duplicates == FTB_DUP_ERROR,
                                       .nvals = t->nvals,
                                       .lists = !options->adjacency  ? 0
                                                : r.layout.delimiter ? r.layout.delimiter
                                                                     : FTB_ANY_DELIMITER,
                                       .labels = true,
                                       .texts = r.texts[0] || r.texts[1] || t->nvals == 0});
    ftb_rounds_stop(rounds);
    ftb_delete(r.workers);
    ftb_tuples_clear(t);
    ftb_intern_clear(&r.intern[0]);
    ftb_intern_clear(&r.intern[1]);
    return info;
}

const ftb_codec ftb_codec_csv = {.text = true,
                                 .ids = true,
                                 .rank = 5,
                                 .matrix = read_edges,
                                 .sink = &ftb_text_kind,
                                 .block = ftb_read_table,
                                 .write_block = ftb_write_block_text};
const ftb_codec ftb_codec_tsv = {.text = true,
                                 .ids = true,
                                 .rank = 6,
                                 .matrix = read_edges,
                                 .sink = &ftb_text_kind,
                                 .block = ftb_read_table,
                                 .write_block = ftb_write_block_text};

/* Lines of numbers: tables, and the values of Matrix Market arrays.
 *
 * A round of whole lines is cut into pieces. The threads first count the lines of each, which says where its
 * values go, and then parse it straight to there: nothing is held beside the text and the values. */
#include "io/dense.h"
#include "io/mtx.h"

#include <math.h>

#define WORDS 64 /* numbers that are cast together */

/* What the numbers of a line are parsed as. */
static FtB_Type word_type(FtB_Type type)
{
    return ftb_type_float(type) ? FTB_FP64 : type == FTB_UINT64 ? FTB_UINT64 : FTB_INT64;
}

static bool skipped(const ftb_numbers *n, const char *line)
{
    return ftb_line_end(line) != NULL || (n->comments && *ftb_skip_blanks(line) == '%');
}

static const char *next_line(const char *line, const char *end)
{
    return (const char *)memchr(line, '\n', (size_t)(end - line)) + 1;
}

static int64_t count_rows(const ftb_numbers *n, const char *first, const char *end)
{
    int64_t rows = 0;
    for (const char *line = first; line < end; line = next_line(line, end))
        rows += !skipped(n, line);
    return rows;
}

static inline const char *skip_spaces(const ftb_numbers *n, const char *p)
{
    while (*p == ' ' || (*p == '\t' && n->delimiter != '\t'))
        p++;
    return p;
}

/* The number at p as 8 bytes of the word type; returns its end, NULL if there is none. */
static const char *parse_number(const ftb_numbers *n, const char *p, uint64_t *word)
{
    double real = 0;
    int64_t integer = 0;
    const char *end;
    if (ftb_type_float(n->type)) {
        const bool missing =
            !n->finite && n->delimiter != ' ' && (*p == n->delimiter || *p == '\n' || *p == '\r');
        real = NAN;
        end = missing ? p : n->type == FTB_FP64 ? ftb_parse_real(p, &real) : ftb_parse_float(p, &real);
        memcpy(word, &real, 8);
        return end;
    }
    if (n->type == FTB_UINT64)
        return ftb_parse_unsigned(p, word);
    end = ftb_parse_integer(p, &integer);
    memcpy(word, &integer, 8);
    return end;
}

static void bad_number(const ftb_numbers *n, ftb_complaint *c, const char *p, const char *line)
{
    const char *what = !ftb_type_float(n->type) ? "an integer of 64 bits"
                       : n->finite              ? "a finite number"
                                                : "a number";
    const int length = (int)ftb_min(strcspn(p, n->delimiter == ' '    ? " \t\r\n"
                                               : n->delimiter == '\t' ? "\t\r\n"
                                               : n->delimiter == ';'  ? ";\r\n"
                                                                      : ",\r\n"),
                                    40);
    if (length > 0)
        ftb_complain(c, p, line, "'%.*s' is not %s", length, p, what);
    else
        ftb_complain(c, p, line, "expected %s", what);
}

/* Parses a line to `out`; false: *c says what is wrong. */
static bool parse_line(const ftb_numbers *n, const char *line, char *out, ftb_complaint *c)
{
    const FtB_Type words = word_type(n->type);
    const size_t size = FtB_Type_size(n->type);
    uint64_t word[WORDS];
    const char *p = skip_spaces(n, line);
    int64_t held = 0;
    for (int64_t f = 0; f < n->ncols; f++) {
        const char *q = parse_number(n, p, &word[held]);
        if (!q || (n->finite && words == FTB_FP64 && !ftb_finite_word(word[held]))) {
            bad_number(n, c, p, line);
            return false;
        }
        if (ftb_find_unfit(n->type, &word[held], words, 1) == 0) {
            ftb_complain(c, p, line, "%s cannot hold this number", FtB_Type_name(n->type));
            return false;
        }
        const char *after = skip_spaces(n, q);
        const bool last = f + 1 == n->ncols;
        if (*after != '\n' && *after != '\r' && *after != n->delimiter &&
            !(n->delimiter == ' ' && after > q)) {
            bad_number(n, c, p, line);
            return false;
        }
        if (last ? !ftb_line_end(after) : *after == '\n' || *after == '\r') {
            ftb_complain(c, after, line,
                         last ? "expected the end of the line, after %lld numbers"
                              : "expected %lld numbers, as in the lines before",
                         (long long)n->ncols);
            return false;
        }
        p = last || n->delimiter == ' ' ? after : skip_spaces(n, after + 1);
        if (++held == WORDS || last) {
            ftb_cast(out, n->type, word, words, held);
            out += (size_t)held * size;
            held = 0;
        }
    }
    return true;
}

static void parse_piece(const ftb_numbers *n, const char *first, const char *end, int64_t row,
                        ftb_complaint *c)
{
    const size_t bytes = (size_t)n->ncols * FtB_Type_size(n->type);
    c->at = NULL;
    for (const char *line = first; line < end && !c->at; line = next_line(line, end))
        if (!skipped(n, line))
            parse_line(n, line, (char *)n->data + (size_t)row++ * bytes, c);
}

/* Room for `rows` rows, and for those that the rest of the file is likely to have. */
static GrB_Info reserve(ftb_numbers *n, int64_t rows)
{
    const int64_t size = ftb_input_size(n->text.in), line = n->ncols * (int64_t)FtB_Type_size(n->type);
    int64_t room = rows, bytes;
    if (n->data && rows <= n->room)
        return GrB_SUCCESS;
    if (n->limit >= 0 && size >= 0) /* a pipe's header may promise anything */
        room = n->limit;
    else if (n->text.done < (double)size)
        room = (int64_t)(1.02 * (double)rows * (double)size / n->text.done) + 1;
    else if (size < 0)
        room = rows + rows / 2;
    for (int attempt = 0; attempt < 2; attempt++, room = rows) /* the exact room may still be had */
        if (!__builtin_mul_overflow(room, line, &bytes) && ftb_resize(n->text.ctx, &n->data, bytes, 1)) {
            n->room = room;
            return GrB_SUCCESS;
        }
    return ftb_nomem();
}

/* Takes the pieces of a round. */
static GrB_Info take_round(ftb_numbers *n, const char *first)
{
    const ftb_text *t = &n->text;
    const int pieces = t->pieces;
    int64_t rows = n->nrows;
#pragma omp parallel for schedule(dynamic, 1) num_threads(t->threads) if (n->cut[pieces] - n->cut[0] > 65536)
    for (int p = 0; p < pieces; p++)
        n->start[p] = count_rows(n, n->cut[p], n->cut[p + 1]);
    for (int p = 0; p < pieces; p++) {
        const int64_t count = n->start[p];
        n->start[p] = rows;
        rows += count;
    }
    if (n->limit >= 0 && rows > n->limit)
        return ftb_fail(FTB_FORMAT, "%s:%lld: more values by here than the %lld that the size line announces",
                        ftb_input_name(t->in),
                        (long long)(t->line + ftb_count_lines(first, n->cut[pieces]) - 1),
                        (long long)n->limit);
    GrB_Info info = reserve(n, rows);
    if (info != GrB_SUCCESS)
        return info;
#pragma omp parallel for schedule(dynamic, 1) num_threads(t->threads) if (n->cut[pieces] - n->cut[0] > 65536)
    for (int p = 0; p < pieces; p++)
        parse_piece(n, n->cut[p], n->cut[p + 1], n->start[p], &n->wrong[p]);
    for (int p = 0; p < pieces; p++)
        if (n->wrong[p].at)
            return ftb_text_failed(t, first, &n->wrong[p]);
    n->nrows = rows;
    return GrB_SUCCESS;
}

GrB_Info ftb_numbers_read(ftb_numbers *n, char *first, char *rest, char *end)
{
    ftb_text *t = &n->text;
    GrB_Info info = GrB_SUCCESS;
    n->cut = ftb_new(t->ctx, t->pieces + 1, sizeof *n->cut);
    n->start = ftb_new(t->ctx, t->pieces, sizeof *n->start);
    n->wrong = ftb_new0(t->ctx, t->pieces, sizeof *n->wrong);
    if (!n->cut || !n->start || !n->wrong)
        return ftb_nomem();
    while (first < end && info == GrB_SUCCESS) {
        while (rest < end && info == GrB_SUCCESS) {
            char *stop = ftb_text_round(t, rest, end);
            ftb_text_cut(t, rest, stop, n->cut);
            info = take_round(n, first);
            rest = stop;
        }
        if (info == GrB_SUCCESS)
            info = ftb_text_next(t, ftb_count_lines(first, end), &first, &end);
        rest = first;
    }
    if (info == GrB_SUCCESS) /* an array even where there are no lines; what was taken too much goes back */
        info = ftb_resize(t->ctx, &n->data, n->nrows * n->ncols, FtB_Type_size(n->type)) ? info : ftb_nomem();
    return info;
}

void ftb_numbers_stop(ftb_numbers *n, void **data)
{
    if (data)
        *data = n->data;
    else
        ftb_delete(n->data);
    n->data = NULL;
    ftb_delete(n->cut);
    ftb_delete(n->start);
    ftb_delete(n->wrong);
    n->cut = NULL;
    n->start = NULL;
    n->wrong = NULL;
    ftb_text_close(&n->text);
}

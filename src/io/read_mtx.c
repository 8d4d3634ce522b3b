/* Matrix Market coordinate files (Boisvert, Pozo, Remington 1996, "The Matrix Market exchange formats").
 *
 * A batch of whole lines is cut into pieces; each is parsed by one thread into arrays of its own, which are
 * then copied behind what is there so far. As long as entries come in row order that is the CSR form itself
 * (half of the time goes into touching new memory, so tuples cost as much as parsing); else tuples, which
 * are sorted at the end. Symmetric files are mirrored when their diagonal has been counted. */
#include "io/input.h"
#include "io/number.h"

#include <strings.h>

typedef enum field { PATTERN, INTEGER, UNSIGNED, REAL, SINGLE } field;
typedef enum symmetry { GENERAL, SYMMETRIC, SKEW } symmetry;

typedef struct header {
    field field;
    symmetry symmetry;
    int64_t nrows, ncols, nvals;
} header;

/* What one thread found in its piece. */
typedef struct worker {
    ftb_piece *out;
    int64_t diagonal;
    ftb_complaint wrong;
} worker;

/* ---- entries */

static inline const char *skip_blanks(const char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

static inline bool blank(char c) { return c == ' ' || c == '\t'; }

static const char *line_end(const char *p)
{
    p = skip_blanks(p);
    if (*p == '\r')
        p++;
    return *p == '\n' ? p : NULL;
}

static void bad_index(ftb_complaint *c, const char *p, const char *line, const char *what, int64_t limit)
{
    uint64_t v = 0;
    const char *end = ftb_parse_unsigned(p, &v);
    if (end || (unsigned)(*p - '0') < 10)
        ftb_complain(c, p, line, "%s %.*s is outside 1..%lld", what,
                     (int)ftb_min(strspn(p, "0123456789"), 40), p, (long long)limit);
    else
        ftb_complain(c, p, line, "expected a %s number", what);
}

/* The value at *p, as 8 bytes. */
static inline bool parse_value(field f, const char **p, uint64_t *word)
{
    double real;
    int64_t integer;
    const char *end = NULL;
    switch (f) {
    case PATTERN:
        return true;
    case INTEGER:
        end = ftb_parse_integer(*p, &integer);
        memcpy(word, &integer, 8);
        break;
    case UNSIGNED:
        end = ftb_parse_unsigned(*p, word);
        break;
    case REAL:
    case SINGLE:
        end = f == REAL ? ftb_parse_real(*p, &real) : ftb_parse_float(*p, &real);
        memcpy(word, &real, 8);
        break;
    }
    if (!end)
        return false;
    *p = end;
    return true;
}

/* Parses one entry line from its first character that is not blank; false: w->wrong says why. */
static inline bool parse_entry(const header *h, const char **text, const char *line, worker *w)
{
    const char *p = *text;
    uint64_t i, j, word = 0;
    const char *q = ftb_parse_unsigned(p, &i);
    if (!q || i - 1 >= (uint64_t)h->nrows || !blank(*q)) {
        if (q && i - 1 < (uint64_t)h->nrows)
            ftb_complain(&w->wrong, q, line, "expected a blank after the row number");
        else
            bad_index(&w->wrong, p, line, "row", h->nrows);
        return false;
    }
    p = skip_blanks(q);
    q = ftb_parse_unsigned(p, &j);
    if (!q || j - 1 >= (uint64_t)h->ncols) {
        bad_index(&w->wrong, p, line, "column", h->ncols);
        return false;
    }
    p = skip_blanks(q);
    if (h->field != PATTERN && (p == q || !parse_value(h->field, &p, &word))) {
        ftb_complain(&w->wrong, p, line,
                     h->field == REAL || h->field == SINGLE ? "expected a value, a real number"
                                                            : "expected a value, an integer of 64 bits");
        return false;
    }
    q = line_end(p);
    if (!q) {
        ftb_complain(&w->wrong, skip_blanks(p), line, "expected the end of the line");
        return false;
    }
    if (i == j && h->symmetry == SKEW) {
        ftb_complain(&w->wrong, line, line, "a skew-symmetric matrix has no entries on its diagonal");
        return false;
    }
    ftb_piece *out = w->out;
    int64_t n = out->count++;
    out->I[n] = (int64_t)i - 1;
    out->J[n] = (int64_t)j - 1;
    if (h->field != PATTERN)
        out->X[n] = word;
    if (out->line)
        out->line[n] = out->lines;
    if (n > 0 && (out->I[n] < out->I[n - 1] || (out->I[n] == out->I[n - 1] && out->J[n] <= out->J[n - 1])))
        out->ascending = false;
    w->diagonal += i == j;
    *text = q + 1;
    return true;
}

/* Parses the lines of [first, end). */
static void parse_piece(const header *h, const char *first, const char *end, worker *w)
{
    w->out->count = w->out->lines = w->diagonal = 0;
    w->out->ascending = true;
    w->wrong.at = NULL;
    for (const char *line = first; line < end; w->out->lines++) {
        const char *p = skip_blanks(line);
        if (*p == '%') {
            line = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1;
            continue;
        }
        const char *q = *p == '\r' || *p == '\n' ? line_end(p) : NULL;
        if (q) {
            line = q + 1;
            continue;
        }
        if (!parse_entry(h, &p, line, w))
            return;
        line = p;
    }
}

/* ---- header */

static const char *next_word(const char *p, char *word, size_t size)
{
    size_t n = 0;
    p = skip_blanks(p);
    for (; !blank(*p) && *p != '\r' && *p != '\n'; p++)
        if (n + 1 < size)
            word[n++] = *p;
    word[n] = '\0';
    return p;
}

static GrB_Info parse_banner(header *h, const ftb_text *t, const char *line)
{
    char word[5][32];
    ftb_complaint wrong = {0};
    const char *p = line, *at[5];
    for (int i = 0; i < 5; i++) {
        at[i] = skip_blanks(p);
        p = next_word(p, word[i], sizeof word[i]);
    }
    const char *f = word[3], *s = word[4];
    if (strcasecmp(word[0], "%%MatrixMarket") != 0)
        ftb_complain(&wrong, line, line, "expected %%%%MatrixMarket");
    else if (strcasecmp(word[1], "matrix") != 0)
        ftb_complain(&wrong, at[1], line, "object '%s' is not supported; expected matrix", word[1]);
    else if (strcasecmp(word[2], "coordinate") != 0)
        ftb_complain(&wrong, at[2], line, "format '%s' is not supported; expected coordinate, the sparse one",
                     word[2]);
    else if (strcasecmp(f, "real") == 0 || strcasecmp(f, "double") == 0)
        h->field = REAL;
    else if (strcasecmp(f, "integer") == 0)
        h->field = INTEGER;
    else if (strcasecmp(f, "pattern") == 0)
        h->field = PATTERN;
    else
        ftb_complain(&wrong, at[3], line,
                     "field '%s' is not supported; expected real, double, integer or pattern", f);
    if (strcasecmp(s, "general") == 0)
        h->symmetry = GENERAL;
    else if (strcasecmp(s, "symmetric") == 0 ||
             strcasecmp(s, "hermitian") == 0) /* the same for real numbers */
        h->symmetry = SYMMETRIC;
    else if (strcasecmp(s, "skew-symmetric") == 0)
        h->symmetry = SKEW;
    else if (!wrong.at)
        ftb_complain(&wrong, at[4], line,
                     "symmetry '%s' is not known; expected general, symmetric, skew-symmetric or hermitian",
                     s);
    if (!wrong.at && h->symmetry == SKEW && h->field == PATTERN)
        ftb_complain(&wrong, at[4], line, "a pattern cannot be skew-symmetric");
    return wrong.at ? ftb_text_failed(t, line, &wrong) : GrB_SUCCESS;
}

static GrB_Info parse_sizes(header *h, const ftb_text *t, const char *first, const char *line)
{
    static const char *const what[] = {"the number of rows", "the number of columns",
                                       "the number of entries"};
    int64_t *const value[] = {&h->nrows, &h->ncols, &h->nvals};
    ftb_complaint wrong = {0};
    const char *p = skip_blanks(line);
    for (int i = 0; i < 3 && !wrong.at; i++) {
        const char *q = ftb_parse_integer(p, value[i]);
        int digits = (int)ftb_min(strspn(p, "0123456789"), 40);
        if (digits > 0 && (!q || *value[i] == INT64_MAX))
            ftb_complain(&wrong, p, line, "%s, %.*s, is beyond 2^63 - 2", what[i], digits, p);
        else if (!q || *value[i] < 0)
            ftb_complain(&wrong, p, line, "expected %s", what[i]);
        else if (i < 2 && !blank(*q))
            ftb_complain(&wrong, q, line, "expected %s", what[i + 1]);
        else
            p = skip_blanks(q);
    }
    int64_t size = ftb_input_size(t->in);
    if (wrong.at)
        return ftb_text_failed(t, first, &wrong);
    if (!line_end(p))
        ftb_complain(&wrong, skip_blanks(p), line, "expected the end of the line");
    else if (h->symmetry != GENERAL && h->nrows != h->ncols)
        ftb_complain(&wrong, line, line, "a symmetric matrix is square; this one is %lld x %lld",
                     (long long)h->nrows, (long long)h->ncols);
    else if (size >= 0 && h->nvals > size / 4 + 1) /* "1 1\n" is the shortest entry */
        ftb_complain(&wrong, line, line, "%lld entries cannot be in a file of %lld bytes",
                     (long long)h->nvals, (long long)size);
    return wrong.at ? ftb_text_failed(t, first, &wrong) : GrB_SUCCESS;
}

/* Reads up to the size line; *rest is what follows it in its batch. */
static GrB_Info read_header(header *h, ftb_text *t, char **first, char **rest, char **end)
{
    GrB_Info info = GrB_SUCCESS;
    bool banner = false;
    int64_t lines = 0;
    for (;;) {
        FTB_CHECK(ftb_text_next(t, lines, first, end));
        lines = ftb_count_lines(*first, *end);
        if (*first == *end) {
            info = ftb_fail(FTB_FORMAT, "%s: ends early, in the header", ftb_input_name(t->in));
            goto done;
        }
        for (char *line = *first; line < *end;) {
            char *next = (char *)memchr(line, '\n', (size_t)(*end - line)) + 1;
            const char *p = skip_blanks(line);
            if (!banner) {
                FTB_CHECK(parse_banner(h, t, line + (strncmp(line, FTB_UTF8_MARK, 3) == 0 ? 3 : 0)));
                banner = true;
            } else if (*p != '%' && *p != '\n' && *p != '\r') {
                *rest = next;
                info = parse_sizes(h, t, *first, line);
                goto done;
            }
            line = next;
        }
    }
done:
    return info;
}

/* ---- the whole */

typedef struct reader {
    header h;
    ftb_rounds rounds;
    int64_t diagonal;
    worker *workers;
} reader;

/* Parses one round of pieces and appends what they hold. */
static GrB_Info take_round(void *state, char *first)
{
    reader *r = state;
    const ftb_text *t = &r->rounds.text;
    worker *w = r->workers;
    char *const *cut = r->rounds.cut;
    int pieces = t->pieces;
#pragma omp parallel for schedule(dynamic, 1) num_threads(t->threads) if (cut[pieces] - cut[0] > 65536)
    for (int p = 0; p < pieces; p++)
        parse_piece(&r->h, cut[p], cut[p + 1], &w[p]);
    int64_t count = 0, lines = r->rounds.lines;
    for (int p = 0; p < pieces; p++) {
        if (w[p].wrong.at)
            return ftb_text_failed(t, first, &w[p].wrong);
        count += w[p].out->count;
        r->diagonal += w[p].diagonal;
        lines += w[p].out->lines;
    }
    if (count > r->h.nvals - r->rounds.tuples.nvals)
        return ftb_fail(FTB_FORMAT,
                        "%s:%lld: more entries by here than the %lld that the size line announces",
                        ftb_input_name(t->in), (long long)(t->line + lines - 1), (long long)r->h.nvals);
    return ftb_rounds_append(&r->rounds);
}

static GrB_Info check_count(const reader *r)
{
    const ftb_text *t = &r->rounds.text;
    int64_t found = r->rounds.tuples.nvals;
    if (found == r->h.nvals)
        return GrB_SUCCESS;
    return ftb_fail(FTB_FORMAT, "%s:%lld: ends after %lld of the %lld entries that the size line announces",
                    ftb_input_name(t->in), (long long)t->line, (long long)found, (long long)r->h.nvals);
}

/* Appends (j, i) for every (i, j) off the diagonal. */
static GrB_Info mirror(const header *h, ftb_tuples *t, int64_t diagonal)
{
    int64_t n = t->nvals, to = n;
    GrB_Info info = ftb_tuples_reserve(t, 2 * n - diagonal);
    if (info != GrB_SUCCESS)
        return info;
    int64_t *I = t->I, *J = t->J;
    uint64_t *X = t->X;
    for (int64_t e = 0; e < n; e++) {
        if (I[e] == J[e])
            continue;
        I[to] = J[e];
        J[to] = I[e];
        if (h->field != PATTERN)
            X[to] = X[e];
        if (t->lined)
            t->line[to] = t->line[e];
        if (h->symmetry == SKEW) {
            if (h->field == REAL || h->field == SINGLE)
                X[to] ^= (uint64_t)1 << 63;
            else
                X[to] = 0 - X[to];
        }
        to++;
    }
    t->nvals = to;
    return GrB_SUCCESS;
}

static GrB_Info start(reader *r, FtB_Context ctx, const FtB_Read_options *options)
{
    header *h = &r->h;
    ftb_rounds *rounds = &r->rounds;
    GrB_Info info;
    if (h->field == REAL && options->type == FTB_FP32)
        h->field = SINGLE;
    if (h->field == INTEGER && options->type == FTB_UINT64)
        h->field = UNSIGNED;
    bool csr = h->symmetry == GENERAL && options->duplicates != FTB_DUP_COUNT;
    FTB_CHECK(ftb_tuples_start(&rounds->tuples, ctx, h->nrows, h->ncols, h->field != PATTERN, csr,
                               options->duplicates == FTB_DUP_ERROR));
    /* Room for all at once, unless a pipe's size line asks for more than there is: it must deliver first. */
    info = ftb_tuples_reserve(&rounds->tuples, h->nvals);
    if (info != GrB_SUCCESS && ftb_input_size(rounds->text.in) < 0)
        info = ftb_tuples_reserve(&rounds->tuples, ftb_min(h->nvals, 1 << 16));
    FTB_CHECK(info);
    FTB_CHECK(ftb_rounds_start(rounds, (void **)&r->workers, sizeof *r->workers));
    for (int p = 0; p < rounds->text.pieces; p++)
        r->workers[p].out = &rounds->pieces[p];
done:
    return info;
}

GrB_Info ftb_read_mtx(FtB_Matrix *A, FtB_Context ctx, ftb_input *in, const FtB_Read_options *options)
{
    static const FtB_Type types[] = {FTB_BOOL, FTB_INT64, FTB_UINT64, FTB_FP64, FTB_FP64};
    reader r = {.rounds.tuples.ctx = ctx};
    ftb_rounds *rounds = &r.rounds;
    char *first = NULL, *rest = NULL, *end = NULL;
    int64_t left = ftb_memory_left(ctx);
    GrB_Info info;
    FTB_CHECK(ftb_text_open(&rounds->text, ctx, in));
    FTB_CHECK(read_header(&r.h, &rounds->text, &first, &rest, &end));
    FTB_CHECK(start(&r, ctx, options));
    FTB_CHECK(ftb_rounds_run(rounds, first, rest, end, take_round, &r));
    FTB_CHECK(check_count(&r));
    ftb_rounds_stop(rounds);
    if (r.h.symmetry != GENERAL)
        FTB_CHECK(mirror(&r.h, &rounds->tuples, r.diagonal));
    FTB_CHECK(ftb_tuples_build(A, &rounds->tuples, types[r.h.field], options, ftb_input_name(in)));
done:
    if (info == FTB_LIMIT && r.h.nvals > 0)
        info = ftb_text_too_large(&rounds->text, &(ftb_need){.left = left,
                                                             .nrows = r.h.nrows,
                                                             .ncols = r.h.ncols,
                                                             .nvals = r.h.nvals,
                                                             .mirror = r.h.symmetry == GENERAL ? 1 : 2,
                                                             .valued = r.h.field != PATTERN,
                                                             .lined = options->duplicates == FTB_DUP_ERROR});
    ftb_rounds_stop(rounds);
    ftb_delete(r.workers);
    ftb_tuples_clear(&rounds->tuples);
    return info;
}

/* Matrix Market coordinate files (Boisvert, Pozo, Remington 1996, "The Matrix Market exchange formats").
 *
 * A batch of whole lines is cut into pieces; each is parsed by one thread into arrays of its own, which are
 * then copied behind what is there so far. As long as entries come in row order that is the CSR form itself
 * (half of the time goes into touching new memory, so tuples cost as much as parsing); else tuples, which
 * are sorted at the end. Symmetric files are mirrored when their diagonal has been counted. */
#include "core/hypersparse.h"
#include "io/format.h"
#include "io/mtx.h"

/* What one thread found in its piece. */
typedef struct worker {
    ftb_piece *out;
    int64_t diagonal;
    ftb_complaint wrong;
} worker;

/* ---- entries */

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
static inline bool parse_value(ftb_mtx_field f, const char **p, uint64_t *word)
{
    double real;
    int64_t integer;
    const char *end = NULL;
    switch (f) {
    case MTX_PATTERN:
        return true;
    case MTX_INTEGER:
        end = ftb_parse_integer(*p, &integer);
        memcpy(word, &integer, 8);
        break;
    case MTX_UNSIGNED:
        end = ftb_parse_unsigned(*p, word);
        break;
    case MTX_REAL:
    case MTX_SINGLE:
        end = f == MTX_REAL ? ftb_parse_real(*p, &real) : ftb_parse_float(*p, &real);
        memcpy(word, &real, 8);
        break;
    }
    if (!end)
        return false;
    *p = end;
    return true;
}

/* Across the diagonal of a skew-symmetric matrix. */
static inline uint64_t mirrored(ftb_mtx_field f, uint64_t word)
{
    return f == MTX_REAL || f == MTX_SINGLE ? word ^ (uint64_t)1 << 63 : 0 - word;
}

/* Parses one entry line from its first character that is not blank; false: w->wrong says why. */
static inline bool parse_entry(const ftb_mtx_head *h, const char **text, const char *line, worker *w)
{
    const char *p = *text;
    uint64_t i, j, word = 0;
    const char *q = ftb_parse_unsigned(p, &i);
    if (!q || i - 1 >= (uint64_t)h->nrows || !ftb_blank(*q)) {
        if (q && i - 1 < (uint64_t)h->nrows)
            ftb_complain(&w->wrong, q, line, "expected a blank after the row number");
        else
            bad_index(&w->wrong, p, line, "row", h->nrows);
        return false;
    }
    p = ftb_skip_blanks(q);
    q = ftb_parse_unsigned(p, &j);
    if (!q || j - 1 >= (uint64_t)h->ncols) {
        bad_index(&w->wrong, p, line, "column", h->ncols);
        return false;
    }
    p = ftb_skip_blanks(q);
    if (h->field != MTX_PATTERN && (p == q || !parse_value(h->field, &p, &word))) {
        ftb_complain(&w->wrong, p, line,
                     h->field == MTX_REAL || h->field == MTX_SINGLE
                         ? "expected a value, a real number"
                         : "expected a value, an integer of 64 bits");
        return false;
    }
    q = ftb_line_end(p);
    if (!q) {
        ftb_complain(&w->wrong, ftb_skip_blanks(p), line, "expected the end of the line");
        return false;
    }
    if (i == j && h->symmetry == MTX_SKEW) {
        ftb_complain(&w->wrong, line, line, "a skew-symmetric matrix has no entries on its diagonal");
        return false;
    }
    ftb_piece *out = w->out;
    int64_t n = out->count++;
    out->I[n] = (int64_t)i - 1;
    out->J[n] = (int64_t)j - 1;
    if (h->field != MTX_PATTERN)
        out->X[n] = word;
    if (out->line)
        out->line[n] = out->lines;
    if (n > 0 && (out->I[n] < out->I[n - 1] || (out->I[n] == out->I[n - 1] && out->J[n] <= out->J[n - 1])))
        out->ascending = false;
    w->diagonal += i == j;
    *text = q + 1;
    return true;
}

/* The value of the n-th line with an entry, from the line at `first` on. */
static const char *value_at(const char *first, int64_t n, const char **line)
{
    const char *p;
    for (*line = first;; *line = strchr(*line, '\n') + 1) {
        p = ftb_skip_blanks(*line);
        if (*p != '%' && !ftb_line_end(p) && n-- == 0)
            break;
    }
    for (int field = 0; field < 2; field++)
        p = ftb_skip_blanks(p + strcspn(p, " \t"));
    return p;
}

/* Complains of the first value of the piece at `first` that is NaN or infinite. Looked for when the lines are
 * parsed, since looking at each as it is parsed costs a twentieth of the time; and so does this, inlined. */
__attribute__((noinline)) static void check_finite(const char *first, worker *w)
{
    int64_t n = 0;
    const char *line;
    while (n < w->out->count && ftb_finite_word(w->out->X[n]))
        n++;
    if (n == w->out->count)
        return;
    const char *value = value_at(first, n, &line);
    ftb_complain(&w->wrong, value, line, "expected a finite number");
}

/* The dtype of values as they are parsed. */
static FtB_Type parsed_type(ftb_mtx_field f)
{
    static const FtB_Type types[] = {FTB_BOOL, FTB_INT64, FTB_UINT64, FTB_FP64, FTB_FP64};
    return types[f];
}

/* Whether `wanted` holds what lies across the diagonal of a skew-symmetric matrix. */
static bool mirror_fits(ftb_mtx_field f, FtB_Type wanted, uint64_t word)
{
    const uint64_t image = mirrored(f, word);
    if (f == MTX_UNSIGNED || (f == MTX_INTEGER && word == (uint64_t)1 << 63)) /* which has no negative */
        return word == 0;
    return ftb_find_unfit(wanted, &image, parsed_type(f), 1) < 0;
}

/* Complains of the first value that its dtype cannot hold; of a skew-symmetric file also of its negative. */
__attribute__((noinline)) static void check_fits(const ftb_mtx_head *h, const char *first, worker *w)
{
    const FtB_Type type = parsed_type(h->field), wanted = h->wanted ? h->wanted : type;
    const bool skew = h->symmetry == MTX_SKEW;
    const uint64_t *X = w->out->X;
    int64_t n = skew ? 0 : ftb_find_unfit(wanted, X, type, w->out->count);
    while (skew && n < w->out->count && ftb_find_unfit(wanted, &X[n], type, 1) < 0 &&
           mirror_fits(h->field, wanted, X[n]))
        n++;
    if (n < 0 || n == w->out->count)
        return;
    const char *line, *value = value_at(first, n, &line);
    const bool fits = ftb_find_unfit(wanted, &X[n], type, 1) < 0;
    ftb_complain(&w->wrong, value, line, "the value is %.*s%s, which %s cannot hold",
                 (int)ftb_min(strcspn(value, " \t\r\n"), 40), value,
                 fits ? ", and its negative across the diagonal" : "", FtB_Type_name(wanted));
}

/* Parses the lines of [first, end). */
static void parse_piece(const ftb_mtx_head *h, const char *first, const char *end, worker *w)
{
    w->out->count = w->out->lines = w->diagonal = 0;
    w->out->ascending = true;
    w->wrong.at = NULL;
    for (const char *line = first; line < end; w->out->lines++) {
        const char *p = ftb_skip_blanks(line);
        if (*p == '%') {
            line = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1;
            continue;
        }
        const char *q = *p == '\r' || *p == '\n' ? ftb_line_end(p) : NULL;
        if (q) {
            line = q + 1;
            continue;
        }
        if (!parse_entry(h, &p, line, w))
            return;
        line = p;
    }
    if (h->finite && h->field >= MTX_REAL)
        check_finite(first, w);
    if ((h->wanted || h->symmetry == MTX_SKEW) && h->field != MTX_PATTERN && !w->wrong.at)
        check_fits(h, first, w);
}

/* ---- the whole */

typedef struct reader {
    ftb_mtx_head h;
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
static GrB_Info mirror(const ftb_mtx_head *h, ftb_tuples *t, int64_t diagonal)
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
        if (h->field != MTX_PATTERN)
            X[to] = X[e];
        if (t->lined)
            t->line[to] = t->line[e];
        if (h->symmetry == MTX_SKEW)
            X[to] = mirrored(h->field, X[to]);
        to++;
    }
    t->nvals = to;
    return GrB_SUCCESS;
}

static GrB_Info start(reader *r, FtB_Context ctx, const FtB_Read_options *options)
{
    ftb_mtx_head *h = &r->h;
    ftb_rounds *rounds = &r->rounds;
    GrB_Info info;
    if (h->field == MTX_REAL && options->type == FTB_FP32)
        h->field = MTX_SINGLE;
    if (h->field == MTX_INTEGER && options->type == FTB_UINT64)
        h->field = MTX_UNSIGNED;
    bool csr = h->symmetry == MTX_GENERAL && options->duplicates != FTB_DUP_COUNT &&
               !ftb_listed_fits(h->nrows, h->nvals);
    FTB_CHECK(ftb_tuples_start(&rounds->tuples, ctx, h->nrows, h->ncols, h->field != MTX_PATTERN, csr,
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

static GrB_Info read_mtx(FtB_Matrix *A, FtB_Labels labels[2], FtB_Context ctx, ftb_input *in,
                         const FtB_Read_options *options)
{
    (void)labels;
    reader r = {.rounds.tuples.ctx = ctx};
    ftb_rounds *rounds = &r.rounds;
    char *first = NULL, *rest = NULL, *end = NULL;
    int64_t left = ftb_memory_left(ctx);
    GrB_Info info;
    FTB_CHECK(ftb_text_open(&rounds->text, ctx, in));
    FTB_CHECK(ftb_mtx_head_read(&r.h, &rounds->text, &first, &rest, &end));
    r.h.finite = options->finite;
    r.h.wanted = options->type;
    FTB_CHECK(start(&r, ctx, options));
    FTB_CHECK(ftb_rounds_run(rounds, first, rest, end, take_round, &r));
    FTB_CHECK(check_count(&r));
    ftb_rounds_stop(rounds);
    if (r.h.symmetry != MTX_GENERAL)
        FTB_CHECK(mirror(&r.h, &rounds->tuples, r.diagonal));
    FTB_CHECK(ftb_tuples_build(A, &rounds->tuples, parsed_type(r.h.field), options, ftb_input_name(in)));
done:
    if (info == FTB_LIMIT && r.h.nvals > 0)
        info = ftb_text_too_large(&rounds->text, &(ftb_need){.left = left,
                                                             .nrows = r.h.nrows,
                                                             .ncols = r.h.ncols,
                                                             .nvals = r.h.nvals,
                                                             .mirror = r.h.symmetry == MTX_GENERAL ? 1 : 2,
                                                             .valued = r.h.field != MTX_PATTERN,
                                                             .lined = options->duplicates == FTB_DUP_ERROR});
    ftb_rounds_stop(rounds);
    ftb_delete(r.workers);
    ftb_tuples_clear(&rounds->tuples);
    return info;
}

const ftb_codec ftb_codec_mtx = {.magic = {"%%Matrix", "%%matrix"},
                                 .text = true,
                                 .base = 1,
                                 .rank = 1,
                                 .matrix = read_mtx,
                                 .sink = &ftb_text_kind,
                                 .block = ftb_read_mtx_array,
                                 .is_block = ftb_mtx_is_array,
                                 .write_block = ftb_write_block_text};

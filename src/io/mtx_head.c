/* The header of Matrix Market files: banner, comments, size line. */
#include "io/mtx.h"

#include <strings.h>

static const char *next_word(const char *p, char *word, size_t size)
{
    size_t n = 0;
    p = ftb_skip_blanks(p);
    for (; !ftb_blank(*p) && *p != '\r' && *p != '\n'; p++)
        if (n + 1 < size)
            word[n++] = *p;
    word[n] = '\0';
    return p;
}

static GrB_Info parse_banner(ftb_mtx_head *h, const ftb_text *t, const char *line)
{
    char word[5][32];
    ftb_complaint wrong = {0};
    const char *p = line, *at[5];
    for (int i = 0; i < 5; i++) {
        at[i] = ftb_skip_blanks(p);
        p = next_word(p, word[i], sizeof word[i]);
    }
    const char *f = word[3], *s = word[4];
    if (strcasecmp(word[0], "%%MatrixMarket") != 0)
        ftb_complain(&wrong, line, line, "expected %%%%MatrixMarket");
    else if (strcasecmp(word[1], "matrix") != 0)
        ftb_complain(&wrong, at[1], line, "object '%s' is not supported; expected matrix", word[1]);
    else if (!h->array && strcasecmp(word[2], "coordinate") != 0)
        ftb_complain(&wrong, at[2], line, "format '%s' is not supported; expected coordinate, the sparse one",
                     word[2]);
    else if (h->array && strcasecmp(word[2], "array") != 0)
        ftb_complain(&wrong, at[2], line, "format '%s' is not supported; expected array, the dense one",
                     word[2]);
    else if (strcasecmp(f, "real") == 0 || strcasecmp(f, "double") == 0)
        h->field = MTX_REAL;
    else if (strcasecmp(f, "integer") == 0)
        h->field = MTX_INTEGER;
    else if (strcasecmp(f, "pattern") == 0 && !h->array)
        h->field = MTX_PATTERN;
    else
        ftb_complain(&wrong, at[3], line, "field '%s' is not supported; expected real, double%s", f,
                     h->array ? " or integer" : ", integer or pattern");
    if (strcasecmp(s, "general") == 0)
        h->symmetry = MTX_GENERAL;
    else if (strcasecmp(s, "symmetric") == 0 ||
             strcasecmp(s, "hermitian") == 0) /* the same for real numbers */
        h->symmetry = MTX_SYMMETRIC;
    else if (strcasecmp(s, "skew-symmetric") == 0)
        h->symmetry = MTX_SKEW;
    else if (!wrong.at)
        ftb_complain(&wrong, at[4], line,
                     "symmetry '%s' is not known; expected general, symmetric, skew-symmetric or hermitian",
                     s);
    if (!wrong.at && h->symmetry == MTX_SKEW && h->field == MTX_PATTERN)
        ftb_complain(&wrong, at[4], line, "a pattern cannot be skew-symmetric");
    return wrong.at ? ftb_text_failed(t, line, &wrong) : GrB_SUCCESS;
}

/* The values that an array stores: a triangle of it is enough where it is symmetric. false: too many. */
static bool count_values(ftb_mtx_head *h)
{
    int64_t n = h->nrows,
            columns = h->symmetry == MTX_GENERAL ? h->ncols : n + (h->symmetry == MTX_SKEW ? -1 : 1);
    if (h->symmetry == MTX_SKEW && n == 0)
        columns = 0;
    if (__builtin_mul_overflow(n, columns, &h->nvals))
        return false;
    h->nvals = h->symmetry == MTX_GENERAL ? h->nvals : h->nvals / 2;
    return true;
}

static GrB_Info parse_sizes(ftb_mtx_head *h, const ftb_text *t, const char *first, const char *line)
{
    static const char *const what[] = {"the number of rows", "the number of columns",
                                       "the number of entries"};
    int64_t *const value[] = {&h->nrows, &h->ncols, &h->nvals};
    ftb_complaint wrong = {0};
    const char *p = ftb_skip_blanks(line);
    const int sizes = h->array ? 2 : 3;
    const int64_t shortest = h->array ? 2 : 4; /* "0\n", "1 1\n" */
    for (int i = 0; i < sizes && !wrong.at; i++) {
        const char *q = ftb_parse_integer(p, value[i]);
        int digits = (int)ftb_min(strspn(p, "0123456789"), 40);
        if (digits > 0 && (!q || *value[i] == INT64_MAX))
            ftb_complain(&wrong, p, line, "%s, %.*s, is beyond 2^63 - 2", what[i], digits, p);
        else if (!q || *value[i] < 0)
            ftb_complain(&wrong, p, line, "expected %s", what[i]);
        else if (i + 1 < sizes && !ftb_blank(*q))
            ftb_complain(&wrong, q, line, "expected %s", what[i + 1]);
        else
            p = ftb_skip_blanks(q);
    }
    int64_t size = ftb_input_size(t->in);
    if (wrong.at)
        return ftb_text_failed(t, first, &wrong);
    if (!ftb_line_end(p))
        ftb_complain(&wrong, ftb_skip_blanks(p), line, "expected the end of the line");
    else if (h->symmetry != MTX_GENERAL && h->nrows != h->ncols)
        ftb_complain(&wrong, line, line, "a symmetric matrix is square; this one is %lld x %lld",
                     (long long)h->nrows, (long long)h->ncols);
    else if (h->array && !count_values(h))
        ftb_complain(&wrong, line, line, "%lld x %lld values cannot be addressed", (long long)h->nrows,
                     (long long)h->ncols);
    else if (size >= 0 && h->nvals > size / shortest + 1)
        ftb_complain(&wrong, line, line, "%lld %s cannot be in a file of %lld bytes", (long long)h->nvals,
                     h->array ? "values" : "entries", (long long)size);
    return wrong.at ? ftb_text_failed(t, first, &wrong) : GrB_SUCCESS;
}

GrB_Info ftb_mtx_head_read(ftb_mtx_head *h, ftb_text *t, char **first, char **rest, char **end)
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
            const char *p = ftb_skip_blanks(line);
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

bool ftb_mtx_is_array(const char *bytes, int64_t count)
{
    char line[128]; /* the banner's first three words are shorter */
    int64_t n = ftb_min(count, (int64_t)sizeof line - 1);
    char word[32];
    memcpy(line, bytes, (size_t)n);
    line[n] = '\n';
    const char *p = line;
    for (int i = 0; i < 3; i++)
        p = next_word(p, word, sizeof word);
    return strcasecmp(word, "array") == 0;
}

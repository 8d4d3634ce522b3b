/* Tables of numbers (CSV, TSV), a row a line, and dense Matrix Market files, a value a line (Boisvert, Pozo,
 * Remington 1996, "The Matrix Market exchange formats"). */
#include "io/dense.h"
#include "io/mtx.h"

/* ---- tables */

/* Cuts the line at the delimiter: how many fields, and whether they are a header: names, with none of the
 * numbers that a line of data with a wrong field has. Empty fields are neither. */
static int64_t count_fields(const char *p, char delimiter, bool *header)
{
    int64_t count = 0;
    bool names = false, others = false;
    for (bool more = true; more; count++) {
        double value;
        while (*p == ' ' || (*p == '\t' && delimiter != '\t'))
            p++;
        if (delimiter == ' ' && (*p == '\n' || *p == '\r'))
            break;
        const char *text = p, *end;
        while (*p != '\n' && *p != '\r' && *p != delimiter && !(delimiter == ' ' && *p == '\t'))
            p++;
        for (end = p; end > text && (end[-1] == ' ' || end[-1] == '\t');)
            end--;
        if (end > text) {
            const bool name = ftb_parse_real(text, &value) != end && ftb_is_name(text, end);
            names = names || name;
            others = others || !name;
        }
        more = delimiter == ' ' || *p == delimiter;
        p += delimiter != ' ';
    }
    *header = names && !others;
    return count;
}

/* Finds the first line that is neither blank nor a comment; *line == *end: there is none. */
static GrB_Info first_line(ftb_text *t, char **first, char **line, char **end)
{
    int64_t lines = 0;
    for (bool start = true;; start = false) {
        GrB_Info info = ftb_text_next(t, lines, first, end);
        if (info != GrB_SUCCESS)
            return info;
        *line = *first;
        if (start && strncmp(*line, FTB_UTF8_MARK, 3) == 0)
            *line += 3;
        while (*line < *end && (ftb_line_end(*line) || **line == '#' || **line == '%'))
            *line = (char *)memchr(*line, '\n', (size_t)(*end - *line)) + 1;
        if (*line < *end || *first == *end)
            return GrB_SUCCESS;
        lines = ftb_count_lines(*first, *end);
    }
}

GrB_Info ftb_read_table(ftb_dense *d, ftb_input *in, const FtB_Block_read_options *options)
{
    ftb_numbers n = {
        .type = options->type ? options->type : FTB_FP64, .finite = options->finite, .limit = -1};
    char *first = NULL, *line = NULL, *end = NULL;
    bool header;
    GrB_Info info;
    FTB_CHECK(ftb_text_open(&n.text, d->ctx, in));
    FTB_CHECK(first_line(&n.text, &first, &line, &end));
    if (line == end) {
        info = ftb_fail(FTB_FORMAT, "%s: has no numbers", ftb_input_name(in));
        goto done;
    }
    n.delimiter = options->delimiter ? options->delimiter : ftb_guess_delimiter(line, end);
    n.ncols = count_fields(line, n.delimiter, &header);
    if (options->header == 1 || (options->header == 0 && header))
        line = (char *)memchr(line, '\n', (size_t)(end - line)) + 1;
    FTB_CHECK(ftb_numbers_read(&n, first, line, end));
    *options->found = n.delimiter == '\t' || n.delimiter == ' ' ? FTB_TSV : FTB_CSV;
    d->type = n.type;
    d->nrows = n.nrows;
    d->ncols = n.ncols;
    ftb_numbers_stop(&n, &d->data);
done:
    ftb_numbers_stop(&n, NULL);
    return info;
}

/* ---- Matrix Market arrays */

/* The whole of a symmetric array, of whose columns the part from the diagonal down (below it, if skew) is
 * there. */
static GrB_Info unfold(ftb_dense *d, const ftb_mtx_head *h, const char *name)
{
    const int64_t n = h->nrows, size = (int64_t)FtB_Type_size(d->type), skip = h->symmetry == MTX_SKEW;
    const char *from = d->data;
    char *whole = ftb_new0(d->ctx, n * n, (size_t)size);
    if (!whole)
        return ftb_nomem();
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j + skip; i < n; i++, from += size) {
            char *below = whole + (j * n + i) * size, *above = whole + (i * n + j) * size;
            memcpy(below, from, (size_t)size);
            memcpy(above, from, (size_t)size);
            if (!skip)
                continue;
            double value = -ftb_get_real(from, d->type, 0);
            int64_t integer = (int64_t)(0 - (uint64_t)ftb_get_integer(from, d->type, 0));
            const bool real = ftb_type_float(d->type);
            if (!real &&
                ftb_find_unfit(d->type, &integer, FTB_INT64, 1) == 0) { /* the other end of the range */
                ftb_delete(whole);
                return ftb_fail(FTB_FORMAT,
                                "%s: the value of entry (%lld, %lld) is %lld, which %s cannot hold", name,
                                (long long)j, (long long)i, (long long)integer, FtB_Type_name(d->type));
            }
            ftb_cast(above, d->type, real ? (const void *)&value : &integer, real ? FTB_FP64 : FTB_INT64, 1);
        }
    ftb_delete(d->data);
    d->data = whole;
    return GrB_SUCCESS;
}

GrB_Info ftb_read_mtx_array(ftb_dense *d, ftb_input *in, const FtB_Block_read_options *options)
{
    ftb_numbers n = {.ncols = 1, .delimiter = ' ', .finite = options->finite, .comments = true};
    ftb_mtx_head h = {.array = true};
    char *first = NULL, *rest = NULL, *end = NULL;
    int64_t cells;
    GrB_Info info;
    FTB_CHECK(ftb_text_open(&n.text, d->ctx, in));
    FTB_CHECK(ftb_mtx_head_read(&h, &n.text, &first, &rest, &end));
    n.type = options->type ? options->type : h.field == MTX_INTEGER ? FTB_INT64 : FTB_FP64;
    n.limit = h.nvals;
    FTB_CHECK(ftb_numbers_read(&n, first, rest, end));
    if (n.nrows < h.nvals) {
        info =
            ftb_fail(FTB_FORMAT, "%s:%lld: ends after %lld of the %lld values that the size line announces",
                     ftb_input_name(in), (long long)n.text.line, (long long)n.nrows, (long long)h.nvals);
        goto done;
    }
    if (__builtin_mul_overflow(h.nrows, h.ncols, &cells)) {
        info = ftb_fail(FTB_FORMAT, "%s: %lld x %lld values cannot be addressed", ftb_input_name(in),
                        (long long)h.nrows, (long long)h.ncols);
        goto done;
    }
    d->type = n.type;
    d->nrows = h.nrows;
    d->ncols = h.ncols;
    d->by_column = true;
    ftb_numbers_stop(&n, &d->data);
    if (h.symmetry != MTX_GENERAL)
        info = unfold(d, &h, ftb_input_name(in));
    d->by_column = h.symmetry != MTX_SYMMETRIC;
done:
    ftb_numbers_stop(&n, NULL);
    return info;
}

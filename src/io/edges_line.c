/* Lines of an edge list: fields, and what the first lines tell of the rest. */
#include "io/edges.h"
#include "io/number.h"

#include <stdio.h>

static bool blank(char c) { return c == ' ' || c == '\t'; }

/* ---- fields */

static ftb_field_end blank_field(const char **p, ftb_field *f)
{
    const char *q = *p;
    while (blank(*q))
        q++;
    f->text = q;
    while (!blank(*q) && *q != '\n' && !(*q == '\r' && q[1] == '\n'))
        q++;
    f->end = q;
    while (blank(*q))
        q++;
    if (*q == '\r' && q[1] == '\n')
        q++;
    *p = q;
    return *q == '\n' ? FTB_FIELD_LAST : FTB_FIELD_MORE;
}

/* q is at the opening quote. */
static ftb_field_end quoted_field(char delimiter, const char *q, const char **p, const char *end,
                                  ftb_field *f)
{
    const char *open = q;
    f->quoted = true;
    f->text = ++q;
    for (;; q++) {
        q = memchr(q, '"', (size_t)(end - q));
        if (!q) {
            f->text = open;
            return FTB_FIELD_OPEN;
        }
        if (q + 1 < end && q[1] == '"') {
            f->doubled = true;
            q++;
        } else {
            break;
        }
    }
    f->end = q++;
    while (*q == ' ' && q < end)
        q++;
    if (*q == '\r' && q + 1 < end)
        q++;
    *p = *q == delimiter ? q + 1 : q;
    if (*q == delimiter)
        return FTB_FIELD_MORE;
    if (q < end && *q == '\n')
        return FTB_FIELD_LAST;
    f->text = q;
    return FTB_FIELD_OPEN;
}

ftb_field_end ftb_next_field(const ftb_edges_layout *l, const char **p, const char *end, ftb_field *f)
{
    char delimiter = l->delimiter;
    const char *q = *p, *stop;
    f->quoted = f->doubled = false;
    if (delimiter == ' ')
        return blank_field(p, f);
    while (*q == ' ')
        q++;
    if (l->quotes && *q == '"')
        return quoted_field(delimiter, q, p, end, f);
    f->text = q;
    while (*q != delimiter && *q != '\n')
        q++;
    stop = q;
    if (*q == '\n' && stop > f->text && stop[-1] == '\r')
        stop--;
    while (stop > f->text && stop[-1] == ' ')
        stop--;
    f->end = stop;
    *p = *q == '\n' ? q : q + 1;
    return *q == '\n' ? FTB_FIELD_LAST : FTB_FIELD_MORE;
}

bool ftb_skip_line(const char **p, const char *end, bool comments)
{
    const char *q = *p;
    while (blank(*q))
        q++;
    if (*q == '\r' && q[1] == '\n')
        q++;
    if (*q != '\n') {
        if (!comments || (*q != '#' && *q != '%'))
            return false;
        q = memchr(q, '\n', (size_t)(end - q));
    }
    *p = q + 1;
    return true;
}

/* The field is followed by something that is in no number: a delimiter, a quote, a blank or a line end. */
bool ftb_field_integer(const ftb_field *f, int64_t *value)
{
    const char *digits = f->text + (*f->text == '-');
    if ((*digits == '0' && f->end - f->text > 1) || *f->text == '+')
        return false;
    return ftb_parse_integer(f->text, value) == f->end;
}

bool ftb_field_real(const ftb_field *f, bool single, double *value)
{
    const char *stop = single ? ftb_parse_float(f->text, value) : ftb_parse_real(f->text, value);
    return stop == f->end;
}

/* ---- layout */

static GrB_Info check_delimiter(char d)
{
    if (d == '\t' || d == ' ' || strchr(",;|:!/~^", d))
        return GrB_SUCCESS;
    return ftb_fail(GrB_INVALID_VALUE,
                    "FtB_Matrix_read: delimiter is '%c'; expected a tab, a blank or one of , ; | : ! / ~ ^",
                    d);
}

char ftb_edges_delimiter(const FtB_Read_options *options, const char *line, const char *end)
{
    static const char candidates[] = {'\t', ',', ';'};
    const char *newline = memchr(line, '\n', (size_t)(end - line));
    if (options->delimiter)
        return options->delimiter;
    for (size_t c = 0; c < sizeof candidates; c++) {
        bool quoted = false;
        for (const char *p = line; p < newline; p++) {
            quoted ^= *p == '"';
            if (!quoted && *p == candidates[c])
                return candidates[c];
        }
    }
    return ' ';
}

/* Field number `n` (from 0) of a line; its end. */
static ftb_field_end nth_field(const ftb_edges_layout *l, const char *line, const char *end, int n,
                               ftb_field *f)
{
    ftb_field_end what = FTB_FIELD_MORE;
    for (int i = 0; i <= n && what == FTB_FIELD_MORE; i++) {
        what = ftb_next_field(l, &line, end, f);
        if (what == FTB_FIELD_LAST && i < n)
            what = FTB_FIELD_OPEN;
    }
    return what;
}

static int count_fields(const ftb_edges_layout *l, const char *line, const char *end)
{
    ftb_field f;
    ftb_field_end what;
    int n = 0;
    do
        n++;
    while ((what = ftb_next_field(l, &line, end, &f)) == FTB_FIELD_MORE && n < 1000000);
    return what == FTB_FIELD_OPEN ? 0 : n;
}

static bool same_text(const ftb_field *f, const char *name, size_t length)
{
    const char *p = f->text;
    size_t n = 0;
    for (; p < f->end && n < length; p++, n++) {
        if (*p != name[n])
            return false;
        p += f->doubled && *p == '"';
    }
    return p == f->end && n == length;
}

/* The field that a column is in, by its name in the header line, or -1. */
static int find_name(const ftb_edges_layout *l, const char *line, const char *end, const char *name,
                     size_t length)
{
    ftb_field f;
    ftb_field_end what;
    int n = 0;
    do {
        what = ftb_next_field(l, &line, end, &f);
        if (what != FTB_FIELD_OPEN && same_text(&f, name, length))
            return n;
        n++;
    } while (what == FTB_FIELD_MORE);
    return -1;
}

static GrB_Info unknown_column(const ftb_edges_layout *l, const ftb_text *t, const char *line,
                               const char *end, const char *name, size_t length)
{
    char known[400];
    size_t used = 0;
    ftb_field f;
    ftb_field_end what;
    known[0] = '\0';
    do {
        what = ftb_next_field(l, &line, end, &f);
        if (what == FTB_FIELD_OPEN)
            break;
        int n = snprintf(known + used, sizeof known - used, "%s%.*s", used ? ", " : "",
                         (int)ftb_min(f.end - f.text, 100), f.text);
        used += (size_t)ftb_max(n, 0);
    } while (what == FTB_FIELD_MORE && used + 1 < sizeof known);
    return ftb_fail(GrB_INVALID_VALUE, "%s: there is no column '%.*s'; the first line has %s",
                    ftb_input_name(t->in), (int)ftb_min(length, 100), name, known);
}

/* Reads options.columns. *named: a column is given by its name, so there is a header. */
static GrB_Info parse_columns(ftb_edges_layout *l, const ftb_text *t, const char *columns, const char *line,
                              const char *end, bool *named)
{
    int *const field[] = {&l->row, &l->col, &l->value};
    const char *p = columns;
    int count = 0;
    *named = false;
    for (bool more = true; more; count++) {
        size_t length = strcspn(p, ",");
        if (count == 3 || length == 0)
            return ftb_fail(GrB_INVALID_VALUE,
                            "FtB_Matrix_read: columns is '%s'; expected row,column[,value]", columns);
        if (strspn(p, "0123456789") == length && length < 7) {
            int number = 0;
            for (size_t c = 0; c < length; c++)
                number = number * 10 + (p[c] - '0');
            *field[count] = number - 1;
        } else {
            *named = true;
            *field[count] = find_name(l, line, end, p, length);
            if (*field[count] < 0)
                return unknown_column(l, t, line, end, p, length);
        }
        if (*field[count] < 0)
            return ftb_fail(GrB_INVALID_VALUE, "FtB_Matrix_read: columns is '%s'; columns count from 1",
                            columns);
        more = p[length] == ',';
        p += length + more;
    }
    if (count < 2 || l->row == l->col)
        return ftb_fail(GrB_INVALID_VALUE,
                        "FtB_Matrix_read: columns is '%s'; expected two different columns%s", columns,
                        count < 2 ? ", and perhaps one of values" : "");
    return GrB_SUCCESS;
}

/* Whether the line looks like names: no number where a value is due, or no integer ids while the next line
 * has some. */
static bool looks_like_header(const ftb_edges_layout *l, const char *line, const char *next, const char *end)
{
    ftb_field f;
    double real;
    int64_t integer;
    if (l->value >= 0)
        return nth_field(l, line, end, l->value, &f) != FTB_FIELD_OPEN && !ftb_field_real(&f, false, &real);
    const int ids[] = {l->row, l->col};
    for (int c = 0; c < 2; c++)
        if (nth_field(l, line, end, ids[c], &f) == FTB_FIELD_OPEN || ftb_field_integer(&f, &integer))
            return false;
    for (int c = 0; c < 2 && next < end; c++)
        if (nth_field(l, next, end, ids[c], &f) != FTB_FIELD_OPEN && ftb_field_integer(&f, &integer))
            return true;
    return false;
}

GrB_Info ftb_edges_detect(ftb_edges_layout *l, const ftb_text *t, const FtB_Read_options *options,
                          const char *first, const char *end, const char **data)
{
    GrB_Info info = check_delimiter(l->delimiter);
    ftb_complaint wrong = {0};
    bool named = false;
    if (info != GrB_SUCCESS)
        return info;
    int fields = count_fields(l, first, end);
    l->row = 0;
    l->col = 1;
    l->value = -1;
    if (options->columns)
        info = parse_columns(l, t, options->columns, first, end, &named);
    else
        l->value = fields > 2 ? 2 : -1;
    if (info != GrB_SUCCESS)
        return info;
    l->last = ftb_max(ftb_max(l->row, l->col), l->value);
    if (fields > 0 && l->last >= fields) {
        ftb_complain(&wrong, first, first, "expected at least %d fields, found %d", l->last + 1, fields);
        return ftb_text_failed(t, first, &wrong);
    }
    const char *next = first;
    ftb_field f;
    while (ftb_next_field(l, &next, end, &f) == FTB_FIELD_MORE)
        ;
    next = memchr(next, '\n', (size_t)(end - next));
    next = next ? next + 1 : end;
    l->header =
        named || options->header > 0 || (options->header == 0 && looks_like_header(l, first, next, end));
    if (named && options->header < 0)
        return ftb_fail(GrB_INVALID_VALUE,
                        "FtB_Matrix_read: columns has names, but there is said to be no header");
    *data = l->header ? next : first;
    return GrB_SUCCESS;
}

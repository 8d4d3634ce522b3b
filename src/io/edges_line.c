/* Lines of an edge list: fields, and what the first lines tell of the rest. */
#include "core/number.h"
#include "io/edges.h"

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
                    "options.delimiter is '%c'; expected a tab, a blank or one of , ; | : ! / ~ ^", d);
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

/* How many fields a line has, and where the next one begins; 0: a quote is wrong. */
static int64_t count_fields(const ftb_edges_layout *l, const char **line, const char *end)
{
    ftb_field f;
    ftb_field_end what = FTB_FIELD_MORE;
    int64_t n = 0;
    const char *p = *line;
    for (; what == FTB_FIELD_MORE; n++)
        what = ftb_next_field(l, &p, end, &f);
    const char *stop = memchr(p, '\n', (size_t)(end - p));
    *line = stop ? stop + 1 : end;
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
            return ftb_fail(GrB_INVALID_VALUE, "options.columns is '%s'; expected row,column[,value]",
                            columns);
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
            return ftb_fail(GrB_INVALID_VALUE, "options.columns is '%s'; columns count from 1", columns);
        more = p[length] == ',';
        p += length + more;
    }
    if (count < 2 || l->row == l->col)
        return ftb_fail(GrB_INVALID_VALUE, "options.columns is '%s'; expected two different columns%s",
                        columns, count < 2 ? ", and perhaps one of values" : "");
    return GrB_SUCCESS;
}

/* Whether the line looks like names: one where a value is due, unless both ids are integers; or, without
 * values, no integer ids while the next line has some. */
static bool looks_like_header(const ftb_edges_layout *l, const char *line, const char *next, const char *end)
{
    ftb_field f;
    double real;
    int64_t integer;
    const int ids[] = {l->row, l->col};
    int integers = 0;
    for (int c = 0; c < 2; c++) {
        if (nth_field(l, line, end, ids[c], &f) == FTB_FIELD_OPEN)
            return false;
        integers += ftb_field_integer(&f, &integer);
    }
    if (l->value >= 0)
        return integers < 2 && nth_field(l, line, end, l->value, &f) != FTB_FIELD_OPEN &&
               !ftb_field_real(&f, false, &real) && ftb_is_name(f.text, f.end);
    for (int c = 0; c < 2 && next < end && integers == 0; c++)
        if (nth_field(l, next, end, ids[c], &f) != FTB_FIELD_OPEN && ftb_field_integer(&f, &integer))
            return true;
    return false;
}

/* Which fields are row, column and value. *named: a column is given by its name. */
static GrB_Info choose_fields(ftb_edges_layout *l, const ftb_text *t, const FtB_Read_options *options,
                              const char *first, const char *end, bool *named)
{
    ftb_complaint wrong = {0};
    GrB_Info info = GrB_SUCCESS;
    l->row = 0;
    l->col = 1;
    l->value = -1;
    *named = false;
    if (l->lists && options->columns)
        return ftb_fail(GrB_INVALID_VALUE, "options.adjacency and options.columns exclude each other");
    if (l->lists)
        return GrB_SUCCESS;
    if (options->columns)
        info = parse_columns(l, t, options->columns, first, end, named);
    else
        l->value = l->fields > 2 ? 2 : -1;
    const int64_t last = ftb_max(ftb_max(l->row, l->col), l->value);
    if (info == GrB_SUCCESS && l->fields > 0 && last >= l->fields) {
        ftb_complain(&wrong, first, first, "expected at least %lld fields between %s, found %lld",
                     (long long)last + 1, ftb_delimiter_name(l->delimiter), (long long)l->fields);
        info = ftb_text_failed(t, first, &wrong);
    }
    return info;
}

GrB_Info ftb_edges_detect(ftb_edges_layout *l, const ftb_text *t, const FtB_Read_options *options,
                          const char *first, const char *end, const char **data)
{
    bool named = false;
    const char *next = first;
    GrB_Info info = check_delimiter(l->delimiter);
    if (info != GrB_SUCCESS)
        return info;
    l->lists = options->adjacency;
    l->fields = count_fields(l, &next, end);
    info = choose_fields(l, t, options, first, end, &named);
    if (info != GrB_SUCCESS)
        return info;
    l->header = named || options->header > 0 ||
                (options->header == 0 && !l->lists && looks_like_header(l, first, next, end));
    if (named && options->header < 0)
        return ftb_fail(GrB_INVALID_VALUE,
                        "options.columns has names, but options.header says that the first line has none");
    *data = l->header ? next : first;
    if (l->header && l->fields == 0 && next < end) /* its quotes do not matter */
        l->fields = count_fields(l, &next, end);
    return GrB_SUCCESS;
}

/* featblas project: the matrix, the side, the labels, the lists of vertices. */
#include "project_parts.h"
#include "text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FIELDS 256 /* columns of a table that are looked at */

/* ---- which side */

/* Projects onto `side`, which people know as `name`. */
static void choose(project *p, FtB_Side side, const char *name)
{
    p->options.onto = side;
    snprintf(p->onto, sizeof p->onto, "%s", name);
}

/* Compares --onto with the names of the edge list's two columns (either may be NULL). */
static bool choose_by_name(project *p, char *const *names)
{
    for (int side = 0; side < 2; side++)
        if (names[side] && strcmp(p->values->onto, names[side]) == 0) {
            choose(p, side == 0 ? FTB_ROWS : FTB_COLS, names[side]);
            return true;
        }
    return false;
}

static int unknown_side(const project *p, char *const *names)
{
    const char *words[] = {"cols", "rows", names[0], names[1]};
    char hint[256];
    if (!names[0] || !names[1])
        return app_unknown("side", p->values->onto, 2, words, "--onto takes cols or rows");
    snprintf(hint, sizeof hint, "--onto takes cols, rows, %.80s or %.80s", names[0], names[1]);
    return app_unknown("side", p->values->onto, 4, words, hint);
}

/* --onto as a name of the input's header; without --columns its first two columns are the ids. */
static int choose_by_header(project *p)
{
    char *fields[MAX_FIELDS], *none[2] = {NULL, NULL};
    text t = {0};
    if (strcmp(p->input, "-") == 0)
        return app_fail(APP_USAGE,
                        "--onto %s: a column of standard input is known by name only with --columns",
                        p->values->onto);
    const reader_values *v = &p->values->reader;
    const bool header = v->header > 0 || (v->header == 0 && !v->adjacency);
    const bool names = header && reader_header(v, p->input, &t, fields, MAX_FIELDS) >= 2;
    p->named = choose_by_name(p, names ? fields : none);
    int code = p->named ? APP_OK : unknown_side(p, names ? fields : none);
    text_free(&t);
    return code;
}

static int choose_side(project *p)
{
    const char *onto = p->values->onto;
    char *copy = p->values->reader.columns ? strdup(p->values->reader.columns) : NULL;
    char *names[2] = {copy, NULL}, *comma = copy ? strchr(copy, ',') : NULL;
    int code = APP_OK;
    if (comma) {
        *comma = '\0';
        names[1] = comma + 1;
        names[1][strcspn(names[1], ",")] = '\0';
    }
    if (!onto || strcmp(onto, "cols") == 0)
        choose(p, FTB_COLS, names[1] && !strchr("123456789", names[1][0]) ? names[1] : "columns");
    else if (strcmp(onto, "rows") == 0)
        choose(p, FTB_ROWS, names[1] && !strchr("123456789", names[0][0]) ? names[0] : "rows");
    else if (copy && !choose_by_name(p, names))
        code = unknown_side(p, names);
    else if (!copy)
        code = choose_by_header(p);
    free(copy);
    return code;
}

/* ---- ids */

FtB_Labels project_ids(const project *p) { return p->options.onto == FTB_COLS ? p->cols : p->rows; }

int64_t project_base(const project *p) { return ftb_format_base(ftb_format_of(p->found.format)); }

static const char *label_at(const void *labels, int64_t at)
{
    return FtB_Labels_get((FtB_Labels)(uintptr_t)labels, at);
}

static int by_value(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a > b) - (a < b);
}

/* The vertex that a line of --sources or --targets names; -1 after saying that there is none. */
static int64_t vertex_of(const project *p, const string_index *ids, const text *t, const char *id)
{
    if (project_ids(p)) {
        int64_t at = string_index_find(ids, id);
        if (at < 0)
            app_fail(APP_INPUT, "%s:%" PRId64 ":1: no vertex '%s' among the %s", t->path, t->line, id,
                     p->onto);
        return at;
    }
    char *end;
    long long base = project_base(p), number = strtoll(id, &end, 10);
    if (*end || number < base || number - base >= p->vertices) {
        app_fail(APP_INPUT, "%s:%" PRId64 ":1: %s '%s' is outside %lld..%lld", t->path, t->line, "vertex", id,
                 base, (long long)p->vertices - 1 + base);
        return -1;
    }
    return number - base;
}

static char *trimmed(char *line)
{
    line += strspn(line, " \t");
    for (size_t n = strlen(line); n > 0 && strchr(" \t", line[n - 1]); n--)
        line[n - 1] = '\0';
    return line;
}

/* Reads a list of ids, one a line, into ascending positions without repetitions. */
static int read_vertices(const project *p, const char *path, int64_t **list, int64_t *count)
{
    text t;
    string_index ids = {0};
    FtB_Labels labels = project_ids(p);
    int code = text_read(&t, path, 0);
    int64_t n = 0, room = 1, at;
    if (code != APP_OK)
        return code;
    for (size_t c = 0; c < t.size; c++)
        room += t.bytes[c] == '\n';
    *list = malloc((size_t)room * sizeof **list);
    if (!*list || (labels && !string_index_build(&ids, FtB_Labels_count(labels), label_at, labels)))
        code = app_fail(APP_MEMORY, "%s: out of memory", path);
    for (char *line; code == APP_OK && (line = text_line(&t)) != NULL;) {
        line = trimmed(line);
        if (!*line)
            continue;
        if ((at = vertex_of(p, &ids, &t, line)) < 0)
            code = APP_INPUT;
        else
            (*list)[n++] = at;
    }
    if (code == APP_OK) {
        qsort(*list, (size_t)n, sizeof **list, by_value);
        *count = 0;
        for (int64_t v = 0; v < n; v++)
            if (v == 0 || (*list)[v] != (*list)[v - 1])
                (*list)[(*count)++] = (*list)[v];
    }
    string_index_free(&ids);
    text_free(&t);
    return code;
}

/* ---- labels */

typedef struct label_table {
    text t;
    const char **pairs; /* id, label, id, label, ... */
    int64_t count;
} label_table;

static const char *id_at(const void *pairs, int64_t at) { return ((const char *const *)pairs)[2 * at]; }

static bool numbered(const char *word) { return *word && strspn(word, "0123456789") == strlen(word); }

/* Finds the columns; a first line that names them is passed over, one that numbers stand for is data. */
static int label_columns(label_table *table, const char *names, int *id, int *label)
{
    char *fields[MAX_FIELDS], *copy = strdup(names), *comma = copy ? strchr(copy, ',') : NULL;
    text head = table->t;
    int code = APP_OK, count = 0;
    if (!copy)
        return app_fail(APP_MEMORY, "out of memory");
    if (!comma)
        code = app_fail(APP_USAGE, "--labels: '%s' does not name two columns, ID,LABEL", names);
    else
        *comma = '\0';
    if (code == APP_OK && numbered(copy) && numbered(comma + 1)) {
        *id = atoi(copy) - 1;
        *label = atoi(comma + 1) - 1;
        if (*id < 0 || *label < 0)
            code = app_fail(APP_USAGE, "--labels: columns count from 1");
        free(copy);
        return code;
    }
    if (code == APP_OK && (count = text_next(&head, fields, MAX_FIELDS)) < 1)
        code = app_fail(APP_INPUT, "%s:1:1: there is no header", table->t.path);
    for (int side = 0; code == APP_OK && side < 2; side++) {
        const char *word = side == 0 ? copy : comma + 1;
        int *column = side == 0 ? id : label;
        if ((*column = text_column(word, count, fields)) < 0) {
            char what[300];
            snprintf(what, sizeof what, "column in %.250s:", table->t.path);
            code = app_unknown(what, word, count, (const char *const *)fields, NULL);
        }
    }
    table->t = head;
    free(copy);
    return code;
}

/* Reads --labels FILE:ID,LABEL. */
static int read_table(label_table *table, const char *path, const char *names, const char *delimiter)
{
    char *fields[MAX_FIELDS];
    int id = 0, label = 0, count;
    int code = text_read(&table->t, path, 0);
    if (code == APP_OK)
        code = reader_delimiter(delimiter, &table->t.delimiter);
    if (code == APP_OK)
        code = label_columns(table, names, &id, &label);
    int64_t room = 1;
    for (size_t c = 0; code == APP_OK && c < table->t.size; c++)
        room += table->t.bytes[c] == '\n';
    if (code == APP_OK && !(table->pairs = malloc(2 * (size_t)room * sizeof *table->pairs)))
        code = app_fail(APP_MEMORY, "%s: out of memory", path);
    while (code == APP_OK && (count = text_next(&table->t, fields, MAX_FIELDS)) >= 0) {
        if (count <= id || count <= label)
            continue; /* an empty or short line names nothing */
        table->pairs[2 * table->count] = fields[id];
        table->pairs[2 * table->count++ + 1] = fields[label];
    }
    return code;
}

/* Gives each vertex its label, or its id where the table has none. */
static int label_vertices(project *p, const label_table *table)
{
    string_index index = {0};
    FtB_Labels ids = project_ids(p);
    const char **strings = calloc((size_t)p->vertices + 1, sizeof *strings);
    char *numbers = ids ? NULL : malloc(24 * ((size_t)p->vertices + 1));
    int code = APP_OK;
    int64_t found = 0;
    if (!strings || (!ids && !numbers) || !string_index_build(&index, table->count, id_at, table->pairs))
        code = app_fail(APP_MEMORY, "--labels: out of memory");
    for (int64_t v = 0; code == APP_OK && v < p->vertices; v++) {
        strings[v] = ids ? FtB_Labels_get(ids, v) : numbers + 24 * v;
        if (!ids)
            snprintf(numbers + 24 * v, 24, "%" PRId64, v + project_base(p));
        int64_t at = string_index_find(&index, strings[v]);
        if (at >= 0)
            strings[v] = table->pairs[2 * at + 1];
        found += at >= 0;
    }
    if (code == APP_OK && found == 0 && p->vertices > 0)
        code = app_fail(APP_INPUT, "--labels: no id of %s is one of the %s, such as '%s'", table->t.path,
                        p->onto, strings[0]);
    if (code == APP_OK)
        code = app_library_error(FtB_Labels_new(&p->titles, p->vertices, strings), APP_FAILURE);
    string_index_free(&index);
    free(strings);
    free(numbers);
    return code;
}

static int read_labels(project *p)
{
    label_table table = {0};
    char *path = strdup(p->values->labels), *colon = path ? strrchr(path, ':') : NULL;
    int code = APP_OK;
    if (!path)
        code = app_fail(APP_MEMORY, "out of memory");
    else if (!colon)
        code = app_fail(APP_USAGE, "--labels: '%s' is not FILE:ID,LABEL", path);
    else {
        *colon = '\0';
        code = read_table(&table, path, colon + 1, p->values->labels_delimiter);
    }
    if (code == APP_OK)
        code = label_vertices(p, &table);
    free(table.pairs);
    text_free(&table.t);
    free(path);
    return code;
}

/* ---- all of it */

static int read_matrix(project *p)
{
    double start = app_seconds();
    reader_values v = p->values->reader;
    v.header = p->named && v.header == 0 ? 1 : v.header;
    int code = reader_read(&v, p->input, &p->R, &p->rows, &p->cols, &p->found);
    p->read_seconds = app_seconds() - start;
    int64_t width = 0;
    if (code == APP_OK)
        code = app_library_error(FtB_Matrix_shape(p->R, &p->nrows, &p->ncols, &p->nvals, &width, NULL),
                                 APP_FAILURE);
    if (code == APP_OK && width > 1)
        code = app_fail(APP_INPUT, "%s: has %" PRId64 " values per entry; a projection takes one",
                        p->input_name, width);
    return code;
}

static void set_options(project *p)
{
    const project_values *v = p->values;
    FtB_Project_options *o = &p->options;
    p->weight = v->semiring ? v->semiring : v->weight ? v->weight : "count";
    o->epilogue = v->epilogue;
    o->where = v->where;
    o->use_min_weight = v->min_weight == v->min_weight; /* not NaN */
    o->min_weight = o->use_min_weight ? v->min_weight : 0;
    o->unweighted = v->unweighted;
    o->self_loops = v->self_loops;
    o->triangle = v->triangle;
    o->top_k = v->top_k;
    o->min_degree = v->min_degree;
    o->max_degree = v->max_degree;
    o->sources = p->sources;
    o->targets = p->targets;
}

int project_read(project *p)
{
    const project_values *v = p->values;
    int code = choose_side(p);
    p->input_name = strcmp(p->input, "-") == 0 ? "standard input" : p->input;
    if (code == APP_OK)
        code = read_matrix(p);
    if (code != APP_OK)
        return code;
    p->vertices = p->options.onto == FTB_COLS ? p->ncols : p->nrows;
    if (v->sources)
        code = read_vertices(p, v->sources, &p->sources, &p->options.nsources);
    if (code == APP_OK && v->targets)
        code = read_vertices(p, v->targets, &p->targets, &p->options.ntargets);
    if (code == APP_OK && v->labels)
        code = read_labels(p);
    set_options(p);
    return code;
}

void project_free(project *p)
{
    FtB_Plan_free(&p->plan);
    FtB_Labels_free(&p->titles);
    FtB_Labels_free(&p->rows);
    FtB_Labels_free(&p->cols);
    FtB_Matrix_free(&p->R);
    free(p->sources);
    free(p->targets);
    free(p->ids_path);
}

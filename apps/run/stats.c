/* featblas run --stats: what a run was, as text or JSON. What the library tells of each superstep (--explain)
 * is a table with a line of names, whose columns depend on the program; it is collected, and read here. */
#include "run/programs.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { STATS_JSON = 1, MOST = 16 }; /* choice of --stats; columns of the table */

/* The next word of a line, without its blanks; NULL at its end. */
static const char *word(const char *at, size_t *length)
{
    at += strspn(at, " ");
    *length = strcspn(at, " \n");
    return *length > 0 ? at : NULL;
}

static json_t *value(const char *text, size_t length)
{
    char *end;
    const double x = strtod(text, &end);
    if (end != text + length)
        return json_stringn(text, length);
    return memchr(text, '.', length) ? json_real(x) : json_integer((json_int_t)x);
}

static const char *next_line(const char *at)
{
    at += strcspn(at, "\n");
    return at + (*at == '\n');
}

/* A row of the table as an object, by the names in its first line. */
static json_t *step_of(const char *names, const char *line)
{
    json_t *step = json_object();
    size_t name, length;
    for (int c = 0; step && c < MOST && (names = word(names, &name)) && (line = word(line, &length)); c++) {
        char key[32];
        snprintf(key, sizeof key, "%.*s", (int)name, names);
        json_object_set_new(step, key, value(line, length));
        names += name;
        line += length;
    }
    return step;
}

/* All rows; an empty array where nothing was told. */
static json_t *steps_of(const char *table)
{
    json_t *steps = json_array();
    for (const char *line = next_line(table); steps && *line; line = next_line(line))
        json_array_append_new(steps, step_of(table, line));
    return steps;
}

/* The sum, and the most, of a column; false where no row has it. */
static bool total(json_t *steps, const char *name, int64_t *sum, int64_t *most)
{
    bool there = false;
    size_t s;
    json_t *step;
    *sum = *most = 0;
    json_array_foreach(steps, s, step)
    {
        const json_t *x = json_object_get(step, name);
        there = there || x;
        *sum += json_integer_value(x);
        *most = json_integer_value(x) > *most ? json_integer_value(x) : *most;
    }
    return there;
}

typedef struct result {
    int64_t nrows, ncols, nvals; /* nvals: of the graph */
    FtB_Type type;
    double bytes;
} result;

static GrB_Info look(const run_work *w, result *r)
{
    GrB_Info info = FtB_Matrix_shape(w->A, NULL, NULL, &r->nvals, NULL, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Block_shape(w->X, &r->nrows, &r->ncols, NULL, &r->type, NULL);
    r->bytes = (double)r->nrows * (double)r->ncols * (double)FtB_Type_size(r->type);
    return info;
}

static int stats_json(const run_work *w, const result *r, json_t *steps)
{
    return app_print_json(json_pack(
        "{s:{s:s, s:I, s:I}, s:s, s:I, s:O, s:{s:I, s:I, s:s, s:I}, s:f, s:f, s:I}", "input", "path", w->path,
        "vertices", (json_int_t)w->n, "nvals", (json_int_t)r->nvals, "program",
        w->program ? w->program->name : "own", w->what ? w->what : "supersteps", (json_int_t)w->supersteps,
        "steps", steps, "result", "nrows", (json_int_t)r->nrows, "ncols", (json_int_t)r->ncols, "type",
        FtB_Type_name(r->type), "bytes", (json_int_t)r->bytes, "read_seconds", w->read_seconds, "seconds",
        w->seconds, "peak_bytes", (json_int_t)app_peak_memory()));
}

static void stats_text(const run_work *w, const result *r, json_t *steps)
{
    char a[32], b[32];
    int64_t sum, most;
    printf("input            %s vertices, %s entries\n", app_thousands(a, w->n), app_thousands(b, r->nvals));
    printf("program          %s\n", w->program ? w->program->name : "of your own");
    printf("%-16s %s\n", w->what ? w->what : "supersteps", app_thousands(a, w->supersteps));
    if (total(steps, "active", &sum, &most))
        printf("frontier         at most %s vertices, %s in all\n", app_thousands(a, most),
               app_thousands(b, sum));
    if (total(steps, "edges", &sum, &most))
        printf("edges            at most %s of a frontier, %s in all\n", app_thousands(a, most),
               app_thousands(b, sum));
    printf("result           %s x %lld %s, %s\n", app_thousands(a, r->nrows), (long long)r->ncols,
           FtB_Type_name(r->type), app_bytes(b, r->bytes));
    printf("time             %.2f s, and %.2f s reading; peak %s\n", w->seconds, w->read_seconds,
           app_bytes(a, (double)app_peak_memory()));
}

int run_stats(const run_work *w, const char *table)
{
    result r;
    int code = app_library_error(look(w, &r), APP_OUTPUT);
    if (code != APP_OK)
        return code;
    app_end();
    json_t *steps = steps_of(table);
    if (!steps)
        return app_fail(APP_MEMORY, "out of memory");
    if (w->values->stats == STATS_JSON)
        code = stats_json(w, &r, steps);
    else
        stats_text(w, &r, steps);
    json_decref(steps);
    return code;
}

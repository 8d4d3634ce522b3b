/* featblas run --stats: what a run was, as text or JSON. What the library tells of each superstep (--explain)
 * is a table with a line of names, whose columns depend on the program; it is collected, and read here. */
#include "run/programs.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16 }; /* columns of the table */

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

/* The word of a line's column, from 0; NULL: it has fewer. */
static const char *word_at(const char *line, int column, size_t *length)
{
    for (int c = 0; (line = word(line, length)) && c < column; c++)
        line += *length;
    return line;
}

/* The sum, and the most, of a column, read where it stands: a table may have a million rows. False where no
 * row has it. */
static bool total(const char *table, const char *name, int64_t *sum, int64_t *most)
{
    int column = 0;
    size_t length;
    const char *at;
    bool there = false;
    *sum = *most = 0;
    while ((at = word_at(table, column, &length)) &&
           (length != strlen(name) || memcmp(at, name, length) != 0))
        column++;
    for (const char *line = next_line(table); at && *line; line = next_line(line)) {
        const char *text = word_at(line, column, &length);
        const int64_t x = text ? strtoll(text, NULL, 10) : 0;
        there = there || text;
        *sum += x;
        *most = x > *most ? x : *most;
    }
    return there;
}

static json_t *block_json(FtB_Block X)
{
    int64_t nrows, ncols;
    FtB_Type type;
    if (FtB_Block_shape(X, &nrows, &ncols, NULL, &type, NULL) != GrB_SUCCESS)
        return NULL;
    return json_pack("{s:I, s:I, s:s, s:I}", "nrows", (json_int_t)nrows, "ncols", (json_int_t)ncols, "type",
                     FtB_Type_name(type), "bytes",
                     (json_int_t)(nrows * ncols) * (json_int_t)FtB_Type_size(type));
}

static json_t *input_json(const run_facts *f, int64_t nrows, int64_t ncols, int64_t nvals)
{
    if (!f->errors)
        return json_pack("{s:s, s:I, s:I}", "path", f->path, "vertices", (json_int_t)nrows, "nvals",
                         (json_int_t)nvals);
    return json_pack("{s:s, s:I, s:I, s:I}", "path", f->path, "users", (json_int_t)nrows, "items",
                     (json_int_t)ncols, "nvals", (json_int_t)nvals);
}

static json_t *error_json(double rmse, int64_t count)
{
    return json_pack("{s:I, s:f}", "ratings", (json_int_t)count, "rmse", rmse);
}

/* What cf has beside the others. */
static void add_errors(json_t *root, const run_facts *f)
{
    json_object_set_new(root, "items", block_json(f->items));
    json_object_set_new(root, "trained", error_json(f->errors->trained, f->errors->ntrained));
    json_object_set_new(root, "held_out",
                        f->errors->nheld_out > 0 ? error_json(f->errors->held_out, f->errors->nheld_out)
                                                 : json_null());
    json_object_set_new(root, "offset", json_real(f->errors->offset));
}

static int stats_json(const run_facts *f, json_t *input, json_t *steps)
{
    json_t *root =
        json_pack("{s:o, s:s, s:I, s:O, s:o, s:f, s:f, s:I}", "input", input, "program", f->program, f->what,
                  (json_int_t)f->supersteps, "steps", steps, "result", block_json(f->X), "read_seconds",
                  f->read_seconds, "seconds", f->seconds, "peak_bytes", (json_int_t)app_peak_memory());
    if (root && f->errors)
        add_errors(root, f);
    return app_print_json(root);
}

static void print_block(const char *name, FtB_Block X)
{
    int64_t nrows = 0, ncols = 0;
    FtB_Type type = FTB_FP64;
    char a[32], b[32];
    (void)FtB_Block_shape(X, &nrows, &ncols, NULL, &type, NULL);
    printf("%-16s %s x %lld %s, %s\n", name, app_thousands(a, nrows), (long long)ncols, FtB_Type_name(type),
           app_bytes(b, (double)nrows * (double)ncols * (double)FtB_Type_size(type)));
}

static void print_errors(const run_errors *e)
{
    char a[32];
    printf("rmse             %.6f of %s ratings; about %.6g\n", e->trained, app_thousands(a, e->ntrained),
           e->offset);
    if (e->nheld_out > 0)
        printf("held out         %.6f of %s ratings\n", e->held_out, app_thousands(a, e->nheld_out));
}

static void print_steps(const char *table)
{
    char a[32], b[32];
    int64_t sum, most;
    if (total(table, "active", &sum, &most))
        printf("frontier         at most %s vertices, %s in all\n", app_thousands(a, most),
               app_thousands(b, sum));
    if (total(table, "edges", &sum, &most))
        printf("edges            at most %s of a frontier, %s in all\n", app_thousands(a, most),
               app_thousands(b, sum));
}

static void stats_text(const run_facts *f, int64_t nrows, int64_t ncols, int64_t nvals, const char *table)
{
    char a[32], b[32], c[32];
    if (f->errors)
        printf("input            %s users, %s items, %s ratings\n", app_thousands(a, nrows),
               app_thousands(b, ncols), app_thousands(c, nvals));
    else
        printf("input            %s vertices, %s entries\n", app_thousands(a, nrows),
               app_thousands(b, nvals));
    printf("program          %s\n", strcmp(f->program, "own") == 0 ? "of your own" : f->program);
    printf("%-16s %s\n", f->what, app_thousands(a, f->supersteps));
    print_steps(table);
    if (f->errors)
        print_errors(f->errors);
    print_block("result", f->X);
    if (f->items)
        print_block("items", f->items);
    printf("time             %.2f s, and %.2f s reading; peak %s\n", f->seconds, f->read_seconds,
           app_bytes(a, (double)app_peak_memory()));
}

int run_stats(const run_facts *f, const char *table)
{
    int64_t nrows, ncols, nvals;
    int code = app_library_error(FtB_Matrix_shape(f->A, &nrows, &ncols, &nvals, NULL, NULL), APP_OUTPUT);
    if (code != APP_OK)
        return code;
    app_end();
    if (!f->json) {
        stats_text(f, nrows, ncols, nvals, table);
        return APP_OK;
    }
    json_t *steps = steps_of(table);
    if (!steps)
        return app_fail(APP_MEMORY, "out of memory");
    code = stats_json(f, input_json(f, nrows, ncols, nvals), steps);
    json_decref(steps);
    return code;
}

/* featblas draw: pictures of a matrix: its pattern, its degrees, its graph, or its projection. */
#include "app.h"
#include "io/io.h"
#include "picture.h"
#include "reader.h"
#include "weight_words.h"

#include <string.h>

typedef struct draw_values {
    reader_values reader;
    const char *output, *title, *beside, *weight;
    int what, onto;
    double width;
} draw_values;

static const draw_values defaults = {.onto = -1};

enum { PATTERN, DEGREES, GRAPH, PROJECTION };

static const option draw_options[] = {
    {.heading = "Picture"},
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_FILE,
     .offset = offsetof(draw_values, output),
     .written = true,
     .form = FORM_PICTURE,
     .argument = "FILE",
     .help = "Write to FILE, whose name ends with .svg or .png."},
    {.name = "kind",
     .kind = OPTION_CHOICE,
     .offset = offsetof(draw_values, what),
     .argument = "KIND",
     .choices = "pattern|degrees|graph|projection",
     .help =
         "pattern: where the entries are. degrees: how many rows and columns have how many entries, both "
         "axes "
         "logarithmic. graph: vertices and edges; the two sides are two kinds of vertices unless the matrix "
         "is square. projection: the pattern before and after projecting. Default: pattern."},
    {.name = "beside",
     .kind = OPTION_FILE,
     .offset = offsetof(draw_values, beside),
     .argument = "FILE",
     .help = "pattern: draw the matrix in FILE beside the first one."},
    {.name = "title",
     .kind = OPTION_TEXT,
     .offset = offsetof(draw_values, title),
     .argument = "TEXT",
     .help = "Title. Default: the input's name."},
    {.name = "width",
     .kind = OPTION_REAL,
     .offset = offsetof(draw_values, width),
     .argument = "PIXELS",
     .help = "Scale the picture to this width. Default: as large as it needs."},
    {.heading = "Projection"},
    {.name = "onto",
     .kind = OPTION_CHOICE,
     .offset = offsetof(draw_values, onto),
     .argument = "SIDE",
     .choices = "cols|rows",
     .help = "projection: onto columns or rows. Default: cols."},
    {.name = "weight",
     .kind = OPTION_TEXT,
     .offset = offsetof(draw_values, weight),
     .argument = "NAME",
     .help = "projection: a weight's name or a semiring, as of featblas project. Default: count."},
    {.name = NULL}};

/* A matrix in the picture, and what it holds on to. */
typedef struct source {
    FtB_Matrix A;
    graph_names names;
    char title[256];
} source;

static void release(source *s)
{
    FtB_Matrix_free(&s->A);
    FtB_Labels_free(&s->names.rows);
    FtB_Labels_free(&s->names.cols);
}

static int read(source *s, const draw_values *v, const char *path, const char *title)
{
    reader_found found;
    const char *slash = strrchr(path, '/');
    const char *name = title ? title : strcmp(path, "-") == 0 ? "standard input" : slash ? slash + 1 : path;
    snprintf(s->title, sizeof s->title, "%s", name);
    s->names.path = path;
    s->names.lists = true;
    int code = reader_read(&v->reader, path, &s->A, &s->names.rows, &s->names.cols, &found);
    if (code == APP_OK)
        s->names.base = ftb_format_base(ftb_format_of(found.format));
    return code;
}

static int project(source *after, const draw_values *v, const source *before)
{
    FtB_Side onto = v->onto == 1 ? FTB_ROWS : FTB_COLS;
    const char *weight = v->weight ? v->weight : "count";
    FtB_Labels side = onto == FTB_COLS ? before->names.cols : before->names.rows;
    int64_t nrows, ncols;
    GrB_Info info = FtB_Matrix_shape(before->A, &nrows, &ncols, NULL, NULL, NULL);
    int64_t n = onto == FTB_COLS ? ncols : nrows;
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_new(&after->A, FTB_FP64, n, n, 1);
    if (info == GrB_SUCCESS)
        info = FtB_project(after->A, before->A, weight, FTB_PROJECT_OPTIONS(.onto = onto));
    after->names.base = before->names.base;
    after->names.rows = after->names.cols = side; /* borrowed */
    snprintf(after->title, sizeof after->title, "projected onto %s, %s",
             onto == FTB_COLS ? "columns" : "rows", weight);
    return graph_error(info, APP_FAILURE, &before->names);
}

static int check(const draw_values *v)
{
    if (!v->output)
        return app_fail(APP_USAGE, "draw needs --output FILE.svg or FILE.png");
    if (v->beside && v->what != PATTERN)
        return app_fail(APP_USAGE, "--beside means nothing to this --kind; it goes with pattern");
    if (v->what != PROJECTION && (v->weight || v->onto >= 0))
        return app_fail(APP_USAGE, "--%s means nothing to this --kind; it goes with projection",
                        v->weight ? "weight" : "onto");
    if (v->weight && !strchr(v->weight, ':') && weight_check(v->weight) != APP_OK)
        return APP_USAGE;
    if (v->width != 0 && !(v->width >= 100 && v->width <= 20000))
        return app_fail(APP_USAGE, "--width: %g is outside 100..20000", v->width);
    return APP_OK;
}

static int run_draw(const void *values, int count, char *const *operands)
{
    const draw_values *v = values;
    source s[2] = {{0}};
    draw_request r = {.count = v->beside || v->what == PROJECTION ? 2 : 1,
                      .width = v->width,
                      .kind = v->what == DEGREES ? DRAW_DEGREES
                              : v->what == GRAPH ? DRAW_GRAPH
                                                 : DRAW_PATTERN};
    (void)count;
    int code = check(v);
    if (code == APP_OK)
        code = read(&s[0], v, operands[0], v->title);
    if (code == APP_OK && v->beside)
        code = read(&s[1], v, v->beside, NULL);
    if (code == APP_OK && v->what == PROJECTION)
        code = project(&s[1], v, &s[0]);
    for (int k = 0; k < r.count && code == APP_OK; k++) {
        r.matrix[k].title = s[k].title;
        code = picture_matrix(&r.matrix[k], s[k].A, &s[k].names);
    }
    if (code == APP_OK)
        code = picture_write(&r, v->output);
    picture_release(&r.matrix[0]);
    picture_release(&r.matrix[1]);
    if (v->what == PROJECTION)
        s[1].names.rows = s[1].names.cols = NULL;
    release(&s[0]);
    release(&s[1]);
    return code;
}

const command command_draw = {
    .name = "draw",
    .operands = "INPUT|-",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "draw a matrix's pattern, degrees, graph or projection",
    .description =
        "Draws an SVG or PNG. Small patterns are drawn cell by cell, with names and values where they "
        "fit; large ones as a raster whose shade is the share of the entries present. A graph may "
        "have up to 3,000 vertices.",
    .examples = "  $ featblas draw ratings.csv --columns userId,movieId --kind degrees -o degrees.svg\n"
                "  $ featblas draw karate.mtx --kind graph -o karate.png\n"
                "  $ featblas draw ratings.csv --kind projection --weight jaccard -o before-after.png\n",
    .reads = true,
    .options = draw_options,
    .writes = true,
    .size = sizeof(draw_values),
    .defaults = &defaults,
    .run = run_draw};

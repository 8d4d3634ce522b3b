/* featblas sample: neighbourhoods of seeds, batch by batch: files of their layers, and how much was drawn. */
#include "app.h"
#include "core/draws.h"
#include "fanouts.h"
#include "file_names.h"
#include "io/io.h"
#include "reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct sample_values {
    reader_values reader;
    const char *graph, *seeds, *fanout, *output, *key;
    int64_t random, batch, seed, iterations;
    int sampler, format, replace, disjoint, once, self, edges;
    double threshold;
} sample_values;

static const sample_values defaults = {.fanout = "15,10", .batch = 1024, .seed = 1};

#define FIELD(name) offsetof(sample_values, name)

static const option sample_options[] = {
    {.heading = "Seeds"},
    {.name = "graph", .kind = OPTION_FILE, .offset = FIELD(graph), .argument = "FILE", .help = "The graph."},
    {.name = "seeds",
     .kind = OPTION_FILE,
     .offset = FIELD(seeds),
     .argument = "FILE",
     .help = "Vertices to start from, a number a line, as the graph's file numbers them, or .npy, from 0."},
    {.name = "random",
     .kind = OPTION_INTEGER,
     .offset = FIELD(random),
     .argument = "N",
     .low = 1,
     .help = "Start from N different vertices, drawn at random."},
    {.name = "batch",
     .kind = OPTION_INTEGER,
     .offset = FIELD(batch),
     .argument = "N",
     .low = 1,
     .help = "Seeds of a batch, in their order; the last one has the rest. Default: 1024."},
    {.heading = "Sampling"},
    {.name = "fanout",
     .kind = OPTION_TEXT,
     .offset = FIELD(fanout),
     .argument = "K,...",
     .help = "Picks of each vertex, for every hop from the seeds on; all: every entry. Default: 15,10."},
    {.name = "sampler",
     .kind = OPTION_CHOICE,
     .offset = FIELD(sampler),
     .argument = "NAME",
     .choices = FANOUTS_SAMPLERS,
     .help = "Which entries are picked. auto: weighted with --key, else uniform. threshold and bernoulli go "
             "with --fanout all. Default: auto."},
    {.name = "key",
     .kind = OPTION_TEXT,
     .offset = FIELD(key),
     .argument = "TEXT",
     .help = "Weight, value or probability of an entry: an expression over x, i, j, di, dj."},
    {.name = "threshold",
     .kind = OPTION_REAL,
     .offset = FIELD(threshold),
     .argument = "X",
     .help = "threshold: the least key that is kept."},
    {.name = "iterations",
     .kind = OPTION_INTEGER,
     .offset = FIELD(iterations),
     .argument = "N",
     .high = 1000,
     .help = "labor: iterations of importance, for fewer vertices. Values are corrected by their chances, as "
             "with "
             "fastgcn and ladies, whose K is that of all vertices together. Default: 0."},
    {.name = "replace",
     .kind = OPTION_SET,
     .offset = FIELD(replace),
     .value = 1,
     .help = "With replacement."},
    {.name = "disjoint",
     .kind = OPTION_SET,
     .offset = FIELD(disjoint),
     .value = 1,
     .help = "A tree for each seed, which shares no vertices with others."},
    {.name = "once",
     .kind = OPTION_SET,
     .offset = FIELD(once),
     .value = 1,
     .help = "Pick of a vertex once, by the hop after it was found, as PyG does."},
    {.name = "self",
     .kind = OPTION_SET,
     .offset = FIELD(self),
     .value = 1,
     .help = "An entry for each row's own vertex, too."},
    {.name = "seed",
     .kind = OPTION_INTEGER,
     .offset = FIELD(seed),
     .argument = "S",
     .low = 1,
     .help = "Seed of all draws. Default: 1."},
    {.heading = "Output"},
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_DIRECTORY,
     .offset = FIELD(output),
     .argument = "DIR",
     .help = "Write each batch's layers and vertices into this folder. Default: print statistics alone."},
    {.name = "format",
     .kind = OPTION_CHOICE,
     .offset = FIELD(format),
     .argument = "FORMAT",
     .choices = "npz|tsv",
     .help =
         "npz: scipy.sparse and .npy, which count from 0. tsv: texts, vertices as the graph's file numbers "
         "them. Default: npz."},
    {.name = "edges",
     .kind = OPTION_SET,
     .offset = FIELD(edges),
     .value = 1,
     .help = "Write the places of the layers' entries among the graph's, too, from 0."},
    {.name = NULL}};

typedef struct work {
    const sample_values *v;
    FtB_Matrix A;
    int64_t n, base;
    int64_t *seeds, nseeds;
    int64_t fanouts[FANOUTS];
    int nhops;
    int64_t batches, found[FANOUTS + 1], picked[FANOUTS]; /* of all batches */
    double seconds;
    char *path;
    size_t room;
} work;

/* ---- arguments */

static int check(const sample_values *v)
{
    if (!v->graph)
        return app_fail(APP_USAGE, "--graph is missing (featblas sample --help)");
    if (!v->seeds == !v->random)
        return app_fail(APP_USAGE, "%s: expected --seeds FILE or --random N",
                        v->seeds ? "both --seeds and --random are given" : "there are no seeds");
    if (v->edges && !v->output)
        return app_fail(APP_USAGE, "--edges means nothing without --output");
    return APP_OK;
}

static int read_graph(work *w)
{
    FtB_Labels rows = NULL, cols = NULL;
    reader_found found;
    int64_t ncols;
    int code = reader_read(&w->v->reader, w->v->graph, &w->A, &rows, &cols, &found);
    const bool labels = rows || cols;
    FtB_Labels_free(&rows);
    FtB_Labels_free(&cols);
    if (code != APP_OK)
        return code;
    if (labels)
        return app_fail(APP_INPUT,
                        "%s: an edge list, whose rows and columns have numbers apart; expected a square "
                        "matrix in mtx, npz or csr",
                        w->v->graph);
    code = app_library_error(FtB_Matrix_shape(w->A, &w->n, &ncols, NULL, NULL, NULL), APP_INPUT);
    if (code == APP_OK && w->n != ncols)
        return app_fail(APP_INPUT, "%s: %lld x %lld; expected as many rows as columns", w->v->graph,
                        (long long)w->n, (long long)ncols);
    w->base = ftb_format_base(ftb_format_of(found.format));
    return code;
}

static int read_seeds(work *w)
{
    FtB_Block X;
    FtB_Format found;
    int64_t rows, cols;
    void *values;
    GrB_Info info =
        FtB_Block_read(&X, w->v->seeds, FTB_BLOCK_READ_OPTIONS(.type = FTB_INT64, .found = &found));
    if (info == GrB_SUCCESS)
        info = FtB_Block_shape(X, &rows, &cols, NULL, NULL, &values);
    int code = app_library_error(info, APP_INPUT);
    if (code != APP_OK)
        return code;
    if (cols != 1 && rows > 0)
        code =
            app_fail(APP_INPUT, "%s: %lld columns; expected a number a line", w->v->seeds, (long long)cols);
    w->nseeds = rows;
    w->seeds = malloc(sizeof *w->seeds * (size_t)(rows + 1));
    if (code == APP_OK && !w->seeds)
        code = app_fail(APP_MEMORY, "out of memory");
    const int64_t base = found == FTB_NPY ? 0 : w->base;
    for (int64_t t = 0; code == APP_OK && t < rows; t++) {
        const int64_t id = ((const int64_t *)values)[t];
        w->seeds[t] = id - base;
        if (id < base || id - base >= w->n)
            code = app_fail(APP_INPUT, "%s: seed %lld is %lld; expected %lld to %lld", w->v->seeds,
                            (long long)t + 1, (long long)id, (long long)base, (long long)(w->n - 1 + base));
    }
    FtB_Block_free(&X);
    return code;
}

/* Different vertices, in the order in which they are drawn. */
static int draw_seeds(work *w)
{
    const int64_t count = w->v->random;
    if (count > w->n)
        return app_fail(APP_USAGE, "--random: %lld seeds of %lld vertices", (long long)count,
                        (long long)w->n);
    bool *taken = calloc((size_t)w->n, 1);
    w->seeds = malloc(sizeof *w->seeds * (size_t)count);
    const uint64_t key = ftb_random_mix((uint64_t)w->v->seed, 0, FTB_DRAW_TREE);
    for (uint64_t d = 0; taken && w->seeds && w->nseeds < count; d++) {
        const int64_t id = (int64_t)ftb_draw_below((uint64_t)w->n, key, d, 0, 0);
        if (!taken[id])
            w->seeds[w->nseeds++] = id;
        taken[id] = true;
    }
    const int code = taken && w->seeds ? APP_OK : app_fail(APP_MEMORY, "out of memory");
    free(taken);
    return code;
}

/* ---- output */

static const char *path_of(work *w, int64_t batch, const char *what, int hop, const char *ending)
{
    int length = snprintf(w->path, w->room, "%s/%06lld.%s", w->v->output, (long long)batch, what);
    if (hop >= 0)
        length += snprintf(w->path + length, w->room - (size_t)length, "%d", hop);
    snprintf(w->path + length, w->room - (size_t)length, ".%s", ending);
    return w->path;
}

/* A list as a column; `base` is added. */
static GrB_Info write_list(const char *path, FtB_Ids list, int64_t base)
{
    FtB_Block X;
    void *values;
    GrB_Info info = FtB_Block_new(&X, list.count, 1, FTB_INT64);
    if (info == GrB_SUCCESS)
        info = FtB_Block_shape(X, NULL, NULL, NULL, NULL, &values);
    for (int64_t t = 0; info == GrB_SUCCESS && t < list.count; t++)
        ((int64_t *)values)[t] = list.at[t] + base;
    if (info == GrB_SUCCESS)
        info = FtB_Block_write(X, path, FTB_FORMAT_AUTO, 0);
    FtB_Block_free(&X);
    return info;
}

static int write_batch(work *w, FtB_Sample s, int64_t batch)
{
    const bool text = w->v->format == 1;
    const char *list = text ? "tsv" : "npy";
    GrB_Info info =
        write_list(path_of(w, batch, "vertices", -1, list), FtB_Sample_vertices(s), text ? w->base : 0);
    for (int h = 0; h < w->nhops && info == GrB_SUCCESS; h++) {
        info = FtB_Matrix_write(FtB_Sample_layer(s, h), path_of(w, batch, "hop", h, text ? "tsv" : "npz"),
                                FTB_FORMAT_AUTO, NULL, NULL, 0);
        if (info == GrB_SUCCESS && w->v->edges)
            info = write_list(path_of(w, batch, "edges", h, list), FtB_Sample_edges(s, h), 0);
    }
    return app_library_error(info, APP_OUTPUT);
}

static int make_folder(work *w)
{
    if (!w->v->output)
        return APP_OK;
    w->room = strlen(w->v->output) + 64;
    w->path = malloc(w->room);
    if (!w->path)
        return app_fail(APP_MEMORY, "out of memory");
    if (mkdir(w->v->output, 0777) != 0 && errno != EEXIST)
        return app_fail(APP_OUTPUT, "%s: cannot make the folder: %s", w->v->output, strerror(errno));
    return APP_OK;
}

static void print(const work *w)
{
    char a[32], b[32], c[32];
    int64_t all = 0;
    app_end();
    printf("%s seeds in %s batches\n", app_thousands(a, w->nseeds), app_thousands(b, w->batches));
    printf("%-6s %15s %15s %15s\n", "hop", "edges", "new vertices", "duplicates");
    for (int h = 0; h < w->nhops; h++) {
        all += w->picked[h];
        printf("%-6d %15s %15s %15s\n", h, app_thousands(a, w->picked[h]), app_thousands(b, w->found[h + 1]),
               app_thousands(c, w->picked[h] - w->found[h + 1]));
    }
    printf("%s edges in %.3f s: %.2f million a second\n", app_thousands(a, all), w->seconds,
           w->seconds > 0 ? (double)all / w->seconds / 1e6 : 0);
}

/* ---- batches */

static int run_batch(work *w, int64_t batch)
{
    const sample_values *v = w->v;
    const int64_t first = batch * v->batch, rest = w->nseeds - first;
    const FtB_Sample_options o = {.size = sizeof o,
                                  .selector = (FtB_Selector)v->sampler,
                                  .key = v->key,
                                  .threshold = v->threshold,
                                  .seed = (uint64_t)v->seed,
                                  .batch = batch,
                                  .replace = v->replace,
                                  .iterations = (int)v->iterations,
                                  .disjoint = v->disjoint,
                                  .once = v->once,
                                  .self = v->self,
                                  .edges = v->edges};
    FtB_Sample s;
    const double start = app_seconds();
    int code = app_library_error(
        FtB_sample(&s, w->A, w->seeds + first, rest < v->batch ? rest : v->batch, w->fanouts, w->nhops, &o),
        APP_USAGE);
    w->seconds += app_seconds() - start;
    if (code != APP_OK)
        return code;
    for (int h = 0; h < w->nhops; h++) {
        w->picked[h] += FtB_Sample_edge_counts(s).at[h];
        w->found[h + 1] += FtB_Sample_vertex_counts(s).at[h + 1];
    }
    if (v->output)
        code = write_batch(w, s, batch);
    FtB_Sample_free(&s);
    return code;
}

static int run_sample(const void *values, int count, char *const *operands)
{
    work w = {.v = values};
    (void)count;
    (void)operands;
    int code = check(w.v);
    if (code == APP_OK)
        code = fanouts_parse(w.fanouts, &w.nhops, "--fanout", w.v->fanout);
    if (code == APP_OK)
        code = read_graph(&w);
    if (code == APP_OK)
        code = w.v->seeds ? read_seeds(&w) : draw_seeds(&w);
    if (code == APP_OK)
        code = make_folder(&w);
    w.batches = (w.nseeds + w.v->batch - 1) / w.v->batch;
    for (int64_t b = 0; b < w.batches && code == APP_OK; b++) {
        app_progress_note(-1, "batch %lld of %lld", (long long)b + 1, (long long)w.batches);
        code = run_batch(&w, b);
    }
    if (code == APP_OK)
        print(&w);
    FtB_Matrix_free(&w.A);
    free(w.seeds);
    free(w.path);
    return code;
}

const command command_sample = {
    .name = "sample",
    .summary = "draw neighbourhoods of vertices, for mini-batches",
    .description =
        "Draws a few neighbours of each seed, a few of theirs, and so on, batch by batch, and prints how "
        "many "
        "edges and vertices each hop gave. What is drawn depends on --seed, the number of the batch and the "
        "vertices alone.\n\n"
        "A folder gets, for batch 0, 000000.vertices.npy, the vertices by local number, and for each hop "
        "000000.hop0.npz, a matrix of local numbers: row r has what was picked of vertex r.",
    .examples = "  $ featblas sample --graph products.npz --seeds train.txt --fanout 15,10,5 --batch 1024 -o "
                "batches\n"
                "  $ featblas sample --graph products.npz --random 10240 --fanout 10,10,10\n",
    .reads = true,
    .options = sample_options,
    .writes = true,
    .size = sizeof(sample_values),
    .defaults = &defaults,
    .run = run_sample};

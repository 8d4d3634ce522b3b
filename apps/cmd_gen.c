/* featblas gen: benchmark graphs from a seed. */
#include "app.h"
#include "core/words.h"
#include "format_words.h"
#include "gen/gen.h"
#include "learn/labelled.h"

#include <math.h>
#include <omp.h>
#include <string.h>

typedef struct generator_values {
    common_values common;
    const char *output;
    int format;
    int64_t seed;
    int64_t rows, cols, edges, min_degree, scale, vertices, blocks; /* -1: not given */
    int64_t classes, features;
    double edge_factor, a, b, c, mixing, exponent; /* NaN: not given */
    double degree, homophily, mu, sigma, train, val;
    int values; /* -1: not given */
    int uniform, symmetric, loops, permute, shuffle_edges;
} generator_values;

static const generator_values defaults = {.output = "-",
                                          .seed = -1,
                                          .rows = -1,
                                          .cols = -1,
                                          .edges = -1,
                                          .min_degree = -1,
                                          .scale = -1,
                                          .vertices = -1,
                                          .blocks = -1,
                                          .classes = -1,
                                          .features = -1,
                                          .degree = NAN,
                                          .homophily = NAN,
                                          .mu = NAN,
                                          .sigma = NAN,
                                          .train = NAN,
                                          .val = NAN,
                                          .edge_factor = NAN,
                                          .a = NAN,
                                          .b = NAN,
                                          .c = NAN,
                                          .mixing = NAN,
                                          .exponent = NAN,
                                          .values = -1};

#define FIELD(name) offsetof(generator_values, name)
#define INTEGER(option, field, most, text)                                                                   \
    {                                                                                                        \
        .name = option, .kind = OPTION_INTEGER, .offset = FIELD(field), .argument = "N", .low = 0,           \
        .high = most, .help = text                                                                           \
    }
#define REAL(option, field, text)                                                                            \
    {                                                                                                        \
        .name = option, .kind = OPTION_REAL, .offset = FIELD(field), .argument = "X", .help = text           \
    }
#define FLAG(option, field, text)                                                                            \
    {                                                                                                        \
        .name = option, .kind = OPTION_SET, .offset = FIELD(field), .value = 1, .help = text                 \
    }

static option_form form_of_output(const void *values, const char *kind)
{
    if (kind && strcmp(kind, "csbm") == 0)
        return FORM_FOLDER;
    return ((const generator_values *)values)->format > 0 ? FORM_ANY : FORM_MATRIX;
}

static const option gen_options[] = {
    {.heading = "Output"},
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_FILE,
     .offset = FIELD(output),
     .written = true,
     .form_of = form_of_output,
     .argument = "FILE",
     .list = formats_written_endings,
     .help = "Write to FILE; its ending tells the format: {}; without one, and on standard output, which is "
             "the default, it is Matrix Market. "
             "csbm: the folder to make."},
    {.name = "format",
     .kind = OPTION_CHOICE,
     .offset = FIELD(format),
     .argument = "FORMAT",
     .words = formats_written,
     .list = formats_written_list,
     .help = "Write this format, {}, whatever the file's ending."},
    {.name = "seed",
     .kind = OPTION_INTEGER,
     .offset = FIELD(seed),
     .argument = "S",
     .low = 0,
     .help =
         "Seed; the graph depends on it and the options alone, on every machine. Default: 1; kron, uniform: "
         "27491095, which GAP has, and 4294967295 at most."},
    {.heading = "Size"},
    INTEGER("scale", scale, 30, "kron, uniform, rmat: 2^N vertices. Default: 16."),
    REAL("edge-factor", edge_factor,
         "kron, uniform, rmat, sbm, powerlaw, chung-lu: draw X edges per vertex. Default: 16."),
    INTEGER("vertices", vertices, INT32_MAX - 1,
            "sbm, csbm, powerlaw, chung-lu: N vertices. Default: 10000. The kinds whose names end in -like: "
            "scale the "
            "graph to N vertices, with the same mean degree."),
    INTEGER("rows", rows, INT32_MAX - 1, "bipartite: N rows. Default: 10000."),
    INTEGER("cols", cols, INT32_MAX - 1, "bipartite: N columns. Default: 1000."),
    INTEGER("edges", edges, INT64_C(1) << 40,
            "bipartite: exactly N distinct entries; others: draw N edges. Default of bipartite: "
            "16 per row."),
    {.heading = "Shape"},
    INTEGER("min-degree", min_degree, INT32_MAX - 1,
            "bipartite: at least N entries in each row. Default: 1."),
    FLAG("uniform", uniform, "bipartite: equal degrees and equal popularity, instead of skewed ones."),
    REAL("a", a, "rmat: share of the upper left quadrant. Default: 0.57."),
    REAL("b", b, "rmat: share of the upper right quadrant. Default: 0.19."),
    REAL("c", c, "rmat: share of the lower left quadrant. Default: 0.19."),
    INTEGER("blocks", blocks, INT32_MAX - 1, "sbm: N blocks. Default: 10."),
    REAL("mixing", mixing, "sbm: share of the edges that leave their block. Default: 0.1."),
    REAL("exponent", exponent,
         "powerlaw: exponent of the degree distribution, above 2. Default: 2.5. chung-lu: exponent of the "
         "weights, 0 to 1. Default: 0.5."),
    FLAG("symmetric", symmetric,
         "kron, uniform, rmat, sbm, powerlaw, chung-lu: store every edge both ways round."),
    FLAG("self-loops", loops, "rmat, sbm, powerlaw, chung-lu: keep edges from a vertex to itself."),
    FLAG("permute", permute, "rmat, sbm, powerlaw, chung-lu: shuffle the vertices' numbers."),
    {.heading = "Classes and features"},
    INTEGER("classes", classes, 65536, "csbm: N classes. Default: 2."),
    REAL("degree", degree, "csbm: mean degree of a vertex. Default: 16."),
    REAL("homophily", homophily,
         "csbm: h, -1 / (classes - 1) to 1: an edge joins equal classes with probability (1 + (classes - 1) "
         "h) / "
         "classes. Default: 0.5."),
    INTEGER("features", features, 65536, "csbm: N features. Default: 16."),
    REAL("mu", mu, "csbm: length of a class's mean; two classes have opposite ones. Default: 1."),
    REAL("sigma", sigma, "csbm: deviation of a feature from its mean. Default: 1."),
    REAL("train", train, "csbm: share of the vertices to train on. Default: 0.6."),
    REAL("val", val, "csbm: share of the vertices to validate on; the rest is for testing. Default: 0.2."),
    FLAG("shuffle-edges", shuffle_edges,
         "csbm: edges between other vertices, which say nothing about the classes."),
    {.heading = "Values"},
    {.name = "values",
     .kind = OPTION_CHOICE,
     .offset = FIELD(values),
     .argument = "KIND",
     .choices = "pattern|ratings|uniform|counts|weights",
     .help =
         "Values of the entries: pattern (none), ratings (0.5 to 5 in halves, as often as in MovieLens), "
         "uniform (in (0, 1)), counts (how often an edge was drawn; not for bipartite, rand-100k and "
         "road-like), or weights (1 to 255, as GAP has them; kron, uniform). Default: pattern; kron, uniform "
         "to .wsg: weights."},
    {.name = NULL}};

/* The kinds, as bits for the table of options below. */
enum {
    MOVIELENS = 1,
    RAND = 2,
    BIPARTITE = 4,
    RMAT = 8,
    SBM = 16,
    POWERLAW = 32,
    CHUNG_LU = 64,
    ROAD = 128,
    REDDIT = 256,
    PROTEINS = 512,
    PRODUCTS = 1024,
    ARXIV = 2048,
    CSBM = 4096,
    KRON = 8192,
    UNIFORM = 16384,
    SKEWED = POWERLAW | CHUNG_LU,
    DRAWN = RMAT | SBM | SKEWED,
    GAP = KRON | UNIFORM,
    LIKE = REDDIT | PROTEINS | PRODUCTS | ARXIV /* a data set, of edges drawn */
};
static const char *const kind_names[] = {"movielens-20m", "rand-100k",     "bipartite",     "rmat",
                                         "sbm",           "powerlaw",      "chung-lu",      "road-like",
                                         "reddit-like",   "proteins-like", "products-like", "arxiv-like",
                                         "csbm",          "kron",          "uniform"};
enum { NKINDS = sizeof kind_names / sizeof *kind_names };

/* An option that the kind would ignore is refused: it is a slip, and a benchmark would not tell. */
static int check_applies(const generator_values *v, int kind, const char *name)
{
    const struct {
        const char *option;
        bool given;
        int kinds;
    } rows[] = {
        {"scale", v->scale >= 0, RMAT | GAP},
        {"edge-factor", !isnan(v->edge_factor), DRAWN | GAP},
        {"vertices", v->vertices >= 0, SBM | SKEWED | LIKE | ROAD | CSBM},
        {"rows", v->rows >= 0, BIPARTITE},
        {"cols", v->cols >= 0, BIPARTITE},
        {"edges", v->edges >= 0, BIPARTITE | DRAWN},
        {"min-degree", v->min_degree >= 0, BIPARTITE},
        {"uniform", v->uniform, BIPARTITE},
        {"a", !isnan(v->a), RMAT},
        {"b", !isnan(v->b), RMAT},
        {"c", !isnan(v->c), RMAT},
        {"blocks", v->blocks >= 0, SBM},
        {"mixing", !isnan(v->mixing), SBM},
        {"exponent", !isnan(v->exponent), SKEWED},
        {"symmetric", v->symmetric, DRAWN | GAP},
        {"self-loops", v->loops, DRAWN},
        {"permute", v->permute, DRAWN},
        {"values", v->values >= 0, RAND | BIPARTITE | DRAWN | GAP | LIKE | ROAD},
        {"values counts", v->values == GEN_COUNTS, DRAWN | GAP | LIKE},
        {"values weights", v->values == GEN_WEIGHTS, GAP},
        {"format", v->format > 0, ~CSBM},
        {"classes", v->classes >= 0, CSBM},
        {"degree", !isnan(v->degree), CSBM},
        {"homophily", !isnan(v->homophily), CSBM},
        {"features", v->features >= 0, CSBM},
        {"mu", !isnan(v->mu), CSBM},
        {"sigma", !isnan(v->sigma), CSBM},
        {"train", !isnan(v->train), CSBM},
        {"val", !isnan(v->val), CSBM},
        {"shuffle-edges", v->shuffle_edges, CSBM},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        if (rows[r].given && !(rows[r].kinds & kind))
            return app_fail(APP_USAGE, "--%s means nothing to gen %s (featblas gen --help)", rows[r].option,
                            name);
    return APP_OK;
}

static int64_t or_default(int64_t given, int64_t otherwise) { return given >= 0 ? given : otherwise; }
static double or_real(double given, double otherwise) { return isnan(given) ? otherwise : given; }

static uint64_t seed_of(const generator_values *v) { return (uint64_t)or_default(v->seed, 1); }

static GrB_Info make_bipartite(gen_graph *g, const generator_values *v, gen_values values)
{
    gen_bipartite p = {.nrows = or_default(v->rows, 10000),
                       .ncols = or_default(v->cols, 1000),
                       .uniform = v->uniform,
                       .values = values};
    p.nvals = or_default(v->edges, 16 * p.nrows);
    p.min_degree = or_default(v->min_degree, p.nvals >= p.nrows);
    return gen_make_bipartite(g, &p, seed_of(v));
}

static gen_csbm csbm_of(const generator_values *v)
{
    return (gen_csbm){.nvertices = or_default(v->vertices, 10000),
                      .nclasses = or_default(v->classes, 2),
                      .nfeatures = or_default(v->features, 16),
                      .degree = or_real(v->degree, 16),
                      .homophily = or_real(v->homophily, 0.5),
                      .mu = or_real(v->mu, 1),
                      .sigma = or_real(v->sigma, 1),
                      .train = or_real(v->train, 0.6),
                      .val = or_real(v->val, 0.2),
                      .shuffled = v->shuffle_edges};
}

static FtB_Format format_of(const generator_values *v)
{
    return v->format == 0 ? format_of_output(v->output, FTB_MTX) : format_of_word(formats_written, v->format);
}

static double edges_drawn(const generator_values *v, int64_t vertices)
{
    return or_real(v->edge_factor, 16) * (double)vertices;
}

/* What GAP has where it writes a graph with weights. */
static gen_values gap_values(const generator_values *v)
{
    if (v->values >= 0)
        return (gen_values)v->values;
    return format_of(v) == FTB_WSG ? GEN_WEIGHTS : GEN_PATTERN;
}

static GrB_Info make_gap(gen_graph *g, const generator_values *v, int kind)
{
    const int scale = (int)or_default(v->scale, 16);
    const double drawn = edges_drawn(v, INT64_C(1) << scale);
    const gen_gap p = {.scale = scale,
                       .uniform = kind == UNIFORM,
                       .edges = {.count = drawn < 0x1p62 ? (int64_t)drawn : INT64_MAX,
                                 .symmetric = v->symmetric,
                                 .values = gap_values(v)}};
    return gen_make_gap(g, &p, (uint64_t)or_default(v->seed, GEN_GAP_SEED));
}

/* The kinds whose edges are drawn one by one. */
static GrB_Info make_drawn(gen_graph *g, const generator_values *v, int kind, gen_values values)
{
    const uint64_t seed = seed_of(v);
    const int scale = (int)or_default(v->scale, 16);
    const int64_t vertices = kind == RMAT ? INT64_C(1) << scale : or_default(v->vertices, 10000);
    const double drawn = edges_drawn(v, vertices);
    const gen_edges edges = {.count = v->edges >= 0    ? v->edges
                                      : drawn < 0x1p62 ? (int64_t)drawn
                                                       : INT64_MAX,
                             .symmetric = v->symmetric,
                             .loops = v->loops,
                             .permute = v->permute,
                             .values = values};
    if (kind == RMAT) {
        const gen_rmat p = {.scale = scale,
                            .a = or_real(v->a, 0.57),
                            .b = or_real(v->b, 0.19),
                            .c = or_real(v->c, 0.19),
                            .edges = edges};
        return gen_make_rmat(g, &p, seed);
    }
    if (kind == SBM) {
        const gen_sbm p = {.nvertices = vertices,
                           .nblocks = or_default(v->blocks, 10),
                           .mixing = or_real(v->mixing, 0.1),
                           .edges = edges};
        return gen_make_sbm(g, &p, seed);
    }
    if (kind == CHUNG_LU) {
        const gen_chung_lu p = {.nvertices = vertices, .exponent = or_real(v->exponent, 0.5), .edges = edges};
        return gen_make_chung_lu(g, &p, seed);
    }
    const gen_powerlaw p = {.nvertices = vertices, .exponent = or_real(v->exponent, 2.5), .edges = edges};
    return gen_make_powerlaw(g, &p, seed);
}

static GrB_Info generate(gen_graph *g, const generator_values *v, int kind, const char *name)
{
    const gen_values values = v->values < 0 ? GEN_PATTERN : (gen_values)v->values;
    if (kind == MOVIELENS)
        return gen_make_movielens(g, seed_of(v));
    if (kind == RAND)
        return gen_make_rand100k(g, values, seed_of(v));
    if (kind == BIPARTITE)
        return make_bipartite(g, v, values);
    if (kind & GAP)
        return make_gap(g, v, kind);
    if (kind & (LIKE | ROAD))
        return gen_make_like(g, name, v->vertices == 0 ? -1 : or_default(v->vertices, 0), values, seed_of(v));
    return make_drawn(g, v, kind, values);
}

/* About what making the graph holds: columns and values of its entries, before and after equal edges are
 * merged, and what is held per vertex. */
static double bytes_needed(const generator_values *v, int kind, const char *name)
{
    int64_t like_vertices;
    double entries;
    const double value = v->values > 0 ? 4 : 0;
    if (kind == MOVIELENS)
        return 20e6 * 8 + 165237 * 16;
    if (kind == RAND)
        return 48e6 * (4 + value) + 100000 * 12;
    if (kind == CSBM) { /* a triangle of the edges is made to be written */
        const gen_csbm p = csbm_of(v);
        return (double)p.nvertices * (p.degree * 12 + (double)p.nfeatures * 4 + 64);
    }
    if (kind == BIPARTITE) {
        double rows = (double)or_default(v->rows, 10000), cols = (double)or_default(v->cols, 1000);
        return (v->edges >= 0 ? (double)v->edges : 16 * rows) * (4 + value) + rows * 16 + cols * 36;
    }
    if (gen_like_size(name, or_default(v->vertices, 0), &like_vertices, &entries))
        return entries * (kind == ROAD ? 1 : 2) * (4 + value) + (double)like_vertices * 36;
    double vertices = kind & (RMAT | GAP) ? ldexp(1, (int)or_default(v->scale, 16))
                                          : (double)or_default(v->vertices, 10000);
    double drawn = v->edges >= 0 ? (double)v->edges : or_real(v->edge_factor, 16) * vertices;
    if (kind & GAP) { /* the list of edges, too */
        const double weight = gap_values(v) == GEN_PATTERN ? 0 : 4;
        return drawn * (8 + weight + (v->symmetric ? 2 : 1) * 2 * (4 + weight)) + vertices * 36;
    }
    return drawn * (v->symmetric ? 2 : 1) * 2 * (4 + value) + vertices * 36;
}

static int check_memory(const generator_values *v, int kind, const char *name)
{
    char limit[FTB_WORDS], needed[FTB_WORDS];
    const double bytes = bytes_needed(v, kind, name);
    if (v->common.memory_limit == 0 || bytes <= (double)v->common.memory_limit)
        return APP_OK;
    return app_fail(APP_MEMORY, "--memory-limit: %s is too small for this graph, which takes about %s",
                    ftb_bytes_text(limit, (double)v->common.memory_limit), ftb_bytes_text(needed, bytes));
}

static int save(const generator_values *v, const gen_graph *g, const char *name)
{
    char rows[32], cols[32], entries[32];
    double made = app_seconds();
    FtB_Matrix A;
    GrB_Info info = gen_matrix(&A, g);
    app_progress_yield(v->output);
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_write(A, v->output, format_of(v), NULL, NULL, 0);
    FtB_Matrix_free(&A);
    if (info != GrB_SUCCESS)
        return app_library_error(info, APP_OUTPUT);
    if (!v->common.quiet)
        fprintf(stderr, "%s: %s x %s, %s entries, made in %.1f s, written in %.1f s\n", name,
                app_thousands(rows, g->nrows), app_thousands(cols, g->ncols),
                app_thousands(entries, g->nvals), made, app_seconds() - made);
    return APP_OK;
}

/* Not a matrix but a folder. */
static int run_csbm(const generator_values *v)
{
    const gen_csbm p = csbm_of(v);
    gen_labelled s = {0};
    char vertices[32], edges[32];
    if (strcmp(v->output, "-") == 0)
        return app_fail(APP_USAGE, "gen csbm makes a folder: --output names it");
    const GrB_Info info = gen_make_csbm(&s, &p, seed_of(v));
    if (info != GrB_SUCCESS)
        return app_fail(info == GrB_OUT_OF_MEMORY ? APP_MEMORY : APP_USAGE, "%s", gen_error());
    const int code = labelled_save(v->output, &s);
    if (code == APP_OK && !v->common.quiet)
        fprintf(stderr, "csbm: %s vertices of %lld classes, %s edges, %lld features\n",
                app_thousands(vertices, p.nvertices), (long long)p.nclasses,
                app_thousands(edges, s.graph.nvals / 2), (long long)p.nfeatures);
    gen_labelled_free(&s);
    return code;
}

/* What the generator and the file would only refuse once all was drawn, or in words of their own. */
static int check_values(const generator_values *v, int kind)
{
    static const char *const names[] = {"pattern", "ratings", "uniform", "counts", "weights"};
    const double vertices = kind & (RMAT | GAP) ? ldexp(1, (int)or_default(v->scale, 16))
                                                : (double)or_default(v->vertices, 10000);
    const FtB_Format format = format_of(v);
    if (!isnan(v->edge_factor) && !(v->edge_factor >= 0 && v->edge_factor * vertices <= 0x1p40))
        return app_fail(APP_USAGE, "--edge-factor: %g; expected 0 or more, and 2^40 edges at most",
                        v->edge_factor);
    if (kind & GAP && v->seed > UINT32_MAX)
        return app_fail(APP_USAGE, "--seed: %lld is outside 0..%u, of which GAP's generator is",
                        (long long)v->seed, UINT32_MAX);
    if (v->values > 0 && format == FTB_SG)
        return app_fail(APP_USAGE, "--values %s: an .sg file has none; expected another format, such as .wsg",
                        names[v->values]);
    if ((v->values == GEN_RATINGS || v->values == GEN_UNIFORM) && format == FTB_WSG)
        return app_fail(APP_USAGE, "--values %s: a .wsg file has whole numbers; expected another format",
                        names[v->values]);
    return APP_OK;
}

static int run_gen(const void *values, int count, char *const *operands)
{
    const generator_values *v = values;
    const char *name = operands[0];
    int kind = 0, code;
    gen_graph g = {0};
    (void)count;
    for (int k = 0; k < NKINDS; k++)
        if (strcmp(kind_names[k], name) == 0)
            kind = 1 << k;
    if (!kind)
        return app_unknown("kind", name, NKINDS, kind_names, "featblas gen --help lists them");
    if ((code = check_applies(v, kind, name)) != APP_OK)
        return code;
    if ((code = check_values(v, kind)) != APP_OK)
        return code;
    if ((code = check_memory(v, kind, name)) != APP_OK)
        return code;
    if (v->common.threads > 0)
        omp_set_num_threads((int)v->common.threads);
    if (kind == CSBM)
        return run_csbm(v);
    GrB_Info info = generate(&g, v, kind, name);
    if (info == GrB_OUT_OF_MEMORY)
        return app_fail(APP_MEMORY, "%s", gen_error());
    if (info != GrB_SUCCESS)
        return app_fail(APP_USAGE, "%s", gen_error());
    code = save(v, &g, name);
    gen_free(&g);
    return code;
}

const command command_gen = {
    .name = "gen",
    .operands = "KIND",
    .min_operands = 1,
    .max_operands = 1,
    .operand_words = "movielens-20m|rand-100k|bipartite|rmat|sbm|powerlaw|chung-lu|road-like|reddit-like|"
                     "proteins-like|products-like|arxiv-like|csbm|kron|uniform",
    .summary = "make a benchmark graph from a seed, the same on every machine",
    .description =
        "KIND is one of these. docs/generators.md has the formulas.\n\n"
        "movielens-20m: 138,493 users x 26,744 items, 20 million ratings, skewed like MovieLens-20M.\n\n"
        "rand-100k: 100,000 vertices, 20,000 of degree 2,000 and 80,000 of degree 100.\n\n"
        "bipartite: rows of exact, skewed degrees drawing columns of skewed popularity.\n\n"
        "kron, uniform: the Kronecker and the uniform random graphs of the GAP benchmark suite, bit for bit; "
        ".sg and "
        ".wsg files are what its programs read.\n\n"
        "rmat: recursive quadrants, with the shares of Graph500 by default.\n\n"
        "sbm: stochastic block model; most edges stay in their block.\n\n"
        "powerlaw: Chung-Lu graph whose degrees follow a power law.\n\n"
        "chung-lu: both ends of an edge drawn with weights (rank + 1)^-exponent.\n\n"
        "reddit-like, proteins-like, products-like, arxiv-like: shuffled Chung-Lu graphs of these data sets' "
        "sizes.\n\n"
        "road-like: a grid with a share of its edges, 24 million vertices of mean degree 2.4.\n\n"
        "csbm: a folder with a graph, features, classes and a split, for train: edges and features both tell "
        "of the "
        "classes, by known amounts.",
    .examples =
        "  $ featblas gen movielens-20m -o ml20m.csr\n"
        "  $ featblas gen rmat --scale 18 --edge-factor 16 --symmetric -o rmat18.npz\n"
        "  $ featblas gen kron --scale 16 --symmetric -o kron16.sg\n"
        "  $ featblas gen sbm --vertices 60 --blocks 3 --edge-factor 4 --symmetric | featblas info -\n"
        "  $ featblas gen csbm --vertices 5000 --homophily 0.8 --features 32 --mu 1 -o csbm\n",
    .options = gen_options,
    .writes = true,
    .size = sizeof(generator_values),
    .defaults = &defaults,
    .run = run_gen};

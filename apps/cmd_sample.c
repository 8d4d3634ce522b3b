/* featblas sample: neighbourhoods of seeds, or walks from them, batch by batch: files of what was drawn, and
 * how much that was. */
#include "sample/sample_parts.h"

#include <string.h>

static const sample_values defaults = {.batch = 1024, .seed = 1};

#define FIELD(name) offsetof(sample_values, name)

static const option sample_options[] = {
    {.heading = "Seeds"},
    {.name = "graph", .kind = OPTION_FILE, .offset = FIELD(graph), .argument = "FILE", .help = "The graph."},
    {.name = "relation",
     .kind = OPTION_TEXTS,
     .offset = FIELD(relations),
     .argument = "NAME:SRC:DST=FILE",
     .help =
         "In place of --graph, again for each relation: a matrix with a row for each vertex of type DST and "
         "a column for each of type SRC."},
    {.name = "seeds",
     .kind = OPTION_FILE,
     .offset = FIELD(seeds),
     .argument = "FILE",
     .help = "Vertices to start from, a number a line, as the graph's file numbers them, or .npy, from 0."},
    {.name = "type",
     .kind = OPTION_TEXT,
     .offset = FIELD(type),
     .argument = "TYPE",
     .help = "With --relation: the type of the seeds. Default: that of the first relation's rows."},
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
     .help =
         "Picks of each vertex, for every hop from the seeds on; all: every entry. With --relation of each "
         "relation, or a list for each: 5,5/10,5. Default: 15,10."},
    {.name = "sampler",
     .kind = OPTION_CHOICE,
     .offset = FIELD(sampler),
     .argument = "NAME",
     .choices = FANOUTS_SAMPLERS "|last",
     .help = "Which entries are picked. auto: weighted with --key, else uniform. threshold and bernoulli go "
             "with --fanout all, last, the latest, with --times. Default: auto."},
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
    {.name = "times",
     .kind = OPTION_FILE,
     .offset = FIELD(times),
     .argument = "FILE|values",
     .help =
         "When each entry of the graph came: a whole number a line, by rows and, in these, columns, or .npy; "
         "values: the entries' own. A tree has none that is later than --until of its seed. Implies "
         "--disjoint."},
    {.name = "until",
     .kind = OPTION_FILE,
     .offset = FIELD(until),
     .argument = "T|FILE",
     .help = "The moment of all seeds, or of each, a whole number a line, or .npy."},
    {.name = "exclude",
     .kind = OPTION_FILE,
     .offset = FIELD(exclude),
     .argument = "FILE",
     .help = "Entries that are not there: a row and a column a line, as the graph's file numbers them, or a "
             "place a line, as --edges writes them; or .npy, from 0."},
    {.name = "exclude-reverse",
     .kind = OPTION_SET,
     .offset = FIELD(reverse),
     .value = 1,
     .help = "Nor are those the other way."},
    {.name = "seed",
     .kind = OPTION_INTEGER,
     .offset = FIELD(seed),
     .argument = "S",
     .low = 1,
     .help = "Seed of all draws. Default: 1."},
    {.heading = "Pairs without an entry"},
    {.name = "negative",
     .kind = OPTION_INTEGER,
     .offset = FIELD(negative),
     .argument = "K",
     .low = 1,
     .help = "Draw K columns, too, that the row of each seed has no entry for; with --replace they may come "
             "again."},
    {.name = "negative-global",
     .kind = OPTION_SET,
     .offset = FIELD(global),
     .value = 1,
     .help = "K pairs of all vertices in place of those of each seed, for each batch."},
    {.name = "negative-loops",
     .kind = OPTION_SET,
     .offset = FIELD(loops),
     .value = 1,
     .help = "Pairs of a vertex with itself count, too."},
    {.heading = "Walks"},
    {.name = "walk",
     .kind = OPTION_INTEGER,
     .offset = FIELD(walk),
     .argument = "STEPS",
     .low = 1,
     .help = "Walk along the graph's rows from each seed, in place of neighbourhoods; with --key by weight."},
    {.name = "walks",
     .kind = OPTION_INTEGER,
     .offset = FIELD(walks),
     .argument = "N",
     .low = 1,
     .help = "N walks from each seed. Default: 1."},
    {.name = "restart",
     .kind = OPTION_REAL,
     .offset = FIELD(restart),
     .argument = "P",
     .help = "The chance that a step goes back to the seed. Default: 0."},
    {.name = "p",
     .kind = OPTION_REAL,
     .offset = FIELD(p),
     .argument = "P",
     .help = "node2vec: steps back are as likely as they would be, divided by P. Default: 1."},
    {.name = "q",
     .kind = OPTION_REAL,
     .offset = FIELD(q),
     .argument = "Q",
     .help = "node2vec: and steps to what is no neighbour of the vertex before, divided by Q. Default: 1."},
    {.heading = "Output"},
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_DIRECTORY,
     .offset = FIELD(output),
     .form = FORM_FOLDER,
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

/* ---- arguments */

typedef struct given {
    const char *name;
    bool is;
} given;

/* The first that is given is refused: it has nothing to do with `what`. */
static int refuse(const given *list, size_t count, const char *what)
{
    for (size_t n = 0; n < count; n++)
        if (list[n].is)
            return app_fail(APP_USAGE, "--%s means nothing %s", list[n].name, what);
    return APP_OK;
}
#define REFUSE(list, what) refuse(list, sizeof(list) / sizeof *(list), what)

static int check_needs(const sample_values *v)
{
    const struct {
        const char *name, *needs;
        bool is, there;
    } list[] = {{"edges", "output", v->edges, v->output != NULL},
                {"until", "times", v->until != NULL, v->times != NULL},
                {"exclude-reverse", "exclude", v->reverse, v->exclude != NULL},
                {"negative-global", "negative", v->global, v->negative > 0},
                {"negative-loops", "negative", v->loops, v->negative > 0},
                {"type", "relation", v->type != NULL, v->relations.count > 0}};
    for (size_t n = 0; n < sizeof list / sizeof *list; n++)
        if (list[n].is && !list[n].there)
            return app_fail(APP_USAGE, "--%s means nothing without --%s", list[n].name, list[n].needs);
    if (v->times && !v->until)
        return app_fail(APP_USAGE, "--times: the seeds' moments are missing; expected --until T|FILE");
    return APP_OK;
}

static int check_walks(const sample_values *v)
{
    const given hops[] = {{"relation", v->relations.count > 0},
                          {"fanout", v->fanout != NULL},
                          {"sampler", v->sampler != 0},
                          {"threshold", v->threshold < 0 || v->threshold > 0},
                          {"iterations", v->iterations > 0},
                          {"replace", v->replace},
                          {"disjoint", v->disjoint},
                          {"once", v->once},
                          {"self", v->self},
                          {"times", v->times != NULL},
                          {"exclude", v->exclude != NULL},
                          {"negative", v->negative > 0},
                          {"edges", v->edges}};
    const given walks[] = {{"walks", v->walks > 0},
                           {"restart", v->restart < 0 || v->restart > 0},
                           {"p", v->p < 0 || v->p > 0},
                           {"q", v->q < 0 || v->q > 0}};
    return v->walk ? REFUSE(hops, "with --walk") : REFUSE(walks, "without --walk");
}

static int check_relations(const sample_values *v)
{
    const bool file = v->times && strcmp(v->times, "values") != 0;
    const given list[] = {
        {"graph", v->graph != NULL}, {"exclude", v->exclude != NULL}, {"negative", v->negative > 0}};
    if (v->relations.count == 0)
        return v->graph ? APP_OK
                        : app_fail(APP_USAGE, "--graph is missing, or --relation (featblas sample --help)");
    if (file)
        return app_fail(APP_USAGE, "--times: with --relation expected values");
    return REFUSE(list, "with --relation");
}

static int check(const sample_values *v)
{
    int code = check_relations(v);
    if (code == APP_OK && !v->seeds == !v->random)
        return app_fail(APP_USAGE, "%s: expected --seeds FILE or --random N",
                        v->seeds ? "both --seeds and --random are given" : "there are no seeds");
    if (code == APP_OK)
        code = check_needs(v);
    return code == APP_OK ? check_walks(v) : code;
}

/* ---- batches */

static FtB_Sample_options options_of(const sample_work *w, int64_t batch)
{
    const sample_values *v = w->v;
    FtB_Sample_options o = {.size = sizeof o,
                            .selector = (FtB_Selector)v->sampler,
                            .key = v->key,
                            .threshold = v->threshold,
                            .seed = (uint64_t)v->seed,
                            .batch = batch,
                            .replace = v->replace,
                            .iterations = (int)v->iterations,
                            .disjoint = v->disjoint || v->times,
                            .once = v->once,
                            .self = v->self,
                            .edges = v->edges,
                            .exclude = FtB_Ids_of(w->excluded, w->nexcluded),
                            .reverses = v->reverse};
    if (v->times) {
        o.times = FtB_Ids_of(w->times, w->ntimes);
        o.until = FtB_Ids_of(w->until + batch * v->batch, sample_batch_size(w, batch));
    }
    return o;
}

static int batch_of_relations(sample_work *w, int64_t batch)
{
    const FtB_Sample_options o = options_of(w, batch);
    FtB_Ids seeds[2 * OPTION_TEXTS_MOST] = {{NULL, 0}};
    FtB_Relation_sample s;
    seeds[w->type] = FtB_Ids_of(w->seeds + batch * w->v->batch, sample_batch_size(w, batch));
    const double start = app_seconds();
    int code =
        graph_error(FtB_Relations_sample(&s, w->list, seeds, w->fanouts, w->nhops, &o), APP_USAGE, &w->names);
    w->seconds += app_seconds() - start;
    for (int h = 0; h < w->nhops && code == APP_OK; h++) {
        for (int r = 0; r < w->nrelations; r++)
            w->picked[h] += FtB_Relation_sample_edge_counts(s, r).at[h];
        for (int t = 0; t < FtB_Relations_types(w->list); t++)
            w->found[h + 1] += FtB_Relation_sample_vertex_counts(s, t).at[h + 1];
    }
    if (code == APP_OK && w->v->output)
        code = sample_write_relations(w, s, batch);
    FtB_Relation_sample_free(&s);
    return code;
}

static int batch_of_graph(sample_work *w, int64_t batch)
{
    const FtB_Sample_options o = options_of(w, batch);
    FtB_Sample s;
    const double start = app_seconds();
    int code = graph_error(FtB_sample(&s, w->A, w->seeds + batch * w->v->batch, sample_batch_size(w, batch),
                                      w->fanouts, w->nhops, &o),
                           APP_USAGE, &w->names);
    w->seconds += app_seconds() - start;
    for (int h = 0; h < w->nhops && code == APP_OK; h++) {
        w->picked[h] += FtB_Sample_edge_counts(s).at[h];
        w->found[h + 1] += FtB_Sample_vertex_counts(s).at[h + 1];
    }
    if (code == APP_OK && w->v->output)
        code = sample_write(w, s, batch);
    FtB_Sample_free(&s);
    return code;
}

static int run_batch(sample_work *w, int64_t batch)
{
    if (w->v->walk)
        return sample_batch_walks(w, batch);
    const int code = w->list ? batch_of_relations(w, batch) : batch_of_graph(w, batch);
    return code == APP_OK && w->v->negative ? sample_batch_negative(w, batch) : code;
}

static int run_sample(const void *values, int count, char *const *operands)
{
    sample_work w = {.v = values};
    (void)count;
    (void)operands;
    int code = check(w.v);
    if (code == APP_OK)
        code = sample_read(&w);
    if (code == APP_OK)
        code = sample_make_folder(&w);
    for (int64_t b = 0; b < w.batches && code == APP_OK; b++) {
        app_progress_note(-1, "batch %lld of %lld", (long long)b + 1, (long long)w.batches);
        code = run_batch(&w, b);
    }
    if (code == APP_OK)
        sample_print(&w);
    sample_end(&w);
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
        "000000.hop0.npz, a matrix of local numbers: row r has what was picked of vertex r. With trees "
        "(--disjoint) "
        "000000.trees.npy has each vertex's seed; --negative gives 000000.negative.npz, with a row for each "
        "seed, "
        "or all vertices', and --walk only 000000.walks.npy, a walk a row, -1 from where it ended. With "
        "--relation "
        "files are 000000.TYPE.vertices.npy and 000000.SRC-NAME-DST.hop0.npz.",
    .examples =
        "  $ featblas sample --graph products.npz --seeds train.txt --fanout 15,10,5 --batch 1024 -o "
        "batches\n"
        "  $ featblas sample --graph products.npz --random 10240 --fanout 10,10,10\n"
        "  $ featblas sample --relation bought:item:item=products.npz --relation seen:item:item=products.npz "
        "--seeds train.txt --fanout 5,5/10,5 -o relations\n"
        "  $ featblas sample --graph products.npz --random 1000 --walk 20 --walks 10 --p 0.5 --q 2 -o "
        "walks\n",
    .reads = true,
    .options = sample_options,
    .writes = true,
    .size = sizeof(sample_values),
    .defaults = &defaults,
    .run = run_sample};

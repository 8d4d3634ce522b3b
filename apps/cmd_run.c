/* featblas run: a vertex program over a graph, one of the library's or the user's own texts; the state goes
 * to a file. */
#include "app.h"
#include "file_names.h"
#include "format_words.h"
#include "io/io.h"
#include "reader.h"
#include "run/programs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROGRAMS = 32 }; /* more than there are */

#define FIELD(name) offsetof(run_values, name)

static const run_values defaults = {.direction = -1,
                                    .definition = -1,
                                    .seed = -1,
                                    .method = -1,
                                    .damping = NAN,
                                    .tolerance = NAN,
                                    .delta = NAN,
                                    .lambda = NAN,
                                    .rate = NAN,
                                    .offset = NAN,
                                    .held_out = NAN,
                                    .stats = -1};

static const option run_options[] = {
    {.heading = "Programs"},
    {.name = "sources",
     .kind = OPTION_TEXT,
     .offset = FIELD(sources),
     .argument = "LIST|FILE",
     .help = "bfs, sssp: where to start, a column each: numbers with commas between them, or a file of a "
             "number a line, as "
             "the graph's file numbers vertices. pagerank: for whom, a column each; default: for all alike. "
             "betweenness: whose paths count, each once. Of programs of your own: who "
             "sends first. Default of these: all of them."},
    {.name = "samples",
     .kind = OPTION_INTEGER,
     .offset = FIELD(samples),
     .argument = "K",
     .low = 1,
     .help = "betweenness: K sources, drawn at random."},
    {.name = "seed",
     .kind = OPTION_INTEGER,
     .offset = FIELD(seed),
     .argument = "S",
     .low = 0,
     .help = "Of --samples; cf: of the first guess, and of who is held out. Default: 0."},
    {.name = "normalized",
     .kind = OPTION_SET,
     .offset = FIELD(normalized),
     .value = 1,
     .help =
         "betweenness: means over all pairs of a source and a vertex, as networkx has them, and not sums."},
    {.name = "undirected",
     .kind = OPTION_SET,
     .offset = FIELD(undirected),
     .value = 1,
     .help = "clustering: an edge of one direction is there in both."},
    {.name = "definition",
     .kind = OPTION_CHOICE,
     .offset = FIELD(definition),
     .argument = "NAME",
     .choices = "gap|networkx|ldbc",
     .help = "pagerank: gap, the GAP benchmark's, networkx, or ldbc, LDBC Graphalytics'. Default: gap."},
    {.name = "method",
     .kind = OPTION_CHOICE,
     .offset = FIELD(method),
     .argument = "NAME",
     .choices = "rounds|changes|sweeps|sgd|als|gradient",
     .help =
         "pagerank: how ranks are found: rounds over all vertices; changes, of which vertices send "
         "those that matter: with --from, after few changes of a graph; or sweeps in place, which are fewer. "
         "Default: rounds. cf: sgd, stochastic gradient descent, als, alternating least squares, or "
         "gradient, "
         "a step of all ratings together. Default: sgd."},
    {.name = "from",
     .kind = OPTION_FILE,
     .offset = FIELD(from),
     .argument = "FILE",
     .help = "pagerank: ranks to begin with, as .npy or .mtx from an earlier run."},
    {.name = "damping",
     .kind = OPTION_REAL,
     .offset = FIELD(damping),
     .argument = "D",
     .help = "pagerank: the chance to follow a link. Default: 0.85."},
    {.name = "tolerance",
     .kind = OPTION_REAL,
     .offset = FIELD(tolerance),
     .argument = "X",
     .help = "pagerank: by how much all ranks together may still change; networkx: of each. Default: 1e-4; "
             "1e-6. ldbc has rounds."},
    {.name = "factors",
     .kind = OPTION_INTEGER,
     .offset = FIELD(factors),
     .argument = "K",
     .low = 1,
     .high = 512,
     .help = "cf: how many a user and an item have. Default: 32."},
    {.name = "lambda",
     .kind = OPTION_REAL,
     .offset = FIELD(lambda),
     .argument = "X",
     .help = "cf: how much large factors cost, of each rating. Default: 0.05."},
    {.name = "rate",
     .kind = OPTION_REAL,
     .offset = FIELD(rate),
     .argument = "X",
     .help = "cf, sgd and gradient: of a step. Default: 0.02, of gradient what the ratings allow."},
    {.name = "offset",
     .kind = OPTION_REAL,
     .offset = FIELD(offset),
     .argument = "X",
     .help = "cf: a rating is about X plus the dot product of its factors. Default: the mean."},
    {.name = "held-out",
     .kind = OPTION_REAL,
     .offset = FIELD(held_out),
     .argument = "P",
     .help = "cf: leave each rating out with this chance, and say how well these are predicted."},
    {.name = "items",
     .kind = OPTION_FILE,
     .offset = FIELD(items),
     .argument = "FILE",
     .written = true,
     .form = FORM_BLOCK,
     .help = "cf: write the items' factors, as --output writes the users'."},
    {.heading = "A program of your own"},
    {.name = "send",
     .kind = OPTION_TEXT,
     .offset = FIELD(send),
     .argument = "TEXT",
     .help = "The message of a vertex, over its state, id, n, outdegree, indegree, round."},
    {.name = "combine",
     .kind = OPTION_TEXT,
     .offset = FIELD(combine),
     .argument = "TEXT",
     .help = "Reducer and text, such as 'min : message + edge'; the receiver's state is dst.FIELD."},
    {.name = "apply",
     .kind = OPTION_TEXT,
     .offset = FIELD(apply),
     .argument = "TEXT",
     .help = "FIELD = text; ... over received and the old state."},
    {.name = "init",
     .kind = OPTION_TEXT,
     .offset = FIELD(init),
     .argument = "TEXT",
     .help = "FIELD = text; ... over id, n, outdegree, indegree: the state to begin with, each field a "
             "column of fp64."},
    {.name = "active",
     .kind = OPTION_TEXT,
     .offset = FIELD(active),
     .argument = "TEXT",
     .help = "Who sends next, over new.FIELD, old.FIELD, changed. Default: changed; of sums: all."},
    {.name = "settled",
     .kind = OPTION_TEXT,
     .offset = FIELD(settled),
     .argument = "TEXT",
     .help = "Who takes no messages any more, such as 'level >= 0'. Default: nobody."},
    {.name = "until",
     .kind = OPTION_TEXT,
     .offset = FIELD(until),
     .argument = "TEXT",
     .help = "Ends the run where it is true, such as 'sum(abs(new.x - old.x)) < 1e-6'."},
    {.name = "priority",
     .kind = OPTION_TEXT,
     .offset = FIELD(priority),
     .argument = "TEXT",
     .help = "Who of the active vertices sends first, such as 'dist': those of the lowest bucket. Default: "
             "all at once."},
    {.name = "delta",
     .kind = OPTION_REAL,
     .offset = FIELD(delta),
     .argument = "X",
     .help = "The width of a bucket of --priority."},
    {.name = "direction",
     .kind = OPTION_CHOICE,
     .offset = FIELD(direction),
     .argument = "NAME",
     .choices = "out|in|both",
     .help = "Along which edges messages go: out, in or both. Default: out."},
    {.heading = "Runs"},
    {.name = "rounds",
     .kind = OPTION_INTEGER,
     .offset = FIELD(rounds),
     .argument = "N",
     .low = 1,
     .help =
         "Supersteps at most; pagerank: 100 by default, after which ranks that still change are an error; "
         "communities, and pagerank by ldbc: rounds, 10 by default; cf: passes over "
         "the ratings, 20, of als 10 by default."},
    {.name = "explain",
     .kind = OPTION_SET,
     .offset = FIELD(explain),
     .value = 1,
     .help = "Print a line for each superstep: active vertices, edges, direction, way, seconds."},
    {.name = "stats",
     .kind = OPTION_CHOICE,
     .offset = FIELD(stats),
     .argument = "text|json",
     .choices = "text|json",
     .help = "Print statistics of the run on standard output: supersteps, frontiers, edges, seconds, memory; "
             "as json "
             "also those of each superstep."},
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_FILE,
     .offset = FIELD(output),
     .argument = "FILE",
     .written = true,
     .form = FORM_BLOCK,
     .list = formats_block_endings,
     .help = "Write a row for each vertex; the name's ending, {}, tells the format. Tables have its number, "
             "as the graph's file has it; .npy and .mtx have not. cf: of each user, with ids. -: standard "
             "output. Default: say how many supersteps, or triangles, there were."},
    {.name = NULL}};

/* ---- arguments */

/* Whether --sources are numbers, and not a file. */
static bool is_list(const char *sources) { return sources[strspn(sources, "0123456789,")] == '\0'; }
static bool to_stdout(const run_values *v) { return files_is_stdout(v->output) || files_is_stdout(v->items); }

/* What options say beside each other, and numbers that a program would take for a default. */
static int check_values(const run_work *w)
{
    const run_values *v = w->values;
    const bool is_cf = w->program && !w->program->run;
    if (w->program && w->program->starts && !v->sources)
        return app_fail(APP_USAGE, "%s starts somewhere: --sources is missing", w->program->name);
    if (v->sources && v->samples > 0)
        return app_fail(APP_USAGE, "--samples: --sources says which they are");
    if (v->seed >= 0 && v->samples == 0 && !is_cf)
        return app_fail(APP_USAGE, "--seed: there are no --samples to draw");
    if ((v->priority != NULL) == (isnan(v->delta) != 0))
        return app_fail(APP_USAGE, "--%s is missing: priorities have buckets of some width",
                        v->priority ? "delta" : "priority");
    if (!isnan(v->delta) && !(v->delta > 0 && isfinite(v->delta)))
        return app_fail(APP_USAGE, "--delta: %g; expected more than 0", v->delta);
    if (!isnan(v->damping) && !(v->damping > 0 && v->damping <= 1))
        return app_fail(APP_USAGE, "--damping: %g; expected more than 0, and 1 at most", v->damping);
    if (!isnan(v->tolerance) && !(v->tolerance > 0 && isfinite(v->tolerance)))
        return app_fail(APP_USAGE, "--tolerance: %g; expected more than 0", v->tolerance);
    if (v->damping >= 1 && v->method > FTB_PAGERANK_ROUNDS)
        return app_fail(APP_USAGE, "--damping: ranks of 1 are those of --method rounds");
    if (!isnan(v->tolerance) && v->definition == FTB_PAGERANK_LDBC)
        return app_fail(APP_USAGE, "--tolerance: the ranks of ldbc end after --rounds");
    if (v->method >= 0 && (v->method >= RUN_SGD) != is_cf)
        return app_fail(APP_USAGE, "--method: of %s it is %s", w->program->name,
                        is_cf ? "sgd, als or gradient" : "rounds, changes or sweeps");
    if (v->method > FTB_PAGERANK_ROUNDS && v->definition == FTB_PAGERANK_LDBC)
        return app_fail(APP_USAGE, "--method: the ranks of ldbc are those of rounds");
    if (v->from && v->definition == FTB_PAGERANK_LDBC)
        return app_fail(APP_USAGE, "--from: the ranks of ldbc begin as all alike");
    return APP_OK;
}

/* Options that the program has nothing to do with are refused. */
static int check_options(const run_work *w)
{
    static const char own[] = " sources active settled until priority delta direction rounds explain ";
    const run_values *v = w->values;
    const struct {
        const char *option;
        bool given;
    } rows[] = {{"sources", v->sources != NULL},    {"definition", v->definition >= 0},
                {"method", v->method >= 0},         {"from", v->from != NULL},
                {"damping", !isnan(v->damping)},    {"tolerance", !isnan(v->tolerance)},
                {"active", v->active != NULL},      {"settled", v->settled != NULL},
                {"until", v->until != NULL},        {"priority", v->priority != NULL},
                {"delta", !isnan(v->delta)},        {"direction", v->direction >= 0},
                {"samples", v->samples > 0},        {"seed", v->seed >= 0},
                {"normalized", v->normalized != 0}, {"undirected", v->undirected != 0},
                {"rounds", v->rounds > 0},          {"explain", v->explain != 0},
                {"factors", v->factors > 0},        {"lambda", !isnan(v->lambda)},
                {"rate", !isnan(v->rate)},          {"offset", !isnan(v->offset)},
                {"held-out", !isnan(v->held_out)},  {"items", v->items != NULL}};
    const char *takes = w->program ? w->program->options : own;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        char word[32];
        snprintf(word, sizeof word, " %s ", rows[r].option);
        if (rows[r].given && !strstr(takes, word))
            return app_fail(APP_USAGE, "--%s means nothing to %s", rows[r].option,
                            w->program ? w->program->name : "a program of your own");
    }
    return check_values(w);
}

static int find_program(const run_program **program, const char *name)
{
    const char *names[PROGRAMS];
    for (int p = 0; p < run_programs_count; p++) {
        names[p] = run_programs[p].name;
        if (strcmp(names[p], name) == 0) {
            *program = &run_programs[p];
            return APP_OK;
        }
    }
    return app_unknown("program", name, run_programs_count, names, "featblas run --help lists them");
}

/* A list such as 7,12. */
static int parse_sources(run_work *w)
{
    const char *text = w->values->sources;
    w->nsources = 1;
    for (const char *at = text; *at; at++)
        w->nsources += *at == ',';
    w->sources = malloc(sizeof *w->sources * (size_t)w->nsources);
    if (!w->sources)
        return app_fail(APP_MEMORY, "out of memory");
    for (int64_t t = 0; t < w->nsources; t++) {
        char *end;
        errno = 0;
        w->sources[t] = strtoll(text, &end, 10);
        if (end == text || errno)
            return app_fail(APP_USAGE, "--sources: '%s' is no list of numbers such as 7,12",
                            w->values->sources);
        text = *end ? end + 1 : end;
    }
    return APP_OK;
}

/* Before the graph is read: a list, or a file that is there. */
static int check_sources(run_work *w)
{
    const char *text = w->values->sources;
    if (is_list(text))
        return parse_sources(w);
    if (strcmp(text, "-") != 0 && text[strspn(text, "-+.,0123456789")] == '\0' && access(text, F_OK) != 0)
        return app_fail(APP_USAGE, "--sources: '%s' is no list of numbers such as 7,12, and no file", text);
    return files_check_input("sources", text);
}

static int check(run_work *w, int count, char *const *operands)
{
    const run_values *v = w->values;
    const bool own = v->send || v->combine || v->apply || v->init;
    if (own && (!v->send || !v->combine || !v->apply || !v->init))
        return app_fail(APP_USAGE,
                        "--%s is missing: a program of your own has --send, --combine, --apply and --init",
                        !v->send      ? "send"
                        : !v->combine ? "combine"
                        : !v->apply   ? "apply"
                                      : "init");
    if (own != (count == 1))
        return own ? app_fail(APP_USAGE, "'%s': a program has a name, or texts of your own", operands[0])
                   : app_fail(APP_USAGE, "expected the name of a program and a graph (featblas run --help)");
    if (v->sources && !is_list(v->sources) && v->output && !to_stdout(v) &&
        ftb_same_file(v->sources, v->output))
        return app_fail(APP_USAGE, "--sources and --output name the same file, %s", v->output);
    int code = own ? APP_OK : find_program(&w->program, operands[0]);
    if (code == APP_OK && v->stats >= 0 && to_stdout(v))
        code = app_fail(APP_USAGE, "--stats prints on standard output too; write the result to a file");
    if (code == APP_OK)
        code = check_options(w);
    return code == APP_OK && v->sources ? check_sources(w) : code;
}

static int read_sources(run_work *w)
{
    const char *text = w->values->sources;
    int64_t width, base = w->names.base;
    int code = APP_OK;
    if (w->values->samples > w->n)
        return app_fail(APP_USAGE, "--samples: %lld sources of %lld vertices", (long long)w->values->samples,
                        (long long)w->n);
    if (!text)
        return APP_OK;
    if (!w->sources)
        code = reader_numbers(text, 1, &w->sources, &w->nsources, &width, &base);
    for (int64_t t = 0; t < w->nsources && code == APP_OK; t++) {
        const int64_t id = w->sources[t];
        if (id >= base && id - base < w->n)
            w->sources[t] = id - base;
        else
            code = app_fail(APP_INPUT, "--sources: vertex %lld; expected %lld to %lld", (long long)id,
                            (long long)base, (long long)(w->n - 1 + base));
    }
    return code;
}

/* ---- output */

/* Rows with the vertices' numbers before them. Whole numbers are those of the graph's file, too. */
static GrB_Info write_numbered(run_work *w, FtB_Format format)
{
    FtB_Block all, rest = NULL;
    FtB_Type type;
    int64_t ncols, ld;
    void *numbers = NULL;
    GrB_Info info = FtB_Block_shape(w->X, NULL, &ncols, NULL, &type, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Block_new(&all, w->n, ncols + 1, type);
    if (info != GrB_SUCCESS)
        return info;
    info = FtB_Block_columns(&rest, all, 1, ncols);
    if (info == GrB_SUCCESS)
        info = FtB_apply(rest, NULL, NULL, "x", w->X, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Block_shape(all, NULL, NULL, &ld, NULL, &numbers);
    for (int64_t v = 0; v < w->n && info == GrB_SUCCESS; v++) {
        if (type == FTB_FP64)
            ((double *)numbers)[v * ld] = (double)(v + w->names.base);
        else
            ((int64_t *)numbers)[v * ld] = v + w->names.base;
        for (int64_t c = w->vertices; c < ncols; c++)
            ((int64_t *)numbers)[v * ld + 1 + c] +=
                ((int64_t *)numbers)[v * ld + 1 + c] >= 0 ? w->names.base : 0;
    }
    if (info == GrB_SUCCESS)
        info = FtB_Block_changed(all);
    if (info == GrB_SUCCESS)
        info = FtB_Block_write(all, w->values->output, format, 0);
    FtB_Block_free(&rest);
    FtB_Block_free(&all);
    return info;
}

static int failed(const run_work *w, GrB_Info info, int stage)
{
    return run_error(info, stage, &w->names, w->values, w->held + run_room(w));
}

static int write_state(run_work *w)
{
    const char *path = w->values->output;
    if (!path)
        return APP_OK;
    app_progress_yield(path);
    const FtB_Format format = format_of_output(path, FTB_TSV);
    const bool numbered = format == FTB_TSV || format == FTB_CSV;
    return failed(w, numbered ? write_numbered(w, format) : FtB_Block_write(w->X, path, format, 0),
                  APP_OUTPUT);
}

/* What is told of supersteps, where nobody reads standard output otherwise; statistics are made of it. */
static int work(run_work *w)
{
    const run_values *v = w->values;
    char *table = NULL;
    size_t size = 0;
    FILE *told = v->stats >= 0 ? open_memstream(&table, &size) : NULL;
    if (v->stats >= 0 && !told)
        return app_fail(APP_MEMORY, "out of memory");
    w->explain = told ? told : !v->explain ? NULL : to_stdout(v) ? stderr : stdout;
    if (w->explain && !told)
        app_progress_stop();
    const double start = app_seconds();
    const GrB_Info info = w->program ? w->program->run(w) : GrB_SUCCESS;
    int code = w->program ? failed(w, info, info == GrB_NO_VALUE ? APP_FAILURE : APP_INPUT) : run_own(w);
    w->seconds = app_seconds() - start;
    if (told && fclose(told) != 0 && code == APP_OK)
        code = app_fail(APP_MEMORY, "out of memory");
    if (code == APP_OK)
        code = write_state(w);
    if (code == APP_OK && v->stats >= 0 && v->explain) {
        app_end();
        fputs(table, stderr);
    }
    if (code == APP_OK && v->stats >= 0)
        code = run_stats(&(run_facts){.path = w->names.path,
                                      .program = w->program ? w->program->name : "own",
                                      .what = w->what ? w->what : "supersteps",
                                      .A = w->A,
                                      .X = w->X,
                                      .supersteps = w->supersteps,
                                      .read_seconds = w->read_seconds,
                                      .seconds = w->seconds,
                                      .json = v->stats == RUN_STATS_JSON},
                         table);
    free(table);
    return code;
}

static int run_run(const void *values, int count, char *const *operands)
{
    run_work w = {.values = values, .vertices = INT64_MAX, .names.path = operands[count - 1]};
    const run_values *v = values;
    int code = check(&w, count, operands);
    if (code == APP_OK && w.program && !w.program->run)
        return run_cf(v, w.names.path);
    if (code == APP_OK)
        code = reader_graph(&v->reader, w.names.path, &w.A, &w.n, &w.names.base);
    if (code == APP_OK)
        code = app_library_error(FtB_Matrix_shape(w.A, NULL, NULL, &w.nvals, NULL, NULL), APP_INPUT);
    w.held = run_held(v);
    if (code == APP_OK)
        code = read_sources(&w);
    w.ncolumns = w.sources ? w.nsources : 1;
    w.read_seconds = app_seconds();
    if (code == APP_OK)
        code = work(&w);
    if (code == APP_OK && !to_stdout(v) && v->stats < 0 && !v->reader.common.quiet) {
        char buffer[32];
        app_end();
        printf("%s %s in %.3f s\n", app_thousands(buffer, w.supersteps), w.what ? w.what : "supersteps",
               w.seconds);
    }
    FtB_Block_free(&w.X);
    FtB_Matrix_free(&w.A);
    free(w.sources);
    return code;
}

const command command_run = {
    .name = "run",
    .operands = "[NAME] GRAPH",
    .min_operands = 1,
    .max_operands = 2,
    .summary = "run a vertex program: paths, PageRank, triangles, communities, or texts of your own",
    .description =
        "Programs: bfs gives levels and parents, a column for each source, then another; sssp the "
        "lengths of shortest paths; "
        "pagerank ranks, with --sources a column for each of them; components the least vertex of each "
        "weakly connected component; triangles "
        "those that each vertex is in; "
        "clustering coefficients; betweenness what each vertex has of all shortest paths; communities "
        "labels by propagation; "
        "topological the most edges on a path to each vertex. cf is for ratings, a row for each user and a "
        "column for each item, or an edge list of them: factors of users, and with --items of items, whose "
        "dot products predict the ratings that are not there.\n\n"
        "A program of your own is texts: every active vertex sends a message along its edges, "
        "what arrives is combined and "
        "applied to the state, and vertices that change are active in the next superstep.",
    .examples =
        "  $ featblas run sssp roads.mtx --sources 7 -o distances.tsv\n"
        "  $ featblas run pagerank roads.mtx --definition networkx -o ranks.npy\n"
        "  $ featblas run pagerank roads.mtx --sources 7,12 -o near.tsv\n"
        "  $ featblas run triangles karate.mtx -o triangles.tsv\n"
        "  $ featblas run betweenness karate.mtx --samples 10 --normalized -o between.tsv\n"
        "  $ featblas run cf ratings.csv --columns userId,movieId,rating --method als --held-out 0.1 -o "
        "users.tsv --items films.tsv\n"
        "  $ featblas run --send dist --combine 'min : message + edge' --apply 'dist = min(dist, "
        "received)' \\\n"
        "        --init 'dist = id == 6 ? 0 : inf' roads.mtx -o distances.tsv\n",
    .reads = true,
    .options = run_options,
    .defaults = &defaults,
    .writes = true,
    .size = sizeof(run_values),
    .run = run_run};

/* featblas project: reads a bipartite graph, projects it onto one side, writes the pairs. */
#include "file_names.h"
#include "format_words.h"
#include "graph_names.h"
#include "project_parts.h"
#include "weight_words.h"

#include "core/words.h"
#include "io/target.h"
#include "ops/ops.h"

#include <math.h>
#include <string.h>

#define FIELD(name) .offset = offsetof(project_values, name)

static option_form form_of_output(const void *values, const char *operand)
{
    const project_values *v = values;
    (void)operand;
    return v->dry_run ? FORM_UNKNOWN : v->format > 0 ? FORM_ANY : FORM_MATRIX;
}

static const option project_options[] = {
    {.heading = "Projection"},
    {.name = "onto",
     .kind = OPTION_TEXT,
     FIELD(onto),
     .argument = "SIDE",
     .choices = "cols|rows",
     .help = "Project onto cols, rows, or the edge list's column of that name. Default: cols."},
    {.name = "weight",
     .letter = 'w',
     .kind = OPTION_TEXT,
     FIELD(weight),
     .argument = "NAME",
     .words = weight_words,
     .help = "Weight of a pair; --help-weights lists them. Default: count, the number of common neighbours."},
    {.name = "help-weights",
     .kind = OPTION_SET,
     FIELD(help_weights),
     .value = 1,
     .help = "List the weights with their formulas."},
    {.name = "semiring",
     .kind = OPTION_TEXT,
     FIELD(semiring),
     .argument = "TEXT",
     .help = "A weight of your own, 'reducer : message' over a and b, the values of two entries that meet: "
             "'plus : a / (a + b)'."},
    {.name = "epilogue",
     .kind = OPTION_TEXT,
     FIELD(epilogue),
     .argument = "TEXT",
     .help = "The weight from the semiring's result h, the degrees di, dj, the sums si, sj and more: "
             "'h / (si + sj - h)'. Replaces a named weight's own."},
    {.name = "unweighted",
     .kind = OPTION_SET,
     FIELD(unweighted),
     .value = 1,
     .help = "Every entry counts as 1."},
    {.name = "self-loops",
     .kind = OPTION_SET,
     FIELD(self_loops),
     .value = 1,
     .help = "Keep the pairs of a vertex with itself."},
    {.heading = "Selection"},
    {.name = "where",
     .kind = OPTION_TEXT,
     FIELD(where),
     .argument = "TEXT",
     .help = "Keep the pairs for which this is not zero; over w, the weight, and the epilogue's names: "
             "'w > 0.1 && di > 5'."},
    {.name = "min-weight",
     .kind = OPTION_REAL,
     FIELD(min_weight),
     .argument = "W",
     .help = "Keep the pairs of at least this weight."},
    {.name = "top-k",
     .letter = 'k',
     .kind = OPTION_INTEGER,
     FIELD(top_k),
     .argument = "K",
     .low = 1,
     .help = "Keep the K largest weights of each vertex; of equal ones those of the first vertices."},
    {.name = "triangle",
     .kind = OPTION_SET,
     FIELD(triangle),
     .value = 1,
     .help = "Write each pair once, i < j."},
    {.name = "full",
     .kind = OPTION_SET,
     FIELD(triangle),
     .value = 0,
     .help = "Write each pair both ways; the default."},
    {.name = "min-degree",
     .kind = OPTION_INTEGER,
     FIELD(min_degree),
     .argument = "N",
     .low = 0,
     .help = "Only vertices with at least N entries."},
    {.name = "max-degree",
     .kind = OPTION_INTEGER,
     FIELD(max_degree),
     .argument = "N",
     .low = 0,
     .help = "Only vertices with at most N entries; 0: any."},
    {.name = "sources",
     .kind = OPTION_FILE,
     FIELD(sources),
     .argument = "FILE",
     .help = "Only pairs whose first vertex is listed in FILE, an id a line, as the input names them."},
    {.name = "targets",
     .kind = OPTION_FILE,
     FIELD(targets),
     .argument = "FILE",
     .help = "Only pairs whose second vertex is listed in FILE."},
    {.heading = "Output"},
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_FILE,
     FIELD(output),
     .written = true,
     .form_of = form_of_output,
     .argument = "FILE|-",
     .help =
         "Write to FILE, which appears whole or not at all. Default: -, standard output; with --stats none."},
    {.name = "labels",
     .kind = OPTION_TABLE,
     FIELD(labels),
     .argument = "FILE:ID,LABEL",
     .help = "Write labels instead of ids: FILE is a table, ID and LABEL are its columns, by name, which its "
             "first line "
             "then has, or by number. Ids without a row keep their id."},
    {.name = "labels-delimiter",
     .kind = OPTION_TEXT,
     FIELD(labels_delimiter),
     .argument = "CHAR",
     .choices = "tab|comma|semicolon|space",
     .help = "What separates the columns of --labels. Default: guessed."},
    {.name = "format",
     .kind = OPTION_CHOICE,
     FIELD(format),
     .argument = "FORMAT",
     .words = formats_written,
     .list = formats_written_list,
     .help = "Write this format: {}. Default: by the name's ending, else tsv."},
    {.name = "precision",
     .kind = OPTION_INTEGER,
     FIELD(precision),
     .argument = "N",
     .low = 0,
     .high = 17,
     .help = "Digits of reals in text. Default: the fewest that read back to the same number."},
    {.name = "stats",
     .kind = OPTION_CHOICE,
     FIELD(stats),
     .argument = "text|json",
     .choices = "text|json",
     .help = "Print statistics of the result on standard output."},
    {.heading = "Planning"},
    {.name = "dry-run",
     .letter = 'n',
     .kind = OPTION_SET,
     FIELD(dry_run),
     .value = 1,
     .help = "Do not project: print dimensions, the exact number of products, an estimate of the result, "
             "memory and "
             "time."},
    {.name = "explain",
     .kind = OPTION_SET,
     FIELD(explain),
     .value = 1,
     .help = "Print the plan and its reasons, before the work, on standard error."},
    {.name = "check",
     .kind = OPTION_SET,
     FIELD(check),
     .value = 1,
     .help = "Compare the result with a slow and simple computation first; for small inputs."},
    {.name = NULL},
};

static const project_values project_defaults = {.min_weight = NAN, .stats = -1};

static int check_weight(const project_values *v)
{
    if (v->weight && v->semiring)
        return app_fail(APP_USAGE, "--weight and --semiring exclude each other");
    if (v->semiring && !strchr(v->semiring, ':'))
        return app_fail(APP_USAGE, "--semiring: '%s' is not 'reducer : message'", v->semiring);
    return v->weight ? weight_check(v->weight) : APP_OK;
}

static FtB_Format output_format(const project_values *v)
{
    const FtB_Format format = format_of_word(formats_written, v->format);
    return format != FTB_FORMAT_AUTO ? format : format_of_output(v->output ? v->output : "-", FTB_TSV);
}

bool project_has_positions(const project_values *v)
{
    const ftb_format *f = ftb_format_of(output_format(v));
    return f && !ftb_format_has_ids(f);
}

/* Formats of positions come with a table of ids. */
static int check_ids(project *p, int count, char *const *operands)
{
    const project_values *v = p->values;
    if (!v->output || files_is_stdout(v->output) || !project_has_positions(v))
        return APP_OK;
    if (!(p->ids_path = ftb_path_beside(v->output, "ids")))
        return app_fail(APP_MEMORY, "out of memory");
    return files_check_beside(&command_project, v, count, operands, "the ids beside --output", p->ids_path);
}

static int check_selection(const project_values *v)
{
    if (v->max_degree > 0 && v->min_degree > v->max_degree)
        return app_fail(APP_USAGE, "--min-degree: %lld, and --max-degree %lld; no vertex has both",
                        (long long)v->min_degree, (long long)v->max_degree);
    if (output_format(v) == FTB_SG)
        return app_fail(APP_USAGE,
                        "--output: an .sg file has no weights; expected another format, such as .wsg");
    return APP_OK;
}

static int check_output(project *p, int count, char *const *operands)
{
    const project_values *v = p->values;
    if (v->stats >= 0 && v->output && files_is_stdout(v->output))
        return app_fail(APP_USAGE, "--stats prints on standard output too; write the result to a file");
    int code = check_ids(p, count, operands);
    if (code == APP_OK && v->labels && !v->output && v->stats >= 0)
        code = app_fail(APP_USAGE, "--labels: statistics have none; --output names a file for the pairs");
    if (code == APP_OK && v->labels && project_has_positions(v) && !p->ids_path)
        code = app_fail(
            APP_USAGE,
            "--labels: this format has positions, and nothing beside standard output can hold labels");
    return code;
}

/* Where the rows go. */
static GrB_Info open_sink(const project *p, FtB_Sink *sink)
{
    const project_values *v = p->values;
    if (!v->output && v->stats >= 0)
        return FtB_Sink_stats(sink);
    const char *path = v->output ? v->output : "-";
    app_progress_yield(path);
    GrB_Info info = FtB_Sink_file(sink, path, output_format(v), p->titles ? p->titles : project_ids(p));
    if (info == GrB_SUCCESS)
        info = FtB_Sink_set_base(*sink, project_base(p));
    if (info == GrB_SUCCESS && v->precision > 0)
        info = FtB_Sink_set_precision(*sink, (int)v->precision);
    return info;
}

static int failed(const project *p, GrB_Info info, int stage)
{
    return graph_error(info, stage, &(graph_names){p->input, project_base(p), p->rows, p->cols, true});
}

/* What the library ran out of was not foreseen by a plan: figures of the vertices, or a sink's buffers.
 * Plans without the limit, which takes little, to say which limit would do. */
static int too_small(project *p, FtB_Sink sink)
{
    FtB_Plan_free(&p->plan);
    p->options.plan = NULL;
    FtB_Context_set_memory_limit(NULL, 0);
    GrB_Info info = FtB_project_plan(&p->plan, sink, p->R, p->weight, &p->options, FTB_ESTIMATE);
    if (info != GrB_SUCCESS)
        return failed(p, info, APP_USAGE);
    char given[32], enough[32];
    return app_fail(APP_MEMORY, "memory limit: %s are too few; a limit that would do is %s",
                    ftb_bytes_text(given, (double)p->values->reader.common.memory_limit),
                    ftb_bytes_text(enough, project_figure(p, "limit")));
}

/* Serialized graphs are collected in memory, whose size no plan knows: then the library's own message stays.
 */
static bool unforeseen(const project_values *v, GrB_Info info)
{
    const FtB_Format format = output_format(v);
    const bool collected = v->output && (format == FTB_SG || format == FTB_WSG);
    return info == FTB_LIMIT && !collected && !strstr(FtB_error(), "would do");
}

static int work(project *p, FtB_Sink sink)
{
    const project_values *v = p->values;
    FtB_Stats stats;
    double start = app_seconds();
    app_progress_clear();
    app_progress_note(-1, "planning the projection");
    GrB_Info info = FtB_project_plan(&p->plan, sink, p->R, p->weight, &p->options, FTB_ESTIMATE);
    if (unforeseen(v, info))
        return too_small(p, sink);
    if (info != GrB_SUCCESS)
        return failed(p, info, APP_USAGE);
    p->options.plan = p->plan;
    p->seconds = app_seconds() - start;
    app_progress_clear();
    project_warn(p);
    if (v->dry_run)
        return project_dry_run(p);
    project_announce(p);
    if (v->explain || v->reader.common.verbose)
        FtB_Plan_explain(p->plan, stderr);
    if (v->check) {
        int code = project_check(p);
        if (code != APP_OK)
            return code;
    }
    start = app_seconds();
    info = FtB_project(sink, p->R, p->weight, &p->options);
    p->seconds += app_seconds() - start;
    if (unforeseen(v, info))
        return too_small(p, sink);
    if (info == GrB_SUCCESS)
        info = FtB_Sink_get_stats(sink, &stats);
    if (info != GrB_SUCCESS)
        return failed(p, info, APP_OUTPUT);
    app_progress_clear();
    if (v->stats >= 0 && project_print_stats(p, &stats) != APP_OK)
        return APP_OUTPUT;
    project_summarise(p, &stats);
    return APP_OK;
}

static int run_project(const void *values, int count, char *const *operands)
{
    project p = {.values = values, .options = {.size = sizeof(FtB_Project_options)}};
    FtB_Sink sink = NULL;
    int code;
    if (p.values->help_weights) {
        project_help_weights();
        return APP_OK;
    }
    if (count == 0)
        return app_fail(APP_USAGE, "project needs INPUT|- (featblas project --help)");
    p.input = operands[0];
    if ((code = check_weight(values)) != APP_OK || (code = check_selection(values)) != APP_OK ||
        (code = check_output(&p, count, operands)) != APP_OK) {
        project_free(&p);
        return code;
    }
    code = project_read(&p);
    if (code == APP_OK)
        code = app_library_error(open_sink(&p, &sink), APP_USAGE);
    if (code == APP_OK)
        code = work(&p, sink);
    FtB_Sink_free(&sink);
    project_free(&p);
    return code;
}

const command command_project = {
    .name = "project",
    .operands = "INPUT|-",
    .max_operands = 1,
    .summary = "project a bipartite graph onto one side, with any weight",
    .description = "Reads a bipartite graph, a sparse matrix R, from INPUT or standard input, and projects "
                   "it onto its columns "
                   "(R'R) or rows (RR'): two vertices become a pair if they have a common neighbour, and the "
                   "pair's weight is "
                   "computed from the entries that meet there. Pairs are written in the order of the "
                   "vertices, first vertex, "
                   "second vertex, weight.\n\n"
                   "Ids leave as they came in: Matrix Market counts from 1, edge lists keep their own ids, "
                   "npz and raw CSR "
                   "count from 0.\n\n"
                   "The result need not fit in memory: see --memory-limit, and --dry-run for what a "
                   "projection would take.",
    .examples =
        "  $ featblas project ratings.csv --columns userId,movieId,rating --onto movieId \\\n"
        "        --weight jaccard --min-weight 0.05 --top-k 20 --labels movies.csv:movieId,title -o "
        "similar.tsv\n"
        "  $ featblas project big.mtx --weight cosine --memory-limit 2G --dry-run\n"
        "  $ featblas project ratings.csv --semiring 'plus : min(a, b)' --epilogue 'h / (si + sj - h)'\n"
        "  $ zcat graph.mtx.gz | featblas project - --stats json\n",
    .reads = true,
    .options = project_options,
    .writes = true,
    .size = sizeof(project_values),
    .defaults = &project_defaults,
    .run = run_project,
};

/* featblas plan: how a product of a graph with feature blocks would be done, and why; nothing is computed.
 * With
 * --run, what a vertex program would take on a pipeline in hardware that is described (plan_pipeline.c). */
#include "file_names.h"
#include "graph_names.h"
#include "plan_pipeline.h"
#include "reader.h"

#include "core/core.h"
#include "plan/machine.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct plan_values {
    reader_values reader;
    int op;
    const char *graph, *semiring, *machine, *set, *wisdom, *run;
    int64_t dim, heads, source, rounds;
    int measure, describe, calibrate;
} plan_values;

static const plan_values defaults = {.op = -1, .heads = 1, .source = -1};

enum { SPMM, SDDMM, ATTENTION }; /* choices of --op */

#define FIELD(name) offsetof(plan_values, name)

static const option plan_options[] = {
    {.heading = "Product"},
    {.name = "op",
     .kind = OPTION_CHOICE,
     .offset = FIELD(op),
     .argument = "OP",
     .choices = "spmm|sddmm|attention",
     .help =
         "spmm: graph times features, a row per vertex. sddmm: a value per edge from the features of its two "
         "ends. attention: both, with a softmax between, in one pass."},
    {.name = "graph", .kind = OPTION_FILE, .offset = FIELD(graph), .argument = "FILE", .help = "The graph."},
    {.name = "dim",
     .kind = OPTION_INTEGER,
     .offset = FIELD(dim),
     .argument = "D",
     .low = 1,
     .high = INT64_C(1) << 24,
     .help = "Features of a vertex, over all heads."},
    {.name = "heads",
     .kind = OPTION_INTEGER,
     .offset = FIELD(heads),
     .argument = "H",
     .low = 1,
     .high = INT64_C(1) << 20,
     .help = "Heads, which divide the features. Default: 1."},
    {.name = "semiring",
     .kind = OPTION_TEXT,
     .offset = FIELD(semiring),
     .argument = "TEXT",
     .help = "The semiring. Default: 'plus : src' for spmm, else 'plus : dot(src, dst)'."},
    {.heading = "Planning"},
    {.name = "machine",
     .kind = OPTION_FILE,
     .offset = FIELD(machine),
     .argument = "FILE",
     .help = "Plan for the machine that FILE describes, in lines such as l2 = 2M, instead of this one; with "
             "--run, "
             "in JSON."},
    {.name = "describe",
     .kind = OPTION_SET,
     .offset = FIELD(describe),
     .value = 1,
     .help = "Print the machine's description, for --machine, and end."},
    {.name = "set",
     .kind = OPTION_TEXT,
     .offset = FIELD(set),
     .argument = "KEY=VALUE[,...]",
     .help = "Force choices; docs/plans.md lists them."},
    {.name = "measure",
     .kind = OPTION_SET,
     .offset = FIELD(measure),
     .value = 1,
     .help = "Time the best candidates instead of trusting the cost model."},
    {.name = "calibrate",
     .kind = OPTION_SET,
     .offset = FIELD(calibrate),
     .value = 1,
     .help = "Measure the costs that plans are counted with on this machine, in less than a minute, and add "
             "them to "
             "the file that --wisdom names."},
    {.name = "wisdom",
     .kind = OPTION_FILE,
     .offset = FIELD(wisdom),
     .written = true,
     .argument = "FILE",
     .help = "Plan by what FILE says was measured; with --measure, add to it what is found."},
    {.heading = "A pipeline in hardware"},
    {.name = "run",
     .kind = OPTION_TEXT,
     .offset = FIELD(run),
     .argument = "NAME",
     .choices = "pagerank|bfs|sssp|cf",
     .help = "Predict what pagerank, bfs, sssp or cf takes on GRAPH in Graphicionado's pipeline, which "
             "--machine describes, stage "
             "by stage. cf: collaborative filtering; the graph is ratings."},
    {.name = "source",
     .kind = OPTION_INTEGER,
     .offset = FIELD(source),
     .argument = "V",
     .low = 0,
     .help = "bfs, sssp: where to start, as the graph's file numbers vertices. Default: the first."},
    {.name = "rounds",
     .kind = OPTION_INTEGER,
     .offset = FIELD(rounds),
     .argument = "N",
     .low = 1,
     .help = "pagerank, cf: supersteps. Default: of pagerank as many as it takes, of cf 1."},
    {.name = NULL}};

/* The planner then speaks of the machine in the file, or of this one with its rates. */
static int use_machine(const char *path)
{
    ftb_machine_facts facts = *ftb_machine_here();
    const char *wrong = NULL;
    int line = 0;
    if (!path) {
        ftb_machine_force(ftb_machine_measured());
        return APP_OK;
    }
    FILE *file = fopen(path, "r");
    if (!file)
        return app_fail(APP_INPUT, "%s: %s", path, strerror(errno));
    facts.near_l3 = 0;
    facts.l1_rate = facts.l2_rate = facts.l3_rate = facts.memory_rate = 0;
    bool ok = ftb_machine_read(&facts, file, &line, &wrong);
    fclose(file);
    if (!ok && line > 0)
        return app_fail(APP_INPUT, "%s:%d: %s", path, line, wrong);
    if (!ok)
        return app_fail(APP_INPUT, "%s: %s", path, wrong);
    ftb_machine_force(&facts);
    return APP_OK;
}

/* A block with heads over addresses that nobody reads: a plan wants shapes only. */
typedef struct room {
    FtB_Block block;
    void *memory;
    size_t bytes;
} room;

static GrB_Info room_new(room *r, int64_t nrows, int64_t ncols, int64_t heads)
{
    FtB_Block whole = NULL;
    r->bytes = (size_t)(nrows > 0 ? nrows : 1) * (size_t)ncols * sizeof(float);
    r->memory = mmap(NULL, r->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (r->memory == MAP_FAILED) {
        r->memory = NULL;
        return GrB_OUT_OF_MEMORY;
    }
    GrB_Info info = FtB_Block_wrap(&whole, r->memory, nrows, ncols, ncols, FTB_FP32);
    if (info == GrB_SUCCESS)
        info = FtB_Block_heads(&r->block, whole, heads);
    FtB_Block_free(&whole);
    return info;
}

/* With --measure candidates are run, so that the memory must be there. */
static GrB_Info room_fill(room *r)
{
    if (mprotect(r->memory, r->bytes, PROT_READ | PROT_WRITE) != 0)
        return GrB_OUT_OF_MEMORY;
    memset(r->memory, 0, r->bytes);
    return GrB_SUCCESS;
}

static void room_free(room *r)
{
    FtB_Block_free(&r->block);
    if (r->memory)
        munmap(r->memory, r->bytes);
}

/* "key=value,key=value" into the plan. */
static int force(FtB_Plan plan, const char *choices)
{
    char key[64], value[64];
    int length = 0;
    for (const char *at = choices; at && *at; at += length) {
        if (sscanf(at, "%63[^=,]=%63[^,]%n", key, value, &length) != 2)
            return app_fail(APP_USAGE, "--set: '%s' is not KEY=VALUE", at);
        length += at[length] == ',';
        if (FtB_Plan_set(plan, key, value) != GrB_SUCCESS)
            return app_fail(APP_USAGE, "--set: %s", FtB_error());
    }
    return APP_OK;
}

/* ---- sparse x block */

/* "dst" is bound where the text names it. */
static GrB_Info semiring_of(FtB_Semiring *semiring, const char *expression, FtB_Block dst)
{
    FtB_Semiring made = NULL;
    GrB_Info info = FtB_Semiring_new(&made, expression);
    if (info == GrB_SUCCESS && strstr(expression, "dst"))
        info = FtB_Semiring_bind(semiring, made, FTB_BIND("dst", dst));
    else if (info == GrB_SUCCESS) {
        *semiring = made;
        made = NULL;
    }
    FtB_Semiring_free(&made);
    return info;
}

static int explain(FtB_Plan plan, const char *choices)
{
    int code = force(plan, choices);
    app_progress_clear();
    return code == APP_OK ? app_library_error(FtB_Plan_explain(plan, stdout), APP_OUTPUT) : code;
}

static int plan_spmm(const plan_values *v, FtB_Matrix A, int64_t nrows, int64_t ncols)
{
    const char *expression = v->semiring ? v->semiring : "plus : src";
    const FtB_Effort effort = v->measure ? FTB_MEASURE : FTB_ESTIMATE;
    room C = {0}, X = {0}, Y = {0};
    FtB_Semiring semiring = NULL;
    FtB_Plan plan = NULL;
    GrB_Info info = room_new(&C, nrows, v->dim, v->heads);
    if (info == GrB_SUCCESS)
        info = room_new(&X, ncols, v->dim, v->heads);
    if (info == GrB_SUCCESS)
        info = room_new(&Y, nrows, v->dim, v->heads);
    if (info == GrB_SUCCESS && v->measure)
        info =
            room_fill(&C) == GrB_SUCCESS && room_fill(&X) == GrB_SUCCESS ? room_fill(&Y) : GrB_OUT_OF_MEMORY;
    int code =
        info == GrB_OUT_OF_MEMORY ? app_fail(APP_MEMORY, "not enough memory for the features") : APP_OK;
    if (info == GrB_SUCCESS)
        info = semiring_of(&semiring, expression, Y.block);
    if (info == GrB_SUCCESS)
        info = FtB_mxm_plan(&plan, C.block, NULL, NULL, semiring, A, X.block, NULL, effort);
    if (code == APP_OK)
        code = graph_error(info, APP_USAGE, &(graph_names){.path = v->graph, .lists = true});
    if (code == APP_OK)
        code = explain(plan, v->set);
    FtB_Plan_free(&plan);
    FtB_Semiring_free(&semiring);
    room_free(&Y);
    room_free(&X);
    room_free(&C);
    return code;
}

/* ---- over the entries of the graph: block x block' under it, and attention */

static int plan_entries(const plan_values *v, FtB_Matrix A, int64_t nrows, int64_t ncols)
{
    const char *expression = v->semiring ? v->semiring : "plus : dot(src, dst)";
    room C = {0}, X = {0}, Y = {0};
    FtB_Matrix S = NULL;
    FtB_Plan plan = NULL;
    const FtB_Effort effort = v->measure ? FTB_MEASURE : FTB_ESTIMATE;
    GrB_Info info = room_new(&X, ncols, v->dim, v->heads);
    if (info == GrB_SUCCESS)
        info = room_new(&Y, nrows, v->dim, v->heads);
    if (info == GrB_SUCCESS && v->op == ATTENTION)
        info = room_new(&C, nrows, v->dim, v->heads);
    if (info == GrB_SUCCESS && v->measure)
        info = room_fill(&X) == GrB_SUCCESS ? room_fill(&Y) : GrB_OUT_OF_MEMORY;
    int code =
        info == GrB_OUT_OF_MEMORY ? app_fail(APP_MEMORY, "not enough memory for the features") : APP_OK;
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_new(&S, FTB_FP32, nrows, ncols, 1);
    if (info == GrB_SUCCESS && v->op == ATTENTION)
        info = FtB_attention_plan(&plan, C.block, A, NULL, expression, Y.block, X.block, X.block, NULL, NULL,
                                  effort);
    else if (info == GrB_SUCCESS)
        info = FtB_mxm_plan(&plan, S, A, NULL, expression, Y.block, X.block, FTB_DESC_ST1, effort);
    if (code == APP_OK)
        code = graph_error(info, APP_USAGE, &(graph_names){.path = v->graph, .lists = true});
    if (code == APP_OK)
        code = explain(plan, v->set);
    FtB_Plan_free(&plan);
    FtB_Matrix_free(&S);
    room_free(&C);
    room_free(&Y);
    room_free(&X);
    return code;
}

/* ---- the command */

/* A file that is not there yet holds nothing. */
static int load_wisdom(const char *path)
{
    if (!path || (access(path, F_OK) != 0 && errno == ENOENT))
        return APP_OK;
    return app_library_error(FtB_Wisdom_load(NULL, path), APP_INPUT);
}

static int calibrate(const plan_values *v)
{
    int code = app_library_error(FtB_Wisdom_calibrate(NULL), APP_USAGE);
    app_progress_clear();
    return code == APP_OK ? app_library_error(FtB_Wisdom_save(NULL, v->wisdom), APP_OUTPUT) : code;
}

static int check(const plan_values *v)
{
    if (v->source >= 0 || v->rounds > 0)
        return app_fail(APP_USAGE, "--%s means nothing without --run", v->source >= 0 ? "source" : "rounds");
    if (v->calibrate && !v->wisdom)
        return app_fail(APP_USAGE, "--calibrate wants --wisdom FILE, to which it adds what it finds");
    if (v->calibrate && v->op < 0 && !v->graph && v->dim == 0)
        return files_check_output("wisdom", v->wisdom, FORM_ANY);
    if (v->op < 0)
        return app_fail(APP_USAGE, "--op is missing: spmm, sddmm or attention (featblas plan --help)");
    if (!v->graph)
        return app_fail(APP_USAGE, "--graph is missing (featblas plan --help)");
    if (v->dim == 0)
        return app_fail(APP_USAGE, "--dim is missing (featblas plan --help)");
    if (v->wisdom && v->machine)
        return app_fail(APP_USAGE, "--wisdom was measured here; --machine is another machine");
    if (v->dim % v->heads != 0)
        return app_fail(APP_USAGE, "--heads %lld does not divide --dim %lld", (long long)v->heads,
                        (long long)v->dim);
    return v->measure || v->calibrate ? files_check_output("wisdom", v->wisdom, FORM_ANY) : APP_OK;
}

/* ---- a program in hardware */

static int plan_run(const plan_values *v, int count, char *const *operands)
{
    const struct {
        const char *option;
        bool given;
    } others[] = {{"op", v->op >= 0},
                  {"dim", v->dim > 0},
                  {"graph", v->graph != NULL},
                  {"semiring", v->semiring != NULL},
                  {"set", v->set != NULL},
                  {"wisdom", v->wisdom != NULL},
                  {"measure", v->measure != 0},
                  {"describe", v->describe != 0},
                  {"calibrate", v->calibrate != 0}};
    for (size_t o = 0; o < sizeof others / sizeof *others; o++)
        if (others[o].given)
            return app_fail(APP_USAGE, "--%s means nothing beside --run", others[o].option);
    if (!v->machine)
        return app_fail(APP_USAGE, "--run wants --machine FILE, a description in JSON");
    if (count != 1)
        return app_fail(APP_USAGE, "--run wants a graph (featblas plan --help)");
    const plan_pipeline p = {.reader = &v->reader,
                             .program = v->run,
                             .machine = v->machine,
                             .graph = operands[0],
                             .source = v->source,
                             .rounds = v->rounds};
    return plan_pipeline_run(&p);
}

static int run_plan(const void *values, int count, char *const *operands)
{
    const plan_values *v = values;
    const common_values *common = values; /* the first of them */
    FtB_Matrix A = NULL;
    reader_found found;
    int64_t nrows = 0, ncols = 0;
    if (v->run)
        return plan_run(v, count, operands);
    if (count > 0)
        return app_fail(APP_USAGE, "'%s': --graph names the graph of a product", operands[0]);
    int code = v->describe ? APP_OK : check(v); /* before the machine is measured */
    if (code == APP_OK)
        code = use_machine(v->machine);
    if (code == APP_OK && v->describe) {
        ftb_machine_write(ftb_machine_measured(), stdout);
        return APP_OK;
    }
    if (code == APP_OK)
        code = load_wisdom(v->wisdom);
    if (code == APP_OK && v->calibrate)
        code = calibrate(v);
    if (code == APP_OK && !v->graph)
        goto done;
    if (code == APP_OK)
        code = reader_read(&v->reader, v->graph, &A, NULL, NULL, &found);
    if (code == APP_OK)
        code = app_library_error(FtB_Matrix_shape(A, &nrows, &ncols, NULL, NULL, NULL), APP_INPUT);
    if (code == APP_OK && v->machine && common->threads == 0) /* the graph was read by this one's */
        code = app_library_error(FtB_Context_set_threads(NULL, ftb_machine_here()->cores), APP_USAGE);
    if (code == APP_OK)
        code = v->op == SPMM ? plan_spmm(v, A, nrows, ncols) : plan_entries(v, A, nrows, ncols);
    if (code == APP_OK && v->measure && v->wisdom)
        code = app_library_error(FtB_Wisdom_save(NULL, v->wisdom), APP_OUTPUT);
done:
    FtB_Matrix_free(&A);
    ftb_machine_force(NULL);
    return code;
}

const command command_plan = {
    .name = "plan",
    .operands = "[GRAPH]",
    .max_operands = 1,
    .summary = "say how a product of a graph with features would be done, and why",
    .description =
        "Prints what the planner decides for a product of the graph "
        "with D features per vertex: the kernel, how the "
        "graph is partitioned so that features stay in cache, and the "
        "time that it predicts. Nothing is computed.\n\n"
        "With --run NAME GRAPH it predicts the cycles of a vertex program in the pipeline of Graphicionado, "
        "a machine of graphs, stage by stage: which one binds, and what waits. docs/plans.md has what the "
        "description holds, and what the model leaves out.",
    .examples = "  $ featblas plan --op spmm --graph reddit.mtx --dim 128\n"
                "  $ featblas plan --op attention --graph cora.tsv --dim 64 --heads 8\n"
                "  $ featblas plan --op spmm --graph g.npz --dim 64 --measure --wisdom my.wisdom\n"
                "  $ featblas plan --calibrate --wisdom my.wisdom\n"
                "  $ featblas plan --describe > here.txt\n"
                "  $ featblas plan --op spmm --graph g.npz --dim 128 --machine laptop.txt\n"
                "  $ featblas plan --machine graphicionado.json --run bfs --source 7 g.npz\n",
    .reads = true,
    .options = plan_options,
    .writes = true,
    .size = sizeof(plan_values),
    .defaults = &defaults,
    .run = run_plan};

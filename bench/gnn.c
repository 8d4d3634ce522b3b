/* The benchmark of graph neural networks, with its bars: inference and training epochs beside PyTorch
 * Geometric and DGL (bench/peers/gnn.py), memory beside DGL, what the sparse products take inside an epoch
 * beside the same products alone, and serving by the command. bench/gnn.sh runs it. */
#include "support/gnn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const gnn_case cases[] = {
    {.name = "cora-gcn",
     .graph = "cora",
     .model = "gcn",
     .layers = 2,
     .heads = 1,
     .hidden = 16,
     .dropout = 0.5,
     .rate = 0.01,
     .decay = 5e-4},
    {.name = "cora-gat",
     .graph = "cora",
     .model = "gat",
     .layers = 2,
     .heads = 8,
     .hidden = 8,
     .dropout = 0.6,
     .rate = 0.005,
     .decay = 5e-4},
    {"reddit-gcn", "reddit-like", "gcn", 2, 1, 602, 256, 41, 0, 0.01, 0, false},
    {"reddit-sage", "reddit-like", "sage", 2, 1, 602, 256, 41, 0, 0.01, 0, false},
    {"reddit-gat", "reddit-like", "gat", 2, 4, 602, 64, 41, 0, 0.01, 0, false},
    {"arxiv-gcn", "arxiv-like", "gcn", 3, 1, 128, 256, 40, 0, 0.01, 0, true},
};
enum { CASES = sizeof cases / sizeof *cases };

/* ---- what is measured: arguments are "library:case:phase" */

static const gnn_case *case_of(const bench_measure *m)
{
    for (int c = 0; c < CASES; c++) {
        const char *at = strchr(m->argument, ':');
        const size_t length = strlen(cases[c].name);
        if (at && strncmp(at + 1, cases[c].name, length) == 0 && at[1 + length] == ':')
            return &cases[c];
    }
    abort();
}

static bool phase_is(const bench_measure *m, const char *phase)
{
    return strcmp(strrchr(m->argument, ':') + 1, phase) == 0;
}

static bool on_cora(const gnn_case *c) { return strcmp(c->graph, "cora") == 0; }

/* Medians of as many steps as the peers take, after one that counts as setup, and on Cora nine more. */
static bool time_steps(gnn_model *model, bool epoch, bool small, bench_result *result)
{
    enum { MOST = 100 };
    double seconds[MOST], cpu[MOST], sum;
    const int warm = small ? 10 : 1, count = small ? MOST : 1;
    double first = 0;
    for (int i = -warm; i < count; i++) {
        const double start = bench_now(), process = bench_cpu();
        if (!(epoch ? gnn_epoch(model) : gnn_forward(model, &sum)))
            return false;
        if (i == -warm) {
            first = bench_now() - start;
            if (!small && epoch)
                gnn_ok(FtB_scalar(&result->check, model->loss));
        }
        seconds[i < 0 ? 0 : i] = bench_now() - start;
        cpu[i < 0 ? 0 : i] = bench_cpu() - process;
    }
    if (!small && !epoch)
        result->check = sum;
    result->seconds = gnn_median(seconds, count);
    result->cpu = gnn_median(cpu, count);
    result->setup = first > result->seconds ? first - result->seconds : 0;
    return true;
}

static bool step(const bench_settings *s, const bench_measure *m, bench_result *result)
{
    const gnn_case *c = case_of(m);
    const bool epoch = !phase_is(m, "forward"), small = on_cora(c);
    FtB_Context ctx = NULL;
    gnn_task task = {0};
    gnn_model model = {0};
    int64_t nvals = 0;
    bool ok = gnn_ok(FtB_Context_new(&ctx)) && gnn_ok(FtB_Context_engage(ctx)) &&
              gnn_ok(FtB_Context_set_threads(ctx, m->threads)) && gnn_task_new(&task, c, s) &&
              gnn_model_new(&model, &task, !epoch) &&
              gnn_ok(FtB_Matrix_shape(task.A, NULL, NULL, &nvals, NULL, NULL));
    ok = ok && (!small || gnn_forward(&model, &result->check));
    bench_reset_peak();
    if (ok && phase_is(m, "inside"))
        ok = gnn_products_inside(&model, small ? 100 : 1, result);
    else if (ok && phase_is(m, "alone"))
        ok = gnn_products_alone(&model, &task, result);
    else if (ok)
        ok = time_steps(&model, epoch, small, result);
    result->bytes = (double)nvals;
    gnn_model_free(&model);
    gnn_task_free(&task);
    FtB_Context_engage(NULL);
    FtB_Context_free(&ctx);
    return ok;
}

/* featblas predict from start to end: a model that is trained once, graph and features from their files. */
static bool serve(const bench_settings *s, const bench_measure *m, bench_result *result)
{
    const char *root = getenv("FEATBLAS_DATA"), *weights = bench_path(s, "cora-gcn", ".safetensors");
    (void)m;
    if (!s->command || !root) {
        fprintf(stderr, "serving: no --command, or no $FEATBLAS_DATA\n");
        return false;
    }
    const char *data = bench_text("%s/cora", root), *threads = bench_text("%d", m->threads);
    const char *train[] = {s->command, "train", data,        "--model", "gcn",     "--epochs", "20",
                           "--save",   weights, "--threads", threads,   "--quiet", NULL};
    const char *predict[] = {
        s->command,  "predict", data, "--load", weights, "--output", bench_path(s, "cora-labels", ".tsv"),
        "--threads", threads,   NULL};
    if (bench_file_size(weights) == 0 && !bench_spawn(train, NULL, result)) {
        fprintf(stderr, "serving: %s train fails\n", s->command);
        return false;
    }
    return bench_spawn(predict, NULL, result);
}

/* ---- measurements and bars */

enum { MOST = 128 };
static bench_measure measures[MOST];
static bench_bar bars[MOST];
static bench_runs runs[MOST];
static int nmeasures, nbars;

static const char *name_of(const char *library, const gnn_case *c, const char *phase)
{
    return bench_text("%s %s %s", library, c->name, phase);
}

static void add(const char *library, const gnn_case *c, const char *phase, int threads)
{
    const bool peer = strcmp(library, "FeatBLAS") != 0;
    const char *who = !peer ? "ours" : strcmp(library, "DGL") == 0 ? "dgl" : "pyg";
    if (nmeasures == MOST)
        abort();
    measures[nmeasures++] = (bench_measure){.name = name_of(library, c, phase),
                                            .threads = threads,
                                            .run = peer ? bench_peer : bench_apart,
                                            .input = c->graph,
                                            .argument = bench_text("%s:%s:%s", who, c->name, phase)};
}

static void bar(bench_kind kind, const char *text, const char *name, const char *against, int threads,
                double bar)
{
    if (nbars == MOST)
        abort();
    text = bench_text("%s, %d thread%s", text, threads, threads == 1 ? "" : "s");
    bars[nbars++] = (bench_bar){text, kind, name, threads, against, threads, bar};
}

/* Ours and the others' in one phase; how many times as fast ours is to be at least. */
static void phase(const gnn_case *c, const char *phase, int threads, double times)
{
    static const char *const peers[] = {"DGL", "PyG"};
    const char *name = name_of("FeatBLAS", c, phase);
    add("FeatBLAS", c, phase, threads);
    for (int p = 0; p < (on_cora(c) ? 2 : 1); p++) {
        add(peers[p], c, phase, threads);
        bar(BENCH_RATIO, bench_text("%s / %s", name, peers[p]), name, name_of(peers[p], c, phase), threads,
            times);
    }
}

static void add_case(const gnn_case *c, int threads)
{
    const bool reddit = strcmp(c->graph, "reddit-like") == 0;
    const double times = on_cora(c) ? 10 : reddit ? 5 : 2;
    const char *epoch = name_of("FeatBLAS", c, "epoch"), *inside = name_of("FeatBLAS", c, "inside"),
               *alone = name_of("FeatBLAS", c, "alone");
    if (!on_cora(c))
        phase(c, "forward", threads, times);
    phase(c, "epoch", threads, times);
    if (reddit)
        bar(BENCH_MEMORY, bench_text("%s: DGL's memory over ours", epoch), epoch, name_of("DGL", c, "epoch"),
            threads, 2);
    add("FeatBLAS", c, "inside", threads);
    add("FeatBLAS", c, "alone", threads);
    bar(BENCH_RATIO, bench_text("%s: products alone over inside", epoch), inside, alone, threads, 0.8);
}

static void add_serving(void)
{
    static const char name[] = "FeatBLAS predict, cora";
    measures[nmeasures++] = (bench_measure){.name = name, .threads = 1, .run = serve, .input = "cora"};
    bar(BENCH_SECONDS, "featblas predict, cora: the whole process", name, NULL, 1, 0.060);
}

int main(int argc, char **argv)
{
    bench_settings s = {.repeats = 3};
    if (!bench_parse(&s, argc - 1, argv + 1))
        return 2;
    if (s.apart)
        return bench_apart_here(step, &s) ? 0 : 1;
    for (int c = 0; c < CASES; c++)
        for (int threads = 1; threads <= 2; threads++)
            add_case(&cases[c], threads);
    add_serving();
    bench_run(&s, nmeasures, measures, runs);
    bench_report(&s, nmeasures, measures, runs, nbars, bars);
    return 0;
}

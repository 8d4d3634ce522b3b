/* featblas plan --run: reads a description and a graph, and prints what a program takes there. */
#include "plan_pipeline.h"

#include "featblas_vertex.h"
#include "graph_names.h"
#include "vertex/pipeline_walk.h"

#include <stdlib.h>

static int check(const plan_pipeline *p, const ftb_pipeline_program **program)
{
    static const char *const names[] = {"pagerank", "bfs", "sssp", "cf"};
    *program = ftb_pipeline_program_of(p->program);
    if (!*program)
        return app_unknown("program", p->program, 4, names, "featblas plan --help lists them");
    if ((*program)->all && p->source >= 0)
        return app_fail(APP_USAGE, "--source means nothing to %s", p->program);
    if (!(*program)->all && p->rounds > 0)
        return app_fail(APP_USAGE, "--rounds means nothing to %s", p->program);
    return APP_OK;
}

/* The graph: rows and columns of ratings are vertices of two kinds. */
static int read_graph(const plan_pipeline *p, const ftb_pipeline_program *program, FtB_Matrix *A, int64_t *n,
                      int64_t *base)
{
    FtB_Matrix R = NULL;
    reader_found found;
    if (!program->both)
        return reader_graph(p->reader, p->graph, A, n, base);
    int code = reader_read(p->reader, p->graph, &R, NULL, NULL, &found);
    if (code == APP_OK)
        code = app_library_error(ftb_pipeline_bipartite(A, R), APP_INPUT);
    if (code == APP_OK)
        code = app_library_error(FtB_Matrix_shape(*A, n, NULL, NULL, NULL, NULL), APP_INPUT);
    FtB_Matrix_free(&R);
    return code;
}

static int find_source(const plan_pipeline *p, int64_t n, int64_t base, int64_t *source)
{
    *source = p->source < 0 ? 0 : p->source - base;
    if (*source >= 0 && *source < n)
        return APP_OK;
    if (n == 0)
        return app_fail(APP_INPUT, "%s: has no vertices to start from", p->graph);
    return app_fail(APP_INPUT, "--source: vertex %lld; expected %lld to %lld", (long long)p->source,
                    (long long)base, (long long)(n - 1 + base));
}

typedef struct work {
    const plan_pipeline *p;
    graph_names names;
    ftb_pipeline_machine machine;
    ftb_pipeline_totals totals;
    const ftb_pipeline_program *program;
    FtB_Matrix A;
    int64_t n, source, rounds;
} work;

/* How many supersteps PageRank takes until the ranks change little: it is run. */
static int count_rounds(work *w)
{
    FtB_Block R = NULL;
    GrB_Info info = FtB_Block_new(&R, w->n, 1, FTB_FP64);
    if (info == GrB_SUCCESS)
        info = FtB_pagerank(R, w->A, FTB_PAGERANK(.supersteps = &w->rounds));
    FtB_Block_free(&R);
    return graph_error(info, APP_INPUT, &w->names);
}

static void print(const work *w, const char *steps)
{
    char a[32], b[32];
    const ftb_pipeline_machine *m = &w->machine;
    app_progress_clear();
    app_print(stdout, "%s of %s, %s vertices, on %s: %lld streams at %.4g GHz, %s on the chip, %.4g GB/s%s\n",
              w->p->program, w->names.path, app_thousands(a, w->n), m->name, (long long)m->streams,
              m->clock / 1e9, app_bytes(b, (double)m->scratchpad), m->memory_rate / 1e9,
              m->prefetch ? "" : ", no prefetch");
    fputs(steps, stdout);
    ftb_pipeline_print(&w->totals, m, stdout);
}

/* What is told of each superstep, with --verbose, is printed once all went well. */
static int predict(work *w)
{
    char *steps = NULL;
    size_t size = 0;
    FILE *told = open_memstream(&steps, &size);
    if (!told)
        return app_fail(APP_MEMORY, "out of memory");
    int code = graph_error(ftb_pipeline_predict(&w->totals, &w->machine, w->program, w->A, w->source,
                                                w->rounds, w->p->reader->common.verbose ? told : NULL),
                           APP_INPUT, &w->names);
    if (fclose(told) != 0 && code == APP_OK)
        code = app_fail(APP_MEMORY, "out of memory");
    if (code == APP_OK)
        print(w, steps);
    free(steps);
    return code;
}

int plan_pipeline_run(const plan_pipeline *p)
{
    char message[512];
    work w = {.p = p, .names.path = p->graph, .rounds = p->rounds};
    int code = check(p, &w.program);
    if (code == APP_OK && !ftb_pipeline_read(&w.machine, p->machine, message, sizeof message))
        code = app_fail(APP_INPUT, "%s", message);
    if (code == APP_OK)
        code = read_graph(p, w.program, &w.A, &w.n, &w.names.base);
    if (code == APP_OK && !w.program->all)
        code = find_source(p, w.n, w.names.base, &w.source);
    if (code == APP_OK && w.program->all && w.rounds == 0) {
        w.rounds = 1;
        if (!w.program->both)
            code = count_rounds(&w);
    }
    if (code == APP_OK)
        code = predict(&w);
    FtB_Matrix_free(&w.A);
    return code;
}

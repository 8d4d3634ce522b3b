/* featblas plan --run: reads a description and a graph, and prints what a program takes there. */
#include "plan_pipeline.h"

#include "featblas_vertex.h"
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

/* How many supersteps PageRank takes until the ranks change little: it is run. */
static int count_rounds(FtB_Matrix A, int64_t n, int64_t *rounds)
{
    FtB_Block R = NULL;
    GrB_Info info = FtB_Block_new(&R, n, 1, FTB_FP64);
    if (info == GrB_SUCCESS)
        info = FtB_pagerank(R, A, FTB_PAGERANK(.supersteps = rounds));
    FtB_Block_free(&R);
    return app_library_error(info, APP_INPUT);
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

static void print_machine(const ftb_pipeline_machine *m, const char *program, const char *graph, int64_t n)
{
    char a[32], b[32];
    app_print(stdout, "%s of %s, %s vertices, on %s: %lld streams at %.4g GHz, %s on the chip, %.4g GB/s%s\n",
              program, graph, app_thousands(a, n), m->name, (long long)m->streams, m->clock / 1e9,
              app_bytes(b, (double)m->scratchpad), m->memory_rate / 1e9, m->prefetch ? "" : ", no prefetch");
}

int plan_pipeline_run(const plan_pipeline *p)
{
    char message[512];
    ftb_pipeline_machine machine;
    ftb_pipeline_totals totals;
    const ftb_pipeline_program *program;
    FtB_Matrix A = NULL;
    int64_t n = 0, base = 0, source = 0, rounds = p->rounds;
    int code = check(p, &program);
    if (code == APP_OK && !ftb_pipeline_read(&machine, p->machine, message, sizeof message))
        code = app_fail(APP_INPUT, "%s", message);
    if (code == APP_OK)
        code = read_graph(p, program, &A, &n, &base);
    if (code == APP_OK && !program->all)
        code = find_source(p, n, base, &source);
    if (code == APP_OK && program->all && rounds == 0) {
        rounds = 1;
        if (!program->both)
            code = count_rounds(A, n, &rounds);
    }
    if (code == APP_OK) {
        app_progress_clear();
        print_machine(&machine, p->program, p->graph, n);
        code = app_library_error(ftb_pipeline_predict(&totals, &machine, program, A, source, rounds,
                                                      p->reader->common.verbose ? stdout : NULL),
                                 APP_INPUT);
    }
    if (code == APP_OK)
        ftb_pipeline_print(&totals, &machine, stdout);
    FtB_Matrix_free(&A);
    return code;
}

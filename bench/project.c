/* The benchmark of projections: every case with its bar, beside other libraries at their best.
 *
 *   bench/project.sh                 builds, makes the peers' environment, runs everything
 *   bench/project.sh --repeats 1 --only count
 *
 * Each run of ours starts from a matrix that has no derived form yet (no transpose, no relabelling). */
#include "featblas.h"
#include "gen/gen.h"
#include "support/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MOVIELENS "movielens-20m"
#define RMAT "rmat-18"
#define RMAT_WIDE "rmat-18-44"

/* The graphs, made on first use. */
static gen_graph graphs[3];

static bool say(const char *what, GrB_Info info)
{
    if (info != GrB_SUCCESS)
        fprintf(stderr, "%s: %s\n", what, FtB_error());
    return info == GrB_SUCCESS;
}

static GrB_Info make_graph(gen_graph *g, const char *name)
{
    gen_rmat rmat = {.scale = 18, .a = 0.57, .b = 0.19, .c = 0.19};
    rmat.edges.permute = true;
    if (strcmp(name, MOVIELENS) == 0)
        return gen_make_movielens(g, 0);
    bool wide = strcmp(name, RMAT_WIDE) == 0;
    rmat.edges.count = (wide ? INT64_C(44) : INT64_C(16)) << rmat.scale;
    rmat.edges.symmetric = !wide;
    return gen_make_rmat(g, &rmat, 0);
}

static const gen_graph *graph(const char *name)
{
    gen_graph *g = &graphs[strcmp(name, MOVIELENS) == 0 ? 0 : strcmp(name, RMAT) == 0 ? 1 : 2];
    if (!g->rowptr && make_graph(g, name) != GrB_SUCCESS) {
        fprintf(stderr, "%s: %s\n", name, gen_error());
        exit(1);
    }
    return g;
}

/* ---- projections in this process */

typedef enum target { STATS, MATRIX, TEXT } target;

static double sum_of(FtB_Matrix C)
{
    double sum = 0;
    say("sum", FtB_reduce_scalar(&sum, FTB_FP64, "plus", C));
    return sum;
}

static bool project(const bench_settings *s, const bench_measure *m, const char *weight, target to,
                    const FtB_Project_options *options, bench_result *result)
{
    FtB_Matrix R = NULL, C = NULL;
    FtB_Sink sink = NULL;
    FtB_Stats stats = {0};
    const char *path = bench_path(s, "pairs", ".tsv");
    const int64_t n = graph(m->input)->ncols;
    const bool counts = strcmp(weight, "count") == 0; /* exact, as the peers' FP32 is below 2^24 */
    FtB_Context_set_threads(NULL, m->threads);
    bool ok = say("input", gen_matrix(&R, graph(m->input)));
    bench_touch();
    if (ok && to == MATRIX)
        ok = say("result", FtB_Matrix_new(&C, counts ? FTB_INT32 : FTB_FP32, n, n, 1));
    double start = bench_now(), cpu = bench_cpu();
    if (ok && to != MATRIX)
        ok = say("sink", to == STATS ? FtB_Sink_stats(&sink) : FtB_Sink_file(&sink, path, FTB_TSV, NULL));
    if (ok && to == MATRIX)
        ok = say(m->name, FtB_project(C, R, weight, options));
    else if (ok)
        ok = say(m->name, FtB_project(sink, R, weight, options));
    result->seconds = bench_now() - start;
    result->cpu = bench_cpu() - cpu;
    if (ok && to != MATRIX && (ok = say("statistics", FtB_Sink_get_stats(sink, &stats))))
        result->check = stats.sum;
    else if (ok)
        result->check = sum_of(C);
    FtB_Sink_free(&sink);
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&R);
    return ok;
}

static bool statistics_triangle(const bench_settings *s, const bench_measure *m, bench_result *result)
{
    return project(s, m, m->argument, STATS, FTB_PROJECT_OPTIONS(.triangle = true), result);
}

static bool store_triangle(const bench_settings *s, const bench_measure *m, bench_result *result)
{
    return project(s, m, m->argument, MATRIX, FTB_PROJECT_OPTIONS(.triangle = true), result);
}

static bool store_full(const bench_settings *s, const bench_measure *m, bench_result *result)
{
    return project(s, m, m->argument, MATRIX, FTB_PROJECT_OPTIONS(.self_loops = true), result);
}

static bool top_20_tsv(const bench_settings *s, const bench_measure *m, bench_result *result)
{
    return project(s, m, m->argument, TEXT, FTB_PROJECT_OPTIONS(.top_k = 20), result);
}

/* ---- triangle counting: C<L> = L L, vertices by rising degree */

static int by_degree(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

/* The rank of every vertex; NULL without memory. */
static int64_t *ranks(const gen_graph *g)
{
    size_t n = (size_t)g->nrows;
    int64_t *rank = malloc(n * sizeof *rank), (*order)[2] = malloc(n * sizeof *order);
    for (size_t i = 0; rank && order && i < n; i++) {
        order[i][0] = g->rowptr[i + 1] - g->rowptr[i];
        order[i][1] = (int64_t)i;
    }
    if (rank && order) {
        qsort(order, n, sizeof *order, by_degree);
        for (size_t i = 0; i < n; i++)
            rank[order[i][1]] = (int64_t)i;
    }
    free(order);
    return rank;
}

static bool lower_triangle(FtB_Matrix *L, const gen_graph *g)
{
    int64_t count = 0, *rank = ranks(g);
    int64_t *rows = malloc((size_t)g->nvals * sizeof *rows),
            *columns = malloc((size_t)g->nvals * sizeof *columns);
    for (int64_t i = 0; rank && rows && columns && i < g->nrows; i++)
        for (int64_t e = g->rowptr[i]; e < g->rowptr[i + 1]; e++)
            if (rank[i] > rank[g->colidx[e]]) {
                rows[count] = rank[i];
                columns[count++] = rank[g->colidx[e]];
            }
    bool ok = rank && rows && columns &&
              say("triangle", FtB_Matrix_build(L, FTB_BOOL, g->nrows, g->ncols, 0, count, rows, columns, NULL,
                                               FTB_DUP_ERROR, NULL));
    free(columns);
    free(rows);
    free(rank);
    return ok;
}

static bool triangles(const bench_settings *s, const bench_measure *m, bench_result *result)
{
    (void)s;
    FtB_Matrix L = NULL, C = NULL;
    FtB_Context_set_threads(NULL, m->threads);
    bool ok = lower_triangle(&L, graph(m->input)) &&
              say("result", FtB_Matrix_new(&C, FTB_INT64, graph(m->input)->nrows, graph(m->input)->ncols, 1));
    double start = bench_now(), cpu = bench_cpu();
    ok = ok && say(m->name, FtB_mxm(C, L, NULL, FTB_PLUS_PAIR, L, L, FTB_DESC_S));
    result->seconds = bench_now() - start;
    result->cpu = bench_cpu() - cpu;
    result->check = ok ? sum_of(C) : 0;
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&L);
    return ok;
}

/* ---- files */

/* Writes a graph for the measurements that read it, unless it is there. */
static const char *input_file(const bench_settings *s, const char *name, const char *ending)
{
    FtB_Matrix A = NULL;
    const char *path = bench_path(s, name, ending);
    if (access(path, R_OK) == 0)
        return path;
    bool ok = say("input", gen_matrix(&A, graph(name))) &&
              say(path, FtB_Matrix_write(A, path, FTB_FORMAT_AUTO, NULL, NULL, 0));
    FtB_Matrix_free(&A);
    return ok ? path : NULL;
}

static bool read_text(const bench_settings *s, const bench_measure *m, bench_result *result)
{
    FtB_Matrix A = NULL;
    const char *path = input_file(s, m->input, m->argument);
    FtB_Context_set_threads(NULL, m->threads);
    bench_touch();
    double start = bench_now(), cpu = bench_cpu();
    bool ok = path && say(m->name, FtB_Matrix_read(&A, NULL, NULL, path, NULL));
    result->seconds = bench_now() - start;
    result->cpu = bench_cpu() - cpu;
    result->bytes = path ? bench_file_size(path) : 0;
    result->check = ok ? sum_of(A) : 0;
    FtB_Matrix_free(&A);
    return ok;
}

static bool write_text(const bench_settings *s, const bench_measure *m, bench_result *result)
{
    FtB_Matrix A = NULL;
    const char *path = bench_path(s, "written", m->argument);
    FtB_Context_set_threads(NULL, m->threads);
    bool ok = say("input", gen_matrix(&A, graph(m->input)));
    double start = bench_now(), cpu = bench_cpu();
    ok = ok && say(m->name, FtB_Matrix_write(A, path, FTB_FORMAT_AUTO, NULL, NULL, 0));
    result->seconds = bench_now() - start;
    result->cpu = bench_cpu() - cpu;
    result->bytes = bench_file_size(path);
    FtB_Matrix_free(&A);
    remove(path);
    return ok;
}

/* ---- the command, in a process of its own */

/* The result as a file takes 50 GB. */
static bool has_room(const bench_settings *s, const char *name)
{
    struct statvfs st;
    bool room = statvfs(s->work, &st) == 0 && (double)st.f_bavail * (double)st.f_frsize > 60e9;
    if (!room)
        fprintf(stderr, "%s: skipped: less than 60 GB are free in %s\n", name, s->work);
    return room;
}

static bool limited(const bench_settings *s, const bench_measure *m, bench_result *result)
{
    char threads[16];
    const char *input = input_file(s, m->input, ".csr"), *out = bench_path(s, "limited", ".csr");
    const bool stored = strcmp(m->argument, "--output") == 0;
    snprintf(threads, sizeof threads, "%d", m->threads);
    const char *arguments[] = {s->command, "project",   input,   "-q",        "--memory-limit",
                               "2G",       "--threads", threads, m->argument, stored ? out : "json",
                               NULL};
    bool ok = input && (!stored || has_room(s, m->name)) &&
              bench_spawn(arguments, bench_path(s, "limited", ".json"), result);
    if (stored)
        result->bytes = bench_file_size(out);
    return ok;
}

/* As many bytes as `limited` left behind, by plain writes: the file system's own speed. */
static bool plain_write(const bench_settings *s, const bench_measure *m, bench_result *result)
{
    static char buffer[1 << 23];
    const char *path = bench_path(s, "limited", ".csr");
    double left = bench_file_size(path);
    (void)m;
    memset(buffer, 1, sizeof buffer);
    result->bytes = left;
    remove(path);
    double start = bench_now(), cpu = bench_cpu();
    FILE *f = fopen(path, "wb");
    bool ok = f && left > 0;
    if (f)
        setvbuf(f, NULL, _IONBF, 0);
    for (; ok && left > 0; left -= sizeof buffer)
        ok = fwrite(buffer, 1, sizeof buffer, f) == sizeof buffer;
    if (f)
        ok = fclose(f) == 0 && ok;
    result->seconds = bench_now() - start;
    result->cpu = bench_cpu() - cpu;
    remove(path);
    return ok;
}

static bool small(const bench_settings *s, const bench_measure *m, bench_result *result)
{
    char path[BENCH_PATH];
    const char *data = getenv("FEATBLAS_DATA");
    if (!data) {
        fprintf(stderr, "%s: skipped: FEATBLAS_DATA is not set\n", m->name);
        return false;
    }
    snprintf(path, sizeof path, "%s/%s", data, m->input);
    return bench_spawn((const char *const[]){s->command, "project", path, NULL}, NULL, result);
}

/* ---- the cases */

static const bench_measure measures[] = {
    {"count, statistics, triangle", 1, statistics_triangle, MOVIELENS, "count", false},
    {"scipy", 1, bench_peer, MOVIELENS, "scipy", false},
    {"MKL syrk", 1, bench_peer, MOVIELENS, "mkl_syrk", false},
    {"GraphBLAS plus_pair", 1, bench_peer, MOVIELENS, "graphblas_plus_pair", false},
    {"count, statistics, triangle", 2, statistics_triangle, MOVIELENS, "count", false},
    {"count, triangle in memory", 1, store_triangle, MOVIELENS, "count", false},
    {"count, full in memory", 1, store_full, MOVIELENS, "count", false},
    {"MKL full", 1, bench_peer, MOVIELENS, "mkl_full", false},
    {"dot, statistics, triangle", 1, statistics_triangle, MOVIELENS, "dot", false},
    {"scipy, weights", 1, bench_peer, MOVIELENS, "scipy_weights", false},
    {"MKL syrk, weights", 1, bench_peer, MOVIELENS, "mkl_syrk_weights", false},
    {"pearson, statistics, triangle", 1, statistics_triangle, MOVIELENS, "pearson", false},
    {"a/(a+b), full in memory", 1, store_full, MOVIELENS, "plus : a / (a + b)", false},
    {"jaccard, top 20, TSV", 1, top_20_tsv, MOVIELENS, "jaccard", false},
    {"similaripy jaccard", 1, bench_peer, MOVIELENS, "similaripy_jaccard", false},
    {"jaccard, top 20, TSV", 2, top_20_tsv, MOVIELENS, "jaccard", false},
    {"similaripy jaccard", 2, bench_peer, MOVIELENS, "similaripy_jaccard", false},
    {"dot, top 20, TSV", 1, top_20_tsv, MOVIELENS, "dot", false},
    {"similaripy dot_product", 1, bench_peer, MOVIELENS, "similaripy_dot", false},
    {"sp_matmul_topn", 1, bench_peer, MOVIELENS, "sparse_dot_topn", false},
    {"dot, top 20, TSV", 2, top_20_tsv, MOVIELENS, "dot", false},
    {"similaripy dot_product", 2, bench_peer, MOVIELENS, "similaripy_dot", false},
    {"sp_matmul_topn", 2, bench_peer, MOVIELENS, "sparse_dot_topn", false},
    {"triangles, C<L> = L L", 1, triangles, RMAT, NULL, false},
    {"GraphBLAS triangles", 1, bench_peer, RMAT, "graphblas_triangles", false},
    {"triangles, C<L> = L L", 2, triangles, RMAT, NULL, false},
    {"GraphBLAS triangles", 2, bench_peer, RMAT, "graphblas_triangles", false},
    {"read Matrix Market", 1, read_text, MOVIELENS, ".mtx", false},
    {"write TSV", 1, write_text, MOVIELENS, ".tsv", false},
    {"command, chesapeake", 2, small, "chesapeake.mtx", NULL, false},
    {"within 2 GiB, statistics", 2, limited, RMAT_WIDE, "--stats", true},
    {"within 2 GiB, scipy in row chunks", 1, bench_peer, RMAT_WIDE, "scipy_chunks", true},
    {"within 2 GiB, raw CSR", 2, limited, RMAT_WIDE, "--output", true},
    {"within 2 GiB, plain write", 1, plain_write, RMAT_WIDE, NULL, true},
};

static const bench_bar bars[] = {
    {"count, statistics over the triangle / scipy A.T @ A", BENCH_RATIO, "count, statistics, triangle", 1,
     "scipy", 1, 10},
    {"count, statistics over the triangle / MKL syrk", BENCH_RATIO, "count, statistics, triangle", 1,
     "MKL syrk", 1, 6},
    {"count, statistics over the triangle / GraphBLAS plus_pair", BENCH_RATIO, "count, statistics, triangle",
     1, "GraphBLAS plus_pair", 1, 12},
    {"count, triangle in memory / scipy", BENCH_RATIO, "count, triangle in memory", 1, "scipy", 1, 8},
    {"count, triangle in memory / MKL syrk", BENCH_RATIO, "count, triangle in memory", 1, "MKL syrk", 1, 5},
    {"count, full in memory, sorted / scipy", BENCH_RATIO, "count, full in memory", 1, "scipy", 1, 6},
    {"count, full in memory, sorted / MKL full", BENCH_RATIO, "count, full in memory", 1, "MKL full", 1, 6},
    {"dot, statistics over the triangle / scipy", BENCH_RATIO, "dot, statistics, triangle", 1,
     "scipy, weights", 1, 8},
    {"dot, statistics over the triangle / MKL syrk", BENCH_RATIO, "dot, statistics, triangle", 1,
     "MKL syrk, weights", 1, 5},
    {"Pearson / dot", BENCH_RATIO, "pearson, statistics, triangle", 1, "dot, statistics, triangle", 1,
     1 / 3.0},
    {"triangle counting / GraphBLAS, 1 thread", BENCH_RATIO, "triangles, C<L> = L L", 1,
     "GraphBLAS triangles", 1, 1},
    {"triangle counting / GraphBLAS, 2 threads", BENCH_RATIO, "triangles, C<L> = L L", 2,
     "GraphBLAS triangles", 2, 1},
    {"jaccard, top 20, as TSV / similaripy, 1 thread", BENCH_RATIO, "jaccard, top 20, TSV", 1,
     "similaripy jaccard", 1, 5},
    {"jaccard, top 20, as TSV / similaripy, 2 threads", BENCH_RATIO, "jaccard, top 20, TSV", 2,
     "similaripy jaccard", 2, 3.5},
    {"dot, top 20 / similaripy dot_product, 1 thread", BENCH_RATIO, "dot, top 20, TSV", 1,
     "similaripy dot_product", 1, 4},
    {"dot, top 20 / similaripy dot_product, 2 threads", BENCH_RATIO, "dot, top 20, TSV", 2,
     "similaripy dot_product", 2, 4},
    {"dot, top 20 / sp_matmul_topn, 1 thread", BENCH_RATIO, "dot, top 20, TSV", 1, "sp_matmul_topn", 1, 7},
    {"dot, top 20 / sp_matmul_topn, 2 threads", BENCH_RATIO, "dot, top 20, TSV", 2, "sp_matmul_topn", 2, 7},
    {"plus : a/(a+b), full / count, full", BENCH_RATIO, "a/(a+b), full in memory", 1, "count, full in memory",
     1, 1 / 2.5},
    {"two threads over one", BENCH_RATIO, "count, statistics, triangle", 2, "count, statistics, triangle", 1,
     1.8},
    {"rmat-18-44 under 2 GiB, statistics / scipy in row chunks", BENCH_RATIO, "within 2 GiB, statistics", 2,
     "within 2 GiB, scipy in row chunks", 1, 5},
    {"the same: peak resident size", BENCH_PEAK, "within 2 GiB, statistics", 2, NULL, 0,
     1.05 * 2147483648.0 + 33554432},
    {"the same as raw CSR: peak resident size", BENCH_PEAK, "within 2 GiB, raw CSR", 2, NULL, 0,
     1.05 * 2147483648.0 + 33554432},
    {"the same as raw CSR / plain write of the same bytes", BENCH_RATIO, "within 2 GiB, raw CSR", 2,
     "within 2 GiB, plain write", 1, 1},
    {"the same as raw CSR / statistics alone", BENCH_RATIO, "within 2 GiB, raw CSR", 2,
     "within 2 GiB, statistics", 2, 1 / 1.3},
    {"reading Matrix Market text, 20 M entries, 1 core", BENCH_RATE, "read Matrix Market", 1, NULL, 0, 250},
    {"writing triples as text, 1 core", BENCH_RATE, "write TSV", 1, NULL, 0, 150},
    {"featblas project chesapeake.mtx, whole process", BENCH_SECONDS, "command, chesapeake", 2, NULL, 0,
     0.030},
};

int main(int argc, char **argv)
{
    bench_settings s = {.repeats = 3};
    static bench_runs runs[sizeof measures / sizeof *measures];
    const int nmeasures = (int)(sizeof measures / sizeof *measures),
              nbars = (int)(sizeof bars / sizeof *bars);
    if (!bench_parse(&s, argc - 1, argv + 1))
        return 2;
    if (!s.command) {
        fputs("--command: where the program featblas is\n", stderr);
        return 2;
    }
    for (int i = 0; s.python && i < nmeasures; i++) /* what peers read */
        if (measures[i].run == bench_peer && !input_file(&s, measures[i].input, ".npz"))
            return 1;
    bench_run(&s, nmeasures, measures, runs);
    bench_report(&s, nmeasures, measures, runs, nbars, bars);
    for (size_t g = 0; g < sizeof graphs / sizeof *graphs; g++)
        gen_free(&graphs[g]);
    return 0;
}

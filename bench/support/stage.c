/* Graphs and features of the benchmarks of feature blocks. */
#include "stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bench_stage stage;

static void need(bool ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "%s: %s\n", what, gen_error()[0] ? gen_error() : "not enough memory");
        exit(1);
    }
}

float bench_feature(int64_t row, int64_t column, uint32_t salt)
{
    uint32_t h = (uint32_t)row * 2654435761u + (uint32_t)column * 2246822519u + salt;
    h = (h ^ h >> 15) * 2246822519u;
    h = (h ^ h >> 13) * 3266489917u;
    return (float)(h >> 9) * 0x1p-22f - 1;
}

static void fill(float *x, int64_t rows, int64_t columns, uint32_t salt)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; i++)
        for (int64_t f = 0; f < columns; f++)
            x[i * columns + f] = bench_feature(i, f, salt);
}

static float *features(int64_t rows, int64_t columns, uint32_t salt)
{
    float *x = aligned_alloc(64, ((size_t)(rows * columns) * sizeof *x + 64) / 64 * 64);
    need(x != NULL, "features");
    fill(x, rows, columns, salt);
    return x;
}

static void drop(float **x)
{
    free(*x);
    *x = NULL;
}

static void set_dim(int64_t dim)
{
    if (stage.dim == dim)
        return;
    drop(&stage.X);
    drop(&stage.Y);
    drop(&stage.C);
    stage.dim = dim;
}

static void drop_edges(void)
{
    FtB_Matrix_free(&stage.W);
    drop(&stage.scores);
    stage.weights = NULL;
    stage.heads = 0;
}

void bench_stage_free(void)
{
    set_dim(0);
    drop_edges();
    FtB_Matrix_free(&stage.A);
    gen_free(&stage.graph);
    stage = (bench_stage){0};
}

static void set_graph(const char *name)
{
    char kind[64];
    long long vertices = 0;
    if (strcmp(stage.name, name) == 0)
        return;
    bench_stage_free();
    sscanf(name, "%63[^@]@%lld", kind, &vertices);
    fprintf(stderr, "making %s\n", name);
    GrB_Info info = strcmp(kind, "rand-100k") == 0
                        ? gen_make_rand100k(&stage.graph, GEN_PATTERN, 1)
                        : gen_make_like(&stage.graph, kind, vertices, GEN_PATTERN, 1);
    need(info == GrB_SUCCESS, name);
    need(gen_matrix(&stage.A, &stage.graph) == GrB_SUCCESS, name);
    snprintf(stage.name, sizeof stage.name, "%s", name);
}

bench_stage *bench_stage_get(const bench_measure *m)
{
    const bench_case c = bench_case_of(m);
    set_graph(m->input);
    set_dim(c.dim);
    if (!stage.X) {
        stage.X = features(stage.graph.ncols, c.dim, 1);
        stage.C = features(stage.graph.nrows, c.dim, 0); /* touched, so that no run pays for its pages */
    }
    return &stage;
}

void bench_stage_targets(bench_stage *s)
{
    if (!s->Y)
        s->Y = features(s->graph.nrows, s->dim, 2);
}

void bench_stage_edges(bench_stage *s, int64_t heads)
{
    FtB_Block values = NULL;
    void *data = NULL;
    if (s->W && s->heads == heads)
        return;
    drop_edges();
    bool ok = FtB_Matrix_like(&s->W, s->A, heads, FTB_FP32) == GrB_SUCCESS &&
              FtB_Matrix_values(&values, s->W) == GrB_SUCCESS &&
              FtB_Block_shape(values, NULL, NULL, NULL, NULL, &data) == GrB_SUCCESS;
    need(ok, "edge values");
    FtB_Block_free(&values);
    s->heads = heads;
    s->weights = data;
    fill(s->weights, s->graph.nvals, heads, 3);
    s->scores = features(s->graph.nvals, heads, 0);
}

double bench_stage_bytes(const bench_measure *m)
{
    const bench_stage *s = bench_stage_get(m);
    return 4.0 * (double)s->graph.nvals * (double)s->dim;
}

double bench_sum(const float *x, int64_t count)
{
    double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int64_t i = 0; i < count; i++)
        sum += (double)x[i];
    return sum;
}

bool bench_stage_file(const bench_settings *s, const char *graph)
{
    const char *path = bench_path(s, graph, ".npz");
    if (access(path, R_OK) == 0)
        return true;
    set_graph(graph);
    if (FtB_Matrix_write(stage.A, path, FTB_FORMAT_AUTO, NULL, NULL, 0) == GrB_SUCCESS)
        return true;
    fprintf(stderr, "%s: %s\n", path, FtB_error());
    return false;
}

bool bench_time_cold(bench_step step, void *state, bench_result *result)
{
    const double start = bench_now(), cpu = bench_cpu();
    int steps = 0;
    bool ok = true;
    while (ok && (steps == 0 || bench_now() - start < 0.2)) {
        ok = step(state);
        steps++;
    }
    result->seconds = (bench_now() - start) / steps;
    result->cpu = (bench_cpu() - cpu) / steps;
    return ok;
}

bool bench_time(bench_step step, void *state, bench_result *result)
{
    const double start = bench_now();
    bool ok = step(state);
    const double first = bench_now() - start;
    ok = ok && bench_time_cold(step, state, result);
    result->setup = first > result->seconds ? first - result->seconds : 0;
    return ok;
}

bool bench_block(FtB_Block *X, float *data, int64_t nrows, int64_t ncols, int64_t heads)
{
    FtB_Block whole = NULL;
    bool ok = FtB_Block_wrap(&whole, data, nrows, ncols, ncols, FTB_FP32) == GrB_SUCCESS &&
              FtB_Block_heads(X, whole, heads) == GrB_SUCCESS;
    FtB_Block_free(&whole);
    return ok;
}

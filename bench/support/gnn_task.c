/* Data of the benchmark of graph neural networks. */
#include "gnn.h"

#include "core/core.h"
#include "data/dataset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool gnn_ok(GrB_Info info)
{
    if (info != GrB_SUCCESS)
        fprintf(stderr, "gnn: %s\n", FtB_error());
    return info == GrB_SUCCESS;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double gnn_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, by_value);
    return 0.5 * (values[count / 2] + values[(count - 1) / 2]);
}

/* A matrix of the same pattern without values. */
static bool drop_values(FtB_Matrix *A)
{
    FtB_Matrix plain = NULL;
    bool ok = gnn_ok(FtB_Matrix_like(&plain, *A, 0, FTB_FP32));
    FtB_Matrix_free(A);
    *A = plain;
    return ok;
}

/* Every entry (i, j) also as (j, i), each once. */
static bool make_both_ways(FtB_Matrix *A)
{
    const int64_t *rowptr;
    const void *columns;
    int64_t n, nvals;
    FtB_Matrix both = NULL;
    FtB_Matrix_shape(*A, &n, NULL, &nvals, NULL, NULL);
    FtB_Matrix_csr(*A, &rowptr, &columns, NULL);
    const int32_t *colidx = columns;
    int64_t *i = malloc((size_t)(2 * nvals) * sizeof *i), *j = malloc((size_t)(2 * nvals) * sizeof *j);
    bool ok = i && j;
    for (int64_t row = 0; ok && row < n; row++)
        for (int64_t e = rowptr[row]; e < rowptr[row + 1]; e++) {
            i[2 * e] = j[2 * e + 1] = row;
            j[2 * e] = i[2 * e + 1] = colidx[e];
        }
    ok = ok && gnn_ok(FtB_Matrix_build(&both, FTB_FP32, n, n, 0, 2 * nvals, i, j, NULL, FTB_DUP_FIRST, NULL));
    free(i);
    free(j);
    FtB_Matrix_free(A);
    *A = both;
    return ok;
}

/* Each row of features divided by its number of entries, which are 1. */
static bool by_row(FtB_Matrix *S, FtB_Matrix from)
{
    const int64_t *rowptr;
    FtB_Block values = NULL;
    float *value;
    int64_t n;
    bool ok = gnn_ok(FtB_Matrix_like(S, from, 1, FTB_FP32)) && gnn_ok(FtB_Matrix_values(&values, *S));
    if (!ok)
        return false;
    FtB_Block_shape(values, NULL, NULL, NULL, NULL, (void **)&value);
    FtB_Matrix_csr(*S, &rowptr, NULL, NULL);
    FtB_Matrix_shape(*S, &n, NULL, NULL, NULL, NULL);
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++)
            value[e] = 1 / (float)(rowptr[i + 1] - rowptr[i]);
    FtB_Block_free(&values);
    return true;
}

static bool folder(gnn_task *t, const char *name)
{
    const char *root = getenv("FEATBLAS_DATA");
    dataset set = {0};
    if (!root) {
        fprintf(stderr, "gnn: %s is looked for in $FEATBLAS_DATA, which is not set\n", name);
        return false;
    }
    bool ok = gnn_ok(dataset_load(&set, bench_text("%s/%s", root, name), &(dataset_options){0}));
    if (ok && (!set.sparse_features || !set.labels || !set.part[DATASET_TRAIN])) {
        fprintf(stderr, "gnn: %s/%s has no sparse features, classes or split\n", root, name);
        ok = false;
    }
    ok = ok && by_row(&t->S, set.sparse_features);
    if (ok) {
        t->n = set.nvertices;
        t->nfeatures = set.nfeatures;
        t->nclasses = set.nclasses;
        t->A = set.graph;
        t->labels = set.labels;
        t->train = set.part[DATASET_TRAIN];
        set.graph = NULL;
        set.labels = NULL;
        set.part[DATASET_TRAIN] = NULL;
    }
    dataset_free(&set);
    return ok && drop_values(&t->A);
}

static bool generated(gnn_task *t, const bench_settings *s)
{
    float *x = NULL;
    int64_t ld = 0;
    const gnn_case *c = t->what;
    t->nfeatures = c->features;
    t->nclasses = c->classes;
    bool ok = bench_stage_file(s, c->graph);
    bench_stage_free();
    ok = ok && gnn_ok(FtB_Matrix_read(&t->A, NULL, NULL, bench_path(s, c->graph, ".npz"), NULL)) &&
         drop_values(&t->A) && (!c->both_ways || make_both_ways(&t->A)) &&
         gnn_ok(FtB_Matrix_shape(t->A, &t->n, NULL, NULL, NULL, NULL)) &&
         gnn_ok(FtB_Block_new(&t->X, t->n, t->nfeatures, FTB_FP32)) &&
         gnn_ok(FtB_Block_shape(t->X, NULL, NULL, &ld, NULL, (void **)&x));
    t->labels = ok ? ftb_new(NULL, t->n, sizeof *t->labels) : NULL;
    if (!t->labels)
        return false;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < t->n; i++) {
        for (int64_t f = 0; f < t->nfeatures; f++)
            x[i * ld + f] = bench_feature(i, f, 1);
        t->labels[i] = (int32_t)(((uint32_t)i * 2654435761u >> 8) % (uint32_t)t->nclasses);
    }
    return true;
}

bool gnn_task_new(gnn_task *t, const gnn_case *what, const bench_settings *s)
{
    *t = (gnn_task){.what = what};
    return strcmp(what->graph, "cora") == 0 ? folder(t, what->graph) : generated(t, s);
}

void gnn_task_free(gnn_task *t)
{
    FtB_Matrix_free(&t->A);
    FtB_Matrix_free(&t->S);
    FtB_Block_free(&t->X);
    ftb_delete(t->labels);
    ftb_delete(t->train);
    *t = (gnn_task){0};
}

/* Sampling on a GPU, beside the host's (gpu_samples.h). */
#include "support/gpu_samples.h"

#include "core/backend.h"
#include "core/core.h"
#include "core/draws.h"
#include "cpu/sample/sample_run.h"
#include "gpu/gpu_verbs.h"
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>

FtB_Matrix gpu_sample_graph(rng *r, int64_t n, int64_t hub, FtB_Type type)
{
    const int64_t most = 12 * n + 2 * hub;
    int64_t *I = malloc(sizeof *I * (size_t)(most + 1)), *J = malloc(sizeof *J * (size_t)(most + 1)),
            count = 0;
    FtB_Matrix A;
    for (int64_t i = 0; i < n; i++)
        for (int64_t few = rng_below(r, 3) == 0 ? 0 : rng_below(r, 12); few > 0; few--, count++) {
            I[count] = i;
            J[count] = rng_below(r, n);
        }
    for (int64_t t = 0; t < 2 * hub; t++, count++) {
        I[count] = t % 2 ? n - 1 : n / 2;
        J[count] = rng_below(r, n);
    }
    void *X = malloc(8 * (size_t)(count + 1));
    rng_values(r, X, type, count);
    for (int64_t e = 0; e < count; e++) { /* weights: none below 0, some 0, and one of each row above */
        const double x = rng_below(r, 6) == 0 && e > 0 && I[e - 1] == I[e] ? 0 : 0.05 + rng_unit(r);
        if (type == FTB_FP32 || type == FTB_FP64)
            ftb_cast((char *)X + (size_t)e * FtB_Type_size(type), type, &x, FTB_FP64, 1);
    }
    assert_ok(FtB_Matrix_build(&A, type, n, n, 1, count, I, J, X, FTB_DUP_FIRST, NULL));
    free(I);
    free(J);
    free(X);
    return A;
}

gpu_sample_picks gpu_sample_pick(ftb_sample_product p, FtB_Matrix A, ftb_buffer *tables, bool there)
{
    gpu_sample_picks s;
    GrB_Info (*const run)(const ftb_sample_product *) = there ? ftb_gpu_sample : ftb_sample_run;
    void *values = NULL;
    if (tables) {
        if (there)
            assert_ok(ftb_buffer_ask_at(tables, ftb_device(ftb_context()), FTB_READ, &values));
        p.tables = there ? values : ftb_buffer_data(tables);
    } else if (p.selector != FTB_SAMPLE_UNIFORM && p.selector != FTB_SAMPLE_LABOR) {
        if (there)
            assert_ok(ftb_buffer_ask_at(A->values, ftb_device(ftb_context()), FTB_READ, &values));
        p.values = there ? values : ftb_values(A);
        p.type = A->type;
    }
    p.rowptr = s.rowptr = calloc((size_t)p.nrows + 1, sizeof *s.rowptr);
    assert_ok(run(&p));
    p.entries = s.entries = malloc(sizeof *s.entries * (size_t)(s.rowptr[p.nrows] + 1));
    p.columns = s.columns = malloc(sizeof *s.columns * (size_t)(s.rowptr[p.nrows] + 1));
    assert_ok(run(&p));
    return s;
}

void gpu_sample_same_picks(const gpu_sample_picks *a, const gpu_sample_picks *b, int64_t nrows,
                           const char *what)
{
    for (int64_t r = 0; r <= nrows; r++)
        if (a->rowptr[r] != b->rowptr[r])
            fail_msg("%s: row %lld begins at %lld, on the host at %lld", what, (long long)r,
                     (long long)b->rowptr[r], (long long)a->rowptr[r]);
    for (int64_t t = 0; t < a->rowptr[nrows]; t++)
        if (a->entries[t] != b->entries[t] || a->columns[t] != b->columns[t])
            fail_msg("%s: pick %lld is entry %lld, on the host %lld", what, (long long)t,
                     (long long)b->entries[t], (long long)a->entries[t]);
}

void gpu_sample_free(gpu_sample_picks *s)
{
    free(s->rowptr);
    free(s->entries);
    free(s->columns);
}

gpu_sample_trees gpu_sample_plant(rng *r, ftb_sample_product *p)
{
    const int64_t count = 1 + rng_below(r, 20);
    gpu_sample_trees t = {malloc(4 * (size_t)(p->nrows + 1)), malloc(8 * (size_t)count),
                          malloc(8 * (size_t)count)};
    for (int64_t n = 0; n < p->nrows; n++)
        t.trees[n] = (int32_t)rng_below(r, count);
    for (int64_t n = 0; n < count; n++) {
        t.seeds[n] = rng_bits(r);
        t.streams[n] = ftb_draw_stream(&t.seeds[n], (uint64_t)rng_below(r, 9), 2);
    }
    p->trees = t.trees;
    p->ntrees = count;
    p->seeds = t.seeds;
    p->streams = rng_below(r, 2) ? t.streams : NULL;
    return t;
}

void gpu_sample_fell(gpu_sample_trees *t)
{
    free(t->trees);
    free(t->seeds);
    free(t->streams);
}

void gpu_sample_same(FtB_Sample a, FtB_Sample b, int nhops, const char *what)
{
    const FtB_Ids v = FtB_Sample_vertices(a), w = FtB_Sample_vertices(b);
    if (v.count != w.count)
        fail_msg("%s: %lld vertices, on the host %lld", what, (long long)w.count, (long long)v.count);
    assert_memory_equal(v.at, w.at, 8 * (size_t)v.count);
    assert_int_equal(FtB_Sample_trees(a) != NULL, FtB_Sample_trees(b) != NULL);
    if (FtB_Sample_trees(a))
        assert_memory_equal(FtB_Sample_trees(a), FtB_Sample_trees(b), 4 * (size_t)v.count);
    assert_memory_equal(FtB_Sample_vertex_counts(a).at, FtB_Sample_vertex_counts(b).at,
                        8 * (size_t)(nhops + 1));
    assert_memory_equal(FtB_Sample_edge_counts(a).at, FtB_Sample_edge_counts(b).at, 8 * (size_t)nhops);
    for (int h = 0; h < nhops; h++) {
        const FtB_Matrix x = FtB_Sample_layer(a, h), y = FtB_Sample_layer(b, h);
        const FtB_Ids e = FtB_Sample_edges(a, h), f = FtB_Sample_edges(b, h);
        const size_t count = (size_t)x->pattern->nvals;
        assert_int_equal(x->pattern->nrows, y->pattern->nrows);
        assert_int_equal(x->pattern->ncols, y->pattern->ncols);
        assert_int_equal(x->pattern->nvals, y->pattern->nvals);
        assert_int_equal(x->pattern->multi, y->pattern->multi);
        assert_int_equal(x->width, y->width);
        assert_memory_equal(x->pattern->rowptr, y->pattern->rowptr, 8 * (size_t)(x->pattern->nrows + 1));
        assert_memory_equal(x->pattern->colidx, y->pattern->colidx, 4 * count);
        assert_int_equal(e.count, f.count);
        assert_memory_equal(e.at, f.at, 8 * (size_t)e.count);
        if (x->width > 0)
            assert_memory_equal(matrix_values(x), matrix_values(y), FtB_Type_size(x->type) * count);
    }
}

void gpu_sample_same_induced(FtB_Sample a, FtB_Sample b)
{
    const FtB_Matrix x = FtB_Sample_induced(a), y = FtB_Sample_induced(b);
    assert_int_equal(x == NULL, y == NULL);
    if (!x)
        return;
    assert_int_equal(x->pattern->nvals, y->pattern->nvals);
    assert_memory_equal(x->pattern->rowptr, y->pattern->rowptr, 8 * (size_t)(x->pattern->nrows + 1));
    assert_memory_equal(x->pattern->colidx, y->pattern->colidx, 4 * (size_t)x->pattern->nvals);
}

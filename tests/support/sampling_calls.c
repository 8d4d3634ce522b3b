/* Calls of sampling (sampling_calls.h). */
#include "support/sampling_calls.h"

#include "support/check.h"

#include <stdlib.h>

/* Uniform picks, and by weight, from rows as long as threads want. */
void sampling_picks(FtB_Matrix A)
{
    FtB_Matrix C;
    int64_t nrows, ncols;
    assert_ok(FtB_Matrix_shape(A, &nrows, &ncols, NULL, NULL, NULL));
    assert_ok(FtB_Matrix_new(&C, FTB_FP32, nrows, ncols, 1));
    assert_ok(FtB_select_sample(C, NULL, 3, NULL, A, FTB_SELECT_OPTIONS(.seed = 7)));
    assert_ok(FtB_select_sample(C, NULL, 3, "x * x", A, NULL));
    assert_ok(FtB_sample_negative(C, NULL, 3, A, FTB_NEGATIVE_OPTIONS(.seed = 7)));
    assert_ok(FtB_Matrix_free(&C));
}

void sampling_hops(FtB_Matrix A, FtB_Block X, const int64_t *rows, int64_t count)
{
    FtB_Sample hops;
    FtB_Loader l;
    assert_ok(FtB_sample(&hops, A, rows, count, (int64_t[]){3, 2}, 2, FTB_SAMPLE_OPTIONS(.seed = 7)));
    assert_ok(FtB_Sample_free(&hops));
    FtB_Relations list;
    FtB_Relation_sample of;
    assert_ok(FtB_Relations_new(&list));
    assert_ok(FtB_Relations_add(list, "to", "a", "a", A));
    assert_ok(FtB_Relations_sample(&of, list, &(FtB_Ids){rows, count}, (int64_t[]){3}, 1, NULL));
    assert_ok(FtB_Relation_sample_free(&of));
    assert_ok(FtB_Relations_free(&list));
    assert_ok(
        FtB_Loader_new(&l, A, X, NULL, rows, count, FTB_LOADER(.fanout = {3}, .batch = count, .ahead = -1)));
    assert_non_null(FtB_Loader_next(l));
    assert_ok(FtB_Loader_free(&l));
}

void sampling_walks(FtB_Matrix A, const int64_t *rows, int64_t count)
{
    FtB_Block walks;
    FtB_Sample hops;
    assert_ok(FtB_walk(&walks, A, rows, count, 4, FTB_WALK_OPTIONS(.restart = 0.1, .p = 2, .seed = 7)));
    FtB_Block_free(&walks);
    assert_ok(FtB_walk(&walks, A, rows, count, 2, FTB_WALK_OPTIONS(.key = "x * x")));
    FtB_Block_free(&walks);
    assert_ok(FtB_pinsage(&hops, A, rows, count, (int64_t[]){3}, 1, 2, FTB_WALK_OPTIONS(.each = 4)));
    FtB_Sample_free(&hops);
}

void sampling_subgraphs(FtB_Matrix A, const int64_t *rows, int64_t count)
{
    FtB_Sample sub;
    FtB_Saint saint;
    FtB_Clusters clusters;
    int64_t nrows, cut;
    assert_ok(FtB_subgraph(&sub, A, rows, count, NULL));
    FtB_Sample_free(&sub);
    assert_ok(FtB_Matrix_shape(A, &nrows, NULL, NULL, NULL, NULL));
    int32_t *labels = malloc(sizeof *labels * (size_t)nrows);
    assert_ok(FtB_partition(labels, A, 1, NULL));
    for (int64_t v = 0; v < nrows; v++)
        labels[v] = (int32_t)(v % 2);
    assert_ok(FtB_partition_measure(&cut, NULL, A, labels, 2));
    assert_ok(FtB_Clusters_new(&clusters, A, labels, 2, NULL));
    assert_ok(FtB_Clusters_batch(&sub, clusters, 0, 0));
    FtB_Sample_free(&sub);
    FtB_Clusters_free(&clusters);
    free(labels);
    for (int kind = FTB_SAINT_NODE; kind <= FTB_SAINT_WALK; kind++) {
        assert_ok(FtB_Saint_new(
            &saint, A, FTB_SAINT_OPTIONS(.kind = (FtB_Saint_kind)kind, .budget = count, .samples = 2)));
        assert_ok(FtB_Saint_batch(&sub, saint, 0));
        FtB_Sample_free(&sub);
        FtB_Saint_free(&saint);
    }
}

/* The complement of no mask admits nothing, whatever the output: a matrix and a block keep what they hold, or
 * lose it under replace, and a sink gets no entry. */
#include "support/check.h"
#include "support/compare.h"
#include "support/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef GrB_Info (*operation)(FtB_Arg C, FtB_Matrix A, FtB_Block X, FtB_Descriptor desc);

static GrB_Info mxm(FtB_Arg C, FtB_Matrix A, FtB_Block X, FtB_Descriptor desc)
{
    (void)X;
    return FtB_mxm(C, NULL, NULL, "plus : a * b", A, A, desc);
}

static GrB_Info counts(FtB_Arg C, FtB_Matrix A, FtB_Block X, FtB_Descriptor desc)
{
    (void)X;
    return FtB_mxm(C, NULL, NULL, FTB_PLUS_PAIR, A, A, desc);
}

static GrB_Info apply(FtB_Arg C, FtB_Matrix A, FtB_Block X, FtB_Descriptor desc)
{
    (void)X;
    return FtB_apply(C, NULL, NULL, "x + 1", A, desc);
}

static GrB_Info selected(FtB_Arg C, FtB_Matrix A, FtB_Block X, FtB_Descriptor desc)
{
    (void)X;
    return FtB_select(C, NULL, NULL, "x == x", A, desc);
}

static GrB_Info largest(FtB_Arg C, FtB_Matrix A, FtB_Block X, FtB_Descriptor desc)
{
    (void)X;
    return FtB_select_topk(C, NULL, NULL, 2, A, desc);
}

static GrB_Info added(FtB_Arg C, FtB_Matrix A, FtB_Block X, FtB_Descriptor desc)
{
    (void)X;
    return FtB_eWiseAdd(C, NULL, NULL, "x + y", A, A, desc);
}

static GrB_Info multiplied(FtB_Arg C, FtB_Matrix A, FtB_Block X, FtB_Descriptor desc)
{
    (void)X;
    return FtB_eWiseMult(C, NULL, NULL, "x * y", A, A, desc);
}

static GrB_Info times_block(FtB_Arg C, FtB_Matrix A, FtB_Block X, FtB_Descriptor desc)
{
    return FtB_mxm(C, NULL, NULL, "plus : src", A, X, desc);
}

static GrB_Info apply_block(FtB_Arg C, FtB_Matrix A, FtB_Block X, FtB_Descriptor desc)
{
    (void)A;
    return FtB_apply(C, NULL, NULL, "x + 1", X, desc);
}

static GrB_Info add_blocks(FtB_Arg C, FtB_Matrix A, FtB_Block X, FtB_Descriptor desc)
{
    (void)A;
    return FtB_eWiseAdd(C, NULL, NULL, "x + y", X, X, desc);
}

static GrB_Info reduce(FtB_Arg C, FtB_Matrix A, FtB_Block X, FtB_Descriptor desc)
{
    (void)X;
    return FtB_reduce(C, NULL, NULL, "plus", A, desc);
}

static GrB_Info reduce_block(FtB_Arg C, FtB_Matrix A, FtB_Block X, FtB_Descriptor desc)
{
    (void)A;
    return FtB_reduce(C, NULL, NULL, "plus", X, desc);
}

#define N 9

static FtB_Matrix values(uint64_t seed)
{
    rng r = {seed};
    FtB_Matrix A = rng_matrix(&r, FTB_FP64, N, N, 1, 0.5);
    return A;
}

static void matrices(void **state)
{
    (void)state;
    const operation operations[] = {mxm, counts, apply, selected, largest, added, multiplied};
    FtB_Matrix A = values(1), C = values(2), before, empty;
    assert_ok(FtB_Matrix_dup(&before, C));
    assert_ok(FtB_Matrix_new(&empty, FTB_FP64, N, N, 1));
    for (size_t o = 0; o < sizeof operations / sizeof *operations; o++) {
        assert_ok(operations[o](FTB_ARG(C), A, NULL, FTB_DESC_C));
        assert_same(C, before);
        assert_ok(operations[o](FTB_ARG(C), A, NULL, FTB_DESC_RC));
        assert_same(C, empty);
        FtB_Matrix_free(&C);
        assert_ok(FtB_Matrix_dup(&C, before));
    }
    FtB_Matrix E;
    assert_ok(FtB_Matrix_new(&E, FTB_INT64, N, N, 1));
    assert_ok(FtB_mxm_arg(C, E, NULL, "min : a * b", A, A, FTB_DESC_C)); /* implies replace */
    assert_same(C, empty);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&E);
    FtB_Matrix_free(&before);
    FtB_Matrix_free(&empty);
}

static void blocks(void **state)
{
    (void)state;
    static const struct {
        operation f;
        int64_t ncols;
    } operations[] = {{times_block, 3}, {apply_block, 3}, {add_blocks, 3}, {reduce, 1}, {reduce_block, 1}};
    double x[3 * N], c[3 * N];
    FtB_Matrix A = values(1);
    FtB_Block X, C;
    for (int t = 0; t < 3 * N; t++)
        x[t] = 0.25 * t - 1;
    assert_ok(FtB_Block_wrap(&X, x, N, 3, 3, FTB_FP64));
    for (size_t o = 0; o < sizeof operations / sizeof *operations; o++) {
        for (int t = 0; t < 3 * N; t++)
            c[t] = 7 + t;
        assert_ok(FtB_Block_wrap(&C, c, N, operations[o].ncols, operations[o].ncols, FTB_FP64));
        assert_ok(operations[o].f(FTB_ARG(C), A, X, FTB_DESC_C));
        for (int t = 0; t < 3 * N; t++)
            assert_true(c[t] == 7 + t);
        assert_ok(operations[o].f(FTB_ARG(C), A, X, FTB_DESC_RC));
        for (int t = 0; t < 3 * N; t++)
            assert_true(c[t] == (t < N * operations[o].ncols ? 0 : 7 + t));
        FtB_Block_free(&C);
    }
    FtB_Block_free(&X);
    FtB_Matrix_free(&A);
}

static GrB_Info add_entries(const FtB_Rows *rows, void *total)
{
    *(int64_t *)total += rows->rowptr[rows->nrows] - rows->rowptr[0];
    return GrB_SUCCESS;
}

static void sinks(void **state)
{
    (void)state;
    static const FtB_Format formats[] = {FTB_MTX, FTB_TSV, FTB_CSV, FTB_NPZ, FTB_CSR};
    const operation operations[] = {mxm, counts};
    FtB_Matrix A = values(1);
    for (size_t o = 0; o < sizeof operations / sizeof *operations; o++)
        for (int kind = 0; kind < 2 + 5; kind++) {
            char path[] = "/tmp/featblas-complement-XXXXXX";
            int64_t entries = 0;
            FtB_Sink sink;
            FtB_Stats stats;
            if (kind == 0)
                assert_ok(FtB_Sink_stats(&sink));
            else if (kind == 1)
                assert_ok(FtB_Sink_callback(&sink, add_entries, &entries));
            else {
                int file = mkstemp(path);
                assert_true(file >= 0);
                close(file);
                assert_ok(FtB_Sink_file(&sink, path, formats[kind - 2], NULL));
            }
            assert_ok(operations[o](FTB_ARG(sink), A, NULL, FTB_DESC_C));
            assert_ok(FtB_Sink_get_stats(sink, &stats));
            assert_int_equal(stats.nvals, 0);
            assert_int_equal(stats.nrows, N);
            assert_int_equal(entries, 0);
            FtB_Sink_free(&sink);
            if (kind >= 2)
                unlink(path);
        }
    FtB_Matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices),
        cmocka_unit_test(blocks),
        cmocka_unit_test(sinks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Means over neighbours: sums over counts, to the bit, divided where they are. */
#include "support/check.h"

#include "core/core.h"
#include "support/rng.h"

#include <string.h>

/* Under a limit that has no room for another block of the result. */
static void mean_in_place(rng *r, FtB_Type type, int64_t heads, bool masked)
{
    enum { N = 400, D = 96 };
    FtB_Matrix A = rng_matrix(r, FTB_FP32, N, N, 1, 0.05);
    FtB_Block X = rng_block(r, N, D, type), sum = NULL, mean = NULL, mask = NULL, V[3] = {NULL};
    int64_t held;
    assert_ok(FtB_Block_new(&sum, N, D, type));
    assert_ok(FtB_Block_new(&mean, N, D, type));
    assert_ok(FtB_Block_new(&mask, N, 1, FTB_BOOL));
    for (int64_t i = 0; i < N; i++)
        ((bool *)block_values(mask))[i] = i % 3 != 0;
    assert_ok(FtB_Block_heads(&V[0], sum, heads));
    assert_ok(FtB_Block_heads(&V[1], mean, heads));
    assert_ok(FtB_Block_heads(&V[2], X, heads));
    assert_ok(FtB_mxm(V[0], masked ? mask : NULL, NULL, "plus : src", A, V[2], NULL));
    assert_ok(FtB_mxm(V[1], masked ? mask : NULL, NULL, "mean : src", A, V[2], NULL));
    if (!masked) {
        assert_ok(FtB_Context_memory(NULL, &held, NULL));
        assert_ok(FtB_Context_set_memory_limit(NULL, held + 50000)); /* a block has 150 kB and more */
        assert_ok(FtB_mxm(V[1], NULL, NULL, "mean : src", A, V[2], NULL));
        assert_ok(FtB_Context_set_memory_limit(NULL, 0));
    }
    const int64_t *rowptr = A->pattern->rowptr;
    for (int64_t i = 0; i < N; i++)
        for (int64_t f = 0; f < D && rowptr[i + 1] > rowptr[i]; f++) {
            const int64_t n = rowptr[i + 1] - rowptr[i], at = i * D + f;
            if (type == FTB_FP32) {
                float want = ((float *)block_values(sum))[at] / (float)n;
                assert_memory_equal((float *)block_values(mean) + at, &want, sizeof want);
            } else {
                double want = ((double *)block_values(sum))[at] / (double)n;
                assert_memory_equal((double *)block_values(mean) + at, &want, sizeof want);
            }
        }
    FtB_Block *const blocks[] = {&V[0], &V[1], &V[2], &X, &sum, &mean, &mask};
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
        FtB_Block_free(blocks[b]);
    FtB_Matrix_free(&A);
}

static void test_mean(void **state)
{
    rng r = rng_new();
    (void)state;
    mean_in_place(&r, FTB_FP32, 1, false);
    mean_in_place(&r, FTB_FP32, 4, false);
    mean_in_place(&r, FTB_FP64, 1, false);
    mean_in_place(&r, FTB_FP32, 1, true);
    mean_in_place(&r, FTB_FP64, 3, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mean)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

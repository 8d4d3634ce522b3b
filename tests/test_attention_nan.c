/* A score that is no number makes gradients none, whoever has its heads: one, in lanes or not, and four
 * together. */
#include "support/check.h"

#include "core/isa.h"

#include <math.h>

static void special_gradients(void **state)
{
    (void)state;
    enum { MOST = 4 * 16, BLOCKS = 7 };
    const int64_t I[] = {0, 0, 1}, J[] = {0, 1, 1}, heads[] = {1, 1, 2, 4}, widths[] = {16, 5, 16, 16};
    float q[2 * MOST], k[2 * MOST], v[2 * MOST], c[2 * MOST], lse[2 * 4], d[2 * MOST], dv[2 * MOST];
    float *const data[BLOCKS] = {q, k, v, c, lse, d, dv};
    FtB_Matrix A;
    assert_ok(FtB_Matrix_build(&A, FTB_BOOL, 2, 2, 0, 3, I, J, NULL, FTB_DUP_ERROR, NULL));
    for (int t = 0; t < 4 * 3; t++) {
        const int64_t h = heads[t % 4], ncols = h * widths[t % 4];
        FtB_Block B[BLOCKS];
        for (int64_t x = 0; x < 2 * ncols; x++) {
            q[x] = v[x] = d[x] = 1;
            k[x] = x < ncols ? 1 : NAN;
        }
        for (int b = 0; b < BLOCKS; b++) {
            FtB_Block whole;
            const int64_t of = b == 4 ? h : ncols;
            assert_ok(FtB_Block_wrap(&whole, data[b], 2, of, of, FTB_FP32));
            assert_ok(FtB_Block_heads(&B[b], whole, b == 4 ? 1 : h));
            FtB_Block_free(&whole);
        }
        ftb_isa_force(t / 4);
        assert_ok(FtB_attention(B[3], A, NULL, FTB_PLUS_DOT, B[0], B[1], B[2],
                                FTB_ATTENTION_OPTIONS(.lse = B[4]), NULL));
        assert_ok(FtB_attention_grad(NULL, NULL, B[6], B[5], A, FTB_PLUS_DOT, B[0], B[1], B[2], B[3],
                                     FTB_ATTENTION_OPTIONS(.lse = B[4]), NULL));
        for (int64_t x = 0; x < 2 * ncols; x++)
            assert_true(isnan(c[x]) && isnan(dv[x]));
        for (int b = 0; b < BLOCKS; b++)
            FtB_Block_free(&B[b]);
    }
    ftb_isa_force(-1);
    FtB_Matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(special_gradients)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

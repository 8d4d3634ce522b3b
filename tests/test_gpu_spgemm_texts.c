/* Texts of sparse x sparse products on a GPU that does not exist (support/fake_cuda): messages, epilogues and
 * filters, which are made into kernels, give the host's bits; what cannot be made into any is done on the
 * host.
 *
 * Labels: slow */
#include "support/check.h"

#include "core/core.h"
#include "support/compare.h"
#include "support/fakes.h"
#include "support/gpu_spgemm.h"

#include <stdlib.h>

static const projection projections[] = {
    {"plus : [a * b, a, b - k]", FTB_FP32, REALS, FTB_FP64, 1, true, "h0 / sqrt(abs(h1 * h2) + 1)", NULL},
    {"plus : 1", FTB_FP32, NONE, FTB_FP64, 1, true, "h / (di + dj - h)", "w > 0.1 && j != i + 2"},
    {"cosine", FTB_FP32, RATINGS, FTB_FP64, 1, true, NULL, NULL},
    {"mean : a * b / (di + dj + dk) + si - 0.5 * sj * sk", FTB_FP32, REALS, FTB_FP64, 1, true, NULL, NULL},
    {"min : a + b", FTB_FP64, REALS, FTB_FP64, 1, true, NULL, "qi + qj > si"},
    {"max : i * j - k", FTB_FP32, NONE, FTB_INT64, 1, true, NULL, NULL},
    {"or : a > b", FTB_FP32, REALS, FTB_BOOL, 1, true, NULL, NULL},
    {"any : 2", FTB_FP32, NONE, FTB_INT64, 1, true, NULL, "j > i + 1 || i > nrows"},
    {"plus : [1, a, b, a * b, a * a, b * b]", FTB_FP32, RATINGS, FTB_FP32, 6, true, NULL, "h0 > 2"},
    {"times : a", FTB_FP16, REALS, FTB_FP32, 1, true, "exp(h) + tanh(i * 0.1) + ncols", NULL},
    {"plus : a * b", FTB_FP32, REALS, FTB_FP64, 1, false, "hypergeom_sf([h, 9, 5, 4])", NULL},
    {"plus : [a, b]", FTB_FP32, REALS, FTB_FP32, 2, false, "h * 2", NULL}};

static void texts(void **state)
{
    static const gpu_size *const sizes[] = {&as_it_is, &tiny};
    rng r = rng_new();
    (void)state;
    for (size_t k = 0; k < sizeof projections / sizeof *projections; k++)
        for (int n = 0; n < 4; n++) {
            const projection *p = &projections[k];
            FtB_Project_options o = *FTB_PROJECT_OPTIONS(.onto = n % 2 ? FTB_ROWS : FTB_COLS,
                                                         .triangle = n == 3, .self_loops = n == 1);
            if (n / 2 && p->width == 1) {
                o.top_k = 4;
                o.use_min_weight = n == 2;
                o.min_weight = 0.2;
            }
            FtB_Matrix R = gpu_matrix(&r, p->type, 34, 41, p->kind);
            FtB_Matrix C = gpu_projects_as_host(p, R, &o, sizes[n / 2], true);
            FtB_Matrix_free(&C);
            FtB_Matrix_free(&R);
        }
}

/* Messages of two operands, in tiles and in hashes. */
static void products(void **state)
{
    rng r = rng_new();
    (void)state;
    FtB_Matrix A = gpu_matrix(&r, FTB_FP32, 30, 45, REALS), B = gpu_matrix(&r, FTB_INT16, 45, 60, RATINGS),
               S = gpu_scattered(&r, FTB_FP32, 45, 30000, 150), T = gpu_scattered(&r, FTB_FP32, 30, 45, 4);
    gpu_use(&of_tiles);
    gpu_multiplies_as_host("max : a - b + j", FTB_FP32, A, B, FtB_Arg_none(), true);
    gpu_use(&as_it_is);
    gpu_multiplies_as_host("min : a * b - di", FTB_FP32, T, S, FtB_Arg_none(), true);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
    FtB_Matrix_free(&S);
    FtB_Matrix_free(&T);
}

/* Under a mask, whose own values only the host knows. */
static void masked(void **state)
{
    rng r = rng_new();
    (void)state;
    FtB_Matrix A = gpu_matrix(&r, FTB_FP32, 24, 45, REALS), B = gpu_matrix(&r, FTB_FP64, 45, 600, REALS),
               M = rng_matrix(&r, FTB_FP32, 24, 600, 1, 0.5);
    static const char *const list[] = {"min : a + b * j", "plus : a * b * m"};
    for (int n = 0; n < 2; n++) {
        FtB_Matrix C[2];
        FtB_Semiring s;
        assert_ok(FtB_Semiring_new(&s, list[n]));
        const int before = fake_gpu_launches();
        for (int gpu = 0; gpu < 2; gpu++) {
            gpu_place(gpu ? "gpu" : "cpu");
            assert_ok(FtB_Matrix_new(&C[gpu], FTB_FP64, 24, 600, 1));
            assert_ok(FtB_mxm(C[gpu], M, NULL, s, A, B, NULL));
            assert_ok(ftb_buffer_ask(C[gpu]->values, FTB_READ));
        }
        assert_int_equal(fake_gpu_launches() > before, n == 0 && fake_gpu_emulates());
        assert_same(C[0], C[1]);
        FtB_Semiring_free(&s);
        FtB_Matrix_free(&C[0]);
        FtB_Matrix_free(&C[1]);
    }
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
    FtB_Matrix_free(&M);
}

/* What is bound is no part of the source: another value is not compiled again. */
static void bound(void **state)
{
    rng r = rng_new();
    (void)state;
    int (*compiled)(void);
    fake_find("fake_nvrtc", "fake_nvrtc_compiled", &compiled);
    FtB_Matrix A = gpu_matrix(&r, FTB_FP32, 20, 30, REALS), C, H;
    const int before = compiled();
    for (int n = 0; n < 3; n++) {
        FtB_Semiring s, t;
        assert_ok(FtB_Semiring_new(&s, "plus : a * scale + b * shift"));
        assert_ok(FtB_Semiring_bind(&t, s, FTB_BIND("scale", 0.5 + n), FTB_BIND("shift", n - 1)));
        gpu_place("cpu");
        assert_ok(FtB_Matrix_new(&H, FTB_FP32, 30, 30, 1));
        assert_ok(FtB_mxm(H, NULL, NULL, t, A, A, FTB_DESC_T0));
        gpu_place("gpu");
        assert_ok(FtB_Matrix_new(&C, FTB_FP32, 30, 30, 1));
        assert_ok(FtB_mxm(C, NULL, NULL, t, A, A, FTB_DESC_T0));
        assert_ok(ftb_buffer_ask(C->values, FTB_READ));
        assert_same(C, H);
        FtB_Matrix_free(&C);
        FtB_Matrix_free(&H);
        FtB_Semiring_free(&s);
        FtB_Semiring_free(&t);
    }
    assert_true(!fake_gpu_emulates() || compiled() - before <= 5); /* one text, and four sources */
    FtB_Matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(bound, beside_clean), cmocka_unit_test_teardown(masked, beside_clean),
        cmocka_unit_test_teardown(texts, beside_clean), cmocka_unit_test_teardown(products, beside_clean)};
    return cmocka_run_group_tests(tests, fake_gpu_start, NULL);
}

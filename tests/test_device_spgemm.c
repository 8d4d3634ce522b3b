/* Products of two sparse matrices, and projections, on a device that does not exist (support/pretend.h): the
 * bits are the host's, and values come home once, for the planner to read. */
#include "support/check.h"

#include "core/core.h"
#include "support/compare.h"
#include "support/pretend.h"
#include "support/rng.h"

enum { ROWS = 60, COLS = 45 };

typedef GrB_Info operation(FtB_Matrix C, FtB_Arg text, FtB_Matrix M, FtB_Matrix A);

static GrB_Info multiply(FtB_Matrix C, FtB_Arg text, FtB_Matrix M, FtB_Matrix A)
{
    return FtB_mxm(C, M, NULL, text, A, A, FTB_DESC_T0);
}
static GrB_Info structural(FtB_Matrix C, FtB_Arg text, FtB_Matrix M, FtB_Matrix A)
{
    return FtB_mxm(C, M, NULL, text, A, A, FTB_DESC_ST0);
}
static GrB_Info project(FtB_Matrix C, FtB_Arg text, FtB_Matrix M, FtB_Matrix A)
{
    (void)M;
    return FtB_project(C, A, text, FTB_PROJECT_OPTIONS(.top_k = 3));
}

static void add(float *z, const float *x, const float *y, const float *w, int64_t d, const void *theta)
{
    (void)y, (void)theta;
    for (int64_t f = 0; f < d; f++)
        z[f] = x[f] + w[f];
}
static GrB_Info call_function(FtB_Matrix C, FtB_Arg text, FtB_Matrix M, FtB_Matrix A)
{
    (void)text;
    FtB_Semiring s;
    GrB_Info info = FtB_Semiring_new_function(&s, "plus", add, 1, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_mxm(C, M, NULL, s, A, A, FTB_DESC_T0);
    FtB_Semiring_free(&s);
    return info;
}

typedef struct scene {
    FtB_Matrix A, M;
} scene;

static scene make(uint64_t seed)
{
    rng r = {seed};
    scene s = {rng_matrix(&r, FTB_FP32, ROWS, COLS, 1, 0.2), rng_matrix(&r, FTB_FP32, COLS, COLS, 1, 0.3)};
    rng_reals(&r, ftb_values(s.A), FTB_FP32, s.A->pattern->nvals);
    return s;
}

static FtB_Matrix result(operation *call, const char *text, bool masked, const scene *s)
{
    FtB_Matrix C;
    assert_ok(FtB_Matrix_new(&C, FTB_FP32, COLS, COLS, 1));
    assert_ok(call(C, FTB_ARG(text), masked ? s->M : NULL, s->A));
    return C;
}

static void device_does_as_the_host(void **state)
{
    (void)state;
    static const struct {
        operation *call;
        const char *text;
        bool masked;
        int verbs;
    } calls[] = {
        {multiply, "plus : 1", false, 1},
        {multiply, "plus : a * b", false, 1},
        {multiply, "min : a + b", true, 1},
        {multiply, "plus : a * m - b * i", true, 1},
        {structural, "plus : a * m", true, 1},
        {project, "cosine", false, 1},
        {project, "plus : (a - b) * (a - b)", false, 1},
        {project, "plus : a * b / dk", false, 1},
        {call_function, "plus : a + b", false, 0},
    };
    const uint64_t seed = rng_new().state;
    for (size_t n = 0; n < sizeof calls / sizeof *calls; n++) {
        int64_t home[2], ran;
        scene s = make(seed + n);
        assert_ok(FtB_Context_set_device(NULL, "cpu"));
        FtB_Matrix expected = result(calls[n].call, calls[n].text, calls[n].masked, &s);
        assert_ok(FtB_Context_set_device(NULL, "pretend"));
        pretend_send(s.A->values);
        pretend_send(s.M->values);
        for (int again = 0; again < 2; again++) {
            ran = pretend_products();
            assert_ok(FtB_Context_moved(NULL, &home[0], NULL));
            FtB_Matrix C = result(calls[n].call, calls[n].text, calls[n].masked, &s);
            assert_ok(FtB_Context_moved(NULL, &home[1], NULL));
            assert_int_equal(pretend_products() - ran, calls[n].verbs);
            assert_true(again == 0 || home[0] == home[1]);
            assert_same(expected, C);
            FtB_Matrix_free(&C);
        }
        FtB_Matrix_free(&expected);
        FtB_Matrix_free(&s.A);
        FtB_Matrix_free(&s.M);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(device_does_as_the_host, pretend_setup, pretend_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

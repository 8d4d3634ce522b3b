/* More texts with x @ W and [...] as kernels of a GPU that does not exist (test_gpu_products.c), and their
 * gradients, which are near the host's.
 *
 * Labels: slow */
#include "support/check.h"

#include "support/fail_alloc.h"
#include "support/fake_gpu.h"
#include "support/product_texts.h"

#include <math.h>

#define F FTB_FP32
#define D FTB_FP64
static void products(void **state)
{
    (void)state;
    static const text list[] = {
        {"plus : dot(tanh(src + near[i]) @ W, near[i]) * src", F, F, 2, 6, {6, 6}, {0}, 6, F, 0},
        {"min : (tanh(src * edge) @ W)[2] - src * edge", F, F, 1, 9, {9, 4}, {0}, 9, F, 0},
        {"plus : exp(-abs(src - near[i])) @ W * src", F, F, 3, 2, {2, 1}, {0}, 2, F, 0},
        {"max : abs(src - i) @ W", FTB_INT32, FTB_INT8, 1, 3, {3, 150}, {0}, 150, FTB_INT64, CUT},
        {"max : relu(src - near[i]) @ W", D, D, 1, 700, {700, 2}, {0}, 2, D, 0},
        {"plus : (tanh(src) @ W) * edge", F, F, 2, 6, {6, 40}, {0}, 40, F, NEAR},
        {"plus : relu(src - dst) @ W", F, F, 2, 5, {5, 17}, {0}, 17, F, ON_EDGES},
        {"plus : mean((tanh(src - dst) @ W) * src) + dst", F, D, 2, 7, {7, 7}, {0}, 7, D, ON_EDGES},
        {"max : [1, src[1] * edge, sum([src, near[i]])]", D, D, 2, 3, {0}, {0}, 3, D, WON}};
    text_check(list, sizeof list / sizeof *list);
}

/* ---- gradients */

enum { SRC, NEAR_, W_, V_, DST, WISHES };

/* Gradients of all that the text reads; NULL: it does not. */
static void differentiate(FtB_Block got[WISHES], const text_operands *o, FtB_Block grad, FtB_Block E,
                          FtB_Matrix S)
{
    static const char *const names[WISHES] = {"src", "near", "W", "V", "dst"};
    const FtB_Block of[WISHES] = {o->src, o->near, o->W, o->V, o->dst};
    const FtB_Arg none = FtB_Arg_none();
    FtB_Gradient list[WISHES];
    size_t count = 0;
    for (int n = 0; n < WISHES; n++) {
        got[n] = NULL;
        if (!strstr(o->t->text, names[n]))
            continue;
        assert_ok(FtB_Block_new(&got[n], of[n]->nrows, of[n]->ncols, of[n]->type));
        list[count++] = (FtB_Gradient){.name = names[n], .output = FTB_ARG(got[n])};
    }
    if (S)
        assert_ok((FtB_mxm_grad)(FTB_ARG(S), FTB_ARG(o->s), FTB_ARG(o->dst), FTB_ARG(o->src), FTB_ARG(o->A),
                                 none, list, count, FTB_ARG(FTB_DESC_RST1)));
    else
        assert_ok((FtB_mxm_grad)(FTB_ARG(grad), FTB_ARG(o->s), FTB_ARG(o->A), FTB_ARG(o->src), none,
                                 E ? FTB_ARG(E) : none, list, count, none));
}

static void assert_near(const text *t, int which, FtB_Block here, FtB_Block there)
{
    double greatest = 0;
    assert_ok(ftb_buffer_ask(there->owner, FTB_READ));
    for (int64_t k = 0; k < here->nrows * here->ncols; k++)
        greatest = fmax(greatest, fabs(ftb_get_real(ftb_block_data(here), here->type, k)));
    assert_true(greatest > 0);
    for (int64_t k = 0; k < here->nrows * here->ncols; k++) {
        const double x = ftb_get_real(ftb_block_data(here), here->type, k),
                     y = ftb_get_real(ftb_block_data(there), here->type, k);
        if (!(fabs(x - y) <= (here->type == FTB_FP64 ? 1e-12 : 1e-5) * greatest))
            fail_msg("%s: gradient %d, value %d is %.9g, on the host %.9g", t->text, which, (int)k, y, x);
    }
}

/* Once all that is read is there, nothing moves but what is asked for. */
static void gradients(void **state)
{
    (void)state;
    static const text list[] = {
        {"max : relu(src - near[i]) @ W", F, F, 1, 5, {5, 9}, {0}, 9, F, WON},
        {"plus : tanh(relu(src - near[i]) @ W) @ V", D, D, 2, 3, {3, 4}, {4, 2}, 2, D, 0},
        {"plus : (relu(src - dst) @ W)[1] * src", F, F, 1, 4, {4, 3}, {0}, 4, F, ON_EDGES}};
    rng r = rng_new();
    for (size_t n = 0; n < sizeof list / sizeof *list; n++) {
        const text *t = &list[n];
        text_operands o = text_operands_new(&r, t);
        FtB_Block got[2][WISHES], grad = text_block(&r, t->type, ROWS, t->heads, t->out);
        assert_ok(FtB_Context_set_device(NULL, "cpu"));
        text_made m = text_multiply(&o, false);
        for (int on = 0; on < 2; on++) {
            int64_t home[2], there[2];
            assert_ok(FtB_Context_set_device(NULL, on ? "gpu" : "cpu"));
            for (int again = 0; again < 2; again++) {
                assert_ok(FtB_Context_moved(NULL, &home[0], &there[0]));
                differentiate(got[on], &o, grad, m.E, m.S);
                assert_ok(FtB_Context_moved(NULL, &home[1], &there[1]));
                for (int k = 0; !again && k < WISHES; k++)
                    FtB_Block_free(&got[on][k]);
            }
            if (on && fake_gpu_emulates() && (home[1] != home[0] || there[1] != there[0]))
                fail_msg("%s: %d bytes moved home, %d there", t->text, (int)(home[1] - home[0]),
                         (int)(there[1] - there[0]));
        }
        for (int k = 0; k < WISHES; k++) {
            if (got[0][k])
                assert_near(t, k, got[0][k], got[1][k]);
            FtB_Block_free(&got[0][k]);
            FtB_Block_free(&got[1][k]);
        }
        text_made_free(&m);
        FtB_Block_free(&grad);
        text_operands_free(&o);
    }
}

/* Memory that gives out leaves nothing behind. */
static GrB_Info anew(void *arg)
{
    static const int64_t I[] = {0, 1, 2, 2}, J[] = {1, 0, 0, 1};
    enum { X, NEAR_ROWS, MAP, RESULT, D_X, D_MAP, BLOCKS };
    static const int64_t shapes[BLOCKS][2] = {{2, 3}, {3, 3}, {3, 5}, {3, 5}, {2, 3}, {3, 5}};
    FtB_Matrix A = NULL;
    FtB_Block B[BLOCKS] = {NULL}, E = NULL;
    FtB_Semiring s = NULL, bound = NULL;
    GrB_Info info;
    (void)arg;
    FTB_CHECK(FtB_Matrix_build(&A, FTB_FP32, 3, 2, 0, 4, I, J, NULL, FTB_DUP_ERROR, NULL));
    for (int n = 0; n < BLOCKS; n++)
        FTB_CHECK(FtB_Block_new(&B[n], shapes[n][0], shapes[n][1], FTB_FP32));
    FTB_CHECK(FtB_Block_new(&E, 3, 5, FTB_INT64));
    FTB_CHECK(FtB_Semiring_new(&s, "max : relu(src - near[i]) @ W"));
    FTB_CHECK(FtB_Semiring_bind(&bound, s, FTB_BIND("near", B[NEAR_ROWS]), FTB_BIND("W", B[MAP])));
    FTB_CHECK(FtB_mxm_arg(B[RESULT], E, NULL, bound, A, B[X], NULL));
    FTB_CHECK(FtB_mxm_grad(B[RESULT], bound, A, B[X], NULL, E, NULL, FTB_GRAD("src", B[D_X]),
                           FTB_GRAD("W", B[D_MAP])));
    FTB_CHECK(ftb_buffer_ask(B[D_X]->owner, FTB_READ));
    FTB_CHECK(ftb_buffer_ask(B[D_MAP]->owner, FTB_READ));
done:
    for (int n = 0; n < BLOCKS; n++)
        FtB_Block_free(&B[n]);
    FtB_Block_free(&E);
    FtB_Semiring_free(&s);
    FtB_Semiring_free(&bound);
    FtB_Matrix_free(&A);
    return info;
}

static void without_memory(void **state)
{
    (void)state;
    assert_ok(FtB_Context_set_device(NULL, "gpu"));
    fail_every_allocation(anew, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(products, NULL, fake_gpu_clean),
                                       cmocka_unit_test_setup_teardown(gradients, NULL, fake_gpu_clean),
                                       cmocka_unit_test_setup_teardown(without_memory, NULL, fake_gpu_clean)};
    return cmocka_run_group_tests(tests, fake_gpu_start, NULL);
}

/* Texts with x @ W and [...] as kernels of a GPU that does not exist (support/fake_cuda): the bits are the
 * host's, but for sums of rows that are cut. Where there is no emulator the host does all of it. More of
 * them: test_gpu_products_more.c. */
#include "support/check.h"

#include "ops/vertices.h"
#include "support/fake_gpu.h"
#include "support/product_texts.h"

#include <stdio.h>

#define F FTB_FP32
#define D FTB_FP64
static void products(void **state)
{
    (void)state;
    static const text list[] = {
        {"max : relu(src - near[i]) @ W", F, F, 1, 12, {12, 20}, {0}, 20, F, WON},
        {"plus : (tanh(src * near[i]) @ W) * edge", F, FTB_FP16, 2, 5, {5, 3}, {0}, 3, F, CUT},
        {"max : abs(relu(src - near[i]) @ W) @ V", D, D, 1, 7, {7, 18}, {18, 5}, 5, D, 0},
        {"max : [tanh(src * near[i]) @ W, src * edge, 3] @ V", F, F, 1, 4, {4, 5}, {10, 33}, 33, F, 0},
        {"max : relu(src - near[i]) @ W", F, F, 1, 3072, {3072, 2}, {0}, 2, F, 0}, /* as wide as there is */
        {"max : relu(src - near[i]) @ W", F, F, 1, 3073, {3073, 2}, {0}, 2, F, HOST}, /* room for, and wider
                                                                                       */
        {"max : relu([src, tanh(src * near[i])] @ W)", F, F, 1, 4, {8, 6}, {0}, 6, F, 0},
        {"plus : tanh(src * edge) @ W", F, FTB_BF16, 2, 3, {3, 130}, {0}, 130, F, 0},
        {"plus : [src > dst, edge > 0] @ W", D, FTB_BOOL, 1, 4, {5, 9}, {0}, 9, FTB_INT64, ON_EDGES},
        {"plus : [tanh(src) * edge, near[i], edge]", F, F, 2, 5, {0}, {0}, 11, F, 0}};
    text_check(list, sizeof list / sizeof *list);
}

/* ---- the verb itself: heads that are summed, rows that are left out, and what is added */

static void verb(void **state)
{
    (void)state;
    enum { HEADS = 4, DEPTH = 5, OUT = 9 };
    rng r = rng_new();
    FtB_Block X = text_block(&r, F, ROWS, HEADS, DEPTH), W = text_block(&r, F, DEPTH, 1, OUT);
    FtB_Matrix some; /* i % 3 entries in row i */
    int64_t I[3 * ROWS], J[3 * ROWS], entries = 0;
    for (int i = 0; i < ROWS; i++)
        for (int e = 0; e < i % 3; e++, entries++) {
            I[entries] = i;
            J[entries] = e;
        }
    assert_ok(FtB_Matrix_build(&some, FTB_FP32, ROWS, 3, 0, entries, I, J, NULL, FTB_DUP_ERROR, NULL));
    ftb_message m = {.ctx = ftb_context(), .heads = HEADS, .nfeeds = 2};
    ftb_program *program;
    m.feeds[0] = ftb_block_feed(X, HEADS, FTB_SIDE_ROW);
    snprintf(m.feeds[0].name, sizeof m.feeds[0].name, "x");
    m.feeds[1] = ftb_whole_feed(W);
    snprintf(m.feeds[1].name, sizeof m.feeds[1].name, "W");
    assert_ok(ftb_expr_parse(&m.expr, m.ctx, "tanh(x) @ W", "test", 0));
    assert_ok(ftb_message_program(&program, &m, m.expr));
    for (int n = 0; n < 8; n++) {
        const int64_t fold = n % 2 ? HEADS : 2, ncols = HEADS / fold * OUT;
        FtB_Block Y[2];
        for (int on = 0; on < 2; on++) {
            ftb_message own = m;
            assert_ok(FtB_Context_set_device(NULL, on ? "gpu" : "cpu"));
            assert_ok(FtB_Block_new(&Y[on], ROWS, ncols, F));
            for (int64_t k = 0; k < ROWS * ncols; k++)
                ((float *)ftb_block_data(Y[on]))[k] = 0.1F * (float)k;
            const int before = fake_gpu_launches();
            assert_ok(ftb_map_rows(Y[on], FTB_WHO(m.ctx, map_rows), &own,
                                   &(ftb_map_rows_product){.program = program,
                                                           .side = FTB_SIDE_ROW,
                                                           .nrows = ROWS,
                                                           .fold = fold,
                                                           .add = n / 2 % 2,
                                                           .present = n / 4 ? some->pattern : NULL}));
            assert_ok(ftb_buffer_ask(Y[on]->owner, FTB_READ));
            assert_int_equal(fake_gpu_launches() - before, on && fake_gpu_emulates());
        }
        assert_memory_equal(ftb_block_data(Y[0]), ftb_block_data(Y[1]),
                            (size_t)(ROWS * ncols) * sizeof(float));
        for (int on = 0; on < 2; on++)
            FtB_Block_free(&Y[on]);
    }
    ftb_program_delete(program);
    ftb_expr_release(m.expr);
    FtB_Matrix_free(&some);
    FtB_Block_free(&X);
    FtB_Block_free(&W);
}

/* Rows that become the result, of texts that take a row's values together. */
static void in_place(void **state)
{
    (void)state;
    enum { HEADS = 2, WIDTH = 37 };
    rng r = rng_new();
    FtB_Block X[2] = {text_block(&r, F, ROWS, HEADS, WIDTH), text_block(&r, F, ROWS, HEADS, WIDTH)};
    ftb_program *program;
    for (int64_t i = 0; i < ROWS; i++)
        memcpy((float *)ftb_block_data(X[1]) + i * X[1]->ld, (float *)ftb_block_data(X[0]) + i * X[0]->ld,
               HEADS * WIDTH * sizeof(float));
    assert_ok(FtB_Block_changed(X[1]));
    ftb_message m = {.ctx = ftb_context(), .heads = HEADS, .nfeeds = 1};
    for (int on = 0; on < 2; on++) {
        m.feeds[0] = ftb_block_feed(X[on], HEADS, FTB_SIDE_ROW);
        snprintf(m.feeds[0].name, sizeof m.feeds[0].name, "x");
        if (!on) {
            assert_ok(ftb_expr_parse(&m.expr, m.ctx, "x / sqrt(dot(x, x)) + x[3]", "test", 0));
            assert_ok(ftb_message_program(&program, &m, m.expr));
        }
        ftb_message own = m;
        assert_ok(FtB_Context_set_device(NULL, on ? "gpu" : "cpu"));
        assert_ok(ftb_map_rows(
            X[on], FTB_WHO(m.ctx, map_rows), &own,
            &(ftb_map_rows_product){.program = program, .side = FTB_SIDE_ROW, .nrows = ROWS, .fold = 1}));
        assert_ok(ftb_buffer_ask(X[on]->owner, FTB_READ));
    }
    for (int64_t i = 0; i < ROWS; i++)
        assert_memory_equal((float *)ftb_block_data(X[0]) + i * X[0]->ld,
                            (float *)ftb_block_data(X[1]) + i * X[1]->ld, HEADS * WIDTH * sizeof(float));
    ftb_program_delete(program);
    ftb_expr_release(m.expr);
    FtB_Block_free(&X[0]);
    FtB_Block_free(&X[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(products, NULL, fake_gpu_clean),
                                       cmocka_unit_test_setup_teardown(verb, NULL, fake_gpu_clean),
                                       cmocka_unit_test_setup_teardown(in_place, NULL, fake_gpu_clean)};
    return cmocka_run_group_tests(tests, fake_gpu_start, NULL);
}

/* Heads of a message: as many as any operand of the call has, whatever its text reads of them. Every text is
 * computed beside one that also reads src and dst, times 0, and beside loops over the heads in wider
 * arithmetic; in products with blocks, on edges, in attention, on tapes, and in gradients. */
#include "support/check.h"

#include "core/core.h"
#include "featblas_nn.h"
#include "support/gradients.h"
#include "support/tapes.h"

#include <math.h>
#include <stdio.h>

enum { N = SMALL_VERTICES, E = SMALL_ENTRIES, H = 3, D = 4 * H, MOST = 2 * H };

/* ---- messages of one head: width values from those of an edge */

typedef long double real;

static void itself(real *to, const real *edge, int width)
{
    for (int f = 0; f < width; f++)
        to[f] = edge[f];
}
static void squared(real *to, const real *edge, int width)
{
    real sum = 0;
    for (int f = 0; f < width; f++)
        sum += edge[f] * edge[f];
    for (int f = 0; f < width; f++)
        to[f] = sum * edge[f];
}
static void summed(real *to, const real *edge, int width)
{
    to[0] = 0;
    for (int f = 0; f < width; f++)
        to[0] += edge[f];
}
static void constant(real *to, const real *edge, int width)
{
    (void)edge, (void)width;
    to[0] = 0.25L;
}

static const struct {
    const char *text;
    void (*run)(real *to, const real *edge, int width);
    bool narrow; /* one value per head */
} messages[] = {{"edge", itself, false},
                {"dot(edge, edge) * edge", squared, false},
                {"sum(edge)", summed, true},
                {"0.25", constant, true}};
#define MESSAGES (sizeof messages / sizeof *messages)

/* What a text says, and the same where it reads the blocks, too. */
#define TEXTS 3
static const char *text_of(char *text, size_t room, size_t m, int variant, bool dst)
{
    static const char *const more[TEXTS] = {"", " + 0 * sum(src)", " + 0 * sum(src) + 0 * sum(dst)"};
    snprintf(text, room, "plus : %s%s", messages[m].text, more[variant == 2 && !dst ? 1 : variant]);
    return text;
}

/* Of all entries, E x (H x what is left of a head), from values E x width. */
static int wanted_entries(real to[E][MOST], size_t m, FtB_Matrix A, int width)
{
    int each = width / H, made = messages[m].narrow ? 1 : each;
    FtB_Block V;
    assert_ok(FtB_Matrix_values(&V, A));
    for (int e = 0; e < E; e++)
        for (int h = 0; h < H; h++) {
            real edge[MOST];
            for (int f = 0; f < each; f++)
                edge[f] = ((const double *)block_values(V))[e * width + h * each + f];
            messages[m].run(to[e] + h * made, edge, each);
        }
    FtB_Block_free(&V);
    return H * made;
}

typedef struct fixture {
    FtB_Matrix A, one; /* MOST and H values on an entry */
    FtB_Block X, Q, row;
} fixture;

static void begin(fixture *f)
{
    FtB_Matrix A = small_graph();
    FtB_Block V, whole[2] = {drawn_block(N, D, FTB_FP64, 1), drawn_block(N, D, FTB_FP64, 2)};
    assert_ok(FtB_Matrix_like(&f->A, A, MOST, FTB_FP64));
    assert_ok(FtB_Matrix_like(&f->one, A, H, FTB_FP64));
    for (int k = 0; k < 2; k++) {
        assert_ok(FtB_Matrix_values(&V, k ? f->one : f->A));
        fill_random(V, 10 + (uint64_t)k);
        FtB_Block_free(&V);
        assert_ok(FtB_Block_heads(k ? &f->Q : &f->X, whole[k], H));
        FtB_Block_free(&whole[k]);
    }
    f->row = drawn_block(N, 1, FTB_FP64, 3);
    FtB_Matrix_free(&A);
}

static void end(fixture *f)
{
    FtB_Matrix_free(&f->A);
    FtB_Matrix_free(&f->one);
    FtB_Block_free(&f->X);
    FtB_Block_free(&f->Q);
    FtB_Block_free(&f->row);
}

static void assert_near(double is, real wanted, const char *text)
{
    if (!(fabsl(is - wanted) < 1e-12L))
        fail_msg("%s: %.17g; expected %.17Lg", text, is, wanted);
}

/* ---- products */

static void sums_and_edges(void **state)
{
    fixture f;
    (void)state;
    begin(&f);
    for (size_t m = 0; m < MESSAGES; m++)
        for (int which = 0; which < 2; which++)
            for (int variant = 0; variant < TEXTS; variant++) {
                FtB_Matrix A = which ? f.one : f.A, C;
                FtB_Block Y, V;
                real edges[E][MOST], rows[N][MOST] = {{0}};
                char text[160];
                int ncols = wanted_entries(edges, m, A, which ? H : MOST);
                for (int64_t i = 0, e = 0; i < N; i++)
                    for (; e < A->pattern->rowptr[i + 1]; e++)
                        for (int c = 0; c < ncols; c++)
                            rows[i][c] += edges[e][c];
                assert_ok(FtB_Block_new(&Y, N, ncols, FTB_FP64));
                assert_ok(
                    FtB_mxm(Y, NULL, NULL, text_of(text, sizeof text, m, variant, false), A, f.X, NULL));
                for (int k = 0; k < N * ncols; k++)
                    assert_near(((const double *)block_values(Y))[k], rows[k / ncols][k % ncols], text);
                assert_ok(FtB_Matrix_new(&C, FTB_FP64, N, N, ncols));
                assert_ok(FtB_mxm(C, A, NULL, text_of(text, sizeof text, m, variant, true), f.Q, f.X,
                                  FTB_DESC_RST1));
                assert_ok(FtB_Matrix_values(&V, C));
                assert_int_equal(V->ncols, ncols);
                for (int k = 0; k < E * ncols; k++)
                    assert_near(ftb_get_real(block_values(V), V->type, k), edges[k / ncols][k % ncols], text);
                FtB_Block_free(&V);
                FtB_Block_free(&Y);
                FtB_Matrix_free(&C);
            }
    end(&f);
}

/* Heads of any one operand: of the others' every head sees the same. */
static void of_one_operand(void **state)
{
    fixture f;
    FtB_Matrix C;
    FtB_Block V;
    real edges[E][MOST];
    (void)state;
    begin(&f);
    for (int side = 0; side < 2; side++) {
        int ncols = wanted_entries(edges, 1, f.A, MOST);
        assert_ok(FtB_Matrix_new(&C, FTB_FP64, N, N, ncols));
        assert_ok(FtB_mxm(C, f.A, NULL, "plus : dot(edge, edge) * edge", side ? f.row : f.Q,
                          side ? f.X : f.row, FTB_DESC_RST1));
        assert_ok(FtB_Matrix_values(&V, C));
        for (int k = 0; k < E * ncols; k++)
            assert_near(((const double *)block_values(V))[k], edges[k / ncols][k % ncols],
                        side ? "src" : "dst");
        FtB_Block_free(&V);
        FtB_Matrix_free(&C);
    }
    FtB_Block two;
    assert_ok(FtB_Block_heads(&two, f.Q, 2));
    assert_ok(FtB_Matrix_new(&C, FTB_FP64, N, N, 2));
    assert_fails(GrB_DIMENSION_MISMATCH, "heads",
                 FtB_mxm(C, f.A, NULL, "plus : sum(edge)", two, f.X, FTB_DESC_RST1));
    FtB_Matrix_free(&C);
    FtB_Block_free(&two);
    end(&f);
}

/* ---- attention: softmax of the scores of each head, times its values */

static void attention_wanted(real to[N][D], FtB_Matrix A, real scores[E][MOST], FtB_Block V)
{
    for (int64_t i = 0; i < N; i++)
        for (int h = 0; h < H; h++) {
            real sum = 0;
            for (int f = 0; f < D / H; f++)
                to[i][h * (D / H) + f] = 0;
            for (int64_t e = A->pattern->rowptr[i]; e < A->pattern->rowptr[i + 1]; e++) {
                const double *v = (const double *)block_values(V) + ftb_col(A->pattern, e) * D + h * (D / H);
                sum += expl(scores[e][h]);
                for (int f = 0; f < D / H; f++)
                    to[i][h * (D / H) + f] += expl(scores[e][h]) * v[f];
            }
            for (int f = 0; f < D / H && sum > 0; f++)
                to[i][h * (D / H) + f] /= sum;
        }
}

static void scores(void **state)
{
    fixture f;
    FtB_Tape tape;
    (void)state;
    begin(&f);
    assert_ok(FtB_Tape_new(&tape, 1));
    for (int which = 0; which < 2; which++)
        for (int variant = 0; variant < TEXTS; variant++)
            for (int narrow = 0; narrow < 2; narrow++) { /* only the values have heads */
                FtB_Matrix A = which ? f.one : f.A;
                FtB_Block Q = narrow ? f.row : f.Q, K = narrow ? f.row : f.X, C, Y;
                size_t m = which ? 0 : 2;
                real edges[E][MOST], wanted[N][D];
                char text[160];
                wanted_entries(edges, m, A, which ? H : MOST);
                attention_wanted(wanted, A, edges, f.X);
                assert_ok(FtB_Block_new(&C, N, D, FTB_FP64));
                text_of(text, sizeof text, m, variant, true);
                assert_ok(FtB_attention(C, A, NULL, (const char *)text, Q, K, f.X, NULL, NULL));
                for (int k = 0; k < N * D; k++)
                    assert_near(((const double *)block_values(C))[k], wanted[k / D][k % D], text);
                FtB_Block_free(&C);
                FtB_Var y = FtB_attend((const char *)text, A, 0, FTB_OPERAND("src", FtB_input(tape, K)),
                                       FTB_OPERAND("dst", FtB_input(tape, Q)),
                                       FTB_OPERAND("values", FtB_input(tape, f.X)));
                assert_ok(FtB_evaluate(&Y, y));
                for (int k = 0; k < N * D; k++)
                    assert_near(((const double *)block_values(Y))[k], wanted[k / D][k % D], text);
                FtB_Block_free(&Y);
                assert_ok(FtB_Tape_reset(tape));
            }
    FtB_Tape_free(&tape);
    end(&f);
}

/* ---- tapes, with edges that are learned */

static void tapes(void **state)
{
    fixture f;
    FtB_Tape tape;
    FtB_Parameter w = drawn_parameter("w", MOST, MOST, FTB_FP64, 9);
    (void)state;
    begin(&f);
    assert_ok(FtB_Tape_new(&tape, 1));
    for (size_t m = 0; m + 1 < MESSAGES; m++)
        for (int on_edges = 0; on_edges < 2; on_edges++) {
            FtB_Block Y[TEXTS];
            int64_t nrows, ncols;
            for (int variant = 0; variant < TEXTS; variant++) {
                char text[160];
                FtB_Var e = FtB_matmul(FtB_input_edges(tape, f.A), FtB_parameter(tape, w)),
                        x = FtB_input(tape, f.X), y;
                text_of(text, sizeof text, m, variant, on_edges);
                if (on_edges)
                    y = FtB_on_edges((const char *)text, f.A, FTB_OPERAND("src", x), FTB_OPERAND("dst", x),
                                     FTB_OPERAND("edge", e));
                else
                    y = FtB_multiply((const char *)text, f.A, FTB_OPERAND("src", x), FTB_OPERAND("edge", e));
                assert_ok(FtB_Var_shape(y, &nrows, &ncols));
                assert_int_equal(ncols, messages[m].narrow ? H : MOST);
                FtB_Block view;
                assert_ok(FtB_evaluate(&view, y));
                assert_ok(FtB_Block_new(&Y[variant], nrows, ncols, FTB_FP64));
                assert_ok(FtB_apply(Y[variant], NULL, NULL, "x", view, NULL));
                FtB_Block_free(&view);
                FtB_Var rows = on_edges
                                   ? FtB_multiply("plus : edge", f.A, FTB_OPERAND("src", FtB_heads(x, 1)),
                                                  FTB_OPERAND("edge", y))
                                   : y;
                FtB_Var square = FtB_times(rows, rows), ones = FtB_scale(square, 0.5);
                FtB_Block T;
                assert_ok(FtB_Block_new(&T, N, ncols, FTB_FP64));
                assert_gradients(FtB_squared_error(ones, FtB_input(tape, T), NULL), &w, 1, 1e-6);
                FtB_Block_free(&T);
                assert_ok(FtB_Tape_reset(tape));
            }
            for (int variant = 0; variant < TEXTS; variant++) {
                for (int64_t k = 0; k < nrows * ncols; k++)
                    assert_near(((const double *)block_values(Y[variant]))[k],
                                ((const double *)block_values(Y[0]))[k], messages[m].text);
                if (variant > 0)
                    FtB_Block_free(&Y[variant]);
            }
            FtB_Block_free(&Y[0]);
        }
    FtB_Parameter_free(&w);
    FtB_Tape_free(&tape);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_and_edges), cmocka_unit_test(of_one_operand),
                                       cmocka_unit_test(scores), cmocka_unit_test(tapes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

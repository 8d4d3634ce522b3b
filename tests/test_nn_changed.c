/* What layers and tapes keep is made again once values have changed: by every call of the library that writes
 * values, and by pointers, where the caller says so. Expected is what a new layer on a new tape gives. */
#include "support/check.h"

#include "core/core.h"
#include "featblas_nn.h"
#include "support/gradients.h"
#include "support/tapes.h"

#include <stdio.h>
#include <stdlib.h>

enum { N = SMALL_VERTICES, E = SMALL_ENTRIES, D = 4 };

typedef struct fixture {
    FtB_Matrix A;   /* a value on each entry: a weight, or a type of two */
    FtB_Block V, X; /* A's values; features */
    FtB_Tape tape;
} fixture;

static void begin(fixture *f)
{
    FtB_Matrix A = small_graph();
    assert_ok(FtB_Matrix_like(&f->A, A, 1, FTB_FP64));
    assert_ok(FtB_Matrix_values(&f->V, f->A));
    for (int e = 0; e < E; e++)
        ((double *)block_values(f->V))[e] = e % 2;
    f->X = drawn_block(N, D, FTB_FP64, 1);
    assert_ok(FtB_Tape_new(&f->tape, 1));
    FtB_Matrix_free(&A);
}

static void end(fixture *f)
{
    FtB_Tape_free(&f->tape);
    FtB_Matrix_free(&f->A);
    FtB_Block_free(&f->V);
    FtB_Block_free(&f->X);
}

/* ---- ways to write values, all to other types 0 and 1, or weights */

static double other(int e) { return (e + 1) % 2; }

static FtB_Block others(void)
{
    FtB_Block B;
    assert_ok(FtB_Block_new(&B, E, 1, FTB_FP64));
    for (int e = 0; e < E; e++)
        ((double *)block_values(B))[e] = other(e);
    return B;
}

static void by_pointer(const fixture *f)
{
    void *data;
    assert_ok(FtB_Block_shape(f->V, NULL, NULL, NULL, NULL, &data));
    for (int e = 0; e < E; e++)
        ((double *)data)[e] = other(e);
}
static void pointer_matrix(const fixture *f)
{
    by_pointer(f);
    assert_ok(FtB_Matrix_changed(f->A));
}
static void pointer_block(const fixture *f)
{
    by_pointer(f);
    assert_ok(FtB_Block_changed(f->V));
}
static void by_apply(const fixture *f) { assert_ok(FtB_apply(f->V, NULL, NULL, "1 - x", f->V, NULL)); }
static void by_columns(const fixture *f)
{
    FtB_Block view;
    assert_ok(FtB_Block_columns(&view, f->V, 0, 1));
    assert_ok(FtB_apply(view, NULL, NULL, "1 - x", view, NULL));
    FtB_Block_free(&view);
}
static void by_ewise(const fixture *f)
{
    FtB_Block B = others();
    assert_ok(FtB_eWiseMult(f->V, NULL, NULL, "0 * x + y", f->V, B, NULL));
    FtB_Block_free(&B);
}
static void by_gather(const fixture *f)
{
    FtB_Block B = others();
    int64_t at[E];
    for (int e = 0; e < E; e++)
        at[e] = e;
    assert_ok(FtB_gather(f->V, B, at, E));
    FtB_Block_free(&B);
}
static void by_scatter(const fixture *f)
{
    int64_t at[E];
    FtB_Block B;
    for (int e = 0; e < E; e++)
        at[e] = e;
    assert_ok(FtB_Block_new(&B, E, 1, FTB_FP64));
    for (int e = 0; e < E; e++)
        ((double *)block_values(B))[e] = other(e) - e % 2;
    assert_ok(FtB_scatter(f->V, "x + y", B, at, E));
    FtB_Block_free(&B);
}
static void by_reduce(const fixture *f)
{
    FtB_Block B = others();
    assert_ok(FtB_reduce(f->V, NULL, NULL, "plus", B, NULL));
    FtB_Block_free(&B);
}
static void by_product_on_edges(const fixture *f) /* where C's values lie */
{
    FtB_Block P, Q;
    assert_ok(FtB_Block_new(&P, N, 1, FTB_FP64));
    assert_ok(FtB_Block_new(&Q, N, 1, FTB_FP64));
    assert_ok(FtB_mxm(f->A, f->A, NULL, "plus : 1 - edge + 0 * dst * src", P, Q, FTB_DESC_RST1));
    FtB_Block_free(&P);
    FtB_Block_free(&Q);
}
static void by_sum(const fixture *f)
{
    FtB_Matrix I;
    FtB_Block B = others();
    int64_t at[E];
    double ones[E];
    for (int e = 0; e < E; e++) {
        at[e] = e;
        ones[e] = 1;
    }
    assert_ok(FtB_Matrix_build(&I, FTB_FP64, E, E, 1, E, at, at, ones, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_mxm(f->V, NULL, NULL, "plus : src * edge", I, B, NULL));
    FtB_Matrix_free(&I);
    FtB_Block_free(&B);
}
static void
by_gradient(const fixture *f) /* of the sum of entries, with respect to them: what came from above */
{
    FtB_Matrix I;
    FtB_Block B = others(), S;
    int64_t at[E];
    for (int e = 0; e < E; e++)
        at[e] = e;
    assert_ok(FtB_Matrix_build(&I, FTB_FP64, E, E, 0, E, at, at, NULL, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Block_new(&S, E, 1, FTB_FP64));
    assert_ok(FtB_mxm_grad(B, "plus : src", I, S, NULL, NULL, NULL, FTB_GRAD("src", f->V)));
    FtB_Matrix_free(&I);
    FtB_Block_free(&B);
    FtB_Block_free(&S);
}
static void by_values_of_a_new_kind(const fixture *f) /* new memory: no pointer tells the old from the new */
{
    assert_ok(FtB_apply(f->A, NULL, NULL, "1 - x", f->A, NULL));
}

static const struct {
    const char *name;
    void (*run)(const fixture *f);
} ways[] = {{"FtB_Matrix_changed", pointer_matrix},
            {"FtB_Block_changed", pointer_block},
            {"FtB_apply", by_apply},
            {"FtB_apply of columns", by_columns},
            {"FtB_eWiseMult", by_ewise},
            {"FtB_gather", by_gather},
            {"FtB_scatter", by_scatter},
            {"FtB_reduce", by_reduce},
            {"FtB_mxm on edges", by_product_on_edges},
            {"FtB_mxm", by_sum},
            {"FtB_mxm_grad", by_gradient},
            {"FtB_apply of a matrix", by_values_of_a_new_kind}};
enum { WAYS = sizeof ways / sizeof *ways };

/* ---- layers */

static FtB_Layer layer_of(const char *kind)
{
    FtB_Layer layer;
    FtB_Layer_options o = {
        .size = sizeof o, .type = FTB_FP64, .seed = 3, .relations = strcmp(kind, "rgcn") == 0 ? 2 : 0};
    assert_ok(FtB_Layer_new(&layer, kind, D, D, &o));
    return layer;
}

static void result_of(double y[N * D], FtB_Tape tape, FtB_Layer layer, const fixture *f)
{
    FtB_Block Y;
    FtB_Var x = FtB_input(tape, f->X);
    assert_ok(FtB_evaluate(&Y, FtB_Layer_apply(layer, f->A, x, x, FTB_NO_VAR)));
    memcpy(y, block_values(Y), N * D * sizeof *y);
    FtB_Block_free(&Y);
}

/* Those of the table: some read no values, and have nothing to make again. */
static const char *const kinds[] = {
#define KIND(name, options, formula) #name,
    FTB_LAYERS(KIND)
#undef KIND
};

static void layers(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int w = 0; w < WAYS; w++) {
            fixture f;
            FtB_Layer kept = layer_of(kinds[k]), made;
            double y[N * D], wanted[N * D];
            begin(&f);
            result_of(y, f.tape, kept, &f);
            ways[w].run(&f);
            assert_ok(FtB_Tape_reset(f.tape));
            result_of(y, f.tape, kept, &f);
            assert_ok(FtB_Tape_reset(f.tape));
            made = layer_of(kinds[k]);
            result_of(wanted, f.tape, made, &f);
            if (memcmp(y, wanted, sizeof y) != 0)
                fail_msg("%s, %s: %.17g; expected %.17g", kinds[k], ways[w].name, y[0], wanted[0]);
            FtB_Layer_free(&kept);
            FtB_Layer_free(&made);
            end(&f);
        }
}

static bool reads_values(const char *kind)
{
    return strcmp(kind, "gcn") == 0 || strcmp(kind, "sgc") == 0 || strcmp(kind, "appnp") == 0 ||
           strcmp(kind, "rgcn") == 0;
}

/* A record that a layer made of earlier values does not run any more. */
static void recorded_layers(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        fixture f;
        FtB_Layer layer = layer_of(kinds[k]);
        FtB_Block Y;
        begin(&f);
        FtB_Var x = FtB_input(f.tape, f.X), y = FtB_Layer_apply(layer, f.A, x, x, FTB_NO_VAR);
        assert_ok(FtB_evaluate(&Y, y));
        FtB_Block_free(&Y);
        pointer_matrix(&f);
        for (int run = 0; run < 2; run++) {
            if (reads_values(kinds[k])) {
                assert_fails(GrB_INVALID_VALUE, "values of a layer's A have changed", FtB_evaluate(&Y, y));
            } else {
                assert_ok(FtB_evaluate(&Y, y));
                FtB_Block_free(&Y);
            }
        }
        FtB_Layer_free(&layer);
        end(&f);
    }
}

/* ---- tapes: constants of features, of values on edges, of a product's matrix */

static FtB_Var of_rows(const fixture *f, FtB_Tape tape)
{
    return FtB_tanh(FtB_scale(FtB_input(tape, f->V), 0.5));
}
static FtB_Var of_edges(const fixture *f, FtB_Tape tape)
{
    return FtB_scale(FtB_heads(FtB_input_edges(tape, f->A), 1), 0.25);
}
static FtB_Var of_matrix(const fixture *f, FtB_Tape tape)
{
    return FtB_multiply("plus : edge * src", f->A, FTB_OPERAND("src", FtB_input(tape, f->X)));
}
static FtB_Var of_transpose(const fixture *f, FtB_Tape tape)
{
    return FtB_multiply_transposed("plus : edge * src", f->A, FTB_OPERAND("src", FtB_input(tape, f->X)));
}
static FtB_Var of_sparse(const fixture *f, FtB_Tape tape)
{
    FtB_Block W;
    assert_ok(FtB_Block_columns(&W, f->X, 0, 2));
    FtB_Var y = FtB_matmul(FtB_input(tape, f->A), FtB_input(tape, W));
    FtB_Block_free(&W);
    return y;
}
static FtB_Var of_attention(const fixture *f, FtB_Tape tape)
{
    FtB_Var x = FtB_input(tape, f->X);
    return FtB_attend("plus : dot(src, dst) + edge", f->A, 0, FTB_OPERAND("src", x), FTB_OPERAND("dst", x),
                      FTB_OPERAND("values", x));
}

static FtB_Var (*const records[])(const fixture *f, FtB_Tape tape) = {of_rows,      of_edges,  of_matrix,
                                                                      of_transpose, of_sparse, of_attention};

/* Constants that several runs have read, alone and beside others, are those of the values at hand. */
static void tapes(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof records / sizeof *records; r++)
        for (int w = 0; w < WAYS; w++) {
            fixture f;
            FtB_Tape fresh;
            FtB_Block Y, Z;
            begin(&f);
            FtB_Var y = records[r](&f, f.tape), z = FtB_dropout(FtB_add(y, y), 0.5);
            assert_ok(FtB_evaluate(&Y, y));
            FtB_Block_free(&Y);
            assert_ok(FtB_evaluate(&Y, z));
            FtB_Block_free(&Y);
            ways[w].run(&f);
            assert_ok(FtB_evaluate(&Y, z));
            assert_ok(FtB_Tape_new(&fresh, 1));
            FtB_Var once = records[r](&f, fresh);
            assert_ok(FtB_evaluate(&Z, FtB_add(once, once)));
            assert_int_equal(Y->nrows * Y->ncols, Z->nrows * Z->ncols);
            bool moved = f.A->values != f.V->owner; /* A has new memory, and the tape keeps the old */
            if (!moved &&
                memcmp(block_values(Y), block_values(Z), (size_t)(Y->nrows * Y->ncols) * sizeof(double)) != 0)
                fail_msg("record %zu, %s", r, ways[w].name);
            FtB_Block_free(&Y);
            FtB_Block_free(&Z);
            FtB_Tape_free(&fresh);
            end(&f);
        }
}

/* Values that the library itself changes in training: those of a parameter, read as data elsewhere. */
static void parameters(void **state)
{
    FtB_Parameter p = drawn_parameter("p", N, D, FTB_FP64, 5);
    FtB_Optimizer sgd;
    FtB_Stopper best;
    FtB_Tape learn, read;
    FtB_Block P, Y, first, T = drawn_block(N, D, FTB_FP64, 6);
    (void)state;
    assert_ok(FtB_Parameter_value(&P, p));
    assert_ok(FtB_Tape_new(&learn, 1));
    assert_ok(FtB_Tape_new(&read, 1));
    assert_ok(FtB_Optimizer_new(&sgd, FTB_SGD, NULL));
    assert_ok(FtB_Optimizer_add(sgd, &p, 1, NULL));
    assert_ok(FtB_Stopper_new(&best, &p, 1, NULL));
    FtB_Var y = FtB_scale(FtB_input(read, P), 2), x = FtB_parameter(learn, p),
            loss = FtB_squared_error(x, FtB_scale(FtB_input(learn, T), 1), NULL);
    assert_ok(FtB_evaluate(&Y, y));
    assert_ok(FtB_Block_new(&first, N, D, FTB_FP64));
    assert_ok(FtB_apply(first, NULL, NULL, "x", Y, NULL));
    FtB_Block_free(&Y);
    assert_ok(FtB_Stopper_see(best, 1, NULL));
    assert_ok(FtB_backward(loss));
    assert_ok(FtB_Optimizer_step(sgd));
    assert_ok(FtB_evaluate(&Y, y));
    for (int k = 0; k < N * D; k++)
        assert_true(((double *)block_values(Y))[k] == 2 * ((double *)block_values(P))[k]);
    assert_memory_not_equal(block_values(Y), block_values(first), N * D * sizeof(double));
    FtB_Block_free(&Y);
    assert_ok(FtB_Stopper_restore(best));
    assert_ok(FtB_evaluate(&Y, y));
    assert_memory_equal(block_values(Y), block_values(first), N * D * sizeof(double));
    FtB_Block_free(&Y);
    FtB_Block_free(&first);
    FtB_Block_free(&P);
    FtB_Block_free(&T);
    FtB_Stopper_free(&best);
    FtB_Optimizer_free(&sgd);
    FtB_Tape_free(&learn);
    FtB_Tape_free(&read);
    FtB_Parameter_free(&p);
}

/* ---- a call that was forgotten */

static void forgotten(void **state)
{
    (void)state;
#ifdef NDEBUG
    skip(); /* nothing looks for it */
#endif
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        fixture f;
        FtB_Layer layer = layer_of(kinds[k]);
        FtB_Block Y;
        double y[N * D];
        if (!reads_values(kinds[k])) {
            FtB_Layer_free(&layer);
            continue;
        }
        begin(&f);
        result_of(y, f.tape, layer, &f);
        by_pointer(&f);
        assert_ok(FtB_Tape_reset(f.tape));
        FtB_Var x = FtB_input(f.tape, f.X);
        (void)FtB_Layer_apply(layer, f.A, x, x, FTB_NO_VAR);
        assert_fails(GrB_INVALID_VALUE, "A was written since it was last read", FtB_Tape_status(f.tape));
        assert_non_null(strstr(FtB_error(), "FtB_Matrix_changed"));
        assert_ok(FtB_Matrix_changed(f.A));
        assert_ok(FtB_Tape_reset(f.tape));
        result_of(y, f.tape, layer, &f);
        assert_ok(FtB_Tape_reset(f.tape));
        FtB_Var once = of_matrix(&f, f.tape);
        assert_ok(FtB_evaluate(&Y, once));
        FtB_Block_free(&Y);
        ((double *)block_values(f.V))[E - 1] += 1;
        assert_fails(GrB_INVALID_VALUE, "an input was written", FtB_evaluate(&Y, once));
        FtB_Layer_free(&layer);
        end(&f);
    }
}

static void errors(void **state)
{
    (void)state;
    assert_fails(GrB_NULL_POINTER, "A is NULL", FtB_Matrix_changed(NULL));
    assert_fails(GrB_NULL_POINTER, "X is NULL", FtB_Block_changed(NULL));
    FtB_Matrix A = small_graph();
    assert_ok(FtB_Matrix_changed(A)); /* without values: nothing to say */
    FtB_Matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(layers),    cmocka_unit_test(recorded_layers),
                                       cmocka_unit_test(tapes),     cmocka_unit_test(parameters),
                                       cmocka_unit_test(forgotten), cmocka_unit_test(errors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Layer norm, batch norm and pooling: values against plain loops, gradients against finite differences in
 * FP64, the same bits for every instruction set and any number of threads, errors, failing allocations. */
#include "support/check.h"

#include "core/core.h"
#include "core/isa.h"
#include "featblas_nn.h"
#include "support/fail_alloc.h"
#include "support/gradients.h"
#include "support/tapes.h"

#include <math.h>
#include <stdlib.h>

static double at(FtB_Block X, int64_t i, int64_t j)
{
    return ftb_get_real(block_values(X), X->type, i * X->ld + j);
}

/* ---- what is computed in one go */

typedef struct setup {
    FtB_Tape tape;
    FtB_Block X, T;
    FtB_Parameter w, gain, shift, mean, variance;
} setup;

static void set_all(FtB_Parameter p, double value)
{
    FtB_Block X;
    assert_ok(FtB_Parameter_value(&X, p));
    for (int64_t f = 0; f < X->ncols; f++)
        ftb_cast((char *)block_values(X) + (size_t)f * FtB_Type_size(X->type), X->type, &value, FTB_FP64, 1);
    FtB_Block_free(&X);
}

static setup begin(int64_t nrows, int64_t ncols, FtB_Type type)
{
    setup s = {.X = drawn_block(nrows, ncols, type, 1),
               .T = drawn_block(nrows, ncols, type, 2),
               .w = drawn_parameter("w", ncols, ncols, type, 3),
               .gain = drawn_parameter("gain", 1, ncols, type, 4),
               .shift = drawn_parameter("shift", 1, ncols, type, 5),
               .mean = drawn_parameter("mean", 1, ncols, type, 6),
               .variance = drawn_parameter("variance", 1, ncols, type, 7)};
    set_all(s.variance, 1.5);
    assert_ok(FtB_Parameter_set_trained(s.mean, false));
    assert_ok(FtB_Parameter_set_trained(s.variance, false));
    assert_ok(FtB_Tape_new(&s.tape, 1));
    return s;
}

static void end(setup *s)
{
    FtB_Parameter *all[] = {&s->w, &s->gain, &s->shift, &s->mean, &s->variance};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        FtB_Parameter_free(all[k]);
    FtB_Tape_free(&s->tape);
    FtB_Block_free(&s->X);
    FtB_Block_free(&s->T);
}

enum { GAIN = 1, SHIFT = 2, AGAIN = 4, CONSTANT = 8, BATCH = 16, FORMS = 32 };

/* loss of the norm of X W (or of X, as a constant), which may also be used beside it. */
static FtB_Var record(const setup *s, int form, FtB_Var *norm)
{
    FtB_Var x = FtB_input(s->tape, s->X);
    if (!(form & CONSTANT))
        x = FtB_matmul(x, FtB_parameter(s->tape, s->w));
    FtB_Parameter gain = form & GAIN ? s->gain : NULL, shift = form & SHIFT ? s->shift : NULL;
    FtB_Var y = form & BATCH ? FtB_batch_norm(x, gain, shift, s->mean, s->variance, 0, 1e-5)
                             : FtB_layer_norm(x, gain, shift, 1e-5);
    *norm = y;
    if (s->X->nrows == 0)
        return y; /* a mean over no rows is refused */
    return FtB_squared_error(form & AGAIN ? FtB_add(FtB_times(y, y), x) : y, FtB_input(s->tape, s->T), NULL);
}

static double loss_at(FtB_Var loss, FtB_Block X, double *value, double x)
{
    double result;
    *value = x;
    assert_ok(FtB_Block_changed(X));
    assert_ok(FtB_backward(loss));
    assert_ok(FtB_scalar(&result, loss));
    return result;
}

/* As assert_gradients, by losses of training, where batch norm looks at the rows at hand. */
static void check_gradient(FtB_Var loss, FtB_Parameter p)
{
    FtB_Block X, G, given;
    const double step = 1e-5;
    assert_ok(FtB_backward(loss));
    assert_ok(FtB_Parameter_value(&X, p));
    assert_ok(FtB_Parameter_gradient(&G, p));
    assert_ok(FtB_Block_new(&given, G->nrows, G->ncols, FTB_FP64));
    memcpy(block_values(given), block_values(G), (size_t)(G->nrows * G->ncols) * 8);
    for (int64_t k = 0; k < X->nrows * X->ncols; k++) {
        double *value = (double *)block_values(X) + k, old = *value;
        double up = loss_at(loss, X, value, old + step), down = loss_at(loss, X, value, old - step);
        double wanted = (up - down) / (2 * step), is = ((double *)block_values(given))[k];
        *value = old;
        assert_ok(FtB_Block_changed(X));
        if (!(fabs(is - wanted) <= 1e-6 * fmax(1, fabs(wanted))))
            fail_msg("%s[%lld]: gradient %.9g; differences say %.9g", FtB_Parameter_name(p), (long long)k, is,
                     wanted);
    }
    FtB_Block_free(&X);
    FtB_Block_free(&G);
    FtB_Block_free(&given);
}

static void gradients(void **state)
{
    static const int64_t shapes[][2] = {{5, 3}, {4, 17}, {2, 1}};
    (void)state;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int form = 0; form < FORMS; form++) {
            if ((form & CONSTANT) && !(form & (GAIN | SHIFT)))
                continue;
            setup s = begin(shapes[k][0], shapes[k][1], FTB_FP64);
            FtB_Var norm, loss = record(&s, form, &norm);
            if (!(form & CONSTANT))
                check_gradient(loss, s.w);
            if (form & GAIN)
                check_gradient(loss, s.gain);
            if (form & SHIFT)
                check_gradient(loss, s.shift);
            end(&s);
        }
}

/* ---- values */

static void check_layer_norm(const setup *s, FtB_Block Y)
{
    FtB_Block G, H;
    int64_t n = Y->ncols;
    assert_ok(FtB_Parameter_value(&G, s->gain));
    assert_ok(FtB_Parameter_value(&H, s->shift));
    for (int64_t i = 0; i < Y->nrows; i++) {
        double mean = 0, variance = 0;
        for (int64_t f = 0; f < n; f++)
            mean += at(s->X, i, f) / (double)n;
        for (int64_t f = 0; f < n; f++)
            variance += (at(s->X, i, f) - mean) * (at(s->X, i, f) - mean) / (double)n;
        for (int64_t f = 0; f < n; f++) {
            double wanted = (at(s->X, i, f) - mean) / sqrt(variance + 1e-5) * at(G, 0, f) + at(H, 0, f);
            assert_true(fabs(at(Y, i, f) - wanted) < 2e-5);
        }
    }
    FtB_Block_free(&G);
    FtB_Block_free(&H);
}

static void column_moments(FtB_Block X, int64_t f, double *mean, double *variance)
{
    *mean = *variance = 0;
    for (int64_t i = 0; i < X->nrows; i++)
        *mean += at(X, i, f) / (double)X->nrows;
    for (int64_t i = 0; i < X->nrows; i++)
        *variance += (at(X, i, f) - *mean) * (at(X, i, f) - *mean) / (double)X->nrows;
}

static const int64_t row_counts[] = {0, 1, 2, 33, 700}, column_counts[] = {1, 2, 15, 16, 17, 48, 100};
#define EACH(list, k) for (size_t k = 0; k < sizeof(list) / sizeof *(list); k++)

static void layer_norm_values(void **state)
{
    (void)state;
    EACH(row_counts, a)
    EACH(column_counts, b)
    for (int type = 0; type < 2; type++) {
        setup s = begin(row_counts[a], column_counts[b], type ? FTB_FP64 : FTB_FP32);
        FtB_Var y, loss = record(&s, GAIN | SHIFT | CONSTANT, &y);
        FtB_Block Y;
        assert_ok(FtB_evaluate(&Y, y));
        check_layer_norm(&s, Y);
        FtB_Block_free(&Y);
        FtB_keep(y);
        if (row_counts[a] > 0) {
            assert_ok(FtB_backward(loss));
            assert_ok(FtB_value(&Y, y));
            check_layer_norm(&s, Y);
            FtB_Block_free(&Y);
        }
        end(&s);
    }
}

/* Training: moments of the rows at hand; the running ones follow, and evaluation uses them. */
static void check_batch_norm(int64_t nrows, int64_t ncols, FtB_Type type)
{
    setup s = begin(nrows, ncols, type);
    FtB_Block Y, M, V, M0 = drawn_block(1, ncols, type, 6);
    double mean, variance;
    FtB_Var x = FtB_input(s.tape, s.X),
            y = FtB_keep(FtB_batch_norm(x, NULL, s.shift, s.mean, s.variance, 0.25, 1e-3));
    FtB_Var loss = FtB_squared_error(y, FtB_input(s.tape, s.T), NULL);
    assert_ok(FtB_Parameter_value(&M, s.mean));
    assert_ok(FtB_Parameter_value(&V, s.variance));
    set_all(s.shift, 0.5);
    assert_ok(FtB_backward(loss));
    assert_ok(FtB_value(&Y, y));
    for (int64_t f = 0; f < ncols; f++) {
        column_moments(s.X, f, &mean, &variance);
        for (int64_t i = 0; i < nrows; i++)
            assert_true(fabs(at(Y, i, f) - ((at(s.X, i, f) - mean) / sqrt(variance + 1e-3) + 0.5)) < 1e-5);
        assert_true(fabs(at(M, 0, f) - (0.75 * at(M0, 0, f) + 0.25 * mean)) < 1e-6);
        double unbiased = variance * (double)nrows / (double)(nrows - 1);
        assert_true(fabs(at(V, 0, f) - (0.75 * 1.5 + 0.25 * unbiased)) < 1e-6);
    }
    FtB_Block_free(&Y);
    FtB_Block_free(&M0);
    M0 = drawn_block(1, ncols, type, 1);
    memcpy(block_values(M0), block_values(M), (size_t)ncols * FtB_Type_size(type));
    assert_ok(FtB_evaluate(&Y, y));
    assert_memory_equal(block_values(M0), block_values(M), (size_t)ncols * FtB_Type_size(type));
    for (int64_t f = 0; f < ncols; f++)
        for (int64_t i = 0; i < nrows; i++)
            assert_true(fabs(at(Y, i, f) - ((at(s.X, i, f) - at(M, 0, f)) / sqrt(at(V, 0, f) + 1e-3) + 0.5)) <
                        1e-5);
    FtB_Block_free(&Y);
    FtB_Block_free(&M0);
    FtB_Block_free(&M);
    FtB_Block_free(&V);
    end(&s);
}

static void batch_norm_values(void **state)
{
    (void)state;
    for (size_t a = 2; a < sizeof row_counts / sizeof *row_counts; a++)
        EACH(column_counts, b)
        {
            check_batch_norm(row_counts[a], column_counts[b], FTB_FP32);
            check_batch_norm(row_counts[a], column_counts[b], FTB_FP64);
        }
}

/* ---- pooling */

static const int64_t graph_of[] = {2, 0, 2, 2, 5, 0, 2, 5, 3};
enum { VERTICES = 9, GRAPHS = 6 };

static void pool_values(void **state)
{
    (void)state;
    for (int pool = FTB_POOL_SUM; pool <= FTB_POOL_MAX; pool++)
        EACH(column_counts, b)
        {
            setup s = begin(VERTICES, column_counts[b], FTB_FP32);
            FtB_Block Y;
            FtB_Var y = FtB_pool(FtB_input(s.tape, s.X), graph_of, GRAPHS, (FtB_Pool)pool);
            assert_ok(FtB_evaluate(&Y, y));
            assert_int_equal(Y->nrows, GRAPHS);
            for (int64_t g = 0; g < GRAPHS; g++)
                for (int64_t f = 0; f < Y->ncols; f++) {
                    double sum = 0, most = -INFINITY, count = 0;
                    for (int64_t i = 0; i < VERTICES; i++)
                        if (graph_of[i] == g) {
                            sum += at(s.X, i, f);
                            most = fmax(most, at(s.X, i, f));
                            count++;
                        }
                    double wanted = count == 0              ? 0
                                    : pool == FTB_POOL_SUM  ? sum
                                    : pool == FTB_POOL_MEAN ? sum / count
                                                            : most;
                    assert_true(fabs(at(Y, g, f) - wanted) < 1e-6);
                }
            FtB_Block_free(&Y);
            end(&s);
        }
}

static void pool_gradients(void **state)
{
    (void)state;
    for (int pool = FTB_POOL_SUM; pool <= FTB_POOL_MAX; pool++) {
        setup s = begin(GRAPHS, 4, FTB_FP64);
        FtB_Parameter v = drawn_parameter("v", VERTICES, 4, FTB_FP64, 9);
        FtB_Var x = FtB_tanh(FtB_heads(FtB_parameter(s.tape, v), 2));
        FtB_Var y = FtB_pool(x, graph_of, GRAPHS, (FtB_Pool)pool);
        assert_gradients(FtB_squared_error(y, FtB_input(s.tape, s.T), NULL), &v, 1, 1e-6);
        FtB_Parameter_free(&v);
        end(&s);
    }
}

/* ---- bits */

/* All gradients and the result of both norms and a pool, side by side: allocated. */
static float *everything(int threads, int form, int64_t *count)
{
    FtB_Context ctx;
    FtB_Var norm;
    enum { ROWS = 3001, COLUMNS = 37 };
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_set_threads(ctx, threads));
    assert_ok(FtB_Context_engage(ctx));
    setup s = begin(ROWS, COLUMNS, FTB_FP32);
    FtB_Var loss = record(&s, form, &norm);
    FtB_keep(norm);
    assert_ok(FtB_backward(loss));
    FtB_Block parts[4];
    assert_ok(FtB_Parameter_gradient(&parts[0], s.w));
    assert_ok(FtB_Parameter_gradient(&parts[1], s.gain));
    assert_ok(FtB_Parameter_gradient(&parts[2], s.shift));
    assert_ok(FtB_value(&parts[3], norm));
    *count = 0;
    float *all = malloc((COLUMNS * (COLUMNS + 2) + ROWS * COLUMNS) * sizeof *all);
    for (int k = 0; k < 4; k++) {
        int64_t values = parts[k]->nrows * parts[k]->ncols;
        memcpy(all + *count, block_values(parts[k]), (size_t)values * sizeof *all);
        *count += values;
        FtB_Block_free(&parts[k]);
    }
    end(&s);
    assert_ok(FtB_Context_engage(NULL));
    FtB_Context_free(&ctx);
    return all;
}

static void same_bits(void **state)
{
    (void)state;
    for (int form = GAIN | SHIFT; form < FORMS; form += BATCH) {
        int64_t count;
        float *one = everything(1, form, &count), *five = everything(5, form, &count);
        assert_memory_equal(one, five, (size_t)count * sizeof *one);
        free(five);
        free(one);
    }
}

static void same_bits_of_isas(void **state)
{
    (void)state;
    for (int form = 0; form < 2; form++) {
        float *first = NULL;
        size_t bytes = 129 * 37 * sizeof(float);
        for (int isa = FTB_ISA_BASELINE; isa <= FTB_ISA_AVX512 && ftb_isa_force(isa) == isa; isa++) {
            setup s = begin(129, 37, FTB_FP32);
            FtB_Block Y;
            FtB_Var norm;
            record(&s, GAIN | SHIFT | CONSTANT | (form ? BATCH : 0), &norm);
            assert_ok(FtB_evaluate(&Y, norm));
            if (first)
                assert_memory_equal(first, block_values(Y), bytes);
            else
                first = memcpy(malloc(bytes), block_values(Y), bytes);
            FtB_Block_free(&Y);
            end(&s);
        }
        free(first);
        ftb_isa_force(-1);
    }
}

/* ---- errors */

static void refused(setup *s, FtB_Var y, GrB_Info info, const char *message)
{
    assert_int_equal(y.node, -1);
    assert_fails(info, message, FtB_Tape_status(s->tape));
    assert_ok(FtB_Tape_reset(s->tape));
}

static void errors(void **state)
{
    setup s = begin(4, 3, FTB_FP32), other = begin(4, 5, FTB_FP32);
    static const int64_t graph[] = {0, 1, 2, 0};
    (void)state;
#define X FtB_input(s.tape, s.X)
    refused(&s, FtB_layer_norm(X, other.gain, NULL, 1e-5), GrB_DIMENSION_MISMATCH,
            "FtB_layer_norm: gain is 1 x 5 fp32, x is 4 x 3 fp32; expected 1 x 3 fp32");
    refused(&s, FtB_layer_norm(X, s.gain, s.w, 1e-5), GrB_DIMENSION_MISMATCH,
            "FtB_layer_norm: shift is 3 x 3");
    refused(&s, FtB_layer_norm(X, NULL, NULL, -1), GrB_INVALID_VALUE, "FtB_layer_norm: eps is -1");
    refused(&s, FtB_batch_norm(X, NULL, NULL, NULL, s.variance, 0.1, 1e-5), GrB_NULL_POINTER,
            "FtB_batch_norm: mean is NULL");
    refused(&s, FtB_batch_norm(X, NULL, NULL, s.mean, s.gain, 0.1, 1e-5), GrB_INVALID_VALUE, "not trained");
    refused(&s, FtB_batch_norm(X, NULL, NULL, s.mean, s.mean, 0.1, 1e-5), GrB_INVALID_VALUE,
            "two parameters");
    refused(&s, FtB_batch_norm(X, NULL, NULL, s.mean, s.variance, 2, 1e-5), GrB_INVALID_VALUE,
            "FtB_batch_norm: momentum is 2");
    refused(&s, FtB_batch_norm(X, other.gain, NULL, s.mean, s.variance, 0.1, 1e-5), GrB_DIMENSION_MISMATCH,
            "FtB_batch_norm: gain");
    refused(&s, FtB_pool(X, graph, 2, FTB_POOL_SUM), GrB_INDEX_OUT_OF_BOUNDS,
            "FtB_pool: graph[2] is 2; expected 0 to 1");
    refused(&s, FtB_pool(X, NULL, 2, FTB_POOL_SUM), GrB_NULL_POINTER, "FtB_pool: graph is NULL");
    refused(&s, FtB_pool(X, graph, 0, FTB_POOL_SUM), GrB_INVALID_VALUE, "FtB_pool: ngraphs is 0");
    refused(&s, FtB_pool(X, graph, 3, (FtB_Pool)5), GrB_INVALID_VALUE, "FtB_pool: pool is 5");
#undef X
    end(&s);
    end(&other);
    s = begin(1, 3, FTB_FP32);
    FtB_Var norm, loss = record(&s, GAIN | BATCH, &norm);
    assert_fails(GrB_INVALID_VALUE, "batch_norm: x has one row, which has no variance", FtB_backward(loss));
    FtB_Block Y;
    assert_ok(FtB_evaluate(&Y, norm));
    FtB_Block_free(&Y);
    end(&s);
}

/* ---- failing allocations */

static GrB_Info run_all(void *arg)
{
    const int form = *(const int *)arg;
    FtB_Tape tape = NULL;
    FtB_Block T = NULL;
    FtB_Parameter p[5] = {NULL};
    GrB_Info info = FtB_Tape_new(&tape, 1);
    for (int k = 0; k < 5 && info == GrB_SUCCESS; k++) {
        info = FtB_Parameter_new(&p[k], "p", k == 0 ? VERTICES : 1, 3, FTB_FP32);
        if (info == GrB_SUCCESS && k > 2)
            info = FtB_Parameter_set_trained(p[k], false);
    }
    if (info == GrB_SUCCESS)
        info = FtB_Block_new(&T, GRAPHS, 3, FTB_FP32);
    if (info == GrB_SUCCESS) {
        FtB_Var x = FtB_parameter(tape, p[0]);
        x = form ? FtB_batch_norm(x, p[1], p[2], p[3], p[4], 0.1, 1e-5) : FtB_layer_norm(x, p[1], p[2], 1e-5);
        x = FtB_pool(x, graph_of, GRAPHS, form ? FTB_POOL_MEAN : FTB_POOL_MAX);
        info = FtB_backward(FtB_squared_error(x, FtB_input(tape, T), NULL));
    }
    for (int k = 0; k < 5; k++)
        FtB_Parameter_free(&p[k]);
    FtB_Block_free(&T);
    FtB_Tape_free(&tape);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    for (int form = 0; form < 2; form++)
        fail_every_allocation(run_all, NULL, &form);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients),          cmocka_unit_test(layer_norm_values),
        cmocka_unit_test(batch_norm_values),  cmocka_unit_test(pool_values),
        cmocka_unit_test(pool_gradients),     cmocka_unit_test(same_bits),
        cmocka_unit_test(same_bits_of_isas),  cmocka_unit_test(errors),
        cmocka_unit_test(failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

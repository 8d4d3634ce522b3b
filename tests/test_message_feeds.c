/* Messages: patterns walked transposed, GraphBLAS's semirings, vertices, and what is refused. */
#include <GraphBLAS.h>

#include "support/check.h"

#include "cpu/message_run.h"
#include "ops/vertices.h"
#include "support/messages.h"

#include <stdlib.h>

/* The transposed pattern, walked with the text's names the other way round, gives every entry the same. */
static void test_transposed(void **state)
{
    (void)state;
    static const char text[] =
        "plus : src - 2 * dst + n[i] * 3 + c[j] * 5 + w[e] * 7 + i * 11 + j * 13 + e * 17 + "
        "di * 19 + dk * 23 + edge";
    rng r = rng_new();
    FtB_Matrix A = random_graph(&r, 40, 30, FTB_FP64, 1, true);
    ftb_pattern *p = A->pattern, *t;
    const int64_t *from;
    int64_t nvals = p->nvals;
    FtB_Block src = random_block(&r, 30, 5, FTB_FP64), dst = random_block(&r, 40, 5, FTB_FP64);
    FtB_Block n = random_block(&r, 40, 1, FTB_FP64), c = random_block(&r, 30, 5, FTB_FP64),
              w = random_block(&r, nvals, 1, FTB_FP64);
    double *V[3];
    FtB_Semiring s, bound;
    assert_ok(ftb_pattern_transpose(p, &t, &from));
    assert_ok(FtB_Semiring_new(&s, text));
    for (int way = 0; way < 3; way++) { /* as it is; transposed, with dst added and with dst bound */
        ftb_message m;
        if (way == 2)
            assert_ok(FtB_Semiring_bind(&bound, s, FTB_BIND("n", n), FTB_BIND("c", c), FTB_BIND("w", w),
                                        FTB_BIND("dst", dst)));
        else
            assert_ok(FtB_Semiring_bind(&bound, s, FTB_BIND("n", n), FTB_BIND("c", c), FTB_BIND("w", w)));
        assert_ok(ftb_message_new(&m, ftb_context(), bound, NULL));
        assert_ok(ftb_message_block(&m, "src", way ? FTB_SIDE_ROW : FTB_SIDE_COL, src, 1));
        if (way < 2)
            assert_ok(ftb_message_block(&m, "dst", way ? FTB_SIDE_COL : FTB_SIDE_ROW, dst, 1));
        assert_ok(ftb_message_values(&m, "edge", A, way ? from : NULL));
        assert_ok(ftb_message_indices(&m, way ? t : p, way, way ? from : NULL));
        V[way] = malloc((size_t)nvals * 40);
        assert_ok(ftb_messages_run(&(ftb_messages_product){.m = &m, .p = way ? t : p, .out = V[way]}));
        ftb_message_clear(&m);
        FtB_Semiring_free(&bound);
    }
    for (int64_t e = 0; e < nvals; e++) {
        assert_memory_equal(V[1] + e * 5, V[0] + from[e] * 5, 40);
        assert_memory_equal(V[2] + e * 5, V[0] + from[e] * 5, 40);
    }
    for (int way = 0; way < 3; way++)
        free(V[way]);
    FtB_Semiring_free(&s);
    FtB_Matrix_free(&A);
    FtB_Block_free(&src);
    FtB_Block_free(&dst);
    FtB_Block_free(&n);
    FtB_Block_free(&c);
    FtB_Block_free(&w);
}

/* a, b and the domain of GraphBLAS's semirings. */
static void graphblas_message(ftb_message *m, GrB_Semiring semiring, FtB_Matrix A, FtB_Block src,
                              FtB_Block dst)
{
    static const char *const spmm[] = {"a", "edge", "b", "src", NULL}, *const sddmm[] = {"a", "dst", "b",
                                                                                         "src", NULL};
    FtB_Semiring s;
    assert_ok(ftb_arg_semiring(&s, FtB_Arg_grb_semiring(semiring), "semiring"));
    assert_ok(ftb_message_new(m, ftb_context(), s, dst ? sddmm : spmm));
    assert_ok(ftb_message_block(m, "src", FTB_SIDE_COL, src, 1));
    if (dst) {
        assert_ok(ftb_message_block(m, "dst", FTB_SIDE_ROW, dst, 1));
        assert_ok(ftb_message_over_features(m));
    } else {
        assert_ok(ftb_message_values(m, "edge", A, NULL));
    }
    assert_ok(ftb_message_indices(m, A->pattern, false, NULL));
    FtB_Semiring_free(&s);
}

static void test_graphblas(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = random_graph(&r, 20, 20, FTB_FP32, 1, true);
    FtB_Block src = random_block(&r, 20, 17, FTB_FP32), dst = random_block(&r, 20, 17, FTB_FP32);
    ftb_pattern *p = A->pattern;
    float *edge = matrix_values(A), *x = block_values(src), *y = block_values(dst);
    edge[0] = 300.7F; /* saturates */
    ftb_message m;
    int64_t *V = malloc((size_t)p->nvals * 17 * 8);
    graphblas_message(&m, GrB_PLUS_TIMES_SEMIRING_INT8, A, src, NULL);
    assert_ok(ftb_messages_run(&(ftb_messages_product){.m = &m, .p = p, .out = V}));
    ftb_message_clear(&m);
    for (int64_t e = 0; e < p->nvals; e++)
        for (int64_t f = 0; f < 17; f++)
            assert_int_equal(V[e * 17 + f],
                             (e == 0 ? 127 : (int64_t)edge[e]) * (int64_t)x[ftb_col(p, e) * src->ld + f]);
    graphblas_message(&m, GrB_PLUS_TIMES_SEMIRING_FP32, A, src, NULL);
    assert_non_null(ftb_message_find(&m, "edge"));
    assert_null(ftb_message_find(&m, "a"));
    ftb_message_clear(&m);
    const GrB_Semiring known[] = {GrB_PLUS_TIMES_SEMIRING_FP32, GrB_LOR_LAND_SEMIRING_BOOL,
                                  GrB_LAND_LOR_SEMIRING_BOOL, GrB_LXOR_LAND_SEMIRING_BOOL,
                                  GrB_LXNOR_LOR_SEMIRING_BOOL};
    for (int k = 0; k < 5; k++) {
        graphblas_message(&m, known[k], A, src, dst);
        assert_ok(ftb_messages_run(&(ftb_messages_product){.m = &m, .p = p, .out = V}));
        ftb_message_clear(&m);
        for (int64_t i = 0; i < p->nrows; i++)
            for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++) {
                float dot = 0;
                int or = 0, and = 1, xor = 0, xnor = 1;
                for (int64_t f = 0; f < 17; f++) {
                    float u = x[ftb_col(p, e) * src->ld + f], v = y[i * dst->ld + f];
                    const bool is_u = u != 0, is_v = v != 0;
                    dot += u * v;
                    or |= is_u && is_v;
                    and &= is_u || is_v;
                    xor ^= is_u &&is_v;
                    xnor = xnor == (is_u || is_v);
                }
                const int truths[] = {0, or, and, xor, xnor};
                if (k == 0)
                    assert_true(((float *)V)[e] == dot);
                else
                    assert_int_equal(((uint8_t *)V)[e], truths[k]);
            }
    }
    FtB_Semiring s;
    assert_ok(ftb_arg_semiring(&s, FtB_Arg_grb_semiring(GrB_MIN_PLUS_SEMIRING_FP32), "semiring"));
    assert_ok(ftb_message_new(&m, ftb_context(), s, NULL));
    assert_fails(GrB_DOMAIN_MISMATCH, "min over the features", ftb_message_over_features(&m));
    ftb_message_clear(&m);
    FtB_Semiring_free(&s);
    free(V);
    FtB_Matrix_free(&A);
    FtB_Block_free(&src);
    FtB_Block_free(&dst);
}

static void test_vertices(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int64_t heads = 1; heads < 4; heads++) {
        message_fixture x;
        FtB_Block Y;
        ftb_expr *e;
        make_message(&x, &r, "plus", "norm[i] * dst + src", FTB_FP32, 3000, 10, heads, heads, 7, 0, false);
        assert_ok(ftb_expr_parse(&e, ftb_context(), "relu(dst) * 2 + dst", "test", 0));
        assert_ok(ftb_vertex_values_new(
            &Y, NULL, &(ftb_vertex_values){.m = &x.m, .expr = e, .side = FTB_SIDE_ROW, .nrows = 3000}));
        assert_true(Y->type == FTB_FP32 && Y->ncols == heads * 7);
        for (int64_t i = 0; i < 3000; i++)
            for (int64_t f = 0; f < heads * 7; f++) {
                float v = ((float *)block_values(x.dst))[i * x.dst->ld + f];
                assert_true(((const float *)ftb_block_data(Y))[i * heads * 7 + f] == (v > 0 ? v : 0) * 2 + v);
            }
        FtB_Block_free(&Y);
        ftb_expr_release(e);
        release_message(&x);
    }
}

static void test_errors(void **state)
{
    (void)state;
    rng r = rng_new();
    message_fixture x;
    ftb_message m;
    FtB_Semiring s, bound;
    make_message(&x, &r, "plus", "src * dst * edge", FTB_FP32, 20, 10, 4, 4, 3, 4, true);
    assert_ok(FtB_Semiring_new(&s, "plus : src * dst + n[j] + nobody"));
    assert_ok(FtB_Semiring_bind(&bound, s, FTB_BIND("dst", x.dst)));
    assert_ok(ftb_message_new(&m, ftb_context(), bound, NULL));
    assert_fails(GrB_INVALID_VALUE, "'dst' is bound", ftb_message_block(&m, "dst", FTB_SIDE_ROW, x.dst, 1));
    ftb_message_clear(&m);
    FtB_Semiring_free(&bound);
    assert_ok(FtB_Semiring_bind(&bound, s, FTB_BIND("n", x.dst)));
    assert_ok(ftb_message_new(&m, ftb_context(), bound, NULL));
    assert_ok(ftb_message_block(&m, "src", FTB_SIDE_COL, x.src, 4));
    assert_fails(GrB_DIMENSION_MISMATCH, "'dst' has 2 heads, where other operands have 4",
                 ftb_message_block(&m, "dst", FTB_SIDE_ROW, x.dst, 2));
    assert_fails(GrB_DIMENSION_MISMATCH, "multiple of 5",
                 ftb_message_block(&m, "dst", FTB_SIDE_ROW, x.dst, 5));
    assert_fails(GrB_INVALID_VALUE, "unknown name 'dst' at column 14; known here: n[j], src, dst",
                 ftb_message_indices(&m, x.A->pattern, false, NULL));
    ftb_message_clear(&m);
    FtB_Semiring_free(&bound);
    assert_ok(FtB_Semiring_bind(&bound, s, FTB_BIND("n", x.src), FTB_BIND("nobody", 1)));
    assert_ok(ftb_message_new(&m, ftb_context(), bound, NULL));
    assert_ok(ftb_message_block(&m, "src", FTB_SIDE_COL, x.src, 4));
    assert_ok(ftb_message_block(&m, "dst", FTB_SIDE_ROW, x.src, 4));
    assert_fails(GrB_DIMENSION_MISMATCH, "'dst' has 10 rows; expected one for each of the 20 rows",
                 ftb_message_indices(&m, x.A->pattern, false, NULL));
    ftb_message_clear(&m);
    assert_fails(GrB_INVALID_VALUE, "min and max only",
                 ftb_message_reduce(&x.m, x.A->pattern, &m, 12, (int64_t *)(void *)&m, 12, NULL, 0));
    FtB_Semiring_free(&s);
    FtB_Semiring_free(&bound);
    release_message(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_transposed), cmocka_unit_test(test_graphblas),
                                       cmocka_unit_test(test_vertices), cmocka_unit_test(test_errors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

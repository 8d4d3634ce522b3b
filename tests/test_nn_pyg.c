/* Layers beside PyG's: tests/cases/pyg/layer_*.txt hold a small directed graph with a vertex that is isolated
 * and one that hears nobody, parameters and features in FP64, and PyG's results and gradients of all of them.
 */
#include "featblas_nn.h"

#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROOM = 256, SECTIONS = 40 };

typedef struct section {
    char name[64];
    int64_t nrows, ncols;
    double values[ROOM];
} section;

static section sections[SECTIONS];
static int count;

static void read_case(const char *name)
{
    char path[1024], line[512];
    snprintf(path, sizeof path, "%s/tests/cases/pyg/layer_%s.txt", getenv("FEATBLAS_SOURCE_DIR"), name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    count = 0;
    while (fgets(line, sizeof line, file)) {
        section *s = &sections[count];
        long long nrows, ncols;
        if (line[0] == '#')
            continue;
        assert_int_equal(sscanf(line, "%63s %lld %lld", s->name, &nrows, &ncols), 3);
        s->nrows = nrows;
        s->ncols = ncols;
        assert_in_range(nrows * ncols, 1, ROOM);
        for (int64_t k = 0; k < nrows * ncols; k++)
            assert_int_equal(fscanf(file, "%lf ", &s->values[k]), 1);
        assert_true(++count < SECTIONS);
    }
    fclose(file);
}

static section *find(const char *kind, const char *name)
{
    char full[128];
    snprintf(full, sizeof full, "%s%s", kind, name);
    for (int s = 0; s < count; s++)
        if (strcmp(sections[s].name, full) == 0)
            return &sections[s];
    return NULL;
}

static FtB_Matrix graph_of(const section *edges, int64_t n, bool typed)
{
    int64_t i[ROOM], j[ROOM];
    double type[ROOM];
    FtB_Matrix A;
    for (int64_t e = 0; e < edges->nrows; e++) {
        i[e] = (int64_t)edges->values[3 * e];
        j[e] = (int64_t)edges->values[3 * e + 1];
        type[e] = edges->values[3 * e + 2];
    }
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, n, n, typed, edges->nrows, i, j, typed ? type : NULL,
                               FTB_DUP_ERROR, NULL));
    return A;
}

static void expect(const char *layer, FtB_Block X, const section *wanted)
{
    int64_t nrows, ncols, ld;
    void *data;
    assert_non_null(wanted);
    assert_ok(FtB_Block_shape(X, &nrows, &ncols, &ld, NULL, &data));
    if (nrows != wanted->nrows || ncols != wanted->ncols)
        fail_msg("%s, %s: %lld x %lld", layer, wanted->name, (long long)nrows, (long long)ncols);
    for (int64_t i = 0; i < nrows; i++)
        for (int64_t j = 0; j < ncols; j++) {
            const double got = ((double *)data)[i * ld + j], want = wanted->values[i * ncols + j];
            if (!(fabs(got - want) <= 1e-8 * fmax(1, fabs(want))))
                fail_msg("%s, %s(%lld, %lld): %.12g; PyG has %.12g", layer, wanted->name, (long long)i,
                         (long long)j, got, want);
        }
}

static void put(FtB_Parameter p, const section *from)
{
    FtB_Block X;
    int64_t nrows, ncols;
    void *data;
    if (!from)
        fail_msg("PyG has no %s", FtB_Parameter_name(p));
    assert_ok(FtB_Parameter_value(&X, p));
    assert_ok(FtB_Block_shape(X, &nrows, &ncols, NULL, NULL, &data));
    assert_true(nrows == from->nrows && ncols == from->ncols);
    memcpy(data, from->values, sizeof(double) * (size_t)(nrows * ncols));
    assert_ok(FtB_Block_changed(X));
    FtB_Block_free(&X);
}

static FtB_Var constant(FtB_Tape tape, FtB_Block *X, const double *values, int64_t nrows, int64_t ncols)
{
    assert_ok(FtB_Block_wrap_const(X, values, nrows, ncols, ncols, FTB_FP64));
    return FtB_input(tape, FTB_ARG(*X));
}

static void check_gradient(const char *layer, FtB_Parameter p, const section *wanted)
{
    FtB_Block G;
    assert_ok(FtB_Parameter_gradient(&G, p));
    assert_non_null(G);
    expect(layer, G, wanted);
    FtB_Block_free(&G);
}

static void check_layer(const char *name, const char *kind, int64_t out, const FtB_Layer_options *options)
{
    static double ones[ROOM];
    FtB_Layer layer;
    FtB_Tape tape;
    FtB_Parameter x;
    FtB_Block Y, dout, left, right;
    const section *features = find("x", ""), *result = find("out", "");
    for (int k = 0; k < ROOM; k++)
        ones[k] = 1;
    FtB_Matrix A = graph_of(find("edges", ""), features->nrows, strcmp(kind, "rgcn") == 0);
    assert_ok(FtB_Layer_new(&layer, kind, features->ncols, out, options));
    assert_ok(FtB_Parameter_new(&x, "x", features->nrows, features->ncols, FTB_FP64));
    put(x, features);
    for (int64_t p = 0; p < FtB_Layer_count(layer); p++)
        put(FtB_Layer_parameter(layer, p), find("value.", FtB_Parameter_name(FtB_Layer_parameter(layer, p))));
    assert_ok(FtB_Tape_new(&tape, 1));
    FtB_Var in = FtB_parameter(tape, x), y = FtB_Layer_apply(layer, A, in, in, FTB_NO_VAR);
    FtB_Var weighted =
                FtB_times(y, constant(tape, &dout, find("dout", "")->values, result->nrows, result->ncols)),
            loss = FtB_matmul(FtB_matmul(constant(tape, &left, ones, 1, result->nrows), weighted),
                              constant(tape, &right, ones, result->ncols, 1));
    assert_ok(FtB_evaluate(&Y, y));
    expect(name, Y, result);
    FtB_Block_free(&Y);
    assert_ok(FtB_backward(loss));
    check_gradient(name, x, find("dx", ""));
    for (int64_t p = 0; p < FtB_Layer_count(layer); p++)
        check_gradient(name, FtB_Layer_parameter(layer, p),
                       find("gradient.", FtB_Parameter_name(FtB_Layer_parameter(layer, p))));
    FtB_Block_free(&dout);
    FtB_Block_free(&left);
    FtB_Block_free(&right);
    FtB_Tape_free(&tape);
    FtB_Parameter_free(&x);
    FtB_Layer_free(&layer);
    FtB_Matrix_free(&A);
}

static void beside_pyg(void **state)
{
    static const struct {
        const char *name, *kind;
        FtB_Layer_options options;
    } rows[] = {{"gcn", "gcn", {0}},
                {"sage_mean", "sage", {0}},
                {"sage_max", "sage", {.aggregate = "max"}},
                {"gatv2", "gatv2", {.heads = 2}},
                {"gin", "gin", {.train_eps = true}},
                {"edgeconv", "edgeconv", {0}},
                {"pna", "pna", {0}},
                {"rgcn", "rgcn", {.relations = 3}},
                {"transformer", "transformer", {.heads = 2}}};
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        FtB_Layer_options options = rows[k].options;
        options.size = sizeof options;
        options.type = FTB_FP64;
        read_case(rows[k].name);
        if (strcmp(rows[k].name, "pna") == 0)
            options.log_degree = find("log_degree", "")->values[0];
        check_layer(rows[k].name, rows[k].kind, 3, &options);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(beside_pyg)};
    if (!getenv("FEATBLAS_SOURCE_DIR"))
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}

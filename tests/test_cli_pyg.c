/* featblas predict on models that PyG saved: tests/cases/pyg holds their tensors and what PyG predicts with
 * them on a small directed graph with a loop, an isolated vertex and one that hears nobody. */
#include "featblas_nn.h"

#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = 4096 };

/* A section: its name, its shape and its numbers. */
typedef struct section {
    char name[128];
    int rank;
    int64_t shape[FTB_TENSOR_RANK], count;
    float values[ROOM];
} section;

static FILE *open_case(const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/cases/pyg/%s.txt", getenv("FEATBLAS_SOURCE_DIR"), name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    return file;
}

/* The next section; false at the end. */
static bool next(FILE *file, section *s)
{
    char line[512];
    do
        if (!fgets(line, sizeof line, file))
            return false;
    while (line[0] == '#');
    char *at = strtok(line, " \n");
    snprintf(s->name, sizeof s->name, "%s", at);
    s->count = 1;
    for (s->rank = 0; (at = strtok(NULL, " \n")) != NULL; s->rank++) {
        s->shape[s->rank] = strtoll(at, NULL, 10);
        s->count *= s->shape[s->rank];
    }
    assert_in_range(s->count, 1, ROOM);
    for (int64_t k = 0; k < s->count; k++)
        assert_int_equal(fscanf(file, "%f ", &s->values[k]), 1);
    return true;
}

static void write_graph(void)
{
    section *s = malloc(sizeof *s);
    FILE *file = open_case("graph"), *graph = fopen("graph.mtx", "w"), *features = fopen("features.csv", "w");
    assert_true(s && graph && features);
    assert_true(next(file, s));
    fprintf(graph, "%%%%MatrixMarket matrix coordinate pattern general\n12 12 %lld\n",
            (long long)s->shape[0]);
    for (int64_t e = 0; e < s->shape[0]; e++)
        fprintf(graph, "%d %d\n", (int)s->values[2 * e] + 1, (int)s->values[2 * e + 1] + 1);
    assert_true(next(file, s));
    for (int64_t k = 0; k < s->count; k++)
        fprintf(features, "%.9g%c", (double)s->values[k], (k + 1) % s->shape[1] ? ',' : '\n');
    fclose(features);
    fclose(graph);
    fclose(file);
    free(s);
}

/* model.safetensors from a case; *scores is its last section. */
static void write_model(const char *name, section *scores)
{
    FtB_Tensors t;
    FtB_Block X;
    FILE *file = open_case(name);
    assert_int_equal(FtB_Tensors_new(&t), GrB_SUCCESS);
    while (next(file, scores) && strcmp(scores->name, "scores") != 0) {
        assert_int_equal(FtB_Block_wrap(&X, scores->values, 1, scores->count, scores->count, FTB_FP32),
                         GrB_SUCCESS);
        assert_int_equal(FtB_Tensors_set(t, scores->name, X, scores->rank, scores->shape), GrB_SUCCESS);
        FtB_Block_free(&X);
    }
    assert_int_equal(FtB_Tensors_write(t, "model.safetensors"), GrB_SUCCESS);
    FtB_Tensors_free(&t);
    fclose(file);
}

static void check(const char *name, const char *options)
{
    char command[2048];
    FtB_Block Y;
    int64_t nrows, ncols, ld;
    void *data;
    section *scores = malloc(sizeof *scores);
    assert_non_null(scores);
    write_model(name, scores);
    snprintf(command, sizeof command,
             "\"$FEATBLAS_COMMAND\" predict graph.mtx --features features.csv --load model.safetensors "
             "--write scores "
             "-o scores.npy -q %s",
             options);
    assert_int_equal(system(command), 0);
    assert_int_equal(FtB_Block_read(&Y, "scores.npy", NULL), GrB_SUCCESS);
    assert_int_equal(FtB_Block_shape(Y, &nrows, &ncols, &ld, NULL, &data), GrB_SUCCESS);
    assert_true(nrows == scores->shape[0] && ncols == scores->shape[1]);
    for (int64_t i = 0; i < nrows; i++)
        for (int64_t j = 0; j < ncols; j++)
            assert_true(fabsf(((const float *)data)[i * ld + j] - scores->values[i * ncols + j]) <= 1e-5f);
    FtB_Block_free(&Y);
    free(scores);
}

static void test_gcn(void **state)
{
    (void)state;
    check("gcn", "");
}
static void test_sage_mean(void **state)
{
    (void)state;
    check("sage_mean", "");
}
static void test_sage_max(void **state)
{
    (void)state;
    check("sage_max", "--aggregate max");
}
static void test_gin(void **state)
{
    (void)state;
    check("gin", "");
}
static void test_gat(void **state)
{
    (void)state;
    check("gat", "");
}
static void test_gatv2(void **state)
{
    (void)state;
    check("gatv2", "");
}

static char folder[] = "/tmp/featblas-pyg-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    if (!getenv("FEATBLAS_COMMAND") || !getenv("FEATBLAS_SOURCE_DIR") || !mkdtemp(folder) ||
        chdir(folder) != 0)
        return -1;
    write_graph();
    return 0;
}

static int tear_down(void **state)
{
    static const char *const files[] = {"graph.mtx", "features.csv", "model.safetensors", "scores.npy"};
    (void)state;
    for (size_t f = 0; f < sizeof files / sizeof *files; f++)
        unlink(files[f]);
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gcn),      cmocka_unit_test(test_sage_mean),
                                       cmocka_unit_test(test_sage_max), cmocka_unit_test(test_gin),
                                       cmocka_unit_test(test_gat),      cmocka_unit_test(test_gatv2)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

/* FtB_Relations: what the list holds and refuses; samples over one relation are FtB_sample's, over several
 * each relation's picks are those of FtB_select_sample, and vertices have their numbers by type. */
#include "support/check.h"

#include "oracle/ref_sample.h"
#include "support/fail_alloc.h"
#include "support/rng.h"

#include <stdlib.h>

static FtB_Matrix make_graph(rng *r, int64_t nrows, int64_t ncols, int64_t nvals)
{
    int64_t *I = malloc(sizeof *I * (size_t)(nvals + 1)), *J = malloc(sizeof *J * (size_t)(nvals + 1));
    double *X = malloc(sizeof *X * (size_t)(nvals + 1));
    for (int64_t e = 0; e < nvals; e++) {
        I[e] = rng_below(r, 1 + rng_below(r, nrows));
        J[e] = rng_below(r, ncols);
        X[e] = 0.1 + rng_unit(r);
    }
    FtB_Matrix A;
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, nrows, ncols, 1, nvals, I, J, X, FTB_DUP_FIRST, NULL));
    free(I);
    free(J);
    free(X);
    return A;
}

/* ---- the list */

static void holds(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Relations list;
    FtB_Matrix writes = make_graph(&r, 5, 8, 20), cites = make_graph(&r, 5, 5, 9), A, last;
    FtB_Block X, got;
    const char *name, *source, *destination;
    int64_t count, nvals, others;
    const void *x, *y;
    assert_ok(FtB_Relations_new(&list));
    assert_int_equal(FtB_Relations_count(list), 0);
    assert_ok(FtB_Relations_add(list, "writes", "author", "paper", writes));
    assert_ok(FtB_Relations_add(list, "cites", "paper", "paper", cites));
    assert_ok(FtB_Relations_add(list, "read by", "author", "paper", writes));
    assert_int_equal(FtB_Relations_count(list), 3);
    assert_int_equal(FtB_Relations_types(list), 2);
    assert_int_equal(FtB_Relations_type_of(list, "paper"), 0);
    assert_int_equal(FtB_Relations_type_of(list, "author"), 1);
    assert_int_equal(FtB_Relations_type_of(list, "venue"), -1);
    assert_ok(FtB_Relations_get(list, 1, &name, &source, &destination, &A));
    assert_string_equal(name, "cites");
    assert_string_equal(source, "paper");
    assert_string_equal(destination, "paper");
    assert_ok(FtB_Matrix_shape(A, NULL, NULL, &nvals, NULL, NULL));
    assert_ok(FtB_Matrix_shape(cites, NULL, NULL, &others, NULL, NULL));
    assert_int_equal(nvals, others);
    assert_ok(FtB_Relations_get(list, 2, NULL, NULL, NULL, &last));
    FtB_Matrix_free(&writes); /* the list has its own */
    assert_ok(FtB_Matrix_shape(last, &count, NULL, NULL, NULL, NULL));
    assert_int_equal(count, 5);
    assert_ok(FtB_Block_new(&X, 8, 3, FTB_FP32));
    assert_ok(FtB_Relations_type(list, 1, &name, &count, &got));
    assert_string_equal(name, "author");
    assert_int_equal(count, 8);
    assert_null(got);
    assert_ok(FtB_Relations_set_features(list, "author", X));
    assert_ok(FtB_Relations_type(list, 1, NULL, NULL, &got));
    x = block_values(X);
    y = block_values(got);
    assert_ptr_equal(x, y);
    FtB_Block_free(&X);
    assert_ok(FtB_Relations_set_features(list, "author", NULL));
    assert_ok(FtB_Relations_type(list, 1, NULL, NULL, &got));
    assert_null(got);
    FtB_Matrix_free(&cites);
    assert_ok(FtB_Relations_free(&list));
    assert_ok(FtB_Relations_free(&list));
}

static void refuses(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Relations list;
    FtB_Matrix writes = make_graph(&r, 5, 8, 20), cites = make_graph(&r, 5, 5, 9);
    FtB_Block Y;
    assert_ok(FtB_Relations_new(&list));
    assert_ok(FtB_Relations_add(list, "writes", "author", "paper", writes));
    assert_ok(FtB_Relations_add(list, "cites", "paper", "paper", cites));
    assert_ok(FtB_Block_new(&Y, 5, 3, FTB_FP32));
    assert_fails(GrB_DIMENSION_MISMATCH, "X has 5 rows; expected 8, the vertices of type \"author\"",
                 FtB_Relations_set_features(list, "author", Y));
    assert_fails(GrB_INVALID_VALUE, "type is venue", FtB_Relations_set_features(list, "venue", Y));
    assert_fails(GrB_NULL_POINTER, "type is NULL", FtB_Relations_set_features(list, NULL, Y));
    assert_fails(GrB_INVALID_INDEX, "relation is 2 of 2", FtB_Relations_get(list, 2, NULL, NULL, NULL, NULL));
    assert_fails(GrB_INVALID_INDEX, "type is -1 of 2", FtB_Relations_type(list, -1, NULL, NULL, NULL));
    assert_fails(GrB_INVALID_VALUE, "relation \"cites\" from \"paper\" to \"paper\" is there",
                 FtB_Relations_add(list, "cites", "paper", "paper", cites));
    assert_fails(GrB_DIMENSION_MISMATCH, "A has 5 columns; expected 8, the vertices of type \"author\"",
                 FtB_Relations_add(list, "knows", "author", "paper", cites));
    assert_fails(GrB_DIMENSION_MISMATCH, "A is 5 x 8; from \"author\" to itself",
                 FtB_Relations_add(list, "knows", "author", "author", writes));
    assert_fails(GrB_NULL_POINTER, "source is NULL", FtB_Relations_add(list, "knows", NULL, "paper", cites));
    assert_fails(GrB_NULL_POINTER, "A is NULL", FtB_Relations_add(list, "knows", "a", "b", NULL));
    assert_fails(GrB_NULL_POINTER, "relations is NULL", FtB_Relations_add(NULL, "knows", "a", "b", cites));
    assert_int_equal(FtB_Relations_count(list), 2);
    assert_int_equal(FtB_Relations_count(NULL), 0);
    FtB_Block_free(&Y);
    FtB_Matrix_free(&writes);
    FtB_Matrix_free(&cites);
    FtB_Relations_free(&list);
}

/* ---- samples */

static void same_list(FtB_Ids a, FtB_Ids b)
{
    assert_int_equal(a.count, b.count);
    assert_memory_equal(a.at, b.at, sizeof *a.at * (size_t)a.count);
}

static void one_relation(void **state)
{
    (void)state;
    static const FtB_Selector selectors[] = {FTB_SAMPLE_UNIFORM, FTB_SAMPLE_WEIGHTED, FTB_SAMPLE_LABOR,
                                             FTB_SAMPLE_LADIES,  FTB_SAMPLE_LABOR,    FTB_SAMPLE_UNIFORM};
    static const int64_t fanouts[] = {5, 3, 4}, seeds[] = {3, 9, 3, 0};
    for (int c = 0; c < 24; c++) {
        rng r = rng_case(c);
        FtB_Matrix A = make_graph(&r, 90, 90, 700);
        FtB_Relations list;
        FtB_Relation_sample s;
        FtB_Sample alone;
        const FtB_Sample_options o = {.size = sizeof o,
                                      .selector = selectors[c % 6],
                                      .iterations = c % 6 == 4 ? 2 : 0,
                                      .key = c % 6 == 1 ? "x" : NULL,
                                      .replace = c % 6 == 5,
                                      .seed = 12,
                                      .batch = c,
                                      .once = c / 6 % 2,
                                      .structural = c / 12,
                                      .edges = true};
        assert_ok(FtB_Context_set_threads(NULL, 1 + c % 4));
        assert_ok(FtB_Relations_new(&list));
        assert_ok(FtB_Relations_add(list, "to", "vertex", "vertex", A));
        assert_ok(FtB_Relations_sample(&s, list, (const FtB_Ids[]){FtB_Ids_of(seeds, 4)}, fanouts, 3, &o));
        assert_ok(FtB_sample(&alone, A, seeds, 4, fanouts, 3, &o));
        same_list(FtB_Relation_sample_vertices(s, 0), FtB_Sample_vertices(alone));
        same_list(FtB_Relation_sample_vertex_counts(s, 0), FtB_Sample_vertex_counts(alone));
        same_list(FtB_Relation_sample_edge_counts(s, 0), FtB_Sample_edge_counts(alone));
        for (int h = 0; h < 3; h++) {
            const int64_t *a, *b;
            const void *d, *e, *x, *y;
            int64_t m, n, p, q;
            same_list(FtB_Relation_sample_edges(s, 0, h), FtB_Sample_edges(alone, h));
            assert_ok(FtB_Matrix_shape(FtB_Relation_sample_layer(s, 0, h), &m, &n, NULL, NULL, NULL));
            assert_ok(FtB_Matrix_shape(FtB_Sample_layer(alone, h), &p, &q, NULL, NULL, NULL));
            assert_true(m == p && n == q);
            assert_ok(FtB_Matrix_csr(FtB_Relation_sample_layer(s, 0, h), &a, &d, &x));
            assert_ok(FtB_Matrix_csr(FtB_Sample_layer(alone, h), &b, &e, &y));
            assert_memory_equal(a, b, sizeof *a * (size_t)(m + 1));
            assert_memory_equal(d, e, sizeof(int32_t) * (size_t)a[m]);
            assert_true(!x == !y && !x == o.structural);
            assert_true(!x || memcmp(x, y, sizeof(double) * (size_t)a[m]) == 0);
        }
        FtB_Relation_sample_free(&s);
        FtB_Sample_free(&alone);
        FtB_Relations_free(&list);
        FtB_Matrix_free(&A);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

enum { TYPES = 3, RELATIONS = 5, HOPS = 3 };
static const int from[RELATIONS] = {0, 1, 2, 0, 2}, to[RELATIONS] = {0, 0, 1, 1, 0};
static const char *const names[TYPES] = {"a", "b", "c"};

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Rows first.. of relation r's layer h: the picks of FtB_select_sample, with their columns' vertices. */
static void check_layer(FtB_Relation_sample s, FtB_Matrix A, int r, int h, int64_t first, int64_t k,
                        const FtB_Sample_options *o, bool *seen)
{
    FtB_Matrix S, E, L = FtB_Relation_sample_layer(s, r, h);
    const FtB_Ids rows = FtB_Relation_sample_vertices(s, to[r]),
                  columns = FtB_Relation_sample_vertices(s, from[r]);
    const int64_t *rowptr, *wanted, *edges = FtB_Relation_sample_edges(s, r, h).at;
    const void *column, *value, *picked, *values;
    int64_t nrows, ncols, n;
    assert_ok(FtB_Matrix_shape(L, &nrows, NULL, NULL, NULL, NULL));
    assert_ok(FtB_Matrix_shape(A, NULL, &ncols, NULL, NULL, NULL));
    assert_ok(FtB_Matrix_new(&S, FTB_FP64, nrows - first, ncols, 1));
    assert_ok(FtB_Matrix_new(&E, FTB_INT64, nrows - first, ncols, 1));
    const uint64_t seed = r == 0 ? o->seed : ref_mix(o->seed, (uint64_t)r, UINT64_C(0xff000007) << 32);
    assert_ok(FtB_select_sample(S, FtB_Ids_of(rows.at + first, nrows - first), k, NULL, A,
                                FTB_SELECT_OPTIONS(.seed = seed, .batch = o->batch, .hop = h, .edges = E)));
    assert_ok(FtB_Matrix_csr(L, &rowptr, &column, &value));
    assert_ok(FtB_Matrix_csr(S, &wanted, &picked, &values));
    const int64_t *places = matrix_values(E);
    for (int64_t i = first; i < nrows; i++) {
        n = rowptr[i + 1] - rowptr[i];
        assert_int_equal(n, wanted[i - first + 1] - wanted[i - first]);
        int64_t *sorted = malloc(sizeof *sorted * (size_t)(n + 1));
        memcpy(sorted, edges + rowptr[i], sizeof *sorted * (size_t)n);
        qsort(sorted, (size_t)n, sizeof *sorted, by_number);
        assert_memory_equal(sorted, places + wanted[i - first], sizeof *sorted * (size_t)n);
        free(sorted);
        for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++) {
            int64_t at = wanted[i - first];
            while (places[at] != edges[e])
                at++;
            const int32_t v = ((const int32_t *)column)[e];
            assert_true(e == rowptr[i] || v > ((const int32_t *)column)[e - 1]);
            assert_int_equal(columns.at[v], ((const int32_t *)picked)[at]);
            assert_true(((const double *)value)[e] == ((const double *)values)[at]);
            seen[v] = true;
        }
    }
    FtB_Matrix_free(&S);
    FtB_Matrix_free(&E);
}

/* New vertices are ascending, were not there, and somebody picked them. */
static void check_new(FtB_Ids v, int64_t known, int64_t next, const bool *seen)
{
    for (int64_t a = known; a < next; a++) {
        assert_true(seen[a]);
        assert_true(a == known || v.at[a] > v.at[a - 1]);
        for (int64_t b = 0; b < known; b++)
            assert_true(v.at[b] != v.at[a]);
    }
}

static void several_case(rng *r, int number)
{
    static const int64_t some[] = {0, 1, 2, 4, 70, -1};
    int64_t size[TYPES], seeds[TYPES][12], fanouts[RELATIONS * HOPS], known[TYPES], before[TYPES] = {0};
    FtB_Ids lists[TYPES];
    FtB_Matrix A[RELATIONS];
    FtB_Relations list;
    FtB_Relation_sample s;
    for (int t = 0; t < TYPES; t++) {
        size[t] = 1 + rng_below(r, 60);
        const int64_t count = rng_below(r, size[t] < 12 ? size[t] : 12);
        for (int64_t v = 0; v < count; v++) /* all different */
            seeds[t][v] = (v * 7 + 3) % size[t];
        lists[t] = FtB_Ids_of(seeds[t], count);
        known[t] = count;
    }
    assert_ok(FtB_Relations_new(&list));
    for (int n = 0; n < RELATIONS; n++) {
        A[n] = make_graph(r, size[to[n]], size[from[n]], rng_below(r, 200));
        assert_ok(FtB_Relations_add(list, n == 4 ? "again" : "to", names[from[n]], names[to[n]], A[n]));
        for (int h = 0; h < HOPS; h++)
            fanouts[n * HOPS + h] = some[rng_below(r, 6)];
    }
    const FtB_Sample_options o = {
        .size = sizeof o, .seed = rng_bits(r) | 1, .batch = number, .once = number % 2, .edges = true};
    assert_ok(FtB_Relations_sample(&s, list, lists, fanouts, HOPS, &o));
    for (int h = 0; h < HOPS; h++) {
        bool *seen[TYPES];
        int64_t next[TYPES];
        for (int t = 0; t < TYPES; t++) {
            next[t] = known[t] + FtB_Relation_sample_vertex_counts(s, t).at[h + 1];
            seen[t] = calloc((size_t)next[t] + 1, 1);
        }
        for (int n = 0; n < RELATIONS; n++) {
            int64_t nrows, ncols;
            const int64_t first = o.once ? before[to[n]] : 0, *rowptr;
            assert_ok(FtB_Matrix_shape(FtB_Relation_sample_layer(s, n, h), &nrows, &ncols, NULL, NULL, NULL));
            assert_int_equal(nrows, known[to[n]]);
            assert_int_equal(ncols, next[from[n]]);
            check_layer(s, A[n], n, h, first, fanouts[n * HOPS + h], &o, seen[from[n]]);
            assert_ok(FtB_Matrix_csr(FtB_Relation_sample_layer(s, n, h), &rowptr, NULL, NULL));
            assert_int_equal(FtB_Relation_sample_edge_counts(s, n).at[h], rowptr[nrows] - rowptr[first]);
        }
        for (int t = 0; t < TYPES; t++) {
            check_new(FtB_Relation_sample_vertices(s, t), known[t], next[t], seen[t]);
            free(seen[t]);
            before[t] = known[t];
            known[t] = next[t];
        }
    }
    for (int t = 0; t < TYPES; t++)
        assert_int_equal(FtB_Relation_sample_vertices(s, t).count, known[t]);
    FtB_Relation_sample_free(&s);
    FtB_Relations_free(&list);
    for (int n = 0; n < RELATIONS; n++)
        FtB_Matrix_free(&A[n]);
}

static void several(void **state)
{
    (void)state;
    const int cases = rng_cases(150);
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(c);
        assert_ok(FtB_Context_set_threads(NULL, 1 + c % 8));
        several_case(&r, c);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

static void refused(void **state)
{
    (void)state;
    static const int64_t seeds[] = {0, 5}, fanouts[] = {2, -2};
    rng r = rng_new();
    FtB_Matrix A = make_graph(&r, 5, 5, 20);
    FtB_Relations list;
    FtB_Relation_sample s = NULL;
    const FtB_Ids one[] = {FtB_Ids_of(seeds, 1)}, two[] = {FtB_Ids_of(seeds, 2)},
                  bad[] = {FtB_Ids_of(NULL, 2)};
    assert_ok(FtB_Relations_new(&list));
    assert_ok(FtB_Relations_sample(&s, list, NULL, NULL, 2, NULL)); /* nothing of nothing */
    FtB_Relation_sample_free(&s);
    assert_ok(FtB_Relations_add(list, "to", "a", "a", A));
    assert_fails(GrB_NULL_POINTER, "relations is NULL",
                 FtB_Relations_sample(&s, NULL, one, fanouts, 1, NULL));
    assert_fails(GrB_NULL_POINTER, "seeds is NULL; expected 1 lists",
                 FtB_Relations_sample(&s, list, NULL, fanouts, 1, NULL));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "seeds of type \"a\": number 1 is 5; expected 0 to 4",
                 FtB_Relations_sample(&s, list, two, fanouts, 1, NULL));
    assert_fails(GrB_INVALID_VALUE, "seeds of type \"a\": 2 numbers at NULL",
                 FtB_Relations_sample(&s, list, bad, fanouts, 1, NULL));
    assert_fails(GrB_INVALID_VALUE, "fanouts[1] is -2",
                 FtB_Relations_sample(&s, list, one, fanouts, 2, NULL));
    assert_fails(GrB_NULL_POINTER, "fanouts is NULL", FtB_Relations_sample(&s, list, one, NULL, 2, NULL));
    assert_fails(GrB_INVALID_VALUE, "nhops is -1", FtB_Relations_sample(&s, list, one, fanouts, -1, NULL));
    assert_fails(GrB_NOT_IMPLEMENTED, "plan is given",
                 FtB_Relations_sample(&s, list, one, fanouts, 1, FTB_SAMPLE_OPTIONS(.plan = "queue")));
    assert_fails(GrB_INVALID_VALUE,
                 "key: ", FtB_Relations_sample(&s, list, one, fanouts, 1, FTB_SAMPLE_OPTIONS(.key = "x +")));
    assert_null(s);
    assert_null(FtB_Relation_sample_layer(NULL, 0, 0));
    FtB_Relations_free(&list);
    FtB_Matrix_free(&A);
}

typedef struct inputs {
    FtB_Matrix A, B;
    FtB_Block X;
    FtB_Sample_options options;
} inputs;

static GrB_Info sample_once(void *arg)
{
    static const int64_t seeds[] = {1, 5}, fanouts[] = {3, 2, 2, 2};
    const inputs *in = arg;
    const FtB_Ids lists[] = {FtB_Ids_of(seeds, 2), FtB_Ids_of(seeds, 1)};
    FtB_Relations list;
    FtB_Relation_sample s = NULL;
    GrB_Info info = FtB_Relations_new(&list);
    if (info == GrB_SUCCESS)
        info = FtB_Relations_add(list, "to", "a", "a", in->A);
    if (info == GrB_SUCCESS)
        info = FtB_Relations_add(list, "of", "b", "a", in->B);
    if (info == GrB_SUCCESS)
        info = FtB_Relations_set_features(list, "b", in->X);
    if (info == GrB_SUCCESS)
        info = FtB_Relations_sample(&s, list, lists, fanouts, 2, &in->options);
    FtB_Relation_sample_free(&s);
    FtB_Relations_free(&list);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    rng r = rng_new();
    inputs in = {.A = make_graph(&r, 30, 30, 100), .B = make_graph(&r, 30, 20, 100)};
    assert_ok(FtB_Block_new(&in.X, 20, 2, FTB_FP32));
    for (int c = 0; c < 3; c++) {
        in.options = (FtB_Sample_options){.size = sizeof in.options, .once = c > 0, .edges = c == 0};
        in.options.selector = c == 2 ? FTB_SAMPLE_LADIES : FTB_SAMPLE_DEFAULT;
        fail_every_allocation(sample_once, NULL, &in);
    }
    FtB_Matrix_free(&in.A);
    FtB_Matrix_free(&in.B);
    FtB_Block_free(&in.X);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds),   cmocka_unit_test(refuses), cmocka_unit_test(one_relation),
        cmocka_unit_test(several), cmocka_unit_test(refused), cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

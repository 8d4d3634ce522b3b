/* Options of samples over relations: over one relation each gives what FtB_sample gives; over several, trees,
 * times, exclusions and entries for the own vertex are looked at one by one, and a tree is what it is alone.
 */
#include "support/check.h"

#include "core/core.h"
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

static int64_t count_of(FtB_Matrix A)
{
    int64_t nvals;
    assert_ok(FtB_Matrix_shape(A, NULL, NULL, &nvals, NULL, NULL));
    return nvals;
}

static int64_t *numbers(rng *r, int64_t count, int64_t below)
{
    int64_t *made = malloc(sizeof *made * (size_t)(count + 1));
    for (int64_t t = 0; t < count; t++)
        made[t] = rng_below(r, below);
    return made;
}

/* ---- one relation */

static void same_list(FtB_Ids a, FtB_Ids b)
{
    assert_int_equal(a.count, b.count);
    assert_memory_equal(a.at, b.at, sizeof *a.at * (size_t)a.count);
}

static void same_layer(FtB_Matrix A, FtB_Matrix B)
{
    const int64_t *a, *b;
    const void *d, *e, *x, *y;
    int64_t m, n, p, q;
    assert_ok(FtB_Matrix_shape(A, &m, &n, NULL, NULL, NULL));
    assert_ok(FtB_Matrix_shape(B, &p, &q, NULL, NULL, NULL));
    assert_true(m == p && n == q);
    assert_ok(FtB_Matrix_csr(A, &a, &d, &x));
    assert_ok(FtB_Matrix_csr(B, &b, &e, &y));
    assert_memory_equal(a, b, sizeof *a * (size_t)(m + 1));
    assert_memory_equal(d, e, sizeof(int32_t) * (size_t)a[m]);
    assert_true(!x == !y && (!x || memcmp(x, y, sizeof(double) * (size_t)a[m]) == 0));
}

enum { SEEDS = 5, CASES = 18 };

/* From case 12 on rows are picked of together, of a hop or, in every other case, of a tree. */
static FtB_Selector selector_of(int c)
{
    static const FtB_Selector together[] = {FTB_SAMPLE_LADIES, FTB_SAMPLE_FASTGCN, FTB_SAMPLE_LABOR};
    return c >= 12 ? together[c % 3] : c == 5 ? FTB_SAMPLE_LAST : FTB_SAMPLE_DEFAULT;
}

/* What one relation gives is what its matrix does alone. */
static void same_sample(FtB_Relation_sample s, FtB_Sample alone, int nhops, bool trees)
{
    same_list(FtB_Relation_sample_vertices(s, 0), FtB_Sample_vertices(alone));
    same_list(FtB_Relation_sample_vertex_counts(s, 0), FtB_Sample_vertex_counts(alone));
    same_list(FtB_Relation_sample_edge_counts(s, 0), FtB_Sample_edge_counts(alone));
    const int32_t *x = FtB_Relation_sample_trees(s, 0), *y = FtB_Sample_trees(alone);
    assert_true(!x == !y && !x == !trees);
    if (x)
        assert_memory_equal(x, y, sizeof *x * (size_t)FtB_Sample_vertices(alone).count);
    for (int h = 0; h < nhops; h++) {
        same_list(FtB_Relation_sample_edges(s, 0, h), FtB_Sample_edges(alone, h));
        same_layer(FtB_Relation_sample_layer(s, 0, h), FtB_Sample_layer(alone, h));
    }
}

static void one_case(rng *r, int c)
{
    static const int64_t fanouts[] = {5, 3, 4};
    const int64_t seeds[SEEDS] = {3, 9, 3, 0, rng_below(r, 60)};
    FtB_Matrix A = make_graph(r, 60, 60, 500);
    FtB_Op op;
    FtB_Relations list;
    FtB_Relation_sample s;
    FtB_Sample alone;
    const int64_t nvals = count_of(A);
    int64_t *times = numbers(r, nvals, 10), *until = numbers(r, SEEDS, 10), *gone = numbers(r, 60, nvals);
    const bool timed = c == 4 || c == 5 || c == 9 || c >= 16, excluded = (c >= 6 && c < 10) || c >= 14;
    assert_ok(FtB_Op_new(&op, "x * norm[j]"));
    FtB_Block norm;
    assert_ok(FtB_Block_new(&norm, 60, 1, FTB_FP64));
    double *at = block_values(norm);
    for (int v = 0; v < 60; v++)
        at[v] = 0.5 + rng_unit(r);
    assert_ok(FtB_Block_changed(norm));
    FtB_Op bound;
    assert_ok(FtB_Op_bind(&bound, op, FTB_BIND("norm", norm)));
    const FtB_Sample_options o = {.size = sizeof o,
                                  .selector = selector_of(c),
                                  .iterations = selector_of(c) == FTB_SAMPLE_LABOR ? 2 : 0,
                                  .key = c == 8 ? "x" : NULL,
                                  .key_op = c == 10 || c == 9 ? bound : NULL,
                                  .seed = 12,
                                  .batch = c,
                                  .replace = c == 3,
                                  .disjoint = c == 0 || c == 3 || timed || c == 11 || (c >= 12 && c % 2 == 0),
                                  .apart = c == 1 || c == 11,
                                  .once = c % 2,
                                  .self = c == 2 || c == 7 || c == 9,
                                  .times = timed ? FtB_Ids_of(times, nvals) : FtB_Ids_of(NULL, 0),
                                  .until = timed ? FtB_Ids_of(until, SEEDS) : FtB_Ids_of(NULL, 0),
                                  .exclude = excluded ? FtB_Ids_of(gone, 60) : FtB_Ids_of(NULL, 0),
                                  .reverses = c == 7 || c == 9,
                                  .edges = true};
    assert_ok(FtB_Relations_new(&list));
    assert_ok(FtB_Relations_add(list, "to", "vertex", "vertex", A));
    assert_ok(FtB_Relations_sample(&s, list, (const FtB_Ids[]){FtB_Ids_of(seeds, SEEDS)}, fanouts, 3, &o));
    assert_ok(FtB_sample(&alone, A, seeds, SEEDS, fanouts, 3, &o));
    same_sample(s, alone, 3, o.disjoint);
    FtB_Relation_sample_free(&s);
    FtB_Sample_free(&alone);
    FtB_Relations_free(&list);
    FtB_Op_free(&bound);
    FtB_Op_free(&op);
    FtB_Block_free(&norm);
    FtB_Matrix_free(&A);
    free(times);
    free(until);
    free(gone);
}

static void one_relation(void **state)
{
    (void)state;
    for (int c = 0; c < 4 * CASES; c++) {
        rng r = rng_case(c);
        assert_ok(FtB_Context_set_threads(NULL, 1 + c % 4));
        one_case(&r, c % CASES);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* ---- several */

enum { TYPES = 3, RELATIONS = 5, HOPS = 2, MOST = 6 };
static const int from[RELATIONS] = {0, 1, 2, 0, 2}, to[RELATIONS] = {0, 0, 1, 1, 0};
static const char *const names[TYPES] = {"a", "b", "c"};

typedef struct world {
    FtB_Relations list;
    FtB_Matrix A[RELATIONS];
    int64_t size[TYPES], first[RELATIONS + 1]; /* of relations' entries in lists of all */
    int64_t seeds[TYPES][MOST];
    FtB_Ids lists[TYPES];
    int64_t nseeds, fanouts[RELATIONS * HOPS];
    int64_t *times, *until, *excluded, nexcluded;
    FtB_Sample_options o;
} world;

static void make_world(world *w, rng *r, int c)
{
    static const int64_t some[] = {0, 1, 2, 4, -1};
    *w = (world){.nseeds = 0};
    for (int t = 0; t < TYPES; t++) {
        w->size[t] = 2 + rng_below(r, 20);
        const int64_t count = rng_below(r, MOST);
        for (int64_t n = 0; n < count; n++)
            w->seeds[t][n] = rng_below(r, w->size[t]); /* some again */
        w->lists[t] = FtB_Ids_of(w->seeds[t], count);
        w->nseeds += count;
    }
    assert_ok(FtB_Relations_new(&w->list));
    for (int n = 0; n < RELATIONS; n++) {
        w->A[n] = make_graph(r, w->size[to[n]], w->size[from[n]], rng_below(r, 120));
        assert_ok(FtB_Relations_add(w->list, n == 4 ? "again" : "to", names[from[n]], names[to[n]], w->A[n]));
        w->first[n + 1] = w->first[n] + count_of(w->A[n]);
        for (int h = 0; h < HOPS; h++)
            w->fanouts[n * HOPS + h] = some[rng_below(r, 5)];
    }
    const int64_t all = w->first[RELATIONS];
    const bool reverses = c % 3 == 2;
    w->times = numbers(r, all, 10);
    w->until = numbers(r, w->nseeds, 10);
    w->nexcluded = c % 3 ? rng_below(r, 20) : 0;
    if (all == 0 || (reverses && w->first[1] == 0))
        w->nexcluded = 0;
    w->excluded = numbers(r, w->nexcluded, reverses ? ftb_max(1, w->first[1]) : ftb_max(1, all));
    w->o = (FtB_Sample_options){.size = sizeof w->o,
                                .seed = rng_bits(r) | 1,
                                .batch = c,
                                .disjoint = true,
                                .apart = c % 5 == 4,
                                .self = c % 4 == 3,
                                .times = c % 2 ? FtB_Ids_of(w->times, all) : FtB_Ids_of(NULL, 0),
                                .until = c % 2 ? FtB_Ids_of(w->until, w->nseeds) : FtB_Ids_of(NULL, 0),
                                .exclude = FtB_Ids_of(w->excluded, w->nexcluded),
                                .reverses = reverses,
                                .edges = true};
}

static void end_world(world *w)
{
    FtB_Relations_free(&w->list);
    for (int n = 0; n < RELATIONS; n++)
        FtB_Matrix_free(&w->A[n]);
    free(w->times);
    free(w->until);
    free(w->excluded);
}

/* Whether entry e of relation n's, (i, j), is there for a tree. */
static bool is_there(const world *w, int n, int64_t e, int64_t i, int64_t j, int tree)
{
    const int64_t *rowptr;
    const void *columns;
    if (w->o.times.at && w->times[w->first[n] + e] > w->until[tree])
        return false;
    assert_ok(FtB_Matrix_csr(w->A[n], &rowptr, &columns, NULL));
    for (int64_t x = 0; x < w->nexcluded; x++) {
        const int64_t other = w->excluded[x] - w->first[n];
        if (other == e)
            return false;
        if (!w->o.reverses || other < 0 || other >= rowptr[w->size[to[n]]])
            continue;
        int64_t row = 0;
        while (rowptr[row + 1] <= other)
            row++;
        if (row == j && ((const int32_t *)columns)[other] == i)
            return false;
    }
    return true;
}

static void check_row(const world *w, FtB_Relation_sample s, int n, int h, int64_t i)
{
    FtB_Matrix L = FtB_Relation_sample_layer(s, n, h);
    const FtB_Ids rows = FtB_Relation_sample_vertices(s, to[n]),
                  columns = FtB_Relation_sample_vertices(s, from[n]);
    const int32_t *row_trees = FtB_Relation_sample_trees(s, to[n]),
                  *trees = FtB_Relation_sample_trees(s, from[n]);
    const int64_t *rowptr, *of, k = w->fanouts[n * HOPS + h], vertex = rows.at[i],
                                *edges = FtB_Relation_sample_edges(s, n, h).at;
    const void *local, *column, *value, *values;
    int64_t there = 0, own = 0, picked = 0;
    assert_ok(FtB_Matrix_csr(L, &rowptr, &local, &value));
    assert_ok(FtB_Matrix_csr(w->A[n], &of, &column, &values));
    for (int64_t e = of[vertex]; e < of[vertex + 1]; e++)
        there += is_there(w, n, e, vertex, ((const int32_t *)column)[e], row_trees[i]);
    for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++) {
        const int32_t v = ((const int32_t *)local)[e];
        assert_true(e == rowptr[i] || v > ((const int32_t *)local)[e - 1]);
        assert_int_equal(trees[v], row_trees[i]);
        const bool self = w->o.self && from[n] == to[n] && v == i;
        own += self;
        if (self && (edges[e] < 0 || !is_there(w, n, edges[e], vertex, vertex, row_trees[i]))) {
            assert_true(edges[e] >= 0 || ((const double *)value)[e] == 1);
            continue; /* added */
        }
        assert_true(edges[e] >= of[vertex] && edges[e] < of[vertex + 1]);
        assert_int_equal(((const int32_t *)column)[edges[e]], columns.at[v]);
        assert_true(((const double *)value)[e] == ((const double *)values)[edges[e]]);
        picked++;
        assert_true(self || is_there(w, n, edges[e], vertex, columns.at[v], row_trees[i]));
    }
    const int64_t wanted = k < 0 || k > there ? there : k;
    if (w->o.self && from[n] == to[n]) { /* its entry may have been picked, or not */
        assert_int_equal(own, 1);
        assert_true(picked >= wanted && picked <= wanted + 1);
    } else {
        assert_int_equal(picked, wanted);
    }
}

/* Of a type, no tree has a vertex twice but its seeds; apart, each pick is one. */
static void check_vertices(const world *w, FtB_Relation_sample s, int t)
{
    const FtB_Ids v = FtB_Relation_sample_vertices(s, t), found = FtB_Relation_sample_vertex_counts(s, t);
    const int32_t *trees = FtB_Relation_sample_trees(s, t);
    assert_int_equal(found.at[0], w->lists[t].count);
    for (int h = 0; h < HOPS && w->o.apart && !w->o.self; h++) {
        int64_t picks = 0;
        for (int n = 0; n < RELATIONS; n++)
            picks += from[n] == t ? FtB_Relation_sample_edge_counts(s, n).at[h] : 0;
        assert_int_equal(found.at[h + 1], picks);
    }
    for (int64_t a = w->lists[t].count; a < v.count && !w->o.apart; a++)
        for (int64_t b = 0; b < a; b++)
            assert_true(trees[a] != trees[b] || v.at[a] != v.at[b]);
}

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* What a tree has of a layer: its entries' places, ascending. Returns how many. */
static int64_t entries_of(int64_t *to_list, FtB_Relation_sample s, int n, int h, int tree)
{
    const int64_t *rowptr, *edges = FtB_Relation_sample_edges(s, n, h).at;
    const int32_t *trees = FtB_Relation_sample_trees(s, to[n]);
    int64_t nrows, count = 0;
    FtB_Matrix L = FtB_Relation_sample_layer(s, n, h);
    assert_ok(FtB_Matrix_shape(L, &nrows, NULL, NULL, NULL, NULL));
    assert_ok(FtB_Matrix_csr(L, &rowptr, NULL, NULL));
    for (int64_t i = 0; i < nrows; i++)
        for (int64_t e = rowptr[i]; e < rowptr[i + 1] && trees[i] == tree; e++)
            to_list[count++] = edges[e];
    qsort(to_list, (size_t)count, sizeof *to_list, by_number);
    return count;
}

/* The tree of seed n of type t, alone. */
static void check_alone(const world *w, FtB_Relation_sample s, int t, int64_t n, int tree)
{
    FtB_Ids lists[TYPES];
    FtB_Relation_sample alone;
    FtB_Sample_options o = w->o;
    for (int u = 0; u < TYPES; u++)
        lists[u] = FtB_Ids_of(w->lists[u].at + n, u == t);
    if (o.until.at)
        o.until = FtB_Ids_of(w->until + tree, 1);
    assert_ok(FtB_Relations_sample(&alone, w->list, lists, w->fanouts, HOPS, &o));
    for (int r = 0; r < RELATIONS; r++)
        for (int h = 0; h < HOPS; h++) {
            const int64_t room = FtB_Relation_sample_edges(s, r, h).count + 1;
            int64_t *here = malloc(sizeof *here * (size_t)room),
                    *there =
                        malloc(sizeof *there * (size_t)(FtB_Relation_sample_edges(alone, r, h).count + 1));
            const int64_t count = entries_of(here, s, r, h, tree);
            assert_int_equal(entries_of(there, alone, r, h, 0), count);
            assert_memory_equal(here, there, sizeof *here * (size_t)count);
            free(here);
            free(there);
        }
    FtB_Relation_sample_free(&alone);
}

static void several_case(rng *r, int c)
{
    world w;
    FtB_Relation_sample s;
    make_world(&w, r, c);
    assert_ok(FtB_Relations_sample(&s, w.list, w.lists, w.fanouts, HOPS, &w.o));
    for (int n = 0; n < RELATIONS; n++)
        for (int h = 0; h < HOPS; h++) {
            int64_t nrows;
            assert_ok(FtB_Matrix_shape(FtB_Relation_sample_layer(s, n, h), &nrows, NULL, NULL, NULL, NULL));
            for (int64_t i = 0; i < nrows; i++)
                check_row(&w, s, n, h, i);
        }
    int tree = 0;
    for (int t = 0; t < TYPES; t++) {
        check_vertices(&w, s, t);
        for (int64_t n = 0; n < w.lists[t].count; n++, tree++) {
            assert_int_equal(FtB_Relation_sample_trees(s, t)[n], tree);
            check_alone(&w, s, t, n, tree);
        }
    }
    FtB_Relation_sample_free(&s);
    end_world(&w);
}

static void several(void **state)
{
    (void)state;
    const int cases = rng_cases(120);
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(c);
        assert_ok(FtB_Context_set_threads(NULL, 1 + c % 4));
        several_case(&r, c);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* Seeds of two types that have one number have draws of their own: both see the same row, one in a hop more.
 */
static void types_apart(void **state)
{
    (void)state;
    static const int64_t zero[] = {0}, fanouts[] = {1, 1, 5, 5};
    rng r = rng_new();
    FtB_Matrix B = make_graph(&r, 1, 400, 3000), one;
    FtB_Relations list;
    FtB_Relation_sample s;
    const FtB_Ids lists[] = {FtB_Ids_of(zero, 1), FtB_Ids_of(zero, 1), FtB_Ids_of(NULL, 0)};
    assert_ok(
        FtB_Matrix_build(&one, FTB_FP64, 1, 1, 1, 1, zero, zero, (const double[]){1}, FTB_DUP_FIRST, NULL));
    assert_ok(FtB_Relations_new(&list));
    assert_ok(FtB_Relations_add(list, "is", "a", "b", one));
    assert_ok(FtB_Relations_add(list, "has", "c", "a", B));
    assert_ok(FtB_Relations_sample(&s, list, lists, fanouts, 2,
                                   FTB_SAMPLE_OPTIONS(.disjoint = true, .edges = true)));
    assert_int_equal(FtB_Relation_sample_vertices(s, 1).count, 2); /* the seed, and that of b's tree */
    const FtB_Ids e = FtB_Relation_sample_edges(s, 1, 1);
    assert_int_equal(e.count, 10);
    int64_t first[5], second[5];
    memcpy(first, e.at, sizeof first);
    memcpy(second, e.at + 5, sizeof second);
    qsort(first, 5, sizeof *first, by_number);
    qsort(second, 5, sizeof *second, by_number);
    assert_true(memcmp(first, second, sizeof first) != 0);
    FtB_Relation_sample_free(&s);
    FtB_Relations_free(&list);
    FtB_Matrix_free(&one);
    FtB_Matrix_free(&B);
}

/* ---- bad input */

#define REFUSED(code, text, ...)                                                                             \
    assert_fails(code, text,                                                                                 \
                 FtB_Relations_sample(&s, list, lists, fanouts, 1, FTB_SAMPLE_OPTIONS(__VA_ARGS__)))

static void refused(void **state)
{
    (void)state;
    static const int64_t seeds[] = {0, 2}, fanouts[] = {2, 2}, some[40] = {3}, wrong[] = {1, 99};
    rng r = rng_new();
    FtB_Matrix A = make_graph(&r, 5, 5, 20), B = make_graph(&r, 5, 4, 12);
    FtB_Relations list;
    FtB_Relation_sample s = NULL;
    const FtB_Ids lists[] = {FtB_Ids_of(seeds, 2), FtB_Ids_of(seeds, 1)};
    const int64_t all = count_of(A) + count_of(B), last = all - 1;
    char text[96];
    FtB_Op op;
    assert_ok(FtB_Op_new(&op, "x"));
    assert_ok(FtB_Relations_new(&list));
    assert_ok(FtB_Relations_add(list, "to", "a", "a", A));
    assert_ok(FtB_Relations_add(list, "of", "b", "a", B));
    REFUSED(GrB_NOT_IMPLEMENTED, "options: induced is given", .induced = true);
    REFUSED(GrB_NOT_IMPLEMENTED, "options: stack is given", .stack = 1);
    REFUSED(GrB_NOT_IMPLEMENTED, "options: plan is given", .plan = "levels");
    REFUSED(GrB_INVALID_VALUE, "both key and key_op are given", .key = "x", .key_op = op);
    REFUSED(GrB_INVALID_VALUE, "times go with disjoint trees", .times = FtB_Ids_of(some, all),
            .until = FtB_Ids_of(some, 3));
    snprintf(text, sizeof text, "options: times has 1 numbers; expected %d, one for each of the relations'",
             (int)all);
    REFUSED(GrB_DIMENSION_MISMATCH, text, .disjoint = true, .times = FtB_Ids_of(some, 1),
            .until = FtB_Ids_of(some, 3));
    REFUSED(GrB_DIMENSION_MISMATCH, "until has 2 numbers; expected 3, one for each of the seeds of all types",
            .disjoint = true, .times = FtB_Ids_of(some, all), .until = FtB_Ids_of(some, 2));
    REFUSED(GrB_NULL_POINTER, "until is missing", .disjoint = true, .times = FtB_Ids_of(some, all));
    REFUSED(GrB_NULL_POINTER, "times is missing", .disjoint = true, .selector = FTB_SAMPLE_LAST);
    REFUSED(GrB_INVALID_VALUE, "exclude has 2 numbers at NULL", .exclude = FtB_Ids_of(NULL, 2));
    REFUSED(GrB_INDEX_OUT_OF_BOUNDS, "exclude[1] is 99; expected a place among the relations' entries, 0 to",
            .exclude = FtB_Ids_of(wrong, 2));
    REFUSED(GrB_INVALID_VALUE, "reverses, of excluded entries of relation \"of\" from \"b\" to \"a\"",
            .exclude = FtB_Ids_of(&last, 1), .reverses = true);
    assert_null(s);
    assert_null(FtB_Relation_sample_trees(NULL, 0));
    assert_ok(FtB_Relations_sample(&s, list, lists, fanouts, 1, FTB_SAMPLE_OPTIONS(.reverses = true)));
    assert_null(FtB_Relation_sample_trees(s, 0));
    FtB_Relation_sample_free(&s);
    FtB_Relations_free(&list);
    FtB_Op_free(&op);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
}

static GrB_Info sample_once(void *arg)
{
    const world *w = arg;
    FtB_Relation_sample s = NULL;
    const GrB_Info info = FtB_Relations_sample(&s, w->list, w->lists, w->fanouts, HOPS, &w->o);
    FtB_Relation_sample_free(&s);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    for (int c = 0; c < 12; c += c % 2 ? 4 : 1) { /* 0, 1, 5, 9 */
        rng r = rng_case(c);
        world w;
        make_world(&w, &r, c);
        w.o.self = c > 1;
        fail_every_allocation(sample_once, NULL, &w);
        end_world(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_relation), cmocka_unit_test(several),
                                       cmocka_unit_test(types_apart), cmocka_unit_test(refused),
                                       cmocka_unit_test(failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

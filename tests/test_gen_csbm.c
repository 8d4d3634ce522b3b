/* The contextual block model: what its formulas predict of edges, features and the two together; the same
 * bits for any number of threads. */
#include "support/check.h"

#include "gen/gen.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

static const gen_csbm plain = {.nvertices = 20000,
                               .nclasses = 2,
                               .nfeatures = 16,
                               .degree = 16,
                               .homophily = 0.5,
                               .mu = 1,
                               .sigma = 2,
                               .train = 0.5,
                               .val = 0.25};

static gen_labelled make(const gen_csbm *p, uint64_t seed)
{
    gen_labelled s = {0};
    GrB_Info info = gen_make_csbm(&s, p, seed);
    if (info != GrB_SUCCESS)
        fail_msg("%d: %s", (int)info, gen_error());
    return s;
}

static double normal_below(double x) { return 0.5 * erfc(-x / sqrt(2)); }

static void assert_near(const char *what, double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%s: %g; expected %g +- %g", what, found, expected, tolerance);
}

/* How often an edge joins vertices of one class. */
static double same_share(const gen_labelled *s)
{
    const gen_graph *g = &s->graph;
    int64_t same = 0;
    for (int64_t i = 0; i < g->nrows; i++)
        for (int64_t e = g->rowptr[i]; e < g->rowptr[i + 1]; e++) {
            assert_true(g->colidx[e] != i);
            same += s->labels[i] == s->labels[g->colidx[e]];
        }
    return (double)same / (double)g->nvals;
}

/* Share of the vertices whose features (or whose neighbours' mean features) lie on the side of their class,
 * for two classes, along the true direction: an estimate of it from all vertices, which is many times enough.
 */
static double accuracy(const gen_labelled *s, bool of_neighbours, double sign)
{
    const int64_t n = s->graph.nrows, F = s->nfeatures;
    double *direction = calloc((size_t)F, sizeof *direction), right = 0;
    assert_non_null(direction);
    for (int64_t v = 0; v < n; v++)
        for (int64_t f = 0; f < F; f++)
            direction[f] += (s->labels[v] ? -1 : 1) * (double)s->features[v * F + f];
    for (int64_t v = 0; v < n; v++) {
        const int64_t first = s->graph.rowptr[v], end = s->graph.rowptr[v + 1];
        double side = 0;
        for (int64_t f = 0; f < F && !of_neighbours; f++)
            side += direction[f] * (double)s->features[v * F + f];
        for (int64_t e = first; e < end && of_neighbours; e++)
            for (int64_t f = 0; f < F; f++)
                side += sign * direction[f] * (double)s->features[s->graph.colidx[e] * F + f];
        right += (side > 0) == (s->labels[v] == 0);
    }
    free(direction);
    return right / (double)n;
}

/* ---- tests */

static void normal_numbers(void **state)
{
    (void)state;
    for (uint64_t x = 0; x <= UINT32_MAX; x += 9876543) {
        const double p = ((double)x + 0.5) * 0x1p-32, z = gen_normal((uint32_t)x);
        assert_near("distribution function", normal_below(z) / p, 1, 1e-12 * (1 + z * z));
        assert_near("symmetry", gen_normal(UINT32_MAX - (uint32_t)x), -z, 1e-9 * (1 + fabs(z)));
    }
    assert_near("largest", gen_normal(UINT32_MAX), 6.337957754553789, 1e-6);
}

static void edges_and_parts(void **state)
{
    (void)state;
    for (int c = 0; c < 6; c++) {
        gen_csbm p = plain;
        p.nclasses = c % 2 ? 5 : 2;
        p.homophily = c < 2 ? 0.7 : c < 4 ? 0 : -1.0 / (double)(p.nclasses - 1);
        p.nvertices = 20003;
        gen_labelled s = make(&p, 3);
        const double same = (1 + (double)(p.nclasses - 1) * p.homophily) / (double)p.nclasses;
        assert_near("edges inside classes", same_share(&s), same, 0.01);
        assert_near("degree", (double)s.graph.nvals / (double)p.nvertices, p.degree, 0.05);
        int64_t count[3] = {0}, classes[5] = {0};
        for (int64_t v = 0; v < p.nvertices; v++) {
            assert_int_equal(s.part[0][v] + s.part[1][v] + s.part[2][v], 1);
            for (int k = 0; k < 3; k++)
                count[k] += s.part[k][v];
            classes[s.labels[v]]++;
        }
        assert_near("training", (double)count[0] / (double)p.nvertices, 0.5, 0.02);
        assert_near("validation", (double)count[1] / (double)p.nvertices, 0.25, 0.02);
        for (int k = 1; k < p.nclasses; k++)
            assert_true(labs(classes[k] - classes[0]) <= 1);
        gen_labelled_free(&s);
        p.shuffled = true;
        s = make(&p, 3);
        assert_near("shuffled edges", same_share(&s), 1 / (double)p.nclasses, 0.01);
        gen_labelled_free(&s);
    }
}

/* Means of the right length, noise of the right spread. */
static void features(void **state)
{
    (void)state;
    gen_csbm p = plain;
    p.nclasses = 3;
    p.mu = 3;
    gen_labelled s = make(&p, 5);
    const int64_t n = p.nvertices, F = p.nfeatures;
    double means[3][16] = {{0}}, spread = 0;
    for (int64_t v = 0; v < n; v++)
        for (int64_t f = 0; f < F; f++)
            means[v % 3][f] += (double)s.features[v * F + f] / ((double)n / 3);
    for (int64_t v = 0; v < n; v++)
        for (int64_t f = 0; f < F; f++)
            spread += pow((double)s.features[v * F + f] - means[v % 3][f], 2);
    assert_near("sigma", sqrt(spread / (double)(n * F)), p.sigma, 0.01);
    for (int c = 0; c < 3; c++) {
        double squares = 0;
        for (int64_t f = 0; f < F; f++)
            squares += means[c][f] * means[c][f];
        assert_near("mu", sqrt(squares), p.mu, 0.1);
    }
    gen_labelled_free(&s);
}

/* What the model is for: bounds that are known. */
static void predictions(void **state)
{
    (void)state;
    for (int c = 0; c < 3; c++) {
        gen_csbm p = plain;
        p.homophily = c == 0 ? 0.5 : c == 1 ? 0.9 : -0.6;
        const double h = fabs(p.homophily), mu = p.mu, sigma = p.sigma;
        const double aggregated =
            normal_below(h * mu * sqrt(p.degree) / sqrt(sigma * sigma + (1 - h * h) * mu * mu));
        gen_labelled s = make(&p, 11);
        assert_near("features alone", accuracy(&s, false, 1), normal_below(mu / sigma), 0.01);
        assert_near("one aggregation", accuracy(&s, true, p.homophily < 0 ? -1 : 1), aggregated, 0.02);
        gen_labelled_free(&s);
        p.shuffled = true;
        s = make(&p, 11);
        assert_near("shuffled edges", accuracy(&s, true, 1), 0.5, 0.02);
        gen_labelled_free(&s);
    }
}

static uint64_t hash_bytes(uint64_t h, const void *bytes, size_t count)
{
    for (size_t b = 0; b < count; b++)
        h = (h ^ ((const unsigned char *)bytes)[b]) * UINT64_C(0x100000001b3);
    return h;
}

static void same_bits(void **state)
{
    (void)state;
    const gen_csbm p = {.nvertices = 501,
                        .nclasses = 3,
                        .nfeatures = 7,
                        .degree = 5.5,
                        .homophily = 0.3,
                        .mu = 1.5,
                        .sigma = 1,
                        .train = 0.1,
                        .val = 0.3};
    for (int threads = 1; threads <= 5; threads += 2) {
        omp_set_num_threads(threads);
        gen_labelled s = make(&p, 7);
        uint64_t h = UINT64_C(0xcbf29ce484222325);
        h = hash_bytes(h, s.graph.rowptr, 502 * sizeof *s.graph.rowptr);
        h = hash_bytes(h, s.graph.colidx, (size_t)s.graph.nvals * sizeof *s.graph.colidx);
        h = hash_bytes(h, s.features, 501 * 7 * sizeof *s.features);
        h = hash_bytes(h, s.labels, 501 * sizeof *s.labels);
        for (int k = 0; k < 3; k++)
            h = hash_bytes(h, s.part[k], 501);
        if (h != UINT64_C(0x12d92ad3c9bd0661))
            fail_msg("%d threads: 0x%llx", threads, (unsigned long long)h);
        gen_labelled_free(&s);
        gen_labelled_free(&s);
    }
}

static void refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double homophily, degree, sigma, val;
        int64_t nvertices, nclasses, nfeatures;
    } rows[] = {
        {"3 vertices; expected 4", 0, 1, 1, 0, 3, 2, 1},
        {"1 classes", 0, 1, 1, 0, 30, 1, 1},
        {"0 features", 0, 1, 1, 0, 30, 2, 0},
        {"homophily -0.6; for 3 classes expected -0.5 to 1", -0.6, 1, 1, 0, 30, 3, 1},
        {"homophily nan", NAN, 1, 1, 0, 30, 2, 1},
        {"mean degree -1", 0, -1, 1, 0, 30, 2, 1},
        {"sigma inf", 0, 1, INFINITY, 0, 30, 2, 1},
        {"shares 0.5 for training and 0.6", 0, 1, 1, 0.6, 30, 2, 1},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        gen_labelled s = {0};
        const gen_csbm p = {.nvertices = rows[r].nvertices,
                            .nclasses = rows[r].nclasses,
                            .nfeatures = rows[r].nfeatures,
                            .degree = rows[r].degree,
                            .homophily = rows[r].homophily,
                            .mu = 1,
                            .sigma = rows[r].sigma,
                            .train = 0.5,
                            .val = rows[r].val};
        assert_int_equal(gen_make_csbm(&s, &p, 1), GrB_INVALID_VALUE);
        if (!strstr(gen_error(), rows[r].text))
            fail_msg("\"%s\"; expected \"%s\"", gen_error(), rows[r].text);
        assert_null(s.features);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(normal_numbers), cmocka_unit_test(edges_and_parts),
                                       cmocka_unit_test(features),       cmocka_unit_test(predictions),
                                       cmocka_unit_test(same_bits),      cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Contextual stochastic block model: a graph whose edges prefer equal classes (homophily h > 0) or unequal
 * ones (h < 0), and features around a mean per class. For two classes, means +mu and -mu and degrees d,
 *
 *     features alone tell the class with accuracy at most       Phi(|mu| / sigma)
 *     their mean over the neighbours, |h| times as far apart,   Phi(|h| |mu| sqrt(d) / sqrt(sigma^2 + (1 -
 * h^2) |mu|^2))
 *
 * Reference: Deshpande, Sen, Montanari, Mossel, "Contextual stochastic block models", NeurIPS 2018; with a
 * given number of edges, as gen_sbm.c has it. */
#include "gen/gen.h"
#include "gen/gen_random.h"

#include <math.h>
#include <stdlib.h>

typedef struct classes {
    int64_t nvertices, nclasses;
    uint64_t same; /* probability that an edge joins equal classes, times 2^32 */
} classes;

/* Class c has the vertices c, c + k, c + 2 k, ... */
static void edge(const void *model, uint64_t seed, int64_t t, int64_t *i, int64_t *j)
{
    const classes *m = model;
    const int64_t n = m->nvertices, k = m->nclasses;
    gen_draw d = gen_random(seed, (uint64_t)t, 0, GEN_STREAM_EDGES);
    uint64_t choice = gen_random(seed, (uint64_t)t, 1, GEN_STREAM_EDGES).word[0];
    int64_t from = (int64_t)gen_below(gen_word64(d, 0), (uint64_t)n), c = from % k;
    int64_t members = (n - c + k - 1) / k;
    if (choice < m->same) { /* another of its class */
        int64_t at = (int64_t)gen_below(gen_word64(d, 1), (uint64_t)members - 1);
        at += at >= from / k;
        *j = at * k + c;
    } else { /* any of the others, k - 1 of every k vertices */
        int64_t at = (int64_t)gen_below(gen_word64(d, 1), (uint64_t)(n - members)), r = at % (k - 1);
        *j = at / (k - 1) * k + r + (r >= c);
    }
    *i = from;
}

/* A direction in space per class, of length mu; of two classes the second is opposite to the first. */
static void make_means(double *means, const gen_csbm *p, uint64_t seed)
{
    const int64_t F = p->nfeatures;
    for (int64_t c = 0; c < p->nclasses; c++) {
        double *mean = means + c * F, squares = 0;
        const bool opposite = p->nclasses == 2 && c == 1;
        for (int64_t f = 0; f < F; f++) {
            gen_draw d = gen_random(seed, (uint64_t)c, (uint32_t)(f / 4), GEN_STREAM_MEANS);
            mean[f] = gen_normal(d.word[f % 4]);
            squares += mean[f] * mean[f];
        }
        for (int64_t f = 0; f < F; f++)
            mean[f] = opposite ? -means[f] : mean[f] * (p->mu / sqrt(squares));
    }
}

static void make_vertex(gen_labelled *s, const gen_csbm *p, const double *means, int64_t v, uint64_t seed)
{
    const int64_t F = p->nfeatures, c = v % p->nclasses;
    const double u = ((double)gen_random(seed, (uint64_t)v, 0, GEN_STREAM_PARTS).word[0] + 0.5) * 0x1p-32;
    const int part = u < p->train ? 0 : u < p->train + p->val ? 1 : 2;
    s->labels[v] = (int32_t)c;
    for (int k = 0; k < 3; k++)
        s->part[k][v] = k == part;
    for (int64_t f = 0; f < F; f += 4) {
        gen_draw d = gen_random(seed, (uint64_t)v, (uint32_t)(f / 4), GEN_STREAM_FEATURES);
        for (int64_t w = 0; w < 4 && f + w < F; w++)
            s->features[v * F + f + w] = (float)(means[c * F + f + w] + p->sigma * gen_normal(d.word[w]));
    }
}

static GrB_Info check(const gen_csbm *p)
{
    const int64_t n = p->nvertices, k = p->nclasses, F = p->nfeatures;
    if (k < 2 || k > 65536)
        return gen_fail("csbm: %lld classes; expected 2 to 65536", (long long)k);
    if (n < 2 * k || n >= INT32_MAX)
        return gen_fail("csbm: %lld vertices; expected %lld, two of each class, to 2147483646", (long long)n,
                        (long long)(2 * k));
    if (F < 1 || F > 65536 || n > INT64_MAX / 8 / F)
        return gen_fail("csbm: %lld features; expected 1 to 65536", (long long)F);
    const double least = -1.0 / (double)(k - 1);
    if (!(p->homophily >= least && p->homophily <= 1))
        return gen_fail("csbm: homophily %g; for %lld classes expected %g to 1", p->homophily, (long long)k,
                        least);
    if (!(p->degree >= 0 && p->degree * (double)n < 0x1p40))
        return gen_fail("csbm: mean degree %g; expected 0 or more, and at most 2^40 edge ends", p->degree);
    if (!(p->mu >= 0 && p->mu < HUGE_VAL && p->sigma >= 0 && p->sigma < HUGE_VAL))
        return gen_fail("csbm: mu %g and sigma %g; expected finite numbers >= 0", p->mu, p->sigma);
    if (!(p->train >= 0 && p->val >= 0 && p->train + p->val <= 1))
        return gen_fail("csbm: shares %g for training and %g for validation; expected at most 1 together",
                        p->train, p->val);
    return GrB_SUCCESS;
}

void gen_labelled_free(gen_labelled *s)
{
    gen_free(&s->graph);
    free(s->features);
    free(s->labels);
    for (int k = 0; k < 3; k++)
        free(s->part[k]);
    *s = (gen_labelled){0};
}

GrB_Info gen_make_csbm(gen_labelled *s, const gen_csbm *p, uint64_t seed)
{
    GrB_Info info = check(p);
    if (info != GrB_SUCCESS)
        return info;
    const int64_t n = p->nvertices, k = p->nclasses, F = p->nfeatures;
    const classes model = {.nvertices = n,
                           .nclasses = k,
                           .same = (uint64_t)((1 + (double)(k - 1) * p->homophily) / (double)k * 0x1p32)};
    const gen_edges edges = {
        .count = (int64_t)(p->degree * (double)n / 2 + 0.5), .symmetric = true, .permute = p->shuffled};
    gen_labelled made = {.nclasses = k, .nfeatures = F};
    double *means = malloc((size_t)(k * F) * sizeof *means);
    made.features = malloc((size_t)(n * F) * sizeof *made.features);
    made.labels = malloc((size_t)n * sizeof *made.labels);
    bool enough = means && made.features && made.labels;
    for (int part = 0; part < 3; part++)
        enough = (made.part[part] = malloc((size_t)n)) && enough;
    info = enough ? gen_from_edges(&made.graph, n, &edges, edge, &model, seed) : gen_nomem();
    if (info == GrB_SUCCESS) {
        make_means(means, p, seed);
#pragma omp parallel for schedule(static)
        for (int64_t v = 0; v < n; v++)
            make_vertex(&made, p, means, v, seed);
        *s = made;
    } else {
        gen_labelled_free(&made);
    }
    free(means);
    return info;
}

/* Bipartite graphs whose rows (users) have exact, skewed degrees and whose columns (items) are drawn by a
 * skewed popularity; `movielens-20m` is one choice of its parameters. docs/generators.md has the formulas. */
#include "gen/gen.h"
#include "gen/gen_random.h"

#include <math.h>
#include <stdlib.h>

/* Degree of the row at quantile v (0: the most active), for a scale s: a Pareto tail of exponent 2, flattened
 * at the top by `flat` so that the largest degree is about sqrt(1 / flat) = 32 scales. */
static double excess(double v)
{
    const double flat = 1.0 / 1024;
    return 1 / sqrt(v + flat) - 1 / sqrt(1 + flat);
}

static int64_t degree_at(const gen_bipartite *p, int64_t rank, int64_t scale)
{
    double v = ((double)rank + 0.5) / (double)p->nrows;
    double d = (double)p->min_degree + (double)scale * 0x1p-16 * excess(v);
    return d < (double)p->ncols ? (int64_t)d : p->ncols;
}

static int64_t degree_sum(const gen_bipartite *p, int64_t scale)
{
    int64_t sum = 0;
    for (int64_t rank = 0; rank < p->nrows; rank++)
        sum += degree_at(p, rank, scale);
    return sum;
}

/* The largest scale (in 2^-16) whose degrees do not sum to more than nvals; what is missing is added
 * one by one, from the most active row on. */
static void skewed_degrees(const gen_bipartite *p, const int32_t *row_of_rank, int32_t *degree)
{
    int64_t low = 0, high = INT64_C(1) << 48;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (degree_sum(p, middle) <= p->nvals)
            low = middle;
        else
            high = middle;
    }
    int64_t missing = p->nvals - degree_sum(p, low);
    for (int64_t rank = 0; rank < p->nrows; rank++)
        degree[row_of_rank[rank]] = (int32_t)degree_at(p, rank, low);
    while (missing > 0)
        for (int64_t rank = 0; rank < p->nrows && missing > 0; rank++) {
            int32_t *d = &degree[row_of_rank[rank]];
            if (*d < p->ncols) {
                ++*d;
                missing--;
            }
        }
}

static void uniform_degrees(const gen_bipartite *p, int32_t *degree)
{
    for (int64_t i = 0; i < p->nrows; i++)
        degree[i] = (int32_t)(p->nvals / p->nrows + (i < p->nvals % p->nrows));
}

/* Popularity of the item at quantile x: a few blockbusters, a hyperbolic middle, and a thin tail. */
static GrB_Info popularity(gen_weighted *w, int64_t ncols)
{
    uint64_t *weights = malloc((size_t)(ncols > 0 ? ncols : 1) * sizeof *weights);
    if (!weights)
        return gen_nomem();
    for (int64_t r = 0; r < ncols; r++) {
        double x = ((double)r + 0.5) / (double)ncols, rest = 1 - x;
        weights[r] = 1 + (uint64_t)(0x1p28 * rest * rest * rest / (x + 0.001));
    }
    GrB_Info info = gen_weighted_new(w, ncols, weights);
    free(weights);
    return info;
}

static GrB_Info check(const gen_bipartite *p)
{
    if (p->nrows < 0 || p->ncols < 0 || p->nrows >= INT32_MAX || p->ncols >= INT32_MAX)
        return gen_fail("bipartite: %lld x %lld vertices; both sides must be 0 to 2147483646",
                        (long long)p->nrows, (long long)p->ncols);
    if (p->nvals < 0 || p->nvals > p->nrows * p->ncols)
        return gen_fail("bipartite: %lld edges do not fit %lld x %lld vertices", (long long)p->nvals,
                        (long long)p->nrows, (long long)p->ncols);
    if (p->min_degree < 0 || p->min_degree > p->ncols ||
        (p->nrows > 0 && p->min_degree > p->nvals / p->nrows))
        return gen_fail("bipartite: at least %lld edges in each of %lld rows do not fit %lld edges over %lld "
                        "columns",
                        (long long)p->min_degree, (long long)p->nrows, (long long)p->nvals,
                        (long long)p->ncols);
    return GrB_SUCCESS;
}

GrB_Info gen_make_bipartite(gen_graph *g, const gen_bipartite *p, uint64_t seed)
{
    int32_t *degree = NULL, *row_of_rank = NULL, *name = NULL;
    gen_weighted items = {0};
    GrB_Info info = check(p);
    if (info)
        return info;
    degree = malloc((size_t)(p->nrows + 1) * sizeof *degree);
    info = degree ? GrB_SUCCESS : gen_nomem();
    if (!info && p->uniform)
        uniform_degrees(p, degree);
    if (!info && !p->uniform) {
        info = gen_permutation(&row_of_rank, p->nrows, seed, GEN_STREAM_PERMUTE);
        if (!info)
            skewed_degrees(p, row_of_rank, degree);
        if (!info)
            info = gen_permutation(&name, p->ncols, seed, GEN_STREAM_PERMUTE + 1);
        if (!info && p->ncols > 0)
            info = popularity(&items, p->ncols);
    }
    if (!info)
        info = gen_rows(g, p->nrows, p->ncols, degree, items.count ? &items : NULL, name, p->values, seed);
    gen_weighted_free(&items);
    free(name);
    free(row_of_rank);
    free(degree);
    return info;
}

GrB_Info gen_make_movielens(gen_graph *g, uint64_t seed)
{
    const gen_bipartite p = {
        .nrows = 138493, .ncols = 26744, .nvals = 20000000, .min_degree = 20, .values = GEN_RATINGS};
    return gen_make_bipartite(g, &p, seed);
}

/* Weights of a projection onto the columns of R, each from its definition and the matrix alone, in
 * long double, which holds every 64-bit integer. */
#include "oracle/ref_project.h"

#include <string.h>
#include <tgmath.h>

typedef struct pair {
    const ref_matrix *R;
    int64_t i, j; /* columns */
} pair;

static bool has(pair p, int64_t k, int64_t v) { return *ref_at(p.R, k, v); }
static long double value(pair p, int64_t k, int64_t v)
{
    const ref_number *x = ref_value(p.R, k, v);
    return !has(p, k, v) ? 0 : x->real ? (long double)x->number : (long double)x->integer;
}
static bool shared(pair p, int64_t k) { return has(p, k, p.i) && has(p, k, p.j); }

static long double size_of(pair p, int64_t v)
{
    long double count = 0;
    for (int64_t k = 0; k < p.R->nrows; k++)
        count += has(p, k, v);
    return count;
}

/* Columns that have k. */
static long double degree(pair p, int64_t k)
{
    long double count = 0;
    for (int64_t v = 0; v < p.R->ncols; v++)
        count += has(p, k, v);
    return count;
}

/* Sum over shared k of f. */
static long double over_shared(pair p, long double (*f)(pair p, int64_t k))
{
    long double sum = 0;
    for (int64_t k = 0; k < p.R->nrows; k++)
        if (shared(p, k))
            sum += f(p, k);
    return sum;
}

static long double one(pair p, int64_t k) { return shared(p, k); }
static long double left(pair p, int64_t k) { return value(p, k, p.i); }
static long double right(pair p, int64_t k) { return value(p, k, p.j); }
static long double product(pair p, int64_t k) { return left(p, k) * right(p, k); }
static long double quotient(pair p, int64_t k) { return left(p, k) / right(p, k); }
static long double share(pair p, int64_t k) { return left(p, k) / (left(p, k) + right(p, k)); }
static long double both(pair p, int64_t k) { return left(p, k) + right(p, k); }
static long double collaboration(pair p, int64_t k) { return degree(p, k) > 1 ? 1 / (degree(p, k) - 1) : 0; }
static long double adamic_adar(pair p, int64_t k) { return degree(p, k) > 1 ? 1 / log(degree(p, k)) : 0; }
static long double allocation(pair p, int64_t k) { return 1 / degree(p, k); }
static long double square(pair p, int64_t k)
{
    return (left(p, k) - right(p, k)) * (left(p, k) - right(p, k));
}

static long double count(pair p) { return over_shared(p, one); }

static long double exists(pair p) { return count(p) > 0; }
static long double ratio(pair p) { return count(p) / (long double)p.R->nrows; }
static long double dot(pair p) { return over_shared(p, product); }
static long double w1(pair p) { return over_shared(p, left); }
static long double w2(pair p) { return over_shared(p, right); }
static long double w1_by_w2(pair p) { return over_shared(p, quotient); }
static long double w1_share(pair p) { return over_shared(p, share); }
static long double w1_plus_w2(pair p) { return over_shared(p, both); }
static long double newman(pair p) { return over_shared(p, collaboration); }
static long double adamic(pair p) { return over_shared(p, adamic_adar); }
static long double resource(pair p) { return over_shared(p, allocation); }
static long double probs(pair p) { return over_shared(p, allocation) / size_of(p, p.j); }
static long double heats(pair p) { return over_shared(p, allocation) / size_of(p, p.i); }
static long double msd(pair p) { return 1 / (1 + over_shared(p, square) / count(p)); }

static long double bottleneck(pair p)
{
    long double best = -INFINITY;
    for (int64_t k = 0; k < p.R->nrows; k++)
        if (shared(p, k))
            best = fmax(best, fmin(left(p, k), right(p, k)));
    return best;
}

/* ---- sets */

static long double jaccard(pair p)
{
    long double both_have = 0, one_has = 0;
    for (int64_t k = 0; k < p.R->nrows; k++) {
        both_have += shared(p, k);
        one_has += has(p, k, p.i) || has(p, k, p.j);
    }
    return both_have / one_has;
}

static long double overlap(pair p) { return count(p) / fmin(size_of(p, p.i), size_of(p, p.j)); }
static long double dice(pair p) { return 2 * count(p) / (size_of(p, p.i) + size_of(p, p.j)); }

static long double tversky(pair p)
{
    long double only_i = 0, only_j = 0;
    for (int64_t k = 0; k < p.R->nrows; k++) {
        only_i += has(p, k, p.i) && !has(p, k, p.j);
        only_j += has(p, k, p.j) && !has(p, k, p.i);
    }
    return count(p) / (count(p) + 0.75 * only_i + 0.25 * only_j);
}

/* ---- vectors */

/* Cosine of columns whose entries are f. */
static long double cosine_of(pair p, long double (*f)(pair p, int64_t k, int64_t v), long double alpha)
{
    long double xy = 0, xx = 0, yy = 0;
    for (int64_t k = 0; k < p.R->nrows; k++) {
        long double x = f(p, k, p.i), y = f(p, k, p.j);
        xy += x * y;
        xx += x * x;
        yy += y * y;
    }
    return xy == 0 ? 0 : xy / (pow(xx, alpha) * pow(yy, 1 - alpha));
}

static long double tfidf(pair p, int64_t k, int64_t v)
{
    return value(p, k, v) * (1 + log((1 + (long double)p.R->ncols) / (1 + degree(p, k))));
}

static long double length(pair p, int64_t v)
{
    long double sum = 0;
    for (int64_t k = 0; k < p.R->nrows; k++)
        sum += value(p, k, v);
    return sum;
}

static long double bm25_weight(pair p, int64_t k, int64_t v)
{
    long double mean = 0, n = (long double)p.R->ncols, d = degree(p, k);
    for (int64_t u = 0; u < p.R->ncols; u++)
        mean += length(p, u) / n;
    long double tf = value(p, k, v), idf = log(1 + (n - d + 0.5) / (d + 0.5));
    return idf * tf * (1.2 + 1) / (tf + 1.2 * (1 - 0.75 + 0.75 * length(p, v) / mean));
}

static long double bm25(pair p)
{
    long double sum = 0;
    for (int64_t k = 0; k < p.R->nrows; k++)
        if (shared(p, k))
            sum += bm25_weight(p, k, p.i) * bm25_weight(p, k, p.j);
    return sum;
}

static long double cosine(pair p) { return cosine_of(p, value, 0.5); }
static long double asymmetric(pair p) { return cosine_of(p, value, 0.25); }
static long double tfidf_cosine(pair p) { return cosine_of(p, tfidf, 0.5); }

static long double ruzicka(pair p)
{
    long double least = 0, most = 0;
    for (int64_t k = 0; k < p.R->nrows; k++) {
        least += fmin(left(p, k), right(p, k));
        most += fmax(left(p, k), right(p, k));
    }
    return least == 0 ? 0 : least / most;
}

static long double pearson(pair p)
{
    long double n = count(p), mean_i = w1(p) / n, mean_j = w2(p) / n, ij = 0, ii = 0, jj = 0;
    for (int64_t k = 0; k < p.R->nrows; k++) {
        long double x = left(p, k) - mean_i, y = right(p, k) - mean_j;
        ij += shared(p, k) ? x * y : 0;
        ii += shared(p, k) ? x * x : 0;
        jj += shared(p, k) ? y * y : 0;
    }
    return ii < 1e-9 || jj < 1e-9 ? 0 : ij / sqrt(ii * jj);
}

/* ---- chance */

static long double lift(pair p)
{
    long double n = (long double)p.R->nrows;
    return (count(p) / n) / (size_of(p, p.i) / n * (size_of(p, p.j) / n));
}

static long double pmi(pair p) { return log(lift(p)); }

/* Log-likelihood of k successes of n at rate x. */
static long double log_likelihood(long double x, long double k, long double n)
{
    return (k > 0 ? k * log(x) : 0) + (n - k > 0 ? (n - k) * log(1 - x) : 0);
}

/* Dunning: does the rate of j differ between those that have i and those that have not? */
static long double llr(pair p)
{
    long double n1 = size_of(p, p.i), n2 = (long double)p.R->nrows - n1, k1 = count(p),
                k2 = size_of(p, p.j) - k1;
    long double all = (k1 + k2) / (n1 + n2), p1 = k1 / n1, p2 = n2 > 0 ? k2 / n2 : 0;
    return 2 * (log_likelihood(p1, k1, n1) + log_likelihood(p2, k2, n2) - log_likelihood(all, k1, n1) -
                log_likelihood(all, k2, n2));
}

static long double choose(long double n, long double k)
{
    long double result = 1;
    if (k < 0 || k > n)
        return 0;
    for (long double t = 1; t <= k; t++)
        result = result * (n - k + t) / t;
    return result;
}

static long double hypergeometric(pair p)
{
    long double n = (long double)p.R->nrows, d = size_of(p, p.i), draws = size_of(p, p.j), sum = 0;
    for (long double x = count(p); x <= fmin(d, draws); x++)
        sum += choose(d, x) * choose(n - d, draws - x) / choose(n, draws);
    return sum;
}

static const struct {
    const char *name;
    long double (*f)(pair p);
} table[] = {{"exists", exists},
             {"count", count},
             {"ratio", ratio},
             {"dot", dot},
             {"w1", w1},
             {"w2", w2},
             {"w1/w2", w1_by_w2},
             {"w1/(w1+w2)", w1_share},
             {"w1+w2", w1_plus_w2},
             {"bottleneck", bottleneck},
             {"newman", newman},
             {"adamic-adar", adamic},
             {"resource-allocation", resource},
             {"probs", probs},
             {"heats", heats},
             {"jaccard", jaccard},
             {"overlap", overlap},
             {"dice", dice},
             {"tversky", tversky},
             {"cosine", cosine},
             {"asymmetric-cosine", asymmetric},
             {"tfidf-cosine", tfidf_cosine},
             {"bm25", bm25},
             {"weighted-jaccard", ruzicka},
             {"pearson", pearson},
             {"msd", msd},
             {"lift", lift},
             {"pmi", pmi},
             {"llr", llr},
             {"hypergeometric", hypergeometric}};

bool ref_weight(const char *name, const ref_matrix *R, int64_t i, int64_t j, double *weight, bool *known)
{
    pair p = {R, i, j};
    *known = false;
    for (size_t t = 0; t < sizeof table / sizeof *table; t++)
        if (strcmp(table[t].name, name) == 0) {
            *known = true;
            *weight = count(p) > 0 ? (double)table[t].f(p) : 0;
        }
    return *known && count(p) > 0;
}

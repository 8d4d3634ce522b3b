/* Weights of a projection onto the columns of R, each from its definition and the matrix alone. */
#include "oracle/ref_project.h"

#include <math.h>
#include <string.h>

typedef struct pair {
    const ref_matrix *R;
    int64_t i, j; /* columns */
} pair;

static bool has(pair p, int64_t k, int64_t v) { return *ref_at(p.R, k, v); }
static double value(pair p, int64_t k, int64_t v)
{
    return has(p, k, v) ? ref_double(*ref_value(p.R, k, v)) : 0;
}
static bool shared(pair p, int64_t k) { return has(p, k, p.i) && has(p, k, p.j); }

static double size_of(pair p, int64_t v)
{
    double count = 0;
    for (int64_t k = 0; k < p.R->nrows; k++)
        count += has(p, k, v);
    return count;
}

/* Columns that have k. */
static double degree(pair p, int64_t k)
{
    double count = 0;
    for (int64_t v = 0; v < p.R->ncols; v++)
        count += has(p, k, v);
    return count;
}

/* Sum over shared k of f. */
static double over_shared(pair p, double (*f)(pair p, int64_t k))
{
    double sum = 0;
    for (int64_t k = 0; k < p.R->nrows; k++)
        if (shared(p, k))
            sum += f(p, k);
    return sum;
}

static double one(pair p, int64_t k) { return shared(p, k); }
static double left(pair p, int64_t k) { return value(p, k, p.i); }
static double right(pair p, int64_t k) { return value(p, k, p.j); }
static double product(pair p, int64_t k) { return left(p, k) * right(p, k); }
static double quotient(pair p, int64_t k) { return left(p, k) / right(p, k); }
static double share(pair p, int64_t k) { return left(p, k) / (left(p, k) + right(p, k)); }
static double both(pair p, int64_t k) { return left(p, k) + right(p, k); }
static double collaboration(pair p, int64_t k) { return degree(p, k) > 1 ? 1 / (degree(p, k) - 1) : 0; }
static double adamic_adar(pair p, int64_t k) { return degree(p, k) > 1 ? 1 / log(degree(p, k)) : 0; }
static double allocation(pair p, int64_t k) { return 1 / degree(p, k); }
static double square(pair p, int64_t k) { return (left(p, k) - right(p, k)) * (left(p, k) - right(p, k)); }

static double count(pair p) { return over_shared(p, one); }

static double exists(pair p) { return count(p) > 0; }
static double ratio(pair p) { return count(p) / (double)p.R->nrows; }
static double dot(pair p) { return over_shared(p, product); }
static double w1(pair p) { return over_shared(p, left); }
static double w2(pair p) { return over_shared(p, right); }
static double w1_by_w2(pair p) { return over_shared(p, quotient); }
static double w1_share(pair p) { return over_shared(p, share); }
static double w1_plus_w2(pair p) { return over_shared(p, both); }
static double newman(pair p) { return over_shared(p, collaboration); }
static double adamic(pair p) { return over_shared(p, adamic_adar); }
static double resource(pair p) { return over_shared(p, allocation); }
static double probs(pair p) { return over_shared(p, allocation) / size_of(p, p.j); }
static double heats(pair p) { return over_shared(p, allocation) / size_of(p, p.i); }
static double msd(pair p) { return 1 / (1 + over_shared(p, square) / count(p)); }

static double bottleneck(pair p)
{
    double best = -INFINITY;
    for (int64_t k = 0; k < p.R->nrows; k++)
        if (shared(p, k))
            best = fmax(best, fmin(left(p, k), right(p, k)));
    return best;
}

/* ---- sets */

static double jaccard(pair p)
{
    double both_have = 0, one_has = 0;
    for (int64_t k = 0; k < p.R->nrows; k++) {
        both_have += shared(p, k);
        one_has += has(p, k, p.i) || has(p, k, p.j);
    }
    return both_have / one_has;
}

static double overlap(pair p) { return count(p) / fmin(size_of(p, p.i), size_of(p, p.j)); }
static double dice(pair p) { return 2 * count(p) / (size_of(p, p.i) + size_of(p, p.j)); }

static double tversky(pair p)
{
    double only_i = 0, only_j = 0;
    for (int64_t k = 0; k < p.R->nrows; k++) {
        only_i += has(p, k, p.i) && !has(p, k, p.j);
        only_j += has(p, k, p.j) && !has(p, k, p.i);
    }
    return count(p) / (count(p) + 0.75 * only_i + 0.25 * only_j);
}

/* ---- vectors */

/* Cosine of columns whose entries are f. */
static double cosine_of(pair p, double (*f)(pair p, int64_t k, int64_t v), double alpha)
{
    double xy = 0, xx = 0, yy = 0;
    for (int64_t k = 0; k < p.R->nrows; k++) {
        double x = f(p, k, p.i), y = f(p, k, p.j);
        xy += x * y;
        xx += x * x;
        yy += y * y;
    }
    return xy == 0 ? 0 : xy / (pow(xx, alpha) * pow(yy, 1 - alpha));
}

static double tfidf(pair p, int64_t k, int64_t v)
{
    return value(p, k, v) * (1 + log((1 + (double)p.R->ncols) / (1 + degree(p, k))));
}

static double length(pair p, int64_t v)
{
    double sum = 0;
    for (int64_t k = 0; k < p.R->nrows; k++)
        sum += value(p, k, v);
    return sum;
}

static double bm25_weight(pair p, int64_t k, int64_t v)
{
    double mean = 0, n = (double)p.R->ncols, d = degree(p, k);
    for (int64_t u = 0; u < p.R->ncols; u++)
        mean += length(p, u) / n;
    double tf = value(p, k, v), idf = log(1 + (n - d + 0.5) / (d + 0.5));
    return idf * tf * (1.2 + 1) / (tf + 1.2 * (1 - 0.75 + 0.75 * length(p, v) / mean));
}

static double bm25(pair p)
{
    double sum = 0;
    for (int64_t k = 0; k < p.R->nrows; k++)
        if (shared(p, k))
            sum += bm25_weight(p, k, p.i) * bm25_weight(p, k, p.j);
    return sum;
}

static double cosine(pair p) { return cosine_of(p, value, 0.5); }
static double asymmetric(pair p) { return cosine_of(p, value, 0.25); }
static double tfidf_cosine(pair p) { return cosine_of(p, tfidf, 0.5); }

static double ruzicka(pair p)
{
    double least = 0, most = 0;
    for (int64_t k = 0; k < p.R->nrows; k++) {
        least += fmin(left(p, k), right(p, k));
        most += fmax(left(p, k), right(p, k));
    }
    return least == 0 ? 0 : least / most;
}

static double pearson(pair p)
{
    double n = count(p), mean_i = w1(p) / n, mean_j = w2(p) / n, ij = 0, ii = 0, jj = 0;
    for (int64_t k = 0; k < p.R->nrows; k++) {
        double x = left(p, k) - mean_i, y = right(p, k) - mean_j;
        ij += shared(p, k) ? x * y : 0;
        ii += shared(p, k) ? x * x : 0;
        jj += shared(p, k) ? y * y : 0;
    }
    return ii < 1e-9 || jj < 1e-9 ? 0 : ij / sqrt(ii * jj);
}

/* ---- chance */

static double lift(pair p)
{
    double n = (double)p.R->nrows;
    return (count(p) / n) / (size_of(p, p.i) / n * (size_of(p, p.j) / n));
}

static double pmi(pair p) { return log(lift(p)); }

/* Log-likelihood of k successes of n at rate x. */
static double log_likelihood(double x, double k, double n)
{
    return (k > 0 ? k * log(x) : 0) + (n - k > 0 ? (n - k) * log(1 - x) : 0);
}

/* Dunning: does the rate of j differ between those that have i and those that have not? */
static double llr(pair p)
{
    double n1 = size_of(p, p.i), n2 = (double)p.R->nrows - n1, k1 = count(p), k2 = size_of(p, p.j) - k1;
    double all = (k1 + k2) / (n1 + n2), p1 = k1 / n1, p2 = n2 > 0 ? k2 / n2 : 0;
    return 2 * (log_likelihood(p1, k1, n1) + log_likelihood(p2, k2, n2) - log_likelihood(all, k1, n1) -
                log_likelihood(all, k2, n2));
}

static double choose(double n, double k)
{
    double result = 1;
    if (k < 0 || k > n)
        return 0;
    for (double t = 1; t <= k; t++)
        result = result * (n - k + t) / t;
    return result;
}

static double hypergeometric(pair p)
{
    double n = (double)p.R->nrows, d = size_of(p, p.i), draws = size_of(p, p.j), sum = 0;
    for (double x = count(p); x <= fmin(d, draws); x++)
        sum += choose(d, x) * choose(n - d, draws - x) / choose(n, draws);
    return sum;
}

static const struct {
    const char *name;
    double (*f)(pair p);
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
            *weight = count(p) > 0 ? table[t].f(p) : 0;
        }
    return *known && count(p) > 0;
}

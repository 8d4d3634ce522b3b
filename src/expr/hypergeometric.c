/* Tail of the hypergeometric distribution: how likely chance alone shares so much.
 *
 * N things, K of them marked, n drawn; X counts the marked ones among those drawn. One term comes from
 * log-gammas, its neighbours by their ratios; the shorter tail is summed, so that the cost is a few
 * standard deviations of X at most, and small probabilities keep their digits (about 10 for N = 1e6,
 * what log-gammas leave). */
#include "expr/expr.h"

#include <math.h>

static double log_factorial(double n)
{
    int sign; /* lgamma() would write a global */
    return lgamma_r(n + 1, &sign);
}

static double log_choose(double n, double k)
{
    return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}

double ftb_hypergeom_sf(double x, double N, double K, double n)
{
    double low = fmax(0, n + K - N), high = fmin(n, K), sum = 0;
    if (!(N >= 0 && K >= 0 && n >= 0 && K <= N && n <= N) || isnan(x))
        return NAN;
    x = ceil(x);
    if (x <= low)
        return 1;
    if (x > high)
        return 0;
    bool upper = x * N > n * K;
    double y = upper ? x : x - 1;
    double term = exp(log_choose(K, y) + log_choose(N - K, n - y) - log_choose(N, n));
    double least = 0x1p-54; /* of the sum: what comes after a smaller falling term is lost in rounding */
    if (upper)
        for (; y <= high && term > sum * least; y++) {
            sum += term;
            term *= (K - y) * (n - y) / ((y + 1) * (N - K - n + y + 1));
        }
    else
        for (; y >= low && term > sum * least; y--) {
            sum += term;
            term *= y * (N - K - n + y) / ((K - y + 1) * (n - y + 1));
        }
    return fmin(1, fmax(0, upper ? sum : 1 - sum));
}

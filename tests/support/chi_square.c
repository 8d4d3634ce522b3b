/* Chi-square tests of counts (chi_square.h). */
#include "support/chi_square.h"

#include "support/check.h"

#include <math.h>

#define Z 4.753 /* a normal variable is beyond it with probability 1e-6 */

/* Wilson and Hilferty, 1931. */
double chi_square_critical(double freedom)
{
    const double a = 2 / (9 * freedom);
    return freedom * pow(1 - a + Z * sqrt(a), 3);
}

void check_chances(const int64_t *count, const double *chance, int64_t cells, const char *what)
{
    double sum = 0, all = 0, total = 0, rare = 0, rarely = 0; /* cells of few counts are taken together */
    int64_t used = 0;
    for (int64_t c = 0; c < cells; c++)
        all += (double)count[c];
    for (int64_t c = 0; c < cells; c++) {
        const double expected = chance[c] * all, d = (double)count[c] - expected;
        total += chance[c];
        if (chance[c] == 0)
            assert_int_equal(count[c], 0);
        else if (expected < 5) {
            rare += expected;
            rarely += (double)count[c];
        } else {
            sum += d * d / expected;
            used++;
        }
    }
    if (rare >= 5) {
        sum += (rarely - rare) * (rarely - rare) / rare;
        used++;
    } else /* Poisson, below 1e-6 */
        assert_true(rarely < 25);
    assert_true(used > 1);
    assert_true(fabs(total - 1) < 1e-9);
    if (sum > chi_square_critical((double)used - 1))
        fail_msg("%s: chi-square %.1f with %d degrees of freedom; %.1f at most", what, sum, (int)used - 1,
                 chi_square_critical((double)used - 1));
}

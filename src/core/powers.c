/* Powers of ten to 128 bits, computed once with integers of a thousand bits: quicker than one page fault,
 * and nothing to check against a printed table. */
#include "core/number.h"

#include <pthread.h>

#define WORDS 22 /* 10^342 has 1137 bits; 2^1344 / 10^342 still has 207 */

static ftb_power table[FTB_POWER_MAX - FTB_POWER_MIN + 1];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The top 128 bits of x (little-endian words, not 0); rounded up if bits below are set or `inexact`. */
static ftb_power top(const uint64_t *x, bool inexact)
{
    int n = WORDS - 1;
    while (x[n] == 0)
        n--;
    uint64_t a = x[n], b = n > 0 ? x[n - 1] : 0, c = n > 1 ? x[n - 2] : 0;
    int shift = __builtin_clzll(a);
    ftb_power p = {a, b};
    uint64_t rest = c;
    if (shift > 0) {
        p.hi = a << shift | b >> (64 - shift);
        p.lo = b << shift | c >> (64 - shift);
        rest = c << shift;
    }
    for (int i = 0; i < n - 2; i++)
        rest |= x[i];
    if (rest != 0 || inexact)
        p.hi += ++p.lo == 0;
    return p;
}

static void make_tables(void)
{
    uint64_t x[WORDS] = {1};
    for (int k = 0; k <= FTB_POWER_MAX; k++) {
        table[k - FTB_POWER_MIN] = top(x, false);
        unsigned __int128 carry = 0;
        for (int i = 0; i < WORDS; i++) {
            carry += (unsigned __int128)x[i] * 10;
            x[i] = (uint64_t)carry;
            carry >>= 64;
        }
    }
    memset(x, 0, sizeof x);
    x[WORDS - 1] = (uint64_t)1 << 63; /* floor(floor(2^n / 10^a) / 10) = floor(2^n / 10^(a+1)) */
    for (int k = -1; k >= FTB_POWER_MIN; k--) {
        unsigned __int128 rest = 0;
        for (int i = WORDS - 1; i >= 0; i--) {
            rest = rest << 64 | x[i];
            x[i] = (uint64_t)(rest / 10);
            rest %= 10;
        }
        table[k - FTB_POWER_MIN] = top(x, true);
    }
}

const ftb_power *ftb_powers(void)
{
    pthread_once(&once, make_tables);
    return table;
}

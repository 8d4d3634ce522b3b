/* Numbers to text and back, exactly, whatever the locale says. */
#ifndef FTB_NUMBER_H
#define FTB_NUMBER_H

#include "core/locale.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* 10^k rounded up to 128 bits: hi:lo * 2^(floor(log2 10^k) - 127), the top bit of hi set. */
typedef struct ftb_power {
    uint64_t hi, lo;
} ftb_power;
#define FTB_POWER_MIN (-342)
#define FTB_POWER_MAX 324
const ftb_power *ftb_powers(void); /* entry 0 is 10^FTB_POWER_MIN; made on first use */

static inline int ftb_log2_pow10(int k) { return (k * 1741647) >> 19; } /* floor, |k| < 1650 */
static inline int ftb_log10_pow2(int k) { return (k * 1262611) >> 22; } /* floor, |k| < 1650 */

/* Reads a decimal number at `p`; returns what follows it, or NULL if there is no number. The text must
 * end with a character that no number contains, such as a newline. Accepts nan, inf, infinity, and D for
 * the exponent's E (Fortran). ftb_parse_float: rounded once, to a float's value, or
 * to a double's where that would be infinite. */
const char *ftb_parse_real(const char *p, double *value);
const char *ftb_parse_float(const char *p, double *value);

/* The same for integers; NULL also if it does not fit. */
static inline const char *ftb_parse_unsigned(const char *p, uint64_t *value)
{
    const char *first = p;
    uint64_t v = 0;
    for (; (unsigned)(*p - '0') < 10; p++) {
        if (__builtin_expect(p - first >= 19, 0) &&
            (v > UINT64_MAX / 10 || v * 10 > UINT64_MAX - (uint64_t)(*p - '0')))
            return NULL;
        v = v * 10 + (uint64_t)(*p - '0');
    }
    *value = v;
    return p == first ? NULL : p;
}

static inline const char *ftb_parse_integer(const char *p, int64_t *value)
{
    bool negative = *p == '-';
    uint64_t v;
    p = ftb_parse_unsigned(p + (negative || *p == '+'), &v);
    if (!p || v > (uint64_t)INT64_MAX + negative)
        return NULL;
    *value = (int64_t)(negative ? 0 - v : v);
    return p;
}

#define FTB_NUMBER_ROOM 32 /* no number is longer */
/* Writes a number and returns its end; no NUL follows, but all of the room may be written to. digits: 1 to
 * 17, as printf's %.*g; 0: the fewest that read back to the same double (or float, if `single`). */
char *ftb_format_real(char *out, double value, int digits, bool single);
char *ftb_format_unsigned(char *out, uint64_t value);
static inline char *ftb_format_integer(char *out, int64_t value)
{
    if (value < 0)
        *out++ = '-';
    return ftb_format_unsigned(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

#endif

/* Text to double, correctly rounded.
 *
 * At most 19 digits are read as an integer w, so that the number is w * 10^q. If w and the power are exact
 * doubles, one operation rounds once (Clinger 1990). Else w is multiplied by a 128-bit power (Lemire 2021,
 * "Number parsing at a gigabyte per second"), which decides all but a few cases; those, and longer
 * mantissas, go to strtod. */
#include "core/number.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static double power_of_two_scaled(uint64_t mantissa, int biased)
{
    uint64_t bits = (mantissa & (((uint64_t)1 << 52) - 1)) | (uint64_t)biased << 52;
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* w * 10^q for w > 0. false: undecided, or subnormal or too large. */
static bool scale(uint64_t w, int q, double *value)
{
    if (q < FTB_POWER_MIN || q > 308)
        return false;
    ftb_power g = ftb_powers()[q - FTB_POWER_MIN];
    if (q < -27 || q > 55) /* the method wants powers rounded down, except for those near 1 */
        g.hi -= g.lo-- == 0;
    int lead = __builtin_clzll(w);
    w <<= lead;
    unsigned __int128 product = (unsigned __int128)w * g.hi;
    if (((uint64_t)(product >> 64) & 0x1ff) == 0x1ff)
        product += (uint64_t)((unsigned __int128)w * g.lo >> 64);
    uint64_t hi = (uint64_t)(product >> 64), lo = (uint64_t)product;
    if (lo == UINT64_MAX && (q < -27 || q > 55))
        return false;
    int upper = (int)(hi >> 63), shift = upper + 64 - 52 - 3;
    uint64_t mantissa = hi >> shift;
    int exponent = ((217706 * q) >> 16) + 63 + upper - lead + 1023;
    if (exponent <= 0)
        return false;
    if (lo <= 1 && q >= -4 && q <= 23 && (mantissa & 3) == 1 && mantissa << shift == hi)
        mantissa &= ~(uint64_t)1; /* exactly between two doubles: to even */
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    if (mantissa >= (uint64_t)2 << 52) {
        mantissa = (uint64_t)1 << 52;
        exponent++;
    }
    if (exponent >= 0x7ff)
        return false;
    *value = power_of_two_scaled(mantissa, exponent);
    return true;
}

/* strtod in the C locale, of the token [first, end). */
static bool by_library(const char *first, const char *end, bool fortran, bool single, double *value)
{
    char copy[512];
    const char *text = first;
    if (fortran) {
        if (end - first >= (ptrdiff_t)sizeof copy)
            return false;
        for (ptrdiff_t i = 0; i < end - first; i++)
            copy[i] = (char)(first[i] == 'd' || first[i] == 'D' ? 'e' : first[i]);
        copy[end - first] = '\0';
        text = copy;
    }
    locale_t c = ftb_c_locale();
    char *stop;
    if (!c)
        *value = single ? (double)strtof(text, &stop) : strtod(text, &stop);
    else
        *value = single ? (double)strtof_l(text, &stop, c) : strtod_l(text, &stop, c);
    return stop - text == end - first;
}

static bool word(const char **p, const char *lower)
{
    const char *q = *p;
    for (; *lower; lower++, q++)
        if ((*q | 0x20) != *lower)
            return false;
    *p = q;
    return true;
}

static const char *parse_special(const char *p, double *value)
{
    bool negative = *p == '-';
    p += negative || *p == '+';
    if (word(&p, "nan"))
        *value = NAN;
    else if (word(&p, "infinity") || word(&p, "inf"))
        *value = INFINITY;
    else
        return NULL;
    if (negative)
        *value = -*value;
    return p;
}

typedef struct decimal {
    uint64_t w;    /* the first 19 digits */
    int64_t power; /* of ten */
    bool negative, fortran, longer;
} decimal;

static const char *scan(const char *p, decimal *d)
{
    *d = (decimal){.negative = *p == '-'};
    p += d->negative || *p == '+';
    const char *first = p;
    int64_t digits = 0; /* significant ones */
    for (; (unsigned)(*p - '0') < 10; p++)
        if (digits < 19) {
            d->w = d->w * 10 + (uint64_t)(*p - '0');
            digits += d->w != 0;
        } else {
            d->longer |= *p != '0';
            d->power++;
        }
    int64_t seen = p - first;
    if (*p == '.') {
        const char *point = ++p;
        for (; (unsigned)(*p - '0') < 10; p++)
            if (digits < 19) {
                d->w = d->w * 10 + (uint64_t)(*p - '0');
                digits += d->w != 0;
                d->power--;
            } else {
                d->longer |= *p != '0';
            }
        seen += p - point;
    }
    if (seen == 0)
        return NULL;
    char e = (char)(*p | 0x20);
    if (e == 'e' || e == 'd') {
        const char *q = p + 1;
        bool minus = *q == '-';
        q += minus || *q == '+';
        if ((unsigned)(*q - '0') < 10) { /* else the letter is not ours */
            int64_t exponent = 0;
            for (; (unsigned)(*q - '0') < 10; q++)
                if (exponent < 100000000)
                    exponent = exponent * 10 + (*q - '0');
            d->power += minus ? -exponent : exponent;
            d->fortran = e == 'd';
            p = q;
        }
    }
    return p;
}

static const char *parse(const char *p, bool single, double *value)
{
    static const double exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    decimal d;
    const char *end = scan(p, &d);
    if (!end)
        return parse_special(p, value);
    double v;
    if (d.w == 0)
        v = 0;
    else if (!d.longer && d.w <= (uint64_t)1 << 53 && d.power >= -22 && d.power <= 22)
        v = d.power < 0 ? (double)d.w / exact[-d.power] : (double)d.w * exact[d.power];
    else if (d.longer || d.power < FTB_POWER_MIN || d.power > 308 || !scale(d.w, (int)d.power, &v))
        return by_library(p, end, d.fortran, single, value) ? end : NULL;
    if (single && v != 0) { /* a double halfway between two floats may hide which side the text was on */
        uint64_t bits;
        memcpy(&bits, &v, sizeof bits);
        if ((bits & 0x1fffffff) == 0x10000000 || v < (double)FLT_MIN)
            return by_library(p, end, d.fortran, true, value) ? end : NULL;
        v = (double)(float)v;
    }
    *value = d.negative ? -v : v;
    return end;
}

const char *ftb_parse_real(const char *p, double *value) { return parse(p, false, value); }

const char *ftb_parse_float(const char *p, double *value)
{
    const char *end = parse(p, true, value);
    return end && isinf(*value) ? parse(p, false, value) : end;
}

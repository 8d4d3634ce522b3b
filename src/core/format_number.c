/* Double to text.
 *
 * The fewest digits that read back: Schubfach (Giulietti 2021, "The Schubfach way to render doubles"),
 * which scales the number and the two ends of its rounding interval by one 128-bit power of ten. A given
 * number of digits: the same scaling, whose 64 fraction bits decide the rounding unless they are within
 * their error of a half; then printf does. */
#include "core/number.h"

#include <math.h>
#include <stdio.h>

static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                            "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                            "8081828384858687888990919293949596979899";

static int count_digits(uint64_t v)
{
    int n = 1;
    for (; v >= 10000; v /= 10000)
        n += 4;
    return n + (v >= 10) + (v >= 100) + (v >= 1000);
}

static void put_digits(char *out, uint64_t v, int n)
{
    for (; n >= 2; n -= 2, v /= 100)
        memcpy(out + n - 2, pairs + 2 * (v % 100), 2);
    if (n > 0)
        *out = (char)('0' + v);
}

char *ftb_format_unsigned(char *out, uint64_t value)
{
    int n = count_digits(value);
    put_digits(out, value, n);
    return out + n;
}

/* digits * 10^power, as %g would lay it out if it had `precision` digits. */
static char *lay_out(char *out, uint64_t digits, int power, int precision)
{
    while (digits % 10 == 0) {
        digits /= 10;
        power++;
    }
    char text[20];
    int n = count_digits(digits), exponent = n - 1 + power;
    put_digits(text, digits, n);
    if (exponent < -4 || exponent >= precision) {
        *out++ = text[0];
        if (n > 1) {
            *out++ = '.';
            memcpy(out, text + 1, (size_t)n - 1);
            out += n - 1;
        }
        *out++ = 'e';
        *out++ = exponent < 0 ? '-' : '+';
        exponent = exponent < 0 ? -exponent : exponent;
        if (exponent < 10)
            *out++ = '0';
        return ftb_format_unsigned(out, (uint64_t)exponent);
    }
    if (exponent < 0) {
        stpcpy(out, "0.000");
        out += 1 - exponent;
        memcpy(out, text, (size_t)n);
        return out + n;
    }
    int whole = exponent + 1;
    if (n <= whole) {
        memcpy(out, text, (size_t)n);
        memset(out + n, '0', (size_t)(whole - n));
        return out + whole;
    }
    memcpy(out, text, (size_t)whole);
    out[whole] = '.';
    memcpy(out + whole + 1, text + whole, (size_t)(n - whole));
    return out + n + 1;
}

/* (g * x) >> 128, its last bit set if bits were lost. */
static uint64_t round_to_odd(ftb_power g, uint64_t x)
{
    unsigned __int128 low = (unsigned __int128)g.lo * x;
    unsigned __int128 sum = (unsigned __int128)g.hi * x + (uint64_t)(low >> 64);
    return (uint64_t)(sum >> 64) | ((uint64_t)sum > 1);
}

/* The shortest decimal in the rounding interval of c * 2^q, the nearest of those. closer: the number below
 * is only half as far away as the one above. */
static uint64_t shortest(uint64_t c, int q, bool closer, int *power)
{
    uint64_t left = 4 * c - 2 + closer, middle = 4 * c, right = 4 * c + 2, odd = c & 1;
    int k = (q * 1262611 - (closer ? 524031 : 0)) >> 22; /* floor(log10(2^q)), or of 3/4 2^q */
    int h = q + ftb_log2_pow10(-k) + 1;
    ftb_power g = ftb_powers()[-k - FTB_POWER_MIN];
    uint64_t lower = round_to_odd(g, left << h) + odd, v = round_to_odd(g, middle << h),
             upper = round_to_odd(g, right << h) - odd, s = v / 4;
    if (s >= 10) { /* one digit less? */
        uint64_t t = s / 10;
        bool down = lower <= 40 * t, up = 40 * t + 40 <= upper;
        if (down != up) {
            *power = k + 1;
            return t + up;
        }
    }
    bool down = lower <= 4 * s, up = 4 * s + 4 <= upper;
    *power = k;
    if (down != up)
        return s + up;
    uint64_t half = 4 * s + 2;
    return s + (v > half || (v == half && (s & 1)));
}

static char *format_shortest(char *out, double value, bool single)
{
    uint64_t digits;
    int power;
    if (single) {
        float f = (float)value;
        uint32_t bits;
        memcpy(&bits, &f, sizeof bits);
        uint64_t fraction = bits & 0x7fffff;
        int e = (int)(bits >> 23);
        digits = e ? shortest(fraction | 0x800000, e - 150, fraction == 0 && e > 1, &power)
                   : shortest(fraction, -149, false, &power);
    } else {
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
        int e = (int)(bits >> 52);
        digits = e ? shortest(fraction | (uint64_t)1 << 52, e - 1075, fraction == 0 && e > 1, &power)
                   : shortest(fraction, -1074, false, &power);
    }
    return lay_out(out, digits, power, 16);
}

static char *by_library(char *out, double value, int digits)
{
    locale_t old = ftb_locale_enter();
    char text[FTB_NUMBER_ROOM];
    int n = snprintf(text, sizeof text, "%.*g", digits, value);
    ftb_locale_leave(old);
    memcpy(out, text, (size_t)n);
    return out + n;
}

static char *format_digits(char *out, double value, int digits)
{
    static const uint64_t ten[] = {1,
                                   10,
                                   100,
                                   1000,
                                   10000,
                                   100000,
                                   1000000,
                                   10000000,
                                   100000000,
                                   1000000000,
                                   10000000000,
                                   100000000000,
                                   1000000000000,
                                   10000000000000,
                                   100000000000000,
                                   1000000000000000,
                                   10000000000000000,
                                   100000000000000000};
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int e = (int)(bits >> 52);
    if (e == 0)
        return by_library(out, value, digits); /* subnormal */
    uint64_t c = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
    c <<= 11; /* value = c * 2^q, c of 64 bits */
    int q = e - 1075 - 11, power = ftb_log10_pow2(q + 63) - digits + 1;
    for (;; power++) {
        if (-power > FTB_POWER_MAX || -power < FTB_POWER_MIN)
            return by_library(out, value, digits);
        ftb_power g = ftb_powers()[-power - FTB_POWER_MIN];
        unsigned __int128 low = (unsigned __int128)g.lo * c;
        unsigned __int128 sum = (unsigned __int128)g.hi * c + (uint64_t)(low >> 64);
        int shift = -1 - q - ftb_log2_pow10(-power); /* value / 10^power = sum / 2^(64 + shift) */
        uint64_t whole = (uint64_t)(sum >> 64) >> shift;
        if (whole >= ten[digits])
            continue; /* one digit more than wanted */
        uint64_t fraction = (uint64_t)(sum >> shift), half = (uint64_t)1 << 63;
        if (fraction - half + 4 <= 8)
            return by_library(out, value, digits);
        return lay_out(out, whole + (fraction > half), power, digits);
    }
}

char *ftb_format_real(char *out, double value, int digits, bool single)
{
    if (isnan(value))
        return stpcpy(out, "nan");
    if (signbit(value)) {
        *out++ = '-';
        value = -value;
    }
    if (isinf(value))
        return stpcpy(out, "inf");
    if (value < 100000 && value == (double)(uint32_t)value && (digits == 0 || digits > 4))
        return ftb_format_unsigned(out, (uint64_t)value); /* counts, mostly */
    return digits == 0 ? format_shortest(out, value, single) : format_digits(out, value, digits);
}

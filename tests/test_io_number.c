/* Numbers to text and back, against the C library. */
#include "support/check.h"
#include "support/rng.h"

#include "core/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double some_double(rng *r, int kind)
{
    uint64_t bits = rng_bits(r);
    double v;
    switch (kind % 5) {
    case 0:
        memcpy(&v, &bits, sizeof v);
        return v;
    case 1:
        return (double)(bits % 1000000) / 1000.0;
    case 2:
        return ldexp((double)(int64_t)bits, -(int)rng_below(r, 70));
    case 3:
        bits &= 0xfff0000000000fff; /* powers of two, and numbers near them */
        memcpy(&v, &bits, sizeof v);
        return v;
    default:
        return (double)rng_below(r, 100000) / (double)(1 + rng_below(r, 100000));
    }
}

/* Significant digits of a printed number. */
static int digits_of(const char *text)
{
    char digit[64];
    int n = 0, first = 0;
    for (; *text && *text != 'e'; text++)
        if (*text >= '0' && *text <= '9')
            digit[n++] = *text;
    while (first < n && digit[first] == '0')
        first++;
    while (n > first && digit[n - 1] == '0')
        n--;
    return n - first;
}

static void shortest_reads_back(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < 200000; t++) {
        double v = some_double(&r, t), back;
        char text[FTB_NUMBER_ROOM + 2], c[64];
        char *end = ftb_format_real(text, v, 0, false);
        assert_true(end - text <= FTB_NUMBER_ROOM);
        strcpy(end, "\n");
        const char *stop = ftb_parse_real(text, &back);
        assert_non_null(stop);
        assert_true(*stop == '\n');
        if (isnan(v)) {
            assert_true(isnan(back));
            continue;
        }
        if (memcmp(&back, &v, sizeof v) != 0 || strtod(text, NULL) != v)
            fail_msg("%.17g was written as %s and read as %.17g", v, text, back);
        int fewest = 1;
        while (snprintf(c, sizeof c, "%.*e", fewest - 1, v), strtod(c, NULL) != v)
            fewest++;
        if (digits_of(text) > fewest)
            fail_msg("%.17g was written as %s: %d digits would do", v, text, fewest);
    }
}

static void shortest_floats(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < 200000; t++) {
        float v = (float)some_double(&r, t + 1);
        uint32_t bits = (uint32_t)rng_bits(&r);
        if (t % 2)
            memcpy(&v, &bits, sizeof v);
        if (isnan(v))
            continue;
        char text[FTB_NUMBER_ROOM + 2];
        double back;
        strcpy(ftb_format_real(text, (double)v, 0, true), "\n");
        assert_non_null(ftb_parse_float(text, &back));
        if ((float)back != v || strtof(text, NULL) != v || digits_of(text) > 9)
            fail_msg("%.9g was written as %s", (double)v, text);
    }
}

static void given_digits_as_printf(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < 200000; t++) {
        double v = some_double(&r, t);
        int digits = 1 + (int)rng_below(&r, 17);
        char text[FTB_NUMBER_ROOM + 2], c[64];
        if (isnan(v))
            continue;
        *ftb_format_real(text, v, digits, false) = '\0';
        snprintf(c, sizeof c, "%.*g", digits, v);
        assert_string_equal(text, c);
    }
    const double ties[] = {0.5, 1.5, 2.5, 0.125, 0.375, 1e15 + 0.5, 12345.5, 0.0009765625, 99999.5, 9.5};
    for (size_t t = 0; t < sizeof ties / sizeof *ties; t++)
        for (int digits = 1; digits <= 17; digits++) {
            char text[FTB_NUMBER_ROOM + 2], c[64];
            *ftb_format_real(text, ties[t], digits, false) = '\0';
            snprintf(c, sizeof c, "%.*g", digits, ties[t]);
            assert_string_equal(text, c);
        }
}

static void parses_as_strtod(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < 200000; t++) {
        char text[128];
        int length = 1 + (int)rng_below(&r, 40), n = 0, point = (int)rng_below(&r, 25);
        if (rng_below(&r, 3) == 0)
            text[n++] = "+-"[rng_below(&r, 2)];
        for (int d = 0; d < length; d++) {
            text[n++] = (char)('0' + rng_below(&r, rng_below(&r, 2) ? 10 : 1));
            if (d == point)
                text[n++] = '.';
        }
        if (t % 2)
            n += sprintf(text + n, "e%d", (int)rng_below(&r, 700) - 350);
        else if (t % 4)
            n += sprintf(text + n, "e%d", (int)rng_below(&r, 60) - 30);
        strcpy(text + n, "\n");
        char *end;
        double v = 0, expected = strtod(text, &end);
        assert_ptr_equal(ftb_parse_real(text, &v), end);
        if (memcmp(&v, &expected, sizeof v) != 0)
            fail_msg("%s read as %.17g; strtod says %.17g", text, v, expected);
        float single = strtof(text, NULL);
        assert_non_null(ftb_parse_float(text, &v));
        if ((float)v != single)
            fail_msg("%s read as float %.9g; strtof says %.9g", text, v, (double)single);
    }
}

static void edge_cases(void **state)
{
    (void)state;
    static const char *const wrong[] = {"\n", "-\n", ".\n", "e5\n", "+.e1\n", "x\n", "in\n", "na\n"};
    static const struct {
        const char *text;
        double value;
        int rest; /* characters that are not of the number, before the newline */
    } right[] = {{"1.\n", 1, 0},
                 {".5\n", 0.5, 0},
                 {"1e\n", 1, 1},
                 {"1e+\n", 1, 2},
                 {"1d3\n", 1000, 0},
                 {"-1.5D-2\n", -0.015, 0},
                 {"0x10\n", 0, 3},
                 {"1e400\n", INFINITY, 0},
                 {"1e-400\n", 0, 0},
                 {"inf\n", INFINITY, 0},
                 {"-Infinity\n", -INFINITY, 0},
                 {"4.9e-324\n", 4.9e-324, 0},
                 {"1e99999999999999\n", INFINITY, 0},
                 {"0e99999999999999\n", 0, 0}};
    double v;
    int64_t i;
    for (size_t t = 0; t < sizeof wrong / sizeof *wrong; t++)
        assert_null(ftb_parse_real(wrong[t], &v));
    for (size_t t = 0; t < sizeof right / sizeof *right; t++) {
        const char *end = ftb_parse_real(right[t].text, &v);
        assert_non_null(end);
        assert_true(v == right[t].value);
        assert_int_equal(strlen(end) - 1, right[t].rest);
    }
    assert_non_null(ftb_parse_integer("-9223372036854775808\n", &i));
    assert_true(i == INT64_MIN);
    assert_non_null(ftb_parse_integer("+9223372036854775807\n", &i));
    assert_true(i == INT64_MAX);
    assert_null(ftb_parse_integer("9223372036854775808\n", &i));
    assert_null(ftb_parse_integer("99999999999999999999999\n", &i));
    assert_null(ftb_parse_integer("--1\n", &i));
    uint64_t u;
    assert_non_null(ftb_parse_unsigned("18446744073709551615\n", &u));
    assert_true(u == UINT64_MAX);
    assert_null(ftb_parse_unsigned("18446744073709551616\n", &u));
    char text[FTB_NUMBER_ROOM];
    *ftb_format_integer(text, INT64_MIN) = '\0';
    assert_string_equal(text, "-9223372036854775808");
    *ftb_format_real(text, -0.0, 0, false) = '\0';
    assert_string_equal(text, "-0");
    *ftb_format_real(text, -INFINITY, 5, false) = '\0';
    assert_string_equal(text, "-inf");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shortest_reads_back),
                                       cmocka_unit_test(shortest_floats),
                                       cmocka_unit_test(given_digits_as_printf),
                                       cmocka_unit_test(parses_as_strtod), cmocka_unit_test(edge_cases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

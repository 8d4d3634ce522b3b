/* Dtypes, and casts between all pairs of them against slow, exact rules. */
#include "support/check.h"
#include "support/rng.h"

#include "core/core.h"
#include "core/isa.h"

#include <math.h>

static void names_and_sizes(void **state)
{
    (void)state;
    static const struct {
        FtB_Type type;
        const char *name;
        size_t size;
        int bits;
        FtB_Type compute;
    } all[] = {
        {FTB_BOOL, "bool", 1, 1, FTB_BOOL},        {FTB_INT8, "int8", 1, 8, FTB_INT64},
        {FTB_INT16, "int16", 2, 16, FTB_INT64},    {FTB_INT32, "int32", 4, 32, FTB_INT64},
        {FTB_INT64, "int64", 8, 64, FTB_INT64},    {FTB_UINT8, "uint8", 1, 8, FTB_UINT64},
        {FTB_UINT16, "uint16", 2, 16, FTB_UINT64}, {FTB_UINT32, "uint32", 4, 32, FTB_UINT64},
        {FTB_UINT64, "uint64", 8, 64, FTB_UINT64}, {FTB_FP32, "fp32", 4, 32, FTB_FP32},
        {FTB_FP64, "fp64", 8, 64, FTB_FP64},       {FTB_FP16, "fp16", 2, 16, FTB_FP32},
        {FTB_BF16, "bf16", 2, 16, FTB_FP32},
    };
    for (size_t t = 0; t < sizeof all / sizeof *all; t++) {
        assert_string_equal(FtB_Type_name(all[t].type), all[t].name);
        assert_int_equal(FtB_Type_size(all[t].type), all[t].size);
        assert_int_equal(ftb_type_bits(all[t].type), all[t].bits);
        assert_int_equal(ftb_type_compute(all[t].type), all[t].compute);
        assert_true(ftb_type_valid(all[t].type));
    }
    for (int bad = -1; bad < 20; bad += bad == 0 ? 14 : 1) {
        assert_false(ftb_type_valid((FtB_Type)bad));
        assert_int_equal(FtB_Type_size((FtB_Type)bad), 0);
        assert_string_equal(FtB_Type_name((FtB_Type)bad), "unknown");
    }
    assert_true(ftb_type_integer(FTB_UINT64) && !ftb_type_integer(FTB_BOOL) && !ftb_type_integer(FTB_FP16));
    assert_true(ftb_type_float(FTB_BF16) && !ftb_type_float(FTB_INT8));
}

/* A 16-bit float as a double, from its definition. */
static double half_value(uint16_t h, int fraction_bits, int bias)
{
    int fraction = h & ((1 << fraction_bits) - 1), exponent = (h & 0x7fff) >> fraction_bits;
    double magnitude;
    if (exponent == 2 * bias + 1)
        magnitude = fraction ? (double)NAN : (double)INFINITY;
    else
        magnitude = exponent ? ldexp(1 + ldexp(fraction, -fraction_bits), exponent - bias)
                             : ldexp(fraction, 1 - bias - fraction_bits);
    return h & 0x8000 ? -magnitude : magnitude;
}

static void check_nearest(double x, FtB_Type type, int fraction_bits, int bias)
{
    uint16_t h;
    ftb_cast(&h, type, &x, FTB_FP64, 1);
    if (isnan(x)) {
        assert_true(isnan(half_value(h, fraction_bits, bias)));
        return;
    }
    assert_int_equal(h >> 15, signbit(x) != 0);
    uint16_t magnitude = h & 0x7fff, infinity = (uint16_t)((2 * bias + 1) << fraction_bits);
    assert_true(magnitude <= infinity);
    double a = fabs(x), here = half_value(magnitude, fraction_bits, bias);
    /* Infinity rounds as if it were the next number up. */
    double top = 2 * half_value((uint16_t)(infinity - 1), fraction_bits, bias) -
                 half_value((uint16_t)(infinity - 2), fraction_bits, bias);
    here = magnitude == infinity ? top : here;
    if (a >= top)
        assert_int_equal(magnitude, infinity);
    double gap = fabs(a - here);
    for (int step = -1; step <= 1; step += 2) {
        int other = magnitude + step;
        if (other < 0 || other > infinity || a >= top)
            continue;
        double there = other == infinity ? top : half_value((uint16_t)other, fraction_bits, bias);
        double other_gap = fabs(a - there);
        if (!(gap < other_gap || (gap == other_gap && magnitude % 2 == 0)))
            fail_msg("%.17g became %04x, %04x is nearer", x, h, other);
    }
}

static void sixteen_bit_floats(void **state)
{
    (void)state;
    for (int bits = 0; bits < 65536; bits++)
        for (int bf = 0; bf < 2; bf++) {
            FtB_Type type = bf ? FTB_BF16 : FTB_FP16;
            int fraction_bits = bf ? 7 : 10, bias = bf ? 127 : 15;
            uint16_t h = (uint16_t)bits, back;
            double x = ftb_get_real(&h, type, 0), expected = half_value(h, fraction_bits, bias);
            float single;
            assert_true(x == expected || (isnan(x) && isnan(expected)));
            ftb_cast(&single, FTB_FP32, &h, type, 1);
            ftb_cast(&back, type, &single, FTB_FP32, 1);
            if (!isnan(x))
                assert_int_equal(back, h);
            double up = half_value((uint16_t)(h + 1), fraction_bits, bias), middle = x / 2 + up / 2;
            check_nearest(x, type, fraction_bits, bias);
            check_nearest(middle, type, fraction_bits, bias);
            check_nearest(nextafter(middle, INFINITY), type, fraction_bits, bias);
            check_nearest(nextafter(middle, -INFINITY), type, fraction_bits, bias);
        }
    rng r = rng_new();
    for (int round = 0; round < 100000; round++) {
        double x;
        rng_any_values(&r, &x, FTB_FP64, 1);
        check_nearest(x, FTB_FP16, 10, 15);
        check_nearest(x, FTB_BF16, 7, 127);
        x = ldexp(rng_unit(&r) - 0.5, (int)rng_below(&r, 60) - 30);
        check_nearest(x, FTB_FP16, 10, 15);
        check_nearest(x, FTB_BF16, 7, 127);
    }
}

/* FP32 to 16 bits and back, which have kernels of their own, against the way through FP64. */
static void check_halves(FtB_Type type, const float *x, int count)
{
    enum { MOST = 4096 };
    double wide[MOST];
    uint16_t goal[MOST], found[MOST];
    float back[MOST], in_place[MOST];
    ftb_cast(wide, FTB_FP64, x, FTB_FP32, count);
    ftb_cast(goal, type, wide, FTB_FP64, count);
    ftb_cast(found, type, x, FTB_FP32, count);
    assert_memory_equal(goal, found, sizeof *goal * (size_t)count);
    memcpy(in_place, x, sizeof *x * (size_t)count);
    ftb_cast(in_place, type, in_place, FTB_FP32, count);
    assert_memory_equal(goal, in_place, sizeof *goal * (size_t)count);
    ftb_cast(wide, FTB_FP64, goal, type, count);
    ftb_cast(back, FTB_FP32, goal, type, count);
    ftb_cast(in_place, FTB_FP32, in_place, type, count);
    assert_memory_equal(back, in_place, sizeof *back * (size_t)count);
    for (int t = 0; t < count; t++)
        if (!(back[t] == wide[t] && !signbit(back[t]) == !signbit(wide[t])) &&
            !(isnan(back[t]) && isnan(wide[t])))
            fail_msg("%s %04x became %g, expected %g", FtB_Type_name(type), goal[t], (double)back[t],
                     wide[t]);
}

static void halves_of_every_instruction_set(void **state)
{
    (void)state;
    enum { COUNT = 4096 };
    float x[COUNT];
    uint32_t bits[COUNT];
    rng r = rng_new();
    for (int isa = FTB_ISA_BASELINE; isa <= FTB_ISA_AVX512; isa++) {
        ftb_isa_force(isa);
        for (int bf = 0; bf < 2; bf++) {
            FtB_Type type = bf ? FTB_BF16 : FTB_FP16;
            for (int first = 0; first < 65536; first += COUNT / 8)
                for (int quarter = 0; quarter < 4;
                     quarter++) { /* of the gap to the next one, and both sides */
                    uint32_t step = bf ? 1 << 14 : 1 << 11;
                    for (int t = 0; t < COUNT; t++) {
                        uint16_t h = (uint16_t)(first + t / 8);
                        ftb_cast(&x[t], FTB_FP32, &h, type, 1);
                        memcpy(&bits[t], &x[t], 4);
                        bits[t] += (uint32_t)quarter * step + (uint32_t)(t % 8) - 4;
                    }
                    memcpy(x, bits, sizeof x);
                    check_halves(type, x, COUNT);
                }
            for (int round = 0; round < 50; round++) {
                rng_any_values(&r, x, FTB_FP32, COUNT);
                check_halves(type, x, COUNT - round);
                for (int t = 0; t < COUNT; t++)
                    x[t] = (float)ldexp(rng_unit(&r) - 0.5, (int)rng_below(&r, 60) - 30);
                check_halves(type, x, 1 + round);
                check_halves(type, x, COUNT);
            }
        }
    }
    ftb_isa_force(-1);
}

static void wide_integers_are_rounded_once(void **state)
{
    (void)state;
    uint16_t h;
    int64_t x = (INT64_C(1) << 62) + (INT64_C(1) << 54) + 1; /* just above half way between two bf16 */
    ftb_cast(&h, FTB_BF16, &x, FTB_INT64, 1);
    assert_int_equal(h, 0x5e81);
    x--; /* half way: to even */
    ftb_cast(&h, FTB_BF16, &x, FTB_INT64, 1);
    assert_int_equal(h, 0x5e80);
    x = -x - 1;
    ftb_cast(&h, FTB_BF16, &x, FTB_INT64, 1);
    assert_int_equal(h, 0xde81);
    uint64_t u = UINT64_MAX;
    ftb_cast(&h, FTB_BF16, &u, FTB_UINT64, 1);
    assert_int_equal(h, 0x5f80);
    ftb_cast(&h, FTB_FP16, &u, FTB_UINT64, 1);
    assert_int_equal(h, 0x7c00);
}

/* Integers of all types as a 64-bit pattern; how far they are signed. */
static uint64_t integer_bits(const void *value, FtB_Type type)
{
    size_t size = FtB_Type_size(type);
    uint64_t x = 0;
    memcpy(&x, value, size);
    if (type >= FTB_INT8 && type <= FTB_INT64 && size < 8 && x >> (8 * size - 1))
        x |= ~UINT64_C(0) << (8 * size);
    return type == FTB_BOOL ? x != 0 : x;
}

static double real_value(const void *value, FtB_Type type)
{
    float f;
    double d;
    uint16_t h;
    switch (type) {
    case FTB_FP64:
        return *(const double *)memcpy(&d, value, 8);
    case FTB_FP32:
        return (double)*(const float *)memcpy(&f, value, 4);
    case FTB_FP16:
        return half_value(*(const uint16_t *)memcpy(&h, value, 2), 10, 15);
    case FTB_BF16:
        return half_value(*(const uint16_t *)memcpy(&h, value, 2), 7, 127);
    default:
        break;
    }
    uint64_t x = integer_bits(value, type);
    return type >= FTB_INT8 && type <= FTB_INT64 ? (double)(int64_t)x : (double)x;
}

/* Float to integer: truncated and saturated, NaN to 0. */
static uint64_t saturated(double x, FtB_Type type)
{
    int bits = ftb_type_bits(type);
    bool is_signed = type <= FTB_INT64;
    if (isnan(x))
        return 0;
    x = trunc(x);
    if (is_signed) {
        double limit = ldexp(1, bits - 1);
        uint64_t most = (UINT64_C(1) << (bits - 1)) - 1;
        return x >= limit ? most : x < -limit ? ~most : (uint64_t)(int64_t)x;
    }
    return x >= ldexp(1, bits) ? UINT64_MAX >> (64 - bits) : x <= 0 ? 0 : (uint64_t)x;
}

static void check_pair(const void *from, FtB_Type st, const void *to, FtB_Type dt)
{
    size_t size = FtB_Type_size(dt);
    uint64_t got = 0, expected = 0;
    memcpy(&got, to, size);
    if (dt == FTB_BOOL) {
        expected = ftb_type_float(st) ? real_value(from, st) != 0 : integer_bits(from, st) != 0;
    } else if (ftb_type_integer(dt)) {
        expected = ftb_type_float(st) ? saturated(real_value(from, st), dt) : integer_bits(from, st);
        expected = size == 8 ? expected : expected & ((UINT64_C(1) << 8 * size) - 1);
    } else {
        double x = real_value(from, st), y = real_value(to, dt);
        uint64_t bits = integer_bits(from, st);
        if (dt == FTB_FP32) /* straight from the source's type: one rounding */
            x = (double)(ftb_type_float(st)                  ? (float)x
                         : st >= FTB_INT8 && st <= FTB_INT64 ? (float)(int64_t)bits
                                                             : (float)bits);
        if ((dt == FTB_FP32 || dt == FTB_FP64) && x != y && !(isnan(x) && isnan(y)))
            fail_msg("%s to %s: %.17g, expected %.17g", FtB_Type_name(st), FtB_Type_name(dt), y, x);
        return; /* 16-bit targets have their own tests */
    }
    if (got != expected)
        fail_msg("%s to %s: %llx, expected %llx from %g", FtB_Type_name(st), FtB_Type_name(dt),
                 (unsigned long long)got, (unsigned long long)expected, real_value(from, st));
}

#define COUNT 700 /* more than one batch */

static void all_pairs(void **state)
{
    (void)state;
    rng r = rng_new();
    static uint64_t from[COUNT], to[COUNT], in_place[COUNT];
    for (int st = FTB_BOOL; st <= FTB_BF16; st++)
        for (int dt = FTB_BOOL; dt <= FTB_BF16; dt++)
            for (int round = 0; round < 2; round++) {
                int64_t count = round ? COUNT : rng_below(&r, COUNT);
                size_t ss = FtB_Type_size((FtB_Type)st), ds = FtB_Type_size((FtB_Type)dt);
                rng_any_values(&r, from, (FtB_Type)st, count);
                memcpy(in_place, from, sizeof from);
                ftb_cast(to, (FtB_Type)dt, from, (FtB_Type)st, count);
                ftb_cast(in_place, (FtB_Type)dt, in_place, (FtB_Type)st, count);
                assert_int_equal(memcmp(to, in_place, (size_t)count * ds), 0);
                for (int64_t t = 0; t < count; t++)
                    check_pair((char *)from + (size_t)t * ss, (FtB_Type)st, (char *)to + (size_t)t * ds,
                               (FtB_Type)dt);
            }
}

static void single_values(void **state)
{
    (void)state;
    const int16_t x[] = {-3, 7};
    assert_int_equal(ftb_get_integer(x, FTB_INT16, 0), -3);
    assert_true(ftb_get_real(x, FTB_INT16, 1) == 7);
    const double y[] = {-2.9, (double)NAN, 1e300};
    assert_int_equal(ftb_get_integer(y, FTB_FP64, 0), -2);
    assert_int_equal(ftb_get_integer(y, FTB_FP64, 1), 0);
    assert_true(ftb_get_integer(y, FTB_FP64, 2) == INT64_MAX);
    const uint8_t odd_bool = 2;
    assert_int_equal(ftb_get_integer(&odd_bool, FTB_BOOL, 0), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_sizes),
        cmocka_unit_test(sixteen_bit_floats),
        cmocka_unit_test(halves_of_every_instruction_set),
        cmocka_unit_test(wide_integers_are_rounded_once),
        cmocka_unit_test(all_pairs),
        cmocka_unit_test(single_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

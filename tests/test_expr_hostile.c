/* Texts as hostile input: thousands of mutations of good ones end in an error with a message or in a program
 * that runs; nothing leaks.
 * Labels: fuzz */
#include "support/check.h"

#include "cpu/interpreter.h"
#include "expr/expr.h"
#include "support/fail_alloc.h"
#include "support/rng.h"

#include <stdio.h>

#define MUTATIONS 20000

static const char *const seeds[] = {
    "plus : a / (a + b)",
    "max : relu((src + dst) @ W)",
    "plus : [1, a, b, a*b, a*a, b*b]",
    "mean : norm[i] * a * norm[j] + W[k]",
    "min : a < b && !(b >= 3) || a == 0.5e-3 ? exp(-a) : pow(b, 2)",
    "plus : dot(src, dst) * scale - mean(src)",
    "or : bitand(i, 18446744073709551615) != int8(a)",
    "plus : [[a, b], [1, 2]][3] + hypergeom_sf([a, b, 3, 4])",
    "argmax : ((((a))))",
};
static const char alphabet[] = "abijkdW019.eE+-*/@<>=!?:()[], &|^%\"\\\x01\xff"
                               "relu";

/* One to four edits: change, remove, insert, double a stretch, cut off, splice another seed. */
static int mutate(rng *r, char *text, int length, int room)
{
    for (int64_t edits = 1 + rng_below(r, 4); edits > 0 && length > 0; edits--) {
        int at = (int)rng_below(r, length), wish = 1 + (int)rng_below(r, 8),
            bytes = ftb_min(wish, length - at);
        char letter = alphabet[rng_below(r, (int64_t)sizeof alphabet - 1)];
        switch (rng_below(r, 6)) {
        case 0:
            text[at] = letter;
            break;
        case 1:
            memmove(text + at, text + at + bytes, (size_t)(length - at - bytes));
            length -= bytes;
            break;
        case 2:
            if (length + 1 < room) {
                memmove(text + at + 1, text + at, (size_t)(length - at));
                text[at] = letter;
                length++;
            }
            break;
        case 3:
            if (length + bytes < room) {
                memmove(text + at + bytes, text + at, (size_t)(length - at));
                length += bytes;
            }
            break;
        case 4:
            length = rng_below(r, 8) ? length : at;
            break;
        default: {
            const char *other = seeds[rng_below(r, sizeof seeds / sizeof *seeds)];
            int most = (int)rng_below(r, (int64_t)strlen(other)), take = ftb_min(most, room - 1 - at);
            memcpy(text + at, other, (size_t)take);
            length = ftb_max(length, at + take);
        }
        }
    }
    return length;
}

static bool run_program(const FtB_Semiring s, const ftb_name *names, const ftb_operand *operands, int count)
{
    static double out[4 * 4096];
    ftb_program *p;
    ftb_interpreter *m;
    if (ftb_program_new(&p, ftb_context(), s->message, count, names, true) != GrB_SUCCESS) {
        assert_true(strstr(FtB_error(), "at column") != NULL);
        return false;
    }
    assert_true(ftb_program_width(p) <= 4096);
    assert_ok(ftb_interpreter_new(&m, ftb_context(), p));
    ftb_interpreter_run(m, 4, operands, out);
    ftb_interpreter_delete(m);
    ftb_program_delete(p);
    return true;
}

static void test_mutations(void **state)
{
    (void)state;
    rng r = rng_new();
    int64_t before = live_allocations();
    double values[12] = {1, 2, 3, 4, -5, 0, 7, 8, 9, 10, 11, 12};
    int64_t index[4] = {0, 1, 2, 0};
    FtB_Block W;
    assert_ok(FtB_Block_wrap_const(&W, values, 3, 3, 4, FTB_FP64));
    const ftb_name names[] = {{.name = "a", .type = FTB_FP64, .width = 1},
                              {.name = "b", .type = FTB_FP64, .width = 1},
                              {.name = "src", .type = FTB_FP64, .width = 3},
                              {.name = "dst", .type = FTB_FP64, .width = 3},
                              {.name = "i", .type = FTB_INT64, .width = 1},
                              {.name = "j", .type = FTB_INT64, .width = 1},
                              {.name = "k", .type = FTB_INT64, .width = 1},
                              {.name = "scale", .type = FTB_FP64, .width = 1, .constant = true},
                              {.name = "W", .type = FTB_FP64, .width = 3, .block = true, .rows = W},
                              {.name = "norm", .type = FTB_FP64, .width = 3, .block = true, .rows = W}};
    const ftb_operand operands[] = {{values, 1}, {values + 4, 1}, {values, 3}, {values, 0}, {index, 1},
                                    {index, 1},  {index, 0},      {values, 0}, {NULL, 0},   {NULL, 0}};
    int64_t parsed = 0, ran = 0;
    for (int n = 0; n < MUTATIONS; n++) {
        char text[256];
        const char *seed = seeds[rng_below(&r, sizeof seeds / sizeof *seeds)];
        int length = snprintf(text, sizeof text, "%s", seed);
        length = mutate(&r, text, length, sizeof text);
        text[length] = '\0';
        FtB_Semiring s;
        if (FtB_Semiring_new(&s, text) != GrB_SUCCESS) {
            assert_null(s);
            assert_true(strncmp(FtB_error(), "semiring: ", 10) == 0);
            continue;
        }
        parsed++;
        ran += run_program(s, names, operands, sizeof names / sizeof *names);
        FtB_Semiring_free(&s);
    }
    printf("%d mutations: %d parse, %d run\n", MUTATIONS, (int)parsed, (int)ran);
    assert_true(parsed > MUTATIONS / 50 && ran > MUTATIONS / 100);
    FtB_Block_free(&W);
    assert_int_equal(live_allocations(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mutations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

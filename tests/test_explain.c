/* FtB_Semiring_explain: what it prints, and for what it can. */
#include "support/check.h"

#include "support/fail_alloc.h"

#include <stdio.h>
#include <stdlib.h>

static char *explained(FtB_Semiring s)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    assert_ok(FtB_Semiring_explain(s, file));
    fclose(file);
    return text;
}

static void expect_lines(FtB_Semiring s, const char *const *lines)
{
    char *text = explained(s), *at = text;
    for (; *lines; lines++) {
        at = strstr(at, *lines);
        if (!at)
            fail_msg("no line '%s' (in this order) in\n%s", *lines, text);
    }
    free(text);
}

static void texts(void **state)
{
    static const struct {
        const char *text, *lines[12];
    } rows[] = {
        {"max : relu((src + dst) @ W)",
         {"semiring         max : relu((src + dst) @ W)\n", "sparse x block\n",
          "  per source     u = src @ W\n", "  per row        v = dst @ W\n",
          "  per edge       u   (kernel: copy)\n", "  reduced by     max\n", "  per result     relu(h + v)\n",
          "block x block'\n", "  per edge       relu(u + v)   (interpreted)\n", "gradients\n",
          "  d W            (src)' times\n", NULL}},
        {"plus : dot(src, dst) * scale",
         {"  per result     dot(h, dst) * scale\n", "  per edge       dot(u, dst)   (kernel: dot)\n",
          "  d src          grad * scale * dst\n", NULL}},
        {"plus : norm[i] * edge + bias[k]", {"  per edge ", "  d bias[k]      grad\n", NULL}},
        {"plus : [src, dst, edge] @ W", {"16 values of fp32 in src and in dst", NULL}},
        {"plus : a * b", {"  per edge       edge * src   (kernel: multiply)\n", NULL}},
        {"plus : lgamma(src)", {"lgamma has no derivative", NULL}},
    };
    (void)state;
    for (size_t t = 0; t < sizeof rows / sizeof *rows; t++) {
        FtB_Semiring s;
        assert_ok(FtB_Semiring_new(&s, rows[t].text));
        expect_lines(s, rows[t].lines);
        FtB_Semiring_free(&s);
    }
    static const char *const mean[] = {"mean : src", "  per result     h / fp32(count)\n", NULL};
    expect_lines(FTB_MEAN_SRC, mean);
}

/* Widths come from what is bound. */
static void bound_blocks(void **state)
{
    static const struct {
        const char *text, *lines[6];
        int64_t nrows, ncols;
    } cases[] = {
        {"plus : src @ W",
         {"5 values of fp32 in src and in dst", "the message has 7 of fp64", "  d W ", NULL},
         5,
         7},
        {"max : relu([dst, src - dst] @ W)",
         {"5 values of fp32 in src and in dst", "  per source     u = src @ W[5:]\n", "  d W ", NULL},
         10,
         3}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        FtB_Semiring s, bound;
        FtB_Block W;
        assert_ok(FtB_Block_new(&W, cases[k].nrows, cases[k].ncols, FTB_FP64));
        assert_ok(FtB_Semiring_new(&s, cases[k].text));
        assert_ok(FtB_Semiring_bind(&bound, s, FTB_BIND("W", W)));
        expect_lines(bound, cases[k].lines);
        FtB_Semiring_free(&s);
        FtB_Semiring_free(&bound);
        FtB_Block_free(&W);
    }
}

static void message(float *z, const float *src, const float *dst, const float *edge, int64_t width,
                    const void *theta)
{
    (void)dst;
    (void)edge;
    (void)theta;
    memcpy(z, src, (size_t)width * sizeof *z);
}

static void functions_and_failures(void **state)
{
    FtB_Semiring s;
    (void)state;
    assert_ok(FtB_Semiring_new_function(&s, "plus", message, 1, NULL));
    static const char *const lines[] = {"a C function, of which nothing is known", NULL};
    expect_lines(s, lines);
    assert_fails(GrB_NULL_POINTER, "file is NULL", FtB_Semiring_explain(s, NULL));
    FtB_Semiring_free(&s);
    assert_fails(GrB_NULL_POINTER, "s is", FtB_Semiring_explain(NULL, stdout));
    assert_ok(FtB_Semiring_new(&s, "plus : src @ W + [src, src, src, src, src]"));
    assert_fails(GrB_DIMENSION_MISMATCH, "FtB_Semiring_explain: semiring: widths 16 and 80 do not match",
                 FtB_Semiring_explain(s, stdout));
    FtB_Semiring_free(&s);
    FILE *full = fopen("/dev/full", "w");
    if (full) {
        setvbuf(full, NULL, _IONBF, 0);
        assert_fails(FTB_IO, "writing failed", FtB_Semiring_explain(FTB_PLUS_SRC, full));
        fclose(full);
    }
}

static GrB_Info call(void *file)
{
    FtB_Semiring s;
    GrB_Info info = FtB_Semiring_new(&s, "mean : relu((src + dst) @ W) * scale");
    if (info == GrB_SUCCESS)
        info = FtB_Semiring_explain(s, file);
    FtB_Semiring_free(&s);
    return info;
}

static void failing_allocations(void **state)
{
    FILE *file = tmpfile();
    (void)state;
    assert_non_null(file);
    fail_every_allocation(call, NULL, file);
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(bound_blocks),
        cmocka_unit_test(functions_and_failures),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

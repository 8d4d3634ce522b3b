/* Throughput of expressions: items per second of a program run in batches of FTB_BATCH, beside a loop in C
 * that says the same, compiled for AVX-512 and AVX2 too where the machine has them.
 *
 *     build/release/bench_expr [seconds per case, 0.2]
 *
 * Operands are a few batches, so they stay in L1 and L2: what is measured is arithmetic and overhead, not
 * memory. Times are medians of alternating runs. */
#include "expr/expr.h"
#include "core/isa.h"
#include "cpu/interpreter.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#define ITEMS (8 * FTB_BATCH)

typedef struct data {
    float *a32, *b32, *out32;
    double *a64, *b64, *out64;
    int64_t *a_int, *b_int, *out_int;
} data;

typedef struct bench_case {
    const char *text;
    FtB_Type type;
    void (*loop)(const data *d);
} bench_case;

#if defined(__x86_64__) && defined(__linux__)
#define CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CLONES __attribute__((noinline))
#endif

/* Clones are not inlined, so that the compiler cannot see that their results are not used. */
#define LOOP(name, T, suffix, form)                                                                          \
    static CLONES void name(const data *d)                                                                   \
    {                                                                                                        \
        const T *restrict as = d->a##suffix, *restrict bs = d->b##suffix;                                    \
        T *restrict out = d->out##suffix;                                                                    \
        for (int64_t t = 0; t < ITEMS; t++) {                                                                \
            const T a = as[t], b = bs[t];                                                                    \
            out[t] = (form);                                                                                 \
        }                                                                                                    \
    }
LOOP(ratio32, float, 32, a / (a + b))
LOOP(ratio64, double, 64, a / (a + b))
LOOP(product32, float, 32, a *b)
LOOP(product64, double, 64, a *b)
LOOP(least32, float, 32, a < b ? a : b)
LOOP(least_int, int64_t, _int, a < b ? a : b)
LOOP(poly64, double, 64, ((a * b + 1) * a - b) * (a - b) + 3 * a)
LOOP(tanh32, float, 32, tanhf(a *b + 1))
LOOP(tanh64, double, 64, tanh(a *b + 1))
LOOP(exp32, float, 32, expf(a - b))
LOOP(log32, float, 32, logf(a + b))
LOOP(choice32, float, 32, a > 0.5F && b > a ? a : -b)

static const bench_case cases[] = {
    {"a * b", FTB_FP32, product32},
    {"a * b", FTB_FP64, product64},
    {"a / (a + b)", FTB_FP32, ratio32},
    {"a / (a + b)", FTB_FP64, ratio64},
    {"min(a, b)", FTB_FP32, least32},
    {"min(a, b)", FTB_INT64, least_int},
    {"((a * b + 1) * a - b) * (a - b) + 3 * a", FTB_FP64, poly64},
    {"a > 0.5 && b > a ? a : -b", FTB_FP32, choice32},
    {"tanh(a * b + 1)", FTB_FP32, tanh32},
    {"tanh(a * b + 1)", FTB_FP64, tanh64},
    {"exp(a - b)", FTB_FP32, exp32},
    {"log(a + b)", FTB_FP32, log32},
    {"[1, a, b, a * b, a * a, b * b]", FTB_FP64, NULL},
    {"dot([a, b, a, b], [b, a, a, b])", FTB_FP32, NULL},
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static void run_program(ftb_interpreter *m, const bench_case *c, const data *d, int64_t width, void *out)
{
    size_t size = FtB_Type_size(c->type);
    const char *a = c->type == FTB_FP32   ? (char *)d->a32
                    : c->type == FTB_FP64 ? (char *)d->a64
                                          : (char *)d->a_int;
    const char *b = c->type == FTB_FP32   ? (char *)d->b32
                    : c->type == FTB_FP64 ? (char *)d->b64
                                          : (char *)d->b_int;
    for (size_t t = 0; t < ITEMS; t += FTB_BATCH) {
        const ftb_operand operands[2] = {{a + t * size, 1}, {b + t * size, 1}};
        ftb_interpreter_run(m, FTB_BATCH, operands, (char *)out + t * size * (size_t)width);
    }
}

/* Medians of both, in seconds per ITEMS. */
static void measure(ftb_interpreter *m, const bench_case *c, const data *d, int64_t width, void *out,
                    double budget, double *program, double *loop)
{
    enum { ROUNDS = 9 };
    double times[2][ROUNDS];
    for (int round = 0; round < ROUNDS; round++)
        for (int side = 0; side < 2; side++) {
            int64_t runs = 0;
            double start = seconds(), now = start;
            while (now - start < budget / (2 * ROUNDS)) {
                for (int n = 0; n < 16; n++, runs++)
                    if (side == 0)
                        run_program(m, c, d, width, out);
                    else if (c->loop)
                        c->loop(d);
                now = seconds();
            }
            times[side][round] = (now - start) / (double)runs;
        }
    for (int side = 0; side < 2; side++)
        qsort(times[side], ROUNDS, sizeof **times, by_value);
    *program = times[0][ROUNDS / 2];
    *loop = c->loop ? times[1][ROUNDS / 2] : NAN;
}

static int run_case(const bench_case *c, const data *d, double budget)
{
    ftb_expr *e = NULL;
    ftb_program *p = NULL;
    ftb_interpreter *m = NULL;
    void *out = NULL;
    FtB_Context ctx = ftb_context();
    const ftb_name names[2] = {{.name = "a", .type = c->type, .width = 1},
                               {.name = "b", .type = c->type, .width = 1}};
    GrB_Info info;
    FTB_CHECK(ftb_expr_parse(&e, ctx, c->text, "bench", 0));
    FTB_CHECK(ftb_program_new(&p, ctx, e, 2, names, false));
    FTB_CHECK(ftb_interpreter_new(&m, ctx, p));
    out = ftb_new(ctx, ITEMS * ftb_program_width(p), 8);
    FTB_CHECK(out ? GrB_SUCCESS : ftb_nomem());
    double program, loop;
    measure(m, c, d, ftb_program_width(p), out, budget, &program, &loop);
    printf("%-42s %-6s %10.2f", c->text, FtB_Type_name(c->type), 1e-9 * ITEMS / program);
    if (c->loop)
        printf(" %10.2f %8.2f\n", 1e-9 * ITEMS / loop, loop / program);
    else
        printf("\n");
done:
    if (info != GrB_SUCCESS)
        fprintf(stderr, "%s: %s\n", c->text, FtB_error());
    ftb_delete(out);
    ftb_interpreter_delete(m);
    ftb_program_delete(p);
    ftb_expr_release(e);
    return info != GrB_SUCCESS;
}

int main(int argc, char **argv)
{
    double budget = argc > 1 ? atof(argv[1]) : 0.2;
    FtB_Context ctx = ftb_context();
    void *all = ftb_new(ctx, (int64_t)9 * ITEMS, 8);
    if (!all)
        return 1;
    data d = {.a64 = all};
    d.b64 = d.a64 + ITEMS;
    d.out64 = d.b64 + ITEMS;
    d.a32 = (float *)(d.out64 + ITEMS);
    d.b32 = d.a32 + ITEMS;
    d.out32 = d.b32 + ITEMS;
    d.a_int = (int64_t *)(d.out64 + 3 * ITEMS);
    d.b_int = d.a_int + ITEMS;
    d.out_int = d.b_int + ITEMS;
    for (int64_t t = 0; t < ITEMS; t++) {
        d.a64[t] = (double)(t * 37 % 101) / 101 + 0.01;
        d.b64[t] = (double)(t * 59 % 103) / 103 + 0.01;
        d.a32[t] = (float)d.a64[t];
        d.b32[t] = (float)d.b64[t];
        d.a_int[t] = t * 37 % 101;
        d.b_int[t] = t * 59 % 103;
    }
    int failed = 0;
    printf("instruction set %s; 1e9 items per second, one thread\n", ftb_isa_name(ftb_isa()));
    printf("%-42s %-6s %10s %10s %8s\n", "expression", "type", "program", "C loop", "ratio");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        failed |= run_case(&cases[c], &d, budget);
    ftb_delete(all);
    return failed;
}

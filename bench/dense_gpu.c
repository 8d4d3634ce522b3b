/* Dense products on a GPU: our kernel and cuBLAS in turn, beside what the planner thinks of each. Usage:
 *
 *     bench_dense_gpu [repetitions] [toy]
 *
 * A run is as many products one after the other as take some milliseconds; medians. What
 * src/plan/rule_gpu_dense.c counts with is to be had from it: the rates of large squares are its shares of
 * the GPU's multiply-adds, the time of small ones its calls. "toy" divides all sides by 64, for a GPU that
 * does not exist. */
#include "gpu/cublas.h"
#include "gpu/dense_ways.h"
#include "gpu/memory.h"
#include "support/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 101, RUN = 20, TOY = 64 };

static const struct {
    const char *what;
    ftb_dense_form form;
    int64_t nrows, ncols, inner;
} cases[] = {{"square", FTB_AB, 128, 128, 128},
             {"square", FTB_AB, 256, 256, 256},
             {"square", FTB_AB, 512, 512, 512},
             {"square", FTB_AB, 1024, 1024, 1024},
             {"square", FTB_AB, 4096, 4096, 4096},
             {"layer of cora", FTB_AB, 2708, 16, 1433},
             {"its gradient", FTB_ATB, 1433, 16, 2708},
             {"layer of arxiv", FTB_AB, 169343, 256, 128},
             {"its gradient", FTB_ATB, 128, 256, 169343},
             {"that of its input", FTB_ABT, 169343, 128, 256},
             {"layer of reddit", FTB_AB, 232965, 128, 602},
             {"its gradient", FTB_ATB, 602, 128, 232965}};

typedef GrB_Info (*way)(ftb_gpu_device *d, const ftb_dense_product *p);

static ftb_gpu_device *device;

static void check(GrB_Info info)
{
    if (info == GrB_SUCCESS)
        return;
    fprintf(stderr, "%s\n", FtB_error());
    exit(1);
}

static const void *some_values(ftb_gpu_rooms *rooms, int64_t count, FtB_Type type)
{
    const int64_t bytes = count * (int64_t)FtB_Type_size(type);
    const void *sent;
    double value;
    void *values = malloc((size_t)bytes);
    if (!values)
        exit(1);
    for (int64_t k = 0; k < count; k++) {
        value = (double)(k * 2654435761 % 1000003) / 500001.5 - 1;
        ftb_cast((char *)values + (size_t)k * FtB_Type_size(type), type, &value, FTB_FP64, 1);
    }
    check(ftb_gpu_send(&sent, rooms, values, bytes));
    free(values);
    return sent;
}

static int by_size(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static double run(way by, const ftb_dense_product *p, int count)
{
    const double start = bench_now();
    for (int k = 0; k < count; k++)
        check(by(device, p));
    check(device->row.memory->wait(&device->row, ftb_context()));
    return (bench_now() - start) / count;
}

/* Seconds of both ways; of cuBLAS 0 where there is none. */
static void measure(double seconds[2], const ftb_dense_product *p, int repetitions, bool toy)
{
    static double times[2][MOST];
    const way ways[] = {ftb_gpu_own_dense, ftb_gpu_cublas_dense};
    const bool there[] = {true, ftb_gpu_cublas_ready(device)};
    const double guess = ftb_gpu_plan_dense(device, p, false).seconds;
    const int count = toy ? 1 : (int)fmax(1, fmin(1000, RUN * 1e-3 / guess));
    for (int n = -1; n < repetitions; n++) /* the first compiles and allocates */
        for (int w = 0; w < 2; w++) {
            const double one = there[w] ? run(ways[w], p, n < 0 ? 1 : count) : 0;
            if (n >= 0)
                times[w][n] = one;
        }
    for (int w = 0; w < 2; w++) {
        qsort(times[w], (size_t)repetitions, sizeof *times[w], by_size);
        seconds[w] = times[w][repetitions / 2];
    }
}

static void print_case(int n, FtB_Type type, int repetitions, int64_t divisor)
{
    ftb_dense_product p = {.ctx = ftb_context(),
                           .what = cases[n].form,
                           .type = type,
                           .nrows = (cases[n].nrows + divisor - 1) / divisor,
                           .ncols = (cases[n].ncols + divisor - 1) / divisor,
                           .inner = (cases[n].inner + divisor - 1) / divisor};
    ftb_gpu_rooms rooms = {.d = device, .ctx = p.ctx};
    double seconds[2];
    p.a = some_values(&rooms, p.nrows * p.inner, type);
    p.b = some_values(&rooms, p.inner * p.ncols, type);
    p.c = (void *)(uintptr_t)some_values(&rooms, p.nrows * p.ncols, type);
    p.lda = p.what == FTB_ATB ? p.nrows : p.inner;
    p.ldb = p.what == FTB_ABT ? p.inner : p.ncols;
    p.ldc = p.ncols;
    measure(seconds, &p, repetitions, divisor > 1);
    const ftb_gpu_dense_plan own = ftb_gpu_plan_dense(device, &p, false),
                             any = ftb_gpu_plan_dense(device, &p, true);
    const double adds = (double)p.nrows * (double)p.ncols * (double)p.inner;
    printf("%-18s %s %7lld x %4lld over %6lld %9.1f %9.1f %9.1f %9.1f  %-7s", cases[n].what,
           FtB_Type_name(type), (long long)p.nrows, (long long)p.ncols, (long long)p.inner, 1e6 * seconds[0],
           seconds[1] > 0 ? 1e6 * seconds[1] : NAN, 1e-9 * adds / seconds[0],
           seconds[1] > 0 ? 1e-9 * adds / seconds[1] : NAN, any.cublas ? "cuBLAS" : "own");
    printf(" %9.1f\n", 1e6 * (any.cublas ? any.seconds : own.seconds));
    ftb_gpu_rooms_free(&rooms);
}

int main(int argc, char **argv)
{
    const int repetitions = argc > 1 ? atoi(argv[1]) : 15;
    const bool toy = argc > 2 && strcmp(argv[2], "toy") == 0;
    if (repetitions < 1 || repetitions > MOST) {
        fprintf(stderr, "repetitions are 1 to %d\n", MOST);
        return 2;
    }
    check(FtB_Context_set_device(NULL, "gpu"));
    device = ftb_gpu_of(ftb_device(ftb_context()));
    printf("%s\n", device->row.about);
    if (!ftb_gpu_cublas_ready(device))
        printf("without cuBLAS: %s\n", ftb_cublas_here()->found.why);
    printf("%60s %9s %9s %9s %9s  %-7s %9s\n", "microseconds, 1e9 multiply-adds a second:", "own", "cuBLAS",
           "own", "cuBLAS", "planned", "predicted");
    for (int n = 0; n < (int)(sizeof cases / sizeof *cases); n++)
        for (int wide = 0; wide < 2; wide++)
            print_case(n, wide ? FTB_FP64 : FTB_FP32, repetitions, toy ? TOY : 1);
    return 0;
}

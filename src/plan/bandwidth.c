/* Measures read bandwidth: the same bytes again and again, so that they stay in the cache that holds them.
 *
 * An array is the process's peak while it is there, so that one for memory is no larger than it takes for
 * translating addresses to cost what it costs large arrays: of small pages on a virtual machine 8 MiB are
 * read at 34 GB/s, 64 MiB at 19, 256 MiB at 16. Where a cache may hold that much, its lines are flushed
 * before every round. It is mapped: what malloc has freed may stay with the process. */
#include "plan/bandwidth.h"

#include <stdbool.h>
#include <sys/mman.h>
#include <time.h>

#define MEMORY_BYTES (INT64_C(64) << 20) /* from so many on memory is meant, and so many are read */
#define LINE_BYTES 64

#ifdef __x86_64__
#include <emmintrin.h>
enum { CAN_FLUSH = 1 };
static void flush_lines(const float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i += LINE_BYTES / (int64_t)sizeof *x)
        _mm_clflush(x + i);
    _mm_mfence();
}
#else
enum { CAN_FLUSH = 0 };
static void flush_lines(const float *x, int64_t n) { (void)x, (void)n; }
#endif

double ftb_thread_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of reading the n floats `rounds` times, each time from memory if `flushed`. */
static double read_rounds(const float *x, int64_t n, int64_t rounds, bool flushed, volatile float *sink)
{
    const int64_t at_once = flushed ? 1 : rounds;
    double seconds = 0;
    for (int64_t round = 0; round < rounds; round += at_once) {
        if (flushed)
            flush_lines(x, n);
        double start = ftb_thread_seconds();
        *sink = FTB_PICK(ftb_read_floats)(x, n, at_once);
        seconds += ftb_thread_seconds() - start;
    }
    return seconds;
}

double ftb_measure_read(int64_t bytes, double seconds)
{
    const bool flushed = CAN_FLUSH && bytes >= MEMORY_BYTES;
    const int64_t n =
        ((bytes < MEMORY_BYTES ? bytes : MEMORY_BYTES) / (int64_t)sizeof(float) + 127) / 128 * 128;
    float *x = mmap(NULL, (size_t)n * sizeof *x, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    volatile float sink = 0;
    double best = 0, spent = 0;
    int64_t rounds = 1;
    if (x == MAP_FAILED)
        return 0;
    for (int64_t i = 0; i < n; i++)
        x[i] = 1;
    /* A round is long beside the clock's resolution, short beside a time slice. */
    while (read_rounds(x, n, rounds, flushed, &sink) < seconds / 20 && rounds < INT64_C(1) << 40)
        rounds *= 2;
    while (spent < seconds) {
        double taken = read_rounds(x, n, rounds, flushed, &sink);
        double rate = taken > 0 ? (double)rounds * (double)n * sizeof *x / taken : 0;
        best = rate > best ? rate : best;
        spent += taken > 0 ? taken : seconds;
    }
    munmap(x, (size_t)n * sizeof *x);
    return best;
}

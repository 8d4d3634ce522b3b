/* For programs that time calls of the library one after the other. */
#ifndef BENCH_CALLS_H
#define BENCH_CALLS_H

#include "bench.h"
#include "featblas.h"

/* Where a call failed the program ends, with the library's message. */
void bench_check(GrB_Info info);
/* 64 bits of splitmix64, which begins at 1: the same in every run. */
uint64_t bench_bits(void);
/* Sorts n numbers, 1 or more; of an even number the greater one of the two in the middle. */
double bench_median(double *values, int n);
/* Elapsed seconds; of one thread the CPU's, which a busy machine leaves as they are. */
double bench_seconds(int threads);

/* Random reads of an array of `count` words of `size` bytes: each address follows from the value before, or
 * from nothing but a counter. Prints a line; returns nanoseconds of one of the latter. */
double bench_random_read(const char *what, const void *array, int64_t count, size_t size, int threads);

#endif

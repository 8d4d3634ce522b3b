/* MKL's sparse products, opened at run time: the file that the environment variable FEATBLAS_MKL names. */
#ifndef BENCH_MKL_H
#define BENCH_MKL_H

#include "stage.h"

/* sum, or weighted with one weight per entry: create, hint, optimize (result->setup), then mm. */
bool bench_mkl(const bench_settings *s, const bench_measure *m, bench_result *result);

#endif

/* GraphBLAS, the version that is linked: C += A * X with full C and X, and the masked dot product. */
#ifndef BENCH_GRB_H
#define BENCH_GRB_H

#include "stage.h"

/* sum, max, min, or weighted with one weight per entry: C += A * X. */
bool bench_grb_spmm(const bench_settings *s, const bench_measure *m, bench_result *result);
/* dot: S<A> = Y * X'. */
bool bench_grb_sddmm(const bench_settings *s, const bench_measure *m, bench_result *result);

#endif

/* What tests of kernels are made of: arrays that kernels may reach, values, rows, and launches that must have
 * no faults. */
#ifndef TESTS_SIMT_CASE_H
#define TESTS_SIMT_CASE_H

#include "support/check.h"

#include "support/rng.h"
#include "support/simt/simt.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Whether all cases are wanted, of every variant: in the environment FEATBLAS_VARIANTS is `all`, as for the
 * tests all_simt_*, labelled slow. Else a part of them, which each test states. */
static inline bool case_all(void)
{
    const char *which = getenv("FEATBLAS_VARIANTS");
    return which && strcmp(which, "all") == 0;
}

/* How often a test goes over its cases: each time other values, in another order of everything. */
static inline int case_times(void) { return case_all() ? 4 : 1; }

/* Known to kernels, to the byte, and aligned as a device's memory is. */
static inline void *case_memory(int64_t count, size_t size, const char *name)
{
    void *made = aligned_alloc(256, ((size_t)count * size / 256 + 1) * 256);
    assert_non_null(made);
    simt_memory_add(made, (size_t)count * size, name);
    return made;
}

static inline void case_forget(void *made)
{
    simt_memory_remove(made);
    free(made);
}

static inline void case_launch_shared(const char *name, simt_dim grid, unsigned block, unsigned shared,
                                      void **arguments, const simt_options *o, simt_report *to)
{
    const simt_kernel *kernel = simt_kernel_find(name);
    assert_non_null(kernel);
    if (simt_launch(kernel, grid, simt_line(block), shared, arguments, o, to) != 0) {
        simt_print(to, stdout);
        fail_msg("%s: faults", name);
    }
}

static inline void case_launch(const char *name, simt_dim grid, unsigned block, void **arguments,
                               const simt_options *o, simt_report *to)
{
    case_launch_shared(name, grid, block, 0, arguments, o, to);
}

/* What values are. WHOLE: small whole numbers, whose sums are exact; REAL: in (-1, 1); ODD: those, but for
 * one in eight. */
typedef enum values { WHOLE, REAL, ODD } values;

static inline float case_value(rng *r, values kind)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, -0.0F, 0};
    if (kind == ODD && rng_below(r, 8) == 0)
        return odd[rng_below(r, sizeof odd / sizeof *odd)];
    return kind == WHOLE ? (float)(rng_below(r, 9) - 4) : (float)(2 * rng_unit(r) - 1);
}

/* Whether what was got is what was expected, within a bound where that is finite. */
static inline bool case_near(double got, double expected, double bound)
{
    if (isfinite(expected))
        return fabs(got - expected) <= bound;
    return isnan(expected) ? isnan(got) : got == expected;
}

/* Row pointers: rows that are empty, short, and now and then of 60 entries and more; or all empty. */
static inline int64_t *case_rows(rng *r, int64_t nrows, bool entries)
{
    int64_t *rowptr = calloc((size_t)nrows + 1, sizeof *rowptr);
    assert_non_null(rowptr);
    for (int64_t i = 0; i < nrows; i++) {
        const int64_t kind = rng_below(r, 8);
        rowptr[i + 1] = rowptr[i] + (!entries || kind < 2 ? 0
                                     : kind < 7           ? rng_below(r, 12)
                                                          : 60 + rng_below(r, 90));
    }
    return rowptr;
}

/* 1,000 rows, of which a fifth has most entries. */
static inline int64_t *case_skewed(void)
{
    int64_t *rowptr = calloc(1001, sizeof *rowptr);
    assert_non_null(rowptr);
    for (int64_t i = 0; i < 1000; i++)
        rowptr[i + 1] = rowptr[i] + (i % 5 ? 5 : 100);
    return rowptr;
}

#endif

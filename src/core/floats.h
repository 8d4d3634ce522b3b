/* The floating-point environment that products need: to nearest, denormals kept. A caller may have set
 * another, by hand or by -ffast-math, in which sums of numbers that cancel, or nearly, are -0.0: what cells
 * of products hold that no message has reached. Threads have an environment each. */
#ifndef FTB_FLOATS_H
#define FTB_FLOATS_H

#include <fenv.h>

static inline void ftb_floats_begin(fenv_t *callers)
{
    fegetenv(callers);
    fesetenv(FE_DFL_ENV);
}

static inline void ftb_floats_end(const fenv_t *callers) { fesetenv(callers); }

#endif

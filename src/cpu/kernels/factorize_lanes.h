/* Vectors of factors: sums of products, fused where there is such an instruction. Only for kernel files. */
#ifndef FTB_CPU_FACTORIZE_LANES_H
#define FTB_CPU_FACTORIZE_LANES_H

#include "cpu/kernels/factorize_kernels.h"
#include "cpu/kernels/lanes.h"

#define PART_LANES ((int)(FTB_VECTOR_BYTES / FTB_REAL_SIZE))

FTB_INLINE part part_madd(part x, part y, part z)
{
#if defined(__AVX512F__) && FTB_REAL_SIZE == 4
    return (part)_mm512_fmadd_ps((__m512)x, (__m512)y, (__m512)z);
#elif defined(__AVX512F__)
    return (part)_mm512_fmadd_pd((__m512d)x, (__m512d)y, (__m512d)z);
#elif defined(__AVX2__) && FTB_REAL_SIZE == 4
    return (part)_mm256_fmadd_ps((__m256)x, (__m256)y, (__m256)z);
#elif defined(__AVX2__)
    return (part)_mm256_fmadd_pd((__m256d)x, (__m256d)y, (__m256d)z);
#else
    return z + x * y;
#endif
}

FTB_INLINE part part_load(const real *x) { return *(const part_unaligned *)x; }
FTB_INLINE void part_store(real *x, part v) { *(part_unaligned *)x = v; }
/* x - 0 is x, also of -0, so that no instruction is left of it; of x + 0 one is. */
FTB_INLINE part part_all(real x) { return x - (part){0}; }

FTB_INLINE lanes factors_all(real x)
{
    lanes v;
    for (int p = 0; p < FTB_PARTS; p++)
        v.at[p] = part_all(x);
    return v;
}

FTB_INLINE lanes factors_madd(lanes x, lanes y, lanes z)
{
    for (int p = 0; p < FTB_PARTS; p++)
        z.at[p] = part_madd(x.at[p], y.at[p], z.at[p]);
    return z;
}

#endif

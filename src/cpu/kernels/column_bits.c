/* Columns as bits (column_bits.h): of comparisons, and as masks of what is written.
 *
 * Cells: instruction sets */
#include "cpu/kernels/column_bits.h"

#include <string.h>
#if FTB_ISA == FTB_ISA_AVX512
#include <immintrin.h>
#endif

#define READ(name, T)                                                                                        \
    static bool name(const T *x, int k, T at, uint64_t *equal, uint64_t *reached)                            \
    {                                                                                                        \
        uint64_t is = 0, below = 0, fits = 1;                                                                \
        for (int c = 0; c < k; c++) {                                                                        \
            is |= (uint64_t)(x[c] == at) << c;                                                               \
            below |= (uint64_t)(x[c] < 0) << c;                                                              \
            fits &= x[c] <= at;                                                                              \
        }                                                                                                    \
        *equal = is;                                                                                         \
        *reached = ~below;                                                                                   \
        return fits;                                                                                         \
    }
READ(read_i32, int32_t)
READ(read_i64, int64_t)
READ(read_f64, double)

#if FTB_ISA == FTB_ISA_AVX512
/* 16 columns at a time. */
static bool read_vectors(const int32_t *x, int k, int32_t at, uint64_t *equal, uint64_t *reached)
{
    const __m512i there = _mm512_set1_epi32(at), zero = _mm512_setzero_si512();
    uint64_t above = 0;
    *equal = *reached = 0;
    for (int c = 0; c < k; c += 16) {
        const __mmask16 in = (__mmask16)(k - c < 16 ? (1U << (k - c)) - 1 : 0xffffU);
        const __m512i v = _mm512_maskz_loadu_epi32(in, x + c);
        *equal |= (uint64_t)_mm512_mask_cmpeq_epi32_mask(in, v, there) << c;
        *reached |= (uint64_t)_mm512_mask_cmpge_epi32_mask(in, v, zero) << c;
        above |= _mm512_mask_cmpgt_epi32_mask(in, v, there);
    }
    return above == 0;
}
#endif

bool FTB_CELL(ftb_bits_read)(const void *x, FtB_Type type, int k, int64_t at, uint64_t *equal,
                             uint64_t *reached)
{
    if (type == FTB_INT64)
        return read_i64(x, k, at, equal, reached);
    if (type == FTB_FP64)
        return read_f64(x, k, (double)at, equal, reached);
    if (at > INT32_MAX) { /* none is there, and none above */
        read_i32(x, k, -1, equal, reached);
        *equal = 0;
        return true;
    }
#if FTB_ISA == FTB_ISA_AVX512
    return read_vectors(x, k, (int32_t)at, equal, reached);
#else
    return read_i32(x, k, (int32_t)at, equal, reached);
#endif
}

#define WRITE(name, T)                                                                                       \
    static void name(T *x, uint64_t bits, const void *value)                                                 \
    {                                                                                                        \
        T v;                                                                                                 \
        memcpy(&v, value, sizeof v);                                                                         \
        for (; bits; bits &= bits - 1)                                                                       \
            x[__builtin_ctzll(bits)] = v;                                                                    \
    }
WRITE(write_64, uint64_t)
#if FTB_ISA == FTB_ISA_AVX512
static void write_32(int32_t *x, uint64_t bits, const void *value)
{
    int32_t v;
    memcpy(&v, value, sizeof v);
    const __m512i all = _mm512_set1_epi32(v);
    for (int c = 0; bits; bits >>= 16, c += 16)
        if (bits & 0xffff)
            _mm512_mask_storeu_epi32(x + c, (__mmask16)bits, all);
}
#else
WRITE(write_32, uint32_t)
#endif

void FTB_CELL(ftb_bits_write)(void *x, int size, uint64_t bits, const void *value)
{
    if (size == 4)
        write_32(x, bits, value);
    else
        write_64(x, bits, value);
}

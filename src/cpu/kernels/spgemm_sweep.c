/* A dense row in ascending columns: for j = j0, ..., j1 - 1 the cell of column j, if it holds a value.
 *
 * Looking every column up costs a fraction of a nanosecond where 16 are gathered and packed at once, and one
 * without; noting the cells that hold a value in a bitmap by columns, and walking it, costs about five per
 * entry. So this wins where rows are filled by more than a tenth.
 *
 * Cells: instruction sets */
#include "cpu/kernels/spgemm_kernels.h"

#ifdef __AVX512F__
#include <immintrin.h>
/* Without optimisation the compiler's header has gathers as macros that convert masks. */
#pragma GCC diagnostic ignored "-Wsign-conversion"
#endif

#define INLINE static inline __attribute__((always_inline))

#define EMPTY32 (UINT32_C(1) << 31) /* -0.0 */
#define EMPTY64 (UINT64_C(1) << 63)

#ifdef __AVX512F__

/* Cells of columns j .. j + 15, columns and those that are not empty to the front. */
INLINE int64_t pack_32(const ftb_spgemm *p, const void *acc, int64_t j, __mmask16 wanted, uint32_t empty,
                       int32_t *cols, __m512i *cells)
{
    __m512i column = _mm512_add_epi32(
        _mm512_set1_epi32((int)j), _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    __m512i x = p->rank ? _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), wanted,
                                                      _mm512_maskz_loadu_epi32(wanted, p->rank + j), acc, 4)
                        : _mm512_maskz_loadu_epi32(wanted, (const uint32_t *)acc + j);
    __mmask16 full = _mm512_mask_cmpneq_epi32_mask(wanted, x, _mm512_set1_epi32((int)empty));
    _mm512_storeu_si512(cols, _mm512_maskz_compress_epi32(full, column));
    *cells = _mm512_maskz_compress_epi32(full, x);
    return __builtin_popcount(full);
}

INLINE int64_t sweep_32(const ftb_spgemm *p, const void *acc, int64_t j0, int64_t j1, bool counts,
                        int32_t *cols, void *h)
{
    int64_t n = 0;
    for (int64_t j = j0; j < j1; j += 16) {
        __mmask16 wanted = (__mmask16)(j1 - j >= 16 ? 0xffff : (1 << (j1 - j)) - 1);
        __m512i x;
        int64_t found = pack_32(p, acc, j, wanted, counts ? 0 : EMPTY32, cols + n, &x);
        if (counts) {
            int64_t *to = (int64_t *)h + n;
            _mm512_storeu_si512(to, _mm512_cvtepu32_epi64(_mm512_castsi512_si256(x)));
            _mm512_storeu_si512(to + 8, _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(x, 1)));
        } else {
            _mm512_storeu_si512((uint32_t *)h + n, x);
        }
        n += found;
    }
    return n;
}

INLINE int64_t sweep_64(const ftb_spgemm *p, const void *acc, int64_t j0, int64_t j1, int32_t *cols, void *h)
{
    int64_t n = 0;
    const __m256i eight = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    for (int64_t j = j0; j < j1; j += 8) {
        __mmask8 wanted = (__mmask8)(j1 - j >= 8 ? 0xff : (1 << (j1 - j)) - 1);
        __m256i column = _mm256_add_epi32(_mm256_set1_epi32((int)j), eight);
        __m512i x = p->rank
                        ? _mm512_mask_i32gather_epi64(_mm512_setzero_si512(), wanted,
                                                      _mm256_maskz_loadu_epi32(wanted, p->rank + j), acc, 8)
                        : _mm512_maskz_loadu_epi64(wanted, (const uint64_t *)acc + j);
        __mmask8 full = _mm512_mask_cmpneq_epi64_mask(wanted, x, _mm512_set1_epi64((long long)EMPTY64));
        _mm256_storeu_si256((__m256i *)(void *)(cols + n), _mm256_maskz_compress_epi32(full, column));
        _mm512_storeu_si512((uint64_t *)h + n, _mm512_maskz_compress_epi64(full, x));
        n += __builtin_popcount(full);
    }
    return n;
}

#else

INLINE uint32_t id_of(const ftb_spgemm *p, int64_t j) { return p->rank ? p->rank[j] : (uint32_t)j; }

/* One column at a time, without branches. */
INLINE int64_t sweep_32(const ftb_spgemm *p, const void *acc, int64_t j0, int64_t j1, bool counts,
                        int32_t *cols, void *h)
{
    int64_t n = 0;
    for (int64_t j = j0; j < j1; j++) {
        uint32_t x = ((const uint32_t *)acc)[id_of(p, j)];
        cols[n] = (int32_t)j;
        if (counts)
            ((int64_t *)h)[n] = x;
        else
            ((uint32_t *)h)[n] = x;
        n += x != (counts ? 0 : EMPTY32);
    }
    return n;
}

INLINE int64_t sweep_64(const ftb_spgemm *p, const void *acc, int64_t j0, int64_t j1, int32_t *cols, void *h)
{
    int64_t n = 0;
    for (int64_t j = j0; j < j1; j++) {
        uint64_t x = ((const uint64_t *)acc)[id_of(p, j)];
        cols[n] = (int32_t)j;
        ((uint64_t *)h)[n] = x;
        n += x != EMPTY64;
    }
    return n;
}

#endif

int64_t FTB_CELL(ftb_spgemm_sweep)(const ftb_spgemm *p, const void *acc, int64_t j0, int64_t j1,
                                   int32_t *cols, void *h)
{
    if (p->cell == FTB_FP64)
        return sweep_64(p, acc, j0, j1, cols, h);
    return sweep_32(p, acc, j0, j1, p->cell == FTB_UINT32, cols, h);
}

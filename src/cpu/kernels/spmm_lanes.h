/* Vectors of the instruction set that is being compiled, and what SpMM does with them: v_f32, v_f64 and
 * v_i64, with madd_<t>, key_<t>, best_<t>, value_<t>, spread_<t> and message_<t>. Only for kernel files. */
#ifndef FTB_CPU_SPMM_LANES_H
#define FTB_CPU_SPMM_LANES_H

#include "cpu/kernels/spmm_kernels.h"

#if FTB_ISA == FTB_ISA_AVX512
#include <immintrin.h>
#define VECTOR 64
#elif FTB_ISA == FTB_ISA_AVX2
#include <immintrin.h>
#define VECTOR 32
#else
#define VECTOR 16
#endif

#define INLINE static inline __attribute__((always_inline))
#define LANES(T) ((int)(VECTOR / sizeof(T)))

#define VECTORS(suffix, T)                                                                                   \
    typedef T v_##suffix __attribute__((vector_size(VECTOR), may_alias));                                    \
    typedef T u_##suffix __attribute__((vector_size(VECTOR), may_alias, aligned(sizeof(T))));
VECTORS(f32, float)
VECTORS(f64, double)
VECTORS(i64, uint64_t) /* wraps */
VECTORS(k32, int32_t)
VECTORS(k64, int64_t)

/* y in all lanes. y - 0 is y, also for -0, which compilers know. */
#define SPLAT(suffix, T)                                                                                     \
    INLINE v_##suffix splat_##suffix(T y) { return y - (v_##suffix){0}; }
SPLAT(f32, float)
SPLAT(f64, double)
SPLAT(i64, uint64_t)

/* x * y + z, fused where the instruction set can. */
INLINE v_f32 madd_f32(v_f32 x, v_f32 y, v_f32 z)
{
#if FTB_ISA == FTB_ISA_AVX512
    return (v_f32)_mm512_fmadd_ps((__m512)x, (__m512)y, (__m512)z);
#elif FTB_ISA == FTB_ISA_AVX2
    return (v_f32)_mm256_fmadd_ps((__m256)x, (__m256)y, (__m256)z);
#else
    return x * y + z;
#endif
}

INLINE v_f64 madd_f64(v_f64 x, v_f64 y, v_f64 z)
{
#if FTB_ISA == FTB_ISA_AVX512
    return (v_f64)_mm512_fmadd_pd((__m512d)x, (__m512d)y, (__m512d)z);
#elif FTB_ISA == FTB_ISA_AVX2
    return (v_f64)_mm256_fmadd_pd((__m256d)x, (__m256d)y, (__m256d)z);
#else
    return x * y + z;
#endif
}

INLINE v_i64 madd_i64(v_i64 x, v_i64 y, v_i64 z) { return x * y + z; }

INLINE v_k32 greater_k32(v_k32 x, v_k32 y)
{
#if FTB_ISA == FTB_ISA_AVX512
    return (v_k32)_mm512_max_epi32((__m512i)x, (__m512i)y);
#elif FTB_ISA == FTB_ISA_AVX2
    return (v_k32)_mm256_max_epi32((__m256i)x, (__m256i)y);
#else
    v_k32 more = x > y;
    return (x & more) | (y & ~more);
#endif
}

INLINE v_k64 greater_k64(v_k64 x, v_k64 y)
{
#if FTB_ISA == FTB_ISA_AVX512
    return (v_k64)_mm512_max_epi64((__m512i)x, (__m512i)y);
#elif FTB_ISA == FTB_ISA_AVX2
    __m256i more = _mm256_cmpgt_epi64((__m256i)x, (__m256i)y);
    return (v_k64)_mm256_blendv_epi8((__m256i)y, (__m256i)x, more);
#else
    v_k64 more = x > y;
    return (x & more) | (y & ~more);
#endif
}

/* Keys. LOWEST is below all of them: nothing seen yet; NaN comes next. */
#define LOWEST_f32 INT32_MIN
#define LOWEST_f64 INT64_MIN
#define LOWEST_i64 INT64_MIN

/* `flip` is 0 for greatest, -1 for least. Signs other than of zero keep the magnitude's order turned round.
 */
#define REAL_KEYS(suffix, k, K, top)                                                                         \
    INLINE v_##k key_##suffix(v_##suffix z, K flip)                                                          \
    {                                                                                                        \
        v_##k bits = (v_##k)z, nan = (v_##k)(z != z);                                                        \
        bits = bits ^ (v_##k)((bits >> (8 * (int)sizeof(K) - 1)) & (top)) ^ flip;                            \
        return (bits & ~nan) | (nan & (LOWEST_##suffix + 1));                                                \
    }                                                                                                        \
    INLINE v_##suffix value_##suffix(v_##k key, K flip)                                                      \
    {                                                                                                        \
        v_##k nan = (v_##k)(key == LOWEST_##suffix + 1);                                                     \
        key = key ^ flip;                                                                                    \
        key = key ^ ((key >> (8 * (int)sizeof(K) - 1)) & (top));                                             \
        return (v_##suffix)(key | nan);                                                                      \
    }
REAL_KEYS(f32, k32, int32_t, INT32_MAX)
REAL_KEYS(f64, k64, int64_t, INT64_MAX)
INLINE v_k64 key_i64(v_i64 z, int64_t flip) { return (v_k64)z ^ flip; }
INLINE v_i64 value_i64(v_k64 key, int64_t flip) { return (v_i64)(key ^ flip); }

/* ---- an edge's values, spread over the lanes of a vector */

#if FTB_ISA == FTB_ISA_AVX512
typedef struct spread {
    int64_t first;
    __m512i lane;
    __mmask16 some;
} spread;

INLINE spread spread_of(const ftb_spmm_window *w, size_t size)
{
    int32_t lane[16] = {0};
    for (int l = 0; l < 16; l++) /* of 64-bit lanes, the low half counts */
        lane[l] = size == 4 ? w->lane[l] : l % 2 == 0 ? w->lane[l / 2] : 0;
    return (spread){w->first, _mm512_loadu_si512(lane), (__mmask16)((1U << w->count) - 1)};
}

INLINE v_f32 spread_f32(const float *y, const spread *s)
{
    return (v_f32)_mm512_permutexvar_ps(s->lane, _mm512_maskz_loadu_ps(s->some, y + s->first));
}
INLINE v_f64 spread_f64(const double *y, const spread *s)
{
    return (v_f64)_mm512_permutexvar_pd(s->lane, _mm512_maskz_loadu_pd((__mmask8)s->some, y + s->first));
}
INLINE v_i64 spread_i64(const uint64_t *y, const spread *s)
{
    return (v_i64)_mm512_permutexvar_epi64(s->lane,
                                           _mm512_maskz_loadu_epi64((__mmask8)s->some, y + s->first));
}
#elif FTB_ISA == FTB_ISA_AVX2
typedef struct spread {
    int64_t first;
    __m256i lane, some;
} spread;

INLINE spread spread_of(const ftb_spmm_window *w, size_t size)
{
    int32_t lane[8], some[8];
    for (int l = 0; l < 8; l++) { /* 64-bit lanes move as pairs */
        lane[l] = size == 4 ? w->lane[l] : 2 * w->lane[l / 2] + l % 2;
        some[l] = l * 4 < w->count * (int)size ? -1 : 0;
    }
    return (spread){w->first, _mm256_loadu_si256((__m256i *)lane), _mm256_loadu_si256((__m256i *)some)};
}

INLINE v_f32 spread_f32(const float *y, const spread *s)
{
    return (v_f32)_mm256_permutevar8x32_ps(_mm256_maskload_ps(y + s->first, s->some), s->lane);
}
INLINE v_f64 spread_f64(const double *y, const spread *s)
{
    __m256 found = _mm256_castpd_ps(_mm256_maskload_pd(y + s->first, s->some));
    return (v_f64)_mm256_permutevar8x32_ps(found, s->lane);
}
INLINE v_i64 spread_i64(const uint64_t *y, const spread *s)
{
    __m256i found = _mm256_maskload_epi64((const long long *)(y + s->first), s->some);
    return (v_i64)_mm256_permutevar8x32_epi32(found, s->lane);
}
#else
typedef struct spread {
    int64_t at[16];
} spread;

INLINE spread spread_of(const ftb_spmm_window *w, size_t size)
{
    spread s = {0};
    (void)size;
    for (int l = 0; l < 16; l++)
        s.at[l] = w->first + w->lane[l];
    return s;
}

#define SPREAD(suffix, T)                                                                                    \
    INLINE v_##suffix spread_##suffix(const T *y, const spread *s)                                           \
    {                                                                                                        \
        v_##suffix v = {0};                                                                                  \
        for (int l = 0; l < LANES(T); l++)                                                                   \
            v[l] = y[s->at[l]];                                                                              \
        return v;                                                                                            \
    }
SPREAD(f32, float)
SPREAD(f64, double)
SPREAD(i64, uint64_t)
#endif

/* An edge's values for vector n of a tile; edge: HEADS or LANES. */
#define VALUE(suffix, T)                                                                                     \
    INLINE v_##suffix value_of_##suffix(ftb_spmm_edge edge, const T *y, const int64_t *at,                   \
                                        const spread *lanes, int n)                                          \
    {                                                                                                        \
        return edge == FTB_EDGE_HEADS ? splat_##suffix(y[at[n]]) : spread_##suffix(y, &lanes[n]);            \
    }
VALUE(f32, float)
VALUE(f64, double)
VALUE(i64, uint64_t)

/* ---- what is added up */

#define MESSAGE(suffix, quotient)                                                                            \
    INLINE v_##suffix message_##suffix(ftb_form form, v_##suffix x, v_##suffix y)                            \
    {                                                                                                        \
        switch (form) {                                                                                      \
        case FTB_FORM_MUL:                                                                                   \
            return x * y;                                                                                    \
        case FTB_FORM_ADD:                                                                                   \
            return x + y;                                                                                    \
        case FTB_FORM_SUB:                                                                                   \
            return x - y;                                                                                    \
        case FTB_FORM_RSUB:                                                                                  \
            return y - x;                                                                                    \
        case FTB_FORM_DIV:                                                                                   \
            return quotient;                                                                                 \
        default:                                                                                             \
            return x;                                                                                        \
        }                                                                                                    \
    }
MESSAGE(f32, x / y)
MESSAGE(f64, x / y)
MESSAGE(i64, x) /* quotients of integers are reals */

/* One more message. acc holds keys (as bits) if `best`; so does x if besides the form is COPY and `packed`.
 */
#define GATHER(suffix, k)                                                                                    \
    INLINE v_##suffix gather_##suffix(v_##suffix acc, bool best, bool packed, ftb_form form, v_##suffix x,   \
                                      v_##suffix y, int flip)                                                \
    {                                                                                                        \
        if (!best && form == FTB_FORM_MUL)                                                                   \
            return madd_##suffix(x, y, acc);                                                                 \
        if (!best)                                                                                           \
            return (v_##suffix)(acc + message_##suffix(form, x, y));                                         \
        v_##k key = (v_##k)x;                                                                                \
        if (!packed || form != FTB_FORM_COPY)                                                                \
            key = key_##suffix(message_##suffix(form, x, y), flip);                                          \
        return (v_##suffix)greater_##k((v_##k)acc, key);                                                     \
    }
GATHER(f32, k32)
GATHER(f64, k64)
GATHER(i64, k64)

#endif

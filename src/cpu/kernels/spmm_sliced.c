/* Entries of a block of a slice: acc(row of the entry) becomes acc + x(column), or the greater key of both.
 *
 * Results of the slice stay in L1, sources come in order, but with gaps that differ, so that they are fetched
 * ahead where L3 is far. A result is read and written for every entry, but consecutive entries are those of
 * one column, and so of different rows: none waits for the one before, and no loop is so short that its end
 * is mispredicted. What remains are eight instructions an entry: on a Kronecker graph of 2^20 vertices and 31
 * million entries, FP32, one column, some 0.5 ns an entry where L3 is near, where rows one by one take 1.05,
 * and 1.0 ns where it is far. */
#include "cpu/kernels/spmm_kernels.h"

#include "core/slices.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#pragma GCC diagnostic ignored "-Wpsabi" /* vectors are passed between inlined functions only */

#define LOW (FTB_SLICE_ROWS - 1)

#define SLICED(name, V, JOIN)                                                                                \
    INLINE void one_##name(V *acc, const V *x, uint32_t word)                                                \
    {                                                                                                        \
        V *to = acc + (word & LOW);                                                                          \
        const V old = *to, new = x[word >> FTB_SLICE_BITS];                                                  \
        *to = JOIN;                                                                                          \
    }                                                                                                        \
    static void name(const uint32_t *word, int64_t count, int64_t ahead, const void *sources, void *results) \
    {                                                                                                        \
        const V *x = sources;                                                                                \
        V *acc = results;                                                                                    \
        int64_t e = 0;                                                                                       \
        for (; ahead > 0 && e + 4 + ahead <= count; e += 4)                                                  \
            for (int t = 0; t < 4; t++) {                                                                    \
                __builtin_prefetch(&x[word[e + t + ahead] >> FTB_SLICE_BITS]);                               \
                one_##name(acc, x, word[e + t]);                                                             \
            }                                                                                                \
        for (; e + 4 <= count; e += 4)                                                                       \
            for (int t = 0; t < 4; t++)                                                                      \
                one_##name(acc, x, word[e + t]);                                                             \
        for (; e < count; e++)                                                                               \
            one_##name(acc, x, word[e]);                                                                     \
    }

/* Of one value, and of k in a vector. */
#define ONE(suffix, T) typedef T suffix##_1 __attribute__((may_alias));
#define MORE(suffix, T, k)                                                                                   \
    typedef T suffix##_##k __attribute__((vector_size(sizeof(T) * (k)), may_alias, aligned(sizeof(T))));
#define PLUS(suffix, k) SLICED(plus_##suffix##_##k, suffix##_##k, old + new)
#define BEST_ONE(suffix) SLICED(best_##suffix##_1, suffix##_1, old > new ? old : new)
#define BEST(suffix, k) SLICED(best_##suffix##_##k, suffix##_##k, ((old > new) & old) | (~(old > new) & new))
ONE(f32, float)
ONE(f64, double)
ONE(i64, uint64_t) /* wraps */
ONE(k32, int32_t)
ONE(k64, int64_t)
MORE(f32, float, 2)
MORE(f32, float, 4)
MORE(f64, double, 2)
MORE(i64, uint64_t, 2)
MORE(k32, int32_t, 2)
MORE(k32, int32_t, 4)
MORE(k64, int64_t, 2)
PLUS(f32, 1)
PLUS(f32, 2)
PLUS(f32, 4)
PLUS(f64, 1)
PLUS(f64, 2)
PLUS(i64, 1)
PLUS(i64, 2)
BEST_ONE(k32)
BEST(k32, 2)
BEST(k32, 4)
BEST_ONE(k64)
BEST(k64, 2)

ftb_spmm_slice ftb_spmm_sliced(FtB_Type type, bool best, int64_t features, int64_t *pitch)
{
    static const ftb_spmm_slice f32[2][4] = {{plus_f32_1, plus_f32_2, plus_f32_4, plus_f32_4},
                                             {best_k32_1, best_k32_2, best_k32_4, best_k32_4}};
    static const ftb_spmm_slice f64[2][2] = {{plus_f64_1, plus_f64_2}, {best_k64_1, best_k64_2}};
    static const ftb_spmm_slice i64[2][2] = {{plus_i64_1, plus_i64_2}, {best_k64_1, best_k64_2}};
    if (features < 1 || features > (type == FTB_FP32 ? 4 : 2))
        return NULL;
    *pitch = features == 3 ? 4 : features;
    return (type == FTB_FP32 ? f32[best] : type == FTB_FP64 ? f64[best] : i64[best])[features - 1];
}

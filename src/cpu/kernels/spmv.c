/* Sparse x vector: C(i) = reduce over the entries e = (i, k) of message(X(k), Y(e)).
 *
 * One feature leaves a vector's other lanes idle, so lanes take entries instead: 4 vectors of them at a time,
 * each with a result of its own, X gathered by columns; a row's last entries fill a part of a vector. Limits:
 * columns (and values) stream from memory, and a gather takes about half a cycle an entry from L2. Sums are
 * taken in another order than by the kernels of more features, the same for any threads.
 *
 * Where X does not fit L2, gathers wait for it as single loads do, and rows of few entries are better off
 * without them (2^20 vertices of mean degree 30: 0.033 s either way; 4 million of 2.4: 0.020 s, by gathers
 * 0.040). Sums of X alone are then taken in the order of the entries, as slices do (spmm_sliced.c).
 *
 * Cells: instruction sets */
#include "cpu/kernels/spmm_lanes.h"

#include <string.h>

#pragma GCC diagnostic ignored "-Wpsabi" /* vectors are passed between inlined functions only */
/* Without optimisation gathers are macros of the compiler's header that convert signs. */
#pragma GCC diagnostic ignored "-Wsign-conversion"

#define SUMS 4

/* ---- values by columns: of all lanes, or of the first n, which leaves the others 0; and values in a row */

#if FTB_ISA == FTB_ISA_AVX512
#define FIRST(n) ((1U << (n)) - 1)
INLINE v_f32 pick_f32(const float *x, const int32_t *column)
{
    return (v_f32)_mm512_i32gather_ps(_mm512_loadu_si512(column), x, 4);
}
INLINE v_f64 pick_f64(const double *x, const int32_t *column)
{
    return (v_f64)_mm512_i32gather_pd(_mm256_loadu_si256((const __m256i *)column), x, 8);
}
INLINE v_i64 pick_i64(const uint64_t *x, const int32_t *column)
{
    return (v_i64)_mm512_i32gather_epi64(_mm256_loadu_si256((const __m256i *)column), x, 8);
}
INLINE v_f32 pick_some_f32(const float *x, const int32_t *column, int n)
{
    const __mmask16 some = (__mmask16)FIRST(n);
    return (v_f32)_mm512_mask_i32gather_ps(_mm512_setzero_ps(), some, _mm512_maskz_loadu_epi32(some, column),
                                           x, 4);
}
INLINE v_f64 pick_some_f64(const double *x, const int32_t *column, int n)
{
    const __mmask8 some = (__mmask8)FIRST(n);
    return (v_f64)_mm512_mask_i32gather_pd(_mm512_setzero_pd(), some, _mm256_maskz_loadu_epi32(some, column),
                                           x, 8);
}
INLINE v_i64 pick_some_i64(const uint64_t *x, const int32_t *column, int n)
{
    const __mmask8 some = (__mmask8)FIRST(n);
    return (v_i64)_mm512_mask_i32gather_epi64(_mm512_setzero_si512(), some,
                                              _mm256_maskz_loadu_epi32(some, column), x, 8);
}
INLINE v_f32 some_f32(const float *y, int n) { return (v_f32)_mm512_maskz_loadu_ps((__mmask16)FIRST(n), y); }
INLINE v_f64 some_f64(const double *y, int n) { return (v_f64)_mm512_maskz_loadu_pd((__mmask8)FIRST(n), y); }
INLINE v_i64 some_i64(const uint64_t *y, int n)
{
    return (v_i64)_mm512_maskz_loadu_epi64((__mmask8)FIRST(n), y);
}
#elif FTB_ISA == FTB_ISA_AVX2
static const int32_t first_32[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
static const int64_t first_64[8] = {-1, -1, -1, -1};
#define FIRST_32(n) _mm256_loadu_si256((const __m256i *)(first_32 + 8 - (n)))
#define HALF_32(n) _mm_loadu_si128((const __m128i *)(first_32 + 8 - (n)))
#define FIRST_64(n) _mm256_loadu_si256((const __m256i *)(first_64 + 4 - (n)))
INLINE v_f32 pick_f32(const float *x, const int32_t *column)
{
    return (v_f32)_mm256_i32gather_ps(x, _mm256_loadu_si256((const __m256i *)column), 4);
}
INLINE v_f64 pick_f64(const double *x, const int32_t *column)
{
    return (v_f64)_mm256_i32gather_pd(x, _mm_loadu_si128((const __m128i *)column), 8);
}
INLINE v_i64 pick_i64(const uint64_t *x, const int32_t *column)
{
    return (v_i64)_mm256_i32gather_epi64((const long long *)x, _mm_loadu_si128((const __m128i *)column), 8);
}
INLINE v_f32 pick_some_f32(const float *x, const int32_t *column, int n)
{
    const __m256i some = FIRST_32(n), at = _mm256_maskload_epi32(column, some);
    return (v_f32)_mm256_mask_i32gather_ps(_mm256_setzero_ps(), x, at, _mm256_castsi256_ps(some), 4);
}
INLINE v_f64 pick_some_f64(const double *x, const int32_t *column, int n)
{
    const __m128i at = _mm_maskload_epi32(column, HALF_32(n));
    return (v_f64)_mm256_mask_i32gather_pd(_mm256_setzero_pd(), x, at, _mm256_castsi256_pd(FIRST_64(n)), 8);
}
INLINE v_i64 pick_some_i64(const uint64_t *x, const int32_t *column, int n)
{
    const __m128i at = _mm_maskload_epi32(column, HALF_32(n));
    return (v_i64)_mm256_mask_i32gather_epi64(_mm256_setzero_si256(), (const long long *)x, at, FIRST_64(n),
                                              8);
}
INLINE v_f32 some_f32(const float *y, int n) { return (v_f32)_mm256_maskload_ps(y, FIRST_32(n)); }
INLINE v_f64 some_f64(const double *y, int n) { return (v_f64)_mm256_maskload_pd(y, FIRST_64(n)); }
INLINE v_i64 some_i64(const uint64_t *y, int n)
{
    return (v_i64)_mm256_maskload_epi64((const long long *)y, FIRST_64(n));
}
#else
#define PICK(suffix, T)                                                                                      \
    INLINE v_##suffix pick_some_##suffix(const T *x, const int32_t *column, int n)                           \
    {                                                                                                        \
        v_##suffix v = {0};                                                                                  \
        for (int l = 0; l < n; l++)                                                                          \
            v[l] = x[column[l]];                                                                             \
        return v;                                                                                            \
    }                                                                                                        \
    INLINE v_##suffix pick_##suffix(const T *x, const int32_t *column)                                       \
    {                                                                                                        \
        return pick_some_##suffix(x, column, LANES(T));                                                      \
    }                                                                                                        \
    INLINE v_##suffix some_##suffix(const T *y, int n)                                                       \
    {                                                                                                        \
        v_##suffix v = {0};                                                                                  \
        for (int l = 0; l < n; l++)                                                                          \
            v[l] = y[l];                                                                                     \
        return v;                                                                                            \
    }
PICK(f32, float)
PICK(f64, double)
PICK(i64, uint64_t)
#endif

/* ---- rows */

/* Lane numbers, of which the first n are those of entries. */
static _Alignas(64) const int32_t lane_k32[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static _Alignas(64) const int64_t lane_k64[] = {0, 1, 2, 3, 4, 5, 6, 7};

/* What a row's loop knows: constants but for flip, and for the form of ANY. */
typedef struct vector_case {
    bool best;
    ftb_form form;
    int flip; /* of keys: min's are turned round */
} vector_case;

/* more: the messages of as many entries as there are lanes; last: of n, the others stay as they are; whole:
 * what all lanes have, as one value. */
#define SPMV(suffix, T, k, K)                                                                                \
    INLINE v_##suffix more_##suffix(v_##suffix acc, const ftb_spmm_rows *r, vector_case c, int64_t e)        \
    {                                                                                                        \
        const T *y = r->message.y;                                                                           \
        v_##suffix x = pick_##suffix(r->x, r->colidx + e), values = {0};                                     \
        if (c.form != FTB_FORM_COPY)                                                                         \
            values = (v_##suffix) * (const u_##suffix *)(y + e);                                             \
        return gather_##suffix(acc, c.best, false, c.form, x, values, c.flip);                               \
    }                                                                                                        \
    INLINE v_##suffix last_##suffix(v_##suffix acc, const ftb_spmm_rows *r, vector_case c, int64_t e, int n) \
    {                                                                                                        \
        const T *y = r->message.y;                                                                           \
        v_##suffix x = pick_some_##suffix(r->x, r->colidx + e, n), values = {0};                             \
        v_##k in = (v_##k)(*(const v_##k *)lane_##k < n);                                                    \
        if (c.form != FTB_FORM_COPY)                                                                         \
            values = some_##suffix(y + e, n);                                                                \
        v_##k all = (v_##k)gather_##suffix(acc, c.best, false, c.form, x, values, c.flip);                   \
        return (v_##suffix)((all & in) | ((v_##k)acc & ~in));                                                \
    }                                                                                                        \
    INLINE v_##suffix join_##suffix(v_##suffix a, v_##suffix b, bool best)                                   \
    {                                                                                                        \
        return best ? (v_##suffix)greater_##k((v_##k)a, (v_##k)b) : (v_##suffix)(a + b);                     \
    }                                                                                                        \
    INLINE T whole_##suffix(v_##suffix acc, vector_case c)                                                   \
    {                                                                                                        \
        T at[LANES(T)];                                                                                      \
        K key[LANES(T)];                                                                                     \
        memcpy(at, &acc, sizeof at);                                                                         \
        memcpy(key, &acc, sizeof key);                                                                       \
        for (int half = LANES(T) / 2; half > 0; half /= 2)                                                   \
            for (int l = 0; l < half; l++)                                                                   \
                if (c.best)                                                                                  \
                    key[l] = key[l] > key[l + half] ? key[l] : key[l + half];                                \
                else                                                                                         \
                    at[l] += at[l + half];                                                                   \
        if (!c.best)                                                                                         \
            return at[0];                                                                                    \
        return value_##suffix((v_##k){0} + key[0], c.flip)[0];                                               \
    }                                                                                                        \
    INLINE T row_##suffix(const ftb_spmm_rows *r, vector_case c, int64_t e, int64_t end)                     \
    {                                                                                                        \
        enum { L = LANES(T) };                                                                               \
        v_##suffix acc[SUMS];                                                                                \
        for (int s = 0; s < SUMS; s++)                                                                       \
            acc[s] = c.best ? (v_##suffix)((v_##k){0} + LOWEST_##suffix) : (v_##suffix){0};                  \
        if (e + L <= end) {                                                                                  \
            for (; e + SUMS * L <= end; e += SUMS * L)                                                       \
                for (int s = 0; s < SUMS; s++)                                                               \
                    acc[s] = more_##suffix(acc[s], r, c, e + s * L);                                         \
            for (; e + L <= end; e += L)                                                                     \
                acc[0] = more_##suffix(acc[0], r, c, e);                                                     \
            acc[0] = join_##suffix(join_##suffix(acc[0], acc[1], c.best),                                    \
                                   join_##suffix(acc[2], acc[3], c.best), c.best);                           \
        }                                                                                                    \
        if (e < end)                                                                                         \
            acc[0] = last_##suffix(acc[0], r, c, e, (int)(end - e));                                         \
        return whole_##suffix(acc[0], c);                                                                    \
    }                                                                                                        \
    INLINE void rows_##suffix(const ftb_spmm_rows *r, bool best, ftb_form constant)                          \
    {                                                                                                        \
        const ftb_form form = constant == FTB_FORM_ANY ? r->message.form : constant;                         \
        const vector_case c = {best, form, r->message.least ? -1 : 0};                                       \
        for (int64_t t = r->first; t < r->last; t++) {                                                       \
            const int64_t i = r->rows ? r->rows[t] : t;                                                      \
            if (r->rowptr[i] < r->rowptr[i + 1])                                                             \
                ((T *)r->out)[i * r->ldo] = row_##suffix(r, c, r->rowptr[i], r->rowptr[i + 1]);              \
        }                                                                                                    \
    }
SPMV(f32, float, k32, int32_t)
SPMV(f64, double, k64, int64_t)
SPMV(i64, uint64_t, k64, int64_t)

/* Sums in the order of the entries. */
#define IN_ORDER(suffix, T)                                                                                  \
    static void ordered_##suffix(const ftb_spmm_rows *r)                                                     \
    {                                                                                                        \
        const int64_t *rows = r->rows, *rowptr = r->rowptr, ldo = r->ldo, end = r->last;                     \
        const int32_t *colidx = r->colidx;                                                                   \
        const T *x = r->x;                                                                                   \
        T *out = r->out;                                                                                     \
        for (int64_t t = r->first; t < end; t++) {                                                           \
            const int64_t i = rows ? rows[t] : t, last = rowptr[i + 1];                                      \
            int64_t e = rowptr[i];                                                                           \
            T sum = 0;                                                                                       \
            if (e == last)                                                                                   \
                continue;                                                                                    \
            for (; e < last; e++)                                                                            \
                sum += x[colidx[e]];                                                                         \
            out[i * ldo] = sum;                                                                              \
        }                                                                                                    \
    }
IN_ORDER(f32, float)
IN_ORDER(f64, double)

#define DEFINE(suffix)                                                                                       \
    static void plus_copy_##suffix(const ftb_spmm_rows *r) { rows_##suffix(r, false, FTB_FORM_COPY); }       \
    static void plus_mul_##suffix(const ftb_spmm_rows *r) { rows_##suffix(r, false, FTB_FORM_MUL); }         \
    static void plus_any_##suffix(const ftb_spmm_rows *r) { rows_##suffix(r, false, FTB_FORM_ANY); }         \
    static void best_copy_##suffix(const ftb_spmm_rows *r) { rows_##suffix(r, true, FTB_FORM_COPY); }        \
    static void best_any_##suffix(const ftb_spmm_rows *r) { rows_##suffix(r, true, FTB_FORM_ANY); }          \
    static ftb_spmm_row find_##suffix(const ftb_spmm_kind *kind)                                             \
    {                                                                                                        \
        if (kind->form == FTB_FORM_COPY)                                                                     \
            return kind->best ? best_copy_##suffix : plus_copy_##suffix;                                     \
        if (kind->best)                                                                                      \
            return best_any_##suffix;                                                                        \
        return kind->form == FTB_FORM_MUL ? plus_mul_##suffix : plus_any_##suffix;                           \
    }
DEFINE(f32)
DEFINE(f64)
DEFINE(i64)

ftb_spmm_row FTB_CELL(ftb_spmv)(const ftb_spmm_kind *kind, bool far)
{
    if (kind->form != FTB_FORM_COPY && kind->edge != FTB_EDGE_ONE)
        return NULL;
    if (far && !kind->best && kind->form == FTB_FORM_COPY && kind->type != FTB_INT64)
        return kind->type == FTB_FP32 ? ordered_f32 : ordered_f64;
    return kind->type == FTB_FP32 ? find_f32(kind) : kind->type == FTB_FP64 ? find_f64(kind) : find_i64(kind);
}

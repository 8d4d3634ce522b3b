/* Rows one by one: C(i, features) = sum over the row's entries of message(X(column, features), Y(e)).
 *
 * Accumulators stay in registers; the sources of later entries, of later rows too, are fetched early, which
 * is what hides the memory's latency: columns of consecutive rows are consecutive in CSR. Wins for patterns
 * with few entries a row, where a partition's visits would hold about one, for blocks that fit L2 anyway, and
 * for lists of rows.
 *
 * Cells: instruction sets */
#include "cpu/kernels/spmm_lanes.h"

#pragma GCC diagnostic ignored "-Wpsabi" /* vectors are passed between inlined functions only */

/* The first `count` lanes of a vector in memory; the others are 0 when loaded, and their memory is not
 * touched. */
#if FTB_ISA == FTB_ISA_AVX512
typedef __mmask16 tail;
INLINE tail tail_of(int count, size_t size)
{
    (void)size;
    return (tail)((1U << count) - 1);
}
INLINE v_f32 load_f32(const float *x, tail t) { return (v_f32)_mm512_maskz_loadu_ps(t, x); }
INLINE v_f64 load_f64(const double *x, tail t) { return (v_f64)_mm512_maskz_loadu_pd((__mmask8)t, x); }
INLINE v_i64 load_i64(const uint64_t *x, tail t) { return (v_i64)_mm512_maskz_loadu_epi64((__mmask8)t, x); }
INLINE void store_f32(float *x, tail t, v_f32 v) { _mm512_mask_storeu_ps(x, t, (__m512)v); }
INLINE void store_f64(double *x, tail t, v_f64 v) { _mm512_mask_storeu_pd(x, (__mmask8)t, (__m512d)v); }
INLINE void store_i64(uint64_t *x, tail t, v_i64 v) { _mm512_mask_storeu_epi64(x, (__mmask8)t, (__m512i)v); }
#elif FTB_ISA == FTB_ISA_AVX2
typedef __m256i tail;
INLINE tail tail_of(int count, size_t size)
{
    int32_t some[8];
    for (int l = 0; l < 8; l++)
        some[l] = l * 4 < count * (int)size ? -1 : 0;
    return _mm256_loadu_si256((__m256i *)some);
}
INLINE v_f32 load_f32(const float *x, tail t) { return (v_f32)_mm256_maskload_ps(x, t); }
INLINE v_f64 load_f64(const double *x, tail t) { return (v_f64)_mm256_maskload_pd(x, t); }
INLINE v_i64 load_i64(const uint64_t *x, tail t)
{
    return (v_i64)_mm256_maskload_epi64((const long long *)x, t);
}
INLINE void store_f32(float *x, tail t, v_f32 v) { _mm256_maskstore_ps(x, t, (__m256)v); }
INLINE void store_f64(double *x, tail t, v_f64 v) { _mm256_maskstore_pd(x, t, (__m256d)v); }
INLINE void store_i64(uint64_t *x, tail t, v_i64 v) { _mm256_maskstore_epi64((long long *)x, t, (__m256i)v); }
#else
typedef int tail;
INLINE tail tail_of(int count, size_t size)
{
    (void)size;
    return count;
}
#define TAILS(suffix, T)                                                                                     \
    INLINE v_##suffix load_##suffix(const T *x, tail t)                                                      \
    {                                                                                                        \
        v_##suffix v = {0};                                                                                  \
        for (int l = 0; l < LANES(T); l++)                                                                   \
            if (l < t)                                                                                       \
                v[l] = x[l];                                                                                 \
        return v;                                                                                            \
    }                                                                                                        \
    INLINE void store_##suffix(T *x, tail t, v_##suffix v)                                                   \
    {                                                                                                        \
        for (int l = 0; l < LANES(T); l++)                                                                   \
            if (l < t)                                                                                       \
                x[l] = v[l];                                                                                 \
    }
TAILS(f32, float)
TAILS(f64, double)
TAILS(i64, uint64_t)
#endif

INLINE void fetch_source(const char *x, int bytes)
{
    for (int line = 0; line < bytes; line += 64)
        __builtin_prefetch(x + line);
}

#define ROWS(suffix, T, k)                                                                                   \
    /* Fields of *r, which the compiler would read again after every store. */                               \
    typedef struct sources_##suffix {                                                                        \
        const T *x;                                                                                          \
        int64_t ld;                                                                                          \
        const int32_t *colidx;                                                                               \
        int64_t ahead, end; /* of all entries */                                                             \
    } sources_##suffix;                                                                                      \
    INLINE v_##suffix source_##suffix(const T *x, int n, int nv, tail some)                                  \
    {                                                                                                        \
        return n == nv - 1 ? load_##suffix(x + n * LANES(T), some)                                           \
                           : (v_##suffix) * (const u_##suffix *)(x + n * LANES(T));                          \
    }                                                                                                        \
    /* Adds the entries [e, last). */                                                                        \
    INLINE void row_##suffix(const ftb_spmm_terms *message, const sources_##suffix *from, const int64_t *at, \
                             const spread *lanes, int64_t e, int64_t last, int nv, bool best, ftb_form form, \
                             ftb_spmm_edge edge, tail some, v_##suffix *acc)                                 \
    {                                                                                                        \
        const T *y = (const T *)message->y + e * message->ldy;                                               \
        const int flip = message->least ? -1 : 0;                                                            \
        for (; e < last; e++) {                                                                              \
            const T *x = from->x + from->colidx[e] * from->ld;                                               \
            v_##suffix all = {0};                                                                            \
            if (from->ahead > 0) {                                                                           \
                int64_t soon = ftb_min(e + from->ahead, from->end - 1);                                      \
                fetch_source((const char *)(from->x + from->colidx[soon] * from->ld), nv *VECTOR);           \
            }                                                                                                \
            if (edge == FTB_EDGE_ONE)                                                                        \
                all = splat_##suffix(*y);                                                                    \
            for (int n = 0; n < nv; n++)                                                                     \
                acc[n] = gather_##suffix(                                                                    \
                    acc[n], best, false, form, source_##suffix(x, n, nv, some),                              \
                    edge > FTB_EDGE_ONE ? value_of_##suffix(edge, y, at, lanes, n) : all, flip);             \
            if (edge != FTB_EDGE_NONE)                                                                       \
                y += message->ldy;                                                                           \
        }                                                                                                    \
    }                                                                                                        \
    INLINE void rows_##suffix(const ftb_spmm_rows *r, int nv, bool best, ftb_form constant,                  \
                              ftb_spmm_edge edge)                                                            \
    {                                                                                                        \
        const ftb_form form = constant == FTB_FORM_ANY ? r->message.form : constant;                         \
        const sources_##suffix from = {r->x, r->ldx, r->colidx, r->ahead, r->nvals};                         \
        const tail some = tail_of(r->tail, sizeof(T));                                                       \
        const int flip = r->message.least ? -1 : 0;                                                          \
        const int64_t *rows = r->rows, *rowptr = r->rowptr, ldo = r->ldo, end = r->last;                     \
        T *outs = r->out;                                                                                    \
        spread lanes[FTB_SPMM_VECTORS];                                                                      \
        int64_t at[FTB_SPMM_VECTORS];                                                                        \
        for (int n = 0; n < nv && edge > FTB_EDGE_ONE; n++) {                                                \
            at[n] = r->message.window[n].first;                                                              \
            lanes[n] = spread_of(&r->message.window[n], sizeof(T));                                          \
        }                                                                                                    \
        for (int64_t t = r->first; t < end; t++) {                                                           \
            const int64_t i = rows ? rows[t] : t, first = rowptr[i], last = rowptr[i + 1];                   \
            T *out = outs + i * ldo;                                                                         \
            v_##suffix acc[FTB_SPMM_VECTORS];                                                                \
            if (first == last)                                                                               \
                continue;                                                                                    \
            for (int n = 0; n < nv; n++)                                                                     \
                acc[n] = best ? (v_##suffix)((v_##k){0} + LOWEST_##suffix) : (v_##suffix){0};                \
            row_##suffix(&r->message, &from, at, lanes, first, last, nv, best, form, edge, some, acc);       \
            for (int n = 0; n < nv; n++) {                                                                   \
                v_##suffix sum = best ? value_##suffix((v_##k)acc[n], flip) : acc[n];                        \
                if (n < nv - 1)                                                                              \
                    *(u_##suffix *)(out + n * LANES(T)) = sum;                                               \
                else                                                                                         \
                    store_##suffix(out + n * LANES(T), some, sum);                                           \
            }                                                                                                \
        }                                                                                                    \
    }
ROWS(f32, float, k32)
ROWS(f64, double, k64)
ROWS(i64, uint64_t, k64)

#define ONE(name, suffix, best, form, edge, vectors)                                                         \
    static void name##_##vectors(const ftb_spmm_rows *r) { rows_##suffix(r, vectors, best, form, edge); }
#define DEFINE(name, suffix, type, best, form, edge) FTB_SPMM_COUNTS(ONE, name, suffix, best, form, edge)
FTB_SPMM_KERNELS(DEFINE)

#define ENTRY(name, vectors) [vectors] = name##_##vectors,
#define ROW(name, suffix, type, best, form, edge) {FTB_SPMM_COUNTS(ENTRY, name)},
ftb_spmm_row FTB_CELL(ftb_spmm_direct)(int which, int vectors)
{
    static const ftb_spmm_row registry[][FTB_SPMM_VECTORS + 1] = {FTB_SPMM_KERNELS(ROW)};
    return registry[which][vectors];
}

int FTB_CELL(ftb_spmm_lanes)(FtB_Type type) { return type == FTB_FP32 ? LANES(float) : LANES(double); }

/* Sparse x vector: C(i) = sum over the entries e = (i, k) of X(k) * Y(e), or of X(k).
 *
 * One feature leaves a vector's other lanes idle, so lanes take entries instead: 4 vectors of them at a time,
 * each with a sum of its own, X gathered by columns. Limits: columns (and values) stream from memory, and a
 * gather takes about half a cycle an entry from L2. Sums are taken in another order than by the kernels of
 * more features, the same for any threads.
 *
 * Cells: instruction sets */
#include "cpu/kernels/spmm_lanes.h"

#pragma GCC diagnostic ignored "-Wpsabi" /* vectors are passed between inlined functions only */
/* Without optimisation gathers are macros of the compiler's header that convert signs. */
#pragma GCC diagnostic ignored "-Wsign-conversion"

#define SUMS 4

#if FTB_ISA == FTB_ISA_AVX512
INLINE v_f32 pick_f32(const float *x, const int32_t *column)
{
    return (v_f32)_mm512_i32gather_ps(_mm512_loadu_si512(column), x, 4);
}
INLINE v_f64 pick_f64(const double *x, const int32_t *column)
{
    return (v_f64)_mm512_i32gather_pd(_mm256_loadu_si256((const __m256i *)column), x, 8);
}
#elif FTB_ISA == FTB_ISA_AVX2
INLINE v_f32 pick_f32(const float *x, const int32_t *column)
{
    return (v_f32)_mm256_i32gather_ps(x, _mm256_loadu_si256((const __m256i *)column), 4);
}
INLINE v_f64 pick_f64(const double *x, const int32_t *column)
{
    return (v_f64)_mm256_i32gather_pd(x, _mm_loadu_si128((const __m128i *)column), 8);
}
#else
INLINE v_f32 pick_f32(const float *x, const int32_t *column)
{
    return (v_f32){x[column[0]], x[column[1]], x[column[2]], x[column[3]]};
}
INLINE v_f64 pick_f64(const double *x, const int32_t *column) { return (v_f64){x[column[0]], x[column[1]]}; }
#endif

#define SPMV(suffix, T)                                                                                      \
    INLINE v_##suffix add_##suffix(v_##suffix sum, const T *x, const T *y, const int32_t *columns,           \
                                   int64_t e, bool weighted)                                                 \
    {                                                                                                        \
        v_##suffix values = pick_##suffix(x, columns + e);                                                   \
        if (weighted)                                                                                        \
            return madd_##suffix(values, (v_##suffix) * (const u_##suffix *)(y + e), sum);                   \
        return (v_##suffix)(sum + values);                                                                   \
    }                                                                                                        \
    INLINE T row_##suffix(const ftb_spmm_rows *r, int64_t e, int64_t end, bool weighted)                     \
    {                                                                                                        \
        enum { L = LANES(T) };                                                                               \
        const int32_t *columns = r->colidx;                                                                  \
        const T *x = r->x, *y = r->message.y;                                                                \
        v_##suffix sums[SUMS] = {{0}};                                                                       \
        T sum = 0;                                                                                           \
        if (e + L <= end) {                                                                                  \
            for (; e + SUMS * L <= end; e += SUMS * L)                                                       \
                for (int s = 0; s < SUMS; s++)                                                               \
                    sums[s] = add_##suffix(sums[s], x, y, columns, e + s * L, weighted);                     \
            for (; e + L <= end; e += L)                                                                     \
                sums[0] = add_##suffix(sums[0], x, y, columns, e, weighted);                                 \
            sums[0] = (sums[0] + sums[1]) + (sums[2] + sums[3]);                                             \
            for (int l = 0; l < L; l++)                                                                      \
                sum += sums[0][l];                                                                           \
        }                                                                                                    \
        for (; e < end; e++)                                                                                 \
            sum += weighted ? x[columns[e]] * y[e] : x[columns[e]];                                          \
        return sum;                                                                                          \
    }                                                                                                        \
    INLINE void rows_##suffix(const ftb_spmm_rows *r, bool weighted)                                         \
    {                                                                                                        \
        for (int64_t t = r->first; t < r->last; t++) {                                                       \
            const int64_t i = r->rows ? r->rows[t] : t;                                                      \
            if (r->rowptr[i] < r->rowptr[i + 1])                                                             \
                ((T *)r->out)[i * r->ldo] = row_##suffix(r, r->rowptr[i], r->rowptr[i + 1], weighted);       \
        }                                                                                                    \
    }                                                                                                        \
    static void copy_##suffix(const ftb_spmm_rows *r) { rows_##suffix(r, false); }                           \
    static void mul_##suffix(const ftb_spmm_rows *r) { rows_##suffix(r, true); }
SPMV(f32, float)
SPMV(f64, double)

ftb_spmm_row FTB_CELL(ftb_spmv)(const ftb_spmm_kind *kind)
{
    bool weighted = kind->form == FTB_FORM_MUL && kind->edge == FTB_EDGE_ONE;
    if (kind->best || kind->type == FTB_INT64 || (!weighted && kind->form != FTB_FORM_COPY))
        return NULL;
    return kind->type == FTB_FP32 ? (weighted ? mul_f32 : copy_f32) : (weighted ? mul_f64 : copy_f64);
}

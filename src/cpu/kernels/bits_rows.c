/* Rows of levels and parents, of a search's log (column_bits.h). Neighbours u of v are its parents in the
 * columns in which
 *
 *     number(v) >= 2  and  number(u) == number(v) - 1
 *
 * which is 64 comparisons in a dozen operations on words. The least neighbour is taken: once all columns have
 * one, no other is looked at. A row is written once, and whole, where everything about it is known.
 *
 * Cells: instruction sets */
#include "cpu/kernels/column_bits.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))
#define LINE 64  /* bytes */
#define AHEAD 32 /* entries whose numbers are fetched early */

/* ---- numbers */

INLINE uint64_t from_two(const ftb_bits_number *n) { return n->digit[1] | n->digit[2] | n->digit[3]; }

/* A number less; of 0 the highest. */
INLINE ftb_bits_number before(const ftb_bits_number *n)
{
    ftb_bits_number less;
    uint64_t borrow = ~UINT64_C(0);
    for (int d = 0; d < FTB_BITS_DIGITS; d++) {
        less.digit[d] = n->digit[d] ^ borrow;
        borrow &= ~n->digit[d];
    }
    return less;
}

INLINE uint64_t equal(const ftb_bits_number *a, const ftb_bits_number *b)
{
    uint64_t differ = 0;
    for (int d = 0; d < FTB_BITS_DIGITS; d++)
        differ |= a->digit[d] ^ b->digit[d];
    return ~differ;
}

#if FTB_ISA != FTB_ISA_AVX512
/* Numbers of columns c to c + 7, a byte each. */
INLINE uint64_t bytes_of(const ftb_bits_number *n, int c)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), own = UINT64_C(0x8040201008040201);
    uint64_t bytes = 0;
    for (int d = 0; d < FTB_BITS_DIGITS; d++) {
        const uint64_t bit = (n->digit[d] >> c & 0xff) * ones & own; /* of each byte its own, or none */
        bytes |= ((bit + 0x7f * ones) >> 7 & ones) << d;
    }
    return bytes;
}
#endif

/* ---- a row, beside the place that it goes to */

typedef union row {
    _Alignas(LINE) int32_t few[64];
    int64_t wide[64];
} row;

#if FTB_ISA == FTB_ISA_AVX512
INLINE void levels_few(row *r, const ftb_bits_rows *x, const ftb_bits_number *n)
{
    const __m512i level = _mm512_load_si512(x->level.few);
    for (int c = 0; c < 64; c += 16) {
        __m512i at = _mm512_setzero_si512();
        for (int d = 0; d < FTB_BITS_DIGITS; d++)
            at = _mm512_mask_or_epi32(at, (__mmask16)(n->digit[d] >> c), at, _mm512_set1_epi32(1 << d));
        _mm512_store_si512(r->few + c, _mm512_permutexvar_epi32(at, level));
    }
}
#elif FTB_ISA == FTB_ISA_AVX2
INLINE void levels_few(row *r, const ftb_bits_rows *x, const ftb_bits_number *n)
{
    const __m256i low = _mm256_load_si256((const __m256i *)x->level.few),
                  high = _mm256_load_si256((const __m256i *)(x->level.few + 8));
    for (int c = 0; c < 64; c += 8) {
        const __m256i at = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)bytes_of(n, c)));
        const __m256 a = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(low, at)),
                     b = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(high, at)),
                     is_high = _mm256_castsi256_ps(_mm256_slli_epi32(at, 28));
        _mm256_store_ps((float *)(r->few + c), _mm256_blendv_ps(a, b, is_high));
    }
}
#else
INLINE void levels_few(row *r, const ftb_bits_rows *x, const ftb_bits_number *n)
{
    for (int c = 0; c < 64; c += 8) {
        const uint64_t at = bytes_of(n, c);
        for (int t = 0; t < 8; t++)
            r->few[c + t] = x->level.few[at >> 8 * t & 0xff];
    }
}
#endif

#if FTB_ISA == FTB_ISA_AVX512
INLINE void levels_wide(row *r, const ftb_bits_rows *x, const ftb_bits_number *n)
{
    const __m512i low = _mm512_load_si512(x->level.wide), high = _mm512_load_si512(x->level.wide + 8);
    for (int c = 0; c < 64; c += 8) {
        __m512i at = _mm512_setzero_si512();
        for (int d = 0; d < FTB_BITS_DIGITS; d++)
            at = _mm512_mask_or_epi64(at, (__mmask8)(n->digit[d] >> c), at, _mm512_set1_epi64(1 << d));
        _mm512_store_si512(r->wide + c, _mm512_permutex2var_epi64(low, at, high));
    }
}
#else
INLINE void levels_wide(row *r, const ftb_bits_rows *x, const ftb_bits_number *n)
{
    for (int c = 0; c < 64; c += 8) {
        const uint64_t at = bytes_of(n, c);
        for (int t = 0; t < 8; t++)
            r->wide[c + t] = x->level.wide[at >> 8 * t & 0xff];
    }
}
#endif

INLINE void put(row *r, uint64_t columns, int64_t value)
{
#if FTB_ISA == FTB_ISA_AVX512
    const __m512i all = _mm512_set1_epi64(value);
    for (int c = 0; c < 64; c += 8)
        _mm512_mask_store_epi64(r->wide + c, (__mmask8)(columns >> c), all);
#else
    for (; columns; columns &= columns - 1)
        r->wide[__builtin_ctzll(columns)] = value;
#endif
}

/* The least neighbour, in the columns that are wanted. */
INLINE void parents_of(row *r, const ftb_bits_rows *x, int64_t v, uint64_t want)
{
    const ftb_bits_number last = before(&x->log[v]);
    const int64_t end = x->p->rowptr[v + 1];
    for (int64_t e = x->p->rowptr[v]; e < end && want; e++) {
        const int64_t u = ftb_col(x->p, e);
        if (e + AHEAD < x->p->nvals)
            __builtin_prefetch(&x->log[ftb_col(x->p, e + AHEAD)]);
        const uint64_t are = want & equal(&x->log[u], &last);
        if (are)
            put(r, are, u);
        want &= ~are;
    }
}

/* ---- where it goes to */

/* Lines, past the caches: nobody reads them soon. */
INLINE void write_aside(char *to, const char *from, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += LINE) {
#if FTB_ISA == FTB_ISA_AVX512
        _mm512_stream_si512((void *)(to + at), _mm512_load_si512(from + at));
#elif FTB_ISA == FTB_ISA_AVX2
        _mm256_stream_si256((void *)(to + at), _mm256_load_si256((const void *)(from + at)));
        _mm256_stream_si256((void *)(to + at + 32), _mm256_load_si256((const void *)(from + at + 32)));
#elif defined(__x86_64__)
        for (size_t s = 0; s < LINE; s += 16)
            _mm_stream_si128((void *)(to + at + s), _mm_load_si128((const void *)(from + at + s)));
#else
        memcpy(to + at, from + at, LINE);
#endif
    }
}

INLINE void write_row(void *to, const row *r, const ftb_bits_rows *x, uint64_t columns, int size)
{
    const size_t bytes = (size_t)__builtin_popcountll(x->all) * (size_t)size;
    if (columns != x->all) {
        for (; columns; columns &= columns - 1) {
            const int c = __builtin_ctzll(columns);
            memcpy((char *)to + c * size, (const char *)r + c * size, (size_t)size);
        }
    } else if (x->aside) {
        write_aside(to, (const char *)r, bytes);
    } else {
        memcpy(to, r, bytes);
    }
}

INLINE void write_levels(const ftb_bits_rows *x, int64_t v, uint64_t columns)
{
    char *to = (char *)x->levels + (size_t)(v * x->ld) * (size_t)x->size;
    row r;
    if (x->size == 4)
        levels_few(&r, x, &x->log[v]);
    else
        levels_wide(&r, x, &x->log[v]);
    if (x->size == 4)
        write_row(to, &r, x, columns, 4);
    else
        write_row(to, &r, x, columns, 8);
}

INLINE void write_parents(const ftb_bits_rows *x, int64_t v, uint64_t columns, uint64_t want)
{
    const ftb_bits_number *n = &x->log[v];
    row r;
    if (columns != want) {
        put(&r, columns, -1);
        put(&r, n->digit[0] & ~want, v);
    }
    parents_of(&r, x, v, want);
    write_row(x->parents + v * x->ldp, &r, x, columns, 8);
}

void FTB_CELL(ftb_bits_rows_write)(const ftb_bits_rows *x, int64_t begin, int64_t end)
{
    for (int64_t v = begin; v < end; v++) {
        const uint64_t want = from_two(&x->log[v]), columns = x->blank ? x->all : want;
        if (!columns)
            continue;
        write_levels(x, v, columns);
        if (x->parents)
            write_parents(x, v, columns, want);
    }
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

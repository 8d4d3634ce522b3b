/* C(i,:) = sum over k of message(A(i,k), B(k,:)), added into a row accumulator
 * (cpu/kernels/spgemm_kernels.h).
 *
 * Wins over merging and sorting when rows collide often (projections: tens of products per entry). The
 * limit is one read-modify-write per product; measured 1.4 cycles on a Sapphire Rapids core with 16-bit
 * ids, against 1.9 without the prefetch of the lists ahead: each list starts at an unpredictable place,
 * which the hardware does not fetch early.
 *
 * Cells: instruction sets */
#include "cpu/kernels/spgemm_kernels.h"

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

#define AHEAD 8 /* lists; 4 to 16 measure the same */
#define PREFETCH_LINES 3
#define UNROLL 4
#define INLINE static inline __attribute__((always_inline))

#pragma GCC diagnostic ignored "-Wpsabi" /* wide cells are passed between inlined functions only */

INLINE bool cell_empty(const void *acc, FtB_Type cell, int64_t at)
{
    if (cell != FTB_FP32 && cell != FTB_UINT32) {
        uint64_t bits;
        memcpy(&bits, (const uint64_t *)acc + at, sizeof bits);
        return bits == (cell == FTB_FP64 ? UINT64_C(1) << 63 : 0);
    }
    uint32_t bits;
    memcpy(&bits, (const uint32_t *)acc + at, sizeof bits);
    return bits == (cell == FTB_FP32 ? UINT32_C(1) << 31 : 0);
}

/* The cell of right entry e. LIST notes it if it was empty. */
INLINE int64_t locate_cell(const ftb_spgemm *p, ftb_row *row, FtB_Type cell, int64_t cell_width, bool id16,
                           ftb_spgemm_locate locate, int64_t e)
{
    uint32_t at = id16 ? ((const uint16_t *)p->bid)[e] : ((const uint32_t *)p->bid)[e];
    if (locate == FTB_LOCATE_SLOT)
        at = row->slot[at];
    if (locate == FTB_LOCATE_HASH)
        at = ftb_bucket_of(row, at);
    if (locate == FTB_LOCATE_LIST) {
        row->list[row->count] = at;
        row->count += cell_empty(row->acc, cell, at * cell_width);
    }
    return at;
}

/* Adds right entry e, scaled or translated by the left value; never -0.0, see ftb_row. */
INLINE void add_one(const ftb_spgemm *p, ftb_row *row, ftb_spgemm_kind message, FtB_Type cell, bool id16,
                    ftb_spgemm_locate locate, float a4, double a8, const void *table, int64_t e)
{
    void *acc = row->acc;
    int64_t at = locate_cell(p, row, cell, 1, id16, locate, e);
    if (message == FTB_MESSAGE_PAIR)
        ((uint32_t *)acc)[at]++;
    else if (message == FTB_MESSAGE_TIMES && cell == FTB_FP32)
        ((float *)acc)[at] += a4 * ((const float *)p->bval)[e] + 0.0f;
    else if (message == FTB_MESSAGE_TIMES)
        ((double *)acc)[at] += a8 * ((const double *)p->bval)[e] + 0.0;
    else if (cell == FTB_FP32)
        ((float *)acc)[at] += ((const float *)table)[((const uint8_t *)p->bval)[e]];
    else if (cell == FTB_UINT64)
        ((uint64_t *)acc)[at] += ((const uint64_t *)table)[((const uint8_t *)p->bval)[e]];
    else
        ((double *)acc)[at] += ((const double *)table)[((const uint8_t *)p->bval)[e]];
}

/* Adds entries [first, last) of the right operand. */
INLINE void add_segment(const ftb_spgemm *p, ftb_row *row, ftb_spgemm_kind message, FtB_Type cell, bool id16,
                        ftb_spgemm_locate locate, int64_t x, int64_t first, int64_t last)
{
    int64_t at_a = p->aperm ? p->aperm[x] : x;
    float a4 = 1;
    double a8 = 1;
    const void *table = NULL;
    if (message == FTB_MESSAGE_TIMES && p->aval && cell == FTB_FP32)
        a4 = ((const float *)p->aval)[at_a];
    if (message == FTB_MESSAGE_TIMES && p->aval && cell == FTB_FP64)
        a8 = ((const double *)p->aval)[at_a];
    if (message == FTB_MESSAGE_TABLE)
        table = (const char *)p->table +
                ((const uint8_t *)p->aval)[at_a] * p->table_row * (cell == FTB_FP32 ? 4 : 8);
    int64_t e = first;
    for (; e + UNROLL <= last; e += UNROLL)
        for (int t = 0; t < UNROLL; t++)
            add_one(p, row, message, cell, id16, locate, a4, a8, table, e + t);
    for (; e < last; e++)
        add_one(p, row, message, cell, id16, locate, a4, a8, table, e);
}

#define WIDE(name, type, bytes) typedef type name __attribute__((vector_size(bytes), aligned(4), may_alias))
WIDE(f32x2, float, 8);
WIDE(f32x4, float, 16);
WIDE(f32x8, float, 32);
WIDE(f64x2, double, 16);
WIDE(f64x4, double, 32);
WIDE(f64x8, double, 64);
WIDE(u64x2, uint64_t, 16);

/* cell += message, several values at once. */
INLINE void add_wide(void *cell, const void *message, FtB_Type type, int64_t width)
{
    if (type == FTB_FP32 && width == 2)
        *(f32x2 *)cell += *(const f32x2 *)message;
    else if (type == FTB_FP32 && width == 4)
        *(f32x4 *)cell += *(const f32x4 *)message;
    else if (type == FTB_FP32)
        *(f32x8 *)cell += *(const f32x8 *)message;
    else if (type == FTB_UINT64)
        *(u64x2 *)cell += *(const u64x2 *)message;
    else if (width == 2)
        *(f64x2 *)cell += *(const f64x2 *)message;
    else if (width == 4)
        *(f64x4 *)cell += *(const f64x4 *)message;
    else
        *(f64x8 *)cell += *(const f64x8 *)message;
}

/* The same for cells of 2, 4 or 8 values from a table. The operand's arrays are read through pointers of this
 * function's own: stores of wide cells may alias those in *p, which would be loaded again for every entry. */
INLINE void add_segment_wide(const ftb_spgemm *p, ftb_row *row, FtB_Type cell, int64_t cell_width, bool id16,
                             ftb_spgemm_locate locate, int64_t x, int64_t first, int64_t last)
{
    const int64_t at_a = p->aperm ? p->aperm[x] : x, entry = cell_width * (cell == FTB_FP32 ? 4 : 8);
    const char *table =
        (const char *)p->table + ((const uint8_t *)p->aval)[at_a] * p->table_row * (cell == FTB_FP32 ? 4 : 8);
    const ftb_spgemm ids = {.bid = p->bid};
    const uint8_t *code = p->bval;
    char *acc = row->acc;
    int64_t e = first;
    for (; e + UNROLL <= last; e += UNROLL)
        for (int t = 0; t < UNROLL; t++) {
            int64_t at = locate_cell(&ids, row, cell, cell_width, id16, locate, e + t);
            add_wide(acc + at * entry, table + code[e + t] * entry, cell, cell_width);
        }
    for (; e < last; e++) {
        int64_t at = locate_cell(&ids, row, cell, cell_width, id16, locate, e);
        add_wide(acc + at * entry, table + code[e] * entry, cell, cell_width);
    }
}

INLINE void prefetch_list(const ftb_spgemm *p, bool id16, int64_t x, int64_t value_size)
{
    int64_t first = ftb_spgemm_first(p, x);
    const char *ids = (const char *)p->bid + first * (id16 ? 2 : 4);
    for (int line = 0; line < PREFETCH_LINES; line++)
        __builtin_prefetch(ids + 64 * line);
    if (value_size == 0)
        return;
    const char *values = (const char *)p->bval + first * value_size;
    for (int line = 0; line < (value_size == 1 ? 2 : PREFETCH_LINES); line++)
        __builtin_prefetch(values + 64 * line);
}

INLINE void add_row(const ftb_spgemm *p, int64_t x0, int64_t x1, ftb_row *row, ftb_spgemm_kind message,
                    FtB_Type cell, int64_t cell_width, bool id16, ftb_spgemm_locate locate)
{
    int64_t value_size = message == FTB_MESSAGE_PAIR    ? 0
                         : message == FTB_MESSAGE_TABLE ? 1
                         : cell == FTB_FP32             ? 4
                                                        : 8;
    for (int64_t x = x0; x < x1; x++) {
        if (x + AHEAD < x1)
            prefetch_list(p, id16, x + AHEAD, value_size);
        int64_t first = ftb_spgemm_first(p, x), last = ftb_spgemm_last(p, x);
        if (cell_width == 1)
            add_segment(p, row, message, cell, id16, locate, x, first, last);
        else
            add_segment_wide(p, row, cell, cell_width, id16, locate, x, first, last);
    }
}

#define ONE(name, message, cell, width, bits, locate)                                                        \
    static void name##_id##bits##_##locate(const ftb_spgemm *p, int64_t x0, int64_t x1, ftb_row *row)        \
    {                                                                                                        \
        add_row(p, x0, x1, row, message, cell, width, (bits) == 16, FTB_LOCATE_##locate);                    \
    }
#define EACH_LOCATE(Y, name, message, cell, width, bits)                                                     \
    Y(name, message, cell, width, bits, DENSE)                                                               \
    Y(name, message, cell, width, bits, LIST)                                                                \
    Y(name, message, cell, width, bits, HASH)                                                                \
    Y(name, message, cell, width, bits, SLOT)
#define DEFINE(name, message, cell, width)                                                                   \
    EACH_LOCATE(ONE, name, message, cell, width, 16)                                                         \
    EACH_LOCATE(ONE, name, message, cell, width, 32)
FTB_SPGEMM_KERNELS(DEFINE)

#define ENTRY(name, message, cell, width, bits, locate) [FTB_LOCATE_##locate] = name##_id##bits##_##locate,
#define ROW(name, message, cell, width)                                                                      \
    {message,                                                                                                \
     cell,                                                                                                   \
     width,                                                                                                  \
     {{EACH_LOCATE(ENTRY, name, message, cell, width, 32)},                                                  \
      {EACH_LOCATE(ENTRY, name, message, cell, width, 16)}}},

ftb_spgemm_kernel FTB_CELL(ftb_spgemm_pick)(const ftb_spgemm *p, ftb_spgemm_locate locate)
{
    static const struct {
        ftb_spgemm_kind message;
        FtB_Type cell;
        int64_t cell_width;
        ftb_spgemm_kernel kernel[2][FTB_NLOCATE];
    } registry[] = {FTB_SPGEMM_KERNELS(ROW)};
    for (size_t r = 0; r < sizeof registry / sizeof registry[0]; r++)
        if (registry[r].message == p->message && registry[r].cell == p->cell &&
            registry[r].cell_width == p->cell_width)
            return registry[r].kernel[p->id16][locate];
    return NULL;
}

/* 64 cells of 4 bytes at once. */
INLINE uint64_t presence_of_64(const uint32_t *acc, uint32_t empty)
{
    uint64_t word = 0;
#if defined(__AVX512F__)
    for (int g = 0; g < 4; g++)
        word |= (uint64_t)_mm512_cmpneq_epi32_mask(_mm512_loadu_si512(acc + 16 * g),
                                                   _mm512_set1_epi32((int)empty))
                << (16 * g);
#elif defined(__AVX2__)
    for (int g = 0; g < 8; g++) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(acc + 8 * g));
        __m256i same = _mm256_cmpeq_epi32(v, _mm256_set1_epi32((int)empty));
        word |= (uint64_t)(~(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(same)) & 0xffu) << (8 * g);
    }
#else
    for (int b = 0; b < 64; b++)
        word |= (uint64_t)(acc[b] != empty) << b;
#endif
    return word;
}

/* 64 packed cells of two words at once: whether the first is not 0. */
INLINE uint64_t presence_of_64_pairs(const uint64_t *acc)
{
    uint64_t word = 0;
#if defined(__AVX512F__)
    const __m512i firsts = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    for (int g = 0; g < 8; g++) {
        __m512i x = _mm512_permutex2var_epi64(_mm512_loadu_si512(acc + 16 * g), firsts,
                                              _mm512_loadu_si512(acc + 16 * g + 8));
        word |= (uint64_t)_mm512_test_epi64_mask(x, x) << (8 * g);
    }
#else
    for (int b = 0; b < 64; b++)
        word |= (uint64_t)(acc[2 * b] != 0) << b;
#endif
    return word;
}

void FTB_CELL(ftb_spgemm_presence)(const ftb_spgemm *p, const void *acc, int64_t ncells, uint64_t *words)
{
    int64_t nwords = (ncells + 63) / 64;
    if (p->cell_width == 2 && p->cell == FTB_UINT64) {
        for (int64_t w = 0; w < nwords; w++)
            words[w] = presence_of_64_pairs((const uint64_t *)acc + 128 * w);
        return;
    }
    if (p->cell_width == 1 && (p->cell == FTB_FP32 || p->cell == FTB_UINT32)) {
        uint32_t empty = p->cell == FTB_FP32 ? UINT32_C(1) << 31 : 0;
        for (int64_t w = 0; w < nwords; w++)
            words[w] = presence_of_64((const uint32_t *)acc + 64 * w, empty);
        return;
    }
    for (int64_t w = 0; w < nwords; w++) {
        uint64_t word = 0;
        for (int64_t b = 0; b < 64; b++)
            word |= (uint64_t)!cell_empty(acc, p->cell, (64 * w + b) * p->cell_width) << b;
        words[w] = word;
    }
}

void FTB_CELL(ftb_spgemm_count)(const uint32_t *acc, int64_t n, ftb_spgemm_counts *counts)
{
    uint32_t nvals = 0, least = UINT32_MAX, most = 0;
    uint64_t sum = 0;
    for (int64_t t = 0; t < n; t++) { /* a zero less one is the largest number: it is never the least */
        nvals += acc[t] != 0;
        sum += acc[t];
        least = acc[t] - 1 < least ? acc[t] - 1 : least;
        most = acc[t] > most ? acc[t] : most;
    }
    *counts = (ftb_spgemm_counts){nvals, sum, least + 1, most};
}

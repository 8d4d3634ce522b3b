/* y(r, f) = reduction over the entries e of row r of x(e, f): segment reduce.
 *
 * Entries of 1, 2, 4, 8 or 16 values without gaps are one stream over LANES accumulators, lane l being of
 * value l % width; the lanes are then folded in halves. Other widths go in chunks of 64, 16, 8, 4, 2 and 1
 * values, each with a chain of its own. After BATCH steps the accumulators are folded into a total, so that
 * sums of long rows round in two levels. Lanes and chunks are the same for every instruction set, and so are
 * bits.
 *
 * Cells: instruction sets */
#include "cpu/kernels/reduce_rows.h"

#define LANES 16
#define BATCH 256 /* steps; 4096 values of the stream */

/* Short loops of constant length stay loops until they are vectorised. */
#define SIMD _Pragma("omp simd")
#define INLINE static inline __attribute__((always_inline))

/* Of ANY: each row's first entry, of values of so many bytes. */
static void first_entries(char *restrict out, const ftb_segments *s, size_t size)
{
    const size_t bytes = (size_t)s->width * size;
    for (int64_t r = 0; r < s->nrows; r++, out += bytes) {
        const int64_t count = s->start ? s->start[r + 1] - s->start[r] : s->count;
        const int64_t at = s->start ? (s->start[r] - s->start[0]) * s->ld : r * s->step;
        if (count > 0)
            memcpy(out, (const char *)s->x + (size_t)at * size, bytes);
    }
}

/* The kernel of one monoid and type. `combine` is over x and y. */
#define KERNEL(id, name, type, combine)                                                                      \
    INLINE type name##_join(type x, type y)                                                                  \
    {                                                                                                        \
        typedef type T;                                                                                      \
        (void)x;                                                                                             \
        (void)y;                                                                                             \
        return (T)(combine);                                                                                 \
    }                                                                                                        \
    /* count <= BATCH * LANES values, of which `width` lanes remain */                                       \
    INLINE void name##_lanes(type *restrict out, const type *restrict x, int64_t count, int64_t width)       \
    {                                                                                                        \
        type lane[LANES];                                                                                    \
        int64_t v = LANES;                                                                                   \
        if (count < 2 * LANES) {                                                                             \
            for (int64_t f = 0; f < width; f++)                                                              \
                out[f] = x[f];                                                                               \
            for (int64_t w = width; w < count; w += width)                                                   \
                for (int64_t f = 0; f < width; f++)                                                          \
                    out[f] = name##_join(out[f], x[w + f]);                                                  \
            return;                                                                                          \
        }                                                                                                    \
        SIMD for (int64_t l = 0; l < LANES; l++) lane[l] = x[l];                                             \
        for (; v + LANES <= count; v += LANES)                                                               \
            SIMD for (int64_t l = 0; l < LANES; l++) lane[l] = name##_join(lane[l], x[v + l]);               \
        for (int64_t l = 0; v + l < count; l++)                                                              \
            lane[l] = name##_join(lane[l], x[v + l]);                                                        \
        for (int64_t half = LANES / 2; half >= width; half /= 2)                                             \
            SIMD for (int64_t l = 0; l < half; l++) lane[l] = name##_join(lane[l], lane[half + l]);          \
        for (int64_t f = 0; f < width; f++)                                                                  \
            out[f] = lane[f];                                                                                \
    }                                                                                                        \
    INLINE void name##_stream(type *restrict out, const type *restrict x, int64_t count, int64_t width)      \
    {                                                                                                        \
        type part[LANES];                                                                                    \
        name##_lanes(out, x, ftb_min(count, BATCH *LANES), width);                                           \
        for (int64_t v = BATCH * LANES; v < count; v += BATCH * LANES) {                                     \
            name##_lanes(part, x + v, ftb_min(count - v, BATCH * LANES), width);                             \
            for (int64_t f = 0; f < width; f++)                                                              \
                out[f] = name##_join(out[f], part[f]);                                                       \
        }                                                                                                    \
    }                                                                                                        \
    /* `chunk` values of `count` entries */                                                                  \
    INLINE void name##_chunk(type *restrict out, const type *restrict x, int64_t count, int64_t ld,          \
                             int64_t chunk)                                                                  \
    {                                                                                                        \
        for (int64_t first = 0; first < count; first += BATCH) {                                             \
            type sum[64];                                                                                    \
            int64_t end = ftb_min(count, first + BATCH);                                                     \
            SIMD for (int64_t f = 0; f < chunk; f++) sum[f] = x[first * ld + f];                             \
            for (int64_t e = first + 1; e < end; e++)                                                        \
                SIMD for (int64_t f = 0; f < chunk; f++) sum[f] = name##_join(sum[f], x[e * ld + f]);        \
            SIMD for (int64_t f = 0; f < chunk; f++) out[f] = first ? name##_join(out[f], sum[f]) : sum[f];  \
        }                                                                                                    \
    }                                                                                                        \
    static void name##_wide(type *restrict out, const type *restrict x, int64_t count, int64_t width,        \
                            int64_t ld)                                                                      \
    {                                                                                                        \
        int64_t f = 0;                                                                                       \
        for (; f + 64 <= width; f += 64)                                                                     \
            name##_chunk(out + f, x + f, count, ld, 64);                                                     \
        for (; f + 16 <= width; f += 16)                                                                     \
            name##_chunk(out + f, x + f, count, ld, 16);                                                     \
        if (f + 8 <= width) {                                                                                \
            name##_chunk(out + f, x + f, count, ld, 8);                                                      \
            f += 8;                                                                                          \
        }                                                                                                    \
        if (f + 4 <= width) {                                                                                \
            name##_chunk(out + f, x + f, count, ld, 4);                                                      \
            f += 4;                                                                                          \
        }                                                                                                    \
        if (f + 2 <= width) {                                                                                \
            name##_chunk(out + f, x + f, count, ld, 2);                                                      \
            f += 2;                                                                                          \
        }                                                                                                    \
        if (f < width)                                                                                       \
            name##_chunk(out + f, x + f, count, ld, 1);                                                      \
    }                                                                                                        \
    /* Steady rows of few single values, LANES of them at a time: each in order, as name##_lanes has it. */  \
    static int64_t name##_short(type *restrict out, const ftb_segments *s)                                   \
    {                                                                                                        \
        const type *x = s->x;                                                                                \
        int64_t r = 0, step = s->step;                                                                       \
        for (; r + LANES <= s->nrows; r += LANES, x += LANES * step) {                                       \
            type row[LANES];                                                                                 \
            SIMD for (int64_t l = 0; l < LANES; l++) row[l] = x[l * step];                                   \
            for (int64_t f = 1; f < s->count; f++)                                                           \
                SIMD for (int64_t l = 0; l < LANES; l++) row[l] = name##_join(row[l], x[l * step + f]);      \
            SIMD for (int64_t l = 0; l < LANES; l++) out[r + l] = row[l];                                    \
        }                                                                                                    \
        return r;                                                                                            \
    }                                                                                                        \
    INLINE void name##_streams(type *restrict out, const ftb_segments *s, int64_t width)                     \
    {                                                                                                        \
        const type *x = s->x;                                                                                \
        bool few = width == 1 && !s->start && s->count > 0 && s->count < 2 * LANES;                          \
        int64_t r = few ? name##_short(out, s) : 0;                                                          \
        for (out += r * width; r < s->nrows; r++, out += width) {                                            \
            int64_t count = s->start ? s->start[r + 1] - s->start[r] : s->count;                             \
            int64_t at = s->start ? (s->start[r] - s->start[0]) * width : r * s->step;                       \
            if (count > 0)                                                                                   \
                name##_stream(out, x + at, count * width, width);                                            \
        }                                                                                                    \
    }                                                                                                        \
    static void name(void *restrict out_, const ftb_segments *s)                                             \
    {                                                                                                        \
        type *restrict out = out_;                                                                           \
        int64_t width = s->width;                                                                            \
        if (FTB_##id == FTB_ANY) {                                                                           \
            first_entries(out_, s, sizeof(type));                                                            \
            return;                                                                                          \
        }                                                                                                    \
        switch (s->ld == width ? width : 0) {                                                                \
        case 1:                                                                                              \
            name##_streams(out, s, 1);                                                                       \
            return;                                                                                          \
        case 2:                                                                                              \
        case 4:                                                                                              \
        case 8:                                                                                              \
        case 16:                                                                                             \
            name##_streams(out, s, ftb_min(width, LANES)); /* compilers cannot tell */                       \
            return;                                                                                          \
        default:                                                                                             \
            for (int64_t r = 0; r < s->nrows; r++, out += width) {                                           \
                int64_t count = s->start ? s->start[r + 1] - s->start[r] : s->count;                         \
                int64_t at = s->start ? (s->start[r] - s->start[0]) * s->ld : r * s->step;                   \
                if (count > 0)                                                                               \
                    name##_wide(out, (const type *)s->x + at, count, width, s->ld);                          \
            }                                                                                                \
        }                                                                                                    \
    }

#include "cpu/kernels/monoid_cells.h"

const ftb_reduce_kernel FTB_CELL(ftb_reduce_rows)[FTB_NMONOIDS][FTB_NCLASSES] = {
#include "monoids.def"
};

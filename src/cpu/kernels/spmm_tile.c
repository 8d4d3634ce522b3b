/* Tiles of features in contiguous, aligned memory: packed before the visits of a segment, unpacked after
 * those of the last. Sources of other dtypes are converted here, so that the kernels know three types.
 *
 * Cells: instruction sets */
#include "cpu/kernels/spmm_lanes.h"

#pragma GCC diagnostic ignored "-Wpsabi" /* vectors are passed between inlined functions only */

#define TILE(suffix, T, k)                                                                                   \
    INLINE void keys_##suffix(T *x, int64_t vectors, int flip)                                               \
    {                                                                                                        \
        for (int64_t n = 0; n < vectors; n++) {                                                              \
            v_##suffix *at = (v_##suffix *)(x + n * LANES(T));                                               \
            *at = (v_##suffix)key_##suffix(*at, flip);                                                       \
        }                                                                                                    \
    }                                                                                                        \
    static void pack_##suffix(const ftb_spmm_tile *t, T *restrict tile, const T *restrict x, int64_t ldx,    \
                              int64_t count)                                                                 \
    {                                                                                                        \
        for (int64_t r = 0; r < count; r++, tile += t->pitch, x += ldx) {                                    \
            int64_t f = 0;                                                                                   \
            for (; f + LANES(T) <= t->features; f += LANES(T))                                               \
                *(v_##suffix *)(tile + f) = (v_##suffix) * (const u_##suffix *)(x + f);                      \
            for (; f < t->features; f++)                                                                     \
                tile[f] = x[f];                                                                              \
            for (; f < t->pitch; f++)                                                                        \
                tile[f] = 0;                                                                                 \
        }                                                                                                    \
    }                                                                                                        \
    static void unpack_##suffix(const ftb_spmm_tile *t, const T *restrict tile, T *restrict out,             \
                                int64_t ldo, int64_t count)                                                  \
    {                                                                                                        \
        const int flip = t->least ? -1 : 0;                                                                  \
        for (int64_t r = 0; r < count; r++, tile += t->pitch, out += ldo)                                    \
            for (int64_t f = 0; f < t->features; f += LANES(T)) {                                            \
                v_##suffix v = *(const v_##suffix *)(tile + f);                                              \
                if (t->keys)                                                                                 \
                    v = value_##suffix((v_##k)v, flip);                                                      \
                if (f + LANES(T) <= t->features)                                                             \
                    *(u_##suffix *)(out + f) = v;                                                            \
                else                                                                                         \
                    memcpy(out + f, &v, (size_t)(t->features - f) * sizeof(T));                              \
            }                                                                                                \
    }
TILE(f32, float, k32)
TILE(f64, double, k64)
TILE(i64, uint64_t, k64)

static void pack_cast(const ftb_spmm_tile *t, char *tile, const char *x, FtB_Type stored, int64_t ldx,
                      int64_t count)
{
    size_t size = FtB_Type_size(t->type), step = FtB_Type_size(stored) * (size_t)ldx;
    size_t used = size * (size_t)t->features, row = size * (size_t)t->pitch;
    for (int64_t r = 0; r < count; r++, tile += row, x += step) {
        ftb_cast(tile, t->type, x, stored, t->features);
        memset(tile + used, 0, row - used);
    }
}

static int64_t vectors_of(int64_t values, int lanes) { return (values + lanes - 1) / lanes; }

void FTB_CELL(ftb_spmm_pack)(const ftb_spmm_tile *t, void *tile, const void *x, FtB_Type stored, int64_t ldx,
                             int64_t count)
{
    const int flip = t->least ? -1 : 0;
    if (stored != t->type)
        pack_cast(t, tile, x, stored, ldx, count);
    else if (stored == FTB_FP32)
        pack_f32(t, tile, x, ldx, count);
    else if (stored == FTB_FP64)
        pack_f64(t, tile, x, ldx, count);
    else
        pack_i64(t, tile, x, ldx, count);
    if (!t->keys)
        return;
    if (t->type == FTB_FP32)
        keys_f32(tile, vectors_of(count * t->pitch, LANES(float)), flip);
    else if (t->type == FTB_FP64)
        keys_f64(tile, vectors_of(count * t->pitch, LANES(double)), flip);
    else
        keys_i64(tile, vectors_of(count * t->pitch, LANES(uint64_t)), flip);
}

void FTB_CELL(ftb_spmm_unpack)(const ftb_spmm_tile *t, const void *tile, void *out, int64_t ldo,
                               int64_t count)
{
    if (t->type == FTB_FP32)
        unpack_f32(t, tile, out, ldo, count);
    else if (t->type == FTB_FP64)
        unpack_f64(t, tile, out, ldo, count);
    else
        unpack_i64(t, tile, out, ldo, count);
}

#define DIVIDE(T)                                                                                            \
    do {                                                                                                     \
        T *at = x, by = (T)divisor;                                                                          \
        for (int64_t f = 0; f < n; f++)                                                                      \
            at[f] /= by;                                                                                     \
    } while (0)

void FTB_CELL(ftb_spmm_divide)(FtB_Type type, void *x, int64_t n, int64_t divisor)
{
    if (type == FTB_FP32)
        DIVIDE(float);
    else
        DIVIDE(double);
}

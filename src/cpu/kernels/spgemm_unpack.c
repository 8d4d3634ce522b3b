/* h(c) = unit(c) * field c of the cell's words, for cells whose several sums are packed
 * (cpu/kernels/spgemm_kernels.h).
 *
 * Cells are gathered in batches, so that the fields come from L1, one after the other over the batch.
 *
 * Cells: instruction sets */
#include "cpu/kernels/spgemm_kernels.h"

#define BATCH 256
#define INLINE static inline __attribute__((always_inline))

INLINE void put(void *h, FtB_Type type, int64_t at, double x)
{
    if (type == FTB_FP32)
        ((float *)h)[at] = (float)x;
    else if (type == FTB_FP64)
        ((double *)h)[at] = x;
    else
        ((int64_t *)h)[at] = (int64_t)x;
}

INLINE void unpack(const ftb_packed *packed, const uint64_t *acc, const uint32_t *cells, int64_t n, int words,
                   FtB_Type type, void *h)
{
    uint64_t word[2][BATCH];
    const int width = packed->width;
    for (int64_t t0 = 0; t0 < n; t0 += BATCH) {
        int64_t count = ftb_min(n - t0, BATCH);
        for (int64_t t = 0; t < count; t++)
            for (int w = 0; w < words; w++)
                word[w][t] = acc[(int64_t)cells[t0 + t] * words + w];
        for (int c = 0; c < width; c++) {
            const uint64_t *from = word[packed->field[c].word];
            const int shift = packed->field[c].shift;
            const uint64_t mask = (UINT64_C(1) << packed->field[c].bits) - 1;
            const double unit = packed->field[c].unit;
            for (int64_t t = 0; t < count; t++)
                put(h, type, (t0 + t) * width + c, (double)(int32_t)((from[t] >> shift) & mask) * unit);
        }
    }
}

void FTB_CELL(ftb_spgemm_unpack)(const ftb_packed *packed, const uint64_t *acc, const uint32_t *cells,
                                 int64_t n, FtB_Type type, void *h)
{
    if (packed->words == 2 && type == FTB_FP32)
        unpack(packed, acc, cells, n, 2, FTB_FP32, h);
    else if (packed->words == 2 && type == FTB_FP64)
        unpack(packed, acc, cells, n, 2, FTB_FP64, h);
    else
        unpack(packed, acc, cells, n, packed->words, type, h);
}

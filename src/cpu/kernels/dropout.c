/* Factors of dropout, sixteen counters at a time: 128 draws of 16 bits from one run of Philox over them.
 *
 * Cells: instruction sets */
#include "cpu/kernels/dropout.h"

#include "cpu/kernels/philox.h"

void FTB_CELL(ftb_dropout_factors)(float factor[FTB_DROPOUT_BLOCK], uint64_t seed, uint64_t block,
                                   uint32_t threshold, float scale)
{
    uint32_t words[4][FTB_PHILOX_LANES];
    ftb_philox(words, seed, block * FTB_PHILOX_LANES, 0);
    for (int w = 0; w < 4; w++)
        for (int t = 0; t < FTB_PHILOX_LANES; t++) {
            factor[w * FTB_PHILOX_LANES + t] = (words[w][t] & 0xffff) < threshold ? 0 : scale;
            factor[64 + w * FTB_PHILOX_LANES + t] = (words[w][t] >> 16) < threshold ? 0 : scale;
        }
}

/* Which values dropout keeps: kernels of cpu/nn/dropout_run.c. */
#ifndef FTB_CPU_DROPOUT_H
#define FTB_CPU_DROPOUT_H

#include "core/isa.h"

#include <stdint.h>

#define FTB_DROPOUT_BLOCK 128

/* factor[k] = 0 with probability threshold / 2^16, else scale, for value number block * 128 + k: its 16 bits
 * are half k / 64 of word k / 16 % 4 of Philox4x32-10's counter block * 16 + k % 16. */
FTB_CELLS(void, ftb_dropout_factors,
          (float factor[FTB_DROPOUT_BLOCK], uint64_t seed, uint64_t block, uint32_t threshold, float scale))

#endif

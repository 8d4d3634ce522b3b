/* 16-bit floats to and from FP32, compiled once per instruction set. */
#ifndef FTB_HALF_H
#define FTB_HALF_H

#include "core/isa.h"

#include <stdint.h>

/* clang-format off */
FTB_CELLS(void, ftb_fp32_from_fp16, (float *restrict to, const uint16_t *restrict from, int64_t count))
FTB_CELLS(void, ftb_fp32_from_bf16, (float *restrict to, const uint16_t *restrict from, int64_t count))
/* Nearest, ties to even; NaN stays NaN, with one payload. */
FTB_CELLS(void, ftb_fp16_from_fp32, (uint16_t *restrict to, const float *restrict from, int64_t count))
FTB_CELLS(void, ftb_bf16_from_fp32, (uint16_t *restrict to, const float *restrict from, int64_t count))
/* clang-format on */

#endif

/* Initial values, drawn by counter on the host. */
#ifndef FTB_INITIAL_H
#define FTB_INITIAL_H

#include "core/core.h"

/* X, of FP32 or FP64 and asked for: value k, row by row, depends on the seed and k alone. */
void ftb_initial_draw(FtB_Block X, uint64_t seed, double scale, bool normal);
void ftb_initial_fill(FtB_Block X, double value);

#endif

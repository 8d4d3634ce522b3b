/* Read bandwidth of one core, by the size of what it reads. */
#ifndef FTB_PLAN_BANDWIDTH_H
#define FTB_PLAN_BANDWIDTH_H

#include "core/isa.h"

#include <stdint.h>

/* The sum of n floats, n a multiple of 128, read `rounds` times: as fast as loads go. */
FTB_CELLS(float, ftb_read_floats, (const float *x, int64_t n, int64_t rounds))

/* Seconds of the processor that the calling thread has had. */
double ftb_thread_seconds(void);

/* Bytes per second of reading `bytes` bytes over and over, for about `seconds`: the best of several rounds,
 * since other programs only ever slow it down. 0 without memory. */
double ftb_measure_read(int64_t bytes, double seconds);

#endif

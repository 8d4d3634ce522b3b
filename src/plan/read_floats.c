/* Reads memory as fast as it comes: eight accumulators of the widest vector hide the latency of
 * adding.
 *
 * Cells: instruction sets */
#include "plan/bandwidth.h"

#include <string.h>

#if FTB_ISA == FTB_ISA_AVX512
enum { LANES = 16 };
#elif FTB_ISA == FTB_ISA_AVX2
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif
typedef float vector __attribute__((vector_size(LANES * sizeof(float)), aligned(sizeof(float)), may_alias));

float FTB_CELL(ftb_read_floats)(const float *x, int64_t n, int64_t rounds)
{
    enum { VECTORS = 8 };
    vector sum[VECTORS];
    memset(sum, 0, sizeof sum);
    for (int64_t round = 0; round < rounds; round++)
        for (int64_t at = 0; at < n; at += VECTORS * LANES)
            for (int v = 0; v < VECTORS; v++)
                sum[v] += *(const vector *)(x + at + v * LANES);
    float total = 0;
    for (int v = 0; v < VECTORS; v++)
        for (int lane = 0; lane < LANES; lane++)
            total += sum[v][lane];
    return total;
}

/* What a plan wants to know of the host's values (scan_run.h). */
#include "cpu/scan_run.h"

#include <math.h>

#define PIECE 65536 /* values */

ftb_range ftb_scan_range(const void *values, FtB_Type type, int64_t count, int threads)
{
    const size_t size = FtB_Type_size(type);
    double least = HUGE_VAL, most = -HUGE_VAL;
    if (count == 0 || !ftb_type_integer(type))
        return ftb_range_of(values, type, count);
#pragma omp parallel for reduction(min : least) reduction(max : most) num_threads(threads) if (count > PIECE)
    for (int64_t first = 0; first < count; first += PIECE) {
        const ftb_range r =
            ftb_range_of((const char *)values + (size_t)first * size, type, ftb_min(PIECE, count - first));
        least = fmin(least, r.least);
        most = fmax(most, r.most);
    }
    return (ftb_range){least, most};
}

double ftb_scan_magnitude(const void *values, FtB_Type type, int64_t count, int threads)
{
    double most = 0;
#pragma omp parallel for reduction(max : most) num_threads(threads) if (count > PIECE)
    for (int64_t e = 0; e < count; e++)
        most = fmax(most, fabs(ftb_get_real(values, type, e)));
    return most;
}

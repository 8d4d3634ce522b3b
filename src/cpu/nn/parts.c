/* Sums of parts, where they go (parts.h). */
#include "cpu/nn/parts.h"

void ftb_parts_put(void *to, FtB_Type type, const double *values, int64_t count, bool add)
{
    for (int64_t f = 0; f < count; f++) {
        const double sum = values[f] + (add ? ftb_get_real(to, type, f) : 0);
        ftb_cast((char *)to + (size_t)f * FtB_Type_size(type), type, &sum, FTB_FP64, 1);
    }
}

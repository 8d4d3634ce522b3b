/* How many entries the rows of a pattern have, and how far from the diagonal they lie. */
#ifndef FTB_DEGREES_H
#define FTB_DEGREES_H

#include <math.h>
#include <stdint.h>

#define FTB_DEGREES 48

/* Rows with 2^b to 2^(b+1) - 1 entries, and their entries. */
typedef struct ftb_degrees {
    int64_t rows[FTB_DEGREES], entries[FTB_DEGREES];
    int64_t sampled;            /* entries that were looked at for reach */
    int64_t reach[FTB_DEGREES]; /* those of them less than 2^b columns from the diagonal, stretched to the
                                   shape */
} ftb_degrees;

/* Share of the entries that lie less than so many columns from the diagonal. */
static inline double ftb_degrees_near(const ftb_degrees *d, double columns)
{
    const int b = columns >= 1 ? (int)fmin(FTB_DEGREES - 1, log2(columns)) : 0;
    return d->sampled > 0 ? (double)d->reach[b] / (double)d->sampled : 0;
}

#endif

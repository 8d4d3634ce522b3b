/* How many entries the rows of a pattern have. */
#ifndef FTB_DEGREES_H
#define FTB_DEGREES_H

#include <stdint.h>

#define FTB_DEGREES 48

/* Rows with 2^b to 2^(b+1) - 1 entries, and their entries. */
typedef struct ftb_degrees {
    int64_t rows[FTB_DEGREES], entries[FTB_DEGREES];
} ftb_degrees;

#endif

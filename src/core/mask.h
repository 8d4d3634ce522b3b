/* Masks of matrices: which of their entries admit a position. */
#ifndef FTB_MASK_H
#define FTB_MASK_H

#include "core/core.h"

typedef struct ftb_mask {
    const void *values; /* NULL: every entry admits its position */
    size_t size;        /* of a value */
    uint64_t bits;      /* an entry admits unless these bits are all 0: less the sign of a float */
} ftb_mask;

/* M with its values, or its structure alone. */
static inline ftb_mask ftb_mask_of(FtB_Matrix M, bool structural)
{
    if (structural || M->width == 0)
        return (ftb_mask){0};
    size_t size = FtB_Type_size(M->type);
    int unused = 64 - 8 * (int)size + (ftb_type_float(M->type) ? 1 : 0);
    return (ftb_mask){.values = ftb_values(M), .size = size, .bits = UINT64_MAX >> unused};
}

/* Whether entry e admits its position (before complement). */
static inline bool ftb_mask_admits(const ftb_mask *mask, int64_t e)
{
    if (!mask->values)
        return true;
    uint64_t value = 0;
    const char *from = (const char *)mask->values + (size_t)e * mask->size;
    switch (mask->size) {
    case 1:
        value = *(const uint8_t *)from;
        break;
    case 2:
        value = *(const uint16_t *)from;
        break;
    case 4:
        value = *(const uint32_t *)from;
        break;
    default:
        value = *(const uint64_t *)from;
    }
    return (value & mask->bits) != 0;
}

#endif

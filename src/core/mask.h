/* Masks: which entries of a matrix or a vector admit their positions. */
#ifndef FTB_MASK_H
#define FTB_MASK_H

#include "core/core.h"

typedef struct ftb_mask {
    const void *values; /* NULL: every entry admits its position */
    size_t size;        /* of a value */
    uint64_t bits;      /* an entry admits unless these bits are all 0: less the sign of a float */
} ftb_mask;

/* By these values, one for each entry. */
static inline ftb_mask ftb_mask_by(const void *values, FtB_Type type)
{
    size_t size = FtB_Type_size(type);
    int unused = 64 - 8 * (int)size + (ftb_type_float(type) ? 1 : 0);
    return (ftb_mask){.values = values, .size = size, .bits = UINT64_MAX >> unused};
}

/* M with its values, or its structure alone. */
static inline ftb_mask ftb_mask_of(FtB_Matrix M, bool structural)
{
    return structural || M->width == 0 ? (ftb_mask){0} : ftb_mask_by(ftb_values(M), M->type);
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

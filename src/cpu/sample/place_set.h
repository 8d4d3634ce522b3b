/* Sets of numbers, by open addressing, in memory of the caller's. */
#ifndef FTB_PLACE_SET_H
#define FTB_PLACE_SET_H

#include <stdbool.h>
#include <stdint.h>

#define FTB_SET_FREE UINT64_MAX /* a place that nobody has; no number is it */

/* Places that a set of so many numbers takes: a power of two. */
static inline int64_t ftb_set_size(int64_t count)
{
    int64_t size = 4;
    while (size < 2 * count)
        size *= 2;
    return size;
}

/* Whether `value` was not in a set of `mask` + 1 places, where it is then. */
static inline bool ftb_set_add(uint64_t *set, uint64_t mask, uint64_t value)
{
    uint64_t at = value * UINT64_C(0x9e3779b97f4a7c15) >> 20 & mask;
    for (; set[at] != FTB_SET_FREE; at = (at + 1) & mask)
        if (set[at] == value)
            return false;
    set[at] = value;
    return true;
}

#endif

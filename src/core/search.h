/* Binary searches in what ascends: lists, sums, the columns of a row. */
#ifndef FTB_SEARCH_H
#define FTB_SEARCH_H

#include "core/core.h"

/* The first place whose number is not below `value`; else `count`. */
static inline int64_t ftb_first_not_below(const int64_t *list, int64_t count, int64_t value)
{
    int64_t first = 0, end = count;
    while (first < end) {
        const int64_t middle = first + (end - first) / 2;
        if (list[middle] < value)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* The first place whose sum is beyond `aim`; else `last`. */
static inline int64_t ftb_first_beyond(const double *sums, int64_t last, double aim)
{
    int64_t first = 0, end = last;
    while (first < end) {
        const int64_t middle = first + (end - first) / 2;
        if (sums[middle] > aim)
            end = middle;
        else
            first = middle + 1;
    }
    return first;
}

/* Of entries first .. end - 1 of a row the first whose column is not below `column`; else `end`. */
static inline int64_t ftb_first_entry(const ftb_pattern *p, int64_t first, int64_t end, int64_t column)
{
    while (first < end) {
        const int64_t middle = first + (end - first) / 2;
        if (ftb_col(p, middle) < column)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

#endif

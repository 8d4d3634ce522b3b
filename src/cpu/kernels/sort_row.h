/* The numbers of one row of a layer, sorted: kernels of cpu/sample/relabel_run.c. */
#ifndef FTB_SORT_ROW_H
#define FTB_SORT_ROW_H

#include "core/isa.h"

#include <stdint.h>

/* Sorts numbers from 0 on with the entries that they are of (NULL: none); what has one number, by entries. */
FTB_CELLS(void, ftb_sort_row, (int32_t * number, int64_t *entries, int64_t count))

#endif

/* Vertices as bits, sixty-four to a mark: kernels of cpu/sample/relabel_marks.c. */
#ifndef FTB_MARK_KERNELS_H
#define FTB_MARK_KERNELS_H

#include "core/isa.h"

#include <stdatomic.h>
#include <stdint.h>

/* Vertices 64 w to 64 w + 63: those that are known and those that are new, and how many of both are before
 * them. */
typedef struct ftb_mark {
    uint64_t known, fresh;
    uint32_t known_before, fresh_before;
} ftb_mark;

/* Fills what is before each of some marks; *known and *fresh: before the first, and after, the last. */
FTB_CELLS(void, ftb_marks_sum, (ftb_mark * marks, int64_t count, uint32_t *known, uint32_t *fresh))
/* local[t] = the number of columns[t], which may be the same memory: numbers[places among the known], or
 * nknown and its place among the new. `numbers` has a place more than there are known ones. */
FTB_CELLS(void, ftb_marks_number,
          (int32_t * local, const int32_t *columns, int64_t count, const ftb_mark *marks,
           const _Atomic uint32_t *numbers, uint32_t nknown))

#endif

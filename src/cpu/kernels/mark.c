/* Vertices as bits: places among those that are set, by counting bits.
 *
 * Cells: instruction sets */
#include "cpu/kernels/mark_kernels.h"

#define AHEAD 16 /* picks between the fetch of a mark and its use */

void FTB_CELL(ftb_marks_sum)(ftb_mark *marks, int64_t count, uint32_t *known, uint32_t *fresh)
{
    uint32_t knowns = *known, freshs = *fresh;
    for (int64_t w = 0; w < count; w++) {
        marks[w].known_before = knowns;
        marks[w].fresh_before = freshs;
        knowns += (uint32_t)__builtin_popcountll(marks[w].known);
        freshs += (uint32_t)__builtin_popcountll(marks[w].fresh);
    }
    *known = knowns;
    *fresh = freshs;
}

void FTB_CELL(ftb_marks_number)(int32_t *local, const int32_t *columns, int64_t count, const ftb_mark *marks,
                                const _Atomic uint32_t *numbers, uint32_t nknown)
{
    for (int64_t t = 0; t < count; t++) {
        const uint32_t v = (uint32_t)columns[t];
        const ftb_mark *m = &marks[v >> 6];
        const uint64_t bit = UINT64_C(1) << (v & 63), below = bit - 1, known = m->known;
        if (t + AHEAD < count)
            __builtin_prefetch(&marks[(uint32_t)columns[t + AHEAD] >> 6]);
        const uint32_t place = m->known_before + (uint32_t)__builtin_popcountll(known & below);
        const uint32_t number = atomic_load_explicit(&numbers[place], memory_order_relaxed);
        const uint32_t behind = nknown + m->fresh_before + (uint32_t)__builtin_popcountll(m->fresh & below);
        local[t] = (int32_t)(known & bit ? number : behind);
    }
}

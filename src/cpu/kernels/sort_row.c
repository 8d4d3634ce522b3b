/* Rows of up to 32 different numbers are sorted by counting: each goes behind as many as are less, which
 * takes no branches. Others by Shell's method.
 *
 * Cells: instruction sets */
#include "cpu/kernels/sort_row.h"

#include <stdbool.h>
#include <string.h>

typedef int32_t line __attribute__((vector_size(64)));

#define LANES 16 /* of a line */

/* Whether it is done, of up to `lines` lines; if some are the same nothing is. */
static inline bool by_rank(int32_t *number, int64_t *entries, int64_t count, int lines)
{
    line key[2], rank[2] = {{0}, {0}};
    int32_t keys[2 * LANES], ranks[2 * LANES];
    int64_t was[2 * LANES], pairs = 0; /* pairs of a lesser and a greater one */
    for (int t = 0; t < 2 * LANES; t++)
        keys[t] = t < count ? number[t] : INT32_MAX;
    memcpy(key, keys, sizeof key);
    for (int64_t s = 0; s < count; s++)
        for (int l = 0; l < lines; l++)
            rank[l] -= number[s] < key[l]; /* true is -1 */
    memcpy(ranks, rank, sizeof ranks);
    for (int64_t t = 0; t < count; t++)
        pairs += ranks[t];
    if (pairs < count * (count - 1) / 2)
        return false;
    for (int64_t t = 0; t < count; t++)
        number[ranks[t]] = keys[t];
    for (int64_t t = 0; entries && t < count; t++)
        was[t] = entries[t];
    for (int64_t t = 0; entries && t < count; t++)
        entries[ranks[t]] = was[t];
    return true;
}

static void by_shell(int32_t *number, int64_t *entries, int64_t count)
{
    for (int64_t gap = count > 32 ? count / 2 : 1; gap > 0; gap = gap > 2 ? gap * 5 / 11 : gap / 2)
        for (int64_t t = gap; t < count; t++) {
            const int32_t mine = number[t];
            const int64_t entry = entries ? entries[t] : 0;
            int64_t at = t;
            for (; at >= gap && (number[at - gap] > mine ||
                                 (entries && number[at - gap] == mine && entries[at - gap] > entry));
                 at -= gap) {
                number[at] = number[at - gap];
                if (entries)
                    entries[at] = entries[at - gap];
            }
            number[at] = mine;
            if (entries)
                entries[at] = entry;
        }
}

void FTB_CELL(ftb_sort_row)(int32_t *number, int64_t *entries, int64_t count)
{
    const bool done = count <= LANES       ? by_rank(number, entries, count, 1)
                      : count <= 2 * LANES ? by_rank(number, entries, count, 2)
                                           : false;
    if (!done)
        by_shell(number, entries, count);
}

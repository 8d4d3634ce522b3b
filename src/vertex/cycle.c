/* Cycles among vertices of which each knows one before it. */
#include "vertex/algorithm.h"

int64_t ftb_find_cycle(const int64_t *before, int64_t *mark, int64_t n)
{
    memset(mark, 0, (size_t)n * sizeof *mark);
    for (int64_t first = 0; first < n; first++) {
        int64_t v = first;
        while (v >= 0 && mark[v] == 0) {
            mark[v] = first + 1;
            v = before[v];
        }
        if (v >= 0 && mark[v] == first + 1)
            return v;
    }
    return -1;
}

void ftb_put_cycle(char text[FTB_CYCLE_TEXT], const int64_t *before, int64_t v)
{
    enum { SHOWN = 20 };
    int64_t first = v, shown[SHOWN], count = 0;
    for (int64_t u = before[v]; u != v; u = before[u])
        first = ftb_min(first, u);
    for (int64_t u = first; count == 0 || u != first; u = before[u]) /* backwards */
        shown[count++ % SHOWN] = u;
    size_t used = (size_t)snprintf(text, FTB_CYCLE_TEXT, "%lld", (long long)first);
    for (int64_t t = count - 1; t >= ftb_max(0, count - SHOWN); t--)
        used += (size_t)snprintf(text + used, FTB_CYCLE_TEXT - used, " -> %lld", (long long)shown[t % SHOWN]);
    if (count > SHOWN)
        snprintf(text + used, FTB_CYCLE_TEXT - used, " -> ... -> %lld", (long long)first);
}

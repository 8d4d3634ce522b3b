#include <GraphBLAS.h>

#include "support/index_lists.h"

#include <stdlib.h>
#include <string.h>

static int ascending(const void *x, const void *y)
{
    const int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a > b) - (a < b);
}

static void shuffle(rng *r, int64_t *list, int64_t count)
{
    for (int64_t t = count; t > 1; t--) {
        const int64_t other = rng_below(r, t), swap = list[t - 1];
        list[t - 1] = list[other];
        list[other] = swap;
    }
}

index_list some_list(rng *r, int64_t extent, int64_t most, bool once)
{
    index_list list = {.count = extent, .grb = (GrB_Index *)(uintptr_t)GrB_ALL};
    if (rng_below(r, 4) == 0)
        return list;
    int64_t *all = malloc(sizeof *all * (size_t)(extent + 1));
    for (int64_t t = 0; t < extent; t++)
        all[t] = t;
    shuffle(r, all, extent);
    list.count = extent == 0 ? 0 : rng_below(r, (once && most > extent ? extent : most) + 1);
    list.at = malloc(sizeof *list.at * (size_t)(list.count + 1));
    for (int64_t t = 0; t < list.count; t++)
        list.at[t] = once ? all[t] : all[rng_below(r, extent)];
    if (rng_below(r, 2))
        qsort(list.at, (size_t)list.count, sizeof *list.at, ascending);
    list.arg = FTB_ARG(FtB_Ids_of(list.at, list.count));
    list.grb = (GrB_Index *)list.at;
    free(all);
    return list;
}

void free_list(index_list *list)
{
    free(list->at);
    *list = (index_list){.at = NULL};
}

/* Places of sparse vectors by lists (vector_parts_run.h). */
#include "cpu/vector/vector_parts_run.h"

#include "core/search.h"

/* ftb_vector_find, which begins where the place before was found: places that ascend are looked up step by
 * step. */
static int64_t find_near(const ftb_vector *u, int64_t i, int64_t *near)
{
    enum { STEPS = 8 };
    if (u->form != FTB_VECTOR_LIST)
        return ftb_vector_find(u, i);
    int64_t at = *near;
    for (int step = 0; step < STEPS && at < u->nvals && u->index[at] < i; step++)
        at++;
    if ((at < u->nvals && u->index[at] < i) || (at > 0 && u->index[at - 1] >= i))
        at = ftb_first_not_below(u->index, u->nvals, i);
    *near = at;
    return at < u->nvals && u->index[at] == i ? at : -1;
}

GrB_Info ftb_vector_pick(ftb_vector *T, FtB_Context ctx, const ftb_vector *u, const int64_t *list,
                         int64_t count)
{
    const size_t each = FtB_Type_size(u->type);
    int64_t entries = 0, near = 0;
    GrB_Info info = ftb_vector_room(T, ctx, FTB_VECTOR_BITMAP, u->type, count, 0);
    if (info != GrB_SUCCESS)
        return info;
#pragma omp parallel for num_threads(ftb_threads_for(ctx, count)) schedule(static) reduction(+ : entries)    \
    firstprivate(near)
    for (int64_t t = 0; t < count; t++) {
        const int64_t at = find_near(u, list[t], &near);
        if (at < 0)
            continue;
        T->present[t] = 1;
        memcpy((char *)T->values + (size_t)t * each, (const char *)u->values + (size_t)at * each, each);
        entries++;
    }
    T->nvals = entries;
    return GrB_SUCCESS;
}

/* The list's places in their order, of which those with an entry become the result's; once to count. */
GrB_Info ftb_vector_put(ftb_vector *S, FtB_Context ctx, const ftb_vector *u, const int64_t *sorted,
                        const int64_t *from, int64_t size)
{
    const size_t each = FtB_Type_size(u->type);
    int64_t count = 0;
    GrB_Info info = ftb_vector_room(S, ctx, FTB_VECTOR_LIST, u->type, size, u->nvals);
    if (info != GrB_SUCCESS)
        return info;
    for (int64_t q = 0; q < u->size && count < u->nvals; q++) {
        const int64_t at = ftb_vector_find(u, from ? from[q] : q);
        if (at < 0)
            continue;
        S->index[count] = sorted[q];
        memcpy((char *)S->values + (size_t)count * each, (const char *)u->values + (size_t)at * each, each);
        count++;
    }
    return GrB_SUCCESS;
}

void ftb_vector_fill(FtB_Context ctx, ftb_vector *v, const void *value)
{
    (void)ctx;
    ftb_fill(v->values, v->form == FTB_VECTOR_LIST ? v->nvals : v->size, value, FtB_Type_size(v->type));
}

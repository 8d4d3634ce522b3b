/* Steps of supersteps, value by value (ref_vertex.h). */
#include "oracle/ref_vertex.h"

#include <math.h>

static bool is_other(FtB_Type type, const char *x, const char *y)
{
    const double a = ftb_get_real(x, type, 0), b = ftb_get_real(y, type, 0);
    return memcmp(x, y, FtB_Type_size(type)) != 0 && !(ftb_type_float(type) && isnan(a) && isnan(b));
}

GrB_Info ref_vertex_renew(const ftb_vertex_renew_product *p)
{
    const size_t size = FtB_Type_size(p->type);
    for (int64_t i = 0; i < p->nrows; i++) {
        bool other = p->changed && p->more && p->changed[i];
        for (int64_t f = 0; f < p->ncols; f++) {
            const char *fresh = (const char *)p->fresh + (size_t)(i * p->ncols + f) * size;
            char *state = (char *)p->state + (size_t)(i * p->ld + f) * size;
            if ((p->who && p->who[i] == 0) || !is_other(p->type, fresh, state))
                continue;
            other = true;
            if (p->store)
                memcpy(state, fresh, size);
        }
        if (p->changed)
            p->changed[i] = other;
    }
    return GrB_SUCCESS;
}

GrB_Info ref_vertex_flags(const ftb_vertex_flags_product *p)
{
    p->counts[0] = p->counts[1] = 0;
    for (int64_t i = 0; i < p->nrows; i++) {
        int64_t wanted = p->x ? 0 : 1;
        for (int64_t f = 0; p->x && f < p->ncols; f++)
            wanted += p->zeros ? p->x[i * p->ncols + f] == 0 : p->x[i * p->ncols + f] != 0;
        p->out[i] = wanted > 0 && (!p->with || p->with[i] != 0);
        p->counts[0] += p->out[i];
        p->counts[1] += p->weights ? p->out[i] * p->weights[i] : 0;
    }
    return GrB_SUCCESS;
}

GrB_Info ref_vertex_sums(const ftb_vertex_sums_product *p)
{
    for (int64_t t = 0; t < p->count; t++)
        p->sums[t / p->each] = (t % p->each ? p->sums[t / p->each] : 0) + p->x[t];
    return GrB_SUCCESS;
}

/* Steps of supersteps over whole blocks (vertex_verbs.h). */
#include "cpu/vertex/vertex_verbs.h"

static bool is_nan(FtB_Type type, const void *value)
{
    return ftb_type_float(type) && isnan(ftb_get_real(value, type, 0));
}

GrB_Info ftb_vertex_renew_run(const ftb_vertex_renew_product *p)
{
    const size_t size = FtB_Type_size(p->type);
    const int threads = ftb_threads_for_values(p->ctx, p->nrows * p->ncols);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < p->nrows; i++) {
        const char *fresh = (const char *)p->fresh + (size_t)(i * p->ncols) * size;
        char *state = (char *)p->state + (size_t)(i * p->ld) * size;
        bool changed = false;
        for (int64_t f = 0; f < p->ncols && (!p->who || p->who[i]); f++, fresh += size, state += size)
            if (memcmp(fresh, state, size) != 0 && !(is_nan(p->type, fresh) && is_nan(p->type, state))) {
                changed = true;
                if (p->store)
                    memcpy(state, fresh, size);
            }
        if (p->changed)
            p->changed[i] = changed || (p->more && p->changed[i]);
    }
    return GrB_SUCCESS;
}

static bool is_set(const ftb_vertex_flags_product *p, int64_t i)
{
    bool set = !p->x;
    for (int64_t f = 0; p->x && f < p->ncols; f++)
        set = set || (p->x[i * p->ncols + f] != 0) != p->zeros;
    return set && (!p->with || p->with[i]);
}

GrB_Info ftb_vertex_flags_run(const ftb_vertex_flags_product *p)
{
    const int threads = ftb_threads_for_values(p->ctx, p->nrows * ftb_max(p->ncols, 1));
    int64_t count = 0, weight = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : count, weight)
    for (int64_t i = 0; i < p->nrows; i++) {
        p->out[i] = is_set(p, i);
        count += p->out[i];
        weight += p->out[i] && p->weights ? p->weights[i] : 0;
    }
    p->counts[0] = count;
    p->counts[1] = weight;
    return GrB_SUCCESS;
}

GrB_Info ftb_vertex_sums_run(const ftb_vertex_sums_product *p)
{
    const int64_t batches = (p->count + p->each - 1) / p->each;
    const int threads = ftb_threads_for_values(p->ctx, p->count);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t b = 0; b < batches; b++) {
        const int64_t last = ftb_min(p->count, (b + 1) * p->each);
        double sum = 0;
        for (int64_t t = b * p->each; t < last; t++)
            sum += p->x[t];
        p->sums[b] = sum;
    }
    return GrB_SUCCESS;
}

/* Elementwise operators over the entries of a sparse vector (vector_map_run.h). */
#include "cpu/vector/vector_map_run.h"

#include <omp.h>

#define PARTS_PER_THREAD 16

static int64_t values_of(const ftb_vector *v) { return v->form == FTB_VECTOR_LIST ? v->nvals : v->size; }

int ftb_vector_map_threads(FtB_Context ctx, const ftb_vector *v)
{
    return ftb_threads_for(ctx, values_of(v));
}

GrB_Info ftb_vector_map_run(ftb_map *map, const ftb_vector *v)
{
    const int threads = map->nbatches;
    const int64_t count = values_of(v);
    const int64_t parts = ftb_max(1, ftb_min((int64_t)threads * PARTS_PER_THREAD, count / FTB_BATCH));
    atomic_bool stopped = false;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t part = 0; part < parts; part++) {
        ftb_batch *batch = &map->batches[omp_get_thread_num()];
        const int64_t first = count / parts * part + ftb_min(part, count % parts);
        const int64_t end = count / parts * (part + 1) + ftb_min(part + 1, count % parts);
        if (ftb_stops(map->ctx, &stopped))
            continue;
        for (int64_t t = first; t < end; t++)
            if (!v->present || v->present[t])
                ftb_batch_push(batch, t, t, t, v->index ? v->index[t] : t, 0);
        ftb_batch_flush(batch);
    }
    return ftb_check_stopped(map->ctx, &stopped);
}

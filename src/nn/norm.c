/* Rows normalised, and summed by column, over threads: bits do not depend on how many (norm.h). */
#include "nn/norm.h"

#define CHUNK 64 /* rows that a thread takes at a time */

void ftb_norm_each(ftb_norm_rows kernel, const ftb_norm *c, int64_t nrows, FtB_Context ctx)
{
    int64_t chunks = (nrows + CHUNK - 1) / CHUNK;
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for_values(ctx, nrows * c->ncols))
    for (int64_t k = 0; k < chunks; k++)
        kernel(c, k * CHUNK, ftb_min(nrows, (k + 1) * CHUNK));
}

GrB_Info ftb_norm_by_part(double **sums, ftb_norm_parts kernel, const ftb_norm *c, int64_t nrows,
                          FtB_Context ctx)
{
    int64_t parts = ftb_parts(nrows), room = 2 * c->ncols;
    double *scratch = ftb_new(ctx, parts * room, sizeof *scratch);
    *sums = scratch ? ftb_new0(ctx, parts * room, sizeof **sums) : NULL;
    if (!*sums) {
        ftb_delete(scratch);
        return ftb_nomem();
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(ftb_threads_for_values(ctx, nrows * c->ncols))
    for (int64_t p = 0; p < parts; p++)
        kernel(c, ftb_parts_cut(nrows, p), ftb_parts_cut(nrows, p + 1), *sums + p * room, scratch + p * room);
    ftb_delete(scratch);
    return GrB_SUCCESS;
}

GrB_Info ftb_norm_total(double **sums, ftb_norm_parts kernel, const ftb_norm *c, int64_t nrows,
                        FtB_Context ctx)
{
    int64_t room = 2 * c->ncols;
    GrB_Info info = ftb_norm_by_part(sums, kernel, c, nrows, ctx);
    for (int64_t p = 1; info == GrB_SUCCESS && p < ftb_parts(nrows); p++)
        for (int64_t f = 0; f < room; f++)
            (*sums)[f] += (*sums)[p * room + f];
    return info;
}

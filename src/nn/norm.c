/* Rows normalised, and summed by column, over threads: bits do not depend on how many (norm.h). */
#include "nn/norm.h"

#include "ops/merge.h"

#define CHUNK 64      /* rows that a thread takes at a time */
#define PART_ROWS 256 /* of a partial sum, and */
#define MOST_PARTS 64 /* more rows than these many parts hold make the parts longer */

void ftb_norm_each(ftb_norm_rows kernel, const ftb_norm *c, int64_t nrows, FtB_Context ctx)
{
    int64_t chunks = (nrows + CHUNK - 1) / CHUNK;
#pragma omp parallel for schedule(static) num_threads(ftb_threads_for_values(ctx, nrows * c->ncols))
    for (int64_t k = 0; k < chunks; k++)
        kernel(c, k * CHUNK, ftb_min(nrows, (k + 1) * CHUNK));
}

int64_t ftb_norm_count(int64_t nrows)
{
    return ftb_max(1, ftb_min(MOST_PARTS, (nrows + PART_ROWS - 1) / PART_ROWS));
}

GrB_Info ftb_norm_by_part(double **sums, ftb_norm_parts kernel, const ftb_norm *c, int64_t nrows,
                          FtB_Context ctx)
{
    int64_t parts = ftb_norm_count(nrows), room = 2 * c->ncols;
    double *scratch = ftb_new(ctx, parts * room, sizeof *scratch);
    *sums = scratch ? ftb_new0(ctx, parts * room, sizeof **sums) : NULL;
    if (!*sums) {
        ftb_delete(scratch);
        return ftb_nomem();
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(ftb_threads_for_values(ctx, nrows * c->ncols))
    for (int64_t p = 0; p < parts; p++)
        kernel(c, ftb_norm_cut(nrows, p), ftb_norm_cut(nrows, p + 1), *sums + p * room, scratch + p * room);
    ftb_delete(scratch);
    return GrB_SUCCESS;
}

GrB_Info ftb_norm_total(double **sums, ftb_norm_parts kernel, const ftb_norm *c, int64_t nrows,
                        FtB_Context ctx)
{
    int64_t room = 2 * c->ncols;
    GrB_Info info = ftb_norm_by_part(sums, kernel, c, nrows, ctx);
    for (int64_t p = 1; info == GrB_SUCCESS && p < ftb_norm_count(nrows); p++)
        for (int64_t f = 0; f < room; f++)
            (*sums)[f] += (*sums)[p * room + f];
    return info;
}

void ftb_norm_put(FtB_Block X, const double *values, bool add)
{
    for (int64_t f = 0; f < X->ncols; f++) {
        const double sum = values[f] + (add ? ftb_get_real(ftb_block_data(X), X->type, f) : 0);
        ftb_cast((char *)ftb_block_data(X) + (size_t)f * FtB_Type_size(X->type), X->type, &sum, FTB_FP64, 1);
    }
}

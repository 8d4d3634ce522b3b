/* Shapes of sums over rows (columns.h). */
#include "gpu/columns.h"

#include <limits.h>

enum { LANES = 5 }; /* log2 of those side by side at most: a warp */

GrB_Info ftb_gpu_columns_new(ftb_gpu_columns *to, ftb_gpu_device *d, FtB_Context ctx, int64_t nrows,
                             int64_t ncols, int sums)
{
    ftb_column_parts p = {.nrows = nrows, .ncols = ncols};
    void *partial = NULL;
    while (p.lanes < LANES && 1 << p.lanes < ncols)
        p.lanes++;
    const int64_t rows = FTB_COLUMN_PARTS_ROWS * (FTB_COLUMN_PARTS_BLOCK >> p.lanes),
                  tiles = (ncols + (1 << p.lanes) - 1) >> p.lanes;
    p.parts = (int)ftb_max(1, ftb_min(FTB_COLUMN_PARTS_MOST, (nrows + rows - 1) / rows));
    p.tiles = (unsigned)ftb_max(1, ftb_min(tiles, INT_MAX)); /* more are refused by the launch */
    *to = (ftb_gpu_columns){.first = {.x = tiles * p.parts, .y = 1, .threads = FTB_COLUMN_PARTS_BLOCK},
                            .second = {.x = tiles, .y = 1, .threads = FTB_COLUMN_PARTS_BLOCK},
                            .bytes = p.parts * sums * ncols * (int64_t)sizeof(double)};
    const GrB_Info info = to->bytes > 0 ? ftb_device_room(&partial, &d->row, ctx, to->bytes) : GrB_SUCCESS;
    p.partial = partial;
    to->parts = p;
    return info;
}

void ftb_gpu_columns_delete(const ftb_gpu_columns *c, ftb_gpu_device *d)
{
    if (c->parts.partial)
        d->row.memory->free(&d->row, c->parts.partial, c->bytes);
}

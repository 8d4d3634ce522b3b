/* Grids over rows of items (items.h). */
#include "gpu/items.h"

#include "gpu/kernels/stored_types.h"

#include <limits.h>

enum { VECTOR = 16 }; /* bytes */

ftb_gpu_grid ftb_gpu_items(ftb_row_items *to, int64_t nrows, int64_t width)
{
    *to = (ftb_row_items){.nrows = nrows, .width = width};
    while (1 << to->lanes < ftb_min(width, FTB_ROW_ITEMS_BLOCK))
        to->lanes++;
    const int64_t tiles = (width + (1 << to->lanes) - 1) >> to->lanes,
                  rows = FTB_ROW_ITEMS_BLOCK >> to->lanes, groups = (nrows + rows - 1) / rows;
    const bool fits = tiles <= INT_MAX && groups <= INT_MAX; /* else no launch has as many blocks */
    to->tiles = fits ? (unsigned)tiles : 1;
    return (ftb_gpu_grid){.x = fits ? tiles * groups : INT64_MAX, .y = 1, .threads = FTB_ROW_ITEMS_BLOCK};
}

bool ftb_gpu_vectors(const void *at, int64_t ld, int64_t size)
{
    return (uintptr_t)at % VECTOR == 0 && ld * size % VECTOR == 0;
}

const char *ftb_gpu_real(FtB_Type type) { return type == FTB_FP32 ? "f32" : "f64"; }

int ftb_gpu_stored_as(FtB_Type type)
{
    static const int as[] = {
        [FTB_BOOL] = FTB_STORED_BOOL,  [FTB_INT8] = FTB_STORED_I8,    [FTB_INT16] = FTB_STORED_I16,
        [FTB_INT32] = FTB_STORED_I32,  [FTB_INT64] = FTB_STORED_I64,  [FTB_UINT8] = FTB_STORED_U8,
        [FTB_UINT16] = FTB_STORED_U16, [FTB_UINT32] = FTB_STORED_U32, [FTB_UINT64] = FTB_STORED_U64,
        [FTB_FP32] = FTB_STORED_F32,   [FTB_FP64] = FTB_STORED_F64,   [FTB_FP16] = FTB_STORED_F16,
        [FTB_BF16] = FTB_STORED_BF16};
    return as[type];
}

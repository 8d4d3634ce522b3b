/* Running sums on a GPU (scan.h). */
#include "gpu/scan.h"

#include "gpu/launch.h"

#define FEW 4096 /* values, which a block sums as fast as three launches would */

static int64_t tiles_of(int64_t n) { return (n + FTB_SCAN_TILE - 1) / FTB_SCAN_TILE; }

int64_t ftb_gpu_scan_bytes(int64_t n) { return n > FEW ? 8 * tiles_of(n) : 0; }

static GrB_Info step(ftb_gpu_device *d, FtB_Context ctx, const char *kernel, int64_t blocks,
                     ftb_scan_arguments *a)
{
    return ftb_gpu_launch(d, ctx, FTB_GPU_SCAN, kernel,
                          (ftb_gpu_grid){.x = blocks, .y = 1, .threads = FTB_SCAN_BLOCK}, (void *[]){a});
}

GrB_Info ftb_gpu_scan(ftb_gpu_device *d, FtB_Context ctx, ftb_scan_arguments a)
{
    const bool many = a.n > FEW;
    GrB_Info info;
    if (!many)
        a.sums = NULL;
    if (many)
        FTB_CHECK(step(d, ctx, "scan_sum", tiles_of(a.n), &a));
    FTB_CHECK(step(d, ctx, "scan_top", 1, &a));
    if (many)
        FTB_CHECK(step(d, ctx, "scan_put", tiles_of(a.n), &a));
done:
    return info;
}

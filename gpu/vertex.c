/* The verbs `vertex_renew`, `vertex_flags` and `vertex_sums` on a GPU. Every value is the host's, to the bit.
 */
#include "gpu/gpu_verbs.h"
#include "gpu/kernels/vertex_rows.h"
#include "gpu/launch.h"

#include <limits.h>
#include <stdio.h>

#define SOURCE "gpu/kernels/vertex.cu"

bool ftb_gpu_vertex_renew_fits(const ftb_vertex_renew_product *p)
{
    return p->type != FTB_FP16 && p->type != FTB_BF16;
}

static int lanes_of(int64_t ncols)
{
    int lanes = 0;
    while (lanes < FTB_VERTEX_MOST_LANES && INT64_C(1) << lanes < ncols)
        lanes++;
    return lanes;
}

/* Of 2^lanes threads for each of `count`. */
static ftb_gpu_grid grid_of(int64_t count, int lanes)
{
    const int64_t each = FTB_VERTEX_BLOCK >> lanes, blocks = count / each + (count % each > 0);
    return (ftb_gpu_grid){.x = blocks, .y = 1, .threads = FTB_VERTEX_BLOCK};
}

GrB_Info ftb_gpu_vertex_renew(const ftb_vertex_renew_product *p)
{
    static const char *const whole[] = {[1] = "u8", [2] = "u16", [4] = "u32", [8] = "u64"};
    ftb_vertex_renew_arguments a = {.nrows = p->nrows,
                                    .ncols = p->ncols,
                                    .ld = p->ld,
                                    .fresh = p->fresh,
                                    .state = p->state,
                                    .who = p->who,
                                    .changed = p->changed,
                                    .lanes = lanes_of(p->ncols),
                                    .more = p->more,
                                    .store = p->store};
    char name[32];
    snprintf(name, sizeof name, "vertex_renew_%s",
             p->type == FTB_FP32   ? "f32"
             : p->type == FTB_FP64 ? "f64"
                                   : whole[FtB_Type_size(p->type)]);
    return ftb_gpu_launch(ftb_gpu_of(ftb_device(p->ctx)), p->ctx, SOURCE, name, grid_of(p->nrows, a.lanes),
                          (void *[]){&a});
}

GrB_Info ftb_gpu_vertex_flags(const ftb_vertex_flags_product *p)
{
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(p->ctx));
    ftb_vertex_flags_arguments a = {.nrows = p->nrows,
                                    .ncols = p->ncols,
                                    .x = p->x,
                                    .with = p->with,
                                    .weights = (const long long *)p->weights,
                                    .out = p->out,
                                    .counts = (unsigned long long *)p->counts,
                                    .lanes = p->x ? lanes_of(p->ncols) : 0,
                                    .zeros = p->zeros};
    GrB_Info info = ftb_gpu_load(d, SOURCE);
    if (info == GrB_SUCCESS) /* two FP64 of 0 are two whole numbers of 0 */
        info = ftb_gpu_copy(&(ftb_copy_product){
            .ctx = p->ctx, .type = FTB_FP64, .nrows = 1, .ncols = 2, .y = p->counts, .ldy = 2});
    if (info == GrB_SUCCESS)
        info = ftb_gpu_launch(d, p->ctx, SOURCE, "vertex_flags", grid_of(p->nrows, a.lanes), (void *[]){&a});
    return info;
}

GrB_Info ftb_gpu_vertex_sums(const ftb_vertex_sums_product *p)
{
    ftb_vertex_sums_arguments a = {.count = p->count, .each = p->each, .x = p->x, .sums = p->sums};
    const int64_t batches = p->count / p->each + (p->count % p->each > 0);
    return ftb_gpu_launch(ftb_gpu_of(ftb_device(p->ctx)), p->ctx, SOURCE, "vertex_sums", grid_of(batches, 5),
                          (void *[]){&a});
}

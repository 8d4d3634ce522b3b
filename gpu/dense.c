/* The verb `dense` on a GPU: by a kernel of our own (kernels/dense.cu), or by cuBLAS where that is there and
 * the rule says that it is faster (plan/rule_gpu_dense.c). */
#include "gpu/dense_ways.h"

#include "gpu/gpu_verbs.h"
#include "gpu/items.h"
#include "gpu/kernels/dense_tiles.h"

#include <limits.h>
#include <stdio.h>

#define SOURCE "gpu/kernels/dense.cu"

/* Where tiles are few, as in the gradient of a layer's weights, what is summed over is cut, by the shapes
 * alone: into parts of some length, of which there are no more than fill a large GPU. */
enum { PART = 512, FULL = 512, MOST_PARTS = 64 };

/* How our kernel shares out a product. */
typedef struct tiling {
    int r, s;             /* values of a thread, down and across */
    int64_t down, across; /* tiles */
    int parts;
} tiling;

static int parts_of(const ftb_dense_product *p, int64_t tiles)
{
    const int64_t room = ftb_min(MOST_PARTS, FULL / ftb_max(1, tiles));
    return (int)ftb_max(1, ftb_min(room, p->inner / PART));
}

/* Values of a thread along a side of so many. */
static int each_of(int64_t side) { return side <= FTB_DENSE_SIDE ? 1 : 4; }

static tiling tiling_of(const ftb_dense_product *p)
{
    tiling t = {.r = each_of(p->nrows), .s = each_of(p->ncols), .parts = 1};
    const int64_t high = t.r * FTB_DENSE_SIDE, wide = t.s * FTB_DENSE_SIDE;
    t.down = (p->nrows + high - 1) / high;
    t.across = (p->ncols + wide - 1) / wide;
    if (t.down <= INT_MAX && t.across <= INT_MAX)
        t.parts = parts_of(p, t.down * t.across);
    return t;
}

ftb_gpu_dense_plan ftb_gpu_plan_dense(const ftb_gpu_device *d, const ftb_dense_product *p, bool cublas)
{
    const tiling t = tiling_of(p);
    const double tiles = (double)t.down * (double)t.across;
    const ftb_gpu_dense_facts facts = {.nrows = p->nrows,
                                       .ncols = p->ncols,
                                       .inner = p->inner,
                                       .value_bytes = (int64_t)FtB_Type_size(p->type),
                                       .precision = ftb_precision(p->ctx),
                                       .blocks = tiles * t.parts,
                                       .padded = tiles * t.r * t.s * FTB_DENSE_SIDE * FTB_DENSE_SIDE};
    const ftb_gpu_facts gpu = ftb_gpu_planned(d);
    ftb_gpu_dense_plan plan;
    ftb_rule_gpu_dense(&plan, &facts, cublas, &gpu);
    return plan;
}

/* cuBLAS is looked for only where it would be used: it is half a gigabyte. */
static bool is_for_cublas(ftb_gpu_device *d, const ftb_dense_product *p)
{
    const bool empty = p->nrows == 0 || p->ncols == 0 || p->inner == 0;
    return !empty && !ftb_deterministic(p->ctx) && ftb_gpu_plan_dense(d, p, true).cublas &&
           ftb_gpu_cublas_ready(d);
}

GrB_Info ftb_gpu_own_dense(ftb_gpu_device *d, const ftb_dense_product *p)
{
    const tiling t = tiling_of(p);
    static const char *const forms[] = {[FTB_AB] = "AB", [FTB_ATB] = "ATB", [FTB_ABT] = "ABT"};
    const char *type = ftb_gpu_real(p->type);
    const bool many = t.across > INT_MAX || t.down > INT_MAX; /* refused by the launch */
    ftb_dense_arguments g = {.nrows = p->nrows,
                             .ncols = p->ncols,
                             .inner = p->inner,
                             .a = p->a,
                             .b = p->b,
                             .c = p->c,
                             .lda = p->lda,
                             .ldb = p->ldb,
                             .ldc = p->ldc,
                             .parts = t.parts,
                             .add = p->add,
                             .tiles = (unsigned)t.across};
    const int64_t bytes = g.parts > 1 ? g.parts * p->nrows * p->ncols * (int64_t)FtB_Type_size(p->type) : 0;
    char name[40];
    GrB_Info info = bytes > 0 ? ftb_device_room(&g.partial, &d->row, p->ctx, bytes) : GrB_SUCCESS;
    if (info != GrB_SUCCESS)
        return info;
    snprintf(name, sizeof name, "dense_%s_%s_%dx%d", type, forms[p->what], t.r, t.s);
    info = ftb_gpu_launch(
        d, p->ctx, SOURCE, name,
        (ftb_gpu_grid){.x = many ? INT64_MAX : t.down * t.across, .y = g.parts, .threads = FTB_DENSE_BLOCK},
        (void *[]){&g});
    if (info == GrB_SUCCESS && g.partial) {
        snprintf(name, sizeof name, "dense_%s_join", type);
        info =
            ftb_gpu_launch(d, p->ctx, SOURCE, name,
                           (ftb_gpu_grid){.x = (p->nrows * p->ncols + FTB_DENSE_BLOCK - 1) / FTB_DENSE_BLOCK,
                                          .y = 1,
                                          .threads = FTB_DENSE_BLOCK},
                           (void *[]){&g});
    }
    if (g.partial)
        d->row.memory->free(&d->row, g.partial, bytes);
    return info;
}

GrB_Info ftb_gpu_dense(const ftb_dense_product *p)
{
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(p->ctx));
    const GrB_Info info = is_for_cublas(d, p) ? ftb_gpu_cublas_dense(d, p) : GrB_NO_VALUE;
    return info == GrB_NO_VALUE ? ftb_gpu_own_dense(d, p) : info;
}

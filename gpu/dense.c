/* The verb `dense` on a GPU, by a kernel of our own (kernels/dense.cu). */
#include "gpu/gpu_verbs.h"
#include "gpu/items.h"
#include "gpu/kernels/dense_tiles.h"

#include <limits.h>
#include <stdio.h>

#define SOURCE "gpu/kernels/dense.cu"

/* Where tiles are few, as in the gradient of a layer's weights, what is summed over is cut, by the shapes
 * alone: into parts of some length, of which there are no more than fill a large GPU. */
enum { PART = 512, FULL = 512, MOST_PARTS = 64 };

static int parts_of(const ftb_dense_product *p, int64_t tiles)
{
    const int64_t room = ftb_min(MOST_PARTS, FULL / ftb_max(1, tiles));
    return (int)ftb_max(1, ftb_min(room, p->inner / PART));
}

/* Values of a thread along a side of so many. */
static int64_t each_of(int64_t side) { return side <= FTB_DENSE_SIDE ? 1 : 4; }

GrB_Info ftb_gpu_dense(const ftb_dense_product *p)
{
    static const char *const forms[] = {[FTB_AB] = "AB", [FTB_ATB] = "ATB", [FTB_ABT] = "ABT"};
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(p->ctx));
    const char *type = ftb_gpu_real(p->type);
    const int64_t r = each_of(p->nrows), s = each_of(p->ncols), high = r * FTB_DENSE_SIDE,
                  wide = s * FTB_DENSE_SIDE;
    const int64_t down = (p->nrows + high - 1) / high, across = (p->ncols + wide - 1) / wide;
    const bool many = across > INT_MAX || down > INT_MAX; /* refused by the launch */
    ftb_dense_arguments g = {.nrows = p->nrows,
                             .ncols = p->ncols,
                             .inner = p->inner,
                             .a = p->a,
                             .b = p->b,
                             .c = p->c,
                             .lda = p->lda,
                             .ldb = p->ldb,
                             .ldc = p->ldc,
                             .parts = many ? 1 : parts_of(p, down * across),
                             .add = p->add,
                             .tiles = (unsigned)across};
    const int64_t bytes = g.parts > 1 ? g.parts * p->nrows * p->ncols * (int64_t)FtB_Type_size(p->type) : 0;
    char name[40];
    GrB_Info info = bytes > 0 ? d->row.memory->alloc(&d->row, p->ctx, &g.partial, bytes) : GrB_SUCCESS;
    if (info != GrB_SUCCESS)
        return info;
    snprintf(name, sizeof name, "dense_%s_%s_%dx%d", type, forms[p->what], (int)r, (int)s);
    info = ftb_gpu_launch(
        d, SOURCE, name,
        (ftb_gpu_grid){.x = many ? INT64_MAX : down * across, .y = g.parts, .threads = FTB_DENSE_BLOCK},
        (void *[]){&g});
    if (info == GrB_SUCCESS && g.partial) {
        snprintf(name, sizeof name, "dense_%s_join", type);
        info =
            ftb_gpu_launch(d, SOURCE, name,
                           (ftb_gpu_grid){.x = (p->nrows * p->ncols + FTB_DENSE_BLOCK - 1) / FTB_DENSE_BLOCK,
                                          .y = 1,
                                          .threads = FTB_DENSE_BLOCK},
                           (void *[]){&g});
    }
    if (g.partial)
        d->row.memory->free(&d->row, g.partial, bytes);
    return info;
}

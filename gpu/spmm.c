/* The verb `spmm` on a GPU, FP32 from sources of FP32 and 16 bits: the direct kernels
 * (kernels/spmm_direct.cuh), or, for sums over graphs whose rows share many sources, the hybrid ones before
 * them (kernels/spmm_hybrid.cuh). Sums are in the order of the entries, but for rows that are cut (pieces.h)
 * and, hybrid, of the entries that tiles have, which come before the others. */
#include "gpu/entries.h"
#include "gpu/gpu_verbs.h"
#include "gpu/launch.h"
#include "gpu/pieces.h"
#include "gpu/spmm_form.h"
#include "gpu/tiles/tensor.h"

#include <limits.h>
#include <stdio.h>

#define SOURCE "gpu/kernels/spmm_direct.cu" /* and what joins pieces, however sources are stored */
#define SOURCE_16 "gpu/kernels/spmm_direct_16.cu"
#define HYBRID "gpu/kernels/spmm_hybrid.cu" /* and what orders weights */
#define HYBRID_16 "gpu/kernels/spmm_hybrid_16.cu"

static const char *source_of(const ftb_spmm_product *s) { return s->stored == FTB_FP32 ? SOURCE : SOURCE_16; }

static const char *hybrid_of(const ftb_spmm_product *s) { return s->stored == FTB_FP32 ? HYBRID : HYBRID_16; }

static const char *stored_of(const ftb_spmm_product *s)
{
    return s->stored == FTB_FP32 ? "f32" : s->stored == FTB_FP16 ? "f16" : "bf16";
}

static const char *edge_of(const ftb_spmm_product *s)
{
    return s->form == FTB_FORM_COPY ? "COPY" : s->yheads == 1 ? "EDGE" : "HEADS";
}

/* The plan that comes with a product is the host's, and has no say here. */
bool ftb_gpu_spmm_fits(const ftb_spmm_product *s)
{
    const bool copy = s->form == FTB_FORM_COPY;
    const bool stored = s->stored == FTB_FP32 || s->stored == FTB_FP16 || s->stored == FTB_BF16;
    if (s->kind.type != FTB_FP32 || !stored || s->rows || s->p->wide || s->p->nrows > INT_MAX ||
        s->heads * s->width > INT_MAX)
        return false;
    if (!copy && (s->form != FTB_FORM_MUL || s->ystored != FTB_FP32 || s->ywidth != 1))
        return false;
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(s->ctx));
    return ftb_gpu_load(d, SOURCE) == GrB_SUCCESS && ftb_gpu_load(d, source_of(s)) == GrB_SUCCESS;
}

static bool aligned(const void *at, int64_t ld, FtB_Type type)
{
    return (uintptr_t)at % (4 * FtB_Type_size(type)) == 0 && ld % 4 == 0;
}

/* ---- the plan */

/* What is chosen is what would be if rows were as aligned as their width allows, so that no bit depends on
 * addresses; `vectors`: they are. */
static void rule(ftb_gpu_spmm_plan *plan, const ftb_spmm_facts *facts, const ftb_spmm_asked *asked,
                 bool vectors)
{
    ftb_gpu_spmm_facts here = facts->gpu;
    ftb_spmm_asked same = *asked;
    ftb_rule_gpu_spmm(plan, facts, &here, asked);
    if (vectors == here.vectors)
        return;
    here.vectors = vectors;
    same.forced |= FTB_SPMM_SET_KERNEL | (plan->hybrid ? FTB_SPMM_SET_THRESHOLD : 0);
    same.family = plan->hybrid ? FTB_SPMM_HYBRID : FTB_SPMM_DIRECT;
    same.threshold = plan->threshold;
    ftb_rule_gpu_spmm(plan, facts, &here, &same);
}

/* For the GPU that a description has, if there is one. Densities are looked at where they may matter, or if
 * all is to be known. */
static GrB_Info make_plan(ftb_gpu_spmm_plan *plan, ftb_spmm_facts *facts, const ftb_spmm_product *s,
                          bool vectors, const ftb_spmm_asked *asked, bool all)
{
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(s->ctx));
    const ftb_gpu_facts *described = &ftb_machine_here()->gpu;
    const bool forced = asked->forced & FTB_SPMM_SET_KERNEL && asked->family >= FTB_SPMM_HYBRID;
    facts->gpu = (ftb_gpu_spmm_facts){.gpu = described->multiprocessors ? *described : d->facts,
                                      .vectors = s->width % 4 == 0,
                                      .fixed = ftb_deterministic(s->ctx)};
    if (d->facts.shared > 0) /* what a description has more of is not there */
        facts->gpu.gpu.shared =
            facts->gpu.gpu.shared > 0 ? ftb_min(facts->gpu.gpu.shared, d->facts.shared) : d->facts.shared;
    facts->gpu.staged = !s->kind.best && s->p->nvals > 0 && s->p->nvals <= INT_MAX;
    rule(plan, facts, asked, vectors);
    if (!facts->gpu.staged || (!all && !forced && (facts->gpu.fixed || plan->seconds < FTB_GPU_SPMM_SMALL)))
        return GrB_SUCCESS;
    facts->gpu.staged =
        ftb_gpu_load(d, HYBRID) == GrB_SUCCESS && ftb_gpu_load(d, hybrid_of(s)) == GrB_SUCCESS;
    GrB_Info info = ftb_gpu_density_ask(&facts->gpu.density, s->p);
    rule(plan, facts, asked, vectors);
    facts->gpu.precision = facts->gpu.staged ? ftb_gpu_tensor_precision(d, s) : FTB_PRECISION_FP32;
    ftb_gpu_spmm_facts here = facts->gpu;
    here.vectors = vectors;
    ftb_rule_gpu_tensor(plan, facts, &here, asked);
    return info;
}

/* Before operands are there. */
GrB_Info ftb_gpu_spmm_plan_of(ftb_spmm_plan *plan, ftb_spmm_facts *facts, const ftb_spmm_product *s)
{
    return make_plan(&plan->gpu, facts, s, s->width % 4 == 0, &plan->asked, true);
}

static GrB_Info plan_of(ftb_gpu_spmm_plan *plan, const ftb_spmm_product *s, const ftb_spmm_asked *asked)
{
    const int64_t value = sizeof(float);
    ftb_spmm_facts facts = {.nrows = s->p->nrows,
                            .ncols = s->p->ncols,
                            .nvals = s->p->nvals,
                            .features = s->heads * s->width,
                            .value_bytes = value,
                            .stored_bytes = (int64_t)FtB_Type_size(s->stored),
                            .edge_bytes = s->form == FTB_FORM_COPY ? 0 : s->yheads * value};
    const bool vectors =
        s->width % 4 == 0 && aligned(s->x, s->ldx, s->stored) && aligned(s->out, s->ldo, FTB_FP32);
    return make_plan(plan, &facts, s, vectors, asked, false);
}

/* ---- hybrid */

/* Memory of a product's own. */
typedef struct room {
    void *at;
    int64_t bytes;
} room;
enum { PARTIAL, STARTS, WEIGHTS, ROOMS };

static GrB_Info take_room(room *to, ftb_gpu_device *d, FtB_Context ctx, int64_t bytes)
{
    *to = (room){NULL, bytes};
    return bytes > 0 ? d->row.memory->alloc(&d->row, ctx, &to->at, bytes) : GrB_SUCCESS;
}

static GrB_Info order_weights(ftb_gpu_device *d, ftb_spmm_direct_arguments *a, const ftb_spmm_product *s,
                              const ftb_gpu_hybrid *h, room *to)
{
    const int heads = (int)s->yheads;
    GrB_Info info = take_room(to, d, s->ctx, h->nentries * heads * (int64_t)sizeof(float));
    ftb_spmm_hybrid_weights w = {.count = h->nentries * heads,
                                 .order = h->order,
                                 .w = a->w,
                                 .from = a->from,
                                 .to = to->at,
                                 .ldw = a->ldw,
                                 .heads = heads};
    if (info == GrB_SUCCESS)
        info = ftb_gpu_launch(
            d, s->ctx, HYBRID, "spmm_hybrid_weights",
            (ftb_gpu_grid){.x = (w.count + FTB_SPMM_HYBRID_WEIGHTS_BLOCK - 1) / FTB_SPMM_HYBRID_WEIGHTS_BLOCK,
                           .y = 1,
                           .threads = FTB_SPMM_HYBRID_WEIGHTS_BLOCK},
            (void *[]){&w});
    a->w = to->at;
    a->ldw = heads;
    a->from = NULL;
    return info;
}

static GrB_Info launch_direct(ftb_gpu_device *d, ftb_spmm_direct_arguments *a, const ftb_spmm_product *s,
                              const ftb_gpu_spmm_plan *plan)
{
    const int groups = FTB_SPMM_DIRECT_BLOCK / plan->lanes, tile = plan->lanes * plan->values;
    char name[64];
    snprintf(name, sizeof name, "spmm_direct_%s_%s_%s_%dx%d", stored_of(s), s->kind.best ? "BEST" : "PLUS",
             edge_of(s), plan->lanes, plan->values);
    return ftb_gpu_launch(d, s->ctx, source_of(s), name,
                          (ftb_gpu_grid){.x = (a->npieces + groups - 1) / groups,
                                         .y = (a->d + tile - 1) / tile,
                                         .threads = FTB_SPMM_DIRECT_BLOCK},
                          (void *[]){a});
}

static GrB_Info launch_tiles(ftb_gpu_device *d, const ftb_spmm_direct_arguments *a, const ftb_spmm_product *s,
                             const ftb_gpu_hybrid *h, int64_t tile, bool vectors)
{
    const int features = vectors ? 8 * 4 : 16;
    char name[64];
    ftb_spmm_hybrid_arguments tiles = ftb_gpu_hybrid_arguments(a, h, tile);
    snprintf(name, sizeof name, "spmm_hybrid_%s_PLUS_%s_%s", stored_of(s), edge_of(s),
             vectors ? "8x4" : "16x1");
    return ftb_gpu_launch(d, s->ctx, hybrid_of(s), name,
                          (ftb_gpu_grid){.x = h->nblocks,
                                         .y = (a->d + features - 1) / features,
                                         .threads = FTB_SPMM_HYBRID_BLOCK,
                                         .shared = (unsigned)(FTB_SPMM_HYBRID_STAGES * tile * features *
                                                              (int64_t)FtB_Type_size(s->stored))},
                          (void *[]){&tiles});
}

/* The first of the pieces, in two steps: `a` has them all, and then those that are left. */
static GrB_Info launch_hybrid(ftb_gpu_device *d, ftb_spmm_direct_arguments *a, const ftb_spmm_product *s,
                              const ftb_gpu_spmm_plan *plan, room rooms[ROOMS])
{
    ftb_gpu_hybrid h;
    const bool weighted = a->w != NULL;
    GrB_Info info = ftb_gpu_hybrid_ask(&h, s->p, d, plan->threshold, plan->tile, weighted);
    ftb_spmm_direct_arguments first = *a;
    if (info != GrB_SUCCESS || h.nblocks == 0)
        return info;
    first.npieces = ftb_min(a->npieces, h.npieces);
    first.start = a->y;
    first.ldstart = a->ldy;
    if (a->add) { /* what is there is added last */
        info = take_room(&rooms[STARTS], d, s->ctx, s->p->nrows * a->ldp * (int64_t)sizeof(float));
        first.start = rooms[STARTS].at;
        first.ldstart = a->ldp;
    }
    if (info == GrB_SUCCESS && weighted)
        info = order_weights(d, &first, s, &h, &rooms[WEIGHTS]);
    if (info == GrB_SUCCESS)
        info = plan->tensor ? ftb_gpu_launch_tensor(d, &first, s, &h, plan)
                            : launch_tiles(d, &first, s, &h, plan->tile, plan->vectors);
    first.rest = h.cold_start;
    first.colidx = h.cold;
    first.w = weighted ? first.w + h.nhot * first.ldw : NULL;
    if (info == GrB_SUCCESS)
        info = launch_direct(d, &first, s, plan);
    a->pieces += first.npieces;
    a->npieces -= first.npieces;
    return info;
}

/* ---- the verb */

static GrB_Info launch(ftb_gpu_device *d, ftb_spmm_direct_arguments *a, const ftb_spmm_product *s,
                       const ftb_gpu_pieces *p, const ftb_gpu_spmm_plan *plan, room rooms[ROOMS])
{
    const ftb_gpu_grid each = {.x = (a->d + FTB_SPMM_DIRECT_BLOCK - 1) / FTB_SPMM_DIRECT_BLOCK,
                               .threads = FTB_SPMM_DIRECT_BLOCK};
    char merge[64];
    snprintf(merge, sizeof merge, "spmm_direct_f32_%s_merge", s->kind.best ? "BEST" : "PLUS");
    const int64_t all = a->npieces;
    GrB_Info info = plan->hybrid ? launch_hybrid(d, a, s, plan, rooms) : GrB_SUCCESS;
    if (info == GrB_SUCCESS)
        info = ftb_gpu_half_done(launch_direct(d, a, s, plan), s->add && a->npieces < all);
    if (info == GrB_SUCCESS)
        info = ftb_gpu_half_done(ftb_gpu_join_cuts(d, s->ctx, p, SOURCE, merge, each, a), s->add);
    return info;
}

GrB_Info ftb_gpu_spmm(const ftb_spmm_product *s, const ftb_spmm_plan *plan)
{
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(s->ctx));
    const int64_t features = s->heads * s->width;
    ftb_gpu_spmm_plan chosen;
    room rooms[ROOMS] = {{NULL, 0}};
    const int *colidx;
    ftb_gpu_pieces p;
    const long long *from = NULL;
    GrB_Info info = plan_of(&chosen, s, &plan->asked);
    if (info == GrB_SUCCESS)
        info = ftb_gpu_rows_ask(&p, &colidx, s->p, d);
    if (info == GrB_SUCCESS && s->at)
        info = ftb_gpu_from_ask(&from, s->p, s->at, d);
    if (info == GrB_SUCCESS)
        info = take_room(&rooms[PARTIAL], d, s->ctx, p.nslots * features * (int64_t)sizeof(float));
    if (info != GrB_SUCCESS)
        return info;
    ftb_spmm_direct_arguments a = {.npieces = p.npieces - (s->add ? p.nempty : 0),
                                   .pieces = p.pieces,
                                   .colidx = colidx,
                                   .x = s->x,
                                   .w = s->y,
                                   .from = from,
                                   .y = s->out,
                                   .partial = rooms[PARTIAL].at,
                                   .ldx = s->ldx,
                                   .ldw = s->ldy,
                                   .ldy = s->ldo,
                                   .ldp = features,
                                   .d = (int)features,
                                   .width = (int)s->width,
                                   .mean = s->mean,
                                   .least = s->least,
                                   .add = s->add};
    info = launch(d, &a, s, &p, &chosen, rooms);
    for (int r = 0; r < ROOMS; r++)
        if (rooms[r].at)
            d->row.memory->free(&d->row, rooms[r].at, rooms[r].bytes);
    return info;
}

/* The verb `spmm` on a GPU, in FP32 from sources of FP32 and 16 bits, in FP64 from FP64 and, with weights,
 * FP32: the direct kernels (kernels/spmm_direct.cuh), or, in FP32 over graphs whose rows share many sources,
 * the hybrid ones before them (kernels/spmm_hybrid.cuh). Sums are in the order of the entries, but for rows
 * that are cut (pieces.h) and, hybrid, of the entries that tiles have, which come before the others.
 * Or cuSPARSE does it, where a plan says so. */
#include "gpu/cusparse/cusparse_spmm.h"
#include "gpu/entries.h"
#include "gpu/gpu_verbs.h"
#include "gpu/launch.h"
#include "gpu/memory.h"
#include "gpu/pieces.h"
#include "gpu/spmm_form.h"
#include "gpu/tiles/tensor.h"
#include "plan/wisdom.h"

#include <limits.h>
#include <stdio.h>

#define SOURCE_32 "gpu/kernels/spmm_direct.cu" /* and what joins pieces of 16 bits */
#define SOURCE_16 "gpu/kernels/spmm_direct_16.cu"
#define SOURCE_64 "gpu/kernels/spmm_direct_64.cu"
#define HYBRID "gpu/kernels/spmm_hybrid.cu" /* and what orders weights */
#define HYBRID_16 "gpu/kernels/spmm_hybrid_16.cu"
#define BULK "gpu/kernels/spmm_hybrid_bulk.cu"
enum {
    HOPPER = 9,
    GRAIN = 16,
    BARRIERS = 128
}; /* the first generation of bulk copies, whose bytes are multiples of this */

static bool in_64(const ftb_spmm_product *s) { return s->kind.type == FTB_FP64; }

/* What joins pieces. */
static const char *joins_of(const ftb_spmm_product *s) { return in_64(s) ? SOURCE_64 : SOURCE_32; }

static const char *source_of(const ftb_spmm_product *s)
{
    return in_64(s) ? SOURCE_64 : s->stored == FTB_FP32 ? SOURCE_32 : SOURCE_16;
}

static const char *hybrid_of(const ftb_spmm_product *s) { return s->stored == FTB_FP32 ? HYBRID : HYBRID_16; }

static const char *stored_of(const ftb_spmm_product *s)
{
    if (in_64(s))
        return s->stored == FTB_FP64 ? "f64" : "f32as64";
    return s->stored == FTB_FP32 ? "f32" : s->stored == FTB_FP16 ? "f16" : "bf16";
}

static const char *reduce_of(const ftb_spmm_product *s) { return s->kind.best ? "BEST" : "PLUS"; }

static const char *edge_of(const ftb_spmm_product *s)
{
    return s->form == FTB_FORM_COPY ? "COPY" : s->yheads == 1 ? "EDGE" : "HEADS";
}

static bool types_fit(const ftb_spmm_product *s)
{
    const bool copy = s->form == FTB_FORM_COPY;
    if (!copy && (s->form != FTB_FORM_MUL || s->ywidth != 1))
        return false;
    if (in_64(s))
        return (s->stored == FTB_FP64 || (s->stored == FTB_FP32 && !copy)) &&
               (copy || s->ystored == FTB_FP32 || s->ystored == FTB_FP64);
    return s->kind.type == FTB_FP32 &&
           (s->stored == FTB_FP32 || s->stored == FTB_FP16 || s->stored == FTB_BF16) &&
           (copy || s->ystored == FTB_FP32);
}

/* The plan that comes with a product is the host's, and has no say here. */
bool ftb_gpu_spmm_fits(const ftb_spmm_product *s)
{
    if (!types_fit(s) || s->rows || s->p->wide || s->p->nrows > INT_MAX || s->heads * s->width > INT_MAX)
        return false;
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(s->ctx));
    return ftb_gpu_load(d, joins_of(s)) == GrB_SUCCESS && ftb_gpu_load(d, source_of(s)) == GrB_SUCCESS;
}

/* Whether so many values at a time can be read there, or written: 16 bytes at most. */
static bool aligned(const void *at, int64_t ld, FtB_Type type, int values)
{
    const size_t bytes = (size_t)values * FtB_Type_size(type);
    return (uintptr_t)at % ftb_min(bytes, 16) == 0 && ld % values == 0;
}

/* Features that kernels take at a time: `known`, as memory is; else as it would be at its best. */
static int at_once(const ftb_spmm_product *s, bool known)
{
    static const int of_16[] = {8, 4, 1}, of_32[] = {4, 1}, of_64[] = {2, 1};
    const int *values = in_64(s) ? of_64 : s->stored == FTB_FP32 ? of_32 : of_16;
    const int64_t together = s->form == FTB_FORM_COPY || s->yheads == 1 ? s->heads * s->width : s->width;
    for (; *values > 1; values++)
        if (together % *values == 0 &&
            (!known ||
             (aligned(s->x, s->ldx, s->stored, *values) && aligned(s->out, s->ldo, s->kind.type, *values) &&
              (!s->won || aligned(s->won, s->ldwon, FTB_INT64, *values)))))
            break;
    return *values;
}

static bool lacks_room(GrB_Info info)
{
    return info == GrB_OUT_OF_MEMORY || info == FTB_LIMIT || info == FTB_NO_DEVICE;
}

/* ---- the plan */

/* What is chosen is what would be if rows were as aligned as their width allows, so that no bit depends on
 * addresses; `here_at_once`: as they are. cuSPARSE does not ask. */
static void align(ftb_gpu_spmm_plan *plan, const ftb_spmm_facts *facts, const ftb_spmm_asked *asked,
                  int here_at_once)
{
    ftb_gpu_spmm_facts here = facts->gpu;
    ftb_spmm_asked same = *asked;
    const ftb_origin origin = plan->origin;
    const double seconds = plan->seconds;
    if (here_at_once == here.at_once || plan->sparse)
        return;
    here.at_once = here_at_once;
    same.forced |= FTB_SPMM_SET_KERNEL | (plan->hybrid ? FTB_SPMM_SET_THRESHOLD : 0);
    same.family = plan->hybrid ? FTB_SPMM_HYBRID : FTB_SPMM_DIRECT;
    same.threshold = plan->threshold;
    ftb_rule_gpu_spmm(plan, facts, &here, &same);
    plan->origin = origin;
    if (origin != FTB_ORIGIN_MODEL)
        plan->seconds = seconds;
}

/* The same where tensor cores have tiles: how the other entries are read. */
static void align_tensor(ftb_gpu_spmm_plan *plan, const ftb_spmm_facts *facts, const ftb_spmm_asked *asked,
                         int here_at_once)
{
    ftb_gpu_spmm_facts here = facts->gpu;
    const double seconds = plan->seconds;
    here.at_once = here_at_once;
    ftb_rule_gpu_tensor(plan, facts, &here, asked);
    plan->seconds = seconds;
}

static void rule(ftb_gpu_spmm_plan *plan, const ftb_spmm_facts *facts, const ftb_spmm_asked *asked,
                 int here_at_once)
{
    ftb_rule_gpu_spmm(plan, facts, &facts->gpu, asked);
    align(plan, facts, asked, here_at_once);
}

/* What a plan is made from beside the facts. */
typedef struct making {
    const ftb_spmm_product *s;
    ftb_gpu_device *d;
    ftb_spmm_asked asked; /* by hand: what was chosen is the host's */
    ftb_choice tried;     /* with that, on a GPU; family 0: nothing was */
    int at_once;          /* features of rows as they are aligned (ftb_gpu_spmm_facts) */
    bool all;             /* is to be known */
} making;

/* What a trial found, or wisdom has of one. cuSPARSE, a quarter of a gigabyte, is looked for only where it
 * would be used. */
static bool is_known(ftb_gpu_spmm_plan *plan, const ftb_spmm_facts *facts, const making *m)
{
    ftb_any_facts any = {.spmm = *facts};
    ftb_any_plan known = {.spmm.asked = m->asked};
    any.spmm.gpu.sparse = ftb_gpu_cusparse_spmm_fits(m->s);
    const bool found = m->tried.family
                           ? ftb_gpu_spmm_choose(&known.spmm, &any.spmm, &m->tried, FTB_ORIGIN_TRIAL)
                           : ftb_wisdom_plan(&known, FTB_PLAN_GPU_SPMM, &any, m->s->ctx);
    if (!found || (known.spmm.gpu.sparse && !ftb_gpu_cusparse_ready(m->d)))
        return false;
    *plan = known.spmm.gpu;
    if (plan->tensor)
        align_tensor(plan, facts, &known.spmm.asked, m->at_once);
    else
        align(plan, facts, &known.spmm.asked, m->at_once);
    return true;
}

static void describe(ftb_spmm_facts *facts, const making *m)
{
    const bool fixed = ftb_deterministic(m->s->ctx);
    const bool wanted = m->asked.forced & FTB_SPMM_SET_KERNEL && m->asked.family == FTB_SPMM_CUSPARSE;
    facts->gpu = (ftb_gpu_spmm_facts){.gpu = ftb_gpu_planned(m->d),
                                      .at_once = at_once(m->s, false),
                                      .fixed = fixed,
                                      .exact = m->s->kind.best,
                                      .relaxed = ftb_relaxed(m->s->ctx) && !fixed,
                                      .sparse = (wanted || m->all) && ftb_gpu_cusparse_spmm_fits(m->s) &&
                                                ftb_gpu_cusparse_ready(m->d)};
    facts->gpu.device = ftb_gpu_number(m->d->gpu, &facts->gpu.gpu);
    facts->gpu.staged = !in_64(m->s) && !m->s->with_won && m->s->p->nvals > 0 && m->s->p->nvals <= INT_MAX;
}

/* Densities are looked at where they may matter, or if all is to be known. */
static GrB_Info make_plan(ftb_gpu_spmm_plan *plan, ftb_spmm_facts *facts, const making *m)
{
    const ftb_spmm_product *s = m->s;
    const bool forced = m->asked.forced & FTB_SPMM_SET_KERNEL &&
                        (m->asked.family == FTB_SPMM_HYBRID || m->asked.family == FTB_SPMM_TENSOR);
    const bool wise = m->tried.family || (!ftb_gpu_spmm_asked(&m->asked) && !ftb_deterministic(s->ctx) &&
                                          ftb_wisdom_any(s->ctx));
    describe(facts, m);
    rule(plan, facts, &m->asked, m->at_once);
    if (!facts->gpu.staged || plan->sparse ||
        (!m->all && !forced && !wise &&
         ((facts->gpu.fixed && !facts->gpu.exact) || plan->seconds < FTB_GPU_SPMM_SMALL)))
        return GrB_SUCCESS;
    facts->gpu.staged =
        ftb_gpu_load(m->d, HYBRID) == GrB_SUCCESS && ftb_gpu_load(m->d, hybrid_of(s)) == GrB_SUCCESS;
    facts->degrees = *ftb_pattern_degrees(s->p);
    GrB_Info info = ftb_gpu_density_ask(&facts->gpu.density, s->p);
    if (lacks_room(info)) /* the direct way needs none */
        info = GrB_SUCCESS;
    facts->gpu.precision = facts->gpu.staged ? ftb_gpu_tensor_precision(m->d, s) : FTB_PRECISION_FP32;
    if (wise && is_known(plan, facts, m))
        return info;
    rule(plan, facts, &m->asked, m->at_once);
    ftb_gpu_spmm_facts here = facts->gpu;
    here.at_once = m->at_once;
    ftb_rule_gpu_tensor(plan, facts, &here, &m->asked);
    return info;
}

static making making_of(const ftb_spmm_product *s, const ftb_spmm_plan *plan)
{
    making m = {.s = s, .d = ftb_gpu_of(ftb_device(s->ctx)), .asked = plan->asked, .tried = plan->there};
    m.asked.forced &= ~m.asked.chosen;
    return m;
}

/* Before operands are there. */
GrB_Info ftb_gpu_spmm_plan_of(ftb_spmm_plan *plan, ftb_spmm_facts *facts, const ftb_spmm_product *s)
{
    making m = making_of(s, plan);
    m.at_once = at_once(s, false);
    m.all = true;
    return make_plan(&plan->gpu, facts, &m);
}

static GrB_Info plan_of(ftb_gpu_spmm_plan *plan, const ftb_spmm_product *s, const ftb_spmm_plan *from)
{
    ftb_spmm_facts facts = {.nrows = s->p->nrows,
                            .ncols = s->p->ncols,
                            .nvals = s->p->nvals,
                            .features = s->heads * s->width,
                            .value_bytes = (int64_t)FtB_Type_size(s->kind.type),
                            .stored_bytes = (int64_t)FtB_Type_size(s->stored)};
    if (s->form != FTB_FORM_COPY)
        facts.edge_bytes = s->yheads * (int64_t)FtB_Type_size(s->ystored);
    making m = making_of(s, from);
    m.at_once = at_once(s, true);
    return make_plan(plan, &facts, &m);
}

/* ---- hybrid */

static GrB_Info order_weights(ftb_gpu_device *d, ftb_spmm_direct_arguments *a, const ftb_spmm_product *s,
                              const ftb_gpu_hybrid *h, float *to)
{
    const int heads = (int)s->yheads;
    int shift = 0; /* threads side by side for an entry's heads: as many, or a warp */
    while (shift < 5 && 1 << shift < heads)
        shift++;
    ftb_spmm_hybrid_weights w = {.order = h->order,
                                 .w = a->w,
                                 .from = a->from,
                                 .to = to,
                                 .ldw = a->ldw,
                                 .entries = (int)h->nentries,
                                 .heads = heads,
                                 .shift = shift};
    const int entries = FTB_SPMM_HYBRID_WEIGHTS_BLOCK >> shift; /* of a block */
    a->w = to;
    a->ldw = heads;
    a->from = NULL;
    return ftb_gpu_launch(d, s->ctx, HYBRID, "spmm_hybrid_weights",
                          (ftb_gpu_grid){.x = (h->nentries + entries - 1) / entries,
                                         .y = 1,
                                         .threads = FTB_SPMM_HYBRID_WEIGHTS_BLOCK},
                          (void *[]){&w});
}

static GrB_Info launch_direct(ftb_gpu_device *d, ftb_spmm_direct_arguments *a, const ftb_spmm_product *s,
                              const ftb_gpu_spmm_plan *plan)
{
    const int groups = FTB_SPMM_DIRECT_BLOCK / plan->lanes, tile = plan->lanes * plan->values;
    char name[64];
    snprintf(name, sizeof name, "spmm_direct_%s_%s_%s_%dx%d", stored_of(s), reduce_of(s), edge_of(s),
             plan->lanes, plan->values);
    return ftb_gpu_launch(d, s->ctx, source_of(s), name,
                          (ftb_gpu_grid){.x = (a->npieces + groups - 1) / groups,
                                         .y = (a->d + tile - 1) / tile,
                                         .threads = FTB_SPMM_DIRECT_BLOCK},
                          (void *[]){a});
}

/* Of two tiles, in a block's shared memory. */
static int64_t tiles_bytes(const ftb_spmm_product *s, const ftb_gpu_spmm_plan *plan)
{
    const int64_t features = plan->vectors ? 8 * 4 : 16;
    return FTB_SPMM_HYBRID_STAGES * plan->tile * features * (int64_t)FtB_Type_size(s->stored);
}

/* Whether the copy engine may bring tiles: no bit depends on it. Barriers want room beside tiles. */
static bool may_bulk(ftb_gpu_device *d, const ftb_spmm_direct_arguments *a, const ftb_spmm_product *s,
                     const ftb_gpu_spmm_plan *plan)
{
    const int64_t value = (int64_t)FtB_Type_size(s->stored);
    const bool fits = d->facts.shared <= 0 || tiles_bytes(s, plan) + BARRIERS <= d->facts.shared;
    return plan->bulk && plan->vectors && fits && d->gpu->major >= HOPPER && (uintptr_t)a->x % GRAIN == 0 &&
           a->ldx * value % GRAIN == 0 && a->d * value % GRAIN == 0 && ftb_gpu_load(d, BULK) == GrB_SUCCESS;
}

static GrB_Info launch_tiles(ftb_gpu_device *d, const ftb_spmm_direct_arguments *a, const ftb_spmm_product *s,
                             const ftb_gpu_hybrid *h, const ftb_gpu_spmm_plan *plan)
{
    const int features = plan->vectors ? 8 * 4 : 16;
    const bool bulk = may_bulk(d, a, s, plan);
    char name[64];
    ftb_spmm_hybrid_arguments tiles = ftb_gpu_hybrid_arguments(a, h, plan->tile);
    snprintf(name, sizeof name, "spmm_hybrid_%s_%s_%s_%s%s", stored_of(s), reduce_of(s), edge_of(s),
             plan->vectors ? "8x4" : "16x1", bulk ? "_bulk" : "");
    return ftb_gpu_launch(d, s->ctx, bulk ? BULK : hybrid_of(s), name,
                          (ftb_gpu_grid){.x = h->nblocks,
                                         .y = (a->d + features - 1) / features,
                                         .threads = FTB_SPMM_HYBRID_BLOCK,
                                         .shared = (unsigned)tiles_bytes(s, plan)},
                          (void *[]){&tiles});
}

/* Tiles, and what is in none, of pieces `first` of the product's; `weights`: room for these in their order.
 */
static GrB_Info launch_steps(ftb_gpu_device *d, ftb_spmm_direct_arguments *first, const ftb_spmm_product *s,
                             const ftb_gpu_hybrid *h, const ftb_gpu_spmm_plan *plan, float *weights)
{
    const bool weighted = first->w != NULL;
    GrB_Info info = weighted ? order_weights(d, first, s, h, weights) : GrB_SUCCESS;
    if (info == GrB_SUCCESS)
        info =
            plan->tensor ? ftb_gpu_launch_tensor(d, first, s, h, plan) : launch_tiles(d, first, s, h, plan);
    first->rest = h->cold_start;
    first->colidx = h->cold;
    first->w = weighted ? (const float *)first->w + h->nhot * first->ldw : NULL;
    return info == GrB_SUCCESS ? launch_direct(d, first, s, plan) : info;
}

/* The first of the pieces, in two steps: `a` has them all, and then those that are left: all where there is
 * no room for the form, or for what is made of it. */
static GrB_Info launch_hybrid(ftb_gpu_device *d, ftb_spmm_direct_arguments *a, const ftb_spmm_product *s,
                              const ftb_gpu_spmm_plan *plan, ftb_gpu_rooms *rooms)
{
    const int64_t value = sizeof(float);
    void *starts = NULL, *weights = NULL;
    ftb_gpu_hybrid h;
    GrB_Info info = ftb_gpu_hybrid_ask(&h, s->p, d, plan->threshold, plan->tile, a->w != NULL);
    if (info != GrB_SUCCESS)
        return lacks_room(info) ? GrB_SUCCESS : info;
    ftb_spmm_direct_arguments first = *a;
    first.npieces = ftb_min(a->npieces, h.npieces);
    if (a->add) /* what is there is added last */
        info = ftb_gpu_room(&starts, rooms, s->p->nrows * a->ldp * value);
    if (a->w && info == GrB_SUCCESS)
        info = ftb_gpu_room(&weights, rooms, h.nentries * s->yheads * value);
    first.start = a->add ? starts : a->y;
    first.ldstart = a->add ? a->ldp : a->ldy;
    const bool does = info == GrB_SUCCESS && h.nblocks > 0;
    if (does)
        info = launch_steps(d, &first, s, &h, plan, weights);
    a->pieces += does ? first.npieces : 0;
    a->npieces -= does ? first.npieces : 0;
    ftb_gpu_hybrid_end(&h);
    return does || !lacks_room(info) ? info : GrB_SUCCESS;
}

/* ---- the verb */

static GrB_Info launch(ftb_gpu_device *d, ftb_spmm_direct_arguments *a, const ftb_spmm_product *s,
                       const ftb_gpu_pieces *p, const ftb_gpu_spmm_plan *plan, ftb_gpu_rooms *rooms)
{
    const ftb_gpu_grid each = {.x = (a->d + FTB_SPMM_DIRECT_BLOCK - 1) / FTB_SPMM_DIRECT_BLOCK,
                               .threads = FTB_SPMM_DIRECT_BLOCK};
    char merge[64];
    snprintf(merge, sizeof merge, "spmm_direct_%s_%s_merge", in_64(s) ? "f64" : "f32", reduce_of(s));
    const int64_t all = a->npieces;
    GrB_Info info = plan->hybrid ? launch_hybrid(d, a, s, plan, rooms) : GrB_SUCCESS;
    if (info == GrB_SUCCESS)
        info = ftb_gpu_half_done(launch_direct(d, a, s, plan), s->add && a->npieces < all);
    if (info == GrB_SUCCESS)
        info = ftb_gpu_half_done(ftb_gpu_join_cuts(d, s->ctx, p, joins_of(s), merge, each, a), s->add);
    return info;
}

GrB_Info ftb_gpu_spmm(const ftb_spmm_product *s, const ftb_spmm_plan *plan)
{
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(s->ctx));
    ftb_gpu_rooms rooms = {.d = d, .ctx = s->ctx};
    const int64_t features = s->heads * s->width;
    ftb_gpu_spmm_plan chosen;
    const int *colidx;
    ftb_gpu_pieces p;
    const long long *from = NULL;
    void *partial = NULL, *won = NULL;
    GrB_Info info;
    FTB_CHECK(plan_of(&chosen, s, plan));
    if (chosen.sparse) {
        info = ftb_gpu_cusparse_spmm(d, s, chosen.algorithm);
        if (info != GrB_NO_VALUE) /* else we do it */
            return info;
    }
    FTB_CHECK(ftb_gpu_rows_ask(&p, &colidx, s->p, d));
    if (s->at)
        FTB_CHECK(ftb_gpu_from_ask(&from, s->p, s->at, d));
    FTB_CHECK(ftb_gpu_room(&partial, &rooms, p.nslots * features * (int64_t)FtB_Type_size(s->kind.type)));
    if (s->won)
        FTB_CHECK(ftb_gpu_room(&won, &rooms, p.nslots * features * (int64_t)sizeof(int64_t)));
    ftb_spmm_direct_arguments a = {.npieces = p.npieces - (s->add ? p.nempty : 0),
                                   .pieces = p.pieces,
                                   .colidx = colidx,
                                   .x = s->x,
                                   .w = s->y,
                                   .from = from,
                                   .y = s->out,
                                   .partial = partial,
                                   .won = s->won,
                                   .partial_won = won,
                                   .ldwon = s->ldwon,
                                   .ldx = s->ldx,
                                   .ldw = s->ldy,
                                   .ldy = s->ldo,
                                   .ldp = features,
                                   .d = (int)features,
                                   .width = (int)s->width,
                                   .wide = s->ystored == FTB_FP64,
                                   .mean = s->mean,
                                   .least = s->least,
                                   .add = s->add};
    info = launch(d, &a, s, &p, &chosen, &rooms);
done:
    ftb_gpu_rooms_free(&rooms);
    return info;
}

/* Sparse x block on a GPU by tensor cores: from which density on, which sources, and how long it takes. As
 * the hybrid form (rule_gpu_spmm.c), but that strips of 16 pieces in a tile are multiplied, however many
 * entries they have:
 *
 *     products  strips x sources / 8 (of 16-bit operands: / 16), each for 32 features
 *     steps     of a product's loads and roundings, of spreading entries out, of a strip in a tile
 *     shared    of a product both matrices, and the zeros that entries are spread over
 *     bytes     of each block and source a row, once; places and weights of entries
 *
 * What is greatest decides, and the others are seen a little. The other entries are direct, as that rule
 * says. Sources are taken where their entries fill so many places on average that products read less than the
 * entries' features are. */
#include "plan/spmm_plan.h"

#include <math.h>

/* gpu/kernels/spmm_tensor.h */
#define PIECES 512.0
#define STRIP 16.0
#define FEATURES 32.0
#define PLACES 128.0
enum { GRAIN = 32, STRIDE_4 = 40, STRIDE_2 = 36, PAD = 16, STRIPS = 32, MOST_TILE = 128 };
#define LINE 128.0 /* bytes that a multiprocessor reads of its shared memory a clock */
/* The following rest on no measurement. */
#define DENSE_4 16        /* entries of 128 places from which a product takes less: of operands of 4 bytes */
#define DENSE_2 14        /* of 2 */
#define PRODUCT_4 25.0    /* instructions of a product for 32 features: of operands of 4 bytes */
#define PRODUCT_2 41.0    /* of 2 */
#define SPREAD 0.75       /* of an entry, of a warp */
#define VISIT 60.0        /* of a strip in a tile */
#define MULTIPLY_4 512.0  /* multiply-adds of a multiprocessor a clock, TF32: an A100's, by its data sheet */
#define MULTIPLY_2 1024.0 /* FP16 and BF16 */
#define SCHEDULERS 4.0    /* instructions that a multiprocessor begins at a time */
#define SHARED_RATE 0.7   /* of what shared memory could */
#define L2_GAIN 2.0       /* L2's rate over the memory's, where it is not known */
#define SEEN 0.1          /* of what does not decide */
#define LAUNCH 3e-6       /* seconds */
#define MARGIN 0.9        /* of the other forms' seconds, that these must stay below */
#define BUILD_ENTRY 20e-9 /* of the host, as rule_gpu_spmm.c has it */

static bool is_narrow(const ftb_gpu_spmm_facts *of) { return of->precision != FTB_PRECISION_TF32; }

/* One block of a multiprocessor, of two tiles and the strips' matrices; 0: there is no room. */
static int64_t tile_of(const ftb_spmm_facts *f, const ftb_spmm_asked *asked)
{
    const int64_t operand = is_narrow(&f->gpu) ? 2 : 4, stride = is_narrow(&f->gpu) ? STRIDE_2 : STRIDE_4;
    const int64_t source = 2 * stride * f->stored_bytes + STRIPS * 16 * operand;
    const int64_t most = (f->gpu.gpu.shared - STRIPS * 16 * PAD) / source / GRAIN * GRAIN;
    if (asked->forced & FTB_SPMM_SET_SEGMENT) {
        const int64_t tile = (asked->segment + GRAIN - 1) / GRAIN * GRAIN;
        return tile <= most ? tile : 0;
    }
    return most < 0 ? 0 : most > MOST_TILE ? MOST_TILE : most;
}

/* Entries of sources that blocks use so often, and of blocks and such sources the pairs. */
typedef struct share {
    double entries, columns, blocks;
} share;
static share uses_from(const ftb_gpu_density *d, int class)
{
    share of = {0, 0, 0};
    for (int b = class; b < FTB_GPU_USES; b++) {
        of.entries += d->entries[b];
        of.columns += d->columns[b];
        of.blocks += d->blocks[b];
    }
    return of;
}

static double together(double a, double b, double c, double d)
{
    const double most = fmax(fmax(a, b), fmax(c, d));
    return most + SEEN * (a + b + c + d - most);
}

static double tiles_seconds(const ftb_spmm_facts *f, const share *hot, int64_t tile)
{
    const ftb_gpu_facts *gpu = &f->gpu.gpu;
    const bool narrow = is_narrow(&f->gpu);
    const double inner = narrow ? 16 : 8, ft = ceil((double)f->features / FEATURES);
    const double each = gpu->multiprocessors * gpu->clock, value = (double)f->stored_bytes;
    const double visits = (hot->columns / (double)tile + hot->blocks / 2) * PIECES / STRIP;
    const double products = hot->columns / inner * PIECES / STRIP * ft;
    const double steps =
        products * (narrow ? PRODUCT_2 : PRODUCT_4) + ft * (hot->entries * SPREAD + visits * VISIT);
    const double shared = products * (2 * STRIP * inner * (narrow ? 2 : 4) + inner * FEATURES * value);
    const double bytes = ft * (hot->columns * FEATURES * value + hot->entries * (2 + (double)f->edge_bytes)) +
                         2 * (double)(f->nrows * f->features * f->value_bytes);
    const double rate = gpu->l2_rate > 0 ? gpu->l2_rate : L2_GAIN * gpu->memory_rate;
    return together(bytes / rate, steps / (each * SCHEDULERS), shared / (each * LINE * SHARED_RATE),
                    products * STRIP * inner * FEATURES / (each * (narrow ? MULTIPLY_2 : MULTIPLY_4)));
}

/* The other entries', of sources that are used less. */
static double rest_seconds(ftb_gpu_spmm_plan *rest, const ftb_spmm_facts *facts,
                           const ftb_gpu_spmm_facts *here, const share *hot, int class)
{
    const ftb_spmm_asked direct = {.forced = FTB_SPMM_SET_KERNEL, .family = FTB_SPMM_DIRECT};
    ftb_spmm_facts f = *facts;
    ftb_gpu_spmm_facts of = *here;
    f.nvals -= (int64_t)fmin(hot->entries, (double)f.nvals);
    for (int b = class; b < FTB_GPU_USES; b++)
        of.density.entries[b] = of.density.columns[b] = of.density.blocks[b] = 0;
    ftb_rule_gpu_spmm(rest, &f, &of, &direct);
    return rest->direct_seconds;
}

static bool is_wanted(const ftb_spmm_asked *asked)
{
    return asked->forced & FTB_SPMM_SET_KERNEL && asked->family == FTB_SPMM_TENSOR;
}

static bool may_be(const ftb_gpu_spmm_plan *plan, const ftb_spmm_facts *facts, const ftb_spmm_asked *asked)
{
    const bool other =
        asked->forced & FTB_SPMM_SET_KERNEL && !is_wanted(asked) && asked->family != FTB_SPMM_AUTO;
    const bool small = plan->direct_seconds < FTB_GPU_SPMM_SMALL && !is_wanted(asked);
    return facts->gpu.precision != FTB_PRECISION_FP32 && facts->gpu.staged && facts->gpu.density.known &&
           facts->nvals > 0 && !other && !small;
}

void ftb_rule_gpu_tensor(ftb_gpu_spmm_plan *plan, const ftb_spmm_facts *facts, const ftb_gpu_spmm_facts *here,
                         const ftb_spmm_asked *asked)
{
    const int dense = is_narrow(&facts->gpu) ? DENSE_2 : DENSE_4;
    const int64_t tile = tile_of(facts, asked);
    const bool given = asked->forced & FTB_SPMM_SET_THRESHOLD;
    ftb_gpu_spmm_plan out = *plan;
    out.tensor_seconds = INFINITY;
    if (tile == 0 || !may_be(plan, facts, asked))
        return;
    for (int b = 1; b < FTB_GPU_USES; b++) {
        const share hot = uses_from(&facts->gpu.density, b);
        const bool enough = hot.entries * PLACES >= dense * hot.columns * PIECES && hot.entries > 0;
        ftb_gpu_spmm_plan rest;
        if (given ? b != (int)fmin(FTB_GPU_USES - 1, log2((double)asked->threshold)) : !enough)
            continue;
        const double build =
            asked->forced & FTB_SPMM_SET_USES ? BUILD_ENTRY * (double)facts->nvals / (double)asked->uses : 0;
        const double seconds = build + (facts->edge_bytes > 0 ? 2 : 1) * LAUNCH +
                               tiles_seconds(facts, &hot, tile) +
                               rest_seconds(&rest, facts, &facts->gpu, &hot, b);
        if (!(seconds < out.tensor_seconds))
            continue;
        rest_seconds(&rest, facts, here, &hot, b); /* which lanes have what is read how */
        out.tensor_seconds = seconds;
        out.threshold = given ? (int)asked->threshold : 1 << b;
        out.hot = fmin(1, hot.entries / (double)facts->nvals);
        out.lanes = rest.lanes;
        out.values = rest.values;
    }
    plan->tensor_seconds = out.tensor_seconds;
    if (!isfinite(out.tensor_seconds) || !(is_wanted(asked) || out.tensor_seconds < MARGIN * plan->seconds))
        return;
    out.hybrid = out.tensor = true;
    out.dense = dense;
    out.tile = tile;
    out.seconds = out.tensor_seconds;
    *plan = out;
}

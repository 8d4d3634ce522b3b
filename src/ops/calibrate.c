/* FtB_Wisdom_calibrate: random graphs whose features lie in L2, in L3 and in memory are multiplied in every
 * way that the planner knows, with segments and tiles of many sizes, on one thread; the costs of the rules
 * are then fitted to the times (plan/fit.c). Times are those of the thread, which other programs slow but do
 * not count in. */
#include "core/core.h"
#include "cpu/kernels/spmm_kernels.h"
#include "ops/plan_object.h"
#include "plan/bandwidth.h"
#include "plan/fit.h"

#include <math.h>

#define MOST_ENTRIES 3000000
#define MOST_SOURCES 400000
#define LONG_ROWS 12 /* sources for one row */
#define MOST_HEADS 8
#define MOST_DIM 128
#define ENOUGH_SECONDS 40 /* of products: what is left then is not run */
#define MOST_SAMPLES 512

/* Sums of sources, and of sources times weights; dot products on edges; attention. */
typedef enum kind { SUM, WEIGHTED, DOT, ATTENTION } kind;

typedef struct form {
    kind kind;
    int dim, heads;
} form;

static const form forms[] = {{SUM, 128, 1},     {SUM, 32, 1},       {SUM, 8, 1},        {SUM, 1, 1},
                             {WEIGHTED, 64, 1}, {WEIGHTED, 128, 8}, {DOT, 128, 1},      {DOT, 32, 1},
                             {DOT, 128, 8},     {ATTENTION, 64, 1}, {ATTENTION, 128, 8}};
enum { FORMS = sizeof forms / sizeof *forms };

/* What is forced of a plan; NULL and 0: nothing. */
typedef struct setting {
    const char *kernel;
    int64_t segment, tile, parts;
} setting;

/* Graphs whose features, MOST_DIM of a source, lie in half of L2, in L3, and in memory: there with few
 * entries a row, and with many. */
enum { NEAR, MIDDLE, SHORT, LONG, GRAPHS };

typedef struct bench {
    FtB_Context ctx, caller; /* ctx: of one thread, for what is made here */
    const ftb_machine_facts *machine;
    int64_t entries;
    FtB_Matrix graph[GRAPHS];
    float *x, *y, *c, *weights; /* weights: an entry's, of each head */
    ftb_sample *samples;
    int64_t count;
    int product; /* of the samples that are taken now */
    double spent;
} bench;

/* ---- operands */

/* xorshift64 */
static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static GrB_Info make_graph(FtB_Matrix *A, FtB_Context ctx, int64_t nrows, int64_t ncols, int64_t entries)
{
    int64_t *I = ftb_new(ctx, 2 * entries, sizeof *I), *J = I ? I + entries : NULL;
    uint64_t state = UINT64_C(88172645463325252);
    GrB_Info info = I ? GrB_SUCCESS : ftb_nomem();
    for (int64_t e = 0; e < entries && info == GrB_SUCCESS; e++) {
        I[e] = (int64_t)(draw(&state) % (uint64_t)nrows);
        J[e] = (int64_t)(draw(&state) % (uint64_t)ncols);
    }
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_build(A, FTB_FP32, nrows, ncols, 0, entries, I, J, NULL, FTB_DUP_FIRST, NULL);
    ftb_delete(I);
    return info;
}

static int64_t sources_of(const ftb_machine_facts *machine, int graph)
{
    const double row = MOST_DIM * sizeof(float), l2 = (double)machine->l2, l3 = ftb_machine_l3(machine);
    const double bytes = graph == NEAR     ? l2 / 2
                         : graph == MIDDLE ? fmin(8 * l2, fmax(0.7 * l3, 2 * l2))
                                           : fmax((machine->near_l3 ? 8 : 2) * l3, 8 * l2);
    return ftb_min(ftb_max((int64_t)(bytes / row), 256), MOST_SOURCES);
}

/* Entries are so many times the sources of the largest graph. */
static GrB_Info make_graphs(bench *b)
{
    static const int entries[] = {[NEAR] = 8, [MIDDLE] = 8, [SHORT] = 8, [LONG] = 24};
    const int64_t most = sources_of(b->machine, LONG);
    GrB_Info info = GrB_SUCCESS;
    for (int g = 0; g < GRAPHS; g++) {
        const int64_t n = sources_of(b->machine, g), count = ftb_min(entries[g] * most, MOST_ENTRIES);
        FTB_CHECK(make_graph(&b->graph[g], b->ctx, g == LONG ? n / LONG_ROWS : n, n, count));
        b->entries = ftb_max(b->graph[g]->pattern->nvals, b->entries);
    }
done:
    return info;
}

/* Written: pages that never were are one page of zeros. */
static float *ones(FtB_Context ctx, int64_t count)
{
    float *x = ftb_new(ctx, count, sizeof *x);
    for (int64_t t = 0; x && t < count; t++)
        x[t] = 1;
    return x;
}

static GrB_Info make_operands(bench *b)
{
    const int64_t most = sources_of(b->machine, LONG);
    GrB_Info info;
    FTB_CHECK(make_graphs(b));
    b->x = ones(b->ctx, most * MOST_DIM);
    b->y = ones(b->ctx, most * MOST_DIM);
    b->c = ones(b->ctx, most * MOST_DIM);
    b->weights = ones(b->ctx, b->entries * MOST_HEADS);
    b->samples = ftb_new(b->ctx, MOST_SAMPLES, sizeof *b->samples);
    if (!b->x || !b->y || !b->c || !b->weights || !b->samples)
        info = ftb_nomem();
done:
    return info;
}

static void free_operands(bench *b)
{
    for (int g = 0; g < GRAPHS; g++)
        FtB_Matrix_free(&b->graph[g]);
    ftb_delete(b->x);
    ftb_delete(b->y);
    ftb_delete(b->c);
    ftb_delete(b->weights);
    ftb_delete(b->samples);
}

/* ---- one product */

typedef struct product {
    const form *form;
    FtB_Matrix A, S;
    FtB_Block X, Y, C;
    FtB_Descriptor desc;
    FtB_Plan plan;
} product;

static GrB_Info block(FtB_Block *X, float *data, int64_t n, const form *f)
{
    FtB_Block whole = NULL;
    GrB_Info info = FtB_Block_wrap(&whole, data, n, f->dim, f->dim, FTB_FP32);
    if (info == GrB_SUCCESS)
        info = FtB_Block_heads(X, whole, f->heads);
    FtB_Block_free(&whole);
    return info;
}

/* The graph anew, so that no partition is kept of the last product. */
static GrB_Info make_product(product *p, const bench *b, int graph, const form *f)
{
    const ftb_pattern *pattern = b->graph[graph]->pattern;
    GrB_Info info;
    *p = (product){.form = f};
    FTB_CHECK(FtB_Matrix_wrap_csr(&p->A, FTB_FP32, pattern->nrows, pattern->ncols,
                                  f->kind == WEIGHTED ? f->heads : 0, pattern->rowptr, pattern->colidx,
                                  f->kind == WEIGHTED ? b->weights : NULL));
    FTB_CHECK(block(&p->X, b->x, pattern->ncols, f));
    FTB_CHECK(block(&p->Y, b->y, pattern->nrows, f));
    FTB_CHECK(block(&p->C, b->c, pattern->nrows, f));
    FTB_CHECK(FtB_Descriptor_new(&p->desc));
    if (f->kind == DOT) {
        FTB_CHECK(FtB_Matrix_like(&p->S, p->A, f->heads, FTB_FP32));
        FTB_CHECK(FtB_Descriptor_set(p->desc, FTB_TRANSPOSE1, true));
        FTB_CHECK(FtB_Descriptor_set(p->desc, FTB_STRUCTURAL, true));
        FTB_CHECK(FtB_Descriptor_set(p->desc, FTB_REPLACE, true));
    }
    if (f->kind == ATTENTION)
        info = FtB_attention_plan(&p->plan, p->C, p->A, NULL, FTB_PLUS_DOT, p->Y, p->X, p->X, NULL, p->desc,
                                  FTB_ESTIMATE);
    else if (f->kind == DOT)
        info = FtB_mxm_plan(&p->plan, p->S, p->A, NULL, FTB_PLUS_DOT, p->Y, p->X, p->desc, FTB_ESTIMATE);
    else
        info = FtB_mxm_plan(&p->plan, p->C, NULL, NULL, f->kind == SUM ? FTB_PLUS_SRC : FTB_PLUS_MUL, p->A,
                            p->X, p->desc, FTB_ESTIMATE);
done:
    return info;
}

static void free_product(product *p)
{
    FtB_Plan_free(&p->plan);
    FtB_Descriptor_free(&p->desc);
    FtB_Block_free(&p->C);
    FtB_Block_free(&p->Y);
    FtB_Block_free(&p->X);
    FtB_Matrix_free(&p->S);
    FtB_Matrix_free(&p->A);
}

static GrB_Info run_product(const product *p)
{
    switch (p->form->kind) {
    case SUM:
        return FtB_mxm(p->C, NULL, NULL, FTB_PLUS_SRC, p->A, p->X, p->desc);
    case WEIGHTED:
        return FtB_mxm(p->C, NULL, NULL, FTB_PLUS_MUL, p->A, p->X, p->desc);
    case DOT:
        return FtB_mxm(p->S, p->A, NULL, FTB_PLUS_DOT, p->Y, p->X, p->desc);
    case ATTENTION:
        break;
    }
    return FtB_attention(p->C, p->A, NULL, FTB_PLUS_DOT, p->Y, p->X, p->X, NULL, p->desc);
}

/* ---- samples */

static GrB_Info force(FtB_Plan plan, const char *key, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value);
    return value > 0 ? FtB_Plan_set(plan, key, text) : GrB_SUCCESS;
}

static void note(bench *b, const product *p, double seconds)
{
    const struct FtB_Plan_opaque *plan = p->plan;
    if (b->count == MOST_SAMPLES)
        return;
    ftb_sample *s = &b->samples[b->count++];
    *s = (ftb_sample){.product = b->product,
                      .kind = plan->kind,
                      .facts = plan->facts,
                      .choice = ftb_plan_rows[plan->kind].chosen(&plan->plan),
                      .seconds = seconds};
}

/* The product under one setting: the first run, with what it built, and the second. */
static GrB_Info time_product(bench *b, product *p)
{
    double seconds[2];
    for (int run = 0; run < 2; run++) {
        const double start = ftb_thread_seconds();
        GrB_Info info = run_product(p);
        seconds[run] = ftb_thread_seconds() - start;
        b->spent += seconds[run];
        if (info != GrB_SUCCESS)
            return info;
    }
    ftb_spmm_facts *facts = &p->plan->facts.spmm;
    const ftb_spmm_plan *plan = &p->plan->plan.spmm;
    if (p->plan->kind == FTB_PLAN_SPMM && plan->segment > 0) {
        facts->uses = 1;
        note(b, p, seconds[0]);
        facts->cached_segment = plan->segment;
        facts->slices_there = plan->family == FTB_SPMM_SLICED;
    }
    note(b, p, seconds[1]);
    return GrB_SUCCESS;
}

static GrB_Info take_sample(bench *b, int graph, const form *f, const setting *s)
{
    product p = {.form = f};
    GrB_Info info;
    if (b->spent > ENOUGH_SECONDS)
        return GrB_SUCCESS;
    FTB_CHECK(ftb_progress(b->caller, b->spent, 0, "seconds of calibration"));
    FTB_CHECK(make_product(&p, b, graph, f));
    FTB_CHECK(FtB_Plan_set(p.plan, "kernel", s->kernel));
    FTB_CHECK(force(p.plan, "segment", s->segment));
    FTB_CHECK(force(p.plan, "tile", s->tile));
    FTB_CHECK(force(p.plan, "parts", s->parts));
    FTB_CHECK(FtB_Descriptor_set(p.desc, FTB_PLAN, p.plan));
    info = time_product(b, &p);
done:
    free_product(&p);
    return info;
}

/* Segments whose sources take from an eighth of L2 to eight times it, with one tile. */
static GrB_Info take_segments(bench *b, int graph, const form *f, setting s, double source_bytes)
{
    GrB_Info info = GrB_SUCCESS;
    for (int eighths = 1; eighths <= 64; eighths *= s.tile < f->dim ? 4 : 2) {
        s.segment = (int64_t)(eighths * (double)b->machine->l2 / (8 * source_bytes));
        if (s.segment >= 64 && s.segment <= FTB_MOST_SEGMENT && s.segment < b->graph[graph]->pattern->ncols)
            FTB_CHECK(take_sample(b, graph, f, &s));
    }
done:
    return info;
}

static GrB_Info take_form(bench *b, int graph, const form *f)
{
    const bool spmm = f->kind == SUM || f->kind == WEIGHTED;
    GrB_Info info;
    FTB_CHECK(take_sample(b, graph, f, &(setting){.kernel = spmm ? "direct" : "rows"}));
    if (f->kind == ATTENTION)
        FTB_CHECK(take_sample(b, graph, f, &(setting){.kernel = "staged"}));
    if (graph == NEAR)
        return info;
    if (f->dim == 1)
        info = take_sample(b, graph, f, &(setting){.kernel = "sliced"});
    else if (f->kind == DOT)
        info = take_segments(b, graph, f, (setting){.kernel = "segments"}, 4.0 * f->dim);
    else if (f->kind == ATTENTION)
        for (int tile = 1; tile <= f->heads && info == GrB_SUCCESS;
             tile *= 4) /* keys and values of its heads */
            info = take_segments(b, graph, f, (setting){.kernel = "segments", .tile = tile},
                                 8.0 * f->dim / f->heads * tile);
    else
        for (int tile = f->dim; tile >= 32 && info == GrB_SUCCESS; tile /= 2)
            info = take_segments(
                b, graph, f, (setting){.kernel = "partitioned", .tile = tile, .parts = tile == 64 ? 4 : 1},
                4.0 * tile);
done:
    return info;
}

/* Of the samples from `first` on, which are of one product. */
static void weigh(bench *b, int64_t first)
{
    double least = INFINITY;
    for (int64_t s = first; s < b->count; s++)
        least = fmin(b->samples[s].seconds, least);
    for (int64_t s = first; s < b->count; s++)
        b->samples[s].weight = least / b->samples[s].seconds;
}

static GrB_Info take_samples(bench *b)
{
    GrB_Info info;
    FTB_CHECK(make_operands(b));
    for (int f = 0; f < FORMS; f++)
        for (int g = 0; g < GRAPHS; g++) {
            const int64_t first = b->count;
            FTB_CHECK(take_form(b, g, &forms[f]));
            weigh(b, first);
            b->product++;
        }
done:
    return info;
}

GrB_Info FtB_Wisdom_calibrate(FtB_Context ctx)
{
    const FtB_Context before = ftb_context_retain(ftb_context());
    FtB_Context own = NULL;
    ctx = ctx ? ctx : before;
    ftb_machine_facts machine = *ftb_machine_measured();
    bench b = {.caller = ctx, .machine = &machine};
    const int64_t left = ftb_memory_left(ctx);
    GrB_Info info;
    FTB_CHECK(FtB_Context_new(&own));
    FTB_CHECK(FtB_Context_set_threads(own, 1));
    FTB_CHECK(FtB_Context_set_memory_limit(own, left < INT64_MAX ? ftb_max(left, 1) : 0));
    b.ctx = own;
    FTB_CHECK(FtB_Context_engage(own));
    info = take_samples(&b);
    if (info == GrB_SUCCESS) {
        ftb_fit_costs(&machine, b.samples, b.count);
        info = ftb_wisdom_add(ctx, NULL, 0, &machine.costs);
    }
    FtB_Context_engage(before);
done:
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(ctx);
    free_operands(&b);
    FtB_Context_free(&own);
    ftb_context_release(before);
    return info;
}

/* Messages reduced into rows: rewritten, what depends on one vertex computed first, then a kernel for the
 * form that is left, or the message's program, then what was moved behind the reduction. */
#include "cpu/message_run.h"
#include "ops/hoist.h"
#include "ops/merge.h"
#include "ops/plan_object.h"
#include "ops/spmm.h"
#include "ops/vertices.h"
#include "plan/wisdom.h"

typedef struct work {
    const ftb_spmm_request *request;
    ftb_hoisted hoisted;
    ftb_spmm_product product;
    ftb_spmm_facts facts;
    ftb_spmm_plan plan;
    void *values; /* the reduced core */
    bool own;     /* values is new */
    int64_t ld;
} work;

/* ---- a kernel for it */

static bool same_or_one(int64_t x, int64_t whole) { return x == whole || x == 1; }

/* What the kernels ask of the block. A value that is converted must become what the program makes of it. */
static bool block_fits(const work *w, const ftb_feed *x)
{
    bool truth = x && x->type == FTB_BOOL;
    return x && x->side == FTB_SIDE_COL && x->data && !x->at && x->heads == w->hoisted.core.heads &&
           x->width == w->hoisted.type.width && (!truth || w->hoisted.rewritten.form == FTB_FORM_COPY);
}

static bool edges_fit(const work *w, const ftb_feed *y)
{
    return y && y->side == FTB_SIDE_EDGE && y->data && y->type != FTB_BOOL &&
           same_or_one(y->heads, w->hoisted.core.heads) && same_or_one(y->width, w->hoisted.type.width);
}

/* Sums wrap, so that UINT64 is added as INT64. */
static FtB_Type kernel_type(const work *w)
{
    return w->hoisted.type.reduced == FTB_UINT64 && w->hoisted.rewritten.monoid == FTB_PLUS
               ? FTB_INT64
               : w->hoisted.type.reduced;
}

static ftb_spmm_edge edge_kind(const ftb_spmm_product *product)
{
    ftb_spmm_kind heads = product->kind;
    heads.edge = FTB_EDGE_HEADS;
    if (product->yheads * product->ywidth <= 1)
        return FTB_EDGE_ONE;
    bool whole = product->ywidth == 1 &&
                 product->width % ftb_spmm_lanes_of(heads.type, product->heads * product->width) == 0;
    return whole && ftb_spmm_find(&heads) >= 0 ? FTB_EDGE_HEADS : FTB_EDGE_LANES;
}

/* The kernel, if there is one, with all of the product but its memory. */
static bool find_kernel(work *w)
{
    const ftb_rewritten *r = &w->hoisted.rewritten;
    const ftb_feed *x = ftb_message_find(&w->hoisted.core, r->x),
                   *y = ftb_message_find(&w->hoisted.core, r->y);
    ftb_spmm_product *product = &w->product;
    if (!r->core || w->request->p->wide || r->form == FTB_FORM_ANY || r->form > FTB_FORM_DIV ||
        (r->monoid != FTB_PLUS && r->monoid != FTB_MIN && r->monoid != FTB_MAX) || !block_fits(w, x))
        return false;
    const bool edges = r->form != FTB_FORM_COPY;
    if (edges && (!edges_fit(w, y) || w->hoisted.type.message != w->hoisted.type.reduced))
        return false;
    *product = (ftb_spmm_product){.ctx = w->hoisted.core.ctx,
                                  .p = w->request->p,
                                  .kind = {kernel_type(w), r->monoid != FTB_PLUS, r->form, FTB_EDGE_NONE},
                                  .form = r->form,
                                  .least = r->monoid == FTB_MIN,
                                  .heads = w->hoisted.core.heads,
                                  .width = w->hoisted.type.width,
                                  .x = x->data,
                                  .stored = x->type,
                                  .ldx = x->ld,
                                  .y = edges ? y->data : NULL,
                                  .ystored = edges ? y->type : (FtB_Type)0,
                                  .ldy = edges ? y->ld : 0,
                                  .yheads = edges ? y->heads : 0,
                                  .ywidth = edges ? y->width : 0,
                                  .at = edges ? y->at : NULL,
                                  .rows = w->request->rows,
                                  .nlisted = w->request->nlisted,
                                  .mean = r->mean};
    if (edges && y->heads == 1 && y->width > 1 && w->hoisted.core.heads > 1)
        return false; /* the same values for every head */
    product->kind.edge = edges ? edge_kind(product) : FTB_EDGE_NONE;
    int found = ftb_spmm_find(&product->kind);
    if (found < 0)
        return false;
    product->kind = ftb_spmm_kernels(&(int){0})[found].kind;
    product->with_won = w->request->arg;
    return true;
}

/* What is too small to be split is not, unless so many threads were asked for. */
static void spare_threads(work *w)
{
    const ftb_spmm_facts *f = &w->facts;
    const int64_t vectors = (f->features + f->lanes - 1) / f->lanes; /* each takes 1.5 ns where it is near */
    const int threads = f->tuned
                            ? ftb_threads_for_values(w->hoisted.core.ctx, f->entries * vectors + f->listed)
                            : ftb_threads_for(w->hoisted.core.ctx, f->entries * f->features + f->listed);
    if (w->plan.asked.forced & FTB_SPMM_SET_THREADS || threads >= w->plan.threads)
        return;
    w->plan.seconds *= (double)w->plan.threads / threads;
    w->plan.threads = threads;
}

/* The plan, if wisdom has it. */
static bool is_known(work *w)
{
    if (!w->facts.tuned || !ftb_wisdom_any(w->hoisted.core.ctx))
        return false;
    const ftb_any_facts facts = {.spmm = w->facts};
    ftb_any_plan plan = {.spmm = w->plan};
    bool known = ftb_wisdom_plan(&plan, FTB_PLAN_SPMM, &facts, w->hoisted.core.ctx);
    w->plan = plan.spmm;
    return known;
}

static void make_plan(work *w, bool tuned)
{
    const ftb_spmm_request *request = w->request;
    w->facts = ftb_spmm_facts_of(request, tuned ? &w->product : NULL, w->hoisted.core.ctx,
                                 w->hoisted.core.heads * w->hoisted.type.width, w->hoisted.type.reduced);
    if (!request->forced && !request->plan_only) /* as many to come as there were */
        w->facts.uses = 1 + atomic_fetch_add(&request->p->products, 1);
    if (request->forced)
        w->plan = *request->forced;
    const ftb_machine_facts machine = ftb_wisdom_machine(w->hoisted.core.ctx);
    if (request->forced || request->measure || !is_known(w))
        ftb_rule_spmm(&w->plan, &w->facts, &machine);
    spare_threads(w);
}

/* ---- running */

/* Whether something is left to do behind the reduction; kernels divide what is a mean. */
static bool has_post(const work *w)
{
    const ftb_rewritten *r = &w->hoisted.rewritten;
    return r->post && (w->plan.family == FTB_SPMM_PROGRAM || !r->mean);
}

static GrB_Info make_room(work *w, bool may_use_into, ftb_spmm_result *result)
{
    const ftb_spmm_request *request = w->request;
    int64_t row = w->hoisted.core.heads * w->hoisted.type.width;
    w->ld = row;
    w->own = !(may_use_into && request->into && request->into_type == w->hoisted.type.reduced);
    if (!w->own) {
        w->values = request->into;
        w->ld = request->ldinto;
    } else if (!(w->values = request->rows ? ftb_new0(w->hoisted.core.ctx, request->p->nrows,
                                                      (size_t)row * FtB_Type_size(w->hoisted.type.reduced))
                                           : ftb_new(w->hoisted.core.ctx, request->p->nrows,
                                                     (size_t)row * FtB_Type_size(w->hoisted.type.reduced)))) {
        return ftb_nomem();
    }
    if (request->arg &&
        !(result->arg = ftb_new(w->hoisted.core.ctx, request->p->nrows, (size_t)row * sizeof(int64_t))))
        return ftb_nomem();
    return GrB_SUCCESS;
}

static GrB_Info reduce_core(work *w, ftb_spmm_result *result)
{
    const ftb_spmm_request *request = w->request;
    result->filled = request->fill && !has_post(w);
    if (w->plan.family == FTB_SPMM_PROGRAM) /* which fills them in any case */
        return ftb_message_reduce(&w->hoisted.core, request->p, w->values, w->ld, result->arg,
                                  w->hoisted.core.heads * w->hoisted.type.width, request->rows,
                                  request->nlisted);
    w->product.out = w->values;
    w->product.ldo = w->ld;
    if (result->filled || (w->hoisted.rewritten.post && !w->hoisted.rewritten.mean))
        w->product.empty = FTB_EMPTY_IDENTITY;
    w->product.interruptible = w->own;
    return ftb_spmm_run(&w->product, &w->plan);
}

/* ---- behind the reduction */

/* The message of what is left: over h, which is adopted, count and what belongs to rows. */
static GrB_Info make_post(ftb_message *post, const work *w, FtB_Block h)
{
    *post = w->hoisted.core;
    post->expr = w->hoisted.rewritten.post;
    GrB_Info info = ftb_message_adopt(post, "h", FTB_SIDE_ROW, h);
    if (info != GrB_SUCCESS)
        return info;
    ftb_buffer *owner = post->feeds[post->nfeeds - 1].owner;
    if (post->nfeeds == FTB_MAX_FEEDS) {
        ftb_buffer_release(owner);
        return ftb_fail(GrB_INVALID_VALUE, "semiring: more than %d names in one text", FTB_MAX_FEEDS);
    }
    post->feeds[post->nfeeds++] = (ftb_feed){.name = "count",
                                             .side = FTB_SIDE_ROW,
                                             .type = FTB_INT64,
                                             .nrows = w->request->p->nrows,
                                             .ld = 1,
                                             .heads = 1,
                                             .width = 1,
                                             .degree = w->request->p->rowptr};
    return GrB_SUCCESS;
}

/* Gives h back: the feed before count. */
static void end_post(const ftb_message *post) { ftb_buffer_release(post->feeds[post->nfeeds - 2].owner); }

/* Room for the reduced core: nrows x its values. */
static GrB_Info new_core(FtB_Block *h, const work *w, int64_t nrows)
{
    const ftb_hoisted *of = &w->hoisted;
    const int64_t row = of->core.heads * of->type.width;
    return ftb_block_view(
        h, of->core.ctx, of->type.reduced, nrows, row, row,
        ftb_buffer_adopt(of->core.ctx,
                         ftb_new(of->core.ctx, nrows, (size_t)row * FtB_Type_size(of->type.reduced))));
}

/* ---- on a device */

/* Whether what is left behind the reduction, too, is done there, and what it gives is of the block's type. */
static bool post_fits(const work *w)
{
    const FtB_Block C = w->request->block;
    ftb_program *program = NULL;
    FtB_Block h = NULL;
    ftb_message post;
    if (!w->request->device->verbs->map_rows || new_core(&h, w, 0) != GrB_SUCCESS ||
        make_post(&post, w, h) != GrB_SUCCESS)
        return false;
    const bool fits = ftb_message_program(&program, &post, post.expr) == GrB_SUCCESS &&
                      ftb_program_type(program) == C->type && (C->type == FTB_FP32 || C->type == FTB_FP64) &&
                      ftb_feeds_fit(&post, program) &&
                      FTB_FITS(w->request->device, map_rows,
                               (&(ftb_map_rows_product){.m = &post,
                                                        .program = program,
                                                        .type = C->type,
                                                        .side = FTB_SIDE_ROW,
                                                        .nrows = w->request->p->nrows,
                                                        .fold = 1,
                                                        .add = w->request->add,
                                                        .present = w->request->p}));
    ftb_program_delete(program);
    end_post(&post);
    return fits;
}

/* Whether the device writes the block from what is given. */
static bool fits_device(const work *w)
{
    const ftb_spmm_request *request = w->request;
    const ftb_hoisted *h = &w->hoisted;
    const bool program = w->plan.family == FTB_SPMM_PROGRAM;
    if (!request->device || !request->block || request->rows || request->arg != (request->winners != NULL) ||
        !ftb_feeds_fit(&h->core, NULL) ||
        (has_post(w) ? !post_fits(w) : request->block->type != h->type.reduced) ||
        (request->add && !has_post(w) && h->rewritten.monoid != FTB_PLUS))
        return false;
    const ftb_verbs *verbs = request->device->verbs;
    const ftb_aggregate_product reduced = {
        .m = &h->core, .p = request->p, .ldwon = request->winners ? request->winners->ld : 0};
    return program ? FTB_WHO_FITS(h->core.ctx, aggregate, &reduced) != NULL
                   : verbs->spmm && w->product.kind.type == h->type.reduced &&
                         (!w->product.with_won || (verbs->limits && verbs->limits->spmm)) &&
                         FTB_FITS(request->device, spmm, &w->product);
}

/* The same by a kernel that knows the form (the host's find no winners), or else by one for any text. */
static bool finds_verb(work *w)
{
    const ftb_spmm_asked *asked = &w->plan.asked;
    if (w->product.with_won && !(asked->forced & FTB_SPMM_SET_KERNEL && asked->family == FTB_SPMM_PROGRAM))
        w->plan.family = FTB_SPMM_DIRECT;
    if (fits_device(w))
        return true;
    w->plan.family = FTB_SPMM_PROGRAM;
    return fits_device(w);
}

static GrB_Info run_product(work *w, FtB_Block C, bool add)
{
    const ftb_backend *who = w->request->device;
    const ftb_message *m = &w->hoisted.core;
    ftb_spmm_product product = w->product; /* the host's is another one, should the device fail */
    ftb_feed x = *ftb_message_find(m, w->hoisted.rewritten.x), y = {.data = NULL};
    if (w->hoisted.rewritten.form != FTB_FORM_COPY)
        y = *ftb_message_find(m, w->hoisted.rewritten.y);
    const ftb_place places[] = {
        {.feed = &x},
        {.feed = &y},
        {.X = C, .write = &product.out, .whole = !add, .name = "C"},
        {.X = w->request->winners, .write = &product.won, .whole = true, .name = "E"}};
    ftb_use use;
    GrB_Info info;
    ftb_use_begin(&use);
    FTB_CHECK(ftb_places_ask(who, places, 4));
    product.x = x.data;
    product.y = y.data;
    product.ldo = C->ld;
    product.ldwon = w->request->winners ? w->request->winners->ld : 0;
    product.add = add;
    product.empty = FTB_EMPTY_ZERO;
    FTB_CHECK(who->verbs->spmm(&product, &w->plan));
    info = ftb_places_written(who, places, 4);
done:
    ftb_use_end(&use);
    return info;
}

static GrB_Info run_program(work *w, FtB_Block C, bool add)
{
    const ftb_backend *who = w->request->device;
    ftb_message m = w->hoisted.core;
    const FtB_Block E = w->request->winners;
    ftb_place places[FTB_MAX_FEEDS + 2];
    ftb_aggregate_product product = {
        .m = &m, .p = w->request->p, .ldo = C->ld, .add = add, .ldwon = E ? E->ld : 0};
    GrB_Info info;
    ftb_places_feeds(places, &m, NULL);
    places[FTB_MAX_FEEDS] = (ftb_place){.X = C, .write = &product.out, .whole = !add, .name = "C"};
    places[FTB_MAX_FEEDS + 1] = (ftb_place){.X = E, .write = &product.won, .whole = true, .name = "E"};
    FTB_RUN(info, who, aggregate, places, &product);
    return info;
}

static GrB_Info run_post_there(work *w, FtB_Block h)
{
    const ftb_spmm_request *request = w->request;
    ftb_program *program = NULL;
    ftb_message post;
    GrB_Info info = make_post(&post, w, h);
    if (info != GrB_SUCCESS)
        return info;
    FTB_CHECK(ftb_message_program(&program, &post, post.expr));
    info = ftb_map_rows(request->block, request->device, &post,
                        &(ftb_map_rows_product){.program = program,
                                                .side = FTB_SIDE_ROW,
                                                .nrows = request->p->nrows,
                                                .fold = 1,
                                                .add = request->add,
                                                .present = request->p});
done:
    ftb_program_delete(program);
    end_post(&post);
    return info;
}

static GrB_Info run_on_device(work *w, ftb_spmm_result *result)
{
    const ftb_spmm_request *request = w->request;
    const bool post = has_post(w), add = request->add && !post;
    FtB_Block h = NULL;
    GrB_Info info = post ? new_core(&h, w, request->p->nrows) : GrB_SUCCESS;
    if (info != GrB_SUCCESS)
        return info;
    info = w->plan.family == FTB_SPMM_PROGRAM ? run_program(w, post ? h : request->block, add)
                                              : run_product(w, post ? h : request->block, add);
    if (info == GrB_SUCCESS && post) {
        info = run_post_there(w, h);
        h = NULL; /* adopted */
    }
    FtB_Block_free(&h);
    result->there = info == GrB_SUCCESS;
    return info;
}

/* A plan of the device's by trial, on memory of ours. */
typedef struct trial_there {
    const work *w;
    FtB_Block C;
} trial_there;

static GrB_Info run_there(void *run, const ftb_any_plan *plan, double *seconds)
{
    const trial_there *t = run;
    const ftb_backend *who = t->w->request->device;
    const FtB_Context ctx = t->w->hoisted.core.ctx;
    work w = *t->w;
    w.plan = plan->spmm;
    w.plan.there = ftb_gpu_spmm_chosen(&plan->spmm.gpu);
    GrB_Info info = who->memory->lap(who, ctx, NULL);
    if (info == GrB_SUCCESS)
        info = run_product(&w, t->C, false);
    if (info == GrB_SUCCESS)
        info = who->memory->lap(who, ctx, seconds);
    if (info != FTB_NO_DEVICE && info != GrB_OUT_OF_MEMORY)
        return info;
    *seconds = FTB_NEVER;
    return GrB_SUCCESS;
}

/* Whether that device has plans of its own, which can be tried. */
static bool tries_there(work *w)
{
    const ftb_backend *who = w->request->device;
    return who && who->memory->lap && who->verbs->limits && who->verbs->limits->spmm_plan && finds_verb(w) &&
           w->plan.family != FTB_SPMM_PROGRAM && !ftb_deterministic(w->hoisted.core.ctx);
}

static GrB_Info measure_there(work *w, ftb_spmm_result *result)
{
    trial_there t = {.w = w};
    GrB_Info info = w->request->device->verbs->limits->spmm_plan(&result->plan, &result->facts, &w->product);
    if (info == GrB_SUCCESS)
        info = new_core(&t.C, w, w->request->p->nrows);
    if (info != GrB_SUCCESS)
        return info;
    const ftb_any_facts facts = {.spmm = result->facts};
    ftb_any_plan plan = {.spmm = result->plan};
    info = ftb_plan_measure(&plan, FTB_PLAN_GPU_SPMM, &facts, run_there, &t, w->hoisted.core.ctx);
    FtB_Block_free(&t.C);
    result->plan.gpu = plan.spmm.gpu;
    result->plan.there = ftb_gpu_spmm_chosen(&plan.spmm.gpu);
    result->plan.there.nanoseconds = (int64_t)(1e9 * plan.spmm.gpu.seconds);
    result->fits = true;
    return info;
}

/* Whether that is all: the device did it, or a failure is no device's. */
static bool leave(GrB_Info *info, const work *w, ftb_spmm_result *result)
{
    work there = *w; /* where another plan may be the one */
    result->fits = finds_verb(&there);
    const ftb_verb_limits *limits = w->request->device->verbs->limits;
    if (result->fits && w->request->plan_only && there.plan.family != FTB_SPMM_PROGRAM && limits &&
        limits->spmm_plan)
        *info = limits->spmm_plan(&result->plan, &result->facts, &there.product);
    if (!result->fits || w->request->plan_only)
        return false;
    *info = run_on_device(&there, result);
    return !ftb_device_failed(*info);
}

/* ---- on the host */

/* What was moved behind the reduction. */
static GrB_Info run_post(work *w, ftb_spmm_result *result)
{
    const int64_t nrows = w->request->p->nrows;
    FtB_Block h = NULL, Y = NULL;
    ftb_message post;
    GrB_Info info = ftb_block_view(&h, w->hoisted.core.ctx, w->hoisted.type.reduced, nrows, w->ld, w->ld,
                                   ftb_buffer_adopt(w->hoisted.core.ctx, w->values));
    w->values = NULL; /* adopted */
    if (info == GrB_SUCCESS)
        info = make_post(&post, w, h);
    if (info != GrB_SUCCESS)
        return info;
    info = ftb_vertex_values_new(
        &Y, NULL, &(ftb_vertex_values){.m = &post, .expr = post.expr, .side = FTB_SIDE_ROW, .nrows = nrows});
    end_post(&post);
    if (info != GrB_SUCCESS)
        return info;
    w->values = ftb_buffer_take(Y->owner);
    result->type = Y->type;
    result->ncols = w->ld = Y->ncols;
    FtB_Block_free(&Y);
    return info;
}

/* The same of a mean, where h is. */
static void divide(const work *w)
{
    const ftb_spmm_product rows = {.ctx = w->hoisted.core.ctx,
                                   .p = w->request->p,
                                   .kind.type = w->hoisted.type.reduced,
                                   .heads = w->hoisted.core.heads,
                                   .width = w->hoisted.type.width,
                                   .out = w->values,
                                   .ldo = w->ld};
    ftb_spmm_divide_rows(&rows);
}

static void clear_work(work *w) { ftb_hoist_clear(&w->hoisted); }

static GrB_Info run_planned(void *run, const ftb_any_plan *plan, double *seconds)
{
    (void)seconds;
    return ftb_spmm_run(run, &plan->spmm);
}

/* The plan by trial, where there is a choice. */
static GrB_Info measure(work *w, ftb_spmm_result *result)
{
    const ftb_any_facts facts = {.spmm = w->facts};
    ftb_any_plan plan = {.spmm = w->plan};
    GrB_Info info = GrB_SUCCESS;
    if (w->plan.family == FTB_SPMM_PROGRAM)
        return info;
    FTB_CHECK(make_room(w, false, result));
    w->product.out = w->values;
    w->product.ldo = w->ld;
    w->product.interruptible = true;
    FTB_CHECK(ftb_plan_measure(&plan, FTB_PLAN_SPMM, &facts, run_planned, &w->product, w->product.ctx));
    result->plan = plan.spmm;
done:
    ftb_delete(w->values);
    w->values = NULL;
    w->own = false;
    return info;
}

GrB_Info ftb_spmm_message(ftb_spmm_result *result, const ftb_spmm_request *request)
{
    work w = {.request = request};
    *result = (ftb_spmm_result){0};
    GrB_Info info =
        ftb_hoist(&w.hoisted, request->message, request->p, true, request->arg,
                  request->plan_only && !request->measure, request->plan_only ? NULL : request->device);
    if (info != GrB_SUCCESS)
        goto done;
    make_plan(&w, find_kernel(&w) && !request->arg);
    result->facts = w.facts;
    result->plan = w.plan;
    result->type = w.hoisted.type.reduced;
    result->ncols = w.hoisted.core.heads * w.hoisted.type.width;
    if (request->expected)
        info = ftb_plan_check_same(FTB_PLAN_SPMM, &(ftb_any_facts){.spmm = *request->expected},
                                   &(ftb_any_facts){.spmm = w.facts});
    work there = w;
    if (info == GrB_SUCCESS && request->measure && tries_there(&there)) {
        info = measure_there(&there, result);
        goto done;
    }
    if (info == GrB_SUCCESS && request->measure)
        info = ftb_message_ask(&w.hoisted.core);
    if (info == GrB_SUCCESS && request->measure)
        info = measure(&w, result);
    if (info != GrB_SUCCESS || (request->device && leave(&info, &w, result)) || request->plan_only)
        goto done;
    info = ftb_message_ask(&w.hoisted.core);
    if (info == GrB_SUCCESS && request->block)
        info = ftb_buffer_ask_as(request->block->owner, FTB_UPDATE, "C");
    if (info != GrB_SUCCESS)
        goto done;
    bool program = w.plan.family == FTB_SPMM_PROGRAM; /* may be cancelled halfway */
    const bool post = has_post(&w);
    info = make_room(&w, !program && !post, result);
    if (info == GrB_SUCCESS)
        info = reduce_core(&w, result);
    if (info == GrB_SUCCESS && post && w.hoisted.rewritten.mean)
        divide(&w);
    else if (info == GrB_SUCCESS && post)
        info = run_post(&w, result);
    result->values = w.values;
    result->owned = w.own ? w.values : NULL;
    result->ld = w.ld;
done:
    clear_work(&w);
    if (info != GrB_SUCCESS) {
        ftb_delete(w.own ? w.values : NULL);
        ftb_delete(result->arg);
        *result = (ftb_spmm_result){0};
    }
    return info;
}

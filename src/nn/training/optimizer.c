/* Optimisers: SGD, Adam and AdamW, as PyTorch defines them. All that a step writes is allocated when
 * parameters are added, and all of it is asked for before any is written, so that a step does not fail
 * halfway. On a device that can, steps are recorded, and replayed with new numbers.
 */
#include "nn/training/optimizer.h"
#include "core/words.h"
#include "cpu/nn/update_run.h"
#include "ops/backends.h"

#include <math.h>

GrB_Info ftb_optimizer_check(FtB_Optimizer o)
{
    if (!o)
        return ftb_fail(GrB_NULL_POINTER, "o is NULL; expected an FtB_Optimizer");
    if (o->magic != FTB_MAGIC_OPTIMIZER)
        return ftb_fail(GrB_UNINITIALIZED_OBJECT, "o is not an FtB_Optimizer, or was freed");
    return GrB_SUCCESS;
}

/* ---- making */

static GrB_Info check_range(const char *name, double value, bool ok, const char *expected)
{
    return ok ? GrB_SUCCESS
              : ftb_fail(GrB_INVALID_VALUE, "FtB_Optimizer_new: %s is %g; expected %s", name, value,
                         expected);
}

static const ftb_option fields[] = {
    FTB_OPTION(FtB_Optimizer_options, lr),       FTB_OPTION(FtB_Optimizer_options, weight_decay),
    FTB_OPTION(FtB_Optimizer_options, momentum), FTB_OPTION(FtB_Optimizer_options, nesterov),
    FTB_OPTION(FtB_Optimizer_options, beta1),    FTB_OPTION(FtB_Optimizer_options, beta2),
    FTB_OPTION(FtB_Optimizer_options, eps),      FTB_OPTION(FtB_Optimizer_options, clip_value),
    FTB_OPTION(FtB_Optimizer_options, clip_norm)};
#define OF_ALL "lr, weight_decay, clip_value, clip_norm"
static const char *const names[] =
    {[FTB_SGD] = "FTB_SGD", [FTB_ADAM] = "FTB_ADAM", [FTB_ADAMW] = "FTB_ADAMW"},
                         *const reads[] = {[FTB_SGD] = OF_ALL ", momentum, nesterov",
                                           [FTB_ADAM] = OF_ALL ", beta1, beta2, eps",
                                           [FTB_ADAMW] = OF_ALL ", beta1, beta2, eps"};

static GrB_Info fill_in(FtB_Optimizer_options *o, FtB_Update rule, const FtB_Optimizer_options *given)
{
    GrB_Info info;
    *o = (FtB_Optimizer_options){.size = sizeof *o};
    if (rule < FTB_SGD || rule > FTB_ADAMW)
        return ftb_fail(GrB_INVALID_VALUE, "FtB_Optimizer_new: rule is %d, which is not an FtB_Update",
                        (int)rule);
    FTB_CHECK(ftb_options_read(o, sizeof *o, given, "FtB_Optimizer_new", "FTB_OPTIMIZER_OPTIONS"));
    info = ftb_options_check_read(o, fields, sizeof fields / sizeof *fields, reads[rule], names[rule]);
    if (info != GrB_SUCCESS)
        return ftb_wrap_error(info, "FtB_Optimizer_new: ");
    o->lr = o->lr != 0 ? o->lr : 0.01;
    o->beta1 = o->beta1 != 0 ? o->beta1 : 0.9;
    o->beta2 = o->beta2 != 0 ? o->beta2 : 0.999;
    o->eps = o->eps != 0 ? o->eps : 1e-8;
    if (o->weight_decay == 0 && rule == FTB_ADAMW)
        o->weight_decay = 0.01;
    FTB_CHECK(check_range("lr", o->lr, o->lr > 0 && isfinite(o->lr), "a number > 0"));
    FTB_CHECK(check_range("weight_decay", o->weight_decay, isfinite(o->weight_decay), "a number"));
    FTB_CHECK(check_range("momentum", o->momentum, o->momentum >= 0 && o->momentum < 1, "0 <= momentum < 1"));
    FTB_CHECK(check_range("beta1", o->beta1, o->beta1 > 0 && o->beta1 < 1, "0 < beta1 < 1"));
    FTB_CHECK(check_range("beta2", o->beta2, o->beta2 > 0 && o->beta2 < 1, "0 < beta2 < 1"));
    FTB_CHECK(check_range("eps", o->eps, o->eps > 0 && isfinite(o->eps), "a number > 0"));
    FTB_CHECK(check_range("clip_value", o->clip_value, o->clip_value >= 0, "a number > 0, or 0 for none"));
    FTB_CHECK(check_range("clip_norm", o->clip_norm, o->clip_norm >= 0, "a number > 0, or 0 for none"));
    if (o->nesterov && o->momentum == 0)
        info = ftb_fail(GrB_INVALID_VALUE, "FtB_Optimizer_new: nesterov is for FTB_SGD with momentum");
done:
    return info;
}

GrB_Info FtB_Optimizer_new(FtB_Optimizer *o, FtB_Update rule, const FtB_Optimizer_options *options)
{
    FtB_Optimizer_options filled;
    if (!o)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Optimizer_new: o is NULL");
    *o = NULL;
    GrB_Info info = fill_in(&filled, rule, options);
    if (info != GrB_SUCCESS)
        return info;
    FtB_Optimizer made = ftb_new0(NULL, 1, sizeof *made);
    if (!made)
        return ftb_nomem();
    made->magic = FTB_MAGIC_OPTIMIZER;
    made->ctx = ftb_context();
    made->rule = rule;
    made->options = filled;
    *o = made;
    return FtB_Optimizer_schedule(made, NULL);
}

static void clear(ftb_moments *m)
{
    FtB_Parameter_free(&m->parameter);
    ftb_buffer_release(m->first);
    ftb_buffer_release(m->second);
}

GrB_Info FtB_Optimizer_free(FtB_Optimizer *handle)
{
    if (!handle || !*handle)
        return GrB_SUCCESS;
    FtB_Optimizer o = *handle;
    GrB_Info info = ftb_optimizer_check(o);
    if (info != GrB_SUCCESS)
        return info;
    ftb_replay_drop(&o->replay);
    for (int64_t k = 0; k < o->count; k++)
        clear(&o->moments[k]);
    ftb_delete(o->moments);
    ftb_delete(o->how);
    ftb_delete(o->groups);
    ftb_buffer_release(o->sums);
    o->magic = 0;
    ftb_delete(o);
    *handle = NULL;
    return GrB_SUCCESS;
}

/* ---- parameters */

static GrB_Info check_add(FtB_Optimizer o, const FtB_Parameter *parameters, int64_t count,
                          FtB_Group_options *taken, const FtB_Group_options *options)
{
    GrB_Info info = ftb_optimizer_check(o);
    if (info != GrB_SUCCESS)
        return info;
    if (count < 0 || (count > 0 && !parameters))
        return ftb_fail(count < 0 ? GrB_INVALID_VALUE : GrB_NULL_POINTER,
                        "FtB_Optimizer_add: count is %lld%s", (long long)count,
                        count < 0 ? "; expected 0 or more" : ", parameters NULL");
    info = ftb_options_read(taken, sizeof *taken, options, "FtB_Optimizer_add", "FTB_GROUP_OPTIONS");
    if (info != GrB_SUCCESS)
        return info;
    if (!(taken->lr >= 0 && isfinite(taken->lr) && isfinite(taken->weight_decay)))
        return ftb_fail(GrB_INVALID_VALUE,
                        "FtB_Optimizer_add: lr is %g, weight_decay %g; expected numbers, lr >= 0", taken->lr,
                        taken->weight_decay);
    for (int64_t k = 0; k < count; k++) {
        info = ftb_parameter_check(parameters[k], "FtB_Optimizer_add: a parameter");
        if (info != GrB_SUCCESS)
            return info;
        bool twice = false;
        for (int64_t b = 0; b < o->count; b++)
            twice |= o->moments[b].parameter == parameters[k];
        for (int64_t b = 0; b < k; b++)
            twice |= parameters[b] == parameters[k];
        if (twice)
            return ftb_fail(GrB_INVALID_VALUE,
                            "FtB_Optimizer_add: parameter '%s' is in the optimiser already",
                            FtB_Parameter_name(parameters[k]));
    }
    return GrB_SUCCESS;
}

/* Moments of a parameter. */
static GrB_Info add_one(FtB_Optimizer o, FtB_Parameter p)
{
    ftb_moments *m = &o->moments[o->count];
    int64_t values = p->value->nrows * p->value->ncols;
    size_t size = FtB_Type_size(p->value->type);
    bool first = o->rule != FTB_SGD || o->options.momentum > 0, second = o->rule != FTB_SGD;
    *m = (ftb_moments){.group = o->ngroups, .count = values};
    m->first = first ? ftb_buffer_new(o->ctx, values, size) : NULL;
    m->second = second ? ftb_buffer_new(o->ctx, values, size) : NULL;
    if ((first && !m->first) || (second && !m->second)) {
        clear(m);
        return ftb_nomem();
    }
    m->parameter = ftb_parameter_retain(p);
    o->count++;
    return GrB_SUCCESS;
}

GrB_Info FtB_Optimizer_add(FtB_Optimizer o, const FtB_Parameter *parameters, int64_t count,
                           const FtB_Group_options *options)
{
    FtB_Group_options own = {.size = sizeof own};
    GrB_Info info = check_add(o, parameters, count, &own, options);
    if (info != GrB_SUCCESS)
        return info;
    void *groups = o->groups, *moments = o->moments, *how = o->how;
    bool ok = ftb_resize(o->ctx, &groups, o->ngroups + 1, sizeof *o->groups) &&
              ftb_resize(o->ctx, &moments, o->count + count, sizeof *o->moments) &&
              ftb_resize(o->ctx, &how, o->count + count, sizeof *o->how);
    o->groups = groups;
    o->moments = moments;
    o->how = how;
    ftb_replay_drop(&o->replay);
    ftb_buffer *sums = ok ? ftb_buffer_new(o->ctx, o->count + count, sizeof(double)) : NULL;
    if (!sums)
        return ftb_nomem();
    ftb_buffer_release(o->sums);
    o->sums = sums;
    int64_t before = o->count;
    for (int64_t k = 0; k < count && info == GrB_SUCCESS; k++)
        info = add_one(o, parameters[k]);
    if (info != GrB_SUCCESS) {
        while (o->count > before)
            clear(&o->moments[--o->count]);
        return info;
    }
    double decay = own.weight_decay != 0 ? own.weight_decay : o->options.weight_decay;
    o->groups[o->ngroups++] =
        (ftb_group){.lr = own.lr > 0 ? own.lr : o->options.lr, .decay = decay > 0 ? decay : 0};
    return GrB_SUCCESS;
}

GrB_Info FtB_Optimizer_add_layer(FtB_Optimizer o, FtB_Layer layer, const FtB_Group_options *options)
{
    int64_t count = FtB_Layer_count(layer);
    if (!layer)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Optimizer_add_layer: layer is NULL");
    FtB_Parameter *parameters = ftb_new(NULL, count, sizeof *parameters);
    if (!parameters)
        return ftb_nomem();
    for (int64_t k = 0; k < count; k++)
        parameters[k] = FtB_Layer_parameter(layer, k);
    GrB_Info info = FtB_Optimizer_add(o, parameters, count, options);
    ftb_delete(parameters);
    return info;
}

/* ---- learning rates of groups */

double FtB_Optimizer_lr(FtB_Optimizer o, int64_t group)
{
    if (ftb_optimizer_check(o) != GrB_SUCCESS || group < 0 || group >= o->ngroups)
        return NAN;
    return o->groups[group].lr * ftb_schedule_factor(&o->schedule, &o->at);
}

GrB_Info FtB_Optimizer_set_lr(FtB_Optimizer o, int64_t group, double lr)
{
    GrB_Info info = ftb_optimizer_check(o);
    if (info != GrB_SUCCESS)
        return info;
    char below[FTB_WORDS];
    if (group < -1 || group >= o->ngroups)
        return ftb_fail(GrB_INDEX_OUT_OF_BOUNDS,
                        "FtB_Optimizer_set_lr: group is %lld; expected %s, or -1 for all", (long long)group,
                        ftb_below_text(below, o->ngroups));
    if (!(lr >= 0 && isfinite(lr)))
        return ftb_fail(GrB_INVALID_VALUE, "FtB_Optimizer_set_lr: lr is %g; expected a number >= 0", lr);
    for (int64_t g = 0; g < o->ngroups; g++)
        if (group == -1 || group == g)
            o->groups[g].lr = lr;
    return GrB_SUCCESS;
}

/* ---- steps */

static bool takes_part(const ftb_moments *m) { return m->parameter->trained && m->parameter->gradient; }

static double clip_of(FtB_Optimizer o)
{
    return o->options.clip_value > 0 ? o->options.clip_value : INFINITY;
}

/* Into o->sums: of parameter k. */
static GrB_Info sum_squares(FtB_Optimizer o, int64_t k)
{
    const ftb_moments *m = &o->moments[k];
    FtB_Block g = m->parameter->gradient;
    ftb_sum_squares_product p = {.ctx = o->ctx, .type = g->type, .count = m->count, .clip = clip_of(o)};
    struct FtB_Block_opaque sum = {.type = FTB_FP64,
                                   .nrows = 1,
                                   .ncols = 1,
                                   .ld = 1,
                                   .heads = 1,
                                   .owner = o->sums,
                                   .offset = k * (int64_t)sizeof(double)};
    const ftb_place places[] = {{.X = g, .read = &p.gradient, .name = m->parameter->name},
                                {.X = &sum, .write = &p.sum, .whole = true}};
    const ftb_backend *who = FTB_WHO(o->ctx, sum_squares);
    GrB_Info info;
    FTB_RUN(info, who, sum_squares, places, &p);
    return info;
}

/* What gradients are multiplied by so that their norm is at most clip_norm: as
 * torch.nn.utils.clip_grad_norm_. */
static GrB_Info find_scale(FtB_Optimizer o, double *scale)
{
    double sum = 0;
    GrB_Info info = GrB_SUCCESS;
    *scale = 1;
    if (o->options.clip_norm == 0 || o->count == 0)
        return GrB_SUCCESS;
    for (int64_t k = 0; k < o->count && info == GrB_SUCCESS; k++)
        if (takes_part(&o->moments[k]))
            info = sum_squares(o, k);
    if (info == GrB_SUCCESS)
        info = ftb_buffer_ask(o->sums, FTB_READ);
    if (info != GrB_SUCCESS)
        return info;
    for (int64_t k = 0; k < o->count; k++)
        if (takes_part(&o->moments[k]))
            sum += ((const double *)ftb_buffer_data(o->sums))[k];
    if (!isfinite(sum))
        return ftb_fail(GrB_INVALID_VALUE,
                        "FtB_Optimizer_step: the norm of the gradients is %g; expected a finite one",
                        sqrt(sum));
    *scale = fmin(1, o->options.clip_norm / (sqrt(sum) + 1e-6));
    return GrB_SUCCESS;
}

static ftb_update rule_of(FtB_Optimizer o, const ftb_moments *m, double scale, double factor)
{
    const FtB_Optimizer_options *p = &o->options;
    const ftb_group *g = &o->groups[m->group];
    double t = (double)(m->steps + 1), lr = g->lr * factor;
    bool sgd = o->rule == FTB_SGD, coupled = o->rule != FTB_ADAMW;
    return (ftb_update){.rate = sgd ? lr : lr / (1 - pow(p->beta1, t)),
                        .decay = coupled ? g->decay : 0,
                        .keep = coupled ? 1 : 1 - lr * g->decay,
                        .clip = clip_of(o),
                        .scale = scale,
                        .beta1 = sgd ? p->momentum : p->beta1,
                        .beta2 = p->beta2,
                        .root = 1 / sqrt(1 - pow(p->beta2, t)),
                        .eps = p->eps,
                        .nesterov = p->nesterov};
}

enum { PLACES = 4 };

static void find_places(ftb_place places[PLACES], ftb_update_product *p, const ftb_moments *m)
{
    const char *const name = m->parameter->name;
    places[0] = (ftb_place){.X = m->parameter->gradient, .read = &p->gradient, .name = name};
    places[1] = (ftb_place){.X = m->parameter->value, .write = &p->values, .name = name};
    places[2] = (ftb_place){.values = m->first, .write = &p->first, .name = name};
    places[3] = (ftb_place){.values = m->second, .write = &p->second, .name = name};
}

static GrB_Info ask(FtB_Optimizer o, const ftb_moments *m)
{
    ftb_update_product p;
    ftb_place places[PLACES];
    if (!takes_part(m))
        return GrB_SUCCESS;
    find_places(places, &p, m);
    GrB_Info info = ftb_places_ask(FTB_WHO(o->ctx, update), places, PLACES);
    return ftb_device_failed(info) ? ftb_places_ask(NULL, places, PLACES) : info;
}

static GrB_Info step_one(FtB_Optimizer o, int64_t k, const ftb_update *how_at)
{
    ftb_moments *m = &o->moments[k];
    ftb_update_product p = {.ctx = o->ctx,
                            .type = m->parameter->value->type,
                            .count = m->count,
                            .adam = o->rule != FTB_SGD,
                            .how = o->how[k],
                            .how_at = how_at};
    ftb_place places[PLACES];
    const ftb_backend *who = FTB_WHO(o->ctx, update);
    GrB_Info info;
    find_places(places, &p, m);
    if (!who)
        (void)ftb_buffer_write(m->parameter->value->owner);
    FTB_RUN(info, who, update, places, &p);
    return info;
}

/* Of all that take part, as work that may be recorded. */
static GrB_Info step_all(void *of, ftb_replay *r, const void *numbers)
{
    FtB_Optimizer o = of;
    const ftb_update *how_at = numbers;
    GrB_Info info = GrB_SUCCESS;
    for (o->done = 0; o->done < o->count; o->done++) {
        const ftb_moments *m = &o->moments[o->done];
        if (!m->part)
            continue;
        info = step_one(o, o->done, how_at ? how_at + o->done : NULL);
        if (info != GrB_SUCCESS)
            break;
        if (!r)
            continue;
        ftb_replay_see(r, m->parameter->value->owner);
        ftb_replay_see(r, m->first);
        ftb_replay_see(r, m->second);
    }
    return info;
}

/* Who takes part, and how. */
static void prepare(FtB_Optimizer o, double scale)
{
    const double factor = ftb_schedule_factor(&o->schedule, &o->at);
    for (int64_t k = 0; k < o->count; k++) {
        ftb_moments *m = &o->moments[k];
        if (m->part != takes_part(m))
            ftb_replay_drop(&o->replay);
        m->part = takes_part(m);
        o->how[k] = rule_of(o, m, scale, factor);
    }
}

GrB_Info FtB_Optimizer_step(FtB_Optimizer o)
{
    double scale;
    GrB_Info info = ftb_optimizer_check(o);
    for (int64_t k = 0; info == GrB_SUCCESS && k < o->count; k++)
        info = ask(o, &o->moments[k]);
    if (info == GrB_SUCCESS)
        info = find_scale(o, &scale);
    if (info != GrB_SUCCESS)
        return info;
    prepare(o, scale);
    o->done = o->count;
    info = ftb_replay_run(&o->replay, o->ctx, step_all, o, o->how, o->count * (int64_t)sizeof *o->how);
    for (int64_t k = 0; k < o->done; k++)
        o->moments[k].steps += o->moments[k].part;
    return info;
}

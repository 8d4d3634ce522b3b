/* The state of an optimiser as tensors:
 *
 *     optimizer               the rule, a text
 *     optimizer.steps         of each parameter
 *     optimizer.lr            of each group, before the schedule
 *     optimizer.schedule      epoch, epochs without improvement, best metric, factor of plateaus
 *     optimizer.K.NAME.first  and .second: moments of parameter K
 */
#include "nn/tensors.h"
#include "nn/training/optimizer.h"

#include <math.h>
#include <stdio.h>

#define NAME_ROOM 512

static const char *const rules[] = {[FTB_SGD] = "sgd", [FTB_ADAM] = "adam", [FTB_ADAMW] = "adamw"};

static void name_of(char name[NAME_ROOM], FtB_Optimizer o, int64_t k, const char *moment)
{
    snprintf(name, NAME_ROOM, "optimizer.%lld.%.*s.%s", (long long)k, NAME_ROOM - 64,
             FtB_Parameter_name(o->moments[k].parameter), moment);
}

/* ---- out */

static GrB_Info save_array(FtB_Tensors t, const char *name, const void *values, FtB_Type type, int64_t nrows,
                           int64_t ncols)
{
    FtB_Block X;
    GrB_Info info = FtB_Block_wrap_const(&X, values, nrows, ncols, ncols, type);
    if (info == GrB_SUCCESS)
        info = FtB_Tensors_set(t, name, X, -1, NULL);
    FtB_Block_free(&X);
    return info;
}

static GrB_Info save_moment(FtB_Optimizer o, FtB_Tensors t, int64_t k, ftb_buffer *values, const char *moment)
{
    char name[NAME_ROOM];
    FtB_Block w = o->moments[k].parameter->value;
    if (!values)
        return GrB_SUCCESS;
    name_of(name, o, k, moment);
    GrB_Info info = ftb_buffer_ask_as(values, FTB_READ, name);
    return info == GrB_SUCCESS ? save_array(t, name, ftb_buffer_data(values), w->type, w->nrows, w->ncols)
                               : info;
}

GrB_Info FtB_Optimizer_save(FtB_Optimizer o, FtB_Tensors t)
{
    int64_t *steps = NULL;
    double *lr = NULL;
    GrB_Info info = ftb_optimizer_check(o);
    if (info != GrB_SUCCESS)
        return info;
    const double at[] = {(double)o->at.epoch, (double)o->at.bad, o->at.best, o->at.factor};
    FTB_CHECK(FtB_Tensors_set_text(t, "optimizer", rules[o->rule]));
    steps = ftb_new(NULL, o->count, sizeof *steps);
    lr = ftb_new(NULL, o->ngroups, sizeof *lr);
    if (!steps || !lr) {
        info = ftb_nomem();
        goto done;
    }
    for (int64_t k = 0; k < o->count; k++)
        steps[k] = o->moments[k].steps;
    for (int64_t g = 0; g < o->ngroups; g++)
        lr[g] = o->groups[g].lr;
    FTB_CHECK(save_array(t, "optimizer.steps", steps, FTB_INT64, 1, o->count));
    FTB_CHECK(save_array(t, "optimizer.lr", lr, FTB_FP64, 1, o->ngroups));
    FTB_CHECK(save_array(t, "optimizer.schedule", at, FTB_FP64, 1, 4));
    for (int64_t k = 0; k < o->count; k++) {
        FTB_CHECK(save_moment(o, t, k, o->moments[k].first, "first"));
        FTB_CHECK(save_moment(o, t, k, o->moments[k].second, "second"));
    }
done:
    ftb_delete(steps);
    ftb_delete(lr);
    return info;
}

/* ---- in: everything is found and checked before anything is changed */

static GrB_Info find(FtB_Block *X, FtB_Tensors t, const char *name, FtB_Type type, int64_t nrows,
                     int64_t ncols)
{
    GrB_Info info = FtB_Tensors_get(X, t, name, NULL, NULL);
    if (info != GrB_SUCCESS)
        return info;
    if ((*X)->type != type || (*X)->nrows != nrows || (*X)->ncols != ncols)
        return ftb_fail(GrB_INVALID_VALUE, "%s: tensor '%s' is %lld x %lld %s; expected %lld x %lld %s",
                        FtB_Tensors_source(t), name, (long long)(*X)->nrows, (long long)(*X)->ncols,
                        FtB_Type_name((*X)->type), (long long)nrows, (long long)ncols, FtB_Type_name(type));
    return ftb_buffer_ask((*X)->owner, FTB_READ);
}

typedef struct found {
    FtB_Block steps, lr, schedule;
    FtB_Block *moments; /* two of each parameter; NULL where there is none */
} found;

static GrB_Info find_moments(found *f, FtB_Optimizer o, FtB_Tensors t)
{
    char name[NAME_ROOM];
    GrB_Info info = GrB_SUCCESS;
    f->moments = ftb_new0(NULL, 2 * o->count, sizeof *f->moments);
    if (!f->moments)
        return ftb_nomem();
    for (int64_t k = 0; k < 2 * o->count && info == GrB_SUCCESS; k++) {
        const ftb_moments *m = &o->moments[k / 2];
        FtB_Block w = m->parameter->value;
        name_of(name, o, k / 2, k % 2 ? "second" : "first");
        ftb_buffer *moment = k % 2 ? m->second : m->first;
        info = ftb_buffer_ask_as(moment, FTB_UPDATE, name);
        if (info == GrB_SUCCESS && moment)
            info = find(&f->moments[k], t, name, w->type, w->nrows, w->ncols);
    }
    return info;
}

static GrB_Info check_found(const found *f, FtB_Optimizer o, FtB_Tensors t)
{
    const int64_t *steps = ftb_block_data(f->steps);
    const double *lr = ftb_block_data(f->lr), *at = ftb_block_data(f->schedule);
    bool ok = at[0] >= 0 && at[0] < 0x1p53 && at[1] >= 0 && at[1] < 0x1p53 && at[3] >= 0 && at[3] <= 1;
    for (int64_t k = 0; k < o->count; k++)
        ok &= steps[k] >= 0;
    for (int64_t g = 0; g < o->ngroups; g++)
        ok &= lr[g] >= 0 && isfinite(lr[g]);
    return ok ? GrB_SUCCESS
              : ftb_fail(GrB_INVALID_VALUE,
                         "%s: optimizer.steps, optimizer.lr or optimizer.schedule has a value that is none",
                         FtB_Tensors_source(t));
}

static void take(FtB_Optimizer o, const found *f)
{
    const double *at = ftb_block_data(f->schedule);
    for (int64_t k = 0; k < o->count; k++) {
        ftb_moments *m = &o->moments[k];
        size_t bytes = (size_t)m->count * FtB_Type_size(m->parameter->value->type);
        m->steps = ((const int64_t *)ftb_block_data(f->steps))[k];
        if (m->first)
            memcpy(ftb_buffer_data(m->first), ftb_block_data(f->moments[2 * k]), bytes);
        if (m->second)
            memcpy(ftb_buffer_data(m->second), ftb_block_data(f->moments[2 * k + 1]), bytes);
    }
    for (int64_t g = 0; g < o->ngroups; g++)
        o->groups[g].lr = ((const double *)ftb_block_data(f->lr))[g];
    o->at = (ftb_schedule_state){(int64_t)at[0], (int64_t)at[1], at[2], at[3]};
}

GrB_Info FtB_Optimizer_load(FtB_Optimizer o, FtB_Tensors t)
{
    found f = {0};
    GrB_Info info = ftb_optimizer_check(o);
    if (info == GrB_SUCCESS)
        info = ftb_tensors_check(t);
    if (info != GrB_SUCCESS)
        return info;
    const char *rule = FtB_Tensors_get_text(t, "optimizer");
    if (!rule || strcmp(rule, rules[o->rule]) != 0)
        return ftb_fail(GrB_INVALID_VALUE, "%s: has the state of %.40s; expected that of %s",
                        FtB_Tensors_source(t), rule ? rule : "no optimizer", rules[o->rule]);
    FTB_CHECK(find(&f.steps, t, "optimizer.steps", FTB_INT64, 1, o->count));
    FTB_CHECK(find(&f.lr, t, "optimizer.lr", FTB_FP64, 1, o->ngroups));
    FTB_CHECK(find(&f.schedule, t, "optimizer.schedule", FTB_FP64, 1, 4));
    FTB_CHECK(check_found(&f, o, t));
    FTB_CHECK(find_moments(&f, o, t));
    take(o, &f);
done:
    for (int64_t k = 0; f.moments && k < 2 * o->count; k++)
        FtB_Block_free(&f.moments[k]);
    FtB_Block_free(&f.steps);
    FtB_Block_free(&f.lr);
    FtB_Block_free(&f.schedule);
    ftb_delete(f.moments);
    return info;
}

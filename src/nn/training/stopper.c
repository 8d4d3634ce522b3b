/* Early stopping: the best metric so far, and a copy of the parameters' values of that epoch. */
#include "nn/training/optimizer.h"

#include <math.h>

#define FTB_MAGIC_STOPPER 0x46544273

struct FtB_Stopper_opaque {
    uint32_t magic;
    FtB_Stopper_options options;
    int64_t epoch, best_epoch; /* epochs seen; best_epoch -1: none was better than nothing */
    double best;
    int64_t count;
    FtB_Parameter *parameters; /* retained */
    void **values;             /* of each, in the best epoch */
};

static GrB_Info check(FtB_Stopper s)
{
    if (!s)
        return ftb_fail(GrB_NULL_POINTER, "s is NULL; expected an FtB_Stopper");
    if (s->magic != FTB_MAGIC_STOPPER)
        return ftb_fail(GrB_UNINITIALIZED_OBJECT, "s is not an FtB_Stopper, or was freed");
    return GrB_SUCCESS;
}

static GrB_Info check_new(const FtB_Parameter *parameters, int64_t count, FtB_Stopper_options *taken,
                          const FtB_Stopper_options *options)
{
    if (count < 0 || (count > 0 && !parameters))
        return ftb_fail(count < 0 ? GrB_INVALID_VALUE : GrB_NULL_POINTER, "FtB_Stopper_new: count is %lld%s",
                        (long long)count, count < 0 ? "; expected 0 or more" : ", parameters NULL");
    GrB_Info info = ftb_options_read(taken, sizeof *taken, options, "FtB_Stopper_new", "FTB_STOPPER_OPTIONS");
    if (info != GrB_SUCCESS)
        return info;
    if (taken->patience < 0 || !(taken->threshold >= 0))
        return ftb_fail(GrB_INVALID_VALUE,
                        "FtB_Stopper_new: patience is %lld, threshold %g; expected numbers >= 0",
                        (long long)taken->patience, taken->threshold);
    for (int64_t k = 0; k < count && info == GrB_SUCCESS; k++)
        info = ftb_parameter_check(parameters[k], "FtB_Stopper_new: a parameter");
    return info;
}

GrB_Info FtB_Stopper_new(FtB_Stopper *s, const FtB_Parameter *parameters, int64_t count,
                         const FtB_Stopper_options *options)
{
    if (!s)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Stopper_new: s is NULL");
    *s = NULL;
    FtB_Stopper_options taken = {.size = sizeof taken};
    GrB_Info info = check_new(parameters, count, &taken, options);
    if (info != GrB_SUCCESS)
        return info;
    FtB_Stopper made = ftb_new0(NULL, 1, sizeof *made);
    if (!made)
        return ftb_nomem();
    made->magic = FTB_MAGIC_STOPPER;
    made->options = taken;
    made->best_epoch = -1;
    made->best = NAN;
    made->parameters = ftb_new0(NULL, count, sizeof *made->parameters);
    made->values = made->parameters ? ftb_new0(NULL, count, sizeof *made->values) : NULL;
    bool ok = made->values;
    for (int64_t k = 0; k < count && ok; k++) {
        FtB_Block w = parameters[k]->value;
        made->values[k] = ftb_new(NULL, w->nrows * w->ncols, FtB_Type_size(w->type));
        ok = made->values[k];
        made->parameters[k] = ftb_parameter_retain(parameters[k]);
        made->count++;
    }
    if (!ok) {
        info = ftb_nomem();
        FtB_Stopper_free(&made);
    }
    *s = made;
    return info;
}

static size_t bytes_of(FtB_Parameter p)
{
    return (size_t)(p->value->nrows * p->value->ncols) * FtB_Type_size(p->value->type);
}

GrB_Info FtB_Stopper_see(FtB_Stopper s, double metric, bool *stop)
{
    GrB_Info info = check(s);
    if (info != GrB_SUCCESS)
        return info;
    if (ftb_metric_improves(metric, s->best, s->options.threshold, s->options.maximise)) {
        s->best = metric;
        s->best_epoch = s->epoch;
        for (int64_t k = 0; k < s->count && info == GrB_SUCCESS; k++)
            info = ftb_buffer_ask_as(s->parameters[k]->value->owner, FTB_READ, s->parameters[k]->name);
        for (int64_t k = 0; k < s->count && info == GrB_SUCCESS; k++)
            memcpy(s->values[k], ftb_block_data(s->parameters[k]->value), bytes_of(s->parameters[k]));
    }
    if (stop)
        *stop = s->options.patience > 0 && s->epoch - s->best_epoch >= s->options.patience;
    s->epoch++;
    return info;
}

GrB_Info FtB_Stopper_best(FtB_Stopper s, double *metric, int64_t *epoch)
{
    GrB_Info info = check(s);
    if (info != GrB_SUCCESS)
        return info;
    if (metric)
        *metric = s->best;
    if (epoch)
        *epoch = s->best_epoch;
    return GrB_SUCCESS;
}

GrB_Info FtB_Stopper_restore(FtB_Stopper s)
{
    GrB_Info info = check(s);
    if (info != GrB_SUCCESS)
        return info;
    if (s->best_epoch < 0)
        return ftb_fail(GrB_INVALID_VALUE, "FtB_Stopper_restore: no epoch with a metric was seen");
    for (int64_t k = 0; k < s->count && info == GrB_SUCCESS; k++)
        info = ftb_buffer_ask_as(s->parameters[k]->value->owner, FTB_WRITE, s->parameters[k]->name);
    for (int64_t k = 0; k < s->count && info == GrB_SUCCESS; k++) {
        (void)ftb_buffer_write(s->parameters[k]->value->owner);
        memcpy(ftb_block_data(s->parameters[k]->value), s->values[k], bytes_of(s->parameters[k]));
    }
    return info;
}

GrB_Info FtB_Stopper_free(FtB_Stopper *handle)
{
    if (!handle || !*handle)
        return GrB_SUCCESS;
    FtB_Stopper s = *handle;
    GrB_Info info = check(s);
    if (info != GrB_SUCCESS)
        return info;
    for (int64_t k = 0; k < s->count; k++) {
        FtB_Parameter_free(&s->parameters[k]);
        ftb_delete(s->values[k]);
    }
    ftb_delete(s->parameters);
    ftb_delete(s->values);
    s->magic = 0;
    ftb_delete(s);
    *handle = NULL;
    return GrB_SUCCESS;
}

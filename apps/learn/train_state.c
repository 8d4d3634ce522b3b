/* The state of a run in the file that it saves: what --resume goes on from. Names begin with "resume.", those
 * of the optimiser with "optimizer.". */
#include "learn/training.h"

#include "nn/nn.h"

#include <float.h>
#include <math.h>

#define STATE "resume."

static GrB_Info put_number(FtB_Tensors t, const char *key, double value)
{
    char text[64];
    snprintf(text, sizeof text, "%.17g", value);
    return FtB_Tensors_set_text(t, key, text);
}

/* Picks of each hop, where the file's run was on mini-batches. */
static int read_fanouts(train *t)
{
    char name[512];
    train_sampling *how = &t->resumed.sampling;
    const char *text = FtB_Tensors_get_text(t->resume, STATE "sample");
    if (!text)
        return APP_OK;
    snprintf(name, sizeof name, "%s: text " STATE "sample", FtB_Tensors_source(t->resume));
    if (fanouts_parse(how->fanouts, &how->nhops, name, text) != APP_OK)
        return APP_INPUT;
    return train_check_hops(how, &t->model, APP_INPUT, name);
}

static GrB_Info put_sampling(training *s)
{
    const train_sampling *how = &s->t->plan.sampling;
    char text[FANOUTS * 24] = "";
    size_t at = 0;
    GrB_Info info = GrB_SUCCESS;
    if (!train_samples(how))
        return info;
    for (int h = 0; h < how->nhops; h++)
        at += how->fanouts[h] < 0 ? (size_t)snprintf(text + at, sizeof text - at, "%sall", h > 0 ? "," : "")
                                  : (size_t)snprintf(text + at, sizeof text - at, "%s%lld", h > 0 ? "," : "",
                                                     (long long)how->fanouts[h]);
    if (how->nhops > 0)
        info = FtB_Tensors_set_text(s->tensors, STATE "sample", text);
    if (info == GrB_SUCCESS && how->key)
        info = FtB_Tensors_set_text(s->tensors, STATE "key", how->key);
    const struct {
        const char *key;
        double value;
    } rows[] = {{STATE "batch", (double)s->batch},
                {STATE "batch-loss", s->sum},
                {STATE "batch-seeds", s->seeds},
                {STATE "batch-size", (double)how->batch},
                {STATE "sampler", how->selector},
                {STATE "replace", how->replace},
                {STATE "iterations", (double)how->iterations},
                {STATE "clusters", (double)how->clusters},
                {STATE "clusters-per-batch", (double)how->each},
                {STATE "partition", train_partition_mark(s->t)}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows && info == GrB_SUCCESS; r++)
        info = put_number(s->tensors, rows[r].key, rows[r].value);
    return info;
}

int train_resumed(train *t)
{
    const model_kind *kind = t->model.kind;
    double rule = FTB_ADAM, select = TRAIN_BY_SCORE, lr = kind->lr, decay = kind->weight_decay,
           first = kind->decay_first, patience = (double)kind->patience, seed = 0, epoch = 0, best_epoch = 0,
           best = NAN, batch = 0, size = 1, selector = 0, replace = 0, iterations = 0, clusters = 0, each = 1;
    const double most = 0x1p53; /* what a text of a number holds */
    const struct {
        const char *key;
        double *to;
        model_range range;
    } rows[] = {{STATE "optimizer", &rule, {FTB_SGD, FTB_ADAMW, true}},
                {STATE "select", &select, {TRAIN_BY_SCORE, TRAIN_LAST, true}},
                {STATE "lr", &lr, {DBL_MIN, DBL_MAX, false}},
                {STATE "weight-decay", &decay, {0, DBL_MAX, false}},
                {STATE "decay-first", &first, {0, 1, true}},
                {STATE "patience", &patience, {0, most, true}},
                {STATE "seed", &seed, {0, most, true}},
                {STATE "epoch", &epoch, {0, MODEL_EPOCHS, true}},
                {STATE "best-epoch", &best_epoch, {0, MODEL_EPOCHS, true}},
                {STATE "batch", &batch, {0, most, true}},
                {STATE "batch-loss", &t->resumed_loss, {-DBL_MAX, DBL_MAX, false}},
                {STATE "batch-seeds", &t->resumed_seeds, {0, most, true}},
                {STATE "batch-size", &size, {1, most, true}},
                {STATE "sampler", &selector, {0, UINT8_MAX, true}},
                {STATE "replace", &replace, {0, 1, true}},
                {STATE "iterations", &iterations, {0, INT16_MAX, true}},
                {STATE "clusters", &clusters, {0, INT32_MAX, true}},
                {STATE "clusters-per-batch", &each, {0, most, true}},
                {STATE "partition", &t->resumed_mark, {0, most, true}}};
    int code = APP_OK;
    for (size_t r = 0; r < sizeof rows / sizeof *rows && code == APP_OK; r++)
        code = model_number(rows[r].to, t->resume, rows[r].key, rows[r].range);
    const char *text = FtB_Tensors_get_text(t->resume, STATE "best");
    if (code == APP_OK && text && strcmp(text, "nan") != 0 && strcmp(text, "-nan") != 0)
        code = model_number(&best, t->resume, STATE "best", (model_range){-DBL_MAX, DBL_MAX, false});
    if (code == APP_OK && best_epoch > epoch)
        code = app_fail(APP_INPUT, "%s: text " STATE "best-epoch is %.17g, after " STATE "epoch, %.17g",
                        FtB_Tensors_source(t->resume), best_epoch, epoch);
    if (code != APP_OK)
        return code;
    t->resumed = (train_plan){.rule = (FtB_Update)rule,
                              .lr = lr,
                              .weight_decay = decay,
                              .decay_first = first != 0,
                              .patience = (int64_t)patience,
                              .select = (train_select)select,
                              .sampling = {.batch = (int64_t)size,
                                           .selector = (FtB_Selector)selector,
                                           .key = FtB_Tensors_get_text(t->resume, STATE "key"),
                                           .replace = replace > 0,
                                           .iterations = (int64_t)iterations,
                                           .clusters = (int64_t)clusters,
                                           .each = (int64_t)each}};
    t->resumed_seed = (uint64_t)seed;
    t->resumed_epoch = (int64_t)epoch;
    t->resumed_best_epoch = (int64_t)best_epoch;
    t->resumed_best = best;
    t->resumed_batch = (int64_t)batch;
    return read_fanouts(t);
}

static void state_name(char name[256], FtB_Parameter p)
{
    snprintf(name, 256, STATE "%s", FtB_Parameter_name(p));
}

GrB_Info train_put_state(training *s, int64_t best_epoch)
{
    const train_plan *plan = &s->t->plan;
    double best = NAN;
    GrB_Info info = FtB_Optimizer_save(s->optimizer, s->tensors);
    for (int p = 0; p < s->m.nparameters && info == GrB_SUCCESS; p++) {
        char name[256];
        state_name(name, s->m.parameters[p]);
        info = FtB_Tensors_set(s->tensors, name, s->m.parameters[p]->value, -1, NULL);
    }
    if (info == GrB_SUCCESS)
        info = FtB_Stopper_best(s->stopper, &best, NULL);
    const struct {
        const char *key;
        double value;
    } rows[] = {{STATE "epoch", (double)s->run->count},
                {STATE "best-epoch", (double)best_epoch},
                {STATE "best", best},
                {STATE "seed", (double)s->run->seed},
                {STATE "optimizer", plan->rule},
                {STATE "lr", plan->lr},
                {STATE "weight-decay", plan->weight_decay},
                {STATE "decay-first", plan->decay_first},
                {STATE "patience", (double)plan->patience},
                {STATE "select", plan->select}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows && info == GrB_SUCCESS; r++)
        info = put_number(s->tensors, rows[r].key, rows[r].value);
    return info == GrB_SUCCESS ? put_sampling(s) : info;
}

/* A saved parameter's values; the parameter's own shape is expected. */
static int take_state(FtB_Parameter p, FtB_Tensors t)
{
    char name[256];
    FtB_Block X;
    int code = APP_OK;
    state_name(name, p);
    GrB_Info info = FtB_Tensors_get(&X, t, name, NULL, NULL);
    if (info != GrB_SUCCESS)
        return app_library_error(info, APP_INPUT);
    if (X->nrows != p->value->nrows || X->ncols != p->value->ncols || X->type != FTB_FP32)
        code = app_fail(APP_INPUT, "%s: tensor %s is %lld x %lld; expected %lld x %lld of fp32",
                        FtB_Tensors_source(t), name, (long long)X->nrows, (long long)X->ncols,
                        (long long)p->value->nrows, (long long)p->value->ncols);
    for (int64_t i = 0; i < X->nrows && code == APP_OK; i++)
        memcpy((float *)ftb_block_data(p->value) + i * p->value->ld,
               (const float *)ftb_block_data(X) + i * X->ld, (size_t)X->ncols * sizeof(float));
    FtB_Block_free(&X);
    return code;
}

int train_resume(training *s)
{
    FtB_Tensors t = s->t->resume;
    GrB_Info info = GrB_SUCCESS;
    int code = model_take(&s->m, t);
    if (code != APP_OK)
        return code;
    s->run->count = s->run->first = s->t->resumed_epoch;
    s->run->best = s->t->resumed_best_epoch;
    if (!s->loader)
        s->tape->run = (uint64_t)s->run->first; /* so that dropout draws what it would have drawn */
    if (s->run->first > 0)
        info = FtB_Stopper_see(s->stopper, s->t->resumed_best, NULL);
    for (int64_t e = s->run->best + 1; e < s->run->first && info == GrB_SUCCESS; e++)
        info = FtB_Stopper_see(s->stopper, NAN, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Optimizer_load(s->optimizer, t);
    if (info != GrB_SUCCESS)
        return app_library_error(info, APP_INPUT);
    for (int p = 0; p < s->m.nparameters && code == APP_OK; p++)
        code = take_state(s->m.parameters[p], t);
    return code;
}

int train_checkpoint(training *s)
{
    int64_t seen = -1;
    int code = APP_OK;
    GrB_Info info = FtB_Tensors_new(&s->tensors);
    if (info == GrB_SUCCESS)
        info = FtB_Stopper_best(s->stopper, NULL, &seen);
    if (info == GrB_SUCCESS)
        info = train_put_state(s, s->run->best + ftb_max(seen, 0));
    if (info == GrB_SUCCESS && seen >= 0)
        info = FtB_Stopper_restore(s->stopper);
    if (info == GrB_SUCCESS)
        info = model_put(&s->m, s->tensors);
    for (int p = 0; p < s->m.nparameters && info == GrB_SUCCESS && code == APP_OK; p++)
        code = take_state(s->m.parameters[p], s->tensors);
    if (info == GrB_SUCCESS && code == APP_OK)
        info = FtB_Tensors_write(s->tensors, s->t->values->save);
    FtB_Tensors_free(&s->tensors);
    return code == APP_OK ? app_library_error(info, APP_OUTPUT) : code;
}

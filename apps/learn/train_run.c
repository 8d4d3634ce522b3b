/* One run of training: a model and an optimiser made from a seed, epochs until they are done, patience runs
 * out or a signal comes. */
#include "learn/train.h"

#include "nn/nn.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

typedef struct training {
    train *t;
    train_run *run;
    model m;
    FtB_Tape tape;
    FtB_Var out, loss;
    FtB_Optimizer optimizer;
    FtB_Stopper stopper;
    uint8_t *mask; /* of the rows that the loss counts */
    FtB_Tensors tensors;
} training;

static GrB_Info make_optimizer(training *s)
{
    const train_plan *plan = &s->t->plan;
    GrB_Info info = FtB_Optimizer_new(
        &s->optimizer, plan->rule,
        FTB_OPTIMIZER_OPTIONS(.lr = plan->lr, .momentum = plan->rule == FTB_SGD ? 0.9 : 0,
                              .weight_decay = plan->weight_decay > 0 ? plan->weight_decay : -1));
    int first = 0; /* parameters of the first layer come first */
    while (first < s->m.nparameters && s->m.layer_of[first] == 0)
        first++;
    if (!plan->decay_first)
        first = s->m.nparameters;
    if (info == GrB_SUCCESS)
        info = FtB_Optimizer_add(s->optimizer, s->m.parameters, first, NULL);
    if (info == GrB_SUCCESS && first < s->m.nparameters)
        info = FtB_Optimizer_add(s->optimizer, s->m.parameters + first, s->m.nparameters - first,
                                 FTB_GROUP_OPTIONS(.weight_decay = -1));
    return info;
}

static GrB_Info make_stopper(training *s)
{
    const train_plan *plan = &s->t->plan;
    return FtB_Stopper_new(
        &s->stopper, s->m.parameters, s->m.nparameters,
        FTB_STOPPER_OPTIONS(.patience = plan->patience,
                            .maximise = plan->select == TRAIN_BY_SCORE && train_maximises(s->t)));
}

/* Rows of the training part, all of whose targets are there. */
static GrB_Info make_mask(training *s)
{
    const dataset *set = &s->t->set;
    s->mask = ftb_new(NULL, set->nvertices, 1);
    if (!s->mask)
        return ftb_nomem();
    for (int64_t i = 0; i < set->nvertices; i++) {
        bool counted = set->part[DATASET_TRAIN][i];
        if (s->t->model.task == MODEL_CLASSES)
            counted = counted && set->labels[i] >= 0;
        for (int64_t c = 0; s->t->model.task != MODEL_CLASSES && c < set->ntargets; c++)
            counted =
                counted && !isnan(((const float *)ftb_block_data(set->targets))[i * set->targets->ld + c]);
        s->mask[i] = counted;
    }
    return GrB_SUCCESS;
}

static GrB_Info record(training *s)
{
    const dataset *set = &s->t->set;
    const model_task task = s->t->model.task;
    FtB_Var hidden;
    GrB_Info info = FtB_Tape_new(&s->tape, s->run->seed);
    if (info == GrB_SUCCESS)
        info = make_mask(s);
    if (info != GrB_SUCCESS)
        return info;
    model_record(&s->m, set->graph, model_input(s->tape, set), &hidden, &s->out);
    s->loss = task == MODEL_CLASSES ? FtB_cross_entropy(s->out, set->labels, s->mask)
              : task == MODEL_BINARY
                  ? FtB_binary_cross_entropy(s->out, FtB_input(s->tape, set->targets), s->mask)
                  : FtB_squared_error(s->out, FtB_input(s->tape, set->targets), s->mask);
    return FtB_Tape_status(s->tape);
}

/* ---- epochs */

static GrB_Info score(training *s, train_score scores[DATASET_PARTS], unsigned losses)
{
    FtB_Block Y;
    GrB_Info info = FtB_evaluate(&Y, s->out);
    if (info == GrB_SUCCESS)
        info = ftb_buffer_ask(Y->owner, FTB_READ);
    if (info == GrB_SUCCESS)
        train_scores(scores, Y, &s->t->set, s->t->model.task, losses);
    FtB_Block_free(&Y);
    return info;
}

/* What the weights are chosen by: without a validation part, or where the last ones are, the epoch itself. */
static double choice(const training *s, const train_epoch *e)
{
    const train_score *val = &e->part[DATASET_VAL];
    if (s->t->plan.select == TRAIN_LAST)
        return -(double)s->run->count;
    return s->t->plan.select == TRAIN_BY_LOSS ? val->loss : val->score;
}

static int one_epoch(training *s, bool *stop)
{
    train_epoch *e = &s->run->epochs[s->run->count - s->run->first];
    GrB_Info info = FtB_backward(s->loss);
    if (info == GrB_SUCCESS)
        info = FtB_scalar(&e->loss, s->loss);
    if (info == GrB_SUCCESS && !isfinite(e->loss))
        return app_fail(APP_FAILURE, "the loss is %g in epoch %lld; a smaller --lr may help", e->loss,
                        (long long)s->run->count + 1);
    if (info == GrB_SUCCESS)
        info = FtB_Optimizer_step(s->optimizer);
    if (info == GrB_SUCCESS)
        info = score(s, e->part, 1u << DATASET_VAL);
    if (info == GrB_SUCCESS)
        info = FtB_Stopper_see(s->stopper, choice(s, e), stop);
    s->run->count += info == GrB_SUCCESS;
    return app_library_error(info, APP_OUTPUT);
}

static void show(const training *s, double started)
{
    const train_run *run = s->run;
    const train_epoch *e = &run->epochs[run->count - run->first - 1];
    const double each = (app_seconds() - started) / (double)(run->count - run->first);
    char which[64] = "";
    if (s->t->nruns > 1)
        snprintf(which, sizeof which, "run %lld/%lld  ", (long long)(run - s->t->runs) + 1,
                 (long long)s->t->nruns);
    app_progress_note(
        each * (double)(s->t->plan.epochs - run->count), "%sepoch %lld/%lld  loss %.4f  %s %.4f", which,
        (long long)run->count, (long long)s->t->plan.epochs, e->loss, train_score_name(s->t),
        isnan(e->part[DATASET_VAL].score) ? e->part[DATASET_TRAIN].score : e->part[DATASET_VAL].score);
}

static int epochs(training *s)
{
    const double started = app_seconds();
    bool stop = false;
    int code = APP_OK;
    const int64_t left = ftb_max(s->t->plan.epochs - s->run->first, 0);
    if (s->t->resume && left == 0 && !s->t->values->learn.common.quiet)
        app_print(stderr, "%s: has %lld epochs; up to --epochs %lld none is left to train\n",
                  s->t->values->resume, (long long)s->run->first, (long long)s->t->plan.epochs);
    s->run->epochs = calloc((size_t)left + 1, sizeof *s->run->epochs);
    if (!s->run->epochs)
        return app_fail(APP_MEMORY, "out of memory");
    while (code == APP_OK && !stop && s->run->count < s->t->plan.epochs && !app_signal()) {
        code = one_epoch(s, &stop);
        if (code == APP_OK)
            show(s, started);
    }
    s->run->seconds = app_seconds() - started;
    return code;
}

/* ---- state in files */

#define STATE "resume."

static GrB_Info put_number(FtB_Tensors t, const char *key, double value)
{
    char text[64];
    snprintf(text, sizeof text, "%.17g", value);
    return FtB_Tensors_set_text(t, key, text);
}

int train_resumed(train *t)
{
    const model_kind *kind = t->model.kind;
    double rule = FTB_ADAM, select = TRAIN_BY_SCORE, lr = kind->lr, decay = kind->weight_decay,
           first = kind->decay_first, patience = (double)kind->patience, seed = 0, epoch = 0, best_epoch = 0,
           best = NAN;
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
                {STATE "best-epoch", &best_epoch, {0, MODEL_EPOCHS, true}}};
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
                              .select = (train_select)select};
    t->resumed_seed = (uint64_t)seed;
    t->resumed_epoch = (int64_t)epoch;
    t->resumed_best_epoch = (int64_t)best_epoch;
    t->resumed_best = best;
    return APP_OK;
}

static void state_name(char name[256], FtB_Parameter p)
{
    snprintf(name, 256, STATE "%s", FtB_Parameter_name(p));
}

/* The last weights, moments and counts, from which training goes on. */
static GrB_Info put_state(training *s)
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
                {STATE "best-epoch", (double)s->run->best},
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
    return info;
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

/* Goes on where the file ends: the best weights are shown to the stopper, then the last ones are taken. */
static int resume(training *s)
{
    FtB_Tensors t = s->t->resume;
    GrB_Info info = GrB_SUCCESS;
    int code = model_take(&s->m, t);
    if (code != APP_OK)
        return code;
    s->run->count = s->run->first = s->t->resumed_epoch;
    s->run->best = s->t->resumed_best_epoch;
    s->tape->run = (uint64_t)s->run->first; /* so that dropout draws what it would have drawn */
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

/* Whether this run's validation is better than that of the best one so far. */
static bool better(const train *t, const train_run *run)
{
    if (t->best_run < 0)
        return true;
    const train_score *a = &run->kept[DATASET_VAL], *b = &t->runs[t->best_run].kept[DATASET_VAL];
    if (t->plan.select == TRAIN_BY_LOSS)
        return a->loss < b->loss;
    return train_maximises(t) ? a->score > b->score : a->score < b->score;
}

/* The kept weights into the model, their scores into the run, all into t->best if the run is the best. */
static int finish(training *s)
{
    train *t = s->t;
    int64_t seen = -1;
    const bool save = t->values->save != NULL;
    GrB_Info info = save ? FtB_Tensors_new(&s->tensors) : GrB_SUCCESS;
    if (info == GrB_SUCCESS)
        info = FtB_Stopper_best(s->stopper, NULL, &seen);
    if (info == GrB_SUCCESS && seen >= 0) /* the stopper's epoch 0 is a resumed run's best one */
        s->run->best += seen;
    if (info == GrB_SUCCESS && save && !t->values->weights_only)
        info = put_state(s);
    if (info == GrB_SUCCESS && seen >= 0)
        info = FtB_Stopper_restore(s->stopper);
    if (info == GrB_SUCCESS)
        info = score(s, s->run->kept, ~0u);
    if (info == GrB_SUCCESS && save)
        info = model_put(&s->m, s->tensors);
    if (info != GrB_SUCCESS)
        return app_library_error(info, APP_OUTPUT);
    if (better(t, s->run)) {
        FtB_Tensors_free(&t->best);
        t->best = s->tensors;
        s->tensors = NULL;
        t->best_run = s->run - t->runs;
    }
    return APP_OK;
}

int train_once(train *t, train_run *run)
{
    training s = {.t = t, .run = run};
    model_options o = t->model;
    o.seed = run->seed;
    int code = model_make(&s.m, &o);
    if (code == APP_OK) {
        t->parameters = model_size(&s.m);
        GrB_Info info = record(&s);
        if (info == GrB_SUCCESS)
            info = make_optimizer(&s);
        if (info == GrB_SUCCESS)
            info = make_stopper(&s);
        if (info == GrB_SUCCESS && t->values->learn.explain && run == t->runs)
            info = FtB_Tape_explain(s.loss, stderr);
        code = app_library_error(info, APP_USAGE);
    }
    if (code == APP_OK && t->resume)
        code = resume(&s);
    if (code == APP_OK)
        code = epochs(&s);
    if (code == APP_OK)
        code = finish(&s);
    FtB_Stopper_free(&s.stopper);
    FtB_Optimizer_free(&s.optimizer);
    FtB_Tape_free(&s.tape);
    FtB_Tensors_free(&s.tensors);
    ftb_delete(s.mask);
    model_free(&s.m);
    return code;
}

/* One run of training: a model and an optimiser made from a seed, epochs until they are done, patience runs
 * out or a signal comes. */
#include "learn/training.h"

#include "nn/nn.h"

#include <math.h>
#include <stdlib.h>

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

/* The whole graph's record, or the loader of mini-batches. */
static GrB_Info record(training *s)
{
    const dataset *set = &s->t->set;
    const model_task task = s->t->model.task;
    FtB_Var hidden;
    GrB_Info info = FtB_Tape_new(&s->tape, s->run->seed);
    if (info == GrB_SUCCESS)
        info = make_mask(s);
    if (info == GrB_SUCCESS && train_samples(&s->t->plan.sampling))
        return train_batches_begin(s);
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
    if (s->loader)
        return train_infer(s, scores, losses);
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

static int train_whole(training *s, double *loss)
{
    GrB_Info info = FtB_backward(s->loss);
    if (info == GrB_SUCCESS)
        info = FtB_scalar(loss, s->loss);
    if (info == GrB_SUCCESS && !isfinite(*loss))
        return app_fail(APP_FAILURE, "the loss is %g in epoch %lld; a smaller --lr may help", *loss,
                        (long long)s->run->count + 1);
    if (info == GrB_SUCCESS)
        info = FtB_Optimizer_step(s->optimizer);
    return app_library_error(info, APP_OUTPUT);
}

/* Of mini-batches, a signal ends the epoch where it is. */
static int one_epoch(training *s, bool *stop)
{
    train_epoch *e = &s->run->epochs[s->run->count - s->run->first];
    bool whole = true;
    const int code = s->loader ? train_batches(s, &e->loss, &whole) : train_whole(s, &e->loss);
    if (code != APP_OK || !whole)
        return code;
    GrB_Info info = score(s, e->part, 1u << DATASET_VAL);
    if (info == GrB_SUCCESS)
        info = FtB_Stopper_see(s->stopper, choice(s, e), stop);
    s->run->count += info == GrB_SUCCESS;
    return app_library_error(info, APP_OUTPUT);
}

static void show(const training *s)
{
    const train_run *run = s->run;
    if (run->count == run->first)
        return;
    const train_epoch *e = &run->epochs[run->count - run->first - 1];
    const double each = (app_seconds() - s->started) / (double)(run->count - run->first);
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
    bool stop = false;
    int code = APP_OK;
    const int64_t left = ftb_max(s->t->plan.epochs - s->run->first, 0);
    if (s->t->resume && left == 0 && !s->t->values->learn.common.quiet)
        app_print(stderr, "%s: has %lld epochs; up to --epochs %lld none is left to train\n",
                  s->t->values->resume, (long long)s->run->first, (long long)s->t->plan.epochs);
    s->run->epochs = calloc((size_t)left + 1, sizeof *s->run->epochs);
    if (!s->run->epochs)
        return app_fail(APP_MEMORY, "out of memory");
    s->started = app_seconds();
    while (code == APP_OK && !stop && s->run->count < s->t->plan.epochs && !app_signal()) {
        code = one_epoch(s, &stop);
        if (code == APP_OK)
            show(s);
    }
    s->run->seconds = app_seconds() - s->started;
    return code;
}

/* ---- ends */

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
        info = train_put_state(s, s->run->best);
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
        if (info == GrB_SUCCESS && t->values->learn.explain && run == t->runs && !s.loader)
            info = FtB_Tape_explain(s.loss, stderr);
        code = app_library_error(info, APP_USAGE);
    }
    if (code == APP_OK && t->resume)
        code = train_resume(&s);
    if (code == APP_OK)
        code = epochs(&s);
    if (code == APP_OK)
        code = finish(&s);
    train_batches_end(&s);
    FtB_Loader_free(&s.loader);
    FtB_Clusters_free(&s.clusters);
    FtB_Tape_free(&s.pieces);
    FtB_Stopper_free(&s.stopper);
    FtB_Optimizer_free(&s.optimizer);
    FtB_Tape_free(&s.tape);
    FtB_Tensors_free(&s.tensors);
    ftb_delete(s.mask);
    model_free(&s.m);
    return code;
}

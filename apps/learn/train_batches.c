/* An epoch on mini-batches: a loader samples and gathers ahead, every batch is recorded, differentiated and
 * stepped. A position is the number of the epoch and of the batch in it: what a run draws (order, picks,
 * dropout) follows from these, so that a resumed one goes on with the bits that would have been. */
#include "learn/training.h"

#include "nn/nn.h"

#include <math.h>

/* Vertices that the loss counts, s->nseeds of them. */
static int64_t *list_seeds(training *s)
{
    const int64_t n = s->t->set.nvertices;
    for (int64_t v = 0; v < n; v++)
        s->nseeds += s->mask[v];
    int64_t *seeds = ftb_new(NULL, s->nseeds, sizeof *seeds), at = 0;
    for (int64_t v = 0; v < n && seeds; v++)
        if (s->mask[v])
            seeds[at++] = v;
    return seeds;
}

/* Batches of clusters: a loader's options for these. */
static GrB_Info make_clusters(training *s, FtB_Loader_options *o)
{
    const train_sampling *how = &s->t->plan.sampling;
    const GrB_Info info = FtB_Clusters_new(&s->clusters, s->t->set.graph, s->t->partition, how->clusters,
                                           FTB_CLUSTERS_OPTIONS(.batch = how->each, .seed = s->run->seed));
    *o = (FtB_Loader_options){.size = sizeof *o, .clusters = s->clusters, .targets = o->targets};
    return info;
}

static GrB_Info make_loader(training *s)
{
    const dataset *set = &s->t->set;
    const train_sampling *how = &s->t->plan.sampling;
    const FtB_Sample_options sampler = {.size = sizeof sampler,
                                        .selector = how->selector,
                                        .key = how->key,
                                        .replace = how->replace,
                                        .iterations = (int)how->iterations};
    FtB_Loader_options o = {.size = sizeof o,
                            .batch = how->batch,
                            .seed = s->run->seed,
                            .sampler = &sampler,
                            .targets = set->targets,
                            .cache_bytes = s->t->cache.bytes,
                            .cache_share = s->t->cache.share,
                            .cache_by = s->t->cache.by};
    int64_t *seeds = list_seeds(s);
    memcpy(o.fanout, how->fanouts, (size_t)how->nhops * sizeof *o.fanout);
    GrB_Info info = how->clusters > 0 ? make_clusters(s, &o) : GrB_SUCCESS;
    if (info == GrB_SUCCESS)
        info = seeds ? FtB_Loader_new(&s->loader, set->graph,
                                      set->dense_features ? FTB_ARG(set->dense_features)
                                                          : FTB_ARG(set->sparse_features),
                                      set->labels, seeds, s->nseeds, &o)
                     : ftb_nomem();
    ftb_delete(seeds);
    return info;
}

GrB_Info train_batches_begin(training *s)
{
    const train *t = s->t;
    GrB_Info info = make_loader(s);
    if (info != GrB_SUCCESS || !t->resume)
        return info;
    const int64_t batches = FtB_Loader_batches(s->loader);
    if (t->resumed_batch > batches)
        return ftb_fail(GrB_INVALID_VALUE, "%s: was saved before batch %lld of an epoch; here it has %lld",
                        t->values->resume, (long long)t->resumed_batch + 1, (long long)batches);
    s->batch = t->resumed_batch;
    s->sum = t->resumed_loss;
    s->seeds = isnan(t->resumed_seeds)
                   ? fmin((double)s->batch * (double)t->plan.sampling.batch, (double)s->nseeds)
                   : t->resumed_seeds;
    s->tape->run = (uint64_t)(t->resumed_epoch * batches + s->batch); /* as many as there were */
    return FtB_Loader_seek(s->loader, t->resumed_epoch, s->batch);
}

/* What is fed, on the tape: labels are the loss's own. */
static FtB_Var record(training *s, FtB_Batch b)
{
    const model_task task = s->t->model.task;
    FtB_Var out, x = FtB_Batch_features(b) ? FtB_input(s->tape, FtB_Batch_features(b))
                                           : FtB_input(s->tape, FtB_Batch_sparse_features(b));
    model_record_batch(&s->m, b, x, &out);
    if (task == MODEL_CLASSES)
        return FtB_cross_entropy(out, FtB_Batch_labels(b), NULL);
    x = FtB_input(s->tape, FtB_Batch_targets(b));
    return task == MODEL_BINARY ? FtB_binary_cross_entropy(out, x, NULL) : FtB_squared_error(out, x, NULL);
}

static GrB_Info explain_first(training *s, FtB_Var loss)
{
    const bool first = s->run == s->t->runs && s->tape->run == 0;
    return s->t->values->learn.explain && first ? FtB_Tape_explain(loss, stderr) : GrB_SUCCESS;
}

static GrB_Info one_batch(training *s, FtB_Batch b, double *value)
{
    GrB_Info info = FtB_Tape_reset(s->tape);
    if (info != GrB_SUCCESS)
        return info;
    if (FtB_Batch_seeds(b).count == 0) { /* of clusters: there is nothing to learn */
        *value = 0;
        s->tape->run++;
        return GrB_SUCCESS;
    }
    const FtB_Var loss = record(s, b);
    info = explain_first(s, loss);
    if (info == GrB_SUCCESS)
        info = FtB_backward(loss);
    if (info == GrB_SUCCESS)
        info = FtB_scalar(value, loss);
    return info == GrB_SUCCESS && isfinite(*value) ? FtB_Optimizer_step(s->optimizer) : info;
}

static void show(const training *s)
{
    const int64_t batches = FtB_Loader_batches(s->loader), epochs = s->t->plan.epochs;
    const double before = (double)(s->run->first * batches) + (double)s->t->resumed_batch,
                 done = (double)(s->run->count * batches + s->batch);
    app_progress_note((app_seconds() - s->started) / (done - before) * ((double)(epochs * batches) - done),
                      "epoch %lld/%lld  batch %lld/%lld  loss %.4f", (long long)s->run->count + 1,
                      (long long)epochs, (long long)s->batch, (long long)batches, s->sum / fmax(s->seeds, 1));
}

void train_batches_end(training *s)
{
    train_run *run = s->run;
    const bool first = run == s->t->runs;
    if (!s->loader || FtB_Loader_cache(s->loader, &run->cached, &run->gathered, &run->hits) != GrB_SUCCESS)
        return;
    if (s->t->values->learn.explain && first && *FtB_Loader_plan(s->loader))
        app_print(stderr, "%s\n", FtB_Loader_plan(s->loader));
}

int train_batches(training *s, double *loss, bool *whole)
{
    int code = APP_OK;
    FtB_Batch b = NULL;
    double value = 0;
    *whole = false;
    while (code == APP_OK && !app_signal() && (b = FtB_Loader_next(s->loader)) != NULL) {
        code = app_library_error(one_batch(s, b, &value), APP_OUTPUT);
        if (code == APP_OK && !isfinite(value))
            code = app_fail(APP_FAILURE, "the loss is %g in epoch %lld; a smaller --lr may help", value,
                            (long long)s->run->count + 1);
        if (code != APP_OK)
            break;
        const double count = (double)FtB_Batch_seeds(b).count;
        s->sum += value * count;
        s->seeds += count;
        s->batch++;
        show(s);
        if (s->t->values->save_every > 0 && (int64_t)s->tape->run % s->t->values->save_every == 0)
            code = train_checkpoint(s);
    }
    if (code == APP_OK && !b)
        code = app_library_error(FtB_Loader_status(s->loader), APP_OUTPUT);
    if (code != APP_OK || b || app_signal())
        return code;
    *loss = s->sum / fmax(s->seeds, 1);
    s->sum = s->seeds = 0;
    s->batch = 0;
    *whole = true;
    return APP_OK;
}

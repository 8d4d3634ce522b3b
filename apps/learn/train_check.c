/* Options of training that go together, and those that do not. */
#include "learn/train.h"

#include <math.h>

/* Options that a resumed run has from its file. */
static int check_resumed(const train_values *v)
{
    const struct {
        const char *option;
        bool given;
    } rows[] = {{"layers", v->layers > 0},
                {"hidden", v->hidden > 0},
                {"heads", v->learn.heads > 0},
                {"output-heads", v->out_heads > 0},
                {"dropout", !isnan(v->dropout)},
                {"activation", v->learn.activation >= 0},
                {"aggregate", v->learn.aggregate >= 0},
                {"hops", v->learn.hops > 0},
                {"teleport", !isnan(v->learn.teleport)},
                {"make-features", v->learn.made >= 0},
                {"normalize", v->learn.normalize > 0},
                {"undirected", v->learn.undirected != 0},
                {"lr", !isnan(v->lr)},
                {"weight-decay", !isnan(v->weight_decay)},
                {"optimizer", v->optimizer >= 0},
                {"select", v->select >= 0},
                {"sample", v->sample},
                {"batch", v->batch > 0},
                {"sampler", v->sampler >= 0},
                {"clusters", v->clusters > 0},
                {"clusters-per-batch", v->clusters_each > 0},
                {"key", v->key},
                {"replace", v->replace},
                {"iterations", v->iterations > 0},
                {"seed", v->seed >= 0}};
    for (size_t r = 0; v->resume && r < sizeof rows / sizeof *rows; r++)
        if (rows[r].given)
            return app_fail(APP_USAGE, "--%s: a resumed run has that of %s", rows[r].option, v->resume);
    return APP_OK;
}

/* Options that go with --sampler cluster, and those that do not. */
static int check_clusters(const train_values *v)
{
    const bool here = train_of_clusters(v);
    const struct {
        const char *option;
        bool given, of;
    } rows[] = {{"sample", v->sample, false},
                {"batch", v->batch > 0, false},
                {"key", v->key, false},
                {"replace", v->replace, false},
                {"iterations", v->iterations > 0, false},
                {"clusters", v->clusters > 0, true},
                {"clusters-per-batch", v->clusters_each > 0, true},
                {"partition", v->partition && !v->resume, true}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        if (rows[r].given && rows[r].of != here && (here || rows[r].of))
            return app_fail(APP_USAGE, "--%s means nothing with%s --sampler cluster", rows[r].option,
                            here ? "" : "out");
    if (here && v->clusters == 0 && !v->partition)
        return app_fail(APP_USAGE, "--sampler cluster: expected --clusters N or --partition FILE");
    return APP_OK;
}

static int check_batches(const train_values *v)
{
    const bool sampled = v->sample || train_of_clusters(v);
    const struct {
        const char *option;
        bool given;
    } rows[] = {{"batch", v->batch > 0},
                {"sampler", v->sampler >= 0},
                {"key", v->key},
                {"replace", v->replace},
                {"iterations", v->iterations > 0},
                {"feature-cache", v->feature_cache && !v->resume},
                {"cache-by", v->cache_by >= 0 && !v->resume},
                {"save-every", v->save_every > 0 && !v->resume}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows && !sampled; r++)
        if (rows[r].given)
            return app_fail(APP_USAGE, "--%s means nothing without --sample", rows[r].option);
    if (v->save_every > 0 && (!v->save || v->weights_only || v->repeat > 1))
        return app_fail(APP_USAGE, "--save-every goes with --save, and without --weights-only and --repeat");
    return APP_OK;
}

int train_check_options(const train_values *v)
{
    int code = check_resumed(v);
    if (code == APP_OK)
        code = check_clusters(v);
    return code == APP_OK ? check_batches(v) : code;
}

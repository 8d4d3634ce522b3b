/* featblas train: reads a graph with features and labels, trains a graph neural network, saves it. */
#include "command_options.h"
#include "learn/train.h"

#include "core/core.h"
#include "plan/machine.h"

#include <math.h>
#include <stdlib.h>

#define FIELD(name) .offset = offsetof(train_values, name)

static const option train_options[] = {
    {.name = "layers",
     .kind = OPTION_INTEGER,
     FIELD(layers),
     .argument = "N",
     .low = 1,
     .high = MODEL_LAYERS - 1,
     .list = model_shallow_list,
     .help = "N layers. Default: 2, of {} 1."},
    {.name = "hidden",
     .kind = OPTION_INTEGER,
     FIELD(hidden),
     .argument = "N",
     .low = 1,
     .high = MODEL_HIDDEN,
     .help = "N columns between layers, per head."},
    {.name = "output-heads",
     .kind = OPTION_INTEGER,
     FIELD(out_heads),
     .argument = "N",
     .low = 1,
     .high = MODEL_HEADS,
     .help = "N heads of the last layer, which are averaged. Default: 1."},
    {.name = "dropout",
     .kind = OPTION_REAL,
     FIELD(dropout),
     .argument = "P",
     .help = "Share of each layer's inputs, and of attention weights, that is dropped in training."},
    {.heading = "Training"},
    {.name = "task",
     .kind = OPTION_CHOICE,
     FIELD(task),
     .argument = "TASK",
     .choices = "auto|classes|targets",
     .help =
         "What labels are: classes (cross-entropy), or targets (squared error; cross-entropy of each where "
         "all are 0 or 1). Default: auto, classes where a single column of whole numbers says them."},
    {.name = "classes",
     .kind = OPTION_INTEGER,
     FIELD(classes),
     .argument = "N",
     .low = 0,
     .high = MODEL_CLASSES_MOST,
     .help = "There are N classes. Default: as many as the labels name."},
    {.name = "epochs",
     .kind = OPTION_INTEGER,
     FIELD(epochs),
     .argument = "N",
     .low = 0,
     .high = MODEL_EPOCHS,
     .help = "At most N epochs, each over the whole graph, or over all training vertices in mini-batches."},
    {.name = "lr", .kind = OPTION_REAL, FIELD(lr), .argument = "RATE", .help = "Learning rate."},
    {.name = "weight-decay",
     .kind = OPTION_REAL,
     FIELD(weight_decay),
     .argument = "W",
     .list = model_decay_list,
     .help = "W times the squared weights are added to the loss; of {} those of the first layer."},
    {.name = "optimizer",
     .kind = OPTION_CHOICE,
     FIELD(optimizer),
     .argument = "NAME",
     .choices = "adam|adamw|sgd",
     .help = "Rule of the updates; sgd has momentum 0.9. Default: adam."},
    {.name = "patience",
     .kind = OPTION_INTEGER,
     FIELD(patience),
     .argument = "N",
     .low = 0,
     .help = "End after N epochs in which validation did not improve; 0: never."},
    {.name = "select",
     .kind = OPTION_CHOICE,
     FIELD(select),
     .argument = "RULE",
     .choices = "score|loss|last",
     .help =
         "Keep the weights of the epoch with the best validation score (accuracy, or the error of targets), "
         "the least validation loss, or the last epoch's. Default: score, of kinds with heads loss; last "
         "without a validation part."},
    {.name = "seed",
     .kind = OPTION_INTEGER,
     FIELD(seed),
     .argument = "N",
     .low = 0,
     .help = "Seed of initial weights and dropout. Default: 0."},
    {.name = "repeat",
     .kind = OPTION_INTEGER,
     FIELD(repeat),
     .argument = "N",
     .low = 1,
     .high = 100000,
     .help = "Train N times, with seeds from --seed on, and print mean and deviation. Saved is the run that "
             "validates best."},
    {.name = "resume",
     .kind = OPTION_FILE,
     FIELD(resume),
     .argument = "FILE",
     .help = "Go on where the training that saved FILE ended, up to --epochs in all. Model, optimiser and "
             "seed are "
             "FILE's."},
    {.heading = "Mini-batches"},
    {.name = "sample",
     .kind = OPTION_TEXT,
     FIELD(sample),
     .argument = "K,...",
     .list = model_sample_list,
     .help = "Train on mini-batches, with so many neighbours of each vertex, for every hop from the seeds "
             "on; all: "
             "each. Of {}; a layer for each hop."},
    {.name = "batch",
     .kind = OPTION_INTEGER,
     FIELD(batch),
     .argument = "N",
     .low = 1,
     .help = "Training vertices of a batch. Default: 1024."},
    {.name = "sampler",
     .kind = OPTION_CHOICE,
     FIELD(sampler),
     .argument = "NAME",
     .choices = FANOUTS_SAMPLERS "|cluster",
     .help = "Which neighbours are picked, as featblas sample has it; cluster, in place of --sample: batches "
             "are the graph among some clusters. Default: auto."},
    {.name = "key",
     .kind = OPTION_TEXT,
     FIELD(key),
     .argument = "TEXT",
     .help = "Weight, value or probability of an edge: an expression over x, i, j, di, dj."},
    {.name = "replace",
     .kind = OPTION_SET,
     FIELD(replace),
     .value = 1,
     .help = "Neighbours are picked with replacement."},
    {.name = "iterations",
     .kind = OPTION_INTEGER,
     FIELD(iterations),
     .argument = "N",
     .high = 1000,
     .help = "labor: iterations of importance, for fewer vertices. Default: 0."},
    {.name = "feature-cache",
     .kind = OPTION_TEXT,
     FIELD(feature_cache),
     .argument = "SIZE|SHARE",
     .help = "A GPU keeps SIZE of features, such as 2G, or a SHARE of their rows, such as 0.2 or 20%, and "
             "reads the others from the host's memory; 0: it keeps none. Default: all, where they fit, else "
             "as many as there is room for. Means nothing without a GPU."},
    {.name = "cache-by",
     .kind = OPTION_CHOICE,
     FIELD(cache_by),
     .argument = "RULE",
     .choices = "degree|sampled",
     .help = "Which: those of vertices with the most edges, or those that a few batches, drawn beforehand, "
             "have most often. Default: degree."},
    {.name = "clusters",
     .kind = OPTION_INTEGER,
     FIELD(clusters),
     .argument = "N",
     .low = 1,
     .high = INT32_MAX,
     .help = "cluster: cut the graph into N clusters, by METIS, as featblas partition does."},
    {.name = "clusters-per-batch",
     .kind = OPTION_INTEGER,
     FIELD(clusters_each),
     .argument = "Q",
     .low = 1,
     .help = "cluster: Q clusters of a batch, drawn at random, each once an epoch. Default: 1."},
    {.name = "partition",
     .kind = OPTION_FILE,
     FIELD(partition),
     .argument = "FILE",
     .help = "cluster: the cluster of each vertex, as featblas partition writes it, in place of METIS."},
    {.name = "save-every",
     .kind = OPTION_INTEGER,
     FIELD(save_every),
     .argument = "N",
     .low = 1,
     .help = "Save after every N batches, too, so that --resume loses no more than these."},
    {.heading = "Output"},
    {.name = "save",
     .letter = 'o',
     .kind = OPTION_FILE,
     FIELD(save),
     .written = true,
     .form = FORM_ANY,
     .rewrites = "resume",
     .argument = "FILE",
     .help =
         "Write the weights to FILE, in the safetensors format, under the names of PyG's layers, with what "
         "--resume needs."},
    {.name = "weights-only",
     .kind = OPTION_SET,
     FIELD(weights_only),
     .value = 1,
     .help = "Save no state of the optimiser."},
    {.name = "metrics",
     .kind = OPTION_CHOICE,
     FIELD(metrics),
     .argument = "text|json",
     .choices = "text|json",
     .help = "How results are printed on standard output; json has every epoch. Default: text."},
    {.name = "plot",
     .kind = OPTION_FILE,
     FIELD(learn.plot),
     .written = true,
     .form = FORM_PICTURE,
     .argument = "FILE",
     .help = "Draw the learning curve into FILE, whose name ends with .svg or .png."},
    {.name = NULL},
};

static const train_values train_defaults = {
    .learn = {.made = -1, .teleport = NAN, .activation = -1, .aggregate = -1},
    .dropout = NAN,
    .lr = NAN,
    .weight_decay = NAN,
    .epochs = -1,
    .patience = -1,
    .repeat = 1,
    .optimizer = -1,
    .sampler = -1,
    .cache_by = -1,
    .seed = -1,
    .select = -1};

/* ---- options */

static int check_files(const train_values *v, const char *path)
{
    const int code = learn_check_data(&v->learn, path, "save", v->save);
    return code == APP_OK ? learn_check_data(&v->learn, path, "plot", v->learn.plot) : code;
}

int train_check_hops(const train_sampling *how, const model_options *o, int code, const char *name)
{
    if (how->nhops == 0 || how->nhops == o->layers)
        return APP_OK;
    return app_fail(code, "%s: %d hops; expected %lld, one for each layer", name, how->nhops,
                    (long long)o->layers);
}

static int check_values(const train_values *v, const char *path)
{
    int code = learn_begin(&v->learn, "train");
    if (code != APP_OK)
        return code;
    if (v->resume && v->repeat > 1)
        return app_fail(APP_USAGE, "--resume and --repeat exclude each other");
    if (v->dropout < 0 || v->dropout >= 1)
        return app_fail(APP_USAGE, "--dropout: %g is outside 0 <= P < 1", v->dropout);
    if (v->lr <= 0 || isinf(v->lr))
        return app_fail(APP_USAGE, "--lr: %g is not a number above 0", v->lr);
    if (v->weight_decay < 0 || isinf(v->weight_decay))
        return app_fail(APP_USAGE, "--weight-decay: %g is not a number from 0", v->weight_decay);
    code = train_check_options(v);
    return code == APP_OK ? check_files(v, path) : code;
}

static int64_t whole_or(int64_t given, int64_t otherwise) { return given > 0 ? given : otherwise; }
static double real_or(double given, double otherwise) { return isnan(given) ? otherwise : given; }

/* --feature-cache: a share up to 1, or a size. */
static int read_cache(train *t)
{
    const char *text = t->values->feature_cache;
    char *end = NULL;
    t->cache = (train_cache){.by = t->values->cache_by == 1 ? FTB_CACHE_SAMPLED : FTB_CACHE_DEGREE};
    if (!text)
        return APP_OK;
    const double number = strtod(text, &end);
    const bool percent = end != text && strcmp(end, "%") == 0;
    const double share = percent ? number / 100 : number;
    if (end != text && (percent || !*end) && share >= 0 && share <= 1) {
        t->cache.share = share;
        t->cache.bytes = share == 0 ? -1 : 0;
        return APP_OK;
    }
    const bool neither = percent || (end != text && !*end && number != floor(number));
    t->cache.bytes = neither ? -1 : options_parse_size(text);
    return t->cache.bytes > 0 ? APP_OK
                              : app_fail(APP_USAGE,
                                         "--feature-cache: '%s' is neither a size such as 2G nor a share "
                                         "such as 0.2",
                                         text);
}

/* What --sample and its like say; a layer for each hop, unless --layers says how many. */
static int read_sampling(train *t)
{
    const train_values *v = t->values;
    train_sampling *how = &t->plan.sampling;
    *how = (train_sampling){.batch = whole_or(v->batch, 1024),
                            .selector = train_of_clusters(v) ? FTB_SAMPLE_DEFAULT
                                                             : (FtB_Selector)ftb_max(v->sampler, 0),
                            .key = v->key,
                            .replace = v->replace,
                            .iterations = v->iterations};
    if (train_of_clusters(v)) {
        how->clusters = whole_or(v->clusters, INT32_MAX); /* as many as the file has */
        how->each = whole_or(v->clusters_each, 1);
        return learn_check_has("sampler cluster", true, t->model.kind, model_samples);
    }
    if (!v->sample)
        return APP_OK;
    int code = learn_check_has("sample", true, t->model.kind, model_samples);
    if (code == APP_OK)
        code = fanouts_parse(how->fanouts, &how->nhops, "--sample", v->sample);
    if (code == APP_OK && v->layers == 0)
        t->model.layers = how->nhops;
    for (int h = 0; h < how->nhops && code == APP_OK; h++)
        if (how->fanouts[h] == 0)
            code = app_fail(APP_USAGE, "--sample: no neighbours for hop %d; expected 1 or more, or all", h);
    return code == APP_OK ? train_check_hops(how, &t->model, APP_USAGE, "--sample") : code;
}

/* Options of the command line replace the kind's own. */
static model_options choose_model(const train_values *v)
{
    model_options o = model_defaults(model_find(v->learn.model ? v->learn.model : "gcn"));
    o.layers = whole_or(v->layers, o.layers);
    o.hidden = whole_or(v->hidden, o.hidden);
    o.heads = o.kind->attends ? whole_or(v->learn.heads, o.heads) : 1;
    o.out_heads = o.kind->attends ? whole_or(v->out_heads, o.out_heads) : 1;
    o.hops = whole_or(v->learn.hops, o.hops);
    o.teleport = real_or(v->learn.teleport, o.teleport);
    o.dropout = real_or(v->dropout, o.dropout);
    o.activation = v->learn.activation >= 0 ? (model_activation)v->learn.activation : o.activation;
    o.aggregate = v->learn.aggregate >= 0 ? model_aggregates[v->learn.aggregate] : NULL;
    o.made = v->learn.made > 0 ? (dataset_made)v->learn.made : DATASET_REQUIRED;
    o.undirected = v->learn.undirected;
    return o;
}

static train_plan choose_plan(const train *t)
{
    static const FtB_Update rules[] = {FTB_ADAM, FTB_ADAMW, FTB_SGD};
    const train_values *v = t->values;
    const model_kind *kind = t->model.kind;
    const bool validates = t->set.part_count[DATASET_VAL] > 0;
    train_plan plan = {.rule = rules[v->optimizer > 0 ? v->optimizer : 0],
                       .lr = kind->lr,
                       .weight_decay = kind->weight_decay,
                       .decay_first = kind->decay_first,
                       .patience = kind->patience,
                       .select = kind->attends ? TRAIN_BY_LOSS : TRAIN_BY_SCORE,
                       .sampling = t->plan.sampling};
    plan.lr = real_or(v->lr, plan.lr);
    plan.weight_decay = real_or(v->weight_decay, plan.weight_decay);
    if (t->resume)
        plan = t->resumed;
    plan.epochs = v->epochs >= 0 ? v->epochs : kind->epochs;
    plan.patience = v->patience >= 0 ? v->patience : plan.patience;
    plan.select = !validates ? TRAIN_LAST : v->select >= 0 ? (train_select)v->select : plan.select;
    if (plan.select == TRAIN_LAST)
        plan.patience = 0;
    return plan;
}

/* ---- work */

static int read_data(train *t)
{
    const train_values *v = t->values;
    const dataset_options options = {.features = v->learn.features,
                                     .labels = v->learn.labels,
                                     .split = v->learn.split,
                                     .features_made = t->model.made,
                                     .task = (dataset_task)v->task,
                                     .nclasses = v->classes,
                                     .nfeatures = t->model.nfeatures,
                                     .undirected = t->model.undirected};
    GrB_Info info = dataset_load(&t->set, t->path, &options);
    if (info != GrB_SUCCESS)
        return app_library_error(info, APP_INPUT);
    if (t->set.part_count[DATASET_TRAIN] == 0)
        return app_fail(APP_INPUT, "%s: the split has no vertex to train on", t->path);
    return APP_OK;
}

static int check_kind(const train_values *v, const model_kind *kind)
{
    const int code = learn_check_has("output-heads", v->out_heads > 0, kind, model_has_heads);
    return code == APP_OK ? learn_check_kind(&v->learn, kind) : code;
}

/* What the data says of the model. A resumed model must fit it. */
static int fit_model(train *t)
{
    model_options *o = &t->model;
    const int64_t outputs = t->set.nclasses > 0 ? t->set.nclasses : t->set.ntargets;
    const model_task task = t->set.nclasses > 0 ? MODEL_CLASSES
                            : t->set.binary     ? MODEL_BINARY
                                                : MODEL_TARGETS;
    if (t->resume && (task != o->task || outputs != o->noutputs))
        return app_fail(APP_INPUT, "%s: its model has %lld outputs%s; %s has %lld%s", t->values->resume,
                        (long long)o->noutputs, o->task == MODEL_CLASSES ? ", classes" : "", t->path,
                        (long long)outputs, task == MODEL_CLASSES ? " classes" : " targets");
    o->task = task;
    o->noutputs = outputs;
    o->nfeatures = t->set.nfeatures;
    if (!t->resume)
        o->rows = t->values->learn.normalize == 2 || (t->values->learn.normalize == 0 &&
                                                      o->made == DATASET_REQUIRED && model_counts(&t->set))
                      ? MODEL_ROWS_NORMALISED
                      : MODEL_ROWS_AS_THEY_ARE;
    return app_library_error(model_prepare(&t->set, o), APP_INPUT);
}

static int read_resumed(train *t)
{
    if (!t->values->resume)
        return APP_OK;
    GrB_Info info = FtB_Tensors_read(&t->resume, t->values->resume);
    if (info != GrB_SUCCESS)
        return app_library_error(info, APP_INPUT);
    if (!FtB_Tensors_get_text(t->resume, "resume.epoch"))
        return app_fail(APP_INPUT,
                        "%s: has no state to resume from (it was saved with --weights-only, or elsewhere)",
                        t->values->resume);
    int code = model_describe(&t->model, t->resume, t->values->learn.model ? t->model.kind : NULL, 0);
    if (code == APP_OK)
        code = learn_check_trained(&t->values->learn, t->model.made, t->path, t->values->resume);
    return code == APP_OK ? train_resumed(t) : code;
}

/* All runs; a signal ends them after the epoch. */
static int run_all(train *t)
{
    int code = APP_OK;
    t->runs = calloc((size_t)t->values->repeat, sizeof *t->runs);
    if (!t->runs)
        return app_fail(APP_MEMORY, "out of memory");
    app_progress_stop();
    app_signals_hold(true);
    t->nruns = t->values->repeat;
    int64_t done = 0;
    for (; done < t->nruns && code == APP_OK && !(done > 0 && app_signal()); done++) {
        t->runs[done].seed =
            (t->resume ? t->resumed_seed : (uint64_t)ftb_max(t->values->seed, 0)) + (uint64_t)done;
        code = train_once(t, &t->runs[done]);
        app_progress_clear();
        if (code == APP_OK)
            train_report_run(t, &t->runs[done]);
    }
    t->nruns = done;
    app_signals_hold(false);
    return code;
}

static int write_results(train *t)
{
    GrB_Info info = t->values->save ? FtB_Tensors_write(t->best, t->values->save) : GrB_SUCCESS;
    int code = app_library_error(info, APP_OUTPUT);
    if (code == APP_OK && t->values->metrics == 1)
        code = train_report_json(t);
    else if (code == APP_OK)
        train_report(t);
    if (code == APP_OK && t->values->learn.plot)
        code = train_draw(t, t->values->learn.plot);
    return code;
}

static void release(train *t)
{
    for (int64_t r = 0; t->runs && r < t->values->repeat; r++)
        free(t->runs[r].epochs);
    free(t->runs);
    FtB_Tensors_free(&t->resume);
    FtB_Tensors_free(&t->best);
    free(t->partition);
    dataset_free(&t->set);
}

static int run_train(const void *values, int count, char *const *operands)
{
    train t = {.values = values, .path = operands[0], .best_run = -1, .resumed_seeds = NAN};
    (void)count;
    int code = check_values(values, t.path);
    if (code != APP_OK)
        return code;
    if (t.values->learn.explain)
        ftb_machine_measured(); /* what that takes is free again when the data comes */
    t.model = choose_model(values);
    code = check_kind(t.values, t.model.kind);
    if (code == APP_OK)
        code = read_sampling(&t);
    if (code == APP_OK)
        code = read_cache(&t);
    if (code == APP_OK)
        code = learn_check_made(&t.values->learn, t.path);
    if (code == APP_OK)
        code = read_resumed(&t);
    if (code == APP_OK)
        code = read_data(&t);
    if (code == APP_OK)
        code = fit_model(&t);
    if (code == APP_OK) {
        t.plan = choose_plan(&t);
        code = train_partition(&t);
    }
    if (code == APP_OK) {
        train_announce(&t);
        code = run_all(&t);
    }
    if (code == APP_OK)
        code = write_results(&t);
    release(&t);
    return code;
}

const command command_train = {
    .name = "train",
    .operands = "DIR|GRAPH",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "train a graph neural network on a graph with features and labels",
    .description = "DIR is a folder with edges, features, labels and a split (docs/datasets.md), or one in "
                   "OGB's layout; "
                   "GRAPH is a file with a graph, then --features, --labels and --split name the others.\n\n"
                   "Every epoch is over the whole graph, or with --sample over mini-batches of sampled "
                   "neighbourhoods, with --sampler cluster of clusters (docs/sampling.md). Validation and "
                   "test are scored without dropout "
                   "after each; what is "
                   "reported and saved are the weights of the epoch that --select says.\n\n"
                   "Ctrl-C ends after the epoch, of mini-batches after the batch, and saves; --resume goes "
                   "on from there, with the bits that "
                   "would have been.",
    .examples =
        "  $ featblas train cora/ --model gcn --save cora.safetensors --plot cora.svg\n"
        "  $ featblas train cora/ --model gat --heads 8 --hidden 8 --epochs 200 --repeat 10\n"
        "  $ featblas train graph.mtx --features x.npy --labels y.txt --split split.txt --model sage\n"
        "  $ featblas train cora/ --model sage --sample 15,10 --batch 64 --epochs 20 --save "
        "cora.safetensors\n"
        "  $ featblas train cora/ --sampler cluster --clusters 10 --clusters-per-batch 2\n"
        "  $ featblas train cora/ --resume cora.safetensors --epochs 400 --save cora.safetensors\n",
    .shared = learn_options,
    .options = train_options,
    .writes = true,
    .size = sizeof(train_values),
    .defaults = &train_defaults,
    .run = run_train,
};

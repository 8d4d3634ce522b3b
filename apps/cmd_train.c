/* featblas train: reads a graph with features and labels, trains a graph neural network, saves it. */
#include "train.h"

#include "core/core.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIELD(name) .offset = offsetof(train_values, name)

static const option train_options[] = {
    {.heading = "Data"},
    {.name = "features",
     .kind = OPTION_FILE,
     FIELD(features),
     .argument = "FILE",
     .help = "Features, a row per vertex: Matrix Market, npz or raw CSR (sparse), npy or a table (dense). "
             "Default: the folder's."},
    {.name = "labels",
     .kind = OPTION_FILE,
     FIELD(labels),
     .argument = "FILE",
     .help = "Classes or targets, a line per vertex. Default: the folder's."},
    {.name = "split",
     .kind = OPTION_FILE,
     FIELD(split),
     .argument = "FILE",
     .help = "train, val, test or none, a line per vertex; of OGB's layout the name of a split. Default: the "
             "folder's."},
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
     .high = 1000000,
     .help = "There are N classes. Default: as many as the labels name."},
    {.name = "make-features",
     .kind = OPTION_CHOICE,
     FIELD(made),
     .argument = "KIND",
     .choices = "no|one-hot|degree",
     .help =
         "Features of a graph without: one-hot, a weight row per vertex, or degree, one-hot of the degree. "
         "Default: no, then they are required."},
    {.name = "normalize",
     .kind = OPTION_CHOICE,
     FIELD(normalize),
     .argument = "RULE",
     .choices = "auto|none|row",
     .help = "row: a vertex's features are divided by their sum. Default: auto, row where all features are "
             "counts, such as words of a text."},
    {.name = "undirected",
     .kind = OPTION_SET,
     FIELD(undirected),
     .value = 1,
     .help = "Edges are meant both ways round."},
    {.heading = "Model"},
    {.name = "model",
     .letter = 'm',
     .kind = OPTION_TEXT,
     FIELD(model),
     .argument = "NAME",
     .words = model_names,
     .help = "Kind of the model: gcn, gat, gatv2, transformer, sage, sgc, appnp, gin or mlp. Default: gcn. "
             "Its paper's hyper-parameters are the defaults below."},
    {.name = "layers",
     .kind = OPTION_INTEGER,
     FIELD(layers),
     .argument = "N",
     .low = 1,
     .high = MODEL_LAYERS - 1,
     .help = "N layers. Default: 2, of sgc 1."},
    {.name = "hidden",
     .kind = OPTION_INTEGER,
     FIELD(hidden),
     .argument = "N",
     .low = 1,
     .high = 1000000,
     .help = "N columns between layers, per head."},
    {.name = "heads",
     .kind = OPTION_INTEGER,
     FIELD(heads),
     .argument = "N",
     .low = 1,
     .high = 1024,
     .help = "N attention heads, side by side, of all layers but the last."},
    {.name = "output-heads",
     .kind = OPTION_INTEGER,
     FIELD(out_heads),
     .argument = "N",
     .low = 1,
     .high = 1024,
     .help = "N heads of the last layer, which are averaged. Default: 1."},
    {.name = "dropout",
     .kind = OPTION_REAL,
     FIELD(dropout),
     .argument = "P",
     .help = "Share of each layer's inputs, and of attention weights, that is dropped in training."},
    {.name = "activation",
     .kind = OPTION_CHOICE,
     FIELD(activation),
     .argument = "NAME",
     .choices = "relu|elu|none",
     .help = "Function between layers."},
    {.name = "aggregate",
     .kind = OPTION_CHOICE,
     FIELD(aggregate),
     .argument = "NAME",
     .choices = "mean|max|pool|sum",
     .help = "How sage gathers its neighbours. Default: mean."},
    {.name = "hops",
     .kind = OPTION_INTEGER,
     FIELD(hops),
     .argument = "N",
     .low = 1,
     .high = 1000,
     .help = "Steps over the graph, of sgc and appnp. Default: 2, of appnp 10."},
    {.name = "teleport",
     .kind = OPTION_REAL,
     FIELD(teleport),
     .argument = "P",
     .help = "Share of its own outputs that a vertex keeps in each step of appnp. Default: 0.1."},
    {.heading = "Training"},
    {.name = "epochs",
     .kind = OPTION_INTEGER,
     FIELD(epochs),
     .argument = "N",
     .low = 0,
     .high = 100000000,
     .help = "At most N epochs, each over the whole graph."},
    {.name = "lr", .kind = OPTION_REAL, FIELD(lr), .argument = "RATE", .help = "Learning rate."},
    {.name = "weight-decay",
     .kind = OPTION_REAL,
     FIELD(weight_decay),
     .argument = "W",
     .help = "W times the squared weights are added to the loss; of gcn, mlp and appnp those of the first "
             "layer."},
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
    {.heading = "Output"},
    {.name = "save",
     .letter = 'o',
     .kind = OPTION_FILE,
     FIELD(save),
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
     FIELD(plot),
     .argument = "FILE",
     .help = "Draw the learning curve into FILE, whose name ends with .svg or .png."},
    {.name = "explain",
     .kind = OPTION_SET,
     FIELD(explain),
     .value = 1,
     .help = "Print the products that an epoch is made of, on standard error, before training."},
    {.name = NULL},
};

static const train_values train_defaults = {.dropout = NAN,
                                            .teleport = NAN,
                                            .lr = NAN,
                                            .weight_decay = NAN,
                                            .epochs = -1,
                                            .patience = -1,
                                            .repeat = 1,
                                            .activation = -1,
                                            .aggregate = -1,
                                            .select = -1,
                                            .normalize = 0};

/* ---- options */

static int check_output(const char *name, const char *path)
{
    if (!path)
        return APP_OK;
    if (!*path)
        return app_fail(APP_USAGE, "--%s: the name is empty", name);
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    if (!folder)
        return app_fail(APP_MEMORY, "out of memory");
    int code = access(folder, W_OK | X_OK) == 0
                   ? APP_OK /* better known before the work than after it */
                   : app_fail(APP_OUTPUT, "%s: the folder %s cannot be written to", path, folder);
    free(folder);
    return code;
}

static int check_values(const train_values *v)
{
    const char *ending = v->plot ? strrchr(v->plot, '.') : NULL;
    if (v->model && !model_find(v->model)) {
        int count = 0;
        const char *const *names = model_names(&count);
        return app_unknown("model", v->model, count, names, "featblas train --help lists them");
    }
    if (v->resume && v->repeat > 1)
        return app_fail(APP_USAGE, "--resume and --repeat exclude each other");
    if (v->dropout < 0 || v->dropout >= 1)
        return app_fail(APP_USAGE, "--dropout: %g is outside 0 <= P < 1", v->dropout);
    if (v->teleport < 0 || v->teleport > 1)
        return app_fail(APP_USAGE, "--teleport: %g is outside 0..1", v->teleport);
    if (v->lr <= 0 || isinf(v->lr))
        return app_fail(APP_USAGE, "--lr: %g is not a number above 0", v->lr);
    if (v->weight_decay < 0 || isinf(v->weight_decay))
        return app_fail(APP_USAGE, "--weight-decay: %g is not a number from 0", v->weight_decay);
    if (v->plot && (!ending || (strcmp(ending, ".svg") != 0 && strcmp(ending, ".png") != 0)))
        return app_fail(APP_USAGE, "%s: a picture's name ends with .svg or .png", v->plot);
    int code = check_output("save", v->save);
    return code == APP_OK ? check_output("plot", v->plot) : code;
}

static int64_t whole_or(int64_t given, int64_t otherwise) { return given > 0 ? given : otherwise; }
static double real_or(double given, double otherwise) { return isnan(given) ? otherwise : given; }

/* Options of the command line replace the kind's own. */
static model_options choose_model(const train_values *v)
{
    static const char *const aggregates[] = {"mean", "max", "pool", "sum"};
    model_options o = model_defaults(model_find(v->model ? v->model : "gcn"));
    o.layers = whole_or(v->layers, o.layers);
    o.hidden = whole_or(v->hidden, o.hidden);
    o.heads = o.kind->attends ? whole_or(v->heads, o.heads) : 1;
    o.out_heads = o.kind->attends ? whole_or(v->out_heads, o.out_heads) : 1;
    o.hops = whole_or(v->hops, o.hops);
    o.teleport = real_or(v->teleport, o.teleport);
    o.dropout = real_or(v->dropout, o.dropout);
    o.activation = v->activation >= 0 ? (model_activation)v->activation : o.activation;
    o.aggregate = v->aggregate >= 0 ? aggregates[v->aggregate] : NULL;
    o.made = (dataset_made)v->made;
    o.undirected = v->undirected;
    return o;
}

static train_plan choose_plan(const train *t)
{
    static const FtB_Update rules[] = {FTB_ADAM, FTB_ADAMW, FTB_SGD};
    const train_values *v = t->values;
    const model_kind *kind = t->model.kind;
    const bool validates = t->set.part_count[DATASET_VAL] > 0;
    train_plan plan = {.rule = rules[v->optimizer],
                       .lr = kind->lr,
                       .weight_decay = kind->weight_decay,
                       .decay_first = kind->decay_first,
                       .epochs = v->epochs >= 0 ? v->epochs : kind->epochs,
                       .patience = kind->patience,
                       .select = kind->attends ? TRAIN_BY_LOSS : TRAIN_BY_SCORE};
    if (t->resume)
        train_resumed_plan(&plan, t->resume);
    plan.lr = real_or(v->lr, plan.lr);
    plan.weight_decay = real_or(v->weight_decay, plan.weight_decay);
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
    const dataset_options options = {.features = v->features,
                                     .labels = v->labels,
                                     .split = v->split,
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
        o->rows = t->values->normalize == 2 ||
                          (t->values->normalize == 0 && o->made == DATASET_REQUIRED && model_counts(&t->set))
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
    return model_describe(&t->model, t->resume, t->values->model ? t->model.kind : NULL, 0);
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
            (t->resume ? train_resumed_seed(t->resume) : (uint64_t)t->values->seed) + (uint64_t)done;
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
    if (code == APP_OK && t->values->plot)
        code = train_draw(t, t->values->plot);
    return code;
}

static void release(train *t)
{
    for (int64_t r = 0; t->runs && r < t->values->repeat; r++)
        free(t->runs[r].epochs);
    free(t->runs);
    FtB_Tensors_free(&t->resume);
    FtB_Tensors_free(&t->best);
    dataset_free(&t->set);
}

static int run_train(const void *values, int count, char *const *operands)
{
    train t = {.values = values, .path = operands[0], .best_run = -1};
    (void)count;
    int code = check_values(values);
    if (code != APP_OK)
        return code;
    t.model = choose_model(values);
    code = read_resumed(&t);
    if (code == APP_OK)
        code = read_data(&t);
    if (code == APP_OK)
        code = fit_model(&t);
    if (code == APP_OK) {
        t.plan = choose_plan(&t);
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
                   "Every epoch is over the whole graph. Validation and test are scored without dropout "
                   "after each; what is "
                   "reported and saved are the weights of the epoch that --select says.\n\n"
                   "Ctrl-C ends after the epoch, and saves; --resume goes on from there, with the bits that "
                   "would have been.",
    .examples =
        "  $ featblas train cora/ --model gcn --save cora.safetensors --plot cora.svg\n"
        "  $ featblas train cora/ --model gat --heads 8 --hidden 8 --epochs 200 --repeat 10\n"
        "  $ featblas train graph.mtx --features x.npy --labels y.txt --split split.txt --model sage\n"
        "  $ featblas train cora/ --resume cora.safetensors --epochs 400 --save cora.safetensors\n",
    .options = train_options,
    .size = sizeof(train_values),
    .defaults = &train_defaults,
    .run = run_train,
};

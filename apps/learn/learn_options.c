/* The options that train and predict share: data, and what a model is. */
#include "learn/train.h"

#include <math.h>
#include <string.h>

#define FIELD(name) .offset = offsetof(learn_values, name)

const option learn_options[] = {
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
     .help = "Classes or targets, a line per vertex, to learn or to compare with. Default: the folder's."},
    {.name = "split",
     .kind = OPTION_FILE,
     FIELD(split),
     .argument = "FILE|NAME",
     .help = "train, val, test or none, a line per vertex; of OGB's layout the name of a split. Default: the "
             "folder's."},
    {.name = "make-features",
     .kind = OPTION_CHOICE,
     FIELD(made),
     .argument = "KIND",
     .choices = "no|one-hot|degree",
     .help =
         "Features of a graph without: one-hot, a weight row per vertex, or degree, one-hot of the degree. "
         "Default: no, then they are required; of a saved model as it was trained."},
    {.name = "normalize",
     .kind = OPTION_CHOICE,
     FIELD(normalize),
     .argument = "RULE",
     .choices = "auto|none|row",
     .help = "row: a vertex's features are divided by their sum. Default: auto, row where all features are "
             "counts, such as words of a text; of a saved model as it was trained, else none."},
    {.name = "undirected",
     .kind = OPTION_SET,
     FIELD(undirected),
     .value = 1,
     .help = "Edges are meant both ways round. Default: no; of a saved model as it was trained."},
    {.heading = "Model"},
    {.name = "model",
     .letter = 'm',
     .kind = OPTION_TEXT,
     FIELD(model),
     .argument = "NAME",
     .words = model_names,
     .list = model_all_list,
     .help = "Kind of the model: {}. Default: gcn; "
             "of a saved model what its file says, or the names of its tensors tell. The hyper-parameters of "
             "the kind's paper are the defaults below; of a saved model, its shapes."},
    {.name = "heads",
     .kind = OPTION_INTEGER,
     FIELD(heads),
     .argument = "N",
     .low = 1,
     .high = MODEL_HEADS,
     .help = "N attention heads, side by side, of all layers but the last. What is saved tells them, but in "
             "state dicts of transformer."},
    {.name = "activation",
     .kind = OPTION_CHOICE,
     FIELD(activation),
     .argument = "NAME",
     .words = model_activation_words,
     .help = "Function between layers. Default: the kind's."},
    {.name = "aggregate",
     .kind = OPTION_CHOICE,
     FIELD(aggregate),
     .argument = "NAME",
     .words = model_aggregate_words,
     .list = model_aggregate_list,
     .help = "How {} gathers its neighbours. Default: mean."},
    {.name = "hops",
     .kind = OPTION_INTEGER,
     FIELD(hops),
     .argument = "N",
     .low = 1,
     .high = MODEL_HOPS,
     .list = model_hops_list,
     .help = "Steps over the graph, of {}. Default: the kind's."},
    {.name = "teleport",
     .kind = OPTION_REAL,
     FIELD(teleport),
     .argument = "P",
     .list = model_teleport_list,
     .help = "Share of its own outputs that a vertex keeps in each step of {}. Default: 0.1."},
    {.name = "explain",
     .kind = OPTION_SET,
     FIELD(explain),
     .value = 1,
     .help = "Print the products that the model is made of, on standard error, before they run."},
    {.name = "deterministic",
     .kind = OPTION_SET,
     FIELD(deterministic),
     .value = 1,
     .help = "Plan products as for one fixed machine, so that bits depend neither on threads, which they "
             "never do, nor on the sizes of caches. What is left is the instruction set, and the CBLAS."},
    {.name = NULL},
};

int learn_begin(const learn_values *v, const char *name)
{
    char hint[64];
    if (v->model && !model_find(v->model)) {
        int count = 0;
        const char *const *names = model_names(&count);
        snprintf(hint, sizeof hint, "featblas %s --help lists them", name);
        return app_unknown("model", v->model, count, names, hint);
    }
    if (v->teleport < 0 || v->teleport > 1)
        return app_fail(APP_USAGE, "--teleport: %g is outside 0..1", v->teleport);
    if (v->made > 0 && v->features)
        return app_fail(APP_USAGE, "--make-features and --features exclude each other");
    return app_library_error(FtB_Context_set_deterministic(NULL, v->deterministic), APP_FAILURE);
}

int learn_check_made(const learn_values *v, const char *path)
{
    if (v->made > 0 && dataset_has_features(path))
        return app_fail(APP_USAGE, "--make-features: %s has features", path);
    return APP_OK;
}

int learn_check_trained(const learn_values *v, dataset_made made, const char *path, const char *file)
{
    static const char *const kinds[] = {[DATASET_ONE_HOT] = "one-hot", [DATASET_DEGREE] = "degree"};
    if (made != DATASET_REQUIRED && (v->features || dataset_has_features(path)))
        return app_fail(APP_INPUT,
                        "%s: has features; the model in %s was trained on others, --make-features %s",
                        v->features ? v->features : path, file, kinds[made]);
    return APP_OK;
}

int learn_check_has(const char *name, bool given, const model_kind *kind, bool (*has)(const model_kind *kind))
{
    char list[MODEL_LIST];
    if (!given || has(kind))
        return APP_OK;
    return app_fail(APP_USAGE, "--%s: no option of %s, but of %s", name, kind->name,
                    model_list(list, has, " and "));
}

int learn_check_kind(const learn_values *v, const model_kind *kind)
{
    const struct {
        const char *option;
        bool given;
        bool (*has)(const model_kind *kind);
    } rows[] = {
        {"aggregate", v->aggregate >= 0, model_has_aggregate},
        {"hops", v->hops > 0, model_has_hops},
        {"teleport", !isnan(v->teleport), model_has_teleport},
        {"heads", v->heads > 0, model_has_heads},
    };
    int code = APP_OK;
    for (size_t r = 0; r < sizeof rows / sizeof *rows && code == APP_OK; r++)
        code = learn_check_has(rows[r].option, rows[r].given, kind, rows[r].has);
    return code;
}

int learn_check_data(const learn_values *v, const char *path, const char *name, const char *file)
{
    const dataset_options options = {.features = v->features, .labels = v->labels, .split = v->split};
    if (file && *file && strcmp(file, "-") != 0 && dataset_reads(path, &options, file))
        return app_fail(APP_USAGE, "--%s names a file of the data, %s", name, file);
    return APP_OK;
}

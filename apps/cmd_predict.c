/* featblas predict: reads a model and a graph with features, writes labels, probabilities or embeddings. */
#include "app.h"
#include "components.h"
#include "core/core.h"
#include "format_words.h"
#include "io/io.h"
#include "learn/model.h"
#include "learn/train.h"
#include "picture.h"
#include "plan/machine.h"

#include <math.h>
#include <stdlib.h>

typedef struct predict_values {
    learn_values learn;
    const char *load, *output;
    int write;
} predict_values;

enum { LABELS, PROBABILITIES, SCORES, EMBEDDINGS };

#define FIELD(name) .offset = offsetof(predict_values, name)

static const option predict_options[] = {
    {.name = "load",
     .letter = 'l',
     .kind = OPTION_FILE,
     FIELD(load),
     .argument = "FILE",
     .help = "The weights, in the safetensors format, as featblas train or PyG saves them."},
    {.heading = "Output"},
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_FILE,
     FIELD(output),
     .written = true,
     .form = FORM_BLOCK,
     .argument = "FILE|-",
     .list = formats_block_endings,
     .help = "Write to FILE, which appears whole or not at all; the name's ending, {}, tells the format. "
             "Default: -, standard output, as tsv; with --plot none."},
    {.name = "write",
     .letter = 'w',
     .kind = OPTION_CHOICE,
     FIELD(write),
     .argument = "WHAT",
     .choices = "labels|probabilities|scores|embeddings",
     .help = "A row per vertex. labels: the likeliest class, or the targets. probabilities: of each class. "
             "scores: "
             "the model's outputs as they are. embeddings: what goes into the last layer. Default: labels."},
    {.name = "plot",
     .kind = OPTION_FILE,
     FIELD(learn.plot),
     .written = true,
     .form = FORM_PICTURE,
     .argument = "FILE",
     .help = "Draw the embedding's first two principal components into FILE (.svg or .png), coloured by "
             "class: the "
             "data's, else the predicted one."},
    {.name = NULL},
};

static const predict_values predict_defaults = {
    .learn = {.made = -1, .activation = -1, .aggregate = -1, .teleport = NAN}};

typedef struct predict {
    const predict_values *values;
    const char *path;
    FtB_Tensors tensors;
    model m;
    dataset set;
    FtB_Tape tape;
    FtB_Block scores, hidden; /* views of the tape's */
    FtB_Block result;
} predict;

static int check_values(const predict_values *v, const char *path)
{
    if (!v->load)
        return app_fail(APP_USAGE, "predict needs --load FILE");
    int code = learn_begin(&v->learn, "predict");
    if (code == APP_OK)
        code = learn_check_data(&v->learn, path, "output", v->output);
    return code == APP_OK ? learn_check_data(&v->learn, path, "plot", v->learn.plot) : code;
}

/* ---- read */

static int read_model(predict *p, model_options *o)
{
    const predict_values *v = p->values;
    GrB_Info info = FtB_Tensors_read(&p->tensors, v->load);
    if (info != GrB_SUCCESS)
        return app_library_error(info, APP_INPUT);
    int code =
        model_describe(o, p->tensors, v->learn.model ? model_find(v->learn.model) : NULL, v->learn.heads);
    if (code == APP_OK)
        code = learn_check_kind(&v->learn, o->kind);
    if (code == APP_OK)
        code = learn_check_made(&v->learn, p->path);
    if (code != APP_OK)
        return code;
    o->activation = v->learn.activation >= 0 ? (model_activation)v->learn.activation : o->activation;
    o->aggregate = v->learn.aggregate >= 0 ? model_aggregates[v->learn.aggregate] : o->aggregate;
    o->hops = v->learn.hops > 0 ? v->learn.hops : o->hops;
    o->teleport = isnan(v->learn.teleport) ? o->teleport : v->learn.teleport;
    o->made = v->learn.made >= 0 ? (dataset_made)v->learn.made : o->made;
    code = learn_check_trained(&v->learn, o->made, p->path, v->load);
    if (code != APP_OK)
        return code;
    o->undirected = o->undirected || v->learn.undirected;
    o->rows = v->learn.normalize == 1   ? MODEL_ROWS_AS_THEY_ARE
              : v->learn.normalize == 2 ? MODEL_ROWS_NORMALISED
                                        : o->rows;
    code = model_make(&p->m, o);
    return code == APP_OK ? model_take(&p->m, p->tensors) : code;
}

static int read_data(predict *p, const model_options *o)
{
    const predict_values *v = p->values;
    const dataset_options options = {.features = v->learn.features,
                                     .labels = v->learn.labels,
                                     .split = v->learn.split,
                                     .features_made = o->made,
                                     .task = o->task == MODEL_CLASSES ? DATASET_CLASSES : DATASET_TARGETS,
                                     .nclasses = o->task == MODEL_CLASSES ? o->noutputs : 0,
                                     .nfeatures = o->nfeatures,
                                     .undirected = o->undirected,
                                     .labels_optional = true,
                                     .split_optional = true};
    GrB_Info info = dataset_load(&p->set, p->path, &options);
    if (info != GrB_SUCCESS)
        return app_library_error(info, APP_INPUT);
    if (p->set.targets && p->set.ntargets != o->noutputs)
        return app_fail(APP_INPUT, "%s: has %lld targets; the model in %s has %lld", p->path,
                        (long long)p->set.ntargets, v->load, (long long)o->noutputs);
    return app_library_error(model_prepare(&p->set, o), APP_INPUT);
}

/* ---- run */

static int run_model(predict *p)
{
    FtB_Var out, hidden;
    GrB_Info info = FtB_Tape_new(&p->tape, 0);
    if (info == GrB_SUCCESS)
        info = FtB_Tape_inference(p->tape);
    if (info != GrB_SUCCESS)
        return app_library_error(info, APP_FAILURE);
    model_record(&p->m, p->set.graph, model_input(p->tape, &p->set), &hidden, &out);
    if (p->values->write == EMBEDDINGS || p->values->learn.plot)
        FtB_keep(hidden);
    info = FtB_Tape_status(p->tape);
    if (info == GrB_SUCCESS && p->values->learn.explain)
        info = FtB_Tape_explain(out, stderr);
    if (info == GrB_SUCCESS)
        info = FtB_evaluate(&p->scores, out);
    if (info == GrB_SUCCESS)
        info = ftb_buffer_ask(p->scores->owner, FTB_READ);
    if (info == GrB_SUCCESS && (p->values->write == EMBEDDINGS || p->values->learn.plot))
        info = FtB_value(&p->hidden, hidden);
    return app_library_error(info, APP_OUTPUT);
}

static void softmax(float *to, const float *from, int64_t n)
{
    float largest = from[0];
    double sum = 0;
    for (int64_t c = 1; c < n; c++)
        largest = fmaxf(largest, from[c]);
    for (int64_t c = 0; c < n; c++)
        sum += exp((double)from[c] - (double)largest);
    for (int64_t c = 0; c < n; c++)
        to[c] = (float)(exp((double)from[c] - (double)largest) / sum);
}

static int64_t likeliest(const float *y, int64_t n)
{
    int64_t at = 0;
    for (int64_t c = 1; c < n; c++)
        at = y[c] > y[at] ? c : at;
    return at;
}

/* Probabilities of classes, or of each binary target; a class, or targets. */
static GrB_Info make_result(predict *p)
{
    const model_task task = p->m.o.task;
    const int what = p->values->write;
    const int64_t n = p->scores->nrows, k = p->scores->ncols;
    const bool classes = what == LABELS && task != MODEL_TARGETS;
    if (what == SCORES || what == EMBEDDINGS || (what == LABELS && task == MODEL_TARGETS)) {
        FtB_Block from = what == EMBEDDINGS ? p->hidden : p->scores;
        return FtB_Block_heads(&p->result, from, from->heads);
    }
    GrB_Info info = FtB_Block_new(&p->result, n, classes && task == MODEL_CLASSES ? 1 : k,
                                  classes ? FTB_INT32 : FTB_FP32);
    for (int64_t i = 0; i < n && info == GrB_SUCCESS; i++) {
        const float *y = (const float *)ftb_block_data(p->scores) + i * p->scores->ld;
        int32_t *label = (int32_t *)ftb_block_data(p->result) + i * p->result->ld;
        float *to = (float *)ftb_block_data(p->result) + i * p->result->ld;
        if (classes && task == MODEL_CLASSES)
            *label = (int32_t)likeliest(y, k);
        else if (task == MODEL_CLASSES)
            softmax(to, y, k);
        for (int64_t c = 0; c < k && task == MODEL_BINARY; c++)
            if (classes)
                label[c] = y[c] > 0;
            else
                to[c] = (float)(1 / (1 + exp(-(double)y[c])));
    }
    return info;
}

/* ---- said and drawn */

static void compare(const predict *p)
{
    train_score scores[DATASET_PARTS];
    dataset set = p->set; /* shallow: without a split all vertices are looked at as one part */
    const bool labelled = p->m.o.task == MODEL_CLASSES ? set.labels != NULL : set.targets != NULL;
    const char *what = p->m.o.task == MODEL_TARGETS ? "error" : "accuracy";
    uint8_t *all = NULL;
    if (!labelled || p->values->learn.common.quiet)
        return;
    if (!set.part[DATASET_TRAIN]) {
        if (!(all = malloc((size_t)set.nvertices + 1)))
            return;
        memset(all, 1, (size_t)set.nvertices);
        set.part[DATASET_TRAIN] = all;
    }
    train_scores(scores, p->scores, &set, p->m.o.task, 0);
    if (all)
        fprintf(stderr, "%s %.4f\n", what, scores[DATASET_TRAIN].score);
    else
        fprintf(stderr, "%s: training %.4f, validation %.4f, test %.4f\n", what, scores[DATASET_TRAIN].score,
                scores[DATASET_VAL].score, scores[DATASET_TEST].score);
    free(all);
}

static int draw(predict *p)
{
    const int64_t n = p->hidden->nrows;
    char subtitle[160];
    double share = 0, *x = malloc((size_t)(2 * n + 2) * sizeof *x);
    int32_t *classes = malloc((size_t)(n + 1) * sizeof *classes);
    const bool known = p->set.labels != NULL;
    draw_points points = {.title = p->path, .subtitle = subtitle, .count = n, .x = x, .y = x + n};
    draw_request request = {.kind = DRAW_POINTS, .points = &points};
    int code = x && classes ? APP_OK : app_fail(APP_MEMORY, "out of memory");
    if (code == APP_OK)
        code = app_library_error(components(x, x + n, &share, p->hidden), APP_OUTPUT);
    for (int64_t i = 0; i < n && code == APP_OK; i++)
        classes[i] = known ? p->set.labels[i]
                           : (int32_t)likeliest((const float *)ftb_block_data(p->scores) + i * p->scores->ld,
                                                p->scores->ncols);
    if (p->m.o.task == MODEL_CLASSES) {
        points.classes = classes;
        points.nclasses = p->m.o.noutputs;
    }
    snprintf(subtitle, sizeof subtitle, "%s, two principal components of %lld: %.0f %% of the variance%s",
             p->m.o.kind->name, (long long)p->hidden->ncols, 100 * share,
             !points.classes ? ""
             : known         ? "; colours: classes"
                             : "; colours: predicted classes");
    if (code == APP_OK)
        code = picture_write(&request, p->values->learn.plot);
    free(x);
    free(classes);
    return code;
}

static int write_result(predict *p)
{
    const char *path = p->values->output ? p->values->output : "-";
    if (!p->values->output && p->values->learn.plot)
        return APP_OK;
    app_progress_yield(path);
    GrB_Info info = make_result(p);
    if (info == GrB_SUCCESS)
        info = FtB_Block_write(p->result, path, format_of_output(path, FTB_TSV), 0);
    return app_library_error(info, APP_OUTPUT);
}

static int run_predict(const void *values, int count, char *const *operands)
{
    predict p = {.values = values, .path = operands[0]};
    model_options o;
    (void)count;
    int code = check_values(values, p.path);
    if (code == APP_OK && p.values->learn.explain)
        ftb_machine_measured(); /* what that takes is free again when the data comes */
    if (code == APP_OK)
        code = read_model(&p, &o);
    if (code == APP_OK)
        code = read_data(&p, &o);
    if (code == APP_OK)
        code = run_model(&p);
    if (code == APP_OK)
        code = write_result(&p);
    app_progress_clear();
    if (code == APP_OK && p.values->learn.plot)
        code = draw(&p);
    if (code == APP_OK)
        compare(&p);
    FtB_Block_free(&p.result);
    FtB_Block_free(&p.scores);
    FtB_Block_free(&p.hidden);
    FtB_Tape_free(&p.tape);
    if (p.m.o.kind)
        model_free(&p.m);
    FtB_Tensors_free(&p.tensors);
    dataset_free(&p.set);
    return code;
}

const command command_predict = {
    .name = "predict",
    .operands = "DIR|GRAPH",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "predict classes or targets of a graph's vertices with a saved model",
    .description = "Reads a model that featblas train saved, or a state dict that PyG saved in the "
                   "safetensors format, and a "
                   "graph with features, as featblas train does; labels and a split are only compared with. "
                   "docs/nn.md has the "
                   "names of the tensors.",
    .examples = "  $ featblas predict cora/ --load cora.safetensors -o labels.tsv\n"
                "  $ featblas predict cora/ --load cora.safetensors --write probabilities -o p.npy\n"
                "  $ featblas predict cora/ --load gat-by-pyg.safetensors --normalize row --plot cora.svg\n",
    .shared = learn_options,
    .options = predict_options,
    .writes = true,
    .size = sizeof(predict_values),
    .defaults = &predict_defaults,
    .run = run_predict,
};

/* Stacks of layers that train and predict use: made from options, recorded on a tape, read from and written
 * to safetensors files. docs/nn.md has the names of the tensors. */
#ifndef APP_MODEL_H
#define APP_MODEL_H

#include "data/dataset.h"
#include "featblas_nn.h"

#include <stdio.h>

#define MODEL_LAYERS 64       /* most layers of a stack */
#define MODEL_PARAMETERS 1024 /* most parameters of a model */
/* What options allow, and no file exceeds. */
#define MODEL_HIDDEN 1000000
#define MODEL_HEADS 1024
#define MODEL_HOPS 1000
#define MODEL_CLASSES_MOST 1000000
#define MODEL_EPOCHS 100000000

typedef enum model_activation { MODEL_RELU = 0, MODEL_ELU, MODEL_LINEAR } model_activation;
typedef enum model_task { MODEL_CLASSES = 0, MODEL_TARGETS, MODEL_BINARY } model_task;
typedef enum model_rows { MODEL_ROWS_AS_THEY_ARE = 0, MODEL_ROWS_NORMALISED } model_rows;

/* What a kind of model is: a row of model_kinds (model_kinds.c). */
typedef struct model_kind {
    const char *name;
    const char *about;  /* what it is, for docs/nn.md */
    const char *layer;  /* kind of its layers, of FtB_Layer_new; NULL: none look at the graph */
    const char *prefix; /* of its layers' names: "conv" gives "conv1", "conv2" */
    bool perceptron;    /* linear layers in front; `layer`, if any, comes once, last, and learns nothing */
    bool attends;       /* its layers have heads, and dropout of attention weights */
    bool aggregates;    /* its layers have the option aggregate, */
    bool inner;         /* or columns inside, FtB_Layer_options.hidden */
    /* The hyper-parameters that its paper gives for Cora. */
    model_activation activation;
    int64_t layers, hidden, heads, hops; /* hops 0, teleport 0: it has no such option */
    double teleport, dropout, lr, weight_decay;
    bool decay_first; /* weight decay of the first layer alone */
    int64_t epochs, patience;
    /* Its tensors in files, under PyG's names without the layer's. */
    const char *tensor;   /* that every layer has */
    const char *in, *out; /* whose columns and rows are the layer's */
    int told; /* files without texts are of the kind with the least number whose `tensor` they have; 0: others
                 have it, too, and the kind must be told */
    struct {
        const char *own, *other; /* what others call a tensor, where its own name is missing */
    } aliases[4];
} model_kind;

/* All kinds, in the order in which help lists them. */
extern const model_kind model_kinds[];
extern const int model_nkinds;
/* Their names, for options. */
const char *const *model_names(int *count);
const model_kind *model_find(const char *name); /* NULL: none */
/* The kinds that have something, "sgc and appnp". Returns the text. */
#define MODEL_LIST 256
const char *model_list(char text[MODEL_LIST], bool (*has)(const model_kind *kind), const char *conjunction);
bool model_any(const model_kind *kind);
bool model_has_heads(const model_kind *kind);
bool model_has_hops(const model_kind *kind);
bool model_has_teleport(const model_kind *kind);
bool model_has_aggregate(const model_kind *kind);
bool model_samples(const model_kind *kind); /* its layers are one step over the graph each */
/* The same for help: all, those with hops, ... with weight decay of the first layer alone, with one layer. */
const char *model_all_list(void);
const char *model_hops_list(void);
const char *model_teleport_list(void);
const char *model_aggregate_list(void);
const char *model_sample_list(void);
const char *model_decay_list(void);
const char *model_shallow_list(void);
/* The rows of docs/nn.md's table. */
void model_table(FILE *out);
/* Words of options and files; NULL ends them. */
extern const char *const model_aggregates[], *const model_activations[]; /* as model_activation counts */
const char *const *model_aggregate_words(int *count);
const char *const *model_activation_words(int *count);

typedef struct model_options {
    const model_kind *kind;
    int64_t nfeatures, noutputs;
    int64_t layers, hidden, heads, hops;
    int64_t out_heads;     /* of the last layer; averaged */
    int64_t out_inner;     /* columns inside the last layer, of gin; 0: hidden, as of the others */
    bool out_beside;       /* the last layer's heads stand side by side instead */
    const char *aggregate; /* of sage; NULL: its default */
    double teleport, dropout;
    model_activation activation;
    /* What goes in and comes out. */
    model_task task;
    model_rows rows;
    dataset_made made;
    bool undirected;
    uint64_t seed;
} model_options;

typedef struct model {
    model_options o;
    int nlayers; /* of `layers` */
    FtB_Layer layers[MODEL_LAYERS];
    int nparameters; /* of all layers, in order */
    FtB_Parameter parameters[MODEL_PARAMETERS];
    int layer_of[MODEL_PARAMETERS]; /* from 0 */
} model;

/* The kind's hyper-parameters as options; shapes are left to be filled in. */
model_options model_defaults(const model_kind *kind);
/* Makes layers and draws their parameters. Returns an exit code. */
int model_make(model *m, const model_options *o);
void model_free(model *m);
/* Values that are learned. */
int64_t model_size(const model *m);
/* At least so many values a model of these options would have: the inputs times the outputs of its layers. */
double model_least_size(const model_options *o);

/* Records the model on features x of the graph's vertices: *out has a row of outputs per vertex, *hidden
 * what goes into the last layer that learns (of a single layer: *out). */
void model_record(const model *m, FtB_Matrix graph, FtB_Var x, FtB_Var *hidden, FtB_Var *out);
/* The same on a mini-batch, of kinds that are sampled: layer k is applied to the batch's hop nlayers - 1 - k.
 */
void model_record_batch(const model *m, FtB_Batch batch, FtB_Var x, FtB_Var *out);
/* Layer k alone: of what goes into it, what comes out, and goes into the next one. */
FtB_Var model_record_layer(const model *m, int64_t k, FtB_Matrix graph, FtB_Var x);
/* Columns of what layer k gives. */
int64_t model_columns(const model *m, int64_t k);

/* The features of a data set as the model wants them: rows that sum to 1 where o->rows says so; dense where
 * its first layer sums no sparse ones. */
GrB_Info model_prepare(dataset *set, const model_options *o);
/* Whether features are counts, whose rows are normalised by default. */
bool model_counts(const dataset *set);
FtB_Var model_input(FtB_Tape tape, const dataset *set);

/* ---- files (model_file.c) */

/* Puts parameters and options into tensors and texts. */
GrB_Info model_put(const model *m, FtB_Tensors t);
/* What a file says about its model: from its texts, or from the names and shapes of its tensors; the rest is
 * the kind's default. `kind` NULL: the file tells it; another one is refused. heads: of kinds whose shapes do
 * not tell, 0: the default. Returns an exit code. */
int model_describe(model_options *o, FtB_Tensors t, const model_kind *kind, int64_t heads);
/* A number that a text holds, whole or not, from low to high; *value stays as it is where there is no such
 * text. Returns an exit code after naming file and text. */
typedef struct model_range {
    double low, high;
    bool whole;
} model_range;
int model_number(double *value, FtB_Tensors t, const char *key, model_range range);
/* Takes the parameters' values from tensors. Returns an exit code after naming file and tensor. */
int model_take(model *m, FtB_Tensors t);

#endif

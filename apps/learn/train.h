/* What the parts of featblas train share. */
#ifndef APP_TRAIN_H
#define APP_TRAIN_H

#include "app.h"
#include "fanouts.h"
#include "learn/model.h"

/* What train and predict are both told: data, and what a model is. Their values begin with it. */
typedef struct learn_values {
    common_values common;
    const char *features, *labels, *split, *model, *plot;
    int made, undirected, normalize, activation, aggregate, explain, deterministic;
    int64_t heads, hops;
    double teleport;
} learn_values;
extern const option learn_options[];
/* Checks them, and does as --deterministic says. name: of the subcommand. Returns an exit code. */
int learn_begin(const learn_values *v, const char *name);
/* --make-features of a folder that has some. The checks return exit codes after saying what is wrong. */
int learn_check_made(const learn_values *v, const char *path);
/* Features that are there, for a model that was trained on others, made of the graph. file: the model's. */
int learn_check_trained(const learn_values *v, dataset_made made, const char *path, const char *file);
/* Options that the kind does not have; one of them, of those kinds that have it. */
int learn_check_has(const char *name, bool given, const model_kind *kind,
                    bool (*has)(const model_kind *kind));
int learn_check_kind(const learn_values *v, const model_kind *kind);
/* --name writes `file`, which is none of the data's at `path`; NULL: it was not given. */
int learn_check_data(const learn_values *v, const char *path, const char *name, const char *file);

typedef struct train_values {
    learn_values learn;
    const char *save, *resume, *sample, *key, *feature_cache, *partition;
    int task, optimizer, select, metrics, weights_only, sampler, replace, cache_by;
    int64_t classes, layers, hidden, out_heads, epochs, patience, seed, repeat, batch, save_every, iterations,
        clusters, clusters_each;
    double dropout, lr, weight_decay;
} train_values;

/* --sampler cluster is behind the names of FANOUTS_SAMPLERS. */
static inline bool train_of_clusters(const train_values *v) { return v->sampler == FTB_SAMPLE_LADIES + 1; }
/* Options that a resumed run has from its file, and those of mini-batches without any (train_check.c).
 * Returns an exit code. */
int train_check_options(const train_values *v);

/* Which epoch's weights are kept: that of the largest score or the smallest loss of the validation part, or
 * the last one. */
typedef enum train_select { TRAIN_BY_SCORE = 0, TRAIN_BY_LOSS, TRAIN_LAST } train_select;

/* How mini-batches are made, of sampled neighbourhoods or of clusters; no hops and no clusters: every epoch
 * is over the whole graph. */
typedef struct train_sampling {
    int nhops;
    int64_t fanouts[FANOUTS], batch;
    FtB_Selector selector;
    const char *key; /* NULL: none */
    bool replace;
    int64_t iterations;     /* of LABOR */
    int64_t clusters, each; /* parts of the graph, and those of a mini-batch */
} train_sampling;
static inline bool train_samples(const train_sampling *how) { return how->nhops > 0 || how->clusters > 0; }

/* Rows of features that a GPU keeps, as FtB_Loader_options has them. */
typedef struct train_cache {
    int64_t bytes;
    double share;
    FtB_Cache_by by;
} train_cache;

/* How it is trained, with every default filled in. */
typedef struct train_plan {
    FtB_Update rule;
    double lr, weight_decay;
    bool decay_first; /* weight decay of the first layer alone */
    int64_t epochs, patience;
    train_select select;
    train_sampling sampling;
} train_plan;

/* How well a part is predicted, without dropout. */
typedef struct train_score {
    double loss;
    double score; /* accuracy; of targets the root of the mean squared error. NaN: the part is empty */
} train_score;

typedef struct train_epoch {
    double loss; /* of the training part, with dropout */
    train_score part[DATASET_PARTS];
} train_epoch;

/* One run: one seed. */
typedef struct train_run {
    uint64_t seed;
    int64_t first;                   /* epochs that a resumed run had done before */
    int64_t count, best;             /* epochs done, and the one whose weights are kept; from 0 */
    train_epoch *epochs;             /* those of this run: count - first */
    train_score kept[DATASET_PARTS]; /* with the weights that are kept */
    double seconds;                  /* of all epochs */
    int64_t cached, gathered, hits;  /* of features, as FtB_Loader_cache has them */
} train_run;

typedef struct train {
    const train_values *values;
    const char *path;
    dataset set;
    model_options model;
    train_plan plan;
    train_cache cache;
    int64_t parameters; /* values that are learned */
    int64_t nruns;
    train_run *runs;
    int64_t best_run;         /* -1: none yet */
    FtB_Tensors resume, best; /* best: of best_run, to be saved */
    train_plan resumed;       /* what the state in `resume` says: */
    uint64_t resumed_seed;
    int64_t resumed_epoch, resumed_best_epoch, resumed_batch;
    double resumed_best; /* NaN: none */
    double resumed_loss; /* sum over the seeds of the batches before resumed_batch */
    double resumed_seeds,
        resumed_mark;   /* these seeds; NAN: a batch has as many as another. Of its partition */
    int32_t *partition; /* cluster of each vertex; NULL: there are none */
} train;

/* Trains with the seed of *run, and fills it in; the weights go to t->best where they are the best so far.
 * Returns an exit code. */
int train_once(train *t, train_run *run);
/* That there are as many hops as layers; `name` is who says how many. Returns `code` after saying what is
 * wrong. */
int train_check_hops(const train_sampling *how, const model_options *o, int code, const char *name);
/* The clusters of --sampler cluster: of --partition's file, or by METIS (train_clusters.c). Returns an exit
 * code. */
int train_partition(train *t);
/* A number of 53 bits that tells one partition from another. */
double train_partition_mark(const train *t);
/* Reads what the state in t->resume says, into t->resumed and what follows it. Returns an exit code. */
int train_resumed(train *t);

/* Larger scores are better, but for errors. */
static inline bool train_maximises(const train *t) { return t->model.task != MODEL_TARGETS; }
static inline const char *train_score_name(const train *t)
{
    return t->model.task == MODEL_TARGETS ? "error" : "accuracy";
}

/* Sums over the vertices of a part. */
typedef struct train_sums {
    double loss, score, count;
} train_sums;
/* Adds outputs Y, row r of vertex vertices[r]; NULL: r (train_score.c). What the sums come to. */
void train_score_rows(train_sums s[DATASET_PARTS], FtB_Block Y, const int64_t *vertices, const dataset *set,
                      model_task task, unsigned losses);
void train_score_end(train_score scores[DATASET_PARTS], const train_sums s[DATASET_PARTS], model_task task,
                     unsigned losses);
/* Scores of outputs Y, a row per vertex. `losses`: bit p, part p's loss is wanted too. */
void train_scores(train_score scores[DATASET_PARTS], FtB_Block Y, const dataset *set, model_task task,
                  unsigned losses);

/* ---- reports (train_report.c) */

void train_announce(const train *t);
void train_report_run(const train *t, const train_run *run);
void train_report(const train *t);     /* mean and deviation over runs */
int train_report_json(const train *t); /* everything, as one JSON object */
int train_draw(const train *t, const char *path);

#endif

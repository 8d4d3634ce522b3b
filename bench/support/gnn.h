/* Graph neural networks to be measured: a case, its data, the model on a tape, and the products that it is
 * made of. Features and initial weights are functions of their place, as the head of bench/peers/gnn.py says.
 */
#ifndef BENCH_GNN_H
#define BENCH_GNN_H

#include "featblas_nn.h"
#include "stage.h"

enum { GNN_LAYERS = 3 };

typedef struct gnn_case {
    const char *name;                  /* as in bench/peers/gnn.py */
    const char *graph;                 /* "cora": $FEATBLAS_DATA/cora; else of gen_make_like */
    const char *model;                 /* a name of FTB_LAYERS */
    int layers, heads;                 /* heads are concatenated; the last layer has one */
    int64_t features, hidden, classes; /* hidden: per head; Cora brings its own features and classes */
    double dropout, rate, decay;       /* learning rate and weight decay of Adam */
    bool both_ways;                    /* every entry also the other way round */
} gnn_case;

typedef struct gnn_task {
    const gnn_case *what;
    int64_t n, nfeatures, nclasses;
    FtB_Matrix A; /* without values; the layers add self-loops */
    FtB_Matrix S; /* features where they are sparse, */
    FtB_Block X;  /* else here */
    int32_t *labels;
    uint8_t *train; /* NULL: all vertices */
} gnn_task;

/* Data in the engaged context. False after saying why; what was made is there to be freed either way. */
bool gnn_task_new(gnn_task *t, const gnn_case *what, const bench_settings *s);
void gnn_task_free(gnn_task *t);

typedef struct gnn_model {
    FtB_Layer layer[GNN_LAYERS];
    FtB_Tape tape;
    FtB_Var out, loss;
    FtB_Optimizer adam;
} gnn_model;

/* Dropout before every layer where there is any, relu (attention: elu) between them, cross-entropy, Adam.
 * Dense features go from t to the tape. */
bool gnn_model_new(gnn_model *m, gnn_task *t, bool inference);
void gnn_model_free(gnn_model *m);
/* One training epoch. */
bool gnn_epoch(gnn_model *m);
/* One forward pass without dropout; the sum of the scores. */
bool gnn_forward(gnn_model *m, double *sum);

/* What the sparse products of an epoch take: medians over `count` epochs, after one that is not counted; at
 * most 100. */
bool gnn_products_inside(gnn_model *m, int count, bench_result *result);
/* What the same products take alone, on blocks of their own: sums over neighbours as bench_spmm measures
 * them, attention as bench_attention, products with sparse features. */
bool gnn_products_alone(gnn_model *m, const gnn_task *t, bench_result *result);

/* Of count values, which are sorted. */
double gnn_median(double *values, int count);
/* Says on standard error what the library says, unless info is GrB_SUCCESS; whether it is. */
bool gnn_ok(GrB_Info info);

#endif

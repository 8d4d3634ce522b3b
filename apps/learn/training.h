/* One run of training at work: what its parts share. */
#ifndef APP_TRAINING_H
#define APP_TRAINING_H

#include "learn/train.h"

typedef struct training {
    train *t;
    train_run *run;
    model m;
    FtB_Tape tape;
    FtB_Var out, loss; /* of the whole graph's record */
    FtB_Optimizer optimizer;
    FtB_Stopper stopper;
    uint8_t *mask; /* of the rows that the loss counts */
    FtB_Tensors tensors;
    /* of mini-batches: */
    FtB_Loader loader; /* NULL: every epoch is over the whole graph */
    FtB_Clusters clusters;
    FtB_Tape pieces;   /* of inference */
    int64_t batch;     /* of the epoch at hand, that comes next */
    int64_t nseeds;    /* of an epoch */
    double sum, seeds; /* of the losses of its batches so far, and how many they are of */
    double started;
} training;

/* ---- mini-batches (train_batches.c) */

/* The loader of the rows of s->mask, at the position of a resumed run. */
GrB_Info train_batches_begin(training *s);
/* Trains on the epoch's batches from s->batch on, until a signal comes; *loss: their mean; *whole: that it
 * was not ended by one. Returns an exit code. */
int train_batches(training *s, double *loss, bool *whole);

/* Before the loader is freed: what its cache of features was good for. */
void train_batches_end(training *s);

/* ---- state in files (train_state.c) */

/* The last weights, moments, counts and position, into s->tensors. */
GrB_Info train_put_state(training *s, int64_t best_epoch);
/* Goes on where t->resume ends: the best weights are shown to the stopper, then the last ones are taken.
 * Returns an exit code. */
int train_resume(training *s);
/* Writes the state as it is, and the best weights so far, into --save's file. Returns an exit code. */
int train_checkpoint(training *s);

/* ---- inference (train_infer.c) */

/* Scores of the whole graph, layer after layer, each piece by piece. */
GrB_Info train_infer(training *s, train_score scores[DATASET_PARTS], unsigned losses);

#endif

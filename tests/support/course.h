/* Courses of training on a GPU (support/fake_gpu.h), with dropout of values and of edges, a batch norm, Adam
 * and a rate that falls: what comes of them where passes and steps are recorded, and where the driver cannot.
 */
#ifndef TESTS_COURSE_H
#define TESTS_COURSE_H

#include "featblas_nn.h"

#include <stdbool.h>

enum { COURSE_VERTICES = 20, COURSE_COLUMNS = 4, COURSE_CLASSES = 3, COURSE_EPOCHS = 20 };

int course_start(void **state); /* a group's set-up */
/* A test's tear-down: nothing that was recorded is left, and nothing was done to the driver that must not be.
 */
int course_clean(void **state);
int course_graphs(void);                 /* that can be launched */
struct CUstream_st *course_stream(void); /* of the caller's */

typedef struct course_model {
    FtB_Block X;
    FtB_Matrix A;
    FtB_Tape tape;
    FtB_Layer first, second;
    FtB_Parameter weight, gain, shift, mean, variance;
    FtB_Var hidden, out, loss;
    FtB_Optimizer o;
    FtB_Stopper stopper;
    int32_t labels[COURSE_VERTICES];
} course_model;

/* What came of it. In threads, what was sent is that of all. */
typedef struct course {
    double losses[COURSE_EPOCHS];
    float outputs[COURSE_EPOCHS][COURSE_VERTICES * COURSE_CLASSES];
    float weight[COURSE_COLUMNS * COURSE_COLUMNS], mean[COURSE_COLUMNS];
    int replays, steps; /* passes, and steps, that were one launch */
} course;

GrB_Info course_begin(course_model *m, double clip); /* course_end must follow, whatever it returns */
void course_end(course_model *m);
GrB_Info course_parameter(FtB_Parameter *p, const char *name, int64_t nrows, int64_t ncols, uint64_t seed);
/* A read of values that leaves no address with the caller. */
void course_values(float *to, FtB_Block X);

/* What is done between epochs. */
typedef struct course_change {
    const char *name;
    void (*make[4])(course_model *m, int epoch);
    double clip; /* of the norm of gradients; 0: none */
    int replays, steps;
} course_change;
extern const course_change course_plain; /* nothing */

void course_train(course *c, const course_change *by, int epochs);
void course_train_plainly(course *c, const course_change *by,
                          int epochs); /* on a driver that does not record */
/* All bits are the same; else the test fails. */
void course_compare(const course *got, const course *expected, int epochs, const char *what);

#endif

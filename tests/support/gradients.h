/* Gradients of a tape against finite differences. */
#ifndef TESTS_GRADIENTS_H
#define TESTS_GRADIENTS_H

#include "featblas_nn.h"

/* Fills a parameter, or any FP64 block, with normal-ish values in -1 .. 1, by seed. */
void fill_random(FtB_Block X, uint64_t seed);
/* FtB_backward(loss) gives every parameter (FP64) what (loss(x + h) - loss(x - h)) / 2h gives, to the
 * tolerance times max(1, |gradient|). Values at kinks must be kept away from them by the caller. */
void assert_gradients(FtB_Var loss, const FtB_Parameter *parameters, int64_t count, double tolerance);
/* The same for the parameters of a layer. */
void assert_layer_gradients(FtB_Var loss, FtB_Layer layer, double tolerance);

#endif

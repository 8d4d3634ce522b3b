/* The two directions in which rows differ most. */
#ifndef APP_COMPONENTS_H
#define APP_COMPONENTS_H

#include "featblas.h"

/* x[i], y[i]: row i of X (FP32) in its first two principal components; share: the part of the variance that
 * both hold. */
GrB_Info components(double *x, double *y, double *share, FtB_Block X);

#endif

/* What a C programmer would write: loops over CSR, compiled with -O3 -ffast-math for this machine, parallel
 * over rows. The yardstick of bench_spmm, bench_sddmm and bench_attention. */
#ifndef BENCH_PLAIN_H
#define BENCH_PLAIN_H

#include <stdint.h>

typedef struct plain_graph {
    int64_t nrows;
    const int64_t *rowptr;
    const int32_t *colidx;
    int threads;
} plain_graph;

/* C(i,:) = sum over the entries (i,j) of X(j,:). X, Y, C: rows of d floats. */
void plain_sum(const plain_graph *g, const float *X, float *C, int64_t d);
void plain_max(const plain_graph *g, const float *X, float *C, int64_t d);
void plain_mean(const plain_graph *g, const float *X, float *C, int64_t d);
/* C(i,:) = sum of w(e) X(j,:), one weight per entry and head. */
void plain_weighted(const plain_graph *g, const float *w, int64_t heads, const float *X, float *C, int64_t d);
/* C(i,:) = sum of tanh(X(j,:) Y(i,:) + w(e)). */
void plain_tanh(const plain_graph *g, const float *w, const float *X, const float *Y, float *C, int64_t d);
/* C(i,:) = max of relu((X(j,:) + Y(i,:)) W), W d x dout: edge by edge. */
void plain_mlp(const plain_graph *g, const float *X, const float *Y, const float *W, float *C, int64_t d,
               int64_t dout);
/* S(e,h) = dot of head h of Y(i,:) and X(j,:). */
void plain_dot(const plain_graph *g, const float *Y, const float *X, float *S, int64_t heads, int64_t d);
/* S(e,h) = exp(A(e,h)) / sum over the row. */
void plain_softmax(const plain_graph *g, const float *A, float *S, int64_t heads);

#endif

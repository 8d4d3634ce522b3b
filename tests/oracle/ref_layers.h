/* Layers of graph neural networks by loops over edges. Rows are row-major doubles; weights are in x out. */
#ifndef TESTS_REF_LAYERS_H
#define TESTS_REF_LAYERS_H

#include <stdbool.h>
#include <stdint.h>

/* Edges j -> i: m targets, n sources. value NULL: 1. */
typedef struct ref_graph {
    int64_t m, n, count;
    const int64_t *i, *j;
    const double *value;
} ref_graph;

/* y (n x out) = x w + b; b NULL: 0. */
void ref_linear(double *y, const double *x, const double *w, const double *b, int64_t n, int64_t in,
                int64_t out);
/* y (m x d): "mean", "sum", "max", "min", "std" over neighbours; 0 without. */
void ref_aggregate(double *y, const ref_graph *g, const char *how, const double *x, int64_t d);
/* y = D^-1/2 (A + I) D^-1/2 x; loops: with I where A has no (i, i). Of more sources than targets the right
 * factor is of the sums of columns, as DGL's GraphConv has it on blocks. */
void ref_propagate(double *y, const ref_graph *g, const double *x, int64_t d, bool loops);

void ref_gcn(double *y, const ref_graph *g, const double *x, const double *w, const double *b, int64_t in,
             int64_t out, bool loops);
void ref_sgc(double *y, const ref_graph *g, const double *x, const double *w, const double *b, int64_t in,
             int64_t out, int64_t hops);
void ref_appnp(double *y, const ref_graph *g, const double *x, int64_t d, double teleport, int64_t hops);

typedef struct ref_sage_weights {
    const double *pool, *pool_bias;    /* NULL: not pool */
    const double *left, *bias, *right; /* bias, right: NULL if there is none */
} ref_sage_weights;
void ref_sage(double *y, const ref_graph *g, const char *how, const double *src, const double *dst,
              const ref_sage_weights *w, int64_t in, int64_t in_dst, int64_t out);

/* Two maps with relu between; w2 NULL: the first alone. */
typedef struct ref_mlp_weights {
    const double *w1, *b1, *w2, *b2;
    int64_t in, hidden, out;
} ref_mlp_weights;
void ref_gin(double *y, const ref_graph *g, const double *src, const double *dst, double eps,
             const ref_mlp_weights *w);
/* aggregate of w([x_i, x_j - x_i]); w->in is twice the columns. */
void ref_edgeconv(double *y, const ref_graph *g, const char *how, const double *src, const double *dst,
                  const ref_mlp_weights *w);
/* aggregate of relu((x_i + x_j) w1 + b1) */
void ref_mlp(double *y, const ref_graph *g, const char *how, const double *src, const double *dst,
             const ref_mlp_weights *w);

typedef struct ref_pna_weights {
    const double *pre, *pre_bias, *post, *post_bias, *last, *last_bias;
    double log_degree;
} ref_pna_weights;
void ref_pna(double *y, const ref_graph *g, const double *src, const double *dst, const ref_pna_weights *w,
             int64_t in, int64_t out);

/* g's values are relations; w: relations x in x out; root, b: NULL if there is none. */
void ref_rgcn(double *y, const ref_graph *g, const double *src, const double *dst, const double *w,
              const double *root, const double *b, int64_t relations, int64_t in, int64_t in_dst,
              int64_t out);

#endif

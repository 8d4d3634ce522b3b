/* Attention and its gradients entry by entry in double precision: slow and obvious. */
#ifndef TESTS_REF_ATTENTION_H
#define TESTS_REF_ATTENTION_H

#include "oracle/ref_dense.h"

typedef enum ref_form {
    REF_DOT,   /* scale * dot(src, dst) */
    REF_LEAKY, /* leaky_relu(src + dst, scale) */
    REF_EDGE   /* dot(src, dst) * scale + edge */
} ref_form;

typedef struct ref_attention {
    FtB_Matrix A;
    int64_t heads, width, value_width;
    ref_form form;
    double scale, dropout;
    uint64_t seed;
    double *q, *k, *v; /* packed */
    double *c, *lse;   /* results; rows without entries: `fill` and -infinity */
    double fill;
    const double *d;            /* dC, for the gradient */
    double *of_q, *of_k, *of_v; /* gradients */
} ref_attention;

/* Allocates and fills c and lse; with d also the gradients. */
void ref_attention_run(ref_attention *r);
void ref_attention_free(ref_attention *r); /* all arrays but d */

#endif

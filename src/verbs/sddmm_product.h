/* Values of entries from rows of two blocks: what the verb `sddmm` computes. */
#ifndef FTB_SDDMM_PRODUCT_H
#define FTB_SDDMM_PRODUCT_H

#include "expr/score.h"
#include "plan/sddmm_plan.h"

/* For the entries e = (i, j) of p: out(e, h) = scale * dot(x(j, h), y(i, h)), of DOT, or, of ADD,
 * leaky_relu(x(j, h) + y(i, h), slope). A device is asked where all types are one. */
typedef struct ftb_sddmm_product {
    FtB_Context ctx;
    ftb_pattern *p;
    ftb_score_kind kind;
    FtB_Type type; /* of out, and what is computed in: FP32 or FP64 */
    int64_t heads;
    ftb_feed x,
        y; /* DOT: of any real dtype, of all heads or the same for each; ADD: of `type` and all heads */
    double scale;       /* DOT */
    double slope;       /* ADD; 1: no leaky_relu */
    void *out;          /* nvals x heads */
    bool interruptible; /* out is scratch: what was begun may be left */
} ftb_sddmm_product;

/* The gradients of the sums with respect to x and y, given that of out: with
 *
 *     d(e, h) = grad(e, h) (x(j, h) + y(i, h) > 0 ? 1 : slope),
 *
 * dx(j, h) is the sum of d over column j of p, dy(i, h) over row i. */
typedef struct ftb_sddmm_grad_product {
    FtB_Context ctx;
    ftb_pattern *p, *q;  /* q: p's transpose, */
    const int64_t *from; /* whose entry t is entry from[t] of p; both NULL without dx */
    FtB_Type type;       /* of all: FP32 or FP64 */
    int64_t heads;
    ftb_feed x, y; /* of all heads */
    double slope;
    const void *grad; /* nvals x heads */
    void *dx, *dy;    /* ncols x heads and nrows x heads, packed; NULL: not wanted */
} ftb_sddmm_grad_product;

#endif

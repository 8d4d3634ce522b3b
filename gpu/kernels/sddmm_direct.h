/* What the host and the kernels of values of entries (sddmm_direct.cu) agree on. Read by C, nvcc and NVRTC.
 */
#ifndef FTB_SDDMM_DIRECT_H
#define FTB_SDDMM_DIRECT_H

#include "gpu/kernels/spmm_direct.h" /* pieces of rows, whose slots do not matter here */

typedef struct ftb_sddmm_direct_arguments {
    long long npieces;
    const ftb_spmm_piece *pieces; /* entries x heads of a piece are less than 2^31 */
    const int *colidx;
    const float *x; /* of columns: head h of row j at x + j * ldx + h * headx, */
    const float *y; /* and of rows, likewise; a head step of 0: all heads have the same */
    float *out;     /* entry e's value for head h at out + e * heads + h */
    long long ldx, ldy;
    int heads, width; /* width: DOT, values of a head; ADD has one */
    int headx, heady;
    float scale; /* DOT */
    float slope; /* ADD; 1: no leaky_relu */
} ftb_sddmm_direct_arguments;

/* Every variant. DOT, X(lanes, span, values): a group of `lanes` takes a piece, `span` of them a head,
 * `values` consecutive features a lane: width, ldx, ldy and both head steps are multiples of `values`, and x
 * and y are aligned to as many. The kernel is called sddmm_direct_f32_DOT_<lanes>x<span>x<values>; its grid
 * is (pieces / groups of a block, heads / (lanes / span)), rounded up. The order of a sum is the span's and
 * values', and depends on nothing else. */
#define FTB_SDDMM_DIRECT_DOT(X)                                                                              \
    X(32, 32, 4) X(32, 8, 4) X(32, 4, 4) X(8, 8, 4) X(32, 32, 1) X(32, 4, 1) X(4, 4, 1)
/* ADD, X(lanes): a group takes a piece. sddmm_direct_f32_ADD_<lanes>; the grid is a line. */
#define FTB_SDDMM_DIRECT_ADD(X) X(32) X(8)
/* As FTB_SPMM_DIRECT_BLOCK and _BLOCKS: 80 registers a thread, as with 64 some variants spill on sm_100. */
enum { FTB_SDDMM_DIRECT_BLOCK = 128, FTB_SDDMM_DIRECT_BLOCKS = 6 };

#endif

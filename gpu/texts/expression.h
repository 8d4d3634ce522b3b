/* Expressions as sources of kernels (kernels/expression.cuh), made for a program and its operands. */
#ifndef FTB_GPU_EXPRESSION_H
#define FTB_GPU_EXPRESSION_H

#include "expr/message.h"
#include "gpu/kernels/expression_arguments.h"
#include "gpu/launch.h"

/* Whether kernels can be made of a program over a message's feeds: of all but hypergeom_sf, and x @ W where x
 * and its like have more bytes than 3,072 FP32. side: of the feeds that have rows, 0: by entry; rowptr: the
 * row pointers that degrees may be of. */
bool ftb_gpu_expression_fits(const ftb_message *m, const ftb_program *p, ftb_side side,
                             const int64_t *rowptr);

/* Where the entries are of its feeds that are in another order, the same for all; NULL: there are none. */
const int64_t *ftb_gpu_expression_from(const ftb_message *m, const ftb_program *p);

typedef struct ftb_gpu_expression {
    FtB_Context ctx; /* whose kernels they are */
    char *source;    /* as ftb_gpu_launch takes it; ours */
    char suffix[20]; /* of its kernels' names */
    FtB_Type result; /* of what they write */
    int lanes;       /* of the groups that share vectors; 0: there are none, and each value is a thread's */
    int items;       /* rows of results that a group takes together */
    int64_t width;   /* of a head's result */
    int64_t tiles;   /* groups that share it out */
    unsigned shared; /* bytes of a block's vectors */
} ftb_gpu_expression;
/* monoid: how values are combined; kernels: FTB_EXPRESSION_ROWS and its like. On failure too,
 * ftb_gpu_expression_delete must follow. */
GrB_Info ftb_gpu_expression_new(ftb_gpu_expression *e, const ftb_message *m, const ftb_program *p,
                                FtB_Type result, ftb_monoid monoid, int kernels);
void ftb_gpu_expression_delete(ftb_gpu_expression *e);
/* The feeds' addresses, once they are the device's. */
void ftb_gpu_expression_feeds(ftb_expression_arguments *a, const ftb_message *m, const ftb_program *p);
/* Runs one of FTB_EXPRESSION_ROWS, _ENTRIES, _REDUCE and _JOIN for `count` rows, entries, pieces or cuts. */
GrB_Info ftb_gpu_expression_run(ftb_gpu_device *d, const ftb_gpu_expression *e, int kernels, int64_t count,
                                ftb_expression_arguments *a);

#endif

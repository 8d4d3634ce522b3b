/* A program as the functions of a kernel's source (expression_text.c). */
#ifndef FTB_GPU_EXPRESSION_TEXT_H
#define FTB_GPU_EXPRESSION_TEXT_H

#include "expr/message.h"
#include "expr/print_c.h"

/* Vectors of an item that lanes share, since what needs them needs all of their values: x of x @ W, and what
 * is made of such products where it is summed, or taken apart. They are made in this order. */
typedef struct ftb_gpu_shared {
    int count;      /* 0: a value of a result needs no other lane's */
    int *vectors;   /* values of the program */
    int *place;     /* of each value of the program: its place in `vectors`, or -1 */
    bool *product;  /* of each value: whether it is made of products */
    bool *needed;   /* of each value, by what is being printed */
    int lanes;      /* of a group, which takes a row of results */
    int items;      /* rows of results at a time; 0: its vectors have no room */
    int each;       /* values of a result that a lane has */
    unsigned bytes; /* of a block's vectors */
} ftb_gpu_shared;

/* On failure too, ftb_gpu_shared_clear must follow. */
GrB_Info ftb_gpu_shared_of(ftb_gpu_shared *s, const ftb_message *m, const ftb_program *p);
void ftb_gpu_shared_clear(ftb_gpu_shared *s);

/* Whether a program's feed f is read. */
bool ftb_gpu_reads(const ftb_message *m, const ftb_program *p, int f);
/* An index (i, j, k, e) or a degree; one value for all, which is the host's. */
bool ftb_gpu_is_index(const ftb_feed *feed);
bool ftb_gpu_is_number(const ftb_feed *feed);

/* `message` of kernels/expression.cuh, which gives a value, of type `result`; or, where lanes share vectors,
 * `Shared`, `share` and `message` of expression_groups.cuh. */
void ftb_gpu_print_message(ftb_printer *w, const ftb_message *m, const ftb_program *p,
                           const ftb_gpu_shared *s, FtB_Type result);

#endif

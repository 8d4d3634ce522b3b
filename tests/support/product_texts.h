/* Texts with x @ W and [...] on a GPU that does not exist (support/fake_gpu.h), beside the host. */
#ifndef TESTS_PRODUCT_TEXTS_H
#define TESTS_PRODUCT_TEXTS_H

#include "core/core.h"
#include "support/rng.h"

enum { ROWS = 31 };

typedef struct text {
    const char *text;
    FtB_Type type, wtype; /* of src and near, of W and V */
    int64_t heads, width; /* of src and near */
    int64_t w[2], v[2];   /* shapes of W and V; 0: there is none */
    int64_t out;          /* values of a head's result */
    FtB_Type result;
    int flags;
} text;
/* CUT: with a row that is. NEAR: sums are those of a kernel of another sort. HOST: no kernel, since x has no
 * room. WON: with those who won. */
enum { CUT = 1, ON_EDGES = 2, HOST = 4, WON = 8, NEAR = 16 };

/* Reals, or few whole numbers, of a wider block. */
FtB_Block text_block(rng *r, FtB_Type type, int64_t nrows, int64_t heads, int64_t width);

typedef struct text_operands {
    const text *t;
    FtB_Matrix A;
    FtB_Block src, dst, near, W, V; /* dst: of what stays on the edges */
    FtB_Semiring s;
} text_operands;
text_operands text_operands_new(rng *r, const text *t);
void text_operands_free(text_operands *o);

typedef struct text_made {
    FtB_Block C, E; /* E: who won */
    FtB_Matrix S;   /* what stayed on the edges */
} text_made;
/* adds: to what C held. */
text_made text_multiply(const text_operands *o, bool adds);
void text_made_free(text_made *m);

/* Each text on the host and on the device: the same bits, but for sums of rows that are cut. */
void text_check(const text *list, size_t count);

#endif

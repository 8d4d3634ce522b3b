/* Operators over the rows of blocks: what the verb `apply` computes. */
#ifndef FTB_APPLY_PRODUCT_H
#define FTB_APPLY_PRODUCT_H

#include "core/core.h"
#include "expr/expr.h"

/* An operand. Row i is at data + i * ld values, or every row is row 0 (one_row). */
typedef struct ftb_block_operand {
    const void *data;
    FtB_Type type;
    int64_t ncols, ld;
    int64_t heads; /* 1, or as many as the other operand has */
    bool one_row;
} ftb_block_operand;

/* Whether an operand beside another has values of their heads, ncols / heads each; else it has ncols for
 * every head. */
static inline bool ftb_operand_by_head(const ftb_block_operand *o, const ftb_block_operand *other)
{
    const int64_t heads = ftb_max(o->heads, other->heads);
    const int64_t columns = other->heads == heads ? other->ncols : -1; /* o's own are no matter */
    return o->heads == heads || (o->ncols > 1 && (o->ncols == columns || o->ncols == heads));
}

/* Row i of out = op of row i of x and y, of which the text knows the names x, y and i; with heads it is about
 * one of them. Operands without heads beside one with heads: one value, one per head, or one per column of
 * the other; else the same values for every head. out may be x or y, value by value.
 *
 * A device is asked for texts that are elementwise, where all types are one, FP32 or FP64, and what is bound
 * are numbers. */
typedef struct ftb_apply_product {
    FtB_Context ctx;
    FtB_Op op;
    struct ftb_block_map
        *map; /* op, compiled for the host's threads (cpu/block/apply_run.h); NULL: not yet */
    ftb_block_operand x, y;
    bool binary; /* else there is no y */
    int64_t nrows, ncols;
    FtB_Type type; /* of op's results */
    void *out;     /* row i at out + i * ldo, of `type` */
    int64_t ldo;
    bool add; /* out += instead: `type` is one that sums are made in */
} ftb_apply_product;

#endif

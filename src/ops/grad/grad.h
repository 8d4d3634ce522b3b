/* Gradients of products with blocks: what FtB_mxm_grad is made of. */
#ifndef FTB_OPS_GRAD_H
#define FTB_OPS_GRAD_H

#include "expr/rewrite.h"
#include "ops/block/blocks.h"
#include "ops/vertices.h"

/* A forward product as messages over its pattern and over the transpose, with what gradients read beside the
 * text's own names: grad, saved, e, di, and W' for whole blocks W. */
typedef struct ftb_grad {
    FtB_Context ctx;
    FtB_Semiring semiring;
    bool on_edges;      /* block x block': one message per entry, nothing is reduced */
    FtB_Matrix A;       /* the sparse operand, or the mask */
    FtB_Block src, dst; /* dst: NULL for sparse x block, where it is bound */
    FtB_Block dC, saved;
    FtB_Matrix dE;       /* dC of block x block' */
    ftb_pattern *p, *q;  /* the product's, and its transpose */
    const int64_t *at;   /* entry x of p is entry at[x] of A; NULL: the same */
    const int64_t *from; /* entry x of q is entry from[x] of p; NULL where nothing is read by entry */
    ftb_message forward; /* over p */
    ftb_message back;    /* over q: rows and columns have changed places */
    bool has_back;
    int nfeeds;                     /* of forward, without what gradients read */
    ftb_message_type type;          /* of forward */
    FtB_Block whole[FTB_MAX_FEEDS]; /* W transposed, of the feed W of that number; ours */
    struct ftb_winners *winners;    /* NULL: edges are compared with the winners, if there are any */
    bool complete;                  /* forward has what gradients read */
    bool wants_columns, wants_rows; /* of scores src + dst: which gradients are asked for, */
    FtB_Block by_column, by_row;    /* and these, until they are handed out */
} ftb_grad;

/* Fills forward, nfeeds and type from what stands above them (dC, dE and saved apart). On failure too,
 * ftb_grad_end must follow. (grad_messages.c) */
GrB_Info ftb_grad_begin(ftb_grad *g);
/* Makes whole, and adds what gradients read, once: when dC, dE and saved are known to fit. */
GrB_Info ftb_grad_complete(ftb_grad *g);
GrB_Info ftb_grad_need_back(ftb_grad *g);
void ftb_grad_end(ftb_grad *g);

/* Blocks of ours, wherever the operands are. (grad_rows.c) */
/* The message `expr` of m summed into the rows of p; zeros in rows without entries. */
GrB_Info ftb_grad_sum(FtB_Block *T, const ftb_message *m, ftb_pattern *p, ftb_expr *expr);
/* `expr` for each entry of p. */
GrB_Info ftb_grad_store(FtB_Block *V, const ftb_message *m, ftb_pattern *p, ftb_expr *expr);
/* What v says, over m, for each row of its side. */
GrB_Info ftb_grad_vertices(FtB_Block *Y, const ftb_message *m, const ftb_vertex_values *v);
/* A text of x and y (NULL is allowed), row by row, as `type`, FP32 or FP64; `fold` heads of each are summed
 * in it. */
GrB_Info ftb_grad_text(FtB_Block *Y, FtB_Type type, const char *text, FtB_Block x, FtB_Block y, int64_t fold);
/* Y += X, of which it has as many rows. */
GrB_Info ftb_grad_add(FtB_Block Y, FtB_Block X);
/* sum += L' R over rows and heads; sum: a x b, which are the widths of one head, of FP64; *sum NULL: it is
 * made. Without L, the rows of R are summed. */
GrB_Info ftb_grad_outer(FtB_Block *sum, FtB_Context ctx, FtB_Block L, FtB_Block R, int64_t a, int64_t b);
/* *T, which is freed, becomes the sum of its rows, in FP64. (grad_feed.c) */
GrB_Info ftb_grad_total(FtB_Block *T);

/* The gradient with respect to feed f of forward, in the feed's shape, packed; of a scalar and of one row for
 * all one row, of a whole block its own shape. *T NULL: zeros. (grad_feed.c) */
GrB_Info ftb_grad_feed(FtB_Block *T, ftb_grad *g, int f);
/* The same for scores leaky_relu(src + dst) on edges, where they fit: both feeds at once. (grad_sums.c) */
bool ftb_grad_sums_fit(const ftb_grad *g);
GrB_Info ftb_grad_sums(FtB_Block *T, ftb_grad *g, const ftb_feed *feed);
/* Sum of left' right over the edges, for all pairs: nrows x ncols of FP64. (grad_whole.c) */
GrB_Info ftb_grad_whole(FtB_Block *T, ftb_grad *g, const ftb_derivative *d, int64_t nrows, int64_t ncols);

/* What min and max of sources need, once for all feeds; *winners NULL where the message is none of these.
 * (grad_winners.c) */
GrB_Info ftb_winners_new(struct ftb_winners **winners, const ftb_grad *g);
GrB_Info ftb_winners_feed(FtB_Block *T, ftb_grad *g, struct ftb_winners *winners, int f);
void ftb_winners_delete(struct ftb_winners *winners); /* NULL is allowed */

#endif

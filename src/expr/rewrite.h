/* What can be moved out of the loop over edges.
 *
 *     result(i) = post(reduce over e of core(e), count, row things),   with pre(i), pre(j) computed once a
 * vertex
 *
 * so that (src + dst) @ W becomes two dense products, a row's factor leaves the sum, and max of a monotone
 * function is the function of a max. docs/semirings.md ("What is computed where") says what that does to
 * rounding, NaN and infinities. */
#ifndef FTB_REWRITE_H
#define FTB_REWRITE_H

#include "expr/message.h"

/* Cores that kernels know. x: a feed or pre of side COL. y: a feed of side EDGE; where results stay on the
 * edges (reduce == false) also a feed or pre of side ROW, and COPY's x too may be of side ROW. Types and
 * widths are not looked at here. */
typedef enum ftb_form {
    FTB_FORM_ANY,  /* none of the below: the program runs */
    FTB_FORM_COPY, /* x */
    FTB_FORM_MUL,  /* x * y: y an edge value (one, one per head, or as wide as x) */
    FTB_FORM_ADD,  /* x + y */
    FTB_FORM_SUB,  /* x - y */
    FTB_FORM_RSUB, /* y - x */
    FTB_FORM_DIV,  /* x / y */
    FTB_FORM_EDGE, /* y: the edges' own values */
    FTB_FORM_ONE,  /* a constant, `value`: counts */
    FTB_FORM_DOT   /* dot(x, y), per head: x of side COL, y of side ROW; for results on edges */
} ftb_form;

#define FTB_MAX_PRE 16
/* Computed once per vertex, by ftb_vertex_values_new (ops/vertices.h); a feed `name` of the message's
 * heads, of the type and width that it gave, of the core or of post. */
typedef struct ftb_pre {
    char name[FTB_NAME_LENGTH];
    ftb_side side; /* ROW or COL */
    ftb_expr *expr;
} ftb_pre;

typedef struct ftb_rewritten {
    FtB_Context ctx;
    ftb_monoid monoid; /* min and max change places under falling functions */
    int npre;
    ftb_pre pre[FTB_MAX_PRE];
    ftb_expr *core; /* over feeds and pres; NULL: the message is a C function */
    /* Over h (the reduced core, per head), count (INT64: the row's messages), feeds of side ROW and NONE, and
     * pres of side ROW; NULL: h. A mean's division is part of it, so whoever runs post need not look at
     * reducer.mean. Its type is that of the reduced message (of a mean: FP32, else FP64); of rows without
     * messages it may be anything. */
    ftb_expr *post;
    bool mean; /* post is h / count and no more, the count in h's type; h is FP32 or FP64 */
    ftb_form form;
    char x[FTB_NAME_LENGTH], y[FTB_NAME_LENGTH]; /* feeds or pres that the form is about, "" if none */
    double value;                                /* FTB_FORM_ONE */
} ftb_rewritten;

/* reduce: the results are reduced into rows (else they stay on the edges, and only pre, core and form are
 * made). arg: winners are wanted, so nothing leaves the reduction. Names, widths and types that do not fit
 * are errors here, as in ftb_message_compile. */
GrB_Info ftb_rewrite(ftb_rewritten *r, const ftb_message *m, bool reduce, bool arg);
void ftb_rewritten_clear(ftb_rewritten *r);

/* The gradient of a message with respect to one of its feeds, in reverse over the tree (docs/gradients.md).
 * expr: (d message / d name)' grad, over the message's names and "grad" (of the message's shape, FP32 or
 * FP64), per head, summed over what the name broadcasts to within a head: of the name's own width. NULL where
 * the text does not use the name. For a whole block W, in x @ W: dW = sum over edges and heads of left'
 * right, for all pairs; expr is NULL. Names like W' stand for whole blocks: W transposed, to be added by the
 * caller. GrB_DOMAIN_MISMATCH where an operator has no derivative and for messages of whole numbers.
 * (gradient.c) */
typedef struct ftb_derivative {
    ftb_expr *expr;
    int nouter;
    ftb_expr *left[FTB_MAX_PRE], *right[FTB_MAX_PRE];
} ftb_derivative;
GrB_Info ftb_gradient(ftb_derivative *d, const ftb_message *m, const char *name);
/* The same with "grad" the gradient of the reduced messages, of side ROW. mean also reads "di"; min and max
 * read "saved" (ROW, INT64, of the message's shape: the winning entry of the pattern) and "e'" (EDGE, INT64:
 * the entry's number there). GrB_DOMAIN_MISMATCH for other reducers than these and plus. */
GrB_Info ftb_gradient_reduced(ftb_derivative *d, const ftb_message *m, const char *name);
void ftb_derivative_clear(ftb_derivative *d);

/* The text of an expression, for people and messages; ftb_new()ed. (unparse.c) */
char *ftb_expr_print(FtB_Context ctx, const ftb_expr *e);

#endif

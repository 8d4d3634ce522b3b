/* Trees being rewritten: one growing tree in which all stages of an expression live side by side, so that
 * equal subexpressions are the same node at every stage, with what each node depends on.
 *
 * The tree's text is the message's, followed by the names that rewriting adds; every tree made from it
 * (ftb_work_extract) shares that text, so names and columns keep their places. */
#ifndef FTB_WORK_H
#define FTB_WORK_H

#include "expr/rewrite.h"
#include "expr/tree.h"

#define FTB_WORK_SMALL 400  /* nodes of a message that is worth rewriting */
#define FTB_WORK_NODES 4000 /* of its tree and all that is made from it: typing is a pass over all */
#define FTB_WORK_EXTRA (FTB_MAX_FEEDS + 4) /* names: of gradients, whole blocks transposed and four more */

typedef struct ftb_work {
    FtB_Context ctx;
    ftb_expr *tree;
    bool integers_wide;
    int room; /* nodes */
    int count;
    ftb_name names[FTB_MAX_FEEDS + FTB_WORK_EXTRA]; /* feeds, then those added */
    ftb_side side_of[FTB_MAX_FEEDS + FTB_WORK_EXTRA];
    char added[FTB_WORK_EXTRA][FTB_NAME_LENGTH];
    int nadded;
    struct FtB_Block_opaque whole[FTB_WORK_EXTRA]; /* shapes of whole blocks that were added */
    uint8_t *sides;                                /* of each node: the feeds it depends on */
    ftb_shape *shapes;
    int nshapes;   /* nodes whose shapes are known */
    GrB_Info info; /* GrB_SUCCESS while a -1 only says that there is no room for more nodes */
} ftb_work;

#define FTB_SIDE_RESULT ((ftb_side)8) /* of h and count */

/* A copy of the message's tree; `extra`: names that may be added later. On failure too, ftb_work_end must
 * follow. room: nodes at most. */
GrB_Info ftb_work_begin(ftb_work *w, const ftb_message *m, int room, int nextra, const char *const *extra);
void ftb_work_end(ftb_work *w);

/* These give a node, or -1 (no room, or w->info); an argument of -1 gives -1. */
int ftb_work_op(ftb_work *w, ftb_operator op, int x, int y); /* y -1: unary */
int ftb_work_node(ftb_work *w, const ftb_node *like, int count, const int *args);
int ftb_work_integer(ftb_work *w, int64_t value);
int ftb_work_real(ftb_work *w, double value);
/* The node of an added name. It is known from now on as this type and width, or as the whole block `rows`
 * (of the shape alone, if it is not NULL: nrows x ncols). */
int ftb_work_name(ftb_work *w, const char *name, ftb_side side, FtB_Type type, int64_t width);
int ftb_work_whole(ftb_work *w, const char *name, FtB_Type type, int64_t nrows, int64_t ncols);

/* The shape of a node; type 0 after an error (w->info), and for whole blocks. */
ftb_shape ftb_work_shape(ftb_work *w, int node);
/* needed[n] for the nodes from 0 to `node` that it needs; those below a replaced one (by[n] >= 0) are not
 * looked at. by: NULL if none is. */
void ftb_work_mark(const ftb_work *w, int node, const int *by, uint8_t *needed);
/* node with each node n below it for which by[n] >= 0 replaced by that one. */
int ftb_work_replace(ftb_work *w, int node, const int *by);
/* A tree of its own with what `node` needs. */
GrB_Info ftb_work_extract(ftb_expr **out, const ftb_work *w, int node);

static inline const ftb_node *ftb_work_at(const ftb_work *w, int node) { return &w->tree->nodes[node]; }
static inline int ftb_work_arg(const ftb_work *w, int node, int a) { return ftb_tree_arg(w->tree, node, a); }
static inline bool ftb_work_leaf(const ftb_work *w, int node)
{
    return w->tree->nodes[node].op >= FTB_NOPERATORS;
}
/* Depends on one kind of vertex at most: ROW or NONE, COL or NONE. */
static inline bool ftb_work_row(const ftb_work *w, int node) { return (w->sides[node] & ~FTB_SIDE_ROW) == 0; }
static inline bool ftb_work_col(const ftb_work *w, int node) { return w->sides[node] == FTB_SIDE_COL; }
/* The feed or added name that a node is, or -1. */
int ftb_work_find(const ftb_work *w, int node);

/* ---- sums and products by side (regroup.c) */

/* Terms of a chain of + - or of * /: nodes, and whether they are subtracted or divided by. */
#define FTB_MAX_TERMS 32
typedef struct ftb_chain {
    bool sum, negative; /* negative: the product is to be negated */
    FtB_Type type;
    int count;
    struct {
        int node;
        bool inverse;
    } terms[FTB_MAX_TERMS];
} ftb_chain;
/* The terms of a sum or product, through those of its arguments that have its type; false if they cannot be
 * put in another order without changing types or whole numbers. */
bool ftb_chain_of(ftb_work *w, ftb_chain *chain, int node);
/* The sum or product of the terms whose bit is set in `set`; *inverse: of it, the negative or the inverse is
 * meant (all of them were inverse). Without the sign of the chain. */
int ftb_chain_make(ftb_work *w, const ftb_chain *chain, uint32_t set, bool *inverse);
/* x @ W with the sum x taken apart by side, if each part then depends on one kind of vertex, else -1. */
int ftb_distribute(ftb_work *w, int node);
/* The same value with the parts of sums and products that depend on one kind of vertex next to each other,
 * and @ taken into sums, so that they can be computed once per vertex. */
int ftb_regroup(ftb_work *w, int node);

/* ---- what leaves a reduction (peel.c) */

#define FTB_MAX_STEPS 64
typedef struct ftb_step { /* h becomes h op other, other op h, or op(h) */
    ftb_operator op;
    int other;    /* -1: none */
    bool before;  /* other op h */
    bool counted; /* other is added once for every message */
} ftb_step;
typedef struct ftb_peeled {
    ftb_monoid monoid;
    bool mean;
    int core; /* 1 if all of it left */
    bool all; /* the result is what `other` of the one step is, times the count if it is counted */
    int nsteps;
    ftb_step steps[FTB_MAX_STEPS]; /* the last one comes first */
} ftb_peeled;
/* Takes from p->core (with p->monoid and p->mean) what can be done after reducing. */
void ftb_peel(ftb_work *w, const ftb_message *m, ftb_peeled *p);
/* What is done to `h`: the steps, and mean's division; `count`: node of the count; h itself if nothing is. */
int ftb_peeled_post(ftb_work *w, const ftb_peeled *p, int h, int count);

/* ---- forms (match.c) */

/* The form of a regrouped core; subexpressions of one side count as the names that will stand for them. */
ftb_form ftb_match(const ftb_work *w, int node, bool reduce, int *x, int *y);

#endif

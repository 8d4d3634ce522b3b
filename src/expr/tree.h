/* Expression trees: nodes of a parsed text, shared where they are equal (hash-consing).
 *
 * Nodes lie in one array, arguments before users, so that every pass over a tree is a loop. */
#ifndef FTB_TREE_H
#define FTB_TREE_H

#include "expr/expr.h"

/* Bounds on what a text may hold: far beyond need, small enough for hostile ones. */
#define FTB_MAX_TEXT 32768
#define FTB_MAX_NODES 8192
#define FTB_MAX_NESTING 200

typedef enum ftb_rule {
    FTB_RULE_WRAP,
    FTB_RULE_ORDER,
    FTB_RULE_INTEGER,
    FTB_RULE_REAL,
    FTB_RULE_COMPARE,
    FTB_RULE_LOGIC,
    FTB_RULE_CONVERT,
    FTB_RULE_FEATURE,
    FTB_RULE_FORM
} ftb_rule;

typedef enum ftb_operator {
#define FTB_OPERATOR(id, spelling, arity, fallback, rule, commutes, rises, integer, real, dx, dy, summary)   \
    FTB_OP_##id,
#include "operators.def"
#undef FTB_OPERATOR
    FTB_NOPERATORS,
    FTB_OP_NAME = FTB_NOPERATORS, /* leaves */
    FTB_OP_TRUTH,
    FTB_OP_LITERAL, /* int64_t */
    FTB_OP_HUGE,    /* integer from 2^63 to 2^64 - 1, in node.integer's bits */
    FTB_OP_REAL
} ftb_operator;

typedef struct ftb_operator_row { /* semirings/operators.def */
    const char *spelling;
    int arity;
    double fallback;
    ftb_rule rule;
    bool commutes, rises;
    const char *dx, *dy, *summary;
} ftb_operator_row;
extern const ftb_operator_row ftb_operators[FTB_NOPERATORS];
ftb_operator ftb_operator_find(const char *name, int64_t length); /* functions; FTB_NOPERATORS if unknown */

typedef struct ftb_node {
    ftb_operator op;
    int column;       /* where it first stands in the text, from 1 */
    int first, count; /* arguments: args[first .. first + count) */
    union {
        int64_t integer; /* FTB_OP_TRUTH, FTB_OP_LITERAL, FTB_OP_HUGE */
        double real;     /* FTB_OP_REAL */
        struct {
            int start, length; /* FTB_OP_NAME: in text */
        } name;
    };
} ftb_node;

struct ftb_expr {
    atomic_llong refs;
    FtB_Context ctx;
    char *text;
    char *what;
    int column0;
    int nnodes, nargs, room_nodes, room_args, root;
    ftb_node *nodes;
    int *args;
    int table_size; /* power of two, > nnodes; entries are node + 1 */
    int *table;
};

/* An expression without nodes. */
ftb_expr *ftb_tree_new(FtB_Context ctx, const char *text, const char *what, int column0);
/* Adds a node, or finds its equal; < 0 on failure (message set). `args` are nodes of e; those of
 * `node` are ignored. Names compare by their characters. */
#define FTB_TREE_NOMEM (-2) /* else too many nodes */
int ftb_tree_add(ftb_expr *e, const ftb_node *node, int count, const int *args);
bool ftb_tree_is_name(const ftb_expr *e, int node, const char *name);
static inline int ftb_tree_arg(const ftb_expr *e, int node, int at)
{
    return e->args[e->nodes[node].first + at];
}

/* What each node gives, of all nodes of a tree; type 0: a whole block. No operand's data is read. (check.c)
 */
typedef struct ftb_shape {
    FtB_Type type; /* compute type */
    int64_t width;
    bool weak; /* made of literals and bound scalars only: takes the precision of what it meets */
    bool wide; /* of integers: FP32 cannot hold all that may come */
} ftb_shape;
GrB_Info ftb_tree_shapes(ftb_shape *shapes, FtB_Context ctx, const ftb_expr *e, int count,
                         const ftb_name *names, bool integers_wide);

/* Lexer, shared by the parser and by substitution. */
typedef enum ftb_token_kind {
    FTB_TOKEN_END,
    FTB_TOKEN_NAME,
    FTB_TOKEN_INTEGER,
    FTB_TOKEN_REAL,
    FTB_TOKEN_SYMBOL,
    FTB_TOKEN_BAD
} ftb_token_kind;
typedef struct ftb_token {
    ftb_token_kind kind;
    int start, length; /* in the text */
} ftb_token;
ftb_token ftb_token_next(const char *text, int at);

#endif

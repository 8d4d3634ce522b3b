/* A second implementation of the language of docs/semirings.md: expressions as trees, evaluated one item at a
 * time by recursion. Slow and obvious. */
#ifndef TESTS_ORACLE_REF_EXPR_H
#define TESTS_ORACLE_REF_EXPR_H

#include "expr/expr.h"

#define MAX_WIDTH 24 /* of a vector */
#define NNAMES 8     /* operands: n0, n1, ... */

typedef enum form {
    NAME,
    INTEGER,
    REAL, /* leaves */
    ADD,
    SUB,
    MUL,
    DIV,
    LT,
    LE,
    GT,
    GE,
    EQ,
    NE,
    AND,
    OR, /* binary, infix */
    NEG,
    NOT,
    MIN,
    MAX,
    IDIV,
    LEAKY,
    BITAND,
    BITOR,
    BITXOR,
    DOT, /* f(x, y) */
    POW,
    ELU,
    ABS,
    RELU,
    STEP,
    FLOOR,
    CEIL,
    SQRT,
    SUM,
    MEAN, /* f(x) */
    EXP,
    LOG,
    LOG1P,
    TANH,
    SIGMOID,
    TO_BOOL,
    TO_INT8,
    TO_INT16,
    TO_INT32,
    TO_INT64,
    TO_UINT8,
    TO_UINT16,
    TO_UINT32,
    TO_UINT64,
    TO_FP32,
    TO_FP64,
    SELECT,
    VECTOR,
    COMPONENT,
    NKINDS
} form;

typedef struct node {
    form kind;
    int nkids, name, component;
    double real;
    int64_t integer;
    const char *literal;
    struct node *kid[3];
} node;

typedef union cell {
    int64_t i;
    uint64_t u;
    double d;
} cell;

typedef struct value {
    FtB_Type type;
    bool weak, wide, literal; /* literal: an integer known when compiling */
    int width;                /* 0: an error */
    cell at[MAX_WIDTH];       /* FP32 as the double it equals */
} value;

typedef struct world {
    ftb_name names[NNAMES];
    ftb_operand operands[NNAMES];
    char label[NNAMES][16];
} world;

/* The value of n for item t; width 0 if n is not valid. */
value ref_expr_value(const world *w, const node *n, int64_t t);

static inline bool ref_real(FtB_Type t) { return t == FTB_FP32 || t == FTB_FP64; }
/* A value of a type as a double. */
double ref_cell_real(FtB_Type t, cell c);

#endif

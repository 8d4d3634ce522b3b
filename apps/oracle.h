/* A projection from its definition, slow and simple: what --check compares with. For every two vertices
 * the sorted lists of their entries are merged, each common neighbour's message is evaluated in long double
 * (oracle_value.c), and the messages are reduced one after the other. Nothing but the parser is shared with
 * the library's product: no evaluation, no accumulators, no triangle, no relabelling, no chunks, no fused
 * selection. */
#ifndef APP_ORACLE_H
#define APP_ORACLE_H

#include "expr/tree.h"
#include "ops/ops.h"
#include "project_parts.h"

#define ORACLE_WIDTH 16 /* most values of a message */

#define ORACLE_NAMES (ORACLE_WIDTH + 11)

typedef struct oracle_number { /* what a name stands for */
    long double x;
    bool real; /* else a whole number */
} oracle_number;

typedef struct formula { /* an expression and what it takes to evaluate it */
    ftb_expr *expr;      /* NULL: there is none */
    int *name;           /* of each node that is a name: which one */
    void *values;        /* of each node */
    int width;           /* of the result */
} formula;

/* oracle_value.c. formula_new: an exit code; nothing for a text that is NULL. */
int formula_new(formula *f, const char *text, const char *what, int count, const char *const *names);
void formula_free(formula *f);
/* out: width values; returns whether they are reals. */
bool formula_values(const formula *f, const oracle_number *named, long double *out);
long double formula_value(const formula *f, const oracle_number *named); /* the first of them */
bool formula_narrows(const formula *f); /* to FP32, as fp32(x) does: the library rounds there */

typedef struct oracle {
    const project *p;
    const ftb_weight *named; /* NULL: a semiring of the user's */
    int64_t n, m;            /* projected vertices, vertices that they share */
    int64_t *start, *other;  /* entries of projected vertex v: start[v] .. start[v + 1], by shared vertex */
    long double *value;
    int64_t *degree, *shared_degree;
    long double *sum, *square; /* of each projected vertex */
    ftb_reducer reducer;
    formula message, epilogue, where;
    bool integers;      /* a and b are whole numbers */
    long double *a, *b; /* of the shared vertices of one pair */
    int64_t *k;
    double *weights;       /* of the row that oracle_row computed last */
    bool *present;         /* whether it has the pair, before min_weight and top_k */
    bool *source, *target; /* vertices that may come first, second */
} oracle;

int oracle_new(oracle *o, const project *p); /* an exit code */
void oracle_free(oracle *o);
void oracle_row(oracle *o, int64_t i);

#endif

/* A projection from its definition, slow and simple: what --check compares with. For every two vertices
 * the sorted lists of their entries are merged, each common neighbour's message is evaluated in FP64, and
 * the messages are reduced one after the other. Nothing but the evaluation of expressions is shared with
 * the library's product: no accumulators, no triangle, no relabelling, no chunks, no fused selection. */
#ifndef APP_ORACLE_H
#define APP_ORACLE_H

#include "ops/ops.h"
#include "project.h"

#define ORACLE_WIDTH 16 /* most values of a message */

typedef struct formula { /* an expression and what it takes to evaluate it */
    ftb_expr *expr;
    ftb_program *program;
    ftb_machine *machine;
    void *out; /* FTB_BATCH results */
    int64_t width;
} formula;

typedef union scalar {
    double real;
    int64_t integer;
} scalar;

typedef struct oracle {
    const project *p;
    const ftb_weight *named; /* NULL: a semiring of the user's */
    int64_t n, m;            /* projected vertices, vertices that they share */
    int64_t *start, *other;  /* entries of projected vertex v: start[v] .. start[v + 1], by shared vertex */
    double *value;
    int64_t *degree, *shared_degree;
    double *sum, *square; /* of each projected vertex */
    ftb_reducer reducer;
    formula message, epilogue, where;
    bool integers; /* a and b are INT64, not FP64 */
    scalar *a, *b; /* of the shared vertices of one pair */
    int64_t *k, *dk;
    double *weights;       /* of the row that oracle_row computed last */
    bool *present;         /* whether it has the pair, before min_weight and top_k */
    bool *source, *target; /* vertices that may come first, second */
} oracle;

int oracle_new(oracle *o, const project *p); /* an exit code */
void oracle_free(oracle *o);
void oracle_row(oracle *o, int64_t i);

#endif

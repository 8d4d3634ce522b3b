/* GraphBLAS as the library sees it: nothing but this folder knows its symbols, and it finds them by name when
 * the first object of GraphBLAS is seen. Types and errors are those of featblas/graphblas_types.h. */
#ifndef FTB_BRIDGE_H
#define FTB_BRIDGE_H

#include "core/core.h"

/* ---- the library (library.c) */

/* Finds GraphBLAS, once: the process's own, else the one that this build was made for. GrB_NOT_IMPLEMENTED,
 * message set, if it is not there or this build has none. */
GrB_Info ftb_grb_open(void);
/* A symbol of it, after ftb_grb_open; NULL if this GraphBLAS lacks it. */
void *ftb_grb_symbol(const char *name);

/* Values of enumerations that GraphBLAS's functions take. */
enum { FTB_GRB_NONBLOCKING = 0, FTB_GRB_CSR = 0, FTB_GRB_COO = 2 };

/* ---- built-in objects (handles.c) */

/* GraphBLAS's names of binary operators; a monoid has its operator's. */
#define FTB_GRB_OPS(X)                                                                                       \
    X(FIRST)                                                                                                 \
    X(SECOND)                                                                                                \
    X(PAIR)                                                                                                  \
    X(ANY)                                                                                                   \
    X(MIN)                                                                                                   \
    X(MAX)                                                                                                   \
    X(PLUS)                                                                                                  \
    X(MINUS)                                                                                                 \
    X(RMINUS)                                                                                                \
    X(TIMES)                                                                                                 \
    X(DIV)                                                                                                   \
    X(RDIV)                                                                                                  \
    X(ISEQ)                                                                                                  \
    X(ISNE)                                                                                                  \
    X(ISGT)                                                                                                  \
    X(ISLT)                                                                                                  \
    X(ISGE)                                                                                                  \
    X(ISLE)                                                                                                  \
    X(LOR)                                                                                                   \
    X(LAND)                                                                                                  \
    X(LXOR)                                                                                                  \
    X(LXNOR)                                                                                                 \
    X(EQ)                                                                                                    \
    X(NE)                                                                                                    \
    X(GT)                                                                                                    \
    X(LT)                                                                                                    \
    X(GE)                                                                                                    \
    X(LE)                                                                                                    \
    X(BOR)                                                                                                   \
    X(BAND)                                                                                                  \
    X(BXOR)                                                                                                  \
    X(BXNOR)                                                                                                 \
    X(FIRSTI)                                                                                                \
    X(FIRSTI1)                                                                                               \
    X(FIRSTJ)                                                                                                \
    X(FIRSTJ1)                                                                                               \
    X(SECONDI)                                                                                               \
    X(SECONDI1)                                                                                              \
    X(SECONDJ)                                                                                               \
    X(SECONDJ1)
typedef enum ftb_grb_op {
#define FTB_GRB_OP(id) FTB_GRB_##id,
    FTB_GRB_OPS(FTB_GRB_OP)
#undef FTB_GRB_OP
} ftb_grb_op;

typedef struct ftb_grb_row {
    char name[32];         /* of GraphBLAS's variable */
    uint8_t type;          /* FtB_Type that it works in; of a comparison: of its arguments */
    uint8_t add, multiply; /* ftb_grb_op: of a monoid add, of an operator multiply, of a semiring both */
} ftb_grb_row;

typedef struct ftb_grb_table {
    const ftb_grb_row *rows; /* descriptors: in the order of FTB_DESCRIPTORS */
    int64_t count;
    void *const **at; /* of each row, GraphBLAS's variable, which holds the handle; NULL: it lacks it */
} ftb_grb_table;

/* The built-in objects of a kind FTB_KIND_GRB_*, looked up at its first use. As ftb_grb_open. */
GrB_Info ftb_grb_table_of(const ftb_grb_table **table, FtB_Kind kind);
/* The row of a handle, -1 if it is none of the table's. */
int64_t ftb_grb_find(const ftb_grb_table *table, const void *handle);

#endif

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

/* Functions that a file wants, and where it has their addresses. Returns the name of one that is not there,
 * NULL: all are. (convert.c, as what follows) */
typedef struct ftb_grb_function {
    const char *name;
    void *member;
} ftb_grb_function;
const char *ftb_grb_find_all(const ftb_grb_function *functions, size_t count);

/* The types that both have: X(dtype, GraphBLAS's suffix, C type). */
#define FTB_GRB_TYPES(X)                                                                                     \
    X(FTB_BOOL, BOOL, bool)                                                                                  \
    X(FTB_INT8, INT8, int8_t)                                                                                \
    X(FTB_INT16, INT16, int16_t)                                                                             \
    X(FTB_INT32, INT32, int32_t)                                                                             \
    X(FTB_INT64, INT64, int64_t)                                                                             \
    X(FTB_UINT8, UINT8, uint8_t)                                                                             \
    X(FTB_UINT16, UINT16, uint16_t)                                                                          \
    X(FTB_UINT32, UINT32, uint32_t)                                                                          \
    X(FTB_UINT64, UINT64, uint64_t)                                                                          \
    X(FTB_FP32, FP32, float)                                                                                 \
    X(FTB_FP64, FP64, double)

/* Makes what is known of matrices ready for a call, which messages name; with _start, GraphBLAS itself. */
GrB_Info ftb_grb_matrices(const char *call);
GrB_Info ftb_grb_start(void);
/* The type of G; `what` it is, and in which call, messages say. */
GrB_Info ftb_grb_type(FtB_Type *type, GrB_Matrix G, const char *what);
/* Puts GraphBLAS into words; `what` says during which call. */
GrB_Info ftb_grb_error(GrB_Info info, const char *what);
/* Around its work: it takes the threads it likes, except where the context has one, or OpenMP's are missing
 * because the process was forked: there its parallel regions must not open. Returns what to restore. */
int ftb_grb_enter(FtB_Context ctx);
void ftb_grb_leave(int levels);

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

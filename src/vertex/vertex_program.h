/* Vertex programs, read. */
#ifndef FTB_VERTEX_PROGRAM_H
#define FTB_VERTEX_PROGRAM_H

#include "expr/expr.h"
#include "featblas_vertex.h"

#define FTB_MAGIC_PROGRAM 0x46544247

typedef struct ftb_assignment { /* FIELD = text */
    char field[FTB_NAME_LENGTH];
    ftb_expr *expr;
} ftb_assignment;

#define FTB_VERTEX_SUMS 26   /* of `until`: sum.a to sum.z */
#define FTB_VERTEX_FIELDS 16 /* that a program changes */
#define FTB_SUM_NAME "sum.a" /* what stands for a sum, once it is taken out of the text */

struct FtB_Program_opaque {
    uint32_t magic;
    FtB_Context ctx;
    atomic_llong refs;
    ftb_expr *send;
    FtB_Semiring combine;
    ftb_monoid monoid;
    int nassigned;
    ftb_assignment assigned[FTB_VERTEX_FIELDS];
    ftb_expr *active;   /* NULL: what changed */
    bool always;        /* all that applied are */
    ftb_expr *settled;  /* NULL: nobody is */
    ftb_expr *priority; /* who sends first, of those that are active; NULL: all do at once */
    double delta;       /* width of the priorities' buckets */
    ftb_expr *until;    /* over the sums' names; NULL: none */
    int nsums;
    ftb_expr *sums[FTB_VERTEX_SUMS]; /* over vertices */
    int64_t rounds;                  /* 0: any */
    FtB_Direction direction;
    bool all_apply;
};

FtB_Program ftb_program_retain(FtB_Program program);
void ftb_program_release(FtB_Program program); /* NULL is allowed */

#endif

/* Programs: what check.c writes and the backends run.
 *
 * A program is a list of instructions ("codes") over values. A value is a constant, an operand or what a
 * code computes; codes stand in an order in which every argument comes before its use. Which values are the
 * same for all items depends on the operands' strides, so it is found out at each run. */
#ifndef FTB_PROGRAM_H
#define FTB_PROGRAM_H

#include "expr/scalar.h"
#include "expr/tree.h"

#define FTB_MAX_CELLS (1 << 26) /* width of all values of a program together */

typedef enum ftb_source { FTB_FROM_CONSTANT, FTB_FROM_OPERAND, FTB_FROM_CODE } ftb_source;

typedef struct ftb_value {
    ftb_source source;
    FtB_Type type; /* compute type */
    int64_t width;
    int index;              /* of the constant, the name or the code */
    bool weak;              /* made of literals only: takes the precision of what it meets */
    bool wide;              /* of integers: FP32 cannot hold all that may come */
    int cast[FTB_NCLASSES]; /* this value in another class, 0 while there is none */
    int last;               /* code that uses it last */
    int reg;                /* register, of a code's value; -1: the result, which goes to its place */
    int64_t slot;           /* of a code's value: where in the uniform area, in 8-byte cells */
} ftb_value;

typedef enum ftb_code_kind {
    FTB_CODE_ELEMENT, /* op over values, element by element */
    FTB_CODE_CAST,    /* to the out value's class */
    FTB_CODE_COPY,
    FTB_CODE_SELECT,
    FTB_CODE_FEATURE,   /* op over the values of each item */
    FTB_CODE_VECTOR,    /* arguments side by side */
    FTB_CODE_COMPONENT, /* value `component` of each item */
    FTB_CODE_GATHER,    /* rows of a block by the index in the argument */
    FTB_CODE_MATMUL
} ftb_code_kind;

typedef struct ftb_code {
    ftb_code_kind kind;
    ftb_operator op;  /* ELEMENT, FEATURE */
    int out;          /* value */
    int first, count; /* arguments: args[first .. first + count), values */
    int64_t component;
    int block; /* GATHER, MATMUL: in blocks[] */
} ftb_code;

/* Columns of a panel, in which blocks right of @ are packed: one AVX-512 register of FP32, the same for all
 * so that bits are. */
#define FTB_PANEL 16

typedef struct ftb_held { /* a bound block in use */
    int name;             /* in names[] */
    int index;            /* name of the index it is gathered by, -1: right of @ */
    FtB_Type type;
    const char *data; /* NULL: given when the program is run */
    int64_t first;    /* of @: the row that x's first value meets */
    int64_t nrows, ncols, ld;
    ftb_buffer *owner;
    void *panels; /* of @, packed, if data is there */
} ftb_held;

/* Rows h->first and on of a block, whose values are at h->data, as panels of FTB_PANEL columns, each nrows x
 * FTB_PANEL of `type`, the last one filled up with zeros; ftb_new()ed. (check.c) */
GrB_Info ftb_held_pack(void **panels, const ftb_program *p, const ftb_held *h, FtB_Type type);

typedef struct ftb_known { /* a name the program was compiled for */
    char name[FTB_NAME_LENGTH];
    FtB_Type type;
    int64_t width;
    bool used;
    int value; /* -1 while there is none */
} ftb_known;

struct ftb_program {
    FtB_Context ctx;
    char *what, *text;
    int nnames, nvalues, ncodes, nargs, nblocks, nconstants, room, room_args;
    ftb_known *names;
    ftb_value *values;
    ftb_code *codes;
    int *args;
    ftb_held *blocks;
    uint64_t *constants; /* one cell each */
    int root, nregs;
    int64_t *reg_cells; /* 8-byte cells per item of each register */
    int64_t tile;       /* items that are run together */
    int64_t uniform_cells;
};

/* Room for a program of so many values and arguments; NULL on failure. */
ftb_program *ftb_program_make(FtB_Context ctx, const ftb_expr *e, int count, const ftb_name *names, int room,
                              int room_args);
/* These return a value's number. There is always room: the caller has counted. */
int ftb_program_constant(ftb_program *p, FtB_Type type, uint64_t cell);
int ftb_program_operand(ftb_program *p, int name);
/* Adds a code, or its value where all arguments are constants. */
int ftb_program_emit(ftb_program *p, ftb_code code, FtB_Type type, int64_t width, int count, const int *args);
int ftb_program_cast(ftb_program *p, int value, FtB_Type type);
/* Drops what the root does not need and assigns registers. */
GrB_Info ftb_program_finish(ftb_program *p, int root);

/* *cell = a code of constants, each one value at values[]; `type` and `in`: compute types of the result and
 * of the first argument. As kernels of the CPU compute it, bit for bit. (fold.c) */
void ftb_fold(uint64_t *cell, const ftb_code *code, FtB_Type type, FtB_Type in, const void *const *values);

#endif

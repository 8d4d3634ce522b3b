/* Expressions: text -> tree (parse.c) -> typed program (check.c) -> values (cpu/interpreter.c).
 *
 * A tree knows names but no types. A program is a tree compiled for given operand dtypes and widths:
 * a list of typed instructions over registers, run on batches of items. Arithmetic is done in BOOL
 * (uint8_t 0/1), INT64, UINT64, FP32 and FP64; operands come in these types. */
#ifndef FTB_EXPR_H
#define FTB_EXPR_H

#include "core/core.h"

typedef struct ftb_expr ftb_expr;       /* parsed text; immutable, reference-counted */
typedef struct ftb_program ftb_program; /* compiled; immutable */

/* A name that a program may use. */
typedef struct ftb_name {
    const char *name;
    FtB_Type type; /* dtype as stored (typing looks at its bits); operands come as its compute type */
    int64_t width; /* values per item */
    bool block;    /* the whole block is meant: usable right of @ and as name[i], name[j], name[k], name[e] */
    FtB_Block rows; /* the block, when `block` */
    bool constant;  /* a bound scalar: takes the precision of what it meets, as a literal does */
    bool later;     /* of `rows` nothing but the shape is known: whoever runs the program has the values */
} ftb_name;

/* What an operand holds when a program is run: item t's first value is at data + t * stride values. */
typedef struct ftb_operand {
    const void *data; /* of the name's compute type */
    int64_t stride;   /* values from one item to the next; 0: the same for all items */
} ftb_operand;

/* Parses text. `what` names it in messages ("semiring", "epilogue"); positions in messages count from
 * column `column0` + 1. */
GrB_Info ftb_expr_parse(ftb_expr **e, FtB_Context ctx, const char *text, const char *what, int column0);
ftb_expr *ftb_expr_retain(ftb_expr *e);
void ftb_expr_release(ftb_expr *e);
const char *ftb_expr_text(const ftb_expr *e);
bool ftb_expr_uses(const ftb_expr *e, const char *name);
/* True if exchanging the names of each pair leaves the value unchanged bit for bit (structural
 * equality after ordering the operands of commutative operators). pairs: a,b, i,j, di,dj, ... NULL-ended. */
bool ftb_expr_symmetric(const ftb_expr *e, const char *const *pairs);
/* The same up to the order of the parts of a [...]: permutation[p] is the part that part p becomes when
 * the names are exchanged ([1, a, b, a*b] -> 0, 2, 1, 3). False if there is none, or more parts than `room`.
 */
bool ftb_expr_swap(const ftb_expr *e, const char *const *pairs, int room, int *permutation);

/* Compiles for operands; errors name the text, column, and what is known here. The order of `names`
 * is the order of the operands when run. `integers_wide`: integer results accumulate (plus/times): the
 * components of a [...] that mixes integers and floats become FP64. */
GrB_Info ftb_program_new(ftb_program **p, FtB_Context ctx, const ftb_expr *e, int count,
                         const ftb_name *names, bool integers_wide);
void ftb_program_delete(ftb_program *p);
FtB_Type ftb_program_type(const ftb_program *p); /* compute type of the result */
int64_t ftb_program_width(const ftb_program *p); /* values per item of the result */
bool ftb_program_uses(const ftb_program *p, int name);
/* Whether value f of a result depends on values f of the operands alone, so that items may be single values.
 */
bool ftb_program_elementwise(const ftb_program *p);
/* That every block which the text indexes by names[...] `index`, such as norm[i], has at least `extent`
 * rows. To be called for each index before running: a machine does not look. */
GrB_Info ftb_program_check_rows(const ftb_program *p, const char *index, int64_t extent);

/* Most items of a batch that a program is run on: registers of FP64 stay in 8 KB, a few of them in L1. */
#define FTB_BATCH 1024

/* P(X >= x), X hypergeometric: marked among n drawn of N of which K are marked; NaN for impossible
 * arguments. In texts: hypergeom_sf([x, N, K, n]). (hypergeometric.c) */
double ftb_hypergeom_sf(double x, double N, double K, double n);

/* ---- monoids (monoid.c, semirings/monoids.def) */

typedef enum ftb_monoid {
    FTB_PLUS,
    FTB_TIMES,
    FTB_MIN,
    FTB_MAX,
    FTB_ANY,
    FTB_OR,
    FTB_AND,
    FTB_XOR,
    FTB_XNOR,
    FTB_NMONOIDS
} ftb_monoid;

typedef struct ftb_reducer {
    ftb_monoid monoid;
    bool mean; /* finish: h / count */
    bool arg;  /* argmin, argmax: the winning k rides along */
} ftb_reducer;

GrB_Info ftb_reducer_parse(ftb_reducer *r, const char *name, size_t length);
const char *ftb_monoid_name(ftb_monoid m);
/* The type that sums of messages of compute type `t` are kept in (plus over BOOL -> INT64, or -> BOOL). */
FtB_Type ftb_monoid_type(ftb_monoid m, FtB_Type t);
void ftb_monoid_identity(ftb_monoid m, FtB_Type t, void *value);
bool ftb_monoid_idempotent(ftb_monoid m); /* x and x give x */
/* GraphBLAS's built-in monoids; GrB_DOMAIN_MISMATCH for others. type: the one it works in. */
GrB_Info ftb_monoid_from_grb(ftb_monoid *m, FtB_Type *type, GrB_Monoid monoid);
/* Slot: text or GrB_Monoid. *type 0: whatever the operand's gives. */
GrB_Info ftb_arg_monoid(ftb_monoid *m, FtB_Type *type, FtB_Arg arg, const char *name);

/* ---- semirings and operators */

#define FTB_NAME_MAX 31                    /* characters of a name in a text */
#define FTB_NAME_LENGTH (FTB_NAME_MAX + 5) /* room for one, with [i] or ' behind it */
typedef struct ftb_bound {                 /* one binding */
    char name[FTB_NAME_LENGTH];
    FtB_Type type; /* INT64 or FP64 scalar, or the block's */
    int64_t integer;
    double real;
    FtB_Block block; /* a view of ours, or NULL for a scalar */
} ftb_bound;

struct FtB_Semiring_opaque {
    uint32_t magic;
    FtB_Context ctx;  /* NULL: immortal; its text is parsed at each use */
    const char *name; /* immortal ones: "plus_times", else NULL */
    const char *text;
    ftb_reducer reducer;
    ftb_expr *message; /* NULL for a C function and for immortal ones */
    FtB_Message_function function;
    FtB_Message_gradient gradient; /* of function, or NULL */
    const void *theta;
    int64_t function_width;
    FtB_Type domain; /* 0, or the type that inputs are cast to (GraphBLAS built-ins) */
    int nbound;
    ftb_bound *bound;
};

struct FtB_Op_opaque {
    uint32_t magic;
    FtB_Context ctx;  /* NULL: immortal; its text is parsed at each use */
    const char *text; /* of immortal ones, else NULL */
    ftb_expr *body;
    FtB_Type domain; /* 0, or the type that inputs are cast to (GraphBLAS built-ins) */
    int nbound;
    ftb_bound *bound;
};
extern struct FtB_Op_opaque ftb_plus_fp32, ftb_plus_fp64; /* immortal: x + y, as GraphBLAS's of the type */

/* Slots, resolved to a handle that the caller owns and frees with FtB_Semiring_free / FtB_Op_free:
 * FtB_Semiring (also immortal), GrB_Semiring built-in, text. */
GrB_Info ftb_arg_semiring(FtB_Semiring *s, FtB_Arg arg, const char *name);
/* What results of a semiring over a GraphBLAS domain, computed in `type`, wrap to: a domain of fewer bits
 * where both are integers (comparisons of integers give truths); 0: they do not. */
FtB_Type ftb_semiring_wraps_to(const struct FtB_Semiring_opaque *s, FtB_Type type);
/* FtB_Op, GrB_BinaryOp built-in, text; optional: NULL for an empty slot. */
GrB_Info ftb_arg_op(FtB_Op *op, FtB_Arg arg, const char *name, bool optional);
/* Whether op is x + y and its like on values of `type`, which is one that monoids work in: then *m. */
bool ftb_op_is_monoid(ftb_monoid *m, const struct FtB_Op_opaque *op, FtB_Type type);
/* Appends the bound names to names[] (room for `room`), and their constant operands (scalars: stride 0,
 * data inside bound[]); returns the new count, or -1 if there is no room. */
int ftb_bound_names(int nbound, const ftb_bound *bound, ftb_name *names, ftb_operand *operands, int count,
                    int room);

#endif

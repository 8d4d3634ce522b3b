/* Sparse x sparse products and projections: what the verb `spgemm` computes.
 *
 *     C(i, j) = epilogue(reduce over k of message(left(i, k), right(k, j)), ...), filtered by row
 *
 * Rows go to a sink, in ascending order, ascending columns in each; `keep_rows` names those that have
 * entries. Values of the operands are where the one who runs it reaches them (`a`, `b`, `m`); everything else
 * is the host's: patterns, figures of vertices, and the message in the forms that the host's kernels know
 * (`p`, tables, factors), which another backend may read or leave. No device is asked for messages that are C
 * functions. */
#ifndef FTB_SPGEMM_PRODUCT_H
#define FTB_SPGEMM_PRODUCT_H

#include "core/arena.h"
#include "core/mask.h"
#include "core/sink.h"
#include "expr/range.h"
#include "plan/spgemm_plan.h"

/* Per-vertex figures that expressions may use; NULL where not known. */
typedef struct ftb_vertices {
    int64_t *degree;
    double *sum, *square;
} ftb_vertices;

#define FTB_MOST_CODES 64 /* distinct values of an operand that are tabulated */

enum { /* names of messages */
       FTB_NAME_A,
       FTB_NAME_B,
       FTB_NAME_M,
       FTB_NAME_I,
       FTB_NAME_J,
       FTB_NAME_K,
       FTB_NAME_DI,
       FTB_NAME_DJ,
       FTB_NAME_DK,
       FTB_NAME_SI,
       FTB_NAME_SJ,
       FTB_NAME_SK,
       FTB_NAME_NROWS,
       FTB_NAME_NCOLS,
       FTB_MESSAGE_NAMES
};
#define FTB_BOUND_ROOM 24 /* bindings that one product takes */

/* A message that is a program, or a C function. */
typedef struct ftb_sparse_message {
    ftb_program *program; /* NULL: function */
    const struct FtB_Semiring_opaque *semiring;
    int count; /* names */
    ftb_name names[FTB_MESSAGE_NAMES + FTB_BOUND_ROOM];
    ftb_operand fixed[FTB_MESSAGE_NAMES + FTB_BOUND_ROOM]; /* the uniform ones */
    int index[FTB_MESSAGE_NAMES]; /* place of each name in names[], -1: not known here */
    bool used[FTB_MESSAGE_NAMES];
    int64_t awidth, bwidth; /* values per entry, at least 1 */
    FtB_Type atype, btype;  /* compute types */
} ftb_sparse_message;

enum { /* names of epilogues and filters */
       FTB_ROW_H,
       FTB_ROW_H0,
       FTB_ROW_H7 = FTB_ROW_H0 + 7,
       FTB_ROW_I,
       FTB_ROW_J,
       FTB_ROW_DI,
       FTB_ROW_DJ,
       FTB_ROW_SI,
       FTB_ROW_SJ,
       FTB_ROW_QI,
       FTB_ROW_QJ,
       FTB_ROW_NROWS,
       FTB_ROW_NCOLS,
       FTB_ROW_W,
       FTB_ROW_NAMES
};

/* What happens to a row before it is stored. */
typedef struct ftb_finish {
    bool drop_diagonal, upper_only;
    const uint8_t *keep;           /* columns to keep; NULL: all */
    ftb_program *epilogue, *where; /* NULL: h, all */
    bool use_min;
    double min_weight;
    int64_t top_k;
    bool use_top_k;
    bool two_sided;             /* top-k: the triangle serves both of its ends (spgemm_topk.c) */
    FtB_Type wrap;              /* integers of a GraphBLAS semiring wrap to this type first; 0: no */
    FtB_Type in_type, out_type; /* compute types */
    int64_t in_width, out_width;
    const ftb_vertices *rows, *cols;
    int64_t nrows, ncols;        /* as expressions see them */
    bool used[2][FTB_ROW_NAMES]; /* by epilogue, by where */
} ftb_finish;

/* What the message is, as far as kernels are concerned. */
typedef enum ftb_spgemm_kind {
    FTB_MESSAGE_PAIR,   /* 1: cells are uint32_t counts */
    FTB_MESSAGE_TIMES,  /* a * b, cells FP32 or FP64 */
    FTB_MESSAGE_TABLE,  /* table[code of a][code of b], `cell_width` FP32, FP64 or UINT64 */
    FTB_MESSAGE_PROGRAM /* any: an expression or a C function, run on batches (cpu/spgemm_batch.c) */
} ftb_spgemm_kind;

/* A product, laid out for the kernels. Entry x of the left operand, in row i, meets right entries
 * [first, last) of row k = acol[x]. */
typedef struct ftb_spgemm {
    FtB_Context ctx;
    int64_t nrows, ncols; /* of the product */
    /* left operand */
    const int64_t *arow;  /* nrows + 1 */
    const void *acol;     /* k of each entry */
    bool awide;           /* acol is int64_t, else int32_t */
    const int64_t *aperm; /* where entry x's value (and code) is; NULL: at x */
    const void *aval;     /* values or codes; NULL: every entry is 1 */
    /* right operand */
    const int64_t *brow;
    const int64_t *bstart; /* triangle: right entry from which row x starts, less `skip`; NULL: brow[k] */
    int64_t skip;
    const void *bid; /* ids, uint16_t if id16, else uint32_t */
    bool id16;
    const void *bval;      /* values or codes; NULL: every entry is 1 */
    int64_t nids;          /* ids are below this */
    const uint32_t *order; /* id -> dense column; NULL: the same */
    const uint32_t *rank;  /* dense column -> id; NULL: the same */
    const int64_t *column; /* dense column -> column of the product; NULL: the same */
    /* message and cells */
    ftb_spgemm_kind message;
    FtB_Type cell;      /* UINT32, FP32, FP64, UINT64 (see ftb_packed); PROGRAM: the reducer's type */
    int64_t cell_width; /* values per cell; TABLE: 1, 2, 4 or 8 */
    const void *table;  /* TABLE: [code a][code b][cell_width] */
    int64_t table_row;  /* values from one code of a to the next */
    int64_t table_rows; /* codes of a */
} ftb_spgemm;

/* Several sums in the bit fields of one or two words: whole numbers of units, from 0 up, of which no field
 * can overflow. Six sums take half of the accumulator that they would as FP32, and every add moves half the
 * bytes. Word 0 of a cell that holds a value is not 0. */
typedef struct ftb_packed {
    int words, width; /* of a cell; values that it holds */
    struct {
        uint8_t word, shift, bits;
        double unit; /* a power of two */
    } field[8];
} ftb_packed;

/* A product: what is computed, and the plan for it. Once planned, it stays as it is. */
typedef struct ftb_spgemm_product {
    FtB_Context ctx;
    ftb_spgemm p;
    ftb_spgemm_facts facts;
    ftb_spgemm_plan plan;
    ftb_sparse_message message;
    ftb_reducer reducer;
    FtB_Semiring semiring;  /* owned */
    FtB_Type sum_type;      /* the reducer's type = compute type of h */
    int64_t width;          /* of h */
    bool constant;          /* idempotent reducer of a constant: h is the constant */
    char constant_value[8]; /* in sum_type */
    bool counted;           /* the sink takes statistics of rows in place of rows */
    int64_t reserve;        /* bytes that will be held beside the plan's: the least of the sink's */
    bool named;             /* a weight, not a text: FP64 where whole numbers may wrap */
    FtB_Sink winners;       /* also gets the winning k of every entry; borrowed; NULL: not wanted */
    /* Retained; transposed where asked; of listed rows (core/hypersparse.h) those alone, where left's columns
     * are places in right's list. */
    ftb_pattern *left, *right;
    FtB_Matrix A, B;           /* borrowed */
    const void *a, *b, *m;     /* values of A, B and the mask; NULL: there are none */
    const int64_t *left_from;  /* left entry -> entry of A; NULL: the same */
    const int64_t *right_from; /* right entry -> entry of B; NULL: the same */
    bool self;                 /* B is A, one of them transposed: C = C' if the message is symmetric */
    int swap[8];               /* component of h that (j, i) has where (i, j) has the index; when symmetric */
    const void *dual_table;    /* table of [f(a,b), f(b,a)]: a triangle gives both halves; NULL: none */
    int64_t dual_row;
    struct { /* what hot columns sum: unit * left[code a] * right[code b], or table[left][right] */
        double unit;
        uint8_t left[FTB_MOST_CODES],
            right[FTB_MOST_CODES]; /* right: 1 .. FTB_NIBBLE, and left if unit > 0 */
        float (*table)[16];        /* [left][right], -0.0 at right = 0; or NULL */
        float (*back)[16];         /* of messages (b, a), when that makes a difference; else table */
    } factors;
    ftb_packed packed;           /* of a table whose cells are UINT64 */
    bool text_times;             /* the message reads a * b */
    FtB_Matrix mask;             /* of left's rows, not complemented, else NULL; borrowed */
    FtB_Matrix own_mask;         /* where that is not the call's */
    ftb_buffer *columns;         /* p.column, where right's columns are listed; NULL: they are not */
    ftb_mask admits;             /* with a mask: which of its entries do */
    const int64_t *row_products; /* of each output row, in full */
    const uint8_t *keep_rows;    /* rows to compute; NULL: all */
    ftb_vertices rows, cols, inner;
    ftb_finish finish;
    ftb_range h[FTB_ROW_H7 + 1]; /* of all of h, of h0, h1, ...; of whole numbers */
    ftb_arena arena;             /* freed with the product */
} ftb_spgemm_product;

#endif

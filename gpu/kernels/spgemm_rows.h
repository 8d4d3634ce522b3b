/* What the host and the kernels of sparse x sparse products agree on. Read by C, nvcc and NVRTC.
 *
 * A chunk of rows is cut into units, a row or a tile of its columns each, in ascending order. What a unit
 * gives has room of its own in the chunk's arrays; it is finished there, selected from, and then packed:
 *
 *     rows    (spgemm_rows.cuh)    columns and cells of units' entries, counts
 *     finish  (spgemm_finish.cuh)  cells -> values; those that filters drop are gone
 *     topk    (spgemm_pack.cu)     the k largest of each row
 *     pack                         without gaps between units, which begin where scan.cu says
 *     tally                        in their place, where only statistics of rows are wanted */
#ifndef FTB_SPGEMM_ROWS_H
#define FTB_SPGEMM_ROWS_H

#include "gpu/kernels/stored_types.h"

/* Columns [first, last) of a row. */
typedef struct ftb_spgemm_unit {
    long long begin, end; /* left entries of the row */
    long long at;         /* where its entries go, which have room there */
    int row, first, last;
    int masked;     /* with a mask: entries of the mask's row, from */
    long long mask; /* this on, in those columns */
} ftb_spgemm_unit;

/* Statistics of a unit's counts; least and most: of the entries that there are. */
typedef struct ftb_spgemm_count {
    unsigned long long sum;
    unsigned nvals, least, most;
} ftb_spgemm_count;

/* Statistics of a row's values, as sinks have them (core/sink.h). */
typedef struct ftb_spgemm_tally {
    long long nvals;
    double sum, min, max;
} ftb_spgemm_tally;
enum { FTB_SPGEMM_TALLY_LANES = 8 };

/* What texts may look up beside values: of vertices of rows, of columns, and in between. */
enum { FTB_SPGEMM_ROW, FTB_SPGEMM_COL, FTB_SPGEMM_INNER, FTB_SPGEMM_SIDES };
enum { FTB_SPGEMM_NUMBERS = 24, FTB_SPGEMM_MOST_VALUES = 8 };
typedef struct ftb_spgemm_figures {
    const long long *degree[FTB_SPGEMM_SIDES]; /* NULL: not used */
    const double *sum[FTB_SPGEMM_SIDES], *square[FTB_SPGEMM_SIDES];
    long long nrows, ncols;
    unsigned long long number[FTB_SPGEMM_NUMBERS]; /* bits of what is bound */
} ftb_spgemm_figures;

typedef struct ftb_spgemm_arguments {
    const ftb_spgemm_unit *units;
    const int *order; /* units in the order in which they are begun */
    long long norder;
    const int *acol;              /* k of each left entry */
    const long long *brow, *bend; /* where row k of B begins, and ends */
    const int *bcol;
    const void *a, *b; /* values or codes, in the order of entries; NULL: every entry is 1 */
    /* With a mask, its columns and what lets an entry through: all do without values, else those of `size`
     * bytes whose `bits` are not all 0. */
    const int *mask_col;
    const void *mask_values;
    int mask_size;
    unsigned long long mask_bits;
    const void *table; /* TABLE: row of code x at table + x * table_row values */
    int table_row;
    int ncols;
    int off_diagonal; /* not 0: entries (i, i) are dropped */
    int lanes;        /* counts: lanes that take a left entry's columns together: 8 or 32 */
    int slots;        /* hash: of a row's table, a power of two, twice its entries at least */
    int *cols;
    void *cells; /* of each entry, as the accumulator has it */
    int *counts; /* entries of each unit */
    /* Counts whose most frequent columns are bits (spgemm_bits.cuh): B's other entries are above. */
    const unsigned *bits;
    const int *hot; /* those columns, ascending */
    int nhot;
    long long ninner;             /* rows of B */
    ftb_spgemm_count *statistics; /* counts: in their place; else NULL */
    ftb_spgemm_figures figures;
} ftb_spgemm_arguments;

/* B in two: entries of frequent columns as bits, and the others, which stay where their rows begin. */
typedef struct ftb_spgemm_hot_arguments {
    const long long *row;
    const int *col;
    const int *id; /* of each column among the frequent ones, or -1 */
    long long nrows;
    int lines;
    unsigned *bits; /* row k's line l at ((l * nrows + k) * 32); id h: line h / 1024, word h % 32 */
    int *rest;      /* columns */
    long long *end; /* of each row's others */
} ftb_spgemm_hot_arguments;

/* What cells hold. */
#define FTB_SPGEMM_COUNT 0 /* 32 bits */
#define FTB_SPGEMM_F32 1   /* `cell_width` each */
#define FTB_SPGEMM_F64 2
#define FTB_SPGEMM_PACKED 3 /* bit fields of one or two words of 64 bits */
#define FTB_SPGEMM_SAME 4   /* the value's own type */

typedef struct ftb_spgemm_field {
    double unit;
    int word, shift, bits;
} ftb_spgemm_field;

typedef struct ftb_spgemm_finish_arguments {
    const ftb_spgemm_unit *units;
    long long nunits;
    int *counts;
    int *cols;
    const void *cells;
    void *values;              /* `width` of an entry, where its cell was */
    const unsigned char *keep; /* columns to keep; NULL: all */
    double least;
    int use_least;
    int cell, cell_width, width;
    int constant; /* not 0: values are `same` whatever the cell holds */
    unsigned long long same;
    ftb_spgemm_field field[8];
    ftb_spgemm_figures figures;
} ftb_spgemm_finish_arguments;

typedef struct ftb_spgemm_pack_arguments {
    const ftb_spgemm_unit *units;
    int *counts;
    long long nunits, nrows;
    const int *first; /* unit of row r of the chunk, nrows + 1 */
    int width;        /* words of an entry's values */
    int *cols;
    void *values;
    const long long *offsets; /* nunits + 1: where units begin when they are packed, of scan.cu */
    int *packed_cols;
    void *packed_values;
    long long k;             /* topk */
    ftb_spgemm_tally *tally; /* of each row */
} ftb_spgemm_pack_arguments;

typedef struct ftb_spgemm_values_arguments {
    const void *stored;
    void *to;
    const long long *from; /* where entry e's are; NULL: at e */
    long long nvals;
    int type; /* FTB_STORED_... (stored_types.h) */
} ftb_spgemm_values_arguments;

/* X(name, message, type, values): a cell's values and how they are made. spgemm_<name>_dense, _hash, _large,
 * _mask.
 */
#define FTB_SPGEMM_SUMS(X)                                                                                   \
    X(times_f32, Times, float, 1)                                                                            \
    X(times_f64, Times, double, 1)                                                                           \
    X(table_f32_1, Table, float, 1)                                                                          \
    X(table_f32_2, Table, float, 2)                                                                          \
    X(table_f32_4, Table, float, 4)                                                                          \
    X(table_f32_8, Table, float, 8)                                                                          \
    X(table_f64_1, Table, double, 1)                                                                         \
    X(table_f64_2, Table, double, 2)                                                                         \
    X(table_f64_4, Table, double, 4)                                                                         \
    X(table_f64_8, Table, double, 8)                                                                         \
    X(table_u64_1, Table, unsigned long long, 1)                                                             \
    X(table_u64_2, Table, unsigned long long, 2)
/* spgemm_pair_dense_<bits of a count>, spgemm_pair_bits_<bits of a count>; spgemm_pair_hash. */
#define FTB_SPGEMM_PAIRS(X) X(16) X(32)
/* X(type, C's): values of entries. spgemm_finish_<type>, spgemm_topk_<type>, spgemm_tally_<type>. */
#define FTB_SPGEMM_VALUES(X)                                                                                 \
    X(f32, float) X(f64, double) X(i64, long long) X(u64, unsigned long long) X(u8, unsigned char)
/* X(bytes of a word, C's). spgemm_pack_<bytes>. */
#define FTB_SPGEMM_WORDS(X) X(1, unsigned char) X(4, unsigned) X(8, unsigned long long)

enum {
    FTB_SPGEMM_BLOCK = 512,       /* most threads of a block of dense rows; a multiple of 32 */
    FTB_SPGEMM_HASH_BLOCK = 128,  /* four rows */
    FTB_SPGEMM_LARGE_BLOCK = 128, /* a row of some hundreds of entries and more */
    FTB_SPGEMM_STEP_BLOCK = 256,  /* of what takes units or rows by warps, and those of more entries than */
    FTB_SPGEMM_LONG = 1024,       /* these by the whole block; rests on no measurement */
    FTB_SPGEMM_LINE = 1024,       /* columns whose bits of a row a warp reads at once */
    FTB_SPGEMM_MOST_LINES = 8
};
/* Bytes of shared memory that a block takes whose warps take units or rows. */
#define FTB_SPGEMM_TEAM_BYTES (FTB_SPGEMM_STEP_BLOCK / 32 * 8)
/* Bytes of shared memory that a block of dense rows takes before its cells: what each warp has found. */
#define FTB_SPGEMM_HEAD_BYTES (FTB_SPGEMM_BLOCK / 32 * 4)
/* Bytes of shared memory that a row's hash takes, a multiple of 8: cells with their marks, columns, the list
 * of those taken. */
#define FTB_SPGEMM_HASH_BYTES(slots, cell) ((long long)(slots) * ((cell) + 8))

/* The same of a larger row, which a block has: a counter, segments, entries in order, columns, cells. */
#define FTB_SPGEMM_LARGE_BYTES(slots, cell)                                                                  \
    (16 + FTB_SPGEMM_LARGE_BLOCK * 16 + (long long)(slots) * ((cell) + 8))
/* The same of a mask's row: as many slots, cells for half of them. */
#define FTB_SPGEMM_MASK_BYTES(slots, cell) ((long long)(slots) * ((cell) / 2 + 1 + 8))

/* Which kernels a text has (spgemm_text.cuh): bits. */
#define FTB_SPGEMM_TEXT_ROWS 1
#define FTB_SPGEMM_TEXT_FINISH 2
#define FTB_SPGEMM_TEXT_MASK 4 /* with ROWS: under a mask */

#endif

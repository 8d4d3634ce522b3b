/* Operators run over the rows of blocks, and the write rule on blocks, both in pieces that stay in L1: what
 * apply, element-wise operations, accumulators and reductions on blocks share. */
#ifndef FTB_BLOCK_MAP_H
#define FTB_BLOCK_MAP_H

#include "ops/block/blocks.h"

#define FTB_BLOCK_PIECE                                                                                      \
    4096 /* values of a piece: three arrays of FP32 fill the L1 cache, FP64 a part of L2 */

/* Rows `row` .. `row + nrows`, columns `col` .. `col + ncols` of a block. */
typedef struct ftb_block_piece {
    int64_t row, nrows, col, ncols;
} ftb_block_piece;

/* How an nrows x ncols block is cut: rows of more than FTB_BLOCK_PIECE values only where `split` allows it.
 */
typedef struct ftb_block_pieces {
    int64_t nrows, ncols;
    int64_t rows, cols; /* of a piece */
    int64_t across;     /* pieces in a row */
    int64_t count;
} ftb_block_pieces;

ftb_block_pieces ftb_pieces_of(int64_t nrows, int64_t ncols, bool split);
ftb_block_piece ftb_piece_at(const ftb_block_pieces *pieces, int64_t p);

/* An operand. Row i is at data + i * ld values, or every row is row 0 (one_row). */
typedef struct ftb_block_operand {
    const char *data;
    FtB_Type type;
    int64_t ncols, ld;
    int64_t heads; /* 1, or as many as the other operand has */
    bool one_row;
} ftb_block_operand;

typedef struct ftb_block_map ftb_block_map;

/* Compiles op over x and y (NULL: unknown to the text) and i; with heads the text is about one of them.
 * Operands without heads beside one with heads: one value, one per head, or one per column of the other;
 * else the same values for every head. */
GrB_Info ftb_block_map_new(ftb_block_map **map, FtB_Context ctx, FtB_Op op, const ftb_block_operand *x,
                           const ftb_block_operand *y, int threads);
void ftb_block_map_delete(ftb_block_map *map);         /* NULL is allowed */
int64_t ftb_block_map_ncols(const ftb_block_map *map); /* of the result */
FtB_Type ftb_block_map_type(const ftb_block_map *map);
/* Whether pieces may hold a part of a row's columns. */
bool ftb_block_map_splits(const ftb_block_map *map);
/* Whether the result's type is one that the machine computes in, so that `out` may be where it is wanted. */
bool ftb_block_map_direct(const ftb_block_map *map);
/* That blocks which the text indexes by i have that many rows. */
GrB_Info ftb_block_map_check(const ftb_block_map *map, int64_t nrows);
/* out = op on the rows of a piece, packed, of the map's type; room for 8 bytes per value. x and y: the
 * piece's first values, where they are not at the place given to ftb_block_map_new, else NULL. out may not
 * be an operand's memory. */
void ftb_block_map_run(const ftb_block_map *map, int thread, const ftb_block_piece *piece, const void *x,
                       const void *y, void *out);

typedef struct ftb_block_writer ftb_block_writer;

/* The write rule of ftb_block_write, to be fed piece by piece: all that can fail has then been done. ld: of
 * T's rows in a piece (of its own columns where pieces are packed). */
GrB_Info ftb_block_writer_new(ftb_block_writer **writer, FtB_Block C, FtB_Block M, const ftb_flags *flags,
                              FtB_Op accum, FtB_Type type, int64_t ld, const int64_t *present, int threads);
void ftb_block_writer_delete(ftb_block_writer *writer); /* NULL is allowed */
bool ftb_block_writer_splits(const ftb_block_writer *writer);
/* Whether all rows of T go to C as they are. */
bool ftb_block_writer_plain(const ftb_block_writer *writer);
/* T: the piece's first value. */
void ftb_block_writer_run(const ftb_block_writer *writer, int thread, const ftb_block_piece *piece,
                          const void *T);

/* How memory that is read relates to a block that is written. */
typedef enum ftb_alias {
    FTB_ALIAS_NONE,  /* no byte is shared */
    FTB_ALIAS_SAME,  /* row by row the same values: a piece may be read before it is written */
    FTB_ALIAS_OTHER, /* must be copied first */
} ftb_alias;
ftb_alias ftb_block_alias(FtB_Block C, FtB_Block X);
/* A packed copy of X. */
GrB_Info ftb_block_copy(FtB_Block *copy, FtB_Context ctx, FtB_Block X);
/* Gives op, a handle of ours, copies of its bound blocks that share bytes with C. */
GrB_Info ftb_op_unalias(FtB_Op op, FtB_Context ctx, FtB_Block C);

/* The operations, once a slot turned out to hold a block. */
struct ftb_slots;
GrB_Info ftb_block_elementwise(const struct ftb_slots *slots);

#endif

/* Operators over the rows of blocks, on plain memory, in pieces that stay in L1: what apply, element-wise
 * operations, accumulators and scattering share. */
#ifndef FTB_APPLY_RUN_H
#define FTB_APPLY_RUN_H

#include "verbs/apply_product.h"

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

typedef struct ftb_block_map ftb_block_map;

/* Compiles the product's op, unless it was, and runs it. Allocates all that it needs before anything is
 * written; what starts then is not cancelled. */
GrB_Info ftb_apply_run(const ftb_apply_product *product);

/* Compiles op over x and y (NULL: unknown to the text) and i; with heads the text is about one of them.
 * Operands without heads beside one with heads: one value, one per head, or one per column of the other;
 * else the same values for every head. */
GrB_Info ftb_block_map_new(ftb_block_map **map, FtB_Context ctx, FtB_Op op, const ftb_block_operand *x,
                           const ftb_block_operand *y, int threads);
void ftb_block_map_delete(ftb_block_map *map); /* NULL is allowed */
int ftb_block_map_threads(const ftb_block_map *map);
int64_t ftb_block_map_ncols(const ftb_block_map *map); /* of the result */
FtB_Type ftb_block_map_type(const ftb_block_map *map);
/* Whether each value is of the operands' in its place alone. */
bool ftb_block_map_elementwise(const ftb_block_map *map);
bool ftb_block_map_uses_i(const ftb_block_map *map);
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

#endif

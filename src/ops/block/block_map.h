/* The write rule on blocks, piece by piece, and what shares memory with an output. */
#ifndef FTB_BLOCK_MAP_H
#define FTB_BLOCK_MAP_H

#include "cpu/block/write_run.h"
#include "ops/block/blocks.h"

/* The write rule of ftb_block_write, to be fed piece by piece: all that can fail has then been done. ld: of
 * T's rows in a piece (of its own columns where pieces are packed). */
GrB_Info ftb_block_writer_new(ftb_block_writer **writer, FtB_Block C, FtB_Block M, const ftb_flags *flags,
                              FtB_Op accum, FtB_Type type, int64_t ld, const int64_t *present, int threads);

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

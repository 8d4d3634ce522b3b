/* What the host and the kernels of sparse x block, hybrid form (spmm_hybrid.cuh), agree on. Read by C, nvcc
 * and NVRTC, which has no headers: hence long long. */
#ifndef FTB_SPMM_HYBRID_H
#define FTB_SPMM_HYBRID_H

#include "gpu/kernels/spmm_direct.h"

/* A block of threads takes so many pieces of rows, of which a group of lanes has as many as lanes. Threads of
 * a block, and blocks that a multiprocessor is to hold: 64 registers a thread. Tiles of columns in shared
 * memory at a time. */
enum {
    FTB_SPMM_HYBRID_PIECES = 512,
    FTB_SPMM_HYBRID_BLOCK = 512,
    FTB_SPMM_HYBRID_BLOCKS = 2,
    FTB_SPMM_HYBRID_STAGES = 2,
    FTB_SPMM_HYBRID_STEP = 8 /* pieces that are found together: the lanes of the smallest group */
};

/* Pieces are numbered as `direct` has them; block b has those from FTB_SPMM_HYBRID_PIECES * b on, and the
 * tiles from tile_start[b] on. `direct` is what the direct kernel is given for the entries that are in no
 * tile, but for weights, which are those of the entries of tiles. What those sum up to goes to its start and
 * partial; y is not written. */
typedef struct ftb_spmm_hybrid_arguments {
    ftb_spmm_direct_arguments direct;
    const int *tile_start;         /* blocks + 1 */
    const int *column_start;       /* of each tile, in columns; tiles + 1 */
    const int *columns;            /* their sources */
    const int *entry_start;        /* of each tile and step of pieces, in entries */
    const unsigned short *count;   /* entries of each tile and piece of the block */
    const unsigned short *entries; /* of tiles: the place of the column in its tile */
    int tile;                      /* columns of a tile at most */
} ftb_spmm_hybrid_arguments;

/* Values of entries in the order of the form: entry k's are those of order[k]. A block of threads has
 * 2^shift of them side by side for the heads of an entry, and FTB_SPMM_HYBRID_WEIGHTS_BLOCK >> shift entries.
 */
typedef struct ftb_spmm_hybrid_weights {
    const int *order;
    const float *w; /* as the direct form has them */
    const long long *from;
    float *to; /* `heads` an entry */
    long long ldw;
    int entries, heads, shift;
} ftb_spmm_hybrid_weights;
enum { FTB_SPMM_HYBRID_WEIGHTS_BLOCK = 256 };

/* Every variant: X(stored, reduce, edge, lanes, values), as in the direct form, in FP32. What is asked of
 * memory for 4 values is as in the direct form. The kernel is called
 * spmm_hybrid_<stored>_<reduce>_<edge>_<lanes>x<values>; its grid is (blocks, d / (lanes * values) rounded
 * up), its dynamic shared memory FTB_SPMM_HYBRID_STAGES x tile x lanes x values values as stored.
 * spmm_hybrid_weights orders values. */
#define FTB_SPMM_HYBRID_SHAPES(X, stored, reduce, edge)                                                      \
    X(stored, reduce, edge, 8, 4) X(stored, reduce, edge, 16, 1)
#define FTB_SPMM_HYBRID_EDGES(X, stored, reduce)                                                             \
    FTB_SPMM_HYBRID_SHAPES(X, stored, reduce, COPY)                                                          \
    FTB_SPMM_HYBRID_SHAPES(X, stored, reduce, EDGE)                                                          \
    FTB_SPMM_HYBRID_SHAPES(X, stored, reduce, HEADS)
#define FTB_SPMM_HYBRID_STORED(X, stored)                                                                    \
    FTB_SPMM_HYBRID_EDGES(X, stored, PLUS) FTB_SPMM_HYBRID_EDGES(X, stored, BEST)
/* By source: spmm_hybrid.cu, spmm_hybrid_16.cu. */
#define FTB_SPMM_HYBRID_F32(X) FTB_SPMM_HYBRID_STORED(X, f32)
#define FTB_SPMM_HYBRID_16(X) FTB_SPMM_HYBRID_STORED(X, f16) FTB_SPMM_HYBRID_STORED(X, bf16)
#define FTB_SPMM_HYBRID(X) FTB_SPMM_HYBRID_F32(X) FTB_SPMM_HYBRID_16(X)

/* Those by bulk copies (spmm_hybrid_bulk.cu), of 4 values a lane, for GPUs of compute capability 9.0 and
 * later: x, its rows and theirs of the result are multiples of 16 bytes, too. The same bits. Called ..._bulk.
 */
#define FTB_SPMM_HYBRID_BULK_EDGES(X, stored, reduce)                                                        \
    X(stored, reduce, COPY, 8, 4) X(stored, reduce, EDGE, 8, 4) X(stored, reduce, HEADS, 8, 4)
#define FTB_SPMM_HYBRID_BULK_STORED(X, stored)                                                               \
    FTB_SPMM_HYBRID_BULK_EDGES(X, stored, PLUS) FTB_SPMM_HYBRID_BULK_EDGES(X, stored, BEST)
#define FTB_SPMM_HYBRID_BULK(X)                                                                              \
    FTB_SPMM_HYBRID_BULK_STORED(X, f32)                                                                      \
    FTB_SPMM_HYBRID_BULK_STORED(X, f16)                                                                      \
    FTB_SPMM_HYBRID_BULK_STORED(X, bf16)

#endif

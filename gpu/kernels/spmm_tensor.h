/* What the host and the kernels of sparse x block by tensor cores (spmm_tensor.cuh) agree on. Read by C, nvcc
 * and NVRTC. */
#ifndef FTB_SPMM_TENSOR_H
#define FTB_SPMM_TENSOR_H

#include "gpu/kernels/spmm_hybrid.h"

/* A block of threads takes a block of pieces of the hybrid form, a warp 16 rows of it: a strip. Of a tile's
 * sources it has so many features, in parts of 8. Tiles have a multiple of GRAIN sources at most. */
enum {
    FTB_SPMM_TENSOR_BLOCK = 1024,
    FTB_SPMM_TENSOR_ROWS = FTB_SPMM_HYBRID_PIECES / (FTB_SPMM_TENSOR_BLOCK / 32),
    FTB_SPMM_TENSOR_PART = 8,
    FTB_SPMM_TENSOR_FEATURES = 32,
    FTB_SPMM_TENSOR_GRAIN = 32
};

/* Values from one source of a tile to the next, so that lanes of a warp find theirs in banks of their own:
 * of operands of 4 bytes, and of 2. And bytes that a row of a strip has beyond its tile. */
enum { FTB_SPMM_TENSOR_STRIDE_4 = 40, FTB_SPMM_TENSOR_STRIDE_2 = 36, FTB_SPMM_TENSOR_PAD = 16 };

typedef struct ftb_spmm_tensor_arguments {
    ftb_spmm_hybrid_arguments hybrid; /* whose tile is a multiple of GRAIN */
    int dense;   /* a strip is multiplied if it has as many entries and more of 128 places, on average */
    int vectors; /* not 0: x, its rows, starts and partial are aligned to 4 values, and d is a multiple of 4
                  */
} ftb_spmm_tensor_arguments;

/* Bytes of dynamic shared memory, of tiles of so many sources. */
static inline long long ftb_spmm_tensor_shared(long long tile, int stored_bytes, int operand_bytes)
{
    const int stride = operand_bytes == 4 ? FTB_SPMM_TENSOR_STRIDE_4 : FTB_SPMM_TENSOR_STRIDE_2;
    return FTB_SPMM_HYBRID_STAGES * tile * stride * stored_bytes +
           FTB_SPMM_TENSOR_BLOCK / 2 * (tile * operand_bytes + FTB_SPMM_TENSOR_PAD);
}

/* Every variant: X(stored, operand, edge): how x is stored, what operands are rounded to, and the edges of
 * the direct form; HEADS has a multiple of 8 features a head. The kernel is called
 * spmm_tensor_<stored>_<operand>_PLUS_<edge>; its grid is (blocks, d / FEATURES rounded up), its dynamic
 * shared memory ftb_spmm_tensor_shared. */
#define FTB_SPMM_TENSOR_EDGES(X, stored, operand)                                                            \
    X(stored, operand, COPY) X(stored, operand, EDGE) X(stored, operand, HEADS)
/* By source: spmm_tensor.cu, spmm_tensor_16.cu. */
#define FTB_SPMM_TENSOR_F32(X)                                                                               \
    FTB_SPMM_TENSOR_EDGES(X, f32, tf32)                                                                      \
    FTB_SPMM_TENSOR_EDGES(X, f32, f16)                                                                       \
    FTB_SPMM_TENSOR_EDGES(X, f32, bf16)
#define FTB_SPMM_TENSOR_16(X)                                                                                \
    FTB_SPMM_TENSOR_EDGES(X, f16, tf32)                                                                      \
    FTB_SPMM_TENSOR_EDGES(X, f16, f16)                                                                       \
    FTB_SPMM_TENSOR_EDGES(X, bf16, tf32)                                                                     \
    FTB_SPMM_TENSOR_EDGES(X, bf16, bf16)
#define FTB_SPMM_TENSOR(X) FTB_SPMM_TENSOR_F32(X) FTB_SPMM_TENSOR_16(X)

#endif

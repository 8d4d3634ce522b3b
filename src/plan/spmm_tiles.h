/* Tiles of features that kernels of sparse x block have, in vectors of the instruction set. */
#ifndef FTB_SPMM_TILES_H
#define FTB_SPMM_TILES_H

#include <stdint.h>

#define FTB_SPMM_VECTORS 8 /* most vectors of a tile */

/* Numbers of vectors that there are kernels for: Y(arguments..., vectors). */
#define FTB_SPMM_COUNTS(Y, ...)                                                                              \
    Y(__VA_ARGS__, 1)                                                                                        \
    Y(__VA_ARGS__, 2)                                                                                        \
    Y(__VA_ARGS__, 3)                                                                                        \
    Y(__VA_ARGS__, 4)                                                                                        \
    Y(__VA_ARGS__, 6)                                                                                        \
    Y(__VA_ARGS__, 8)

/* The least number of vectors, from `vectors` up, that there are kernels for. (rule_spmm.c) */
int ftb_spmm_round_vectors(int64_t vectors);

#endif

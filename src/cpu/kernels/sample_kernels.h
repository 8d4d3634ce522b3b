/* Draws of sampling (core/draws.h), sixteen at a time: kernels of cpu/sample/sample_run.c and sample_keys.c.
 */
#ifndef FTB_SAMPLE_KERNELS_H
#define FTB_SAMPLE_KERNELS_H

#include "core/isa.h"

#include <stdbool.h>
#include <stdint.h>

#define FTB_PICK_ROWS 16 /* rows that are picked of side by side */
#define FTB_PICK_MOST 64 /* picks of a row; more are made row by row */

/* Rows whose picks are made together. */
typedef struct ftb_pick_rows {
    uint64_t vertex[FTB_PICK_ROWS], seed[FTB_PICK_ROWS], stream[FTB_PICK_ROWS];
    uint32_t degree[FTB_PICK_ROWS];
} ftb_pick_rows;

/* at[t * FTB_PICK_ROWS + r]: k positions below degree[r], ascending in t; without `replace` all differ (of
 * rows with no more than k positions, nothing is said). */
FTB_CELLS(void, ftb_pick_uniform, (int32_t * at, const ftb_pick_rows *rows, int64_t k, bool replace))
/* place[d * FTB_PICK_ROWS + r] and fraction: floor(u n) and its 32 bits below the point, of u = (draw 4 block
 * + d of 64 bits) / 2^64, n = degree[r], 0 <= d < 4; block < 2^23. */
FTB_CELLS(void, ftb_pick_places,
          (uint32_t * place, uint32_t *fraction, const ftb_pick_rows *rows, uint64_t block))
/* word[t] = draw first + t of a vertex, t < count; `first` is a multiple of 4. */
FTB_CELLS(void, ftb_draw_words,
          (uint32_t * word, uint64_t seed, uint64_t vertex, uint64_t stream, int64_t first, int64_t count))
/* word[t] = draw 0 of vertex[t], t < FTB_PICK_ROWS. */
FTB_CELLS(void, ftb_draw_vertices, (uint32_t * word, uint64_t seed, const int64_t *vertex, uint64_t stream))
/* key[t] = E / weight[t] with E exponential, E = -log((word[t] + 1/2) / 2^32), NaN for a weight of 0; key
 * may be weight. */
FTB_CELLS(void, ftb_draw_keys, (double *key, const uint32_t *word, const double *weight, int64_t count))

#endif

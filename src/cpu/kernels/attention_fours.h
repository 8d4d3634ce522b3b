/* Fused attention and its gradient, of four heads of sixteen features together, FP32. */
#ifndef FTB_CPU_ATTENTION_FOURS_H
#define FTB_CPU_ATTENTION_FOURS_H

#include "cpu/kernels/attention_kernels.h"

#define FTB_FOURS 64 /* values of four heads */
/* What is kept of a row: its values of four heads, the weighted sums, and sixteen lanes each of the greatest
 * score and of the sum of exponentials. */
#define FTB_FOURS_STATE (2 * FTB_FOURS + 2 * FTB_LANES)
/* For gradients: y and y_values, and what is added to theirs; over rows in place of the last -lse and -delta.
 */
#define FTB_FOURS_GRAD_STATE (4 * FTB_FOURS)
/* Values of a source's row where lse and delta are of sources: -lse and -delta of four heads come last. */
#define FTB_FOURS_SOURCE (2 * FTB_FOURS + FTB_LANES)

/* Of four heads. Sources' rows are their 64 keys, then their 64 values, mixed; or, of gradients by source,
 * FTB_FOURS_SOURCE values. */
typedef struct ftb_fours_job {
    const ftb_attention_job *a; /* visits, scale, dropout; heads is 4 */
    const float *x;
    float *state; /* FTB_FOURS_STATE values for each row from first_row on, or FTB_FOURS_GRAD_STATE */
    int64_t first_row;
} ftb_fours_job;

/* Feature f of head h becomes value 4 f + h: of `rows` rows, ld values apart. (attention_fours.c) */
FTB_CELLS(void, ftb_fours_mix, (float *to, int64_t to_ld, const float *from, int64_t from_ld, int64_t rows))
/* States of rows first .. last - 1 before the first visit, and what they come to: a's acc, the weighted
 * means, and most, the log of the sum of exponentials; for rows without visits as well. */
FTB_CELLS(void, ftb_fours_begin, (const ftb_fours_job *f, int64_t first, int64_t last))
FTB_CELLS(void, ftb_fours_end, (const ftb_fours_job *f, int64_t first, int64_t last))
/* Adds visits first .. last - 1 to the states. */
FTB_CELLS(void, ftb_attention_fours, (const ftb_fours_job *f, int64_t first, int64_t last))

/* The same of gradients, which come to a's grad, and acc where it is wanted. (attention_grad_fours.c) */
FTB_CELLS(void, ftb_fours_grad_begin, (const ftb_fours_job *f, int64_t first, int64_t last))
FTB_CELLS(void, ftb_fours_grad_end, (const ftb_fours_job *f, int64_t first, int64_t last))
FTB_CELLS(void, ftb_attention_grad_fours, (const ftb_fours_job *f, int64_t first, int64_t last))
/* -lse and -delta of `rows` sources from `first` on, each eight values. */
FTB_CELLS(void, ftb_fours_less,
          (float *to, int64_t to_ld, const ftb_attention_job *a, int64_t first, int64_t rows))

#endif

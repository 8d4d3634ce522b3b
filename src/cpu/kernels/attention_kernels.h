/* Kernels of fused attention: softmax over the entries of a row, times rows of values, nothing stored per
 * entry. */
#ifndef FTB_CPU_ATTENTION_H
#define FTB_CPU_ATTENTION_H

#include "core/isa.h"
#include "cpu/kernels/heads.h"

#include <stdbool.h>

/* Fills scores of `count` entries of row `row` from entry `entry` on: count x heads values. */
typedef void (*ftb_attention_scores)(void *arg, int64_t row, int64_t entry, int64_t count, void *out);

/* What forward and backward have in common. Widths are of a head, as ftb_lanes_width gives them; x is of
 * sources, y of rows, ld values apart. */
typedef struct ftb_attention_job {
    ftb_visits visits;
    int64_t heads, width, value_width;
    const void *y, *x, *x_values; /* what scores are made of: heads x width; the sources' values */
    int64_t yld, xld, x_values_ld;
    bool add; /* score = leaky_relu(x + y, slope), of width 1; else scale * dot(x, y) */
    double scale, slope;
    ftb_attention_scores scores; /* any other; NULL: one of the above */
    uint32_t drop;               /* a draw below it drops the entry from a head; 0: none is */
    double kept;                 /* 1 / (1 - probability) */
    uint64_t seed;
    int64_t first_head;      /* of these heads, among all */
    const int64_t *entry_of; /* an entry's number in draws; NULL: its own */
    /* forward: state of each row, state_ld (or acc_ld) values apart */
    void *most, *sum; /* of its heads: the greatest score, and the sum of exponentials less it */
    int64_t state_ld;
    void *acc; /* heads x value_width: the sum of exponentials times values */
    int64_t acc_ld;
    /* backward */
    bool backward;
    const void *y_values; /* heads x value_width: of rows */
    int64_t y_values_ld;
    const void *lse, *delta; /* heads: of rows, or of sources if by_source */
    int64_t lse_ld;
    bool by_source;
    void *grad; /* of y: acc_ld values apart; `acc` is of y_values if not NULL */
    int64_t grad_ld;
} ftb_attention_job;

#define FTB_ATTENTION_EDGES 32 /* entries of a step */
/* Values of scratch that a call needs. */
static inline int64_t ftb_attention_scratch(int64_t heads)
{
    return 5 * (FTB_ATTENTION_EDGES + FTB_LANES) * (heads + 1);
}

/* Adds visits first .. last - 1 to the state. (attention.c) */
FTB_CELLS(void, ftb_attention_f32,
          (const ftb_attention_job *a, int64_t first, int64_t last, void *scratch, void *arg))
FTB_CELLS(void, ftb_attention_f64,
          (const ftb_attention_job *a, int64_t first, int64_t last, void *scratch, void *arg))
/* keep(e, h) times 1 / (1 - probability), or 0, for `count` entries from `entry` on. (attend.c) */
FTB_CELLS(void, ftb_attention_drop_f32,
          (const ftb_attention_job *a, int64_t entry, int64_t count, void *keep))
FTB_CELLS(void, ftb_attention_drop_f64,
          (const ftb_attention_job *a, int64_t entry, int64_t count, void *keep))
/* Adds visits first .. last - 1 to grad and acc. (attention_grad.c) */
FTB_CELLS(void, ftb_attention_grad_f32,
          (const ftb_attention_job *a, int64_t first, int64_t last, void *scratch, void *arg))
FTB_CELLS(void, ftb_attention_grad_f64,
          (const ftb_attention_job *a, int64_t first, int64_t last, void *scratch, void *arg))

#endif

/* The planner's rule for rows that batches gather of a block (features): all of them on the GPU, or some, and
 * the others read from the host's memory. */
#ifndef FTB_PLAN_GPU_FEATURES_H
#define FTB_PLAN_GPU_FEATURES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ftb_gpu_features_facts {
    int64_t nrows, row_bytes;
    int64_t free;   /* bytes of the GPU that nobody has; < 0: not known */
    int64_t coming; /* bytes of a graph that is still to go there */
    int64_t bytes;  /* asked for: rows of so many bytes are kept; 0: as planned; < 0: none */
    double share;   /* or this share of the rows, above 0 */
} ftb_gpu_features_facts;

typedef struct ftb_gpu_features_plan {
    bool whole;    /* the block goes there */
    int64_t nkept; /* else so many rows are kept */
} ftb_gpu_features_plan;

void ftb_rule_gpu_features(ftb_gpu_features_plan *plan, const ftb_gpu_features_facts *facts);

#endif

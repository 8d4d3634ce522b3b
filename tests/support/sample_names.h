/* The names of the kernels of sampling, by their sources. */
#ifndef TESTS_SAMPLE_NAMES_H
#define TESTS_SAMPLE_NAMES_H

#include "gpu/kernels/sample_steps.h"

#include <stdbool.h>
#include <string.h>

/* Calls named(image, kernel) for each of a source's kernels; false: it is none of sampling. */
static inline bool sample_kernels_named(const char *source, const char *image,
                                        void (*named)(const char *image, const char *kernel))
{
    static const struct {
        const char *source, *kernels[8];
    } others[] = {{"gpu/kernels/sample_picks.cu", {"sample_count", "sample_large", "sample_all"}},
                  {"gpu/kernels/sample_keys.cu",
                   {"sample_degrees", "sample_limit", "sample_least", "sample_least_long"}},
                  {"gpu/kernels/sample_weighted.cu",
                   {"sample_weighted_block", "sample_weighted_put", "sample_rest_shares", "sample_rest_keys",
                    "sample_rest_put"}},
                  {"gpu/kernels/sample_order.cu", {"sample_order_count", "sample_order_move"}},
                  {"gpu/kernels/sample_numbers.cu",
                   {"sample_fill", "sample_known", "sample_claim", "sample_give", "sample_read",
                    "sample_row_keys", "sample_row_put"}},
                  {"gpu/kernels/sample_queue.cu",
                   {"sample_queue_seeds", "sample_queue_keys", "sample_queue_tasks", "sample_queue_counts",
                    "sample_queue_totals"}}};
    bool found = false;
    for (size_t n = 0; n < sizeof others / sizeof *others; n++)
        for (int k = 0; k < 8 && others[n].kernels[k] && strcmp(source, others[n].source) == 0; k++) {
            named(image, others[n].kernels[k]);
            found = true;
        }
#define NAMED_SAMPLE(lanes) named(image, "sample_uniform_" #lanes);
#define NAMED_SAMPLE_ROWS(lanes) named(image, "sample_rows_" #lanes);
#define NAMED_SAMPLE_KEYS(name, selector) named(image, "sample_keys_" #name);
#define NAMED_SAMPLE_WEIGHTED(lanes) named(image, "sample_weighted_" #lanes);
#define NAMED_SAMPLE_QUEUE(lanes)                                                                            \
    named(image, "sample_queue_" #lanes);                                                                    \
    named(image, "sample_queue_rows_" #lanes);
    if (strcmp(source, "gpu/kernels/sample_picks.cu") == 0) {
        FTB_SAMPLE_UNIFORM_KERNELS(NAMED_SAMPLE)
    } else if (strcmp(source, "gpu/kernels/sample_numbers.cu") == 0) {
        FTB_SAMPLE_UNIFORM_KERNELS(NAMED_SAMPLE_ROWS)
    } else if (strcmp(source, "gpu/kernels/sample_keys.cu") == 0) {
        FTB_SAMPLE_KEY_KERNELS(NAMED_SAMPLE_KEYS)
    } else if (strcmp(source, "gpu/kernels/sample_weighted.cu") == 0) {
        FTB_SAMPLE_WEIGHTED_KERNELS(NAMED_SAMPLE_WEIGHTED)
    } else if (strcmp(source, "gpu/kernels/sample_queue.cu") == 0) {
        FTB_SAMPLE_QUEUE_KERNELS(NAMED_SAMPLE_QUEUE)
    }
    return found;
}

#endif

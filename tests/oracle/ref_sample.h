/* Sampling, slowly: Philox as its paper has it, each draw of 64 bits, logs in long double, sets as lists. */
#ifndef REF_SAMPLE_H
#define REF_SAMPLE_H

#include "verbs/sample_product.h"

/* Philox4x32-10 of a counter under a key. */
void ref_philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]);
/* A new key: the first two words of counter (a, b) under `seed`. */
uint64_t ref_mix(uint64_t seed, uint64_t a, uint64_t b);

/* What one row is picked of. */
typedef struct ref_row {
    FtB_Selector selector;
    bool replace;
    int64_t k; /* < 0: all */
    double threshold;
    uint64_t seed, vertex, batch, hop;
    int64_t degree;
    const double *weight;  /* of its entries */
    const int64_t *column; /* for LABOR */
    const bool *there;     /* whether an entry is; NULL: all are */
    const int64_t *time;   /* for LAST */
} ref_row;
/* How many; their places in the row, ascending, in memory of malloc. */
int64_t ref_pick(int64_t **place, const ref_row *row);
/* The same by weight, through a table: entry t has below[t] of its part of 2^32, the rest is other[t]'s. */
int64_t ref_pick_through(int64_t **place, const ref_row *row, const int64_t *below, const int64_t *other);

/* The verbs, of products without a key. */
GrB_Info ref_sample(const ftb_sample_product *product);
GrB_Info ref_relabel(ftb_relabel_product *product);

#endif

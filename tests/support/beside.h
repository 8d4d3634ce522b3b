/* Verbs of a GPU that does not exist (support/fake_cuda) beside the host's functions: arrays that are in the
 * memory of both, which each writes its own copy of. */
#ifndef TESTS_BESIDE_H
#define TESTS_BESIDE_H

#include "core/backend.h"
#include "support/fake_gpu.h"
#include "support/rng.h"

typedef struct beside {
    FtB_Type type;
    int64_t count;
    void *host, *device;
} beside;

/* fake_gpu_clean, and the driver has all its memory again. */
int beside_clean(void **state);

beside beside_new(rng *r, FtB_Type type, int64_t count, rng_fill fill);
void *beside_at(const beside *b, bool there, int64_t value);
/* What the device has, to be freed. */
void *beside_fetch(const beside *b);
/* Both have the same bits everywhere; of NaN any. Frees. */
void beside_same(beside *b, const char *what);
/* But for an error of tolerance x (1 + what the host has). */
void beside_near(beside *b, double tolerance, const char *what);
/* Frees, without a look. */
void beside_free(beside *b);
/* Values as tests of steps want them: reals, with zeros of both signs, infinities and NaN among them. */
void beside_odd(rng *r, void *values, FtB_Type type, int64_t count);

#endif

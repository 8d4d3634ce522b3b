/* Tiles of four values a thread, copied to shared memory two at a time and added up the other way round, for
 * tests of how the emulator copies (cases/simt/copies.cu, bulk.cu). */
#ifndef TESTS_SIMT_TILES_H
#define TESTS_SIMT_TILES_H

#include "support/check.h"
#include "support/rng.h"
#include "support/simt/simt.h"

#include <stdio.h>

enum { TILES_THREADS = 64, TILES = 5 };

static float tiles_in[TILES * TILES_THREADS * 4] __attribute__((aligned(16))), tiles_out[TILES_THREADS];

static inline int64_t tiles_run(const char *name, uint64_t seed, simt_report *report)
{
    for (int k = 0; k < TILES * TILES_THREADS * 4; k++)
        tiles_in[k] = (float)(k % 1000);
    simt_memory_add(tiles_in, sizeof tiles_in, "in");
    simt_memory_add(tiles_out, sizeof tiles_out, "out");
    float *i = tiles_in, *o = tiles_out;
    int ntiles = TILES;
    return simt_launch(simt_kernel_find(name), (simt_dim){1, 1, 1}, (simt_dim){TILES_THREADS, 1, 1},
                       2 * TILES_THREADS * 16, (void *[]){&ntiles, &i, &o}, &(simt_options){.seed = seed},
                       report);
}

/* A kernel without mistakes, with so many seeds. */
static inline void tiles_right(const char *name, int seeds)
{
    rng r = rng_new();
    for (int k = 0; k < seeds; k++) {
        simt_report report;
        if (tiles_run(name, rng_bits(&r), &report) != 0) {
            simt_print(&report, stdout);
            fail_msg("%s: faults", name);
        }
        for (int t = 0; t < TILES_THREADS; t++) {
            float sum = 0;
            for (int tile = 0; tile < TILES; tile++)
                for (int f = 0; f < 4; f++)
                    sum += (float)(f + 1) * tiles_in[(tile * TILES_THREADS + TILES_THREADS - 1 - t) * 4 + f];
            assert_true(tiles_out[t] == sum);
        }
    }
}

#endif

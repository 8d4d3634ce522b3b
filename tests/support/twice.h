/* Calls that are made twice: on the host, and on the pretend device. */
#ifndef TWICE_H
#define TWICE_H

#include "core/core.h"
#include "support/pretend.h"
#include "support/rng.h"

enum { ROWS = 60, COLS = 45, HEADS = 4, WIDTH = 16, MOST = 9 };

/* What a call reads and writes, twice: for the host, and for the device. */
typedef struct operands {
    FtB_Matrix A;
    int count;
    FtB_Block X[2][MOST]; /* [on the device][n] */
} operands;

/* The device's call finds operands that never left the host, and else its own. */
extern bool twice_at_home;

/* Adds a block of values in (-1, 1), and returns its place. */
int twice_add(operands *o, rng *r, int64_t nrows, int64_t heads, int64_t width);
FtB_Block twice_block(int64_t nrows, int64_t heads, int64_t width);
void twice_free(operands *o);
/* X's values on the host, whose address stays ours: what was lent is brought home after every verb. */
float *twice_host(FtB_Block X);
void twice_assert_same(const operands *o, const char *what);

enum { ANY = -1, STILL = -2 };
/* Runs a call on the host and on the device. `verbs`: how many the device runs, and then nothing moves;
 * STILL: some, and nothing moves. */
void twice_run(operands *o, GrB_Info (*call)(const operands *o, const FtB_Block *X), int verbs,
               const char *what);

#endif

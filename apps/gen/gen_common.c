/* What the generators share: memory, messages, permutations and values. */
#include "gen/gen.h"
#include "gen/gen_random.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char message[256];

const char *gen_error(void) { return message; }

GrB_Info gen_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return GrB_INVALID_VALUE;
}

GrB_Info gen_nomem(void)
{
    gen_fail("not enough memory for the generated graph");
    return GrB_OUT_OF_MEMORY;
}

void gen_free(gen_graph *g)
{
    free(g->rowptr);
    free(g->colidx);
    free(g->values);
    *g = (gen_graph){0};
}

GrB_Info gen_alloc(gen_graph *g, int64_t nrows, int64_t ncols, int64_t room, gen_values values)
{
    size_t entries = (size_t)(room > 0 ? room : 1);
    gen_graph made = {.nrows = nrows, .ncols = ncols};
    made.rowptr = calloc((size_t)nrows + 1, sizeof(int64_t));
    made.colidx = malloc(entries * sizeof(int32_t));
    made.values = values == GEN_PATTERN ? NULL : malloc(entries * sizeof(float));
    if (!made.rowptr || !made.colidx || (values != GEN_PATTERN && !made.values)) {
        gen_free(&made);
        return gen_nomem();
    }
    *g = made;
    return GrB_SUCCESS;
}

GrB_Info gen_alloc_entries(gen_graph *g, gen_values values)
{
    size_t entries = (size_t)(g->nvals > 0 ? g->nvals : 1);
    int32_t *colidx = realloc(g->colidx, entries * sizeof *colidx);
    if (!colidx)
        return gen_nomem();
    g->colidx = colidx;
    if (values != GEN_PATTERN && !(g->values = malloc(entries * sizeof *g->values)))
        return gen_nomem();
    return GrB_SUCCESS;
}

/* Fisher-Yates from the end: position k swaps with a draw from 0 .. k. */
GrB_Info gen_permutation(int32_t **permutation, int64_t count, uint64_t seed, uint32_t stream)
{
    int32_t *p = malloc((size_t)(count > 0 ? count : 1) * sizeof *p);
    if (!p)
        return gen_nomem();
    for (int64_t k = 0; k < count; k++)
        p[k] = (int32_t)k;
    for (int64_t k = count - 1; k > 0; k--) {
        uint64_t x = gen_word64(gen_random(seed, (uint64_t)k, 0, stream), 0);
        int64_t other = (int64_t)gen_below(x, (uint64_t)k + 1);
        int32_t moved = p[k];
        p[k] = p[other];
        p[other] = moved;
    }
    *permutation = p;
    return GrB_SUCCESS;
}

/* Ratings 0.5, 1.0, ... 5.0 of MovieLens-20M, in ten-thousandths of all, summed up. */
static const uint32_t rating_sums[10] = {120, 460, 600, 1315, 1757, 3902, 5002, 7783, 8551, 10000};

static float rating(uint32_t x)
{
    uint32_t at = (uint32_t)(((uint64_t)x * 10000) >> 32);
    int step = 0;
    while (rating_sums[step] <= at)
        step++;
    return 0.5f * (float)(step + 1);
}

/* The value of (i, j) depends on the pair and the seed alone; on the unordered pair when symmetric. */
void gen_fill_values(gen_graph *g, gen_values values, bool symmetric, uint64_t seed)
{
    if (values != GEN_RATINGS && values != GEN_UNIFORM)
        return;
#pragma omp parallel for schedule(dynamic, 256)
    for (int64_t i = 0; i < g->nrows; i++) {
        for (int64_t e = g->rowptr[i]; e < g->rowptr[i + 1]; e++) {
            uint64_t low = (uint64_t)i, high = (uint64_t)g->colidx[e];
            if (symmetric && low > high) {
                uint64_t swap = low;
                low = high;
                high = swap;
            }
            uint32_t x = gen_random(seed, low | high << 32, 0, GEN_STREAM_VALUES).word[0];
            g->values[e] = values == GEN_RATINGS ? rating(x) : ((float)(x >> 9) + 0.5f) * 0x1p-23f;
        }
    }
}

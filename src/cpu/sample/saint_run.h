/* GraphSAINT on the host: chances, lists that are drawn, counts and what they make of values. */
#ifndef FTB_SAINT_RUN_H
#define FTB_SAINT_RUN_H

#include "core/core.h"

/* sums[j]: of the squares of column j's values, each with those before it; values NULL: ones. */
void ftb_saint_columns(double *sums, const ftb_pattern *p, const void *values, FtB_Type type);
/* sums[e]: of 1 / degree(i) + 1 / degree(j) of entry e, each with those before it. */
void ftb_saint_entries(FtB_Context ctx, double *sums, const ftb_pattern *p);

/* Draws t < count under a key, each a place with chances as what `sums` of n places rise by; NULL: all
 * alike. */
void ftb_saint_draw(FtB_Context ctx, int64_t *place, int64_t count, uint64_t key, const double *sums,
                    int64_t n);
/* Both ends of entries: places[0 .. count - 1] become 2 count vertices. */
void ftb_saint_ends(FtB_Context ctx, int64_t *places, int64_t count, const ftb_pattern *p);
/* Sorts a list of which -1 is no part, each vertex once: how many there are. `scratch` has as much room. */
int64_t ftb_saint_sort(int64_t *list, int64_t *scratch, int64_t count);

/* Each rises by one: counts of the vertices, and of the entries among them. */
void ftb_saint_count(FtB_Context ctx, int32_t *vertex, const int64_t *vertices, int64_t nvertices,
                     int32_t *entry, const int64_t *entries, int64_t nentries);

/* What the layer of a subgraph has. */
typedef struct ftb_saint_values {
    FtB_Context ctx;
    const int32_t *vertex, *entry; /* counts */
    const void *values;            /* NULL: ones */
    FtB_Type type;
    const int64_t *vertices, *rowptr, *entries;
    int64_t nrows;
    float *out;
} ftb_saint_values;
void ftb_saint_scale(const ftb_saint_values *v);

#endif

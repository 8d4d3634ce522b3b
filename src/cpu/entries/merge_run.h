/* Row-wise merge of two sparse matrices under a mask, on the host: what becomes of each position is said by
 * who has an entry there and whether the mask admits it (ftb_merge_rule of ops/merge.h). */
#ifndef FTB_MERGE_RUN_H
#define FTB_MERGE_RUN_H

#include "cpu/entries/entry_map.h"
#include "cpu/entries/keep_run.h"

typedef struct ftb_merge_job {
    FtB_Context ctx;
    const ftb_pattern *left, *right, *mask; /* mask NULL: every position is admitted, unless complemented */
    ftb_mask admits;                        /* with a mask */
    bool complement;
    bool lone_left, lone_right; /* admitted, and only one has an entry: kept? */
    bool outside;               /* not admitted, and left has an entry: kept? */
    bool combine;               /* both: map decides; else right's entry is taken */
    ftb_map *map;               /* NULL without values */
    ftb_entries sides[2];       /* left's and right's values */
    bool word[2];               /* entries of the side are copied as they are, 8 bytes */
    int64_t *rowptr;            /* of the result */
    char *colidx, *values;
    FtB_Type type;
    int64_t width;
    int threads;
} ftb_merge_job;

/* rowptr[i + 1] = entries of row i of the result; taken[side]: those that come from there alone. */
GrB_Info ftb_merge_count(const ftb_merge_job *job, int64_t *taken);
/* Fills colidx and values, once rowptr holds row pointers. */
GrB_Info ftb_merge_fill(const ftb_merge_job *job);

#endif

/* Two sparse vectors become one under a mask, on the host: what becomes of each place is said by who has an
 * entry there and whether the mask admits it, as of matrices (cpu/entries/merge_run.h). */
#ifndef FTB_VECTOR_MERGE_RUN_H
#define FTB_VECTOR_MERGE_RUN_H

#include "core/vector/vector_forms.h"
#include "cpu/entries/entry_map.h"

typedef struct ftb_vector_merge {
    FtB_Context ctx;
    const ftb_vector *left, *right; /* of one size */
    const ftb_vector *mask;         /* NULL: every place is admitted, unless complemented */
    ftb_mask admits;                /* with a mask */
    bool complement;
    bool lone_left, lone_right; /* admitted, and only one has an entry: kept? */
    bool outside;               /* not admitted, and left has an entry: kept? */
    bool combine;               /* both: map decides; else right's entry is taken */
    ftb_map *map;               /* of one batch for each of `threads` */
    FtB_Type type;              /* of the result */
    int threads;
} ftb_vector_merge;

/* How many threads a merge may have, for its map. */
int ftb_vector_merge_threads(const ftb_vector_merge *job);
/* *out: the result, new, in the form that is best for it. Work is in proportion to the entries of lists,
 * where lists have all entries that may stay; else to the size. FTB_CANCELLED, with nothing made. */
GrB_Info ftb_vector_merge_new(ftb_vector *out, const ftb_vector_merge *job);
/* The same into left, whose type it has, and which is a bitmap, or dense; in proportion to the lists of what
 * may change; the mask may be left, since a place is decided before it is written. False: it must be made
 * anew, since that would be less, or something cannot be told so. May only fail for want of memory, with left
 * as it was. */
bool ftb_vector_merge_in_place(GrB_Info *info, ftb_vector *left, const ftb_vector_merge *job);

#endif

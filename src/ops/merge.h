/* Row-wise merge of two sparse matrices under a mask: the write rule and element-wise operations. */
#ifndef FTB_MERGE_H
#define FTB_MERGE_H

#include "core/hypersparse.h"
#include "cpu/entries/entry_map.h"
#include "ops/ops.h"

/* What becomes of a position, by who has an entry there and whether the mask admits it. */
typedef struct ftb_merge_rule {
    FtB_Matrix left, right; /* of one shape */
    FtB_Matrix mask;        /* or NULL: every position is admitted, unless complemented */
    bool structural, complement;
    bool lone_left, lone_right; /* admitted, and only one has an entry: kept? */
    bool outside;               /* not admitted, and left has an entry: kept? */
    bool combine;               /* both: op decides; else right's entry is taken */
    FtB_Op op;                  /* NULL without values */
    FtB_Type type;              /* of the result; 0: as op gives */
    int64_t width;              /* of the result; -1: as op gives */
} ftb_merge_rule;

/* *out: the merged matrix, new, of numbered rows where all list theirs; or NULL with *same set, where that
 * may be, when it is left (1) or right (2) as a whole but for the dtype. same: NULL where a copy is wanted in
 * any case. */
GrB_Info ftb_merge(FtB_Matrix *out, int *same, FtB_Context ctx, const ftb_merge_rule *rule);

/* The inputs of a matrix's entries. (call.c) */
ftb_map_input ftb_map_entries(FtB_Matrix A);
/* nvals x width values of `type`, zeroed; NULL on failure, also when their number overflows. (call.c) */
ftb_buffer *ftb_values_new(FtB_Context ctx, int64_t nvals, int64_t width, FtB_Type type);
/* What compiling an accumulator gave: its messages name the argument. */
GrB_Info ftb_accum_error(GrB_Info info);

#endif

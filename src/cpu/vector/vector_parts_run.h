/* Places of sparse vectors by lists, on the host. */
#ifndef FTB_VECTOR_PARTS_RUN_H
#define FTB_VECTOR_PARTS_RUN_H

#include "core/vector/vector_forms.h"

/* *T: place t is u's place list[t]. */
GrB_Info ftb_vector_pick(ftb_vector *T, FtB_Context ctx, const ftb_vector *u, const int64_t *list,
                         int64_t count);
/* *S: of `size` places, of which sorted[q] is u's place from[q] (NULL: q); sorted ascends, all different. */
GrB_Info ftb_vector_put(ftb_vector *S, FtB_Context ctx, const ftb_vector *u, const int64_t *sorted,
                        const int64_t *from, int64_t size);
/* Every entry becomes one value of v's dtype. */
void ftb_vector_fill(FtB_Context ctx, ftb_vector *v, const void *value);

#endif

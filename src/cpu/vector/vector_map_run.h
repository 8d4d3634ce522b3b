/* An elementwise operator over the entries of a sparse vector, on the host. */
#ifndef FTB_VECTOR_MAP_RUN_H
#define FTB_VECTOR_MAP_RUN_H

#include "core/vector/vector_forms.h"
#include "cpu/entries/entry_map.h"

/* out's value where v's is = op(v's value) at (place, 0), for all entries; y stays unused. */
GrB_Info ftb_vector_map_run(ftb_map *map, const ftb_vector *v);
int ftb_vector_map_threads(FtB_Context ctx, const ftb_vector *v); /* batches that it can use */

#endif

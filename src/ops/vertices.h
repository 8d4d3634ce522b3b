/* Expressions of vertices: the verb `map_rows`, wherever its operands are. */
#ifndef FTB_VERTICES_H
#define FTB_VERTICES_H

#include "ops/backends.h"

/* Y becomes, or is added, what `how` says beside its message, its type and y. m: how's own; NULL who: the
 * host. */
GrB_Info ftb_map_rows(FtB_Block Y, const ftb_backend *who, ftb_message *m, const ftb_map_rows_product *how);

/* The same of an expression over feeds of `side` and NONE. */
typedef struct ftb_vertex_values {
    const ftb_message *m;
    const ftb_expr *expr;
    ftb_side side;
    int64_t nrows;
    ftb_pattern *present; /* as of ftb_map_rows_product */
} ftb_vertex_values;
/* *Y: nrows x (heads * width) of the expression's compute type, packed. device: may be asked, NULL: the host
 * does. */
GrB_Info ftb_vertex_values_new(FtB_Block *Y, const ftb_backend *device, const ftb_vertex_values *v);

#endif

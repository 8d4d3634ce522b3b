/* Picking and spreading rows, on the host. */
#ifndef FTB_GATHER_RUN_H
#define FTB_GATHER_RUN_H

#include "verbs/gather_product.h"

GrB_Info ftb_gather_run(const ftb_gather_product *product);
/* Bits do not depend on threads. Allocates all that it needs before anything is written. */
GrB_Info ftb_scatter_run(const ftb_scatter_product *product);
/* The first position whose row is not one of 0 .. bound - 1; count: all are. */
int64_t ftb_rows_beyond(FtB_Context ctx, const int64_t *rows, int64_t count, int64_t ncols, int64_t bound);

#endif

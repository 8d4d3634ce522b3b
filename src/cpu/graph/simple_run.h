/* A graph without what no definition of its shape counts: loops, and entries that are there again. */
#ifndef FTB_SIMPLE_RUN_H
#define FTB_SIMPLE_RUN_H

#include "core/core.h"

/* p, which is square, without entries (i, i), and with one of those that are parallel: p itself, retained,
 * where it has none of these. NULL on failure. */
GrB_Info ftb_simple_pattern(ftb_pattern **simple, FtB_Context ctx, ftb_pattern *p);

#endif

/* How many entries columns have. */
#ifndef FTB_COLUMN_COUNTS_H
#define FTB_COLUMN_COUNTS_H

#include "core/core.h"

/* count[j]: the entries of column j, at most UINT32_MAX. Without memory for it by fewer threads. */
void ftb_column_counts(uint32_t *count, const ftb_pattern *p, FtB_Context ctx);

#endif

/* Rows on the host of which a GPU keeps some (verbs/kept_rows.h). */
#ifndef FTB_GPU_ROW_KEEPER_H
#define FTB_GPU_ROW_KEEPER_H

#include "gpu/context.h"
#include "verbs/kept_rows.h"

extern const ftb_row_keeper ftb_gpu_row_keeper;
/* Gives back the copies that nobody gathers of just now: from then on their rows are read from the host.
 * Whether there were any. */
bool ftb_gpu_kept_drop(const ftb_gpu_device *d);

#endif

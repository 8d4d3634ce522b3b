/* All hops of a sample at once, by a device that can (sample_hops.c). */
#ifndef FTB_SAMPLE_HOPS_H
#define FTB_SAMPLE_HOPS_H

#include "sample/sample_object.h"
#include "sample/selector.h"

/* *done: the sample, which has its seeds, has all else, too. Else nothing has been done to it, but that its
 * plan says why, where there is such a device. */
GrB_Info ftb_sample_hops(bool *done, FtB_Sample s, ftb_selector *selector, const FtB_Sample_options *options,
                         const int64_t *fanouts);

#endif

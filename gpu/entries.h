/* What kernels of values of entries are told beside their operands. */
#ifndef FTB_GPU_ENTRIES_H
#define FTB_GPU_ENTRIES_H

#include "gpu/context.h"
#include "gpu/kernels/edge_dropout.h"

/* Where the entries of a transpose are, a list of the host's: on the device, sent once. */
GrB_Info ftb_gpu_from_ask(const long long **to, ftb_pattern *transpose, const int64_t *from,
                          const ftb_gpu_device *d);
ftb_edge_dropout ftb_gpu_dropout(double probability, uint64_t seed);

#endif

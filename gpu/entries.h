/* What kernels of values of entries are told beside their operands. */
#ifndef FTB_GPU_ENTRIES_H
#define FTB_GPU_ENTRIES_H

#include "expr/message.h"
#include "gpu/context.h"
#include "gpu/kernels/edge_dropout.h"
#include "gpu/kernels/entry_sums.h"
#include "gpu/pieces.h"

/* Where the entries of a transpose are, a list of the host's that lasts as long as the pattern is walked with
 * it (ftb_pattern_transpose): on the device, sent once. */
GrB_Info ftb_gpu_from_ask(const long long **to, ftb_pattern *transpose, const int64_t *from,
                          const ftb_gpu_device *d);
ftb_edge_dropout ftb_gpu_edge_dropout(double probability, uint64_t seed, const uint64_t *seed_at);

/* Runs kernels[0] of the arguments, of which `sums` is a part with its width, for the pieces, and kernels[1]
 * for the rows that were cut (kernels/entry_sums.cuh). add: to what is there. */
GrB_Info ftb_gpu_sum_entries(ftb_gpu_device *d, FtB_Context ctx, const ftb_gpu_pieces *p,
                             ftb_entry_sums *sums, bool add, const char *source, const char *const kernels[2],
                             void *arguments);

/* Values from a head of a row to the next; 0: all heads have the same. */
static inline int ftb_gpu_head_step(const ftb_feed *x) { return x->heads > 1 ? (int)x->width : 0; }

/* The shape of groups that take a piece of a row: `span` of their lanes cover a head, if they can, `values`
 * features each, and those that are left over take other heads. The same for all kernels on dots.cuh. */
typedef struct ftb_gpu_spans {
    int lanes, span, values;
} ftb_gpu_spans;
ftb_gpu_spans ftb_gpu_spans_of(int64_t heads, int64_t width, bool vectors);

#endif

/* Recordings of a GPU's work: graphs of the driver's (core/backend.h says what they are for). While a thread
 * records, its launches go to a stream of their own, which captures them, and the memory of verbs is the
 * recording's. */
#ifndef FTB_GPU_RECORD_H
#define FTB_GPU_RECORD_H

#include "gpu/context.h"

extern const ftb_replays ftb_gpu_replays;

/* Whether this thread records what it does there. */
bool ftb_gpu_records(const ftb_gpu_device *d);
/* The stream that launches of this thread go to, between _enter_for and _leave. */
struct CUstream_st *ftb_gpu_stream(const ftb_gpu_device *d);
/* FTB_NO_DEVICE where the thread records: `what` cannot be written down. */
GrB_Info ftb_gpu_unrecorded(const ftb_gpu_device *d, const char *what);

/* Memory, where the thread records; the lock is held. A piece, of a class and its size, is taken of those
 * that the recording has, that are kept, or of the driver's; what was not taken there is not given back there
 * (false). */
GrB_Info ftb_gpu_record_take(ftb_gpu_device *d, unsigned long long *device, int class, size_t room);
bool ftb_gpu_record_give(ftb_gpu_device *d, unsigned long long device);

#endif

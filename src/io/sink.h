/* What the kinds of sinks share. */
#ifndef FTB_SINK_H
#define FTB_SINK_H

#include "io/io.h"

/* A sink of the given kind with `state` bytes of zeroed state; *sink is only set on success. */
GrB_Info ftb_sink_new(FtB_Sink *sink, FtB_Context ctx, const ftb_sink_methods *methods, size_t state);
GrB_Info ftb_sink_check(FtB_Sink sink);

#endif

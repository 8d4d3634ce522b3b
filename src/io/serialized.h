/* Serialized graphs of the GAP benchmark suite (Beamer, Asanovic, Patterson, 2015): .sg, and .wsg with
 * weights. */
#ifndef FTB_SERIALIZED_H
#define FTB_SERIALIZED_H

#include <stdint.h>

/* A byte that says whether edges have a direction (0, 1), and two int64: entries, vertices. Then come,
 * without padding, vertices + 1 offsets (int64) and the entries, neighbours (int32), of .wsg neighbour and
 * weight (int32); where edges have a direction, offsets and entries of the inverse, too. */
enum { FTB_SERIALIZED_HEAD = 17 };
/* What GAP's ids are. */
#define FTB_SERIALIZED_VERTICES INT32_MAX

#endif

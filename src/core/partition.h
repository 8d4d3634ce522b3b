/* Source partitions: a pattern's entries, regrouped by segments of consecutive columns, so that the segment's
 * rows of a feature block stay in L2 while all rows of the result visit them.
 *
 * Entries of one row in one segment are consecutive in CSR, so a visit (row, segment) is a row, a place in
 * the partition and a place in CSR; columns are 16 bits, counted from the segment's first. Built in parallel,
 * cached on the pattern (by width), counted, dropped under memory pressure while nobody holds them. */
#ifndef FTB_PARTITION_H
#define FTB_PARTITION_H

#include "core/core.h"

typedef struct ftb_partition {
    atomic_llong refs;
    FtB_Context ctx;
    int64_t width;              /* columns of a segment, <= 65536 */
    int64_t nsegments;          /* segment s: columns [s * width, (s + 1) * width) */
    int64_t nvisits;            /* pairs (row, segment) that hold entries */
    int64_t *segment;           /* nsegments + 1: the first visit of each segment */
    uint32_t *row;              /* of each visit, ascending in a segment */
    int64_t *start;             /* nvisits + 1: its first place in `column` */
    int64_t *entry;             /* its first entry in CSR order */
    uint16_t *column;           /* nvals, less the segment's first column */
    struct ftb_partition *next; /* in the pattern's list */
} ftb_partition;

/* The partition of p with that width: cached, or built. The caller holds a reference. nrows < 2^32. */
GrB_Info ftb_partition_get(ftb_partition **partition, ftb_pattern *p, int64_t width);
void ftb_partition_release(ftb_partition *partition); /* NULL is allowed */
/* The first visit of a segment whose row is not before i. */
int64_t ftb_partition_visit(const ftb_partition *partition, int64_t segment, int64_t i);
/* Parts of the rows whose `row_bytes` each stay near, in `part_bytes`, from one segment to the next. Every
 * part packs all sources again, which visits must outweigh. */
int64_t ftb_partition_parts(const ftb_partition *partition, const ftb_pattern *p, int64_t row_bytes,
                            int64_t part_bytes);
/* The widest segments among the partitions that are cached; 0: none is. */
int64_t ftb_partition_widest(ftb_pattern *p);

#endif

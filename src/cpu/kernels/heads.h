/* Rows of feature blocks as kernels over edges read them: the heads of a row one after another, each padded
 * with zeros to a width that vectors divide; and the visits to them. */
#ifndef FTB_CPU_HEADS_H
#define FTB_CPU_HEADS_H

#include <stdint.h>

#define FTB_LANES 16

/* Values that a head of `width` takes: 1, 2, 4, 8, or a multiple of 16. */
static inline int64_t ftb_lanes_width(int64_t width)
{
    if (width > FTB_LANES / 2)
        return (width + FTB_LANES - 1) / FTB_LANES * FTB_LANES;
    return width > 4 ? 8 : width > 2 ? 4 : width > 1 ? 2 : 1;
}

/* Entries of one row that are consecutive in CSR: all of them (the whole pattern), or those of a segment of
 * columns (core/partition.h). */
typedef struct ftb_visits {
    const uint32_t *row;  /* of each visit; NULL: visit v is row v */
    const int64_t *start; /* its first place in `column`; one more at the end */
    const int64_t *entry; /* its first entry; NULL: start */
    const void *column;   /* the source row of each place */
    int column_size;      /* bytes: 2, 4 or 8 */
} ftb_visits;

static inline int64_t ftb_visit_row(const ftb_visits *v, int64_t visit)
{
    return v->row ? v->row[visit] : visit;
}
static inline int64_t ftb_visit_entry(const ftb_visits *v, int64_t visit)
{
    return v->entry ? v->entry[visit] : v->start[visit];
}

#endif

/* What the ways to number picked vertices share. (relabel_run.c) */
#ifndef FTB_RELABEL_WORK_H
#define FTB_RELABEL_WORK_H

#include "cpu/sample/sample_run.h"

#include <stdatomic.h>

#define FTB_RELABEL_ROWS 512 /* that a thread takes at a time */

GrB_Info ftb_relabel_by_table(ftb_relabel_product *p, int threads);
/* Whether there would be few marks beside the picks, and no trees. (relabel_marks.c) */
bool ftb_relabel_by_few(const ftb_relabel_product *p, int threads);
GrB_Info ftb_relabel_by_marks(ftb_relabel_product *p, int threads);

/* The list of vertices, with room for `count` new ones behind those that are known. */
GrB_Info ftb_relabel_list(ftb_relabel_product *p, int64_t count, int threads);
/* Numbers of rows first to end - 1, which are there, ascend, with the entries that they are of. */
void ftb_relabel_sort(const ftb_relabel_product *p, int64_t first, int64_t end);

static inline int32_t ftb_relabel_tree(const ftb_relabel_product *p, int64_t r)
{
    return p->row_trees ? p->row_trees[r] : p->trees[p->row0 + r];
}

static inline uint64_t ftb_relabel_column(const ftb_relabel_product *p, int64_t e)
{
    return p->wide ? (uint64_t)((const int64_t *)p->columns)[e] : (uint64_t)((const int32_t *)p->columns)[e];
}

/* Of a vertex that comes again the first number counts. */
static inline void ftb_relabel_lower(_Atomic uint32_t *number, uint32_t to)
{
    uint32_t was = atomic_load_explicit(number, memory_order_relaxed);
    while (was > to && !atomic_compare_exchange_weak_explicit(number, &was, to, memory_order_relaxed,
                                                              memory_order_relaxed))
        continue;
}

#endif

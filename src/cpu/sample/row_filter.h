/* Entries of a row that are there for a pick: not too late, and not excluded. */
#ifndef FTB_ROW_FILTER_H
#define FTB_ROW_FILTER_H

#include "core/search.h"
#include "cpu/sample/sample_run.h"

typedef struct ftb_row_filter {
    const int64_t *times; /* of the row's entries; NULL: all are there */
    int64_t until;
    const int64_t *excluded; /* places among p's entries, ascending: those of the row */
    int64_t nexcluded, begin;
} ftb_row_filter;

static inline ftb_row_filter ftb_row_filter_of(const ftb_sample_product *s, int64_t r)
{
    const int64_t begin = s->p->rowptr[ftb_sample_row(s, r)];
    ftb_row_filter f = {.begin = begin};
    if (s->times) {
        f.times = s->times + begin;
        f.until = s->until[s->trees ? s->trees[r] : r];
    }
    if (s->nexcluded > 0) {
        const int64_t first = ftb_first_not_below(s->excluded, s->nexcluded, begin);
        f.excluded = s->excluded + first;
        f.nexcluded = ftb_first_not_below(f.excluded, s->nexcluded - first, begin + ftb_sample_degree(s, r));
    }
    return f;
}

/* Whether the row's entry t is there. */
static inline bool ftb_row_admits(const ftb_row_filter *f, int64_t t)
{
    if (f->times && f->times[t] > f->until)
        return false;
    if (f->nexcluded == 0)
        return true;
    const int64_t at = ftb_first_not_below(f->excluded, f->nexcluded, f->begin + t);
    return at == f->nexcluded || f->excluded[at] != f->begin + t;
}

#endif

/* Which entries are there for a pick: those that are not too late, and not excluded. */
#include "sample/selector.h"

#include "core/search.h"
#include "core/words.h"
#include "cpu/entries/keep_run.h"

#include <stdlib.h>

static GrB_Info check_list(FtB_Ids list, int64_t count, const char *name, const char *of)
{
    if (!list.at)
        return ftb_fail(GrB_NULL_POINTER, "options: %s is missing; expected %lld numbers, one for each of %s",
                        name, (long long)count, of);
    if (list.count != count)
        return ftb_fail(GrB_DIMENSION_MISMATCH,
                        "options: %s has %lld numbers; expected %lld, one for each of %s", name,
                        (long long)list.count, (long long)count, of);
    return GrB_SUCCESS;
}

static GrB_Info check_times(const ftb_selector *s, const ftb_selector_options *o)
{
    if (!o->times.at && !o->until.at && s->product.selector != FTB_SAMPLE_LAST)
        return GrB_SUCCESS;
    const GrB_Info info = check_list(o->times, s->A->pattern->nvals, "times", "A's entries");
    return info == GrB_SUCCESS ? check_list(o->until, o->nuntil, "until", o->until_of) : info;
}

static GrB_Info check_excluded(const ftb_selector *s, const ftb_selector_options *o)
{
    const ftb_pattern *p = s->A->pattern;
    char below[FTB_WORDS];
    if (o->exclude.count < 0 || (!o->exclude.at && o->exclude.count > 0))
        return ftb_fail(GrB_INVALID_VALUE, "options: exclude has %lld numbers at %s; expected a list",
                        (long long)o->exclude.count, o->exclude.at ? "an address" : "NULL");
    if (o->reverses && p->nrows != p->ncols)
        return ftb_fail(GrB_DIMENSION_MISMATCH,
                        "options: reverses, of A that is %lld x %lld; expected a square one",
                        (long long)p->nrows, (long long)p->ncols);
    for (int64_t t = 0; t < o->exclude.count; t++)
        if (o->exclude.at[t] < 0 || o->exclude.at[t] >= p->nvals)
            return ftb_fail(GrB_INDEX_OUT_OF_BOUNDS,
                            "options: exclude[%lld] is %lld; expected a place in A, %s", (long long)t,
                            (long long)o->exclude.at[t], ftb_below_text(below, p->nvals));
    return GrB_SUCCESS;
}

/* ---- excluded entries, with their reverses */

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Entries (i, j), of which there are several where they are parallel: from *first on. */
static int64_t find_entries(const ftb_pattern *p, int64_t i, int64_t j, int64_t *first)
{
    const int64_t end = p->rowptr[i + 1], at = ftb_first_entry(p, p->rowptr[i], end, j);
    int64_t count = 0;
    *first = at;
    while (at + count < end && ftb_col(p, at + count) == j)
        count++;
    return count;
}

/* Into `to`, NULL: nowhere. Returns how many. */
static int64_t list_excluded(const ftb_pattern *p, const ftb_selector_options *o, int64_t *to)
{
    int64_t count = 0;
    for (int64_t t = 0; t < o->exclude.count; t++) {
        const int64_t e = o->exclude.at[t];
        int64_t first, more = 0;
        if (to)
            to[count] = e;
        count++;
        if (o->reverses)
            more = find_entries(p, ftb_col(p, e), ftb_row_at(p->rowptr, p->nrows, e), &first);
        for (int64_t m = 0; to && m < more; m++)
            to[count + m] = first + m;
        count += more;
    }
    return count;
}

GrB_Info ftb_filter_begin(ftb_selector *s, const ftb_selector_options *o)
{
    ftb_sample_product *p = &s->product;
    GrB_Info info = check_times(s, o);
    if (info == GrB_SUCCESS)
        info = check_excluded(s, o);
    if (info != GrB_SUCCESS)
        return info;
    p->times = o->times.at;
    p->until = o->until.at;
    if (o->exclude.count == 0)
        return GrB_SUCCESS;
    const int64_t count = list_excluded(p->p, o, NULL);
    s->excluded = ftb_new(s->ctx, count, sizeof *s->excluded);
    if (!s->excluded)
        return ftb_nomem();
    list_excluded(p->p, o, s->excluded);
    qsort(s->excluded, (size_t)count, sizeof *s->excluded, by_number);
    p->excluded = s->excluded;
    p->nexcluded = count;
    return GrB_SUCCESS;
}

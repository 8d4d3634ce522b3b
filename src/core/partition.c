/* Source partitions: a stable counting sort of a pattern's visits by segment.
 *
 * The rows are cut into parts of about equal entries; each part counts its visits and entries by
 * segment, a scan over (segment, part) says where each part's come to lie, and the parts write them. A row's
 * columns ascend, so the entries of a visit are consecutive and nothing is compared but the segment's end.
 * Two streaming passes over the columns; positions do not depend on the number of parts. */
#include "core/partition.h"

#define MOST_WIDTH 65536         /* columns are 16 bits */
#define VISITS_PER_SOURCE 4      /* for every time that sources are packed */
#define SMALL (INT64_C(1) << 15) /* entries; below, threads cost more than they bring */
#define INLINE static inline __attribute__((always_inline))

typedef struct sorter {
    const ftb_pattern *p;
    ftb_partition *out;
    int parts;
    int64_t *visits;  /* parts x nsegments: counts, then positions */
    int64_t *entries; /* the same */
} sorter;

INLINE int64_t column_at(const void *colidx, bool wide, int64_t e)
{
    return wide ? ((const int64_t *)colidx)[e] : ((const int32_t *)colidx)[e];
}

/* The first entry from e on, before `last`, whose column is not below `limit`. */
INLINE int64_t visit_end(const void *colidx, bool wide, int64_t e, int64_t last, int64_t limit)
{
    enum { STEP = 16 };
    while (e + STEP <= last && column_at(colidx, wide, e + STEP - 1) < limit)
        e += STEP;
    while (e < last && column_at(colidx, wide, e) < limit)
        e++;
    return e;
}

INLINE void count_rows(const sorter *s, int part, bool wide)
{
    const void *colidx = s->p->colidx;
    int64_t width = s->out->width, nsegments = s->out->nsegments,
            end = ftb_pattern_cut(s->p, part + 1, s->parts);
    int64_t *visits = s->visits + part * nsegments, *entries = s->entries + part * nsegments;
    for (int64_t i = ftb_pattern_cut(s->p, part, s->parts); i < end; i++)
        for (int64_t e = s->p->rowptr[i], last = s->p->rowptr[i + 1]; e < last;) {
            int64_t segment = column_at(colidx, wide, e) / width;
            int64_t next = visit_end(colidx, wide, e + 1, last, (segment + 1) * width);
            visits[segment]++;
            entries[segment] += next - e;
            e = next;
        }
}

INLINE void place_rows(const sorter *s, int part, bool wide)
{
    const void *colidx = s->p->colidx;
    ftb_partition *out = s->out;
    int64_t width = out->width, nsegments = out->nsegments, end = ftb_pattern_cut(s->p, part + 1, s->parts);
    int64_t *visits = s->visits + part * nsegments, *entries = s->entries + part * nsegments;
    for (int64_t i = ftb_pattern_cut(s->p, part, s->parts); i < end; i++)
        for (int64_t e = s->p->rowptr[i], last = s->p->rowptr[i + 1]; e < last;) {
            int64_t segment = column_at(colidx, wide, e) / width, base = segment * width;
            int64_t next = visit_end(colidx, wide, e + 1, last, base + width);
            int64_t visit = visits[segment]++, to = entries[segment];
            out->row[visit] = (uint32_t)i;
            out->start[visit] = to;
            out->entry[visit] = e;
            for (int64_t t = 0; t < next - e; t++)
                out->column[to + t] = (uint16_t)(column_at(colidx, wide, e + t) - base);
            entries[segment] += next - e;
            e = next;
        }
}

static void count_part(const sorter *s, int part)
{
    if (s->p->wide)
        count_rows(s, part, true);
    else
        count_rows(s, part, false);
}

static void place_part(const sorter *s, int part)
{
    if (s->p->wide)
        place_rows(s, part, true);
    else
        place_rows(s, part, false);
}

/* Turns the counts into positions; returns the number of visits. */
static int64_t scan_counts(const sorter *s)
{
    int64_t visits = 0, entries = 0, nsegments = s->out->nsegments;
    for (int64_t segment = 0; segment < nsegments; segment++) {
        s->out->segment[segment] = visits;
        for (int part = 0; part < s->parts; part++) {
            int64_t at = part * nsegments + segment, here = s->visits[at], inside = s->entries[at];
            s->visits[at] = visits;
            s->entries[at] = entries;
            visits += here;
            entries += inside;
        }
    }
    s->out->segment[nsegments] = visits;
    return visits;
}

static GrB_Info fill_partition(const sorter *s)
{
    ftb_partition *out = s->out;
    FtB_Context ctx = s->p->ctx;
#pragma omp parallel for schedule(static, 1) num_threads(s->parts)
    for (int part = 0; part < s->parts; part++)
        count_part(s, part);
    out->nvisits = scan_counts(s);
    if (!(out->row = ftb_new(ctx, out->nvisits, sizeof *out->row)) ||
        !(out->start = ftb_new(ctx, out->nvisits + 1, sizeof *out->start)) ||
        !(out->entry = ftb_new(ctx, out->nvisits, sizeof *out->entry)) ||
        !(out->column = ftb_new(ctx, s->p->nvals, sizeof *out->column)))
        return ftb_nomem();
#pragma omp parallel for schedule(static, 1) num_threads(s->parts)
    for (int part = 0; part < s->parts; part++)
        place_part(s, part);
    out->start[out->nvisits] = s->p->nvals;
    return GrB_SUCCESS;
}

static int64_t count_segments(const ftb_pattern *p, int64_t width) { return (p->ncols - 1) / width + 1; }

/* As many parts as threads, but no more counters than entries. */
static int choose_parts(const ftb_pattern *p, int64_t nsegments)
{
    int64_t useful = p->nvals / ftb_max(nsegments, SMALL);
    return (int)ftb_max(1, ftb_min(useful, ftb_threads(p->ctx)));
}

static void delete_partition(ftb_partition *partition)
{
    ftb_delete(partition->segment);
    ftb_delete(partition->row);
    ftb_delete(partition->start);
    ftb_delete(partition->entry);
    ftb_delete(partition->column);
    ftb_delete(partition);
}

static GrB_Info build_partition(ftb_partition **partition, const ftb_pattern *p, int64_t width)
{
    int64_t nsegments = p->ncols > 0 ? count_segments(p, width) : 0;
    sorter s = {.p = p, .parts = choose_parts(p, nsegments)};
    GrB_Info info = GrB_OUT_OF_MEMORY;
    if ((s.visits = ftb_new0(p->ctx, s.parts * nsegments, sizeof *s.visits)) &&
        (s.entries = ftb_new0(p->ctx, s.parts * nsegments, sizeof *s.entries)) &&
        (s.out = ftb_new0(p->ctx, 1, sizeof *s.out)) &&
        (s.out->segment = ftb_new(p->ctx, nsegments + 1, sizeof *s.out->segment))) {
        atomic_init(&s.out->refs, 1); /* the pattern's list */
        s.out->ctx = p->ctx;
        s.out->width = width;
        s.out->nsegments = nsegments;
        info = fill_partition(&s);
    } else {
        info = ftb_nomem();
    }
    ftb_delete(s.visits);
    ftb_delete(s.entries);
    if (info == GrB_SUCCESS)
        *partition = s.out;
    else if (s.out)
        delete_partition(s.out);
    return info;
}

/* Takes the partitions that nobody else holds off the list. True if there was one. */
static bool drop_unused(ftb_pattern *p)
{
    bool dropped = false;
    for (ftb_partition **at = &p->partitions; *at;) {
        ftb_partition *here = *at;
        if (atomic_load(&here->refs) > 1) {
            at = &here->next;
            continue;
        }
        *at = here->next;
        delete_partition(here);
        dropped = true;
    }
    return dropped;
}

static ftb_partition *find_partition(const ftb_pattern *p, int64_t width)
{
    ftb_partition *found = p->partitions;
    while (found && found->width != width)
        found = found->next;
    return found;
}

GrB_Info ftb_partition_get(ftb_partition **partition, ftb_pattern *p, int64_t width)
{
    GrB_Info info = GrB_SUCCESS;
    if (width < 1 || width > MOST_WIDTH)
        return ftb_fail(GrB_INVALID_VALUE, "segment: %lld columns; expected 1 to %d", (long long)width,
                        MOST_WIDTH);
    if (p->nrows > (int64_t)UINT32_MAX)
        return ftb_fail(GrB_INVALID_VALUE, "segment: a pattern of %lld rows is not partitioned",
                        (long long)p->nrows);
    pthread_mutex_lock(&p->lock);
    ftb_partition *found = find_partition(p, width);
    if (!found) {
        info = build_partition(&found, p, width);
        if (info != GrB_SUCCESS && drop_unused(p))
            info = build_partition(&found, p, width);
        if (info == GrB_SUCCESS) {
            found->next = p->partitions;
            p->partitions = found;
        }
    }
    if (info == GrB_SUCCESS) {
        atomic_fetch_add(&found->refs, 1);
        *partition = found;
    }
    pthread_mutex_unlock(&p->lock);
    return info;
}

void ftb_partition_release(ftb_partition *partition)
{
    if (partition && atomic_fetch_sub(&partition->refs, 1) == 1)
        delete_partition(partition);
}

int64_t ftb_partition_visit(const ftb_partition *partition, int64_t segment, int64_t i)
{
    int64_t low = partition->segment[segment], high = partition->segment[segment + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (partition->row[middle] < i)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int64_t ftb_partition_parts(const ftb_partition *partition, const ftb_pattern *p, int64_t row_bytes,
                            int64_t part_bytes)
{
    int64_t most = partition->nvisits / VISITS_PER_SOURCE / ftb_max(1, p->ncols);
    return ftb_max(1, ftb_min(p->nrows * row_bytes / part_bytes + 1, most));
}

int64_t ftb_partition_widest(ftb_pattern *p)
{
    int64_t widest = 0;
    pthread_mutex_lock(&p->lock);
    for (const ftb_partition *s = p->partitions; s; s = s->next)
        widest = ftb_max(widest, s->width);
    pthread_mutex_unlock(&p->lock);
    return widest;
}

/* Reductions of segments: kernels where the dtype is one that monoids work in; else entries are cast into
 * scratch memory that stays in L1, short rows together, long ones part by part. */
#include "cpu/fold.h"

#include "cpu/reduce.h"

#define ROOM 4096 /* values that are cast together */

typedef struct scratch {
    char *entries, *spare, *results;
    int64_t *start;
} scratch;

GrB_Info ftb_fold_begin(ftb_fold *f, const ftb_reduce_product *product, int64_t width, int threads)
{
    *f = (ftb_fold){.ctx = product->ctx,
                    .monoid = product->monoid,
                    .from = product->from,
                    .domain = product->domain,
                    .type = product->type,
                    .result = product->result,
                    .width = width,
                    .threads = threads};
    f->in_place = f->from == f->type && f->domain == f->type && f->result == f->type && f->type != FTB_BOOL;
    if (f->in_place)
        return GrB_SUCCESS;
    f->room = ftb_max(1, ROOM / ftb_max(width, 1));
    if (width > INT64_MAX / 64 / f->room / threads)
        return ftb_fail(GrB_OUT_OF_MEMORY, "a width of %lld is too large", (long long)width);
    int64_t cells = 3 * f->room * width + f->room + 1;
    f->bytes = (size_t)cells * 8;
    f->scratch = ftb_new0(f->ctx, cells * threads, 8);
    return f->scratch ? GrB_SUCCESS : ftb_nomem();
}

void ftb_fold_end(ftb_fold *f)
{
    ftb_delete(f->scratch);
    f->scratch = NULL;
}

static scratch scratch_of(const ftb_fold *f, int thread)
{
    char *at = f->scratch + f->bytes * (size_t)thread;
    size_t array = (size_t)(f->room * f->width) * 8;
    return (scratch){at, at + array, at + 2 * array, (int64_t *)(at + 3 * array)};
}

/* count values, in the monoid's type. spare: as many of the domain's. */
static void cast(const ftb_fold *f, char *to, char *spare, const char *from, int64_t count)
{
    if (!f->from) {
        const uint8_t one = 1;
        size_t size = FtB_Type_size(f->type);
        ftb_cast(to, f->type, &one, FTB_UINT8, 1);
        for (int64_t t = 1; t < count; t++)
            memcpy(to + (size_t)t * size, to, size);
    } else if (f->from != f->domain) {
        ftb_cast(spare, f->domain, from, f->from, count);
        ftb_cast(to, f->type, spare, f->domain, count);
    } else {
        ftb_cast(to, f->type, from, f->from, count);
    }
}

static int64_t length(const ftb_segments *s, int64_t r)
{
    return s->start ? s->start[r + 1] - s->start[r] : s->count;
}

/* count entries of row r, from its entry `first` on, to packed ones. */
static void load(const ftb_fold *f, const scratch *w, char *to, const ftb_segments *s, int64_t r,
                 int64_t first, int64_t count)
{
    size_t size = f->from ? FtB_Type_size(f->from) : 0, item = (size_t)s->width * FtB_Type_size(f->type);
    int64_t at = (s->start ? (s->start[r] - s->start[0]) * s->ld : r * s->step) + first * s->ld;
    const char *from = size ? (const char *)s->x + (size_t)at * size : NULL;
    if (s->ld == s->width) {
        cast(f, to, w->spare, from, count * s->width);
        return;
    }
    for (int64_t e = 0; e < count; e++)
        cast(f, to + (size_t)e * item, w->spare, size ? from + (size_t)(e * s->ld) * size : NULL, s->width);
}

static void fold_long(const ftb_fold *f, const scratch *w, const ftb_segments *s, int64_t r, char *out)
{
    int64_t count = length(s, r);
    size_t bytes = (size_t)s->width * FtB_Type_size(f->type);
    char *part = w->results + (f->room > 1 ? bytes : 0);
    ftb_reduce_kernel kernel = FTB_PICK(ftb_reduce_rows)[f->monoid][ftb_class(f->type)];
    for (int64_t first = 0; first < count; first += f->room) {
        int64_t batch = ftb_min(f->room, count - first);
        const ftb_segments one = {
            .x = w->entries, .nrows = 1, .count = batch, .width = s->width, .ld = s->width};
        load(f, w, w->entries, s, r, first, batch);
        if (f->room == 1) /* the entry is its own reduction */
            part = w->entries;
        else
            kernel(part, &one);
        if (first == 0)
            memcpy(w->results, part, bytes);
        else
            ftb_monoid_apply(f->monoid, f->type, w->results, part, s->width);
    }
    ftb_cast(out, f->result, w->results, f->type, s->width);
}

/* Rows first .. *end, as many as there is room for, together. */
static void fold_short(const ftb_fold *f, const scratch *w, const ftb_segments *s, int64_t first,
                       int64_t *end, char *out)
{
    int64_t entries = 0, rows = 0, r = first;
    size_t item = (size_t)s->width * FtB_Type_size(f->type);
    bool together = s->start ? s->ld == s->width : s->step == s->count * s->width && s->ld == s->width;
    for (; r < s->nrows && rows < f->room && length(s, r) <= f->room - entries; r++, rows++) {
        w->start[rows] = entries;
        if (!together)
            load(f, w, w->entries + (size_t)entries * item, s, r, 0, length(s, r));
        entries += length(s, r);
    }
    w->start[rows] = entries;
    if (together)
        load(f, w, w->entries, s, first, 0, entries);
    const ftb_segments packed = {
        .x = w->entries, .start = w->start, .nrows = rows, .width = s->width, .ld = s->width};
    FTB_PICK(ftb_reduce_rows)[f->monoid][ftb_class(f->type)](w->results, &packed);
    ftb_cast(out, f->result, w->results, f->type, rows * s->width);
    *end = r;
}

void ftb_fold_rows(const ftb_fold *f, int thread, const ftb_segments *s, void *out)
{
    if (f->in_place) {
        FTB_PICK(ftb_reduce_rows)[f->monoid][ftb_class(f->type)](out, s);
        return;
    }
    const scratch w = scratch_of(f, thread);
    size_t item = (size_t)s->width * FtB_Type_size(f->result);
    for (int64_t r = 0, end; r < s->nrows; r = end) {
        end = r + 1;
        if (length(s, r) > f->room)
            fold_long(f, &w, s, r, (char *)out + (size_t)r * item);
        else
            fold_short(f, &w, s, r, &end, (char *)out + (size_t)r * item);
    }
}

/* The identity as the domain has it: that of min over int8 is 127. */
static void identity(const ftb_fold *f, void *out)
{
    uint64_t value = 0;
    ftb_monoid_identity(f->monoid, f->type, &value);
    if (ftb_type_integer(f->domain) && (f->monoid == FTB_MIN || f->monoid == FTB_MAX)) {
        bool is_signed = ftb_type_compute(f->domain) == FTB_INT64;
        uint64_t most = UINT64_MAX >> (64 - ftb_type_bits(f->domain) + is_signed);
        value = f->monoid == FTB_MIN ? most : is_signed ? ~most : 0;
    }
    for (int64_t v = 0; v < f->width; v++)
        ftb_cast((char *)out + (size_t)v * FtB_Type_size(f->result), f->result, &value, f->type, 1);
}

void ftb_fold_partial(const ftb_fold *f, const void *partial, int64_t count, void *out)
{
    size_t item = (size_t)f->width * FtB_Type_size(f->result);
    if (count == 0) {
        identity(f, out);
        return;
    }
    if (f->result == f->type) {
        memcpy(out, partial, item);
        for (int64_t s = 1; s < count; s++)
            ftb_monoid_apply(f->monoid, f->type, out, (const char *)partial + (size_t)s * item, f->width);
        return;
    }
    const scratch w = scratch_of(f, 0);
    ftb_cast(w.results, f->type, partial, f->result, f->width);
    for (int64_t s = 1; s < count; s++) {
        ftb_cast(w.entries, f->type, (const char *)partial + (size_t)s * item, f->result, f->width);
        ftb_monoid_apply(f->monoid, f->type, w.results, w.entries, f->width);
    }
    ftb_cast(out, f->result, w.results, f->type, f->width);
}

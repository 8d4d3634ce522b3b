/* Rows of feature blocks, padded and cast (padded.h). */
#include "cpu/padded.h"

ftb_padded ftb_padded_of(const ftb_feed *feed, int64_t heads, FtB_Type type)
{
    return (ftb_padded){.feed = *feed, .heads = heads, .width = ftb_lanes_width(feed->width), .type = type};
}

/* count values of one head (or of all, if they lie as they should), then zeros up to `room`. */
static void copy_values(const ftb_padded *p, char *to, const char *from, int64_t count, int64_t room)
{
    size_t size = FtB_Type_size(p->type);
    if (p->feed.type == p->type)
        memcpy(to, from, (size_t)count * size);
    else
        ftb_cast(to, p->type, from, p->feed.type, count);
    memset(to + (size_t)count * size, 0, (size_t)(room - count) * size);
}

/* Whether a row of the feed has its heads where a padded row has them. */
static bool lies_well(const ftb_padded *p) { return p->feed.width == p->width && p->feed.heads == p->heads; }

void ftb_padded_pack(const ftb_padded *p, void *to, int64_t row, int64_t rows, int64_t first, int64_t count)
{
    size_t size = FtB_Type_size(p->type), from_size = FtB_Type_size(p->feed.type);
    bool whole = p->heads > 1 && lies_well(p);
    int64_t width = whole ? p->heads * p->width : p->feed.width;
    for (int64_t r = 0; r < rows; r++) {
        char *out = (char *)to + (size_t)(r * count) * size;
        const char *from = (const char *)p->feed.data + (size_t)((row + r) * p->feed.ld) * from_size;
        if (p->heads == 1 || whole) {
            int64_t values = ftb_max(0, ftb_min(count, width - first));
            copy_values(p, out, from + (size_t)first * from_size, values, count);
            continue;
        }
        for (int64_t h = 0; h < p->heads; h++)
            copy_values(p, out + (size_t)(h * p->width) * size,
                        from + (size_t)(p->feed.heads > 1 ? h * width : 0) * from_size, width, p->width);
    }
}

#define STEP 64 /* rows of a step in parallel */

void ftb_padded_pack_all(const ftb_padded *p, void *to, int64_t row, int64_t rows, int64_t first,
                         int64_t count, int threads)
{
    size_t bytes = (size_t)count * FtB_Type_size(p->type);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t r = 0; r < rows; r += STEP)
        ftb_padded_pack(p, (char *)to + (size_t)r * bytes, row + r, ftb_min(STEP, rows - r), first, count);
}

GrB_Info ftb_padded_all(ftb_padded *p, FtB_Context ctx, int64_t rows, int threads)
{
    int64_t count = ftb_padded_row(p), values;
    p->data = p->feed.data;
    p->ld = p->feed.ld;
    if (p->feed.type == p->type && lies_well(p))
        return GrB_SUCCESS;
    if (__builtin_mul_overflow(rows, count, &values))
        values = INT64_MAX; /* refused by the allocator, with its message */
    p->data = p->copy = ftb_new(ctx, values, FtB_Type_size(p->type));
    p->ld = count;
    if (!p->copy)
        return ftb_nomem();
    ftb_padded_pack_all(p, p->copy, 0, rows, 0, count, threads);
    return GrB_SUCCESS;
}

void ftb_padded_clear(ftb_padded *p)
{
    ftb_delete(p->copy);
    p->copy = NULL;
    p->data = NULL;
}

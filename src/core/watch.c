/* Versions of values, and the sum over values that builds with assertions keep beside them. */
#include "core/watch.h"

#ifndef NDEBUG
#define WORDS 65536 /* of eight bytes, at even distances: a rewritten array shows in any */

uint64_t ftb_watch_sum(const void *data, int64_t nrows, size_t bytes, size_t pitch)
{
    const uint64_t odd = 0x9e3779b97f4a7c15;
    const size_t step =
        ftb_max((size_t)1, (size_t)nrows * bytes / (WORDS * sizeof(uint64_t))) * sizeof(uint64_t);
    uint64_t sum = 0;
    size_t at = 0; /* of the bytes of all rows, packed */
    for (int64_t r = 0; r < nrows; r++, at -= ftb_min(at, bytes))
        for (; at < bytes; at += step) {
            uint64_t word = 0;
            memcpy(&word, (const char *)data + (size_t)r * pitch + at, ftb_min(sizeof word, bytes - at));
            sum = (sum ^ word) * odd;
            sum ^= sum >> 29;
        }
    return sum;
}
#else
uint64_t ftb_watch_sum(const void *data, int64_t nrows, size_t bytes, size_t pitch)
{
    (void)data, (void)nrows, (void)bytes, (void)pitch;
    return 0;
}
#endif

/* Of the host's copy: where sums are made, a device may have written it since. */
static uint64_t sum_of(const ftb_watch *w)
{
#ifndef NDEBUG
    if (ftb_buffer_ask(w->owner, FTB_READ) != GrB_SUCCESS)
        return 0;
#endif
    return ftb_watch_sum(w->data, w->nrows, w->bytes, w->pitch);
}

GrB_Info ftb_watch_missed(const char *name)
{
    return ftb_fail(GrB_INVALID_VALUE,
                    "%s was written since it was last read, and nobody said so; expected a call of "
                    "FtB_Matrix_changed or FtB_Block_changed",
                    name);
}

static void begin(ftb_watch *w, ftb_buffer *owner, const void *data, int64_t nrows, size_t bytes,
                  size_t pitch)
{
    ftb_buffer_retain(owner);
    ftb_watch_end(w);
    *w = (ftb_watch){.owner = owner, .data = data, .nrows = nrows, .bytes = bytes, .pitch = pitch};
    if (!owner)
        return;
    ftb_watch_renew(w);
}

void ftb_watch_matrix(ftb_watch *w, FtB_Matrix A)
{
    const size_t bytes = (size_t)A->width * FtB_Type_size(A->type);
    begin(w, A->values, ftb_values(A), A->pattern->nvals, bytes, bytes);
}

void ftb_watch_block(ftb_watch *w, FtB_Block X)
{
    const size_t size = FtB_Type_size(X->type);
    begin(w, X->owner, ftb_block_data(X), X->nrows, (size_t)X->ncols * size, (size_t)X->ld * size);
}

void ftb_watch_end(ftb_watch *w)
{
    ftb_buffer_release(w->owner);
    *w = (ftb_watch){0};
}

void ftb_watch_renew(ftb_watch *w)
{
    w->version = w->owner ? ftb_buffer_version(w->owner) : 0;
    w->sum = sum_of(w);
}

GrB_Info ftb_watch_look(const ftb_watch *w, bool *same, const char *name)
{
    *same = !w->owner || ftb_buffer_version(w->owner) == w->version;
    if (*same && sum_of(w) != w->sum)
        return ftb_watch_missed(name);
    return GrB_SUCCESS;
}

GrB_Info FtB_Matrix_changed(FtB_Matrix A)
{
    GrB_Info info = ftb_arg_matrix_anywhere(&A, FTB_ARG(A), "A", false);
    return info == GrB_SUCCESS ? ftb_device_error(ftb_buffer_changed(A->values), "A") : info;
}

GrB_Info FtB_Block_changed(FtB_Block X)
{
    GrB_Info info = ftb_arg_block_anywhere(&X, FTB_ARG(X), "X", false);
    return info == GrB_SUCCESS ? ftb_device_error(ftb_buffer_changed(X->owner), "X") : info;
}

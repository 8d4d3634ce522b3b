/* Labels: names of rows or columns, in one piece of memory. */
#include "core/core.h"

GrB_Info ftb_labels_make(FtB_Labels *labels, FtB_Context ctx, int64_t count, int64_t *offset, char *bytes)
{
    *labels = NULL;
    FtB_Labels made = offset && bytes ? ftb_new0(ctx, 1, sizeof *made) : NULL;
    if (!made) {
        ftb_delete(offset);
        ftb_delete(bytes);
        return ftb_nomem();
    }
    made->magic = FTB_MAGIC_LABELS;
    made->ctx = ctx ? ctx : ftb_context();
    atomic_init(&made->refs, 1);
    made->count = count;
    made->offset = offset;
    made->bytes = bytes;
    *labels = made;
    return GrB_SUCCESS;
}

GrB_Info FtB_Labels_new(FtB_Labels *labels, int64_t count, const char *const *strings)
{
    if (!labels)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Labels_new: labels is NULL");
    *labels = NULL;
    if (count < 0 || count == INT64_MAX)
        return ftb_fail(GrB_INVALID_VALUE, "FtB_Labels_new: count is %lld", (long long)count);
    if (!strings && count > 0)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Labels_new: strings is NULL; expected %lld", (long long)count);
    for (int64_t at = 0; at < count; at++)
        if (!strings[at])
            return ftb_fail(GrB_NULL_POINTER, "FtB_Labels_new: strings[%lld] is NULL", (long long)at);
    FtB_Context ctx = ftb_context();
    int64_t *offset = ftb_new0(ctx, count + 1, sizeof *offset);
    if (!offset)
        return ftb_nomem();
    for (int64_t at = 0; at < count; at++)
        offset[at + 1] = offset[at] + (int64_t)strlen(strings[at]) + 1;
    char *bytes = ftb_new(ctx, offset[count], 1);
    for (int64_t at = 0; bytes && at < count; at++)
        memcpy(bytes + offset[at], strings[at], (size_t)(offset[at + 1] - offset[at]));
    return ftb_labels_make(labels, ctx, count, offset, bytes);
}

static bool valid(FtB_Labels labels) { return labels && labels->magic == FTB_MAGIC_LABELS; }

const char *FtB_Labels_get(FtB_Labels labels, int64_t at)
{
    return valid(labels) && at >= 0 && at < labels->count ? labels->bytes + labels->offset[at] : NULL;
}

int64_t FtB_Labels_count(FtB_Labels labels) { return valid(labels) ? labels->count : 0; }

FtB_Labels ftb_labels_retain(FtB_Labels labels)
{
    if (labels)
        atomic_fetch_add(&labels->refs, 1);
    return labels;
}

GrB_Info FtB_Labels_free(FtB_Labels *labels)
{
    if (!labels || !*labels)
        return GrB_SUCCESS;
    FtB_Labels old = *labels;
    if (!valid(old))
        return ftb_fail(GrB_UNINITIALIZED_OBJECT, "labels is not an FtB_Labels, or was freed");
    *labels = NULL;
    if (atomic_fetch_sub(&old->refs, 1) > 1)
        return GrB_SUCCESS;
    ftb_delete((void *)(uintptr_t)old->offset);
    ftb_delete((void *)(uintptr_t)old->bytes);
    old->magic = 0;
    ftb_delete(old);
    return GrB_SUCCESS;
}

/* Dense blocks: rows x cols, row-major, over memory of their own, of a matrix or of the caller, on the host
 * or on a device. */
#include "core/backend.h"

static GrB_Info check_shape(const char *call, int64_t nrows, int64_t ncols, int64_t ld, FtB_Type type)
{
    int64_t count;
    if (!ftb_type_valid(type))
        return ftb_fail(GrB_INVALID_VALUE, "%s: type is %d, which is not an FtB_Type", call, (int)type);
    if (nrows < 0 || ncols < 0)
        return ftb_fail(GrB_INVALID_VALUE, "%s: the shape is %lld x %lld; expected dimensions >= 0", call,
                        (long long)nrows, (long long)ncols);
    if (ld < ncols)
        return ftb_fail(GrB_INVALID_VALUE, "%s: ld is %lld; expected at least the %lld columns", call,
                        (long long)ld, (long long)ncols);
    if (__builtin_mul_overflow(nrows, ld, &count) || count > INT64_MAX / 8)
        return ftb_fail(GrB_INVALID_VALUE, "%s: %lld rows of ld %lld values cannot be addressed", call,
                        (long long)nrows, (long long)ld);
    return GrB_SUCCESS;
}

GrB_Info ftb_block_view(FtB_Block *X, FtB_Context ctx, FtB_Type type, int64_t nrows, int64_t ncols,
                        int64_t ld, ftb_buffer *owner)
{
    *X = NULL;
    FtB_Block made = owner ? ftb_new0(ctx, 1, sizeof *made) : NULL;
    if (!made) {
        ftb_buffer_release(owner);
        return ftb_nomem();
    }
    *made = (struct FtB_Block_opaque){.magic = FTB_MAGIC_BLOCK,
                                      .ctx = ctx ? ctx : ftb_context(),
                                      .type = type,
                                      .nrows = nrows,
                                      .ncols = ncols,
                                      .ld = ld,
                                      .heads = 1,
                                      .owner = owner};
    ftb_buffer_describe(owner, &(ftb_content){FTB_KIND_BLOCK, type, nrows, ncols, 0, 0});
    *X = made;
    return GrB_SUCCESS;
}

GrB_Info FtB_Block_new(FtB_Block *X, int64_t nrows, int64_t ncols, FtB_Type type)
{
    if (!X)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Block_new: X is NULL");
    *X = NULL;
    GrB_Info info = check_shape("FtB_Block_new", nrows, ncols, ncols, type);
    if (info != GrB_SUCCESS)
        return info;
    FtB_Context ctx = ftb_context();
    return ftb_block_view(X, ctx, type, nrows, ncols, ncols,
                          ftb_buffer_new(ctx, nrows * ncols, FtB_Type_size(type)));
}

/* What a caller's memory is to be. `where`: of a device. */
typedef struct wrapping {
    const char *call;
    bool writable;
    const ftb_backend *where;
} wrapping;

/* Kernels read values where they are said to be: elsewhere, or between two values, the device would be lost.
 */
static GrB_Info check_address(const wrapping *how, const void *data, FtB_Type type)
{
    const size_t size = FtB_Type_size(type);
    if ((uintptr_t)data % size != 0)
        return ftb_fail(GrB_INVALID_VALUE, "%s: data is %p; expected a multiple of %zu, the bytes of a value",
                        how->call, data, size);
    GrB_Info info =
        data && how->where->memory->holds ? how->where->memory->holds(how->where, data) : GrB_SUCCESS;
    return info == GrB_SUCCESS ? info : ftb_wrap_error(info, "%s: data: ", how->call);
}

static GrB_Info wrap(FtB_Block *X, const wrapping *how, const void *data, int64_t nrows, int64_t ncols,
                     int64_t ld, FtB_Type type)
{
    const char *call = how->call;
    if (!X)
        return ftb_fail(GrB_NULL_POINTER, "%s: X is NULL", call);
    *X = NULL;
    GrB_Info info = check_shape(call, nrows, ncols, ld, type);
    if (info != GrB_SUCCESS)
        return info;
    if (!data && nrows > 0 && ncols > 0)
        return ftb_fail(GrB_NULL_POINTER, "%s: data is NULL; expected %lld x %lld values", call,
                        (long long)nrows, (long long)ncols);
    if (how->where)
        info = check_address(how, data, type);
    if (info != GrB_SUCCESS)
        return info;
    FtB_Context ctx = ftb_context();
    const int64_t values = nrows > 0 ? (nrows - 1) * ld + ncols : 0;
    const int64_t bytes = values * (int64_t)FtB_Type_size(type);
    return ftb_block_view(X, ctx, type, nrows, ncols, ld,
                          how->where ? ftb_buffer_wrap_device(ctx, how->where, (void *)(uintptr_t)data, bytes)
                                     : ftb_buffer_wrap(ctx, data, bytes, how->writable));
}

GrB_Info FtB_Block_wrap(FtB_Block *X, void *data, int64_t nrows, int64_t ncols, int64_t ld, FtB_Type type)
{
    return wrap(X, &(wrapping){"FtB_Block_wrap", true, NULL}, data, nrows, ncols, ld, type);
}

GrB_Info FtB_Block_wrap_const(FtB_Block *X, const void *data, int64_t nrows, int64_t ncols, int64_t ld,
                              FtB_Type type)
{
    return wrap(X, &(wrapping){"FtB_Block_wrap_const", false, NULL}, data, nrows, ncols, ld, type);
}

GrB_Info FtB_Block_wrap_device(FtB_Block *X, void *data, int64_t nrows, int64_t ncols, int64_t ld,
                               FtB_Type type)
{
    const ftb_backend *where = ftb_device(NULL);
    if (X && !where) {
        *X = NULL;
        return ftb_fail(FTB_NO_DEVICE, "FtB_Block_wrap_device: the engaged context works on the host; "
                                       "expected FtB_Context_set_device before");
    }
    return wrap(X, &(wrapping){"FtB_Block_wrap_device", true, where}, data, nrows, ncols, ld, type);
}

static GrB_Info check_block(FtB_Block X)
{
    if (!X)
        return ftb_fail(GrB_NULL_POINTER, "X is NULL; expected an FtB_Block");
    if (X->magic != FTB_MAGIC_BLOCK)
        return ftb_fail(GrB_UNINITIALIZED_OBJECT, "X is not an FtB_Block, or was freed");
    return GrB_SUCCESS;
}

GrB_Info FtB_Block_to_device(FtB_Block X)
{
    void *device;
    GrB_Info info = check_block(X);
    if (info != GrB_SUCCESS)
        return info;
    ftb_buffer *b = X->owner;
    const ftb_backend *where = b->foreign ? b->where : ftb_device(b->ctx);
    if (!where)
        return ftb_device_error(ftb_buffer_home(b), "X");
    info = ftb_device_error(ftb_buffer_ask_at(b, where, FTB_READ, &device), "X");
    if (info == GrB_SUCCESS && b->foreign) /* who owns it knows nothing of our order */
        info = where->memory->wait(where, b->ctx);
    return info;
}

GrB_Info FtB_Block_to_host(FtB_Block X)
{
    GrB_Info info = check_block(X);
    return info == GrB_SUCCESS ? ftb_device_error(ftb_buffer_home(X->owner), "X") : info;
}

GrB_Info FtB_Block_shape(FtB_Block X, int64_t *nrows, int64_t *ncols, int64_t *ld, FtB_Type *type,
                         void **data)
{
    GrB_Info info = check_block(X);
    if (info != GrB_SUCCESS)
        return info;
    if (nrows)
        *nrows = X->nrows;
    if (ncols)
        *ncols = X->ncols;
    if (ld)
        *ld = X->ld;
    if (type)
        *type = X->type;
    if (data) {
        info = ftb_device_error(ftb_buffer_lend(X->owner), "X");
        *data = info == GrB_SUCCESS ? ftb_block_data(X) : NULL;
    }
    return info;
}

static GrB_Info view(FtB_Block *V, FtB_Block X, int64_t first, int64_t ncols, int64_t heads)
{
    GrB_Info info = ftb_block_view(V, X->ctx, X->type, X->nrows, ncols, X->ld, ftb_buffer_retain(X->owner));
    if (info == GrB_SUCCESS) {
        (*V)->heads = heads;
        (*V)->offset = X->offset + first * (int64_t)FtB_Type_size(X->type);
    }
    return info;
}

GrB_Info FtB_Block_heads(FtB_Block *V, FtB_Block X, int64_t heads)
{
    if (!V)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Block_heads: V is NULL");
    *V = NULL;
    GrB_Info info = check_block(X);
    if (info != GrB_SUCCESS)
        return info;
    if (heads < 1 || X->ncols % heads != 0)
        return ftb_fail(GrB_INVALID_VALUE,
                        "FtB_Block_heads: heads is %lld; expected a number that divides the %lld columns",
                        (long long)heads, (long long)X->ncols);
    return view(V, X, 0, X->ncols, heads);
}

GrB_Info FtB_Block_columns(FtB_Block *V, FtB_Block X, int64_t first, int64_t count)
{
    if (!V)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Block_columns: V is NULL");
    *V = NULL;
    GrB_Info info = check_block(X);
    if (info != GrB_SUCCESS)
        return info;
    if (first < 0 || count < 0 || first > X->ncols || count > X->ncols - first)
        return ftb_fail(GrB_INDEX_OUT_OF_BOUNDS,
                        "FtB_Block_columns: %lld columns from column %lld on are not inside %lld x %lld",
                        (long long)count, (long long)first, (long long)X->nrows, (long long)X->ncols);
    return view(V, X, first, count, 1);
}

GrB_Info FtB_Block_free(FtB_Block *X)
{
    if (!X || !*X)
        return GrB_SUCCESS;
    GrB_Info info = check_block(*X);
    if (info != GrB_SUCCESS)
        return info;
    ftb_buffer_release((*X)->owner);
    (*X)->magic = 0;
    ftb_delete(*X);
    *X = NULL;
    return GrB_SUCCESS;
}

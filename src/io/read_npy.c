/* .npy files of numpy.save: header and values, in either byte order, by rows or by columns. */
#include "core/words.h"
#include "io/format.h"
#include "io/npy.h"

#define CHUNK_BYTES (16 << 20) /* read at a time: enough to be split between threads */

static GrB_Info read_bytes(void *arg, void *bytes, int64_t count)
{
    return ftb_input_exactly(arg, bytes, count, "header");
}

static GrB_Info read_head(ftb_dense *d, ftb_npy *h, ftb_input *in)
{
    const char *name = ftb_input_name(in);
    const int64_t size = ftb_input_size(in);
    int64_t head = 0, bytes;
    char dtype[32];
    GrB_Info info = ftb_npy_read_head(h, &head, d->ctx, read_bytes, in, name, "array");
    if (info != GrB_SUCCESS)
        return info;
    if (ftb_npy_type(h) == 0)
        return ftb_fail(FTB_FORMAT, "%s: values of dtype %s are not supported", name, ftb_npy_name(dtype, h));
    d->nrows = h->ndim > 0 ? h->shape[0] : 1;
    d->ncols = h->ndim > 1 ? h->shape[1] : 1;
    d->by_column = h->fortran && h->ndim > 1;
    if (__builtin_mul_overflow(d->nrows, d->ncols, &bytes) || bytes > INT64_MAX / 16)
        return ftb_fail(FTB_FORMAT, "%s: %lld x %lld values cannot be addressed", name, (long long)d->nrows,
                        (long long)d->ncols);
    bytes *= h->size;
    if (size >= 0 && size != head + bytes)
        return ftb_fail(FTB_FORMAT, "%s: %lld x %lld values take %lld bytes, and %lld follow the header",
                        name, (long long)d->nrows, (long long)d->ncols, (long long)bytes,
                        (long long)(size - head));
    return GrB_SUCCESS;
}

/* count values, in chunks: what an input of unknown size only claims to have does not make us allocate it. */
static GrB_Info read_values(ftb_dense *d, ftb_input *in, const ftb_npy *h, int64_t count)
{
    const FtB_Type stored = ftb_npy_type(h);
    const int64_t item = h->size, size = (int64_t)FtB_Type_size(d->type), chunk = CHUNK_BYTES / item;
    const bool known = ftb_input_size(in) >= 0, same = stored == d->type;
    char *raw = same ? NULL : ftb_new(d->ctx, ftb_min(chunk, count), (size_t)item);
    int64_t room = known ? count : ftb_min(chunk, count);
    GrB_Info info = GrB_SUCCESS;
    if ((!same && !raw) || !ftb_resize(d->ctx, &d->data, room, (size_t)size)) {
        ftb_delete(raw);
        return ftb_nomem();
    }
    for (int64_t done = 0; done < count && info == GrB_SUCCESS;) {
        const int64_t n = ftb_min(chunk, count - done);
        if (done + n > room) {
            room = ftb_min(count, ftb_max(done + n, 2 * done));
            if (!ftb_resize(d->ctx, &d->data, room, (size_t)size)) {
                info = ftb_nomem();
                break;
            }
        }
        char *out = (char *)d->data + done * size, *to = same ? out : raw;
        info = ftb_input_exactly(in, to, n * item, "values");
        if (info == GrB_SUCCESS && h->swapped)
            ftb_npy_swap(to, n, h->size);
        if (info == GrB_SUCCESS && stored == FTB_BOOL) /* only 0 and 1 are values of the C type */
            for (int64_t k = 0; k < n; k++)
                ((uint8_t *)to)[k] = ((uint8_t *)to)[k] != 0;
        const int64_t bad = info == GrB_SUCCESS && !same ? ftb_find_unfit(d->type, raw, stored, n) : -1;
        if (bad >= 0) {
            char value[FTB_WORDS];
            info = ftb_fail(FTB_FORMAT, "%s: value %lld, from 0, is %s, which %s cannot hold",
                            ftb_input_name(in), (long long)(done + bad),
                            ftb_value_text(value, raw, stored, bad), FtB_Type_name(d->type));
        }
        if (info == GrB_SUCCESS && !same)
            ftb_cast(out, d->type, raw, stored, n);
        done += n;
        if (info == GrB_SUCCESS)
            info = ftb_progress(d->ctx, (double)(done * item), (double)(count * item), "bytes read");
    }
    ftb_delete(raw);
    return info;
}

static GrB_Info read_npy(ftb_dense *d, ftb_input *in, const FtB_Block_read_options *options)
{
    ftb_npy h;
    char what[64];
    GrB_Info info;
    FTB_CHECK(read_head(d, &h, in));
    d->type = options->type ? options->type : ftb_npy_type(&h);
    FTB_CHECK(read_values(d, in, &h, d->nrows * d->ncols));
    snprintf(what, sizeof what, "%lld x %lld values", (long long)d->nrows, (long long)d->ncols);
    info = ftb_input_end(in, what);
done:
    return info;
}

const ftb_codec ftb_codec_npy = {
    .magic = {"\x93NUMPY"}, .rank = 3, .block = read_npy, .write_block = ftb_write_block_npy};

/* npz files of scipy.sparse.save_npz: csr, csc and coo, stored or deflated. */
#include "io/format.h"
#include "io/npy.h"

#include <zip.h>

typedef struct reader {
    FtB_Context ctx;
    const char *name;
    int64_t file_size;
    zip_t *zip;
    void *bytes; /* of the whole file, if it came by a pipe */
} reader;

typedef struct array { /* a member */
    const char *member;
    ftb_npy npy;
    int64_t count;
    void *data;
} array;

/* ---- the archive */

static GrB_Info whole_input(reader *r, ftb_input *in)
{
    int64_t room = 0, got = 1;
    GrB_Info info = GrB_SUCCESS;
    for (r->file_size = 0; got > 0 && info == GrB_SUCCESS; r->file_size += got) {
        if (r->file_size == room) {
            room = ftb_max(1 << 20, room + room / 2);
            if (!ftb_resize(r->ctx, &r->bytes, room, 1))
                return ftb_nomem();
        }
        info = ftb_input_read(in, (char *)r->bytes + r->file_size, room - r->file_size, &got);
    }
    return info;
}

static GrB_Info open_archive(reader *r, ftb_input *in)
{
    zip_error_t error;
    GrB_Info info = GrB_SUCCESS;
    r->file_size = ftb_input_size(in);
    if (r->file_size < 0)
        info = whole_input(r, in);
    if (info != GrB_SUCCESS)
        return info;
    zip_error_init(&error);
    zip_source_t *source = r->bytes
                               ? zip_source_buffer_create(r->bytes, (zip_uint64_t)r->file_size, 0, &error)
                               : zip_source_file_create(r->name, 0, -1, &error);
    if (source && !(r->zip = zip_open_from_source(source, ZIP_RDONLY, &error)))
        zip_source_free(source);
    if (!r->zip)
        info = ftb_fail(FTB_FORMAT, "%s: is no npz file: %s", r->name, zip_error_strerror(&error));
    zip_error_fini(&error);
    return info;
}

static bool has_member(const reader *r, const char *name) { return zip_name_locate(r->zip, name, 0) >= 0; }

typedef struct opened { /* a member */
    const char *name, *member;
    zip_file_t *file;
} opened;

static GrB_Info read_bytes(void *arg, void *bytes, int64_t count)
{
    const opened *o = arg;
    while (count > 0) {
        zip_int64_t n = zip_fread(o->file, bytes, (zip_uint64_t)count);
        if (n <= 0)
            return ftb_fail(FTB_FORMAT, "%s: %s: %s", o->name, o->member,
                            n < 0 ? zip_error_strerror(zip_file_get_error(o->file)) : "ends early");
        bytes = (char *)bytes + n;
        count -= n;
    }
    return GrB_SUCCESS;
}

/* A member that does not have the `wanted` bytes that its head asks for. */
static GrB_Info misfit(const reader *r, const array *a, uint64_t wanted, uint64_t size)
{
    if (wanted < size)
        return ftb_fail(FTB_FORMAT, "%s: %s: %llu bytes follow its last value", r->name, a->member,
                        (unsigned long long)(size - wanted));
    return ftb_fail(FTB_FORMAT, "%s: %s: shape and dtype do not fit its %llu bytes", r->name, a->member,
                    (unsigned long long)size);
}

/* Reads a whole member: a vector, or a scalar text. */
static GrB_Info read_array(const reader *r, array *a)
{
    zip_stat_t st;
    int64_t head = 0, bytes = 0;
    GrB_Info info = GrB_SUCCESS;
    if (zip_stat(r->zip, a->member, 0, &st) != 0)
        return ftb_fail(FTB_FORMAT, "%s: has no member %s", r->name, a->member);
    zip_file_t *f = zip_fopen(r->zip, a->member, 0);
    if (!f)
        return ftb_fail(FTB_FORMAT, "%s: %s: %s", r->name, a->member, zip_strerror(r->zip));
    opened o = {.name = r->name, .member = a->member, .file = f};
    FTB_CHECK(ftb_npy_read_head(&a->npy, &head, r->ctx, read_bytes, &o, r->name, a->member));
    a->count = a->npy.ndim == 0 ? 1 : a->npy.shape[0];
    bool text = a->npy.kind == 'S' || a->npy.kind == 'U';
    int64_t item = (int64_t)a->npy.size * (text ? a->npy.length : 1);
    /* Deflate packs at most 1032 times, so what claims to be longer is not worth allocating. */
    if (a->npy.ndim > 1 || __builtin_mul_overflow(a->count, item, &bytes) || bytes / 1040 > r->file_size)
        info = misfit(r, a, st.size, st.size);
    else if ((uint64_t)bytes + (uint64_t)head != st.size)
        info = misfit(r, a, (uint64_t)bytes + (uint64_t)head, st.size);
    else if (!(a->data = ftb_new(r->ctx, bytes, 1)))
        info = ftb_nomem();
    if (info != GrB_SUCCESS)
        goto done;
    FTB_CHECK(read_bytes(&o, a->data, bytes));
    char beyond; /* at the end libzip compares the checksum */
    if (zip_fread(f, &beyond, 1) != 0) {
        info =
            ftb_fail(FTB_FORMAT, "%s: %s: %s", r->name, a->member, zip_error_strerror(zip_file_get_error(f)));
        goto done;
    }
    if (a->npy.swapped && !text)
        ftb_npy_swap(a->data, a->count, a->npy.size);
done:
    zip_fclose(f);
    return info;
}

/* ---- members */

/* An integer vector as int64. */
static GrB_Info read_integers(const reader *r, array *a)
{
    GrB_Info info = read_array(r, a);
    if (info != GrB_SUCCESS)
        return info;
    FtB_Type type = ftb_npy_type(&a->npy);
    if (type == 0 || !ftb_type_integer(type))
        return ftb_fail(FTB_FORMAT, "%s: %s: expected integers", r->name, a->member);
    if (type == FTB_INT64)
        return GrB_SUCCESS;
    void *wide = ftb_new(r->ctx, a->count, 8);
    if (!wide)
        return ftb_nomem();
    ftb_cast(wide, FTB_INT64, a->data, type, a->count);
    ftb_delete(a->data);
    a->data = wide;
    return GrB_SUCCESS;
}

static GrB_Info read_format(const reader *r, char format[4])
{
    array a = {.member = "format.npy"};
    GrB_Info info = read_array(r, &a);
    memset(format, 0, 4);
    for (int c = 0; info == GrB_SUCCESS && c < a.npy.length; c++) {
        if ((a.npy.kind != 'S' && a.npy.kind != 'U') || a.npy.length != 3 || a.count != 1)
            info = ftb_fail(FTB_FORMAT, "%s: %s: expected a text of three letters", r->name, a.member);
        else if (a.npy.kind == 'S')
            format[c] = ((const char *)a.data)[c];
        else /* UTF-32 in either byte order: the letter is its only byte that is not 0 */
            format[c] = (char)(((const char *)a.data)[4 * c] | ((const char *)a.data)[4 * c + 3]);
    }
    ftb_delete(a.data);
    return info;
}

static GrB_Info read_shape(const reader *r, int64_t *nrows, int64_t *ncols)
{
    array a = {.member = "shape.npy"};
    GrB_Info info = read_integers(r, &a);
    if (info == GrB_SUCCESS) {
        const int64_t *n = a.data;
        if (a.count != 2 || n[0] < 0 || n[1] < 0 || n[0] == INT64_MAX || n[1] == INT64_MAX) {
            info = ftb_fail(FTB_FORMAT, "%s: %s: expected two dimensions", r->name, a.member);
        } else {
            *nrows = n[0];
            *ncols = n[1];
        }
    }
    ftb_delete(a.data);
    return info;
}

static GrB_Info read_values(const reader *r, array *a, FtB_Type *type)
{
    char dtype[32];
    GrB_Info info = read_array(r, a);
    if (info != GrB_SUCCESS)
        return info;
    *type = ftb_npy_type(&a->npy);
    if (*type == 0)
        return ftb_fail(FTB_FORMAT, "%s: %s: values of dtype %s are not supported", r->name, a->member,
                        ftb_npy_name(dtype, &a->npy));
    if (*type == FTB_BOOL) /* only 0 and 1 are values of the C type */
        for (int64_t e = 0; e < a->count; e++)
            ((uint8_t *)a->data)[e] = ((uint8_t *)a->data)[e] != 0;
    return GrB_SUCCESS;
}

/* ---- matrices */

static GrB_Info check_count(const reader *r, const array *a, int64_t expected)
{
    if (a->count == expected)
        return GrB_SUCCESS;
    return ftb_fail(FTB_FORMAT, "%s: %s: has %lld items; expected %lld", r->name, a->member,
                    (long long)a->count, (long long)expected);
}

/* csr; or csc, as the csr of the transpose, which is then transposed. */
static GrB_Info read_compressed(FtB_Matrix *A, reader *r, bool by_column, const FtB_Read_options *options)
{
    array indptr = {.member = "indptr.npy"}, indices = {.member = "indices.npy"},
          data = {.member = "data.npy"};
    ftb_arrays a = {.ctx = r->ctx, .name = r->name, .width = 1, .column_bytes = 8};
    FtB_Matrix T = NULL;
    GrB_Info info;
    FTB_CHECK(by_column ? read_shape(r, &a.ncols, &a.nrows) : read_shape(r, &a.nrows, &a.ncols));
    FTB_CHECK(read_integers(r, &indptr));
    FTB_CHECK(check_count(r, &indptr, a.nrows + 1));
    FTB_CHECK(read_array(r, &indices));
    if (indices.npy.kind != 'i' || (indices.npy.size != 4 && indices.npy.size != 8)) {
        info = ftb_fail(FTB_FORMAT, "%s: %s: expected integers of 32 or 64 bits", r->name, indices.member);
        goto done;
    }
    FTB_CHECK(read_values(r, &data, &a.type));
    FTB_CHECK(check_count(r, &data, indices.count));
    a.nvals = indices.count;
    a.column_bytes = indices.npy.size;
    a.rowptr = indptr.data;
    a.colidx = indices.data;
    a.values = data.data;
    indptr.data = indices.data = data.data = NULL;
    FTB_CHECK(ftb_arrays_build(by_column ? &T : A, &a, options));
    if (by_column)
        info = ftb_matrix_transpose(A, T);
done:
    ftb_arrays_clear(&a);
    FtB_Matrix_free(&T);
    ftb_delete(indptr.data);
    ftb_delete(indices.data);
    ftb_delete(data.data);
    return info;
}

static GrB_Info read_coo(FtB_Matrix *A, reader *r, const FtB_Read_options *options)
{
    array row = {.member = "row.npy"}, col = {.member = "col.npy"}, data = {.member = "data.npy"};
    ftb_arrays a = {.ctx = r->ctx, .name = r->name, .width = 1};
    GrB_Info info;
    FTB_CHECK(read_shape(r, &a.nrows, &a.ncols));
    FTB_CHECK(read_integers(r, &row));
    FTB_CHECK(read_integers(r, &col));
    FTB_CHECK(read_values(r, &data, &a.type));
    FTB_CHECK(check_count(r, &col, row.count));
    FTB_CHECK(check_count(r, &data, row.count));
    a.nvals = row.count;
    a.values = data.data;
    data.data = NULL;
    info = ftb_build_merged(A, &a, row.data, col.data, options);
done:
    ftb_arrays_clear(&a);
    ftb_delete(row.data);
    ftb_delete(col.data);
    ftb_delete(data.data);
    return info;
}

static GrB_Info read_npz(FtB_Matrix *A, FtB_Labels labels[2], FtB_Context ctx, ftb_input *in,
                         const FtB_Read_options *options)
{
    (void)labels;
    reader r = {.ctx = ctx, .name = ftb_input_name(in)};
    char format[4];
    GrB_Info info;
    FTB_CHECK(open_archive(&r, in));
    if (!has_member(&r, "format.npy")) {
        info = ftb_fail(FTB_FORMAT,
                        "%s: has no member format.npy; expected what scipy.sparse.save_npz writes", r.name);
        goto done;
    }
    FTB_CHECK(read_format(&r, format));
    if (strcmp(format, "csr") == 0 || strcmp(format, "csc") == 0)
        info = read_compressed(A, &r, format[2] == 'c', options);
    else if (strcmp(format, "coo") == 0)
        info = read_coo(A, &r, options);
    else
        info = ftb_fail(FTB_FORMAT, "%s: format '%.3s' is not supported; expected csr, csc or coo", r.name,
                        format);
done:
    if (r.zip)
        zip_discard(r.zip);
    ftb_delete(r.bytes);
    return info;
}

const ftb_codec ftb_codec_npz = {
    .magic = {"PK\x03\x04"}, .rank = 2, .matrix = read_npz, .sink = &ftb_npz_kind};

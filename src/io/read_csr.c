/* Raw CSR files: our own, the fastest to read. */
#include "io/format.h"

static GrB_Info check_head(const ftb_csr_head *h, ftb_input *in)
{
    const char *name = ftb_input_name(in);
    int64_t columns_end, values, end;
    if (h->order == __builtin_bswap32(FTB_CSR_ORDER))
        return ftb_fail(FTB_FORMAT, "%s: was written by a machine with the other byte order", name);
    if (memcmp(h->magic, FTB_CSR_MAGIC, 8) != 0 || h->order != FTB_CSR_ORDER)
        return ftb_fail(FTB_FORMAT, "%s: is no raw CSR file", name);
    if (h->version != 1)
        return ftb_fail(FTB_FORMAT, "%s: is of version %d; this library reads version 1", name, h->version);
    if (!ftb_type_valid((FtB_Type)h->type) || (h->column_bytes != 4 && h->column_bytes != 8) ||
        h->nrows < 0 || h->ncols < 0 || h->nvals < 0 || h->width < 0 || h->nrows == INT64_MAX)
        return ftb_fail(FTB_FORMAT, "%s: the head is damaged", name);
    bool wrong = __builtin_mul_overflow(h->nrows + 1, 8, &end) || __builtin_add_overflow(end, 64, &end) ||
                 end != h->columns_at || __builtin_mul_overflow(h->nvals, h->column_bytes, &columns_end) ||
                 __builtin_add_overflow(columns_end, end, &columns_end) ||
                 __builtin_mul_overflow(h->nvals, h->width, &values) ||
                 __builtin_mul_overflow(values, (int64_t)FtB_Type_size((FtB_Type)h->type), &values) ||
                 h->values_at < columns_end || h->values_at - columns_end > (16 << 20) ||
                 __builtin_add_overflow(h->values_at, values, &end);
    if (wrong)
        return ftb_fail(FTB_FORMAT, "%s: the head's sizes and places do not agree", name);
    int64_t size = ftb_input_size(in);
    if (size >= 0 && size < (h->width > 0 ? end : columns_end))
        return ftb_fail(FTB_FORMAT, "%s: has %lld bytes; its head announces %lld", name, (long long)size,
                        (long long)end);
    return GrB_SUCCESS;
}

/* Passes over what fills the gap before the values. */
static GrB_Info skip(ftb_input *in, int64_t count)
{
    char bytes[4096];
    GrB_Info info = GrB_SUCCESS;
    for (; count > 0 && info == GrB_SUCCESS; count -= (int64_t)sizeof bytes)
        info = ftb_input_exactly(in, bytes, ftb_min(count, (int64_t)sizeof bytes), "gap before the values");
    return info;
}

/* The arrays, which are used as they are; where columns turned out not to ascend, also what it takes to build
 * anew. */
static double array_bytes(const ftb_csr_head *h, FtB_Context ctx, bool anew)
{
    double n = (double)h->nvals, values = 8 * (double)h->width; /* or less */
    double bytes = 8 * (double)h->nrows + n * (h->column_bytes + values) + 8192;
    return anew ? bytes + 16 * n + n * values + ftb_build_bytes(ctx, n, (double)h->nrows, 8, values) : bytes;
}

static GrB_Info read_csr(FtB_Matrix *A, FtB_Labels labels[2], FtB_Context ctx, ftb_input *in,
                         const FtB_Read_options *options)
{
    (void)labels;
    ftb_csr_head h;
    ftb_arrays a = {.ctx = ctx, .name = ftb_input_name(in)};
    void *rowptr = NULL;
    bool whole = false;
    int64_t left = ftb_memory_left(ctx);
    GrB_Info info;
    FTB_CHECK(ftb_input_exactly(in, &h, sizeof h, "head"));
    FTB_CHECK(check_head(&h, in));
    a.nrows = h.nrows;
    a.ncols = h.ncols;
    a.nvals = h.nvals;
    a.width = h.width;
    a.type = (FtB_Type)h.type;
    a.column_bytes = h.column_bytes;
    info = ftb_read_array(&rowptr, ctx, in, h.nrows + 1, 8, "row pointers");
    a.rowptr = rowptr;
    FTB_CHECK(info);
    FTB_CHECK(ftb_read_array(&a.colidx, ctx, in, h.nvals, (size_t)h.column_bytes, "columns"));
    if (h.width > 0) {
        FTB_CHECK(skip(in, h.values_at - h.columns_at - h.nvals * h.column_bytes));
        FTB_CHECK(ftb_read_array(&a.values, ctx, in, h.nvals * h.width, FtB_Type_size(a.type), "values"));
    }
    FTB_CHECK(ftb_input_end(in, h.width > 0 ? "values" : "columns"));
    whole = true;
    FTB_CHECK(ftb_arrays_build(A, &a, options));
done:
    if (info == FTB_LIMIT)
        info = ftb_too_large(ctx, left, array_bytes(&h, ctx, whole), ftb_input_name(in));
    ftb_arrays_clear(&a);
    return info;
}

const ftb_codec ftb_codec_csr = {
    .magic = {FTB_CSR_MAGIC}, .rank = 4, .matrix = read_csr, .sink = &ftb_csr_kind};

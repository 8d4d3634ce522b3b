/* FtB_Matrix_read: which reader a file is for. */
#include "core/options.h"
#include "io/input.h"

static bool starts(const char *bytes, int64_t count, const char *magic)
{
    size_t length = strlen(magic);
    return count >= (int64_t)length && memcmp(bytes, magic, length) == 0;
}

FtB_Format ftb_guess_format(const ftb_input *in)
{
    int64_t count;
    const char *bytes = ftb_input_peek(in, &count);
    int64_t mark = starts(bytes, count, FTB_UTF8_MARK) ? 3 : 0;
    if (starts(bytes + mark, count - mark, "%%Matrix") || starts(bytes + mark, count - mark, "%%matrix"))
        return FTB_MTX;
    if (starts(bytes, count, "PK\x03\x04"))
        return FTB_NPZ;
    if (starts(bytes, count, FTB_CSR_MAGIC))
        return FTB_CSR;
    if (starts(bytes, count, "\x93NUMPY"))
        return FTB_NPY;
    return FTB_CSV;
}

static GrB_Info read_options(FtB_Read_options *o, const FtB_Read_options *given)
{
    *o = (FtB_Read_options){.size = sizeof *o};
    GrB_Info info = ftb_options_read(o, sizeof *o, given, "FtB_Matrix_read", "FTB_READ_OPTIONS");
    if (info != GrB_SUCCESS)
        return info;
    if (o->format < FTB_FORMAT_AUTO || o->format > FTB_CSR)
        return ftb_fail(GrB_INVALID_VALUE, "FtB_Matrix_read: options.format is %d, which is no FtB_Format",
                        (int)o->format);
    if (o->type != 0 && !ftb_type_valid(o->type))
        return ftb_fail(GrB_INVALID_VALUE, "FtB_Matrix_read: options.type is %d, which is no FtB_Type",
                        (int)o->type);
    if (o->duplicates < FTB_DUP_SUM || o->duplicates > FTB_DUP_KEEP)
        return ftb_fail(GrB_INVALID_VALUE, "FtB_Matrix_read: options.duplicates is %d, which is no FtB_Dup",
                        (int)o->duplicates);
    return GrB_SUCCESS;
}

/* NaN and infinities, where the reader of the format has not looked for them. */
static GrB_Info check_finite(FtB_Matrix A, const char *name)
{
    if (!A->values || !ftb_type_float(A->type))
        return GrB_SUCCESS;
    int64_t row = 0, at = ftb_find_not_finite(A->ctx, A->values->data, A->type, A->pattern->nvals * A->width);
    if (at < 0)
        return GrB_SUCCESS;
    const int64_t e = at / A->width;
    while (A->pattern->rowptr[row + 1] <= e)
        row++;
    return ftb_fail(FTB_FORMAT, "%s: the value of entry (%lld, %lld) is %g; expected a finite number", name,
                    (long long)row, (long long)ftb_col(A->pattern, e),
                    ftb_get_real(A->values->data, A->type, at));
}

static GrB_Info read_as(FtB_Format format, FtB_Matrix *A, FtB_Labels *rows, FtB_Labels *cols, FtB_Context ctx,
                        ftb_input *in, const FtB_Read_options *o)
{
    switch (format) {
    case FTB_MTX:
        return ftb_read_mtx(A, ctx, in, o);
    case FTB_NPZ:
        return ftb_read_npz(A, ctx, in, o);
    case FTB_CSR:
        return ftb_read_csr(A, ctx, in, o);
    case FTB_NPY:
        return ftb_fail(FTB_FORMAT, "%s: is a dense array, which FtB_Block_read reads", ftb_input_name(in));
    default:
        return ftb_read_edges(A, rows, cols, ctx, in, o);
    }
}

GrB_Info FtB_Matrix_read(FtB_Matrix *A, FtB_Labels *rows, FtB_Labels *cols, const char *path,
                         const FtB_Read_options *options)
{
    if (!A || !path)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Matrix_read: %s is NULL", A ? "path" : "A");
    FtB_Context ctx = ftb_context();
    FtB_Read_options o;
    ftb_input *in = NULL;
    FtB_Matrix read = NULL;
    FtB_Labels labels[2] = {NULL, NULL};
    int64_t count;
    GrB_Info info;
    *A = NULL;
    if (rows)
        *rows = NULL;
    if (cols)
        *cols = NULL;
    FTB_CHECK(read_options(&o, options));
    FTB_CHECK(ftb_input_open(&in, ctx, path));
    ftb_input_peek(in, &count);
    if (count == 0) {
        info = ftb_fail(FTB_FORMAT, "%s: is empty", ftb_input_name(in));
        goto done;
    }
    FtB_Format format = o.format ? o.format : ftb_guess_format(in);
    FTB_CHECK(read_as(format, &read, &labels[0], &labels[1], ctx, in, &o));
    if (o.finite)
        FTB_CHECK(check_finite(read, ftb_input_name(in)));
    const bool edges = format == FTB_CSV || format == FTB_TSV; /* their reader knows more */
    if (o.found && !edges)
        *o.found = format;
    if (o.layout && !edges)
        *o.layout = (FtB_Edge_layout){.delimiter = 0};
    *A = read;
    read = NULL;
    if (rows) {
        *rows = labels[0];
        labels[0] = NULL;
    }
    if (cols) {
        *cols = labels[1];
        labels[1] = NULL;
    }
done:
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(ctx);
    FtB_Matrix_free(&read);
    FtB_Labels_free(&labels[0]);
    FtB_Labels_free(&labels[1]);
    ftb_input_close(&in);
    return info;
}

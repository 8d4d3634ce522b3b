/* FtB_Matrix_read: which reader a file is for. */
#include "core/hypersparse.h"
#include "core/options.h"
#include "io/format.h"

static GrB_Info read_options(FtB_Read_options *o, const FtB_Read_options *given)
{
    *o = (FtB_Read_options){.size = sizeof *o};
    GrB_Info info = ftb_options_read(o, sizeof *o, given, "FtB_Matrix_read", "FTB_READ_OPTIONS");
    if (info == GrB_SUCCESS)
        info = ftb_format_check("FtB_Matrix_read", o->format, FTB_READ_MATRIX, o->type);
    if (info == GrB_SUCCESS && (o->duplicates < FTB_DUP_SUM || o->duplicates > FTB_DUP_KEEP))
        info = ftb_fail(GrB_INVALID_VALUE, "FtB_Matrix_read: options.duplicates is %d, which is no FtB_Dup",
                        (int)o->duplicates);
    return info;
}

/* NaN and infinities, where the reader of the format has not looked for them. */
static GrB_Info check_finite(FtB_Matrix A, const char *name)
{
    if (!A->values || !ftb_type_float(A->type))
        return GrB_SUCCESS;
    const int64_t at = ftb_find_not_finite(A->ctx, ftb_values(A), A->type, A->pattern->nvals * A->width);
    if (at < 0)
        return GrB_SUCCESS;
    const int64_t e = at / A->width, row = ftb_row_of_entry(A->pattern, e);
    return ftb_fail(FTB_FORMAT, "%s: the value of entry (%lld, %lld) is %g; expected a finite number", name,
                    (long long)row, (long long)ftb_col(A->pattern, e),
                    ftb_get_real(ftb_values(A), A->type, at));
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
    FtB_Format found = FTB_FORMAT_AUTO;
    FtB_Edge_layout layout = {.delimiter = 0};
    const ftb_format *f;
    GrB_Info info;
    *A = NULL;
    if (rows)
        *rows = NULL;
    if (cols)
        *cols = NULL;
    FTB_CHECK(read_options(&o, options));
    FTB_CHECK(ftb_format_open(&in, &f, ctx, path, o.format));
    if (!f->codec->matrix)
        FTB_CHECK(ftb_fail(FTB_FORMAT,
                           "%s: expected a matrix; %s files hold dense arrays, which FtB_Block_read reads",
                           ftb_input_name(in), f->name));
    const FtB_Read_options told = o;
    o.found = &found;
    o.layout = &layout;
    FTB_CHECK(f->codec->matrix(&read, labels, ctx, in, &o));
    if (o.finite)
        FTB_CHECK(check_finite(read, ftb_input_name(in)));
    if (told.found)
        *told.found = found ? found : f->value;
    if (told.layout)
        *told.layout = layout;
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

/* C = A B, A' B or A B' for dense blocks: checked, placed, and run there. */
#include "cpu/dense_run.h"
#include "nn/nn.h"
#include "ops/backends.h"

static GrB_Info check(ftb_dense_form what, FtB_Block C, FtB_Block A, FtB_Block B)
{
    bool ta = what == FTB_ATB, tb = what == FTB_ABT;
    int64_t m = ta ? A->ncols : A->nrows, k = ta ? A->nrows : A->ncols, n = tb ? B->nrows : B->ncols,
            kb = tb ? B->ncols : B->nrows;
    if (m != C->nrows || n != C->ncols || k != kb)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "dense product: %lld x %lld = %lld x %lld times %lld x %lld",
                        (long long)C->nrows, (long long)C->ncols, (long long)m, (long long)k, (long long)kb,
                        (long long)n);
    if (A->type != C->type || B->type != C->type)
        return ftb_fail(GrB_DOMAIN_MISMATCH, "dense product: dtypes %s = %s times %s; expected one of all",
                        FtB_Type_name(C->type), FtB_Type_name(A->type), FtB_Type_name(B->type));
    if (n > INT32_MAX || A->ld > INT32_MAX || B->ld > INT32_MAX || C->ld > INT32_MAX ||
        (!ta && k > INT32_MAX) || (ta && m > INT32_MAX))
        return ftb_fail(GrB_INVALID_VALUE, "dense product: more columns than CBLAS can address");
    return GrB_SUCCESS;
}

static ftb_dense_product product_of(ftb_dense_form what, FtB_Block C, FtB_Block A, FtB_Block B, bool add,
                                    FtB_Context ctx)
{
    return (ftb_dense_product){.ctx = ctx,
                               .what = what,
                               .type = C->type,
                               .nrows = C->nrows,
                               .ncols = C->ncols,
                               .inner = what == FTB_ATB ? A->nrows : A->ncols,
                               .lda = A->ld,
                               .ldb = B->ld,
                               .ldc = C->ld,
                               .add = add};
}

GrB_Info ftb_dense_multiply(ftb_dense_form what, FtB_Block C, FtB_Block A, FtB_Block B, bool add,
                            FtB_Context ctx)
{
    GrB_Info info = check(what, C, A, B);
    if (info != GrB_SUCCESS || C->nrows == 0 || C->ncols == 0)
        return info;
    ftb_dense_product p = product_of(what, C, A, B, add, ctx);
    const ftb_place places[] = {
        {.X = A, .read = &p.a}, {.X = B, .read = &p.b}, {.X = C, .write = &p.c, .whole = !add}};
    const ftb_backend *who = FTB_WHO(ctx, dense);
    FTB_RUN(info, who, dense, places, &p);
    return info;
}

bool ftb_dense_is_here(FtB_Context ctx) { return !FTB_WHO(ctx, dense); }

GrB_Info ftb_dense_multiply_here(FtB_Block C, FtB_Block A, FtB_Block B, const ftb_dense_ends *ends,
                                 FtB_Context ctx)
{
    GrB_Info info = check(FTB_AB, C, A, B);
    if (info != GrB_SUCCESS || C->nrows == 0 || C->ncols == 0)
        return info;
    ftb_dense_product p = product_of(FTB_AB, C, A, B, ends->add || ends->row, ctx);
    p.relu = ends->relu;
    const ftb_place places[] = {{.X = A, .read = &p.a},
                                {.X = B, .read = &p.b},
                                {.X = ends->row, .read = &p.row},
                                {.X = C, .write = &p.c, .whole = !ends->add}};
    FTB_RUN(info, NULL, dense, places, &p);
    return info;
}

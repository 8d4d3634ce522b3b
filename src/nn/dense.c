/* C = A B, A' B or A B' for dense blocks: checked, placed, and run there. */
#include "core/backend.h"
#include "nn/nn.h"

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

/* The blocks' addresses on the device, or on the host. */
static GrB_Info ask(ftb_dense_product *p, FtB_Block C, FtB_Block A, FtB_Block B, const ftb_backend *device)
{
    GrB_Info info;
    void *a, *b, *c;
    const bool all = ftb_block_whole(C) && !p->add;
    FTB_CHECK(ftb_block_ask_at(A, device, FTB_READ, &a));
    FTB_CHECK(ftb_block_ask_at(B, device, FTB_READ, &b));
    FTB_CHECK(ftb_block_ask_at(C, device, all ? FTB_WRITE : FTB_UPDATE, &c));
    p->a = a;
    p->b = b;
    p->c = c;
done:
    return info;
}

GrB_Info ftb_dense_multiply(ftb_dense_form what, FtB_Block C, FtB_Block A, FtB_Block B, bool add,
                            FtB_Context ctx)
{
    const ftb_backend *device = ftb_device(ctx);
    GrB_Info info = check(what, C, A, B);
    if (info != GrB_SUCCESS || C->nrows == 0 || C->ncols == 0)
        return info;
    ftb_dense_product p = {.ctx = ctx,
                           .what = what,
                           .type = C->type,
                           .nrows = C->nrows,
                           .ncols = C->ncols,
                           .inner = what == FTB_ATB ? A->nrows : A->ncols,
                           .lda = A->ld,
                           .ldb = B->ld,
                           .ldc = C->ld,
                           .add = add};
    if (device && !device->verbs->dense)
        device = NULL;
    FTB_CHECK(ask(&p, C, A, B, device));
    if (!device)
        return ftb_dense_run(&p);
    FTB_CHECK(device->verbs->dense(&p));
    info = ftb_buffer_written(C->owner);
done:
    return info;
}

/* y<M> = accum(y, rows of A reduced by a monoid), and all of A reduced to one entry: arguments, and where it
 * is run.
 *
 * Results go straight to y where nothing else is to be done to it but to add, else through the write rule.
 * Where A lists its rows (core/hypersparse.h), the host reduces these to a block of their own, whose rows go
 * to y. */
#include "cpu/reduce_run.h"
#include "ops/backends.h"
#include "ops/block/block_map.h"
#include "ops/merge.h"
#include "ops/vector/vector_elementwise.h"
#include "ops/vector/vectors.h"

/* The slots' macros are for callers: these are the functions. */
#undef FtB_reduce
#undef FtB_reduce_scalar

typedef struct reduce_call {
    FtB_Context ctx; /* y's */
    FtB_Block y, M;
    FtB_Block whole, listed; /* y as it was given, where rows are listed; then ours, in its place */
    FtB_Matrix A, transposed, held;
    FtB_Block X; /* instead of A */
    ftb_flags flags;
    FtB_Op accum;
    ftb_reduce_product r;
    int64_t nrows, ncols; /* of the result */
    const int64_t *present;
    int64_t *absent; /* row pointers of rows that are all empty */
} reduce_call;

/* ---- arguments */

static GrB_Info unwrap(reduce_call *c, FtB_Arg y, FtB_Arg M, FtB_Arg accum, FtB_Arg A, FtB_Arg desc)
{
    GrB_Info info = GrB_SUCCESS;
    FTB_CHECK(ftb_arg_block_anywhere(&c->y, y, "y", false));
    c->ctx = c->y->ctx;
    FTB_CHECK(ftb_arg_block(&c->M, M, "M", true));
    info = A.kind == FTB_KIND_BLOCK ? ftb_arg_block_anywhere(&c->X, A, "A", false)
                                    : ftb_arg_matrix_listed_anywhere(&c->A, A, "A", false);
    if (info != GrB_SUCCESS)
        goto done;
    FTB_CHECK(ftb_arg_descriptor(&c->flags, desc));
    FTB_CHECK(ftb_arg_op(&c->accum, accum, "accum", true));
done:
    return info;
}

static GrB_Info check_shape(reduce_call *c)
{
    bool columns = c->flags.transpose0;
    if (c->X) {
        c->nrows = columns ? 1 : c->X->nrows;
        c->ncols = columns ? c->X->ncols : c->X->heads;
    } else {
        c->nrows = columns ? c->A->pattern->ncols : c->A->pattern->nrows;
        c->ncols = ftb_max(c->A->width, 1);
    }
    if (c->y->nrows == c->nrows && c->y->ncols == c->ncols)
        return GrB_SUCCESS;
    return ftb_fail(GrB_DIMENSION_MISMATCH, "y is %lld x %lld; expected %lld x %lld", (long long)c->y->nrows,
                    (long long)c->y->ncols, (long long)c->nrows, (long long)c->ncols);
}

/* The rows that are reduced: those that are listed, where the host does all that there is; else all. */
static GrB_Info hold_rows(reduce_call *c)
{
    ftb_pattern *rows = c->A->pattern->listed;
    GrB_Info info;
    if (!rows || c->M || c->flags.complement || ftb_device(c->ctx))
        return ftb_pattern_all_rows(c->A->pattern, "A");
    FTB_CHECK(ftb_matrix_rows(&c->held, c->A));
    FTB_CHECK(c->accum ? ftb_block_pick(&c->listed, c->ctx, c->y, rows->numbers, rows->nrows, "y")
                       : ftb_block_like(&c->listed, c->ctx, c->y, rows->nrows, c->ncols));
    c->A = c->held;
    c->whole = c->y;
    c->y = c->listed;
    c->nrows = rows->nrows;
done:
    return info;
}

/* Rows of a block all have entries, or none has. */
static GrB_Info find_absent(reduce_call *c)
{
    if (!c->X) {
        c->present = c->A->pattern->rowptr;
        return GrB_SUCCESS;
    }
    if ((c->flags.transpose0 ? c->X->nrows : c->X->ncols) > 0)
        return GrB_SUCCESS;
    c->present = c->absent = ftb_new0(c->ctx, c->nrows + 1, sizeof *c->absent);
    return c->absent ? GrB_SUCCESS : ftb_nomem();
}

/* The monoid, in the types that entries `from` a dtype (0: they are 1) have. */
static GrB_Info describe_monoid(ftb_reduce_product *r, FtB_Arg monoid, FtB_Type from)
{
    FtB_Type given = 0;
    GrB_Info info = ftb_arg_monoid(&r->monoid, &given, monoid, "monoid");
    if (info != GrB_SUCCESS)
        return info;
    r->from = from;
    r->domain = given ? given : from ? from : FTB_INT8; /* entries of a pattern are counted exactly */
    r->type = ftb_monoid_type(r->monoid, ftb_type_compute(r->domain));
    r->result = given ? given : r->type;
    return info;
}

static bool no_cast(const ftb_reduce_product *r)
{
    return r->from == r->type && r->domain == r->type && r->result == r->type && r->type != FTB_BOOL;
}

static GrB_Info describe(reduce_call *c, FtB_Arg monoid)
{
    ftb_reduce_product *r = &c->r;
    r->ctx = c->ctx;
    r->heads = 1;
    if (c->X) {
        r->what = c->flags.transpose0 ? FTB_REDUCE_COLUMNS : FTB_REDUCE_ROWS;
        r->nrows = c->X->nrows;
        r->heads = c->flags.transpose0 ? 1 : c->X->heads;
        r->width = c->X->ncols / r->heads;
        r->ld = c->X->ld;
        return describe_monoid(r, monoid, c->X->type);
    }
    r->what = FTB_REDUCE_PATTERN;
    r->nrows = c->A->pattern->nvals;
    r->width = r->ld = c->ncols;
    return describe_monoid(r, monoid, c->A->width > 0 ? c->A->type : (FtB_Type)0);
}

/* Whether results may go into y itself: that is all, or they are added, and nobody reads there. */
static bool is_direct(reduce_call *c)
{
    const FtB_Block y = c->y;
    ftb_monoid sum = FTB_PLUS;
    if (c->absent || c->M || c->flags.complement || y->type != c->r.result || y->ld != c->ncols)
        return false;
    if (c->accum && !(no_cast(&c->r) && ftb_op_is_monoid(&sum, c->accum, y->type) && sum == FTB_PLUS))
        return false;
    if (c->X)
        return ftb_block_alias(y, c->X) == FTB_ALIAS_NONE;
    return !c->A->values || !ftb_block_overlaps(y, c->A->values->host, (size_t)c->A->values->bytes);
}

/* ---- computing */

static ftb_place input(const reduce_call *c, const void **read)
{
    return (ftb_place){.X = c->X, .values = c->X ? NULL : c->A->values, .read = read, .name = "A"};
}

static GrB_Info run_directly(reduce_call *c)
{
    ftb_reduce_product *r = &c->r;
    GrB_Info info;
    r->add = c->accum != NULL;
    r->fills = true;
    r->fill = c->flags.fill;
    const ftb_place places[] = {input(c, &r->x),
                                {.X = c->y, .write = &r->out, .whole = !r->add, .name = "y"}};
    const ftb_backend *who = no_cast(r) && !c->transposed ? FTB_WHO_FITS(c->ctx, reduce, r) : NULL;
    FTB_RUN(info, who, reduce, places, r);
    return info;
}

/* On the host, aside from y, and by the write rule. */
static GrB_Info run_aside(reduce_call *c)
{
    ftb_reduce_product *r = &c->r;
    const ftb_place places[] = {input(c, &r->x), {.X = c->y, .write = &r->out, .name = "y"}};
    GrB_Info info = ftb_places_ask(NULL, places, 2);
    if (info != GrB_SUCCESS)
        return info;
    r->interruptible = true;
    r->out = ftb_new(c->ctx, c->nrows * c->ncols, FtB_Type_size(r->result));
    if (!r->out)
        return ftb_nomem();
    if (!c->absent)
        info = ftb_reduce_run(r);
    if (info == GrB_SUCCESS)
        info = ftb_block_write(c->y, c->M, &c->flags, c->accum, r->out, r->result, c->ncols, c->present);
    ftb_delete(r->out);
    return info;
}

GrB_Info FtB_reduce(FtB_Arg y, FtB_Arg M, FtB_Arg accum, FtB_Arg monoid, FtB_Arg A, FtB_Arg desc)
{
    reduce_call c = {0};
    if (y.kind == FTB_KIND_VECTOR)
        return ftb_vector_reduce(y, M, accum, monoid, A, desc);
    GrB_Info info = unwrap(&c, y, M, accum, A, desc);
    if (info != GrB_SUCCESS)
        goto done;
    FTB_CHECK(check_shape(&c));
    FTB_CHECK(describe(&c, monoid));
    FTB_CHECK(ftb_block_write_check(c.y, c.M, &c.flags, c.accum, c.nrows, c.ncols, c.r.result));
    if (c.A && c.flags.transpose0) {
        FTB_CHECK(ftb_matrix_transpose_listed(&c.transposed, c.A));
        c.A = c.transposed;
    }
    if (c.A)
        FTB_CHECK(hold_rows(&c));
    c.r.p = c.A ? c.A->pattern : NULL;
    FTB_CHECK(find_absent(&c));
    FTB_CHECK(ftb_check_cancelled(c.ctx));
    info = is_direct(&c) ? run_directly(&c) : run_aside(&c);
    if (info == GrB_SUCCESS && c.whole)
        info = ftb_block_put_back(c.whole, c.y, c.A->pattern->numbers, c.accum ? NULL : &c.flags.fill, "y");
done:
    ftb_delete(c.absent);
    FtB_Block_free(&c.listed);
    FtB_Matrix_free(&c.held);
    FtB_Matrix_free(&c.transposed);
    FtB_Op_free(&c.accum);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(c.ctx);
    return info;
}

/* ---- everything to one entry */

static GrB_Info reduce_vector(ftb_reduce_product *r, FtB_Vector v, void *entry)
{
    void *own;
    GrB_Info info = ftb_vector_packed(&r->x, &own, v);
    if (info != GrB_SUCCESS)
        return info;
    r->out = entry;
    info = ftb_reduce_run(r);
    ftb_delete(own);
    return info;
}

/* On a device: the entry is brought home. */
static GrB_Info reduce_away(ftb_reduce_product *r, FtB_Matrix A, const ftb_backend *who, void *entry)
{
    const int64_t bytes = r->width * (int64_t)FtB_Type_size(r->result);
    ftb_buffer *result = ftb_buffer_new(r->ctx, bytes, 1);
    if (!result)
        return ftb_nomem();
    const ftb_place places[] = {{.values = A->values, .read = &r->x, .name = "A"},
                                {.values = result, .write = &r->out, .whole = true}};
    GrB_Info info;
    FTB_RUN(info, who, reduce, places, r);
    if (info == GrB_SUCCESS)
        info = ftb_buffer_ask(result, FTB_READ);
    if (info == GrB_SUCCESS)
        memcpy(entry, ftb_buffer_data(result), (size_t)bytes);
    ftb_buffer_release(result);
    return info;
}

static GrB_Info reduce_here(ftb_reduce_product *r, FtB_Matrix A, void *entry)
{
    GrB_Info info = ftb_buffer_ask_as(A->values, FTB_READ, "A");
    if (info != GrB_SUCCESS)
        return info;
    r->x = ftb_values(A);
    r->out = entry;
    return ftb_reduce_run(r);
}

GrB_Info FtB_reduce_scalar(void *s, FtB_Type type, FtB_Arg monoid, FtB_Arg A)
{
    FtB_Matrix matrix = NULL;
    FtB_Vector v = NULL;
    void *entry = NULL;
    ftb_reduce_product r = {.what = FTB_REDUCE_ALL, .heads = 1};
    GrB_Info info = GrB_SUCCESS;
    if (!s)
        return ftb_fail(GrB_NULL_POINTER, "s is NULL; expected room for the result");
    if (!ftb_type_valid(type))
        return ftb_fail(GrB_INVALID_VALUE, "type is %d, which is not an FtB_Type", (int)type);
    info = A.kind == FTB_KIND_VECTOR ? ftb_arg_vector(&v, A, "A", false)
                                     : ftb_arg_matrix_listed_anywhere(&matrix, A, "A", false);
    if (info != GrB_SUCCESS)
        goto done;
    r.ctx = v ? v->ctx : matrix->ctx;
    r.nrows = v ? v->v.nvals : matrix->pattern->nvals;
    r.width = r.ld = v ? 1 : ftb_max(matrix->width, 1);
    FTB_CHECK(describe_monoid(&r, monoid, v ? v->v.type : matrix->width > 0 ? matrix->type : (FtB_Type)0));
    if (!(entry = ftb_new(r.ctx, r.width, 8)))
        FTB_CHECK(ftb_nomem());
    const ftb_backend *who = !v && no_cast(&r) ? FTB_WHO_FITS(r.ctx, reduce, &r) : NULL;
    FTB_CHECK(v     ? reduce_vector(&r, v, entry)
              : who ? reduce_away(&r, matrix, who, entry)
                    : reduce_here(&r, matrix, entry));
    ftb_cast(s, type, entry, r.result, r.width);
done:
    ftb_delete(entry);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(r.ctx);
    return info;
}

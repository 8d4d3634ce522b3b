/* Sparse x block by cuSPARSE (cusparse_spmm.h): C = A X, or C = A X + C, of CSR with 32-bit offsets and
 * row-major blocks; where entries have no weights, these are ones. Descriptors and the workspace, with what
 * preprocessing leaves in it, are kept for the latest products on a device, by pattern and shape; a pattern's
 * number is never given to another.
 *
 * By its documentation CSR_ALG3 gives the same bits at every run, of a matrix that is not transposed, and the
 * others need not: who may use them the plan knows (plan/rule_gpu_spmm.c). */
#include "gpu/cusparse/cusparse_spmm.h"

#include "gpu/cusparse/cusparse.h"
#include "gpu/launch.h"
#include "gpu/memory.h"
#include "gpu/record.h"

#include <limits.h>
#include <stdatomic.h>

enum { MOST = 16, GRAIN = 16 }; /* products that are kept; bytes, to which a matrix's arrays are aligned */

static const unsigned algorithms[FTB_GPU_SPARSE_ALGORITHMS] = {
    [FTB_GPU_SPARSE_DEFAULT] = FTB_CUSPARSE_SPMM_DEFAULT,
    [FTB_GPU_SPARSE_CSR_ALG1] = FTB_CUSPARSE_SPMM_CSR_ALG1,
    [FTB_GPU_SPARSE_CSR_ALG2] = FTB_CUSPARSE_SPMM_CSR_ALG2,
    [FTB_GPU_SPARSE_CSR_ALG3] = FTB_CUSPARSE_SPMM_CSR_ALG3};

bool ftb_gpu_cusparse_spmm_fits(const ftb_spmm_product *s)
{
    const bool copy = s->form == FTB_FORM_COPY;
    return s->kind.type == FTB_FP32 && s->stored == FTB_FP32 && !s->kind.best && !s->mean && !s->rows &&
           !s->p->wide && s->p->nvals > 0 && s->p->nvals <= INT_MAX && s->p->nrows < INT_MAX &&
           (copy || (s->form == FTB_FORM_MUL && s->ystored == FTB_FP32 && s->yheads == 1 && s->ywidth == 1 &&
                     s->ldy == 1 && !s->at));
}

/* ---- a handle */

/* The lock is held, and the driver's context is the thread's. */
static void begin(ftb_gpu_device *d, const ftb_cusparse *c)
{
    unsigned status = c->call.cusparseCreate(&d->cusparse);
    if (status == FTB_CUSPARSE_ALLOC_FAILED && ftb_gpu_make_room(d))
        status = c->call.cusparseCreate(&d->cusparse);
    if (status)
        d->cusparse = NULL;
    d->without_cusparse = status && status != FTB_CUSPARSE_ALLOC_FAILED;
}

bool ftb_gpu_cusparse_ready(ftb_gpu_device *d)
{
    const ftb_cusparse *c = ftb_cusparse_here();
    if (!c->found.version || ftb_gpu_enter(d) != GrB_SUCCESS)
        return false;
    if (!d->cusparse && !d->without_cusparse)
        begin(d, c);
    const bool ready = d->cusparse;
    ftb_gpu_leave(d, GrB_SUCCESS);
    return ready;
}

/* ---- what a pattern has for it */

static const char kind; /* its address names what is made here */
static atomic_llong patterns;

static GrB_Info make(ftb_derived *to, ftb_pattern *p, const void *arg)
{
    (void)arg;
    to->counts[0] = atomic_fetch_add(&patterns, 1);
    to->buffers[0] = ftb_buffer_new(p->ctx, p->nrows + 1, sizeof(int32_t));
    if (!to->buffers[0])
        return ftb_nomem();
    int32_t *rowptr = ftb_buffer_data(to->buffers[0]);
    for (int64_t i = 0; i <= p->nrows; i++)
        rowptr[i] = (int32_t)p->rowptr[i];
    return GrB_SUCCESS;
}

static const char kind_of_ones;

static GrB_Info make_ones(ftb_derived *to, ftb_pattern *p, const void *arg)
{
    (void)arg;
    to->buffers[0] = ftb_buffer_new(p->ctx, p->nvals, sizeof(float));
    if (!to->buffers[0])
        return ftb_nomem();
    float *ones = ftb_buffer_data(to->buffers[0]);
    for (int64_t e = 0; e < p->nvals; e++)
        ones[e] = 1;
    return GrB_SUCCESS;
}

typedef struct matrix { /* on the device */
    int64_t pattern;
    void *rowptr, *values;
    const void *colidx;
} matrix;

static GrB_Info matrix_ask(matrix *m, ftb_gpu_device *d, const ftb_spmm_product *s)
{
    const ftb_derived *of;
    const int64_t *rowptr;
    const bool copy = s->form == FTB_FORM_COPY;
    *m = (matrix){.values = (void *)(uintptr_t)s->y};
    GrB_Info info = ftb_derived_ask(&of, s->p, &kind, 0, make, NULL);
    if (info == GrB_SUCCESS) {
        m->pattern = of->counts[0];
        info = ftb_buffer_ask_at(of->buffers[0], &d->row, FTB_READ, &m->rowptr);
    }
    if (info == GrB_SUCCESS)
        info = ftb_pattern_ask_at(s->p, &d->row, &rowptr, &m->colidx);
    if (info == GrB_SUCCESS && copy)
        info = ftb_derived_ask(&of, s->p, &kind_of_ones, 0, make_ones, NULL);
    if (info == GrB_SUCCESS && copy)
        info = ftb_buffer_ask_at(of->buffers[0], &d->row, FTB_READ, &m->values);
    return info;
}

/* ---- products that are kept */

struct ftb_gpu_sparse {
    struct ftb_gpu_sparse *next; /* used before this one */
    int64_t pattern, features, ldx, ldo;
    ftb_gpu_sparse_algorithm algorithm;
    void *matrix, *x, *out; /* descriptors */
    void *buffer;
    int64_t bytes;
};

static bool same(const struct ftb_gpu_sparse *a, const struct ftb_gpu_sparse *b)
{
    return a->pattern == b->pattern && a->features == b->features && a->ldx == b->ldx && a->ldo == b->ldo &&
           a->algorithm == b->algorithm;
}

/* What has no buffer has none to give back. The lock is held. */
static void discard(ftb_gpu_device *d, struct ftb_gpu_sparse *k)
{
    const ftb_cusparse_calls *call = &ftb_cusparse_here()->call;
    if (k->out)
        call->cusparseDestroyDnMat(k->out);
    if (k->x)
        call->cusparseDestroyDnMat(k->x);
    if (k->matrix)
        call->cusparseDestroySpMat(k->matrix);
    if (k->buffer)
        ftb_gpu_give(d, k->buffer, k->bytes);
    ftb_raw_delete(k);
}

bool ftb_gpu_cusparse_drop(ftb_gpu_device *d)
{
    const bool any = d->products;
    while (d->products) {
        struct ftb_gpu_sparse *gone = d->products;
        d->products = gone->next;
        discard(d, gone);
    }
    return any;
}

/* Taken out of the list; NULL: it is not there. */
static struct ftb_gpu_sparse *take(ftb_gpu_device *d, const struct ftb_gpu_sparse *wanted)
{
    struct ftb_gpu_sparse **at = &d->products, *found;
    while (*at && !same(*at, wanted))
        at = &(*at)->next;
    found = *at;
    if (found)
        *at = found->next;
    return found;
}

static void keep(ftb_gpu_device *d, struct ftb_gpu_sparse *k)
{
    struct ftb_gpu_sparse **at = &k->next;
    k->next = d->products;
    d->products = k;
    for (int n = 1; n < MOST && *at; n++)
        at = &(*at)->next;
    while (*at) {
        struct ftb_gpu_sparse *gone = *at;
        *at = gone->next;
        discard(d, gone);
    }
}

/* ---- a product; the lock is held, and work goes to the product's stream */

typedef struct calling {
    ftb_gpu_device *d;
    const ftb_spmm_product *s;
    matrix m;
    float one, old;
} calling;

static GrB_Info say(const ftb_gpu_device *d, const char *call, unsigned status)
{
    if (!status)
        return GrB_SUCCESS;
    if (status == FTB_CUSPARSE_ARCH_MISMATCH || status == FTB_CUSPARSE_NOT_SUPPORTED)
        return GrB_NO_VALUE;
    return ftb_fail(FTB_NO_DEVICE, "%s: %s fails with status %u", d->gpu->label, call, status);
}

#define SPARSE(name, ...)                                                                                    \
    do {                                                                                                     \
        info = say(c->d, #name, ftb_cusparse_here()->call.name(__VA_ARGS__));                                \
        if (info != GrB_SUCCESS)                                                                             \
            goto done;                                                                                       \
    } while (0)

static GrB_Info describe(struct ftb_gpu_sparse *k, const calling *c)
{
    const ftb_spmm_product *s = c->s;
    GrB_Info info;
    SPARSE(cusparseCreateCsr, &k->matrix, s->p->nrows, s->p->ncols, s->p->nvals, c->m.rowptr,
           (void *)(uintptr_t)c->m.colidx, c->m.values, FTB_CUSPARSE_INDEX_32, FTB_CUSPARSE_INDEX_32,
           FTB_CUSPARSE_BASE_ZERO, FTB_CUSPARSE_REAL);
    SPARSE(cusparseCreateDnMat, &k->x, s->p->ncols, k->features, k->ldx, (void *)(uintptr_t)s->x,
           FTB_CUSPARSE_REAL, FTB_CUSPARSE_ROWS);
    SPARSE(cusparseCreateDnMat, &k->out, s->p->nrows, k->features, k->ldo, s->out, FTB_CUSPARSE_REAL,
           FTB_CUSPARSE_ROWS);
    size_t bytes = 0;
    SPARSE(cusparseSpMM_bufferSize, c->d->cusparse, 0, 0, &c->one, k->matrix, k->x, &c->old, k->out,
           FTB_CUSPARSE_REAL, algorithms[k->algorithm], &bytes);
    k->bytes = ftb_max(1, (int64_t)bytes);
done:
    return info;
}

/* Operands may be elsewhere than they were. */
static GrB_Info point(const struct ftb_gpu_sparse *k, const calling *c)
{
    GrB_Info info;
    SPARSE(cusparseCsrSetPointers, k->matrix, c->m.rowptr, (void *)(uintptr_t)c->m.colidx, c->m.values);
    SPARSE(cusparseDnMatSetValues, k->x, (void *)(uintptr_t)c->s->x);
    SPARSE(cusparseDnMatSetValues, k->out, c->s->out);
done:
    return info;
}

static GrB_Info launch(const struct ftb_gpu_sparse *k, const calling *c)
{
    GrB_Info info;
    SPARSE(cusparseSpMM, c->d->cusparse, 0, 0, &c->one, k->matrix, k->x, &c->old, k->out, FTB_CUSPARSE_REAL,
           algorithms[k->algorithm], k->buffer);
done:
    return info == GrB_SUCCESS || info == GrB_NO_VALUE ? info : ftb_gpu_half_done(info, c->s->add);
}

/* One that is refused goes without. */
static void preprocess(const struct ftb_gpu_sparse *k, const calling *c)
{
    (void)ftb_cusparse_here()->call.cusparseSpMM_preprocess(c->d->cusparse, 0, 0, &c->one, k->matrix, k->x,
                                                            &c->old, k->out, FTB_CUSPARSE_REAL,
                                                            algorithms[k->algorithm], k->buffer);
}

/* Its workspace is allocated in between, without the lock. */
static GrB_Info make_product(struct ftb_gpu_sparse *k, const calling *c)
{
    ftb_gpu_device *d = c->d;
    GrB_Info info = ftb_gpu_leave(d, describe(k, c));
    if (info == GrB_SUCCESS)
        info = d->row.memory->alloc(&d->row, c->s->ctx, &k->buffer, k->bytes);
    const GrB_Info again = ftb_gpu_enter_for(d, c->s->ctx);
    if (again != GrB_SUCCESS) { /* the GPU is lost, and its memory with it */
        ftb_raw_delete(k);
        return again;
    }
    if (info == GrB_SUCCESS)
        info = say(d, "cusparseSetStream",
                   ftb_cusparse_here()->call.cusparseSetStream(d->cusparse, ftb_gpu_stream(d)));
    if (info == GrB_SUCCESS)
        preprocess(k, c);
    if (info == GrB_SUCCESS)
        info = launch(k, c);
    if (info == GrB_SUCCESS)
        keep(d, k);
    else
        discard(d, k);
    return ftb_gpu_leave(d, info);
}

static GrB_Info run(const calling *c, const struct ftb_gpu_sparse *wanted)
{
    ftb_gpu_device *d = c->d;
    GrB_Info info = say(d, "cusparseSetStream",
                        ftb_cusparse_here()->call.cusparseSetStream(d->cusparse, ftb_gpu_stream(d)));
    struct ftb_gpu_sparse *k = info == GrB_SUCCESS ? take(d, wanted) : NULL;
    if (info != GrB_SUCCESS)
        return ftb_gpu_leave(d, info);
    if (!k) {
        k = ftb_raw_new(sizeof *k);
        if (!k)
            return ftb_gpu_leave(d, ftb_nomem());
        *k = *wanted;
        return make_product(k, c);
    }
    info = point(k, c);
    if (info == GrB_SUCCESS)
        info = launch(k, c);
    keep(d, k);
    return ftb_gpu_leave(d, info);
}

GrB_Info ftb_gpu_cusparse_spmm(ftb_gpu_device *d, const ftb_spmm_product *s,
                               ftb_gpu_sparse_algorithm algorithm)
{
    calling c = {.d = d, .s = s, .one = 1, .old = s->add ? 1 : 0};
    GrB_Info info =
        ftb_gpu_unrecorded(d, "a product of cuSPARSE's, whose workspace may go before its replay");
    if (info == GrB_SUCCESS)
        info = matrix_ask(&c.m, d, s);
    if (info != GrB_SUCCESS)
        return info;
    if ((uintptr_t)c.m.values % GRAIN != 0)
        return GrB_NO_VALUE;
    const struct ftb_gpu_sparse wanted = {.pattern = c.m.pattern,
                                          .features = s->heads * s->width,
                                          .ldx = s->ldx,
                                          .ldo = s->ldo,
                                          .algorithm = algorithm};
    info = ftb_gpu_enter_for(d, s->ctx);
    if (info != GrB_SUCCESS)
        return info;
    return d->cusparse ? run(&c, &wanted) : ftb_gpu_leave(d, GrB_NO_VALUE);
}

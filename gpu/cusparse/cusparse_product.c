/* Products by cuSPARSE (cusparse_product.h): of CSR with 32-bit offsets and blocks of FP32. Descriptors and
 * the workspace, with what preprocessing leaves in it, are kept for the latest products on a device, by
 * pattern and shape; a pattern's number is never given to another. */
#include "gpu/cusparse/cusparse_product.h"

#include "gpu/cusparse/cusparse.h"
#include "gpu/launch.h"
#include "gpu/memory.h"
#include "gpu/record.h"

#include <stdatomic.h>

enum { MOST = 16, GRAIN = 16 }; /* products that are kept; bytes, to which a matrix's arrays are aligned */

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

typedef struct matrix { /* on the device */
    int64_t pattern;
    void *rowptr;
    const void *colidx;
} matrix;

static GrB_Info matrix_ask(matrix *m, ftb_gpu_device *d, ftb_pattern *p)
{
    const ftb_derived *of;
    const int64_t *rowptr;
    GrB_Info info = ftb_derived_ask(&of, p, &kind, 0, make, NULL);
    if (info == GrB_SUCCESS) {
        m->pattern = of->counts[0];
        info = ftb_buffer_ask_at(of->buffers[0], &d->row, FTB_READ, &m->rowptr);
    }
    return info == GrB_SUCCESS ? ftb_pattern_ask_at(p, &d->row, &rowptr, &m->colidx) : info;
}

/* ---- products that are kept */

struct ftb_gpu_sparse {
    struct ftb_gpu_sparse *next; /* used before this one */
    bool dots;
    int64_t pattern, features, ldl, ldr;
    unsigned algorithm;
    int lane;                    /* in which it is used, and its workspace with it */
    void *matrix, *left, *right; /* descriptors */
    void *buffer;
    int64_t bytes;
};

static bool same(const struct ftb_gpu_sparse *a, const struct ftb_gpu_sparse *b)
{
    return a->dots == b->dots && a->pattern == b->pattern && a->features == b->features && a->ldl == b->ldl &&
           a->ldr == b->ldr && a->algorithm == b->algorithm && a->lane == b->lane;
}

/* What has no buffer has none to give back. The lock is held. */
static void discard(ftb_gpu_device *d, struct ftb_gpu_sparse *k)
{
    const ftb_cusparse_calls *call = &ftb_cusparse_here()->call;
    if (k->right)
        call->cusparseDestroyDnMat(k->right);
    if (k->left)
        call->cusparseDestroyDnMat(k->left);
    if (k->matrix)
        call->cusparseDestroySpMat(k->matrix);
    if (k->buffer)
        ftb_gpu_give(d, k->buffer, k->bytes, k->lane);
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
    const ftb_gpu_sparse_product *s;
    matrix m;
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

/* The three calls of either product, which differ in the order of the matrices. */
static unsigned ask_bytes(const struct ftb_gpu_sparse *k, const calling *c, size_t *bytes)
{
    const ftb_cusparse_calls *call = &ftb_cusparse_here()->call;
    const ftb_gpu_sparse_product *s = c->s;
    void *handle = c->d->cusparse;
    return k->dots ? call->cusparseSDDMM_bufferSize(handle, 0, 0, &s->alpha, k->left, k->right, &s->beta,
                                                    k->matrix, FTB_CUSPARSE_REAL, k->algorithm, bytes)
                   : call->cusparseSpMM_bufferSize(handle, 0, 0, &s->alpha, k->matrix, k->left, &s->beta,
                                                   k->right, FTB_CUSPARSE_REAL, k->algorithm, bytes);
}

static unsigned preprocess(const struct ftb_gpu_sparse *k, const calling *c)
{
    const ftb_cusparse_calls *call = &ftb_cusparse_here()->call;
    const ftb_gpu_sparse_product *s = c->s;
    void *handle = c->d->cusparse;
    return k->dots ? call->cusparseSDDMM_preprocess(handle, 0, 0, &s->alpha, k->left, k->right, &s->beta,
                                                    k->matrix, FTB_CUSPARSE_REAL, k->algorithm, k->buffer)
                   : call->cusparseSpMM_preprocess(handle, 0, 0, &s->alpha, k->matrix, k->left, &s->beta,
                                                   k->right, FTB_CUSPARSE_REAL, k->algorithm, k->buffer);
}

static unsigned multiply(const struct ftb_gpu_sparse *k, const calling *c)
{
    const ftb_cusparse_calls *call = &ftb_cusparse_here()->call;
    const ftb_gpu_sparse_product *s = c->s;
    void *handle = c->d->cusparse;
    return k->dots ? call->cusparseSDDMM(handle, 0, 0, &s->alpha, k->left, k->right, &s->beta, k->matrix,
                                         FTB_CUSPARSE_REAL, k->algorithm, k->buffer)
                   : call->cusparseSpMM(handle, 0, 0, &s->alpha, k->matrix, k->left, &s->beta, k->right,
                                        FTB_CUSPARSE_REAL, k->algorithm, k->buffer);
}

static GrB_Info describe_block(void **to, const calling *c, const ftb_gpu_sparse_block *X)
{
    GrB_Info info;
    SPARSE(cusparseCreateDnMat, to, X->nrows, X->ncols, X->ld, X->at, FTB_CUSPARSE_REAL,
           X->by_columns ? FTB_CUSPARSE_COLUMNS : FTB_CUSPARSE_ROWS);
done:
    return info;
}

static GrB_Info describe(struct ftb_gpu_sparse *k, const calling *c)
{
    const ftb_gpu_sparse_product *s = c->s;
    size_t bytes = 0;
    GrB_Info info;
    SPARSE(cusparseCreateCsr, &k->matrix, s->p->nrows, s->p->ncols, s->p->nvals, c->m.rowptr,
           (void *)(uintptr_t)c->m.colidx, s->values, FTB_CUSPARSE_INDEX_32, FTB_CUSPARSE_INDEX_32,
           FTB_CUSPARSE_BASE_ZERO, FTB_CUSPARSE_REAL);
    FTB_CHECK(describe_block(&k->left, c, &s->left));
    FTB_CHECK(describe_block(&k->right, c, &s->right));
    FTB_CHECK(
        say(c->d, k->dots ? "cusparseSDDMM_bufferSize" : "cusparseSpMM_bufferSize", ask_bytes(k, c, &bytes)));
    k->bytes = ftb_max(1, (int64_t)bytes);
done:
    return info;
}

/* Operands may be elsewhere than they were. */
static GrB_Info point(const struct ftb_gpu_sparse *k, const calling *c)
{
    const ftb_gpu_sparse_product *s = c->s;
    GrB_Info info;
    SPARSE(cusparseCsrSetPointers, k->matrix, c->m.rowptr, (void *)(uintptr_t)c->m.colidx, s->values);
    SPARSE(cusparseDnMatSetValues, k->left, s->left.at);
    SPARSE(cusparseDnMatSetValues, k->right, s->right.at);
done:
    return info;
}

static GrB_Info launch(const struct ftb_gpu_sparse *k, const calling *c)
{
    const GrB_Info info = say(c->d, k->dots ? "cusparseSDDMM" : "cusparseSpMM", multiply(k, c));
    return info == GrB_SUCCESS || info == GrB_NO_VALUE ? info : ftb_gpu_half_done(info, c->s->beta > 0);
}

/* Its workspace is allocated in between, without the lock. */
static GrB_Info make_product(struct ftb_gpu_sparse *k, const calling *c)
{
    ftb_gpu_device *d = c->d;
    GrB_Info info = ftb_gpu_leave(d, describe(k, c));
    if (info == GrB_SUCCESS)
        info = ftb_device_room(&k->buffer, &d->row, c->s->ctx, k->bytes);
    const GrB_Info again = ftb_gpu_enter_for(d, c->s->ctx);
    if (again != GrB_SUCCESS) { /* the GPU is lost, say */
        pthread_mutex_lock(&d->lock);
        discard(d, k);
        pthread_mutex_unlock(&d->lock);
        return again;
    }
    if (info == GrB_SUCCESS)
        info = say(d, "cusparseSetStream",
                   ftb_cusparse_here()->call.cusparseSetStream(d->cusparse, ftb_gpu_stream(d)));
    if (info == GrB_SUCCESS)
        (void)preprocess(k, c); /* refused, it goes without */
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

GrB_Info ftb_gpu_cusparse_run(ftb_gpu_device *d, const ftb_gpu_sparse_product *s)
{
    calling c = {.d = d, .s = s};
    GrB_Info info =
        ftb_gpu_unrecorded(d, "a product of cuSPARSE's, whose workspace may go before its replay");
    if (info == GrB_SUCCESS)
        info = matrix_ask(&c.m, d, s->p);
    if (info != GrB_SUCCESS)
        return info;
    if ((uintptr_t)s->values % GRAIN != 0)
        return GrB_NO_VALUE;
    const struct ftb_gpu_sparse wanted = {.dots = s->dots,
                                          .pattern = c.m.pattern,
                                          .features = s->left.ncols,
                                          .ldl = s->left.ld,
                                          .ldr = s->right.ld,
                                          .algorithm = s->algorithm,
                                          .lane = ftb_gpu_lane_here(d)};
    info = ftb_gpu_enter_for(d, s->ctx);
    if (info != GrB_SUCCESS)
        return info;
    return d->cusparse ? run(&c, &wanted) : ftb_gpu_leave(d, GrB_NO_VALUE);
}

/* A cuBLAS that does not exist, built as a library of its own: products are made in the memory of the driver
 * that does not exist either, in the order of a handle's stream, with sums from the last term to the first.
 * What a product leaves in its workspace is garbage. What must not be done is the driver's misuse. The
 * environment says what it is:
 *
 *     FAKE_CUBLAS_VERSION  1000 major + 10 minor (12040)
 *     FAKE_CUBLAS_FAILS    a call that fails, "name=status"
 *     FAKE_CUBLAS_PIECES   no handle can be had while as many pieces of memory are allocated, or more
 */
#include "gpu/cublas.h"

#include "fake_cuda.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECLARE(name, arguments) unsigned name arguments;
FTB_CUBLAS_CALLS(DECLARE)
int fake_cublas_products(void); /* so far */
int fake_cublas_rounded(void);  /* of which operands were rounded, so far */
int fake_cublas_handles(void);  /* that are there */

enum { NOT_READY = 1, INVALID = 7, GRAIN = 256 };

struct cublasContext {
    struct CUstream_st *stream;
    void *workspace; /* NULL: the library's own */
    size_t bytes;
    unsigned mode;
};

typedef struct product {
    int64_t rows, cols, inner, lda, ldb, ldc;
    int turned_a, turned_b, wide; /* wide: FP64 */
    int bits;                     /* of a value's fraction, that are kept; 0: all */
    double alpha, beta;
    const void *a, *b;
    void *c, *workspace;
    size_t bytes;
} product;

static struct {
    int (*current)(void), (*live)(void), (*holds)(const void *, size_t);
    void (*append)(struct CUstream_st *, void (*)(const void *), const void *, size_t),
        (*wrong)(const char *, const char *);
} driver;
static int products, rounded, handles;

int fake_cublas_products(void) { return products; }
int fake_cublas_rounded(void) { return rounded; }
int fake_cublas_handles(void) { return handles; }

static void find(const char *name, void *to)
{
    const char *path = getenv("FEATBLAS_CUDA_DRIVER");
    void *library = dlopen(path ? path : "", RTLD_NOW | RTLD_LOCAL),
         *symbol = library ? dlsym(library, name) : NULL;
    if (!symbol)
        abort();
    memcpy(to, &symbol, sizeof symbol);
}

/* A failure that was asked for. */
static unsigned begin(const char *call)
{
    const char *fails = getenv("FAKE_CUBLAS_FAILS");
    const size_t length = strlen(call);
    return fails && strncmp(fails, call, length) == 0 && fails[length] == '='
               ? (unsigned)atoi(fails + length + 1)
               : 0;
}

unsigned cublasGetProperty(unsigned property, int *value)
{
    const char *text = getenv("FAKE_CUBLAS_VERSION");
    const int version = text ? atoi(text) : 12040;
    *value = property == FTB_CUBLAS_MAJOR ? version / 1000 : version % 1000 / 10;
    return begin("cublasGetProperty");
}

unsigned cublasCreate_v2(struct cublasContext **handle)
{
    const unsigned error = begin("cublasCreate");
    find("fake_cuda_current", &driver.current);
    find("fake_cuda_live", &driver.live);
    find("fake_cuda_holds", &driver.holds);
    find("fake_cuda_append", &driver.append);
    find("fake_cuda_wrong", &driver.wrong);
    const char *pieces = getenv("FAKE_CUBLAS_PIECES");
    if (error || !driver.current())
        return error ? error : NOT_READY;
    if (pieces && driver.live() >= atoi(pieces))
        return FTB_CUBLAS_ALLOC_FAILED;
    *handle = calloc(1, sizeof **handle);
    if (!*handle)
        abort();
    handles++;
    return 0;
}

unsigned cublasDestroy_v2(struct cublasContext *handle)
{
    free(handle);
    handles--;
    return begin("cublasDestroy");
}

unsigned cublasSetMathMode(struct cublasContext *handle, unsigned mode)
{
    const unsigned error = begin("cublasSetMathMode");
    if (!error)
        handle->mode = mode;
    return error;
}

unsigned cublasSetStream_v2(struct cublasContext *handle, struct CUstream_st *stream)
{
    const unsigned error = begin("cublasSetStream");
    if (!error) {
        handle->stream = stream;
        handle->workspace = NULL;
    }
    return error;
}

unsigned cublasSetWorkspace_v2(struct cublasContext *handle, void *workspace, size_t bytes)
{
    const unsigned error = begin("cublasSetWorkspace");
    if (error)
        return error;
    if (!driver.holds(workspace, bytes) || bytes == 0 || (uintptr_t)workspace % GRAIN != 0) {
        driver.wrong("cublasSetWorkspace", "not in one piece of this device's memory, or not aligned");
        return INVALID;
    }
    handle->workspace = workspace;
    handle->bytes = bytes;
    return 0;
}

/* Cut, which is the worst that may be done to operands. */
static float cut(float x, int bits)
{
    uint32_t all;
    memcpy(&all, &x, sizeof all);
    all &= ~UINT32_C(0) << (23 - bits);
    memcpy(&x, &all, sizeof x);
    return x;
}

/* Value (i, j) of a column-major matrix, or of its transpose. */
static double value(const product *p, const void *x, int64_t ld, int turned, int64_t i, int64_t j)
{
    const int64_t at = turned ? i * ld + j : j * ld + i;
    if (p->wide)
        return ((const double *)x)[at];
    return (double)(p->bits ? cut(((const float *)x)[at], p->bits) : ((const float *)x)[at]);
}

static void run(const void *argument)
{
    const product *p = argument;
    for (int64_t j = 0; j < p->cols; j++)
        for (int64_t i = 0; i < p->rows; i++) {
            const int64_t at = j * p->ldc + i;
            double sum = 0;
            for (int64_t k = p->inner - 1; k >= 0; k--)
                sum += value(p, p->a, p->lda, p->turned_a, i, k) * value(p, p->b, p->ldb, p->turned_b, k, j);
            sum *= p->alpha;
            if (p->beta < 0 || p->beta > 0) /* else it is not read */
                sum += p->beta * (p->wide ? ((double *)p->c)[at] : (double)((float *)p->c)[at]);
            if (p->wide)
                ((double *)p->c)[at] = sum;
            else
                ((float *)p->c)[at] = (float)sum;
        }
    memset(p->workspace, 0x7b, p->bytes);
    products++;
}

/* Bytes of a column-major matrix, from its first value to its last. */
static size_t extent(const product *p, int64_t rows, int64_t cols, int64_t ld)
{
    return (size_t)((cols - 1) * ld + rows) * (p->wide ? sizeof(double) : sizeof(float));
}

static unsigned multiply(const char *call, const struct cublasContext *handle, const product *p)
{
    const unsigned error = begin(call);
    const int64_t arows = p->turned_a ? p->inner : p->rows, brows = p->turned_b ? p->cols : p->inner;
    const char *wrong = NULL;
    if (error)
        return error;
    if (!driver.current() || !handle->stream)
        wrong = "no context, or no stream";
    else if (!handle->workspace)
        wrong = "a workspace that streams share";
    else if (handle->mode != (p->bits ? FTB_CUBLAS_DEFAULT : FTB_CUBLAS_PEDANTIC))
        wrong = p->bits ? "the mode allows no fewer bits" : "arithmetic of fewer bits is allowed";
    else if (p->rows < 1 || p->cols < 1 || p->inner < 1)
        wrong = "nothing to do";
    else if (p->lda < arows || p->ldb < brows || p->ldc < p->rows)
        wrong = "a leading dimension that is less than a column";
    else if (!driver.holds(p->a, extent(p, arows, p->turned_a ? p->rows : p->inner, p->lda)) ||
             !driver.holds(p->b, extent(p, brows, p->turned_b ? p->inner : p->cols, p->ldb)) ||
             !driver.holds(p->c, extent(p, p->rows, p->cols, p->ldc)))
        wrong = "a matrix that is not in one piece of this device's memory";
    if (wrong) {
        driver.wrong(call, wrong);
        return INVALID;
    }
    product whole = *p;
    whole.workspace = handle->workspace;
    whole.bytes = handle->bytes;
    driver.append(handle->stream, run, &whole, sizeof whole);
    return 0;
}

unsigned cublasSgemm_v2_64(struct cublasContext *handle, unsigned transa, unsigned transb, int64_t m,
                           int64_t n, int64_t k, const float *alpha, const float *a, int64_t lda,
                           const float *b, int64_t ldb, const float *beta, float *c, int64_t ldc)
{
    const product p = {m, n, k, lda,  ldb, ldc, transa != 0, transb != 0, 0, 0, (double)*alpha, (double)*beta,
                       a, b, c, NULL, 0};
    return multiply("cublasSgemm", handle, &p);
}

unsigned cublasDgemm_v2_64(struct cublasContext *handle, unsigned transa, unsigned transb, int64_t m,
                           int64_t n, int64_t k, const double *alpha, const double *a, int64_t lda,
                           const double *b, int64_t ldb, const double *beta, double *c, int64_t ldc)
{
    const product p = {m,     n, k, lda, ldb,  ldc, transa != 0, transb != 0, 1, 0, *alpha,
                       *beta, a, b, c,   NULL, 0};
    return multiply("cublasDgemm", handle, &p);
}

unsigned cublasGemmEx_64(struct cublasContext *handle, unsigned transa, unsigned transb, int64_t m, int64_t n,
                         int64_t k, const void *alpha, const void *a, unsigned atype, int64_t lda,
                         const void *b, unsigned btype, int64_t ldb, const void *beta, void *c,
                         unsigned ctype, int64_t ldc, unsigned compute, int algorithm)
{
    const bool narrow = compute == FTB_CUBLAS_FAST_BF16,
               known = narrow || compute == FTB_CUBLAS_FAST_FP16 || compute == FTB_CUBLAS_FAST_TF32;
    if (atype != FTB_CUBLAS_FP32 || btype != FTB_CUBLAS_FP32 || ctype != FTB_CUBLAS_FP32 || !known ||
        algorithm != FTB_CUBLAS_ANY) {
        driver.wrong("cublasGemmEx", "types that nobody has");
        return INVALID;
    }
    const product p = {m,
                       n,
                       k,
                       lda,
                       ldb,
                       ldc,
                       transa != 0,
                       transb != 0,
                       0,
                       narrow ? 7 : 10,
                       (double)*(const float *)alpha,
                       (double)*(const float *)beta,
                       a,
                       b,
                       c,
                       NULL,
                       0};
    rounded++;
    return multiply("cublasGemmEx", handle, &p);
}

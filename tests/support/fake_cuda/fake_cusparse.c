/* A cuSPARSE that does not exist, built as a library of its own, for the program that times it
 * (bench/gpu/products): its products are loops of the host over what the driver that does not exist has,
 * which it copies home and back. What real calls refuse it refuses: another handle, descriptors of other
 * shapes, a stream that was not set. */
#include "bench/gpu/products/cusparse.h"
#include "gpu/driver.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define DECLARE(name, arguments) unsigned name arguments;
PRODUCTS_SPARSE_CALLS(DECLARE)
#undef DECLARE

enum { OK = 0, NOT_INITIALIZED = 1, INVALID_VALUE = 3 };

typedef struct matrix {
    int sparse;
    int64_t nrows, ncols, nvals, ld;
    unsigned order;
    void *rowptr, *colidx, *values;
} matrix;

static char handle_here;
static struct CUstream_st *stream;
static ftb_cuda driver;

static int find(const char *name, void *to)
{
    const char *path = getenv("FEATBLAS_CUDA_DRIVER");
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL,
         *symbol = library ? dlsym(library, name) : NULL;
    memcpy(to, &symbol, sizeof symbol);
    return symbol != NULL;
}

unsigned cusparseCreate(void **handle)
{
    *handle = &handle_here;
    return find("cuMemcpyDtoHAsync_v2", &driver.cuMemcpyDtoHAsync_v2) &&
                   find("cuMemcpyHtoDAsync_v2", &driver.cuMemcpyHtoDAsync_v2) &&
                   find("cuStreamSynchronize", &driver.cuStreamSynchronize)
               ? OK
               : NOT_INITIALIZED;
}

unsigned cusparseSetStream(void *handle, struct CUstream_st *s)
{
    stream = s;
    return handle == &handle_here && s ? OK : INVALID_VALUE;
}

static unsigned make(void **made, const matrix *from)
{
    matrix *m = malloc(sizeof *m);
    if (!m)
        abort();
    *m = *from;
    *made = m;
    return OK;
}

unsigned cusparseCreateCsr(void **made, int64_t nrows, int64_t ncols, int64_t nvals, void *rowptr,
                           void *colidx, void *values, unsigned offsets, unsigned columns, unsigned base,
                           unsigned type)
{
    if (offsets != SPARSE_INDEX_32 || columns != SPARSE_INDEX_32 || base != SPARSE_BASE_ZERO ||
        type != SPARSE_REAL)
        return INVALID_VALUE;
    return make(made, &(matrix){.sparse = 1,
                                .nrows = nrows,
                                .ncols = ncols,
                                .nvals = nvals,
                                .rowptr = rowptr,
                                .colidx = colidx,
                                .values = values});
}

unsigned cusparseCreateDnMat(void **made, int64_t nrows, int64_t ncols, int64_t ld, void *values,
                             unsigned type, unsigned order)
{
    if (type != SPARSE_REAL || ld < (order == SPARSE_ROWS ? ncols : nrows))
        return INVALID_VALUE;
    return make(made, &(matrix){.nrows = nrows, .ncols = ncols, .ld = ld, .values = values, .order = order});
}

static unsigned destroy(const void *m)
{
    free((void *)(uintptr_t)m);
    return OK;
}
unsigned cusparseDestroySpMat(const void *m) { return destroy(m); }
unsigned cusparseDestroyDnMat(const void *m) { return destroy(m); }

/* ---- products */

static void *fetch(const void *device, int64_t bytes)
{
    void *host = malloc((size_t)bytes + 1);
    if (!host ||
        (bytes > 0 && driver.cuMemcpyDtoHAsync_v2(host, (uintptr_t)device, (size_t)bytes, stream) != 0) ||
        driver.cuStreamSynchronize(stream) != 0)
        abort();
    return host;
}

static void send(void *device, const void *host, int64_t bytes)
{
    if ((bytes > 0 && driver.cuMemcpyHtoDAsync_v2((uintptr_t)device, host, (size_t)bytes, stream) != 0) ||
        driver.cuStreamSynchronize(stream) != 0)
        abort();
}

typedef struct sparse_copy {
    int *rowptr, *colidx;
    float *values;
} sparse_copy;

static sparse_copy copy_of(const matrix *m)
{
    return (sparse_copy){fetch(m->rowptr, (m->nrows + 1) * 4), fetch(m->colidx, m->nvals * 4),
                         fetch(m->values, m->nvals * 4)};
}

static void drop(sparse_copy *s)
{
    free(s->rowptr);
    free(s->colidx);
    free(s->values);
}

static int64_t values_of(const matrix *m) { return m->ld * (m->order == SPARSE_ROWS ? m->nrows : m->ncols); }
static int64_t place(const matrix *m, int64_t i, int64_t j)
{
    return m->order == SPARSE_ROWS ? i * m->ld + j : j * m->ld + i;
}

static unsigned refuses(void *handle, unsigned a, unsigned b, const void *alpha, const void *beta,
                        unsigned type)
{
    return handle != &handle_here || !stream || a || b || type != SPARSE_REAL || *(const float *)alpha < 1 ||
                   *(const float *)alpha > 1 || *(const float *)beta < 0 || *(const float *)beta > 0
               ? INVALID_VALUE
               : OK;
}

static unsigned spmm_refuses(const matrix *A, const matrix *X, const matrix *C)
{
    return !A->sparse || X->sparse || C->sparse || A->ncols != X->nrows || A->nrows != C->nrows ||
                   X->ncols != C->ncols
               ? INVALID_VALUE
               : OK;
}

unsigned cusparseSpMM_bufferSize(void *handle, unsigned a, unsigned b, const void *alpha, const void *A,
                                 const void *X, const void *beta, void *C, unsigned type, unsigned algorithm,
                                 size_t *bytes)
{
    *bytes = algorithm == SPARSE_SPMM_CSR_ALG2 ? 64 : 0;
    const unsigned error = refuses(handle, a, b, alpha, beta, type);
    return error ? error : spmm_refuses(A, X, C);
}

/* Of some algorithms there is none. */
unsigned cusparseSpMM_preprocess(void *handle, unsigned a, unsigned b, const void *alpha, const void *A,
                                 const void *X, const void *beta, void *C, unsigned type, unsigned algorithm,
                                 void *buffer)
{
    (void)A, (void)X, (void)C, (void)buffer;
    return algorithm == SPARSE_SPMM_CSR_ALG3 ? INVALID_VALUE : refuses(handle, a, b, alpha, beta, type);
}

unsigned cusparseSpMM(void *handle, unsigned a, unsigned b, const void *alpha, const void *A, const void *X,
                      const void *beta, void *C, unsigned type, unsigned algorithm, void *buffer)
{
    const matrix *m = A, *from = X, *to = C;
    const unsigned error = refuses(handle, a, b, alpha, beta, type) || spmm_refuses(m, from, to);
    (void)algorithm;
    if (error || !buffer)
        return INVALID_VALUE;
    sparse_copy s = copy_of(m);
    float *x = fetch(from->values, values_of(from) * 4), *c = fetch(to->values, values_of(to) * 4);
    for (int64_t i = 0; i < m->nrows; i++)
        for (int64_t f = 0; f < from->ncols; f++) {
            float sum = 0;
            for (int64_t e = s.rowptr[i]; e < s.rowptr[i + 1]; e++)
                sum += s.values[e] * x[place(from, s.colidx[e], f)];
            c[place(to, i, f)] = sum;
        }
    send(to->values, c, values_of(to) * 4);
    free(x);
    free(c);
    drop(&s);
    return OK;
}

static unsigned sddmm_refuses(const matrix *Y, const matrix *X, const matrix *S)
{
    return Y->sparse || X->sparse || !S->sparse || Y->ncols != X->nrows || Y->nrows != S->nrows ||
                   X->ncols != S->ncols
               ? INVALID_VALUE
               : OK;
}

unsigned cusparseSDDMM_bufferSize(void *handle, unsigned a, unsigned b, const void *alpha, const void *Y,
                                  const void *X, const void *beta, void *S, unsigned type, unsigned algorithm,
                                  size_t *bytes)
{
    *bytes = 0;
    const unsigned error = refuses(handle, a, b, alpha, beta, type) || algorithm != SPARSE_SDDMM_DEFAULT;
    return error ? INVALID_VALUE : sddmm_refuses(Y, X, S);
}

unsigned cusparseSDDMM_preprocess(void *handle, unsigned a, unsigned b, const void *alpha, const void *Y,
                                  const void *X, const void *beta, void *S, unsigned type, unsigned algorithm,
                                  void *buffer)
{
    (void)Y, (void)X, (void)S, (void)algorithm, (void)buffer;
    return refuses(handle, a, b, alpha, beta, type);
}

unsigned cusparseSDDMM(void *handle, unsigned a, unsigned b, const void *alpha, const void *Y, const void *X,
                       const void *beta, void *S, unsigned type, unsigned algorithm, void *buffer)
{
    const matrix *left = Y, *right = X, *m = S;
    (void)algorithm, (void)buffer;
    if (refuses(handle, a, b, alpha, beta, type) || sddmm_refuses(left, right, m))
        return INVALID_VALUE;
    sparse_copy s = copy_of(m);
    float *y = fetch(left->values, values_of(left) * 4), *x = fetch(right->values, values_of(right) * 4);
    for (int64_t i = 0; i < m->nrows; i++)
        for (int64_t e = s.rowptr[i]; e < s.rowptr[i + 1]; e++) {
            float sum = 0;
            for (int64_t f = 0; f < left->ncols; f++)
                sum += y[place(left, i, f)] * x[place(right, f, s.colidx[e])];
            s.values[e] = sum;
        }
    send(m->values, s.values, m->nvals * 4);
    free(x);
    free(y);
    drop(&s);
    return OK;
}

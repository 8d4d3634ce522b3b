/* A cuSPARSE that does not exist, built as a library of its own: products are made in the memory of the
 * driver that does not exist either, in the order of a handle's stream, with sums from the last entry to the
 * first. What preprocessing leaves in a workspace is looked for when a product reads it. What real calls
 * refuse it refuses, and what must not be done is the driver's misuse. The environment says what it is:
 *
 *     FAKE_CUSPARSE_VERSION  1000 major + 10 minor (12040)
 *     FAKE_CUSPARSE_FAILS    a call that fails, "name=status"
 *     FAKE_CUSPARSE_TAKES    milliseconds of products by each algorithm, DEFAULT (that of SDDMM, too) and
 * CSR_ALG1 to 3: "9,9,1,9"
 */
#include "gpu/cusparse/cusparse.h"

#include "fake_cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECLARE_SPARSE(name, arguments) unsigned name arguments;
FTB_CUSPARSE_CALLS(DECLARE_SPARSE)
#undef DECLARE_SPARSE
int fake_cusparse_products(void); /* so far */
int fake_cusparse_prepared(void); /* workspaces, so far */
int fake_cusparse_live(void);     /* handles and descriptors */

enum { READY = 0x51, NOT_READY = 1, INVALID = 3, GRAIN = 16 };

typedef struct matrix {
    int sparse;
    int64_t nrows, ncols, nvals, ld;
    unsigned order;
    void *rowptr, *colidx, *values;
    const void *active; /* workspace that was prepared for it */
    unsigned algorithm; /* with that */
} matrix;

static struct {
    int (*current)(void), (*holds)(const void *, size_t);
    void (*append)(struct CUstream_st *, void (*)(const void *), const void *, size_t),
        (*wrong)(const char *, const char *), (*takes)(double);
} driver;
typedef struct handle_of {
    struct CUstream_st *stream;
} handle_of;
static int products, prepared, live;

int fake_cusparse_products(void) { return products; }
int fake_cusparse_prepared(void) { return prepared; }
int fake_cusparse_live(void) { return live; }

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
    const char *fails = getenv("FAKE_CUSPARSE_FAILS");
    const size_t length = strlen(call);
    return fails && strncmp(fails, call, length) == 0 && fails[length] == '='
               ? (unsigned)atoi(fails + length + 1)
               : 0;
}

static unsigned misuse(const char *call, const char *what)
{
    driver.wrong(call, what);
    return INVALID;
}

unsigned cusparseGetProperty(unsigned property, int *value)
{
    const char *text = getenv("FAKE_CUSPARSE_VERSION");
    const int version = text ? atoi(text) : 12040;
    *value = property == FTB_CUSPARSE_MAJOR ? version / 1000 : version % 1000 / 10;
    return begin("cusparseGetProperty");
}

unsigned cusparseCreate(void **handle)
{
    const unsigned error = begin("cusparseCreate");
    find("fake_cuda_current", &driver.current);
    find("fake_cuda_holds", &driver.holds);
    find("fake_cuda_append", &driver.append);
    find("fake_cuda_wrong", &driver.wrong);
    find("fake_cuda_takes", &driver.takes);
    if (error || !driver.current())
        return error ? error : NOT_READY;
    *handle = calloc(1, sizeof(handle_of));
    if (!*handle)
        abort();
    live++;
    return 0;
}

unsigned cusparseDestroy(void *handle)
{
    free(handle);
    live--;
    return 0;
}

unsigned cusparseSetStream(void *handle, struct CUstream_st *s)
{
    const unsigned error = begin("cusparseSetStream");
    ((handle_of *)handle)->stream = s;
    return error || s ? error : INVALID;
}

/* ---- descriptors */

static unsigned make(const char *call, void **made, const matrix *from)
{
    const unsigned error = begin(call);
    if (error)
        return error;
    matrix *m = malloc(sizeof *m);
    if (!m)
        abort();
    *m = *from;
    *made = m;
    live++;
    return 0;
}

unsigned cusparseCreateCsr(void **made, int64_t nrows, int64_t ncols, int64_t nvals, void *rowptr,
                           void *colidx, void *values, unsigned offsets, unsigned columns, unsigned base,
                           unsigned type)
{
    if (offsets != FTB_CUSPARSE_INDEX_32 || columns != FTB_CUSPARSE_INDEX_32 ||
        base != FTB_CUSPARSE_BASE_ZERO || type != FTB_CUSPARSE_REAL)
        return INVALID;
    return make("cusparseCreateCsr", made,
                &(matrix){.sparse = 1,
                          .nrows = nrows,
                          .ncols = ncols,
                          .nvals = nvals,
                          .rowptr = rowptr,
                          .colidx = colidx,
                          .values = values});
}

unsigned cusparseCsrSetPointers(void *m, void *rowptr, void *colidx, void *values)
{
    matrix *of = m;
    of->rowptr = rowptr;
    of->colidx = colidx;
    of->values = values;
    return begin("cusparseCsrSetPointers");
}

unsigned cusparseCreateDnMat(void **made, int64_t nrows, int64_t ncols, int64_t ld, void *values,
                             unsigned type, unsigned order)
{
    if (type != FTB_CUSPARSE_REAL || ld < (order == FTB_CUSPARSE_ROWS ? ncols : nrows))
        return INVALID;
    return make("cusparseCreateDnMat", made,
                &(matrix){.nrows = nrows, .ncols = ncols, .ld = ld, .values = values, .order = order});
}

unsigned cusparseDnMatSetValues(void *m, void *values)
{
    ((matrix *)m)->values = values;
    return begin("cusparseDnMatSetValues");
}

static unsigned destroy(const void *m)
{
    free((void *)(uintptr_t)m);
    live--;
    return 0;
}
unsigned cusparseDestroySpMat(const void *m) { return destroy(m); }
unsigned cusparseDestroyDnMat(const void *m) { return destroy(m); }

/* ---- products */

typedef struct product {
    matrix A, X, C; /* SDDMM: of A, X, Y' */
    int dots, is_prepared;
    double milliseconds;
    float one, old;
    const unsigned char *workspace;
} product;

static int64_t place(const matrix *m, int64_t i, int64_t j)
{
    return m->order == FTB_CUSPARSE_ROWS ? i * m->ld + j : j * m->ld + i;
}

static size_t extent(const matrix *m)
{
    const int64_t rows = m->order == FTB_CUSPARSE_ROWS ? m->nrows : m->ncols,
                  width = m->order == FTB_CUSPARSE_ROWS ? m->ncols : m->nrows;
    return rows > 0 ? (size_t)((rows - 1) * m->ld + width) * sizeof(float) : 0;
}

static void sum_rows(const product *p)
{
    const int *rowptr = p->A.rowptr, *colidx = p->A.colidx;
    const float *w = p->A.values, *x = p->X.values;
    float *c = p->C.values;
    for (int64_t i = 0; i < p->A.nrows; i++)
        for (int64_t f = 0; f < p->X.ncols; f++) {
            float sum = 0;
            for (int64_t e = rowptr[i + 1] - 1; e >= rowptr[i]; e--)
                sum += w[e] * x[place(&p->X, colidx[e], f)];
            if (p->old > 0)
                sum += c[place(&p->C, i, f)];
            c[place(&p->C, i, f)] = sum;
        }
}

static void dot_entries(const product *p)
{
    const int *rowptr = p->A.rowptr, *colidx = p->A.colidx;
    const float *y = p->X.values, *x = p->C.values;
    float *values = p->A.values;
    for (int64_t i = 0; i < p->A.nrows; i++)
        for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++) {
            float sum = 0;
            for (int64_t f = p->X.ncols - 1; f >= 0; f--)
                sum += y[place(&p->X, i, f)] * x[place(&p->C, f, colidx[e])];
            values[e] = p->one * sum;
        }
}

static void run(const void *argument)
{
    const product *p = argument;
    if (p->is_prepared && p->workspace[0] != READY)
        driver.wrong(p->dots ? "cusparseSDDMM" : "cusparseSpMM",
                     "what was prepared is not in the workspace any more");
    if (p->dots)
        dot_entries(p);
    else
        sum_rows(p);
    driver.takes(p->milliseconds);
    products++;
}

static void prepare(const void *argument)
{
    unsigned char *const *workspace = argument;
    (*workspace)[0] = READY;
}

static const char *wrong_of(const void *handle, unsigned a, unsigned b, const void *alpha, const void *beta,
                            unsigned type, const matrix *A, const matrix *X, const matrix *C, int dots)
{
    const float one = *(const float *)alpha, old = *(const float *)beta;
    if (!driver.current() || !((const handle_of *)handle)->stream)
        return "no context, or no stream";
    if (a || b || type != FTB_CUSPARSE_REAL || old < 0 || old > 1 || (dots ? old > 0 : one < 1 || one > 1))
        return "a transpose, another type or another sum";
    if (!A->sparse || X->sparse || C->sparse)
        return "a matrix of another kind";
    if (dots ? X->ncols != C->nrows || X->nrows != A->nrows || C->ncols != A->ncols
             : A->ncols != X->nrows || A->nrows != C->nrows || X->ncols != C->ncols)
        return "shapes that do not fit";
    return NULL;
}

static const char *memory_of(const matrix *A, const matrix *X, const matrix *C)
{
    const size_t count = (size_t)A->nvals * sizeof(float);
    if ((uintptr_t)A->rowptr % GRAIN || (uintptr_t)A->colidx % GRAIN || (uintptr_t)A->values % GRAIN)
        return "a matrix that is not aligned";
    return driver.holds(A->rowptr, (size_t)(A->nrows + 1) * sizeof(int)) && driver.holds(A->colidx, count) &&
                   driver.holds(A->values, count) && driver.holds(X->values, extent(X)) &&
                   driver.holds(C->values, extent(C))
               ? NULL
               : "a matrix that is not in one piece of this device's memory";
}

static double milliseconds(unsigned algorithm)
{
    const char *takes = getenv("FAKE_CUSPARSE_TAKES");
    double ms[4] = {1, 1, 1, 1};
    if (takes && sscanf(takes, "%lf,%lf,%lf,%lf", &ms[0], &ms[1], &ms[2], &ms[3]) != 4)
        abort();
    return algorithm == FTB_CUSPARSE_SPMM_CSR_ALG1   ? ms[1]
           : algorithm == FTB_CUSPARSE_SPMM_CSR_ALG2 ? ms[2]
           : algorithm == FTB_CUSPARSE_SPMM_CSR_ALG3 ? ms[3]
                                                     : ms[0];
}

unsigned cusparseSpMM_bufferSize(void *handle, unsigned a, unsigned b, const void *alpha, const void *A,
                                 const void *X, const void *beta, void *C, unsigned type, unsigned algorithm,
                                 size_t *bytes)
{
    const unsigned error = begin("cusparseSpMM_bufferSize");
    const char *wrong = wrong_of(handle, a, b, alpha, beta, type, A, X, C, 0);
    *bytes = algorithm == FTB_CUSPARSE_SPMM_CSR_ALG2 ? 0 : 64;
    return error ? error : wrong ? misuse("cusparseSpMM_bufferSize", wrong) : 0;
}

/* Of some algorithms there is none. */
unsigned cusparseSpMM_preprocess(void *handle, unsigned a, unsigned b, const void *alpha, const void *A,
                                 const void *X, const void *beta, void *C, unsigned type, unsigned algorithm,
                                 void *buffer)
{
    const char *wrong = wrong_of(handle, a, b, alpha, beta, type, A, X, C, 0);
    matrix *m = (matrix *)(uintptr_t)A;
    if (wrong)
        return misuse("cusparseSpMM_preprocess", wrong);
    if (algorithm == FTB_CUSPARSE_SPMM_DEFAULT || algorithm == FTB_CUSPARSE_SPMM_CSR_ALG2)
        return FTB_CUSPARSE_NOT_SUPPORTED;
    if (!driver.holds(buffer, 64))
        return misuse("cusparseSpMM_preprocess", "a workspace that is none");
    driver.append(((const handle_of *)handle)->stream, prepare, &buffer, sizeof buffer);
    m->active = buffer;
    m->algorithm = algorithm;
    prepared++;
    return 0;
}

unsigned cusparseSpMM(void *handle, unsigned a, unsigned b, const void *alpha, const void *A, const void *X,
                      const void *beta, void *C, unsigned type, unsigned algorithm, void *buffer)
{
    const unsigned error = begin("cusparseSpMM");
    const char *wrong = wrong_of(handle, a, b, alpha, beta, type, A, X, C, 0);
    const matrix *m = A;
    if (error)
        return error;
    wrong = wrong ? wrong : memory_of(A, X, C);
    if (!wrong && m->active && (m->active != buffer || m->algorithm != algorithm))
        wrong = "another workspace than was prepared, or another algorithm";
    if (wrong)
        return misuse("cusparseSpMM", wrong);
    const product p = {*m, *(const matrix *)X,   *(const matrix *)C,
                       0,  m->active != NULL,    milliseconds(algorithm),
                       1,  *(const float *)beta, buffer};
    driver.append(((const handle_of *)handle)->stream, run, &p, sizeof p);
    return 0;
}

unsigned cusparseSDDMM_bufferSize(void *handle, unsigned a, unsigned b, const void *alpha, const void *Y,
                                  const void *X, const void *beta, void *S, unsigned type, unsigned algorithm,
                                  size_t *bytes)
{
    const unsigned error = begin("cusparseSDDMM_bufferSize");
    const char *wrong = wrong_of(handle, a, b, alpha, beta, type, S, Y, X, 1);
    *bytes = 64;
    if (!wrong && algorithm != FTB_CUSPARSE_SDDMM_DEFAULT)
        wrong = "an algorithm that there is not";
    return error ? error : wrong ? misuse("cusparseSDDMM_bufferSize", wrong) : 0;
}

unsigned cusparseSDDMM_preprocess(void *handle, unsigned a, unsigned b, const void *alpha, const void *Y,
                                  const void *X, const void *beta, void *S, unsigned type, unsigned algorithm,
                                  void *buffer)
{
    const char *wrong = wrong_of(handle, a, b, alpha, beta, type, S, Y, X, 1);
    matrix *m = S;
    if (!wrong && !driver.holds(buffer, 64))
        wrong = "a workspace that is none";
    if (wrong)
        return misuse("cusparseSDDMM_preprocess", wrong);
    driver.append(((const handle_of *)handle)->stream, prepare, &buffer, sizeof buffer);
    m->active = buffer;
    m->algorithm = algorithm;
    prepared++;
    return 0;
}

unsigned cusparseSDDMM(void *handle, unsigned a, unsigned b, const void *alpha, const void *Y, const void *X,
                       const void *beta, void *S, unsigned type, unsigned algorithm, void *buffer)
{
    const unsigned error = begin("cusparseSDDMM");
    const char *wrong = wrong_of(handle, a, b, alpha, beta, type, S, Y, X, 1);
    const matrix *m = S;
    if (error)
        return error;
    wrong = wrong ? wrong : memory_of(S, Y, X);
    if (!wrong && m->active && (m->active != buffer || m->algorithm != algorithm))
        wrong = "another workspace than was prepared, or another algorithm";
    if (wrong)
        return misuse("cusparseSDDMM", wrong);
    const product p = {*m,
                       *(const matrix *)Y,
                       *(const matrix *)X,
                       1,
                       m->active != NULL,
                       milliseconds(FTB_CUSPARSE_SPMM_DEFAULT),
                       *(const float *)alpha,
                       0,
                       buffer};
    driver.append(((const handle_of *)handle)->stream, run, &p, sizeof p);
    return 0;
}

/* C = A B, A' B or A B' for dense blocks: CBLAS on pieces of fixed size, one piece a thread.
 *
 * Pieces depend on the shapes alone, so bits do not depend on threads: rows of C for A B and A B', rows of A
 * and B for A' B, whose partial sums are added in order. CBLAS runs each piece on the thread that calls it.
 */
#include "cpu/kernels/rows.h"
#include "nn/nn.h"

#include <cblas.h>

#define PIECE_ROWS 128 /* of C: enough to pay for packing B */
#define PIECE_SUMS 1024
#define MOST_PIECES 64
#define MADDS_OF_ENTRY 64 /* in about 6 ns: ftb_threads_for */
#define MOST_SUMS 16      /* partial results of A' B that are held at once */

/* OpenBLAS's own, where that is the CBLAS in use. */
extern void openblas_set_num_threads(int) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));

static pthread_mutex_t serial_lock = PTHREAD_MUTEX_INITIALIZER;
static int serial_users, serial_before;

/* Keeps OpenBLAS from starting threads of its own inside ours; the last one out puts back what was set. */
static void serial_begin(void)
{
    if (!openblas_set_num_threads || !openblas_get_num_threads)
        return;
    pthread_mutex_lock(&serial_lock);
    if (serial_users++ == 0 && (serial_before = openblas_get_num_threads()) != 1)
        openblas_set_num_threads(1);
    pthread_mutex_unlock(&serial_lock);
}

static void serial_end(void)
{
    if (!openblas_set_num_threads || !openblas_get_num_threads)
        return;
    pthread_mutex_lock(&serial_lock);
    if (--serial_users == 0 && serial_before != 1)
        openblas_set_num_threads(serial_before);
    pthread_mutex_unlock(&serial_lock);
}

static void multiply(bool ta, bool tb, int64_t m, int64_t n, int64_t k, FtB_Type type, const void *a,
                     int64_t lda, const void *b, int64_t ldb, bool add, void *c, int64_t ldc)
{
    const CBLAS_TRANSPOSE at = ta ? CblasTrans : CblasNoTrans, bt = tb ? CblasTrans : CblasNoTrans;
    if (type == FTB_FP32)
        cblas_sgemm(CblasRowMajor, at, bt, (int)m, (int)n, (int)k, 1, a, (int)lda, b, (int)ldb, add ? 1 : 0,
                    c, (int)ldc);
    else
        cblas_dgemm(CblasRowMajor, at, bt, (int)m, (int)n, (int)k, 1, a, (int)lda, b, (int)ldb, add ? 1 : 0,
                    c, (int)ldc);
}

static char *row(FtB_Block X, int64_t i)
{
    return (char *)ftb_block_data(X) + (size_t)(i * X->ld) * FtB_Type_size(X->type);
}

static int64_t piece_rows(int64_t nrows, int64_t least, int64_t most)
{
    int64_t rows = ftb_max(least, (nrows + most - 1) / most);
    return (rows + 15) / 16 * 16;
}

static void by_rows(ftb_dense_form what, FtB_Block C, FtB_Block A, FtB_Block B, bool add, int threads)
{
    int64_t rows = piece_rows(C->nrows, PIECE_ROWS, MOST_PIECES), pieces = (C->nrows + rows - 1) / rows;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1 && pieces > 1)
    for (int64_t p = 0; p < pieces; p++) {
        int64_t first = p * rows, count = ftb_min(rows, C->nrows - first);
        multiply(false, what == FTB_ABT, count, C->ncols, A->ncols, C->type, row(A, first), A->ld,
                 ftb_block_data(B), B->ld, add, row(C, first), C->ld);
    }
}

static void add_into(FtB_Block C, const void *sum, int64_t first, int64_t last)
{
    const size_t bytes = (size_t)C->ncols * FtB_Type_size(C->type);
    for (int64_t i = first; i < last; i++)
        FTB_PICK_REAL(ftb_row_add, C->type)(row(C, i), (const char *)sum + (size_t)i * bytes, C->ncols);
}

/* C = A' B by sums over pieces of rows; sums: room for all but the first. */
static void by_sums(FtB_Block C, FtB_Block A, FtB_Block B, bool add, int threads, int64_t rows,
                    int64_t pieces, void *sums)
{
    size_t bytes = (size_t)(C->nrows * C->ncols) * FtB_Type_size(C->type);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1 && pieces > 1)
    for (int64_t p = 0; p < pieces; p++) {
        int64_t first = p * rows, count = ftb_min(rows, A->nrows - first);
        void *to = p ? (char *)sums + (size_t)(p - 1) * bytes : ftb_block_data(C);
        multiply(true, false, C->nrows, C->ncols, count, C->type, row(A, first), A->ld, row(B, first), B->ld,
                 p ? false : add, to, p ? C->ncols : C->ld);
    }
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1 && pieces > 1)
    for (int64_t i = 0; i < C->nrows; i++)
        for (int64_t p = 1; p < pieces; p++)
            add_into(C, (const char *)sums + (size_t)(p - 1) * bytes, i, i + 1);
}

static void clear(FtB_Block C)
{
    for (int64_t i = 0; i < C->nrows; i++)
        memset(row(C, i), 0, (size_t)C->ncols * FtB_Type_size(C->type));
}

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

GrB_Info ftb_dense_multiply(ftb_dense_form what, FtB_Block C, FtB_Block A, FtB_Block B, bool add,
                            FtB_Context ctx)
{
    GrB_Info info = check(what, C, A, B);
    void *sums = NULL;
    int64_t rows = 0, pieces = 1, inner = what == FTB_ATB ? A->nrows : A->ncols;
    if (info != GrB_SUCCESS || C->nrows == 0 || C->ncols == 0)
        return info;
    if (inner == 0) {
        if (!add)
            clear(C);
        return info;
    }
    if (what == FTB_ATB) {
        rows = piece_rows(A->nrows, PIECE_SUMS, MOST_SUMS);
        pieces = (A->nrows + rows - 1) / rows;
        sums = ftb_new(ctx, (pieces - 1) * C->nrows * C->ncols, FtB_Type_size(C->type));
        if (!sums)
            return ftb_nomem();
    }
    const int threads = ftb_threads_for(ctx, C->nrows * C->ncols / MADDS_OF_ENTRY * inner);
    serial_begin();
    if (what == FTB_ATB)
        by_sums(C, A, B, add, threads, rows, pieces, sums);
    else
        by_rows(what, C, A, B, add, threads);
    serial_end();
    ftb_delete(sums);
    return info;
}

/* ---- how fast it is */

static double rate;
static pthread_once_t rate_once = PTHREAD_ONCE_INIT;

static void measure_rate(void)
{
    enum { SIDE = 320, TIMES = 4 };
    FtB_Block X[3] = {NULL};
    GrB_Info info = GrB_SUCCESS;
    double best = 0;
    for (int k = 0; k < 3 && info == GrB_SUCCESS; k++)
        info = FtB_Block_new(&X[k], SIDE, SIDE, FTB_FP32);
    serial_begin();
    for (int t = 0; t < TIMES && info == GrB_SUCCESS; t++) {
        double began = ftb_seconds();
        by_rows(FTB_AB, X[0], X[1], X[2], false, 1);
        best = ftb_max(best, 2.0 * SIDE * SIDE * SIDE / ftb_max(ftb_seconds() - began, 1e-9));
    }
    serial_end();
    for (int k = 0; k < 3; k++)
        FtB_Block_free(&X[k]);
    rate = best > 0 ? best : 1e10;
}

double ftb_dense_rate(void)
{
    pthread_once(&rate_once, measure_rate);
    return rate;
}

/* Dense products by CBLAS on pieces of fixed size (dense_run.h).
 *
 * Pieces depend on the shapes alone, so bits do not depend on threads: rows of C for A B and A B', rows of A
 * and B for A' B, whose partial sums are added in order. CBLAS runs each piece on the thread that calls it.
 */
#include "cpu/dense_run.h"

#include "core/isa.h"
#include "cpu/kernels/rows.h"

#include <cblas.h>
#include <stdio.h>
#include <strings.h>

#define PIECE_ROWS 128 /* of C: enough to pay for packing B */
#define PIECE_SUMS 1024
#define MOST_PIECES 64
#define MADDS_OF_ENTRY 64 /* in about 6 ns: ftb_threads_for */
#define MOST_SUMS 16      /* partial results of A' B that are held at once */

/* OpenBLAS's own, where that is the CBLAS in use. */
extern void openblas_set_num_threads(int) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));
extern char *openblas_get_corename(void) __attribute__((weak));

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

/* Row i of an operand. */
static char *row(const void *x, int64_t ld, int64_t i, FtB_Type type)
{
    return (char *)(uintptr_t)x + (size_t)(i * ld) * FtB_Type_size(type);
}

static int64_t piece_rows(int64_t nrows, int64_t least, int64_t most)
{
    int64_t rows = ftb_max(least, (nrows + most - 1) / most);
    return (rows + 15) / 16 * 16;
}

static void by_rows(const ftb_dense_product *p, int threads)
{
    int64_t rows = piece_rows(p->nrows, PIECE_ROWS, MOST_PIECES), pieces = (p->nrows + rows - 1) / rows;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1 && pieces > 1)
    for (int64_t k = 0; k < pieces; k++) {
        int64_t first = k * rows, count = ftb_min(rows, p->nrows - first);
        for (int64_t i = first; p->row && i < first + count; i++)
            memcpy(row(p->c, p->ldc, i, p->type), p->row, (size_t)p->ncols * FtB_Type_size(p->type));
        multiply(false, p->what == FTB_ABT, count, p->ncols, p->inner, p->type,
                 row(p->a, p->lda, first, p->type), p->lda, p->b, p->ldb, p->add,
                 row(p->c, p->ldc, first, p->type), p->ldc);
        for (int64_t i = first; p->relu && i < first + count; i++)
            FTB_PICK_REAL(ftb_row_relu, p->type)(row(p->c, p->ldc, i, p->type), p->ncols);
    }
}

static void add_into(const ftb_dense_product *p, const void *sum, int64_t i)
{
    const size_t bytes = (size_t)p->ncols * FtB_Type_size(p->type);
    FTB_PICK_REAL(ftb_row_add, p->type)
    (row(p->c, p->ldc, i, p->type), (const char *)sum + (size_t)i * bytes, p->ncols);
}

/* C = A' B by sums over pieces of rows; sums: room for all but the first. */
static void by_sums(const ftb_dense_product *p, int threads, int64_t rows, int64_t pieces, void *sums)
{
    size_t bytes = (size_t)(p->nrows * p->ncols) * FtB_Type_size(p->type);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1 && pieces > 1)
    for (int64_t k = 0; k < pieces; k++) {
        int64_t first = k * rows, count = ftb_min(rows, p->inner - first);
        void *to = k ? (char *)sums + (size_t)(k - 1) * bytes : p->c;
        multiply(true, false, p->nrows, p->ncols, count, p->type, row(p->a, p->lda, first, p->type), p->lda,
                 row(p->b, p->ldb, first, p->type), p->ldb, k ? false : p->add, to, k ? p->ncols : p->ldc);
    }
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1 && pieces > 1)
    for (int64_t i = 0; i < p->nrows; i++)
        for (int64_t k = 1; k < pieces; k++)
            add_into(p, (const char *)sums + (size_t)(k - 1) * bytes, i);
}

/* Nothing is summed over: what was there, zeros, or the row. */
static void begin(const ftb_dense_product *p)
{
    const size_t bytes = (size_t)p->ncols * FtB_Type_size(p->type);
    for (int64_t i = 0; i < p->nrows; i++) {
        char *to = row(p->c, p->ldc, i, p->type);
        if (p->row)
            memcpy(to, p->row, bytes);
        else if (!p->add)
            memset(to, 0, bytes);
        if (p->relu)
            FTB_PICK_REAL(ftb_row_relu, p->type)(to, p->ncols);
    }
}

GrB_Info ftb_dense_run(const ftb_dense_product *p)
{
    void *sums = NULL;
    int64_t rows = 0, pieces = 1;
    if (p->nrows == 0 || p->ncols == 0)
        return GrB_SUCCESS;
    if (p->inner == 0) {
        begin(p);
        return GrB_SUCCESS;
    }
    if (p->what == FTB_ATB) {
        rows = piece_rows(p->inner, PIECE_SUMS, MOST_SUMS);
        pieces = (p->inner + rows - 1) / rows;
        sums = ftb_new(p->ctx, (pieces - 1) * p->nrows * p->ncols, FtB_Type_size(p->type));
        if (!sums)
            return ftb_nomem();
    }
    const int threads = ftb_threads_for(p->ctx, p->nrows * p->ncols / MADDS_OF_ENTRY * p->inner);
    serial_begin();
    if (p->what == FTB_ATB)
        by_sums(p, threads, rows, pieces, sums);
    else
        by_rows(p, threads);
    serial_end();
    ftb_delete(sums);
    return GrB_SUCCESS;
}

/* ---- how fast it is */

static double rate;
static pthread_once_t rate_once = PTHREAD_ONCE_INIT;

static void measure_rate(void)
{
    enum { SIDE = 320, TIMES = 4 };
    float *x = ftb_new0(NULL, 3 * SIDE * SIDE, sizeof *x);
    const ftb_dense_product p = {.what = FTB_AB,
                                 .type = FTB_FP32,
                                 .nrows = SIDE,
                                 .ncols = SIDE,
                                 .inner = SIDE,
                                 .a = x,
                                 .lda = SIDE,
                                 .b = x + SIDE * SIDE,
                                 .ldb = SIDE,
                                 .c = x + 2 * SIDE * SIDE,
                                 .ldc = SIDE};
    double best = 0;
    serial_begin();
    for (int t = 0; t < TIMES && x; t++) {
        double began = ftb_seconds();
        by_rows(&p, 1);
        best = ftb_max(best, 2.0 * SIDE * SIDE * SIDE / ftb_max(ftb_seconds() - began, 1e-9));
    }
    serial_end();
    ftb_delete(x);
    rate = best > 0 ? best : 1e10;
}

double ftb_dense_rate(void)
{
    pthread_once(&rate_once, measure_rate);
    return rate;
}

/* ---- which kernels */

static char slow[200];

/* OpenBLAS takes its oldest kernels for a processor that is newer than it is. */
static void find_slow(void)
{
    static const char *const without_avx[] = {"Prescott", "Core2", "Penryn", "Dunnington", "Nehalem", "Atom"};
    const char *core = openblas_get_corename ? openblas_get_corename() : "";
    for (size_t n = 0; n < sizeof without_avx / sizeof *without_avx; n++)
        if (ftb_isa() > FTB_ISA_BASELINE && strcasecmp(core, without_avx[n]) == 0)
            snprintf(slow, sizeof slow,
                     "dense products are slow: OpenBLAS takes this processor for %s; "
                     "OPENBLAS_CORETYPE=%s in the environment mends it",
                     core, ftb_isa() == FTB_ISA_AVX512 ? "SkylakeX" : "Haswell");
}

const char *ftb_dense_slow(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_slow);
    return *slow ? slow : NULL;
}

/* cuSPARSE at its best, beside ours on the same stream: opened at run time, so that the program needs no
 * toolkit. CSR with 32-bit offsets, row-major blocks, descriptors and buffers made once, preprocessed where
 * that is allowed; of SpMM's algorithms each is tried, and the fastest is who competes. bench/gpu/cusparse
 * measures all of them. */
#include "products.h"

#include "core/core.h"
#include "gpu/context.h"
#include "gpu/cusparse/cusparse.h"

#include <stdlib.h>
#include <string.h>

static struct {
    ftb_cusparse_calls call;
    void *handle;
    bool tried;
    char why[PRODUCTS_TEXT];
} sparse;

static bool open_library(void)
{
    const ftb_cusparse *c = ftb_cusparse_here();
    if (sparse.tried)
        return sparse.handle != NULL;
    sparse.tried = true;
    sparse.call = c->call;
    if (!c->found.version) {
        snprintf(sparse.why, sizeof sparse.why, "skipped: %.200s", c->found.why);
        return false;
    }
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(ftb_context()));
    if (ftb_gpu_enter(d) != GrB_SUCCESS)
        return false;
    unsigned error = sparse.call.cusparseCreate(&sparse.handle);
    if (!error)
        error = sparse.call.cusparseSetStream(sparse.handle, d->turn);
    ftb_gpu_leave(d, GrB_SUCCESS);
    if (error)
        snprintf(sparse.why, sizeof sparse.why, "failed: cusparseCreate: %u", error);
    return error == 0;
}

/* ---- a product */

typedef struct piece {
    void *at;
    int64_t bytes;
} piece;
enum { ROWPTR, COLIDX, VALUES, X, Y, C, BUFFER, PIECES };

typedef struct product {
    ftb_gpu_device *d;
    bool dots;
    unsigned algorithm;
    void *matrix, *left, *right; /* descriptors: SpMM: A, X, C; SDDMM: S, Y, X' */
    float one, zero;
    piece memory[PIECES];
} product;

static bool room(products_who *who, piece *p, const void *from, int64_t bytes)
{
    *p = (piece){products_alloc(bytes), bytes};
    if (!p->at || (from && !products_put(p->at, from, bytes))) {
        products_say(who, "failed: %.200s", FtB_error());
        return false;
    }
    return true;
}

static bool narrow_rowptr(products_who *who, product *p, const gen_graph *g)
{
    int32_t *rowptr = malloc((size_t)(g->nrows + 1) * sizeof *rowptr);
    for (int64_t i = 0; rowptr && i <= g->nrows; i++)
        rowptr[i] = (int32_t)g->rowptr[i];
    const bool ok = rowptr && room(who, &p->memory[ROWPTR], rowptr, (g->nrows + 1) * (int64_t)sizeof *rowptr);
    free(rowptr);
    return ok;
}

/* Small numbers, which sums of are exact. */
static float number(int64_t k) { return (float)(k % 7 - 3) / 4; }

static bool reals(products_who *who, piece *p, int64_t count)
{
    float *x = malloc((size_t)(count + 1) * sizeof *x);
    if (!x) {
        products_say(who, "failed: no memory on the host");
        return false;
    }
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < count; k++)
        x[k] = number(k);
    const bool ok = room(who, p, x, count * (int64_t)sizeof *x);
    free(x);
    return ok;
}

static bool operands(products_who *who, product *p, const gen_graph *g, int64_t d)
{
    return narrow_rowptr(who, p, g) &&
           room(who, &p->memory[COLIDX], g->colidx, g->nvals * (int64_t)sizeof *g->colidx) &&
           reals(who, &p->memory[VALUES], g->nvals) && reals(who, &p->memory[X], g->ncols * d) &&
           (p->dots ? reals(who, &p->memory[Y], g->nrows * d)
                    : room(who, &p->memory[C], NULL, g->nrows * d * (int64_t)sizeof(float)));
}

/* Between ftb_gpu_enter and ftb_gpu_leave. */
static unsigned describe(product *p, const gen_graph *g, int64_t d)
{
    const ftb_cusparse_calls *call = &sparse.call;
    const piece *m = p->memory;
    unsigned error = call->cusparseCreateCsr(
        &p->matrix, g->nrows, g->ncols, g->nvals, m[ROWPTR].at, m[COLIDX].at, m[VALUES].at,
        FTB_CUSPARSE_INDEX_32, FTB_CUSPARSE_INDEX_32, FTB_CUSPARSE_BASE_ZERO, FTB_CUSPARSE_REAL);
    if (!error && p->dots) {
        error = call->cusparseCreateDnMat(&p->left, g->nrows, d, d, m[Y].at, FTB_CUSPARSE_REAL,
                                          FTB_CUSPARSE_ROWS);
        if (!error) /* X' is X as columns */
            error = call->cusparseCreateDnMat(&p->right, d, g->ncols, d, m[X].at, FTB_CUSPARSE_REAL,
                                              FTB_CUSPARSE_COLUMNS);
    } else if (!error) {
        error = call->cusparseCreateDnMat(&p->left, g->ncols, d, d, m[X].at, FTB_CUSPARSE_REAL,
                                          FTB_CUSPARSE_ROWS);
        if (!error)
            error = call->cusparseCreateDnMat(&p->right, g->nrows, d, d, m[C].at, FTB_CUSPARSE_REAL,
                                              FTB_CUSPARSE_ROWS);
    }
    return error;
}

static unsigned launch(product *p)
{
    void *buffer = p->memory[BUFFER].at;
    return p->dots
               ? sparse.call.cusparseSDDMM(sparse.handle, 0, 0, &p->one, p->left, p->right, &p->zero,
                                           p->matrix, FTB_CUSPARSE_REAL, FTB_CUSPARSE_SDDMM_DEFAULT, buffer)
               : sparse.call.cusparseSpMM(sparse.handle, 0, 0, &p->one, p->matrix, p->left, &p->zero,
                                          p->right, FTB_CUSPARSE_REAL, p->algorithm, buffer);
}

static unsigned buffer_bytes(product *p, size_t *bytes)
{
    return p->dots ? sparse.call.cusparseSDDMM_bufferSize(sparse.handle, 0, 0, &p->one, p->left, p->right,
                                                          &p->zero, p->matrix, FTB_CUSPARSE_REAL,
                                                          FTB_CUSPARSE_SDDMM_DEFAULT, bytes)
                   : sparse.call.cusparseSpMM_bufferSize(sparse.handle, 0, 0, &p->one, p->matrix, p->left,
                                                         &p->zero, p->right, FTB_CUSPARSE_REAL, p->algorithm,
                                                         bytes);
}

/* One that is refused goes without. */
static void preprocess(product *p)
{
    void *buffer = p->memory[BUFFER].at;
    if (p->dots)
        (void)sparse.call.cusparseSDDMM_preprocess(sparse.handle, 0, 0, &p->one, p->left, p->right, &p->zero,
                                                   p->matrix, FTB_CUSPARSE_REAL, FTB_CUSPARSE_SDDMM_DEFAULT,
                                                   buffer);
    else
        (void)sparse.call.cusparseSpMM_preprocess(sparse.handle, 0, 0, &p->one, p->matrix, p->left, &p->zero,
                                                  p->right, FTB_CUSPARSE_REAL, p->algorithm, buffer);
}

static bool time_sparse(products_who *who, int calls, double *seconds)
{
    product *p = who->state;
    unsigned error = 0;
    bool ok = products_ok(who, ftb_gpu_enter(p->d));
    if (!ok)
        return false;
    const double start = products_now();
    for (int n = 0; n < calls && !error; n++)
        error = launch(p);
    ftb_gpu_leave(p->d, GrB_SUCCESS);
    ok = products_ok(who, products_wait()) && ok;
    *seconds = (products_now() - start) / calls;
    if (error)
        products_say(who, "failed: cuSPARSE says %u", error);
    return ok && error == 0;
}

static void drop_descriptors(product *p)
{
    if (p->left)
        sparse.call.cusparseDestroyDnMat(p->left);
    if (p->right)
        sparse.call.cusparseDestroyDnMat(p->right);
    if (p->matrix)
        sparse.call.cusparseDestroySpMat(p->matrix);
    p->left = p->right = p->matrix = NULL;
    products_free(p->memory[BUFFER].at, p->memory[BUFFER].bytes);
    p->memory[BUFFER] = (piece){NULL, 0};
}

static void end(void *state)
{
    product *p = state;
    (void)products_wait();
    drop_descriptors(p);
    for (int n = 0; n < PIECES; n++)
        products_free(p->memory[n].at, p->memory[n].bytes);
    free(p);
}

/* With an algorithm: descriptors of its own, since what is preprocessed is kept in them. */
static bool ready(products_who *who, product *p, const gen_graph *g, int64_t d, unsigned algorithm)
{
    size_t bytes = 0;
    p->algorithm = algorithm;
    drop_descriptors(p);
    if (!products_ok(who, ftb_gpu_enter(p->d)))
        return false;
    unsigned error = describe(p, g, d);
    if (!error)
        error = buffer_bytes(p, &bytes);
    ftb_gpu_leave(p->d, GrB_SUCCESS);
    if (error) {
        products_say(who, "failed: cuSPARSE says %u", error);
        return false;
    }
    if (!room(who, &p->memory[BUFFER], NULL, (int64_t)bytes) || !products_ok(who, ftb_gpu_enter(p->d)))
        return false;
    preprocess(p);
    ftb_gpu_leave(p->d, GrB_SUCCESS);
    (void)products_wait();
    return true;
}

/* Whether a row of what it made is right: one in the middle, of SDDMM its entries. */
static bool right_row(products_who *who, const product *p, const gen_graph *g, int64_t d)
{
    const int64_t i = g->nrows / 2, begin = g->rowptr[i], end_of = g->rowptr[i + 1],
                  count = p->dots ? end_of - begin : d;
    const float *from = p->memory[p->dots ? VALUES : C].at;
    float *row = malloc((size_t)(count + 1) * sizeof *row);
    bool well = row && products_get(row, from + (p->dots ? begin : i * d), count * (int64_t)sizeof *row);
    for (int64_t k = 0; well && k < count; k++) {
        float sum = 0;
        for (int64_t e = begin; !p->dots && e < end_of; e++)
            sum += number(e) * number(g->colidx[e] * d + k);
        for (int64_t f = 0; p->dots && f < d; f++)
            sum += number(i * d + f) * number(g->colidx[begin + k] * d + f);
        well = row[k] >= sum && row[k] <= sum; /* exact */
    }
    free(row);
    if (!well)
        products_say(who, "failed: cuSPARSE's result is another");
    return well;
}

/* The fastest of SpMM's; a second run counts. */
static bool choose(products_who *who, product *p, const gen_graph *g, int64_t d)
{
    static const struct {
        const char *name;
        unsigned id;
    } all[] = {{"DEFAULT", FTB_CUSPARSE_SPMM_DEFAULT},
               {"CSR_ALG1", FTB_CUSPARSE_SPMM_CSR_ALG1},
               {"CSR_ALG2", FTB_CUSPARSE_SPMM_CSR_ALG2},
               {"CSR_ALG3", FTB_CUSPARSE_SPMM_CSR_ALG3}};
    const int count = p->dots ? 1 : (int)(sizeof all / sizeof *all);
    double best = 0, seconds;
    int chosen = -1;
    for (int n = 0; n < count; n++)
        if (ready(who, p, g, d, all[n].id) && time_sparse(who, 1, &seconds) && right_row(who, p, g, d) &&
            time_sparse(who, 3, &seconds) && (chosen < 0 || seconds < best)) {
            best = seconds;
            chosen = n;
        }
    if (chosen < 0)
        return false;
    products_say(who, "ok");
    snprintf(who->name, sizeof who->name, "cuSPARSE %s", all[chosen].name);
    return ready(who, p, g, d, all[chosen].id);
}

void products_cusparse(products_result *r, const products_graph *g)
{
    const products_what what = r->of.what;
    if (what != PRODUCTS_SUM && what != PRODUCTS_WEIGHTED && what != PRODUCTS_DOT)
        return;
    products_who *who = products_add(r, "cuSPARSE");
    product *p = calloc(1, sizeof *p);
    if (!who || !p || !open_library() || g->g.nvals > INT32_MAX) {
        if (who)
            products_say(who, "%s", sparse.why[0] ? sparse.why : "skipped: 64-bit offsets");
        free(p);
        return;
    }
    *p = (product){.d = ftb_gpu_of(ftb_device(ftb_context())), .dots = what == PRODUCTS_DOT, .one = 1};
    who->state = p;
    who->end = end;
    if (operands(who, p, &g->g, r->of.d) && choose(who, p, &g->g, r->of.d))
        who->time = time_sparse;
}

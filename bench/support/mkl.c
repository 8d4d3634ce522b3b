/* MKL: only its run-time library is wanted, no header, so the few declarations are here. Interface LP64. */
#include "mkl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Values of mkl_spblas.h. */
enum {
    NON_TRANSPOSE = 10,
    GENERAL = 20,
    LOWER = 40,
    NON_UNIT = 50,
    ROW_MAJOR = 101,
    LAYER_GNU = 3,
    MANY = 1000
};
typedef struct description {
    int type, mode, diag;
} description;
static const description general = {GENERAL, LOWER, NON_UNIT};

static struct mkl {
    bool tried, ready;
    int (*create)(void **, int, int, int, int *, int *, int *, float *);
    int (*hint)(void *, int, description, int, int, int);
    int (*optimize)(void *);
    int (*mm)(int, float, void *, description, int, const float *, int, int, float, float *, int);
    int (*destroy)(void *);
    void (*threads)(int);
    int (*layer)(int);
} mkl;

static bool open_mkl(void)
{
    const char *path = getenv("FEATBLAS_MKL");
    void *library;
    if (mkl.tried)
        return mkl.ready;
    mkl.tried = true;
    library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library) {
        fprintf(stderr, "MKL: skipped: %s\n", path ? dlerror() : "FEATBLAS_MKL is not set");
        return false;
    }
    const struct {
        const char *name;
        void *to;
    } names[] = {{"mkl_sparse_s_create_csr", &mkl.create}, {"mkl_sparse_set_mm_hint", &mkl.hint},
                 {"mkl_sparse_optimize", &mkl.optimize},   {"mkl_sparse_s_mm", &mkl.mm},
                 {"mkl_sparse_destroy", &mkl.destroy},     {"MKL_Set_Num_Threads", &mkl.threads},
                 {"MKL_Set_Threading_Layer", &mkl.layer}};
    mkl.ready = true;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        void *symbol = dlsym(library, names[n].name);
        memcpy(names[n].to, &symbol, sizeof symbol);
        mkl.ready = mkl.ready && symbol;
    }
    if (mkl.ready)
        mkl.layer(LAYER_GNU); /* this process has GNU's OpenMP already */
    return mkl.ready;
}

typedef struct product {
    bench_stage *stage;
    void *A;
    int status;
} product;

static bool multiply(void *state)
{
    product *p = state;
    const int d = (int)p->stage->dim;
    p->status = mkl.mm(NON_TRANSPOSE, 1, p->A, general, ROW_MAJOR, p->stage->X, d, d, 0, p->stage->C, d);
    return p->status == 0;
}

/* MKL wants 32-bit row pointers, and values. */
static bool prepare(product *p, int32_t *rowptr, float *values, int dim, bench_result *result)
{
    gen_graph *g = &p->stage->graph;
    for (int64_t i = 0; i <= g->nrows; i++)
        rowptr[i] = (int32_t)g->rowptr[i];
    double start = bench_now();
    bool ok = mkl.create(&p->A, 0, (int)g->nrows, (int)g->ncols, rowptr, rowptr + 1, g->colidx, values) == 0;
    ok = ok && mkl.hint(p->A, NON_TRANSPOSE, general, ROW_MAJOR, dim, MANY) == 0 && mkl.optimize(p->A) == 0;
    result->setup = bench_now() - start;
    return ok;
}

bool bench_mkl(const bench_settings *s, const bench_measure *m, bench_result *result)
{
    const bench_case c = bench_case_of(m);
    (void)s;
    if (!open_mkl())
        return false;
    product p = {.stage = bench_stage_get(m)};
    const int64_t nvals = p.stage->graph.nvals;
    const bool weighted = strcmp(c.operation, "weighted") == 0;
    int32_t *rowptr = malloc(((size_t)p.stage->graph.nrows + 1) * sizeof *rowptr);
    float *ones = weighted ? NULL : malloc((size_t)nvals * sizeof *ones);
    if (weighted)
        bench_stage_edges(p.stage, 1);
    for (int64_t e = 0; ones && e < nvals; e++)
        ones[e] = 1;
    mkl.threads(m->threads);
    bool ok = rowptr && (ones || weighted) &&
              prepare(&p, rowptr, weighted ? p.stage->weights : ones, c.dim, result) &&
              bench_time_cold(multiply, &p, result);
    if (!ok)
        fprintf(stderr, "%s: status %d\n", m->name, p.status);
    if (p.A)
        mkl.destroy(p.A);
    free(ones);
    free(rowptr);
    result->bytes = bench_stage_bytes(m);
    result->check = bench_sum(p.stage->C, p.stage->graph.nrows * c.dim);
    return ok;
}

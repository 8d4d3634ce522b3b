/* FtB_project against a slow oracle: options, sinks, every kernel under every alternative of the plan.
 *
 * Labels: property */
#include "support/check.h"

#include "core/core.h"
#include "ops/plan_object.h"
#include "ops/spgemm/spgemm.h"
#include "oracle/ref_dense.h"
#include "oracle/ref_mxm.h"
#include "support/compare.h"
#include "support/fail_alloc.h"
#include "support/rng.h"

#include <math.h>
#include <stdlib.h>

#define CASES rng_cases(900)

/* ---- what is asked */

typedef struct pair_facts { /* what epilogues and filters may look at */
    const ref_number *h;
    double w; /* filters: the weight */
    double i, j, di, dj, si, sj, qi, qj, nrows, ncols;
} pair_facts;

static double plain(const pair_facts *p) { return ref_double(p->h[0]); }
/* Its divisor cannot come near 0, where rounding of any h would show. */
static double shared(const pair_facts *p) { return plain(p) / (p->di + p->dj + fabs(plain(p))); }
static double sided(const pair_facts *p) { return 2 * plain(p) + p->i - 3 * p->j; }
static double summed(const pair_facts *p) { return plain(p) * p->si / (p->sj * p->sj + 1) + p->qi - p->qj; }
static double sized(const pair_facts *p) { return plain(p) + p->nrows - 10 * p->ncols; }
static double vector(const pair_facts *p) { return ref_double(p->h[1]) - 2 * ref_double(p->h[0]); }

static const struct epilogue {
    const char *text;
    double (*f)(const pair_facts *p);
} epilogues[] = {{NULL, plain},
                 {"h / (di + dj + abs(h))", shared},
                 {"2 * h + i - 3 * j", sided},
                 {"h * si / (sj * sj + 1) + qi - qj", summed},
                 {"h + nrows - 10 * ncols", sized},
                 {"h1 - 2 * h0", vector}};

static double above(const pair_facts *p) { return p->w > 1.5; }
static double later(const pair_facts *p) { return p->j > p->i + 1; }
static double busy(const pair_facts *p) { return p->di + p->dj - 5; }
static const struct filter {
    const char *text;
    double (*f)(const pair_facts *p);
} filters[] = {{"w > 1.5", above}, {"j > i + 1", later}, {"di + dj - 5", busy}};

/* Semirings by their place in the oracle's table; each needs another kernel. */
static const int semirings[] = {0 /* a * b */,
                                0,
                                0,
                                1 /* 1 */,
                                2 /* any : 1 */,
                                4 /* min : a + b */,
                                5 /* max : min */,
                                8 /* a / (b b + 2) */,
                                9 /* / 4 */,
                                9,
                                11 /* mean */,
                                16 /* i, j, k */,
                                17 /* degrees */,
                                19 /* [6] */,
                                19,
                                19,
                                19,
                                15 /* a > b */,
                                22,
                                23,
                                24,
                                25,
                                26 /* vectors */,
                                27 /* symmetric, rounds */,
                                27};
#define SEMIRINGS ((int64_t)(sizeof semirings / sizeof *semirings))

typedef struct project_case {
    FtB_Matrix R;
    ref_matrix *dense; /* one column per projected vertex */
    ref_semiring s;
    const struct epilogue *epilogue;
    const struct filter *filter; /* NULL: none */
    FtB_Project_options options;
    int64_t lists[2][8];
    FtB_Plan plan;
    char what[512];
} project_case;

/* ---- the oracle */

static void vertex(const project_case *c, int64_t v, double *degree, double *sum, double *square)
{
    *degree = *sum = *square = 0;
    for (int64_t k = 0; k < c->dense->nrows; k++) {
        double x = c->options.unweighted ? 1 : ref_double(*ref_value(c->dense, k, v));
        *degree += *ref_at(c->dense, k, v);
        *sum += *ref_at(c->dense, k, v) ? x : 0;
        *square += *ref_at(c->dense, k, v) ? x * x : 0;
    }
}

static bool listed(const int64_t *list, int64_t count, int64_t v)
{
    for (int64_t t = 0; list && t < count; t++)
        if (list[t] == v)
            return true;
    return !list;
}

/* Whether the options let (i, j) through, before its weight is looked at. */
static bool wanted(const project_case *c, int64_t i, int64_t j)
{
    const FtB_Project_options *o = &c->options;
    double di, dj, unused;
    vertex(c, i, &di, &unused, &unused);
    vertex(c, j, &dj, &unused, &unused);
    double most = o->max_degree ? (double)o->max_degree : INFINITY, least = (double)o->min_degree;
    return (i != j || o->self_loops) && (j >= i || !o->triangle) && di >= least && dj >= least &&
           di <= most && dj <= most && listed(o->sources, o->nsources, i) &&
           listed(o->targets, o->ntargets, j);
}

static void keep_top(ref_matrix *C, int64_t i, int64_t k)
{
    for (int64_t j = 0; j < C->ncols; j++) {
        double w = ref_double(*ref_value(C, i, j));
        int64_t better = 0;
        for (int64_t t = 0; t < C->ncols && *ref_at(C, i, j); t++) {
            double other = ref_double(*ref_value(C, i, t));
            better += ref_value(C, i, t)->integer == 1 && (other > w || (t < j && !(other < w)));
        }
        if (isnan(w) || better >= k)
            *ref_at(C, i, j) = false;
    }
}

static ref_matrix *oracle(const project_case *c)
{
    const ref_matrix *R = c->dense;
    int64_t n = R->ncols;
    ref_matrix *T = ref_new(R->type, n, R->nrows, R->width), *C = ref_new(FTB_FP64, n, n, 1), *h, *U;
    U = ref_new(R->type, R->nrows, n, R->width);
    for (int64_t k = 0; k < R->nrows; k++)
        for (int64_t v = 0; v < n; v++) {
            *ref_at(T, v, k) = *ref_at(U, k, v) = *ref_at(R, k, v);
            *ref_value(T, v, k) = *ref_value(U, k, v) =
                c->options.unweighted ? ref_integer(1) : *ref_value(R, k, v);
        }
    h = ref_mxm(&c->s, T, U, NULL, NULL);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            pair_facts p = {.h = ref_value(h, i, j),
                            .i = (double)i,
                            .j = (double)j,
                            .nrows = (double)R->nrows,
                            .ncols = (double)n};
            vertex(c, i, &p.di, &p.si, &p.qi);
            vertex(c, j, &p.dj, &p.sj, &p.qj);
            p.w = *ref_at(h, i, j) ? c->epilogue->f(&p) : 0;
            bool keep = *ref_at(h, i, j) && wanted(c, i, j) && (!c->filter || c->filter->f(&p) != 0) &&
                        (!c->options.use_min_weight || p.w >= c->options.min_weight);
            *ref_at(C, i, j) = keep;
            *ref_value(C, i, j) = ref_real(p.w);
            ref_value(C, i, j)->integer = keep && !isnan(p.w); /* a mark for keep_top */
        }
        if (c->options.top_k)
            keep_top(C, i, c->options.top_k);
    }
    ref_free(T);
    ref_free(U);
    ref_free(h);
    return C;
}

/* ---- cases */

static const int64_t *some_vertices(rng *r, int64_t *list, int64_t n, int64_t *count)
{
    *count = rng_below(r, 8);
    for (int64_t t = 0; t < *count; t++)
        list[t] = rng_below(r, n);
    return list;
}

static void choose_options(project_case *c, rng *r)
{
    FtB_Project_options *o = &c->options;
    int64_t n = c->dense->ncols;
    *o =
        (FtB_Project_options){.size = sizeof *o, .onto = c->options.onto, .unweighted = rng_below(r, 4) == 0};
    o->epilogue = c->epilogue->text;
    o->self_loops = rng_below(r, 2);
    o->triangle = rng_below(r, 3) == 0;
    o->where = c->filter ? c->filter->text : NULL;
    o->use_min_weight = rng_below(r, 4) == 0;
    o->min_weight = 0.75 + (double)rng_below(r, 3);
    o->top_k = rng_below(r, 3) ? 0 : 1 + rng_below(r, 6);
    o->min_degree = rng_below(r, 4) ? 0 : rng_below(r, 4);
    o->max_degree = rng_below(r, 4) ? 0 : rng_below(r, 9);
    if (n > 0 && rng_below(r, 5) == 0)
        o->sources = some_vertices(r, c->lists[0], n, &o->nsources);
    if (n > 0 && rng_below(r, 5) == 0)
        o->targets = some_vertices(r, c->lists[1], n, &o->ntargets);
}

/* Filled in place: the options point into it. */
static void case_new(project_case *c, rng *r)
{
    static const FtB_Type types[] = {FTB_FP64,  FTB_FP64,  FTB_FP32, FTB_INT32,
                                     FTB_UINT8, FTB_INT64, FTB_FP16, FTB_BOOL};
    static const int64_t sizes[] = {0, 1, 2, 5, 9, 17, 30, 45};
    *c = (project_case){.s = ref_semiring_of(semirings[rng_below(r, SEMIRINGS)])};
    FtB_Type type = types[rng_below(r, 8)];
    c->options.onto = rng_below(r, 2) ? FTB_ROWS : FTB_COLS;
    c->R = rng_matrix(r, type, sizes[rng_below(r, 8)], sizes[rng_below(r, 8)], rng_below(r, 5) > 0,
                      0.6 * rng_unit(r));
    if (c->R->width && (type == FTB_FP64 || type == FTB_FP32) && rng_below(r, 3) == 0)
        for (int64_t e = 0; e < c->R->pattern->nvals; e++) { /* more distinct values than a table takes */
            double x = (double)rng_below(r, 4000) / 8;
            ftb_cast((char *)matrix_values(c->R) + (size_t)e * FtB_Type_size(type), type, &x, FTB_FP64, 1);
        }
    if (c->R->width && c->s.width == 6 && type != FTB_BOOL && rng_below(r, 2))
        for (int64_t e = 0; e < c->R->pattern->nvals; e++) { /* sums that fit the bits of two words */
            double x = (double)(8 * rng_below(r, 40) + 1) / 8;
            ftb_cast((char *)matrix_values(c->R) + (size_t)e * FtB_Type_size(type), type, &x, FTB_FP64, 1);
        }
    c->dense = ref_read(c->R, c->options.onto == FTB_ROWS);
    c->epilogue = &epilogues[c->s.width > 1 ? 5 : rng_below(r, 5)];
    c->filter = rng_below(r, 2) ? &filters[rng_below(r, 3)] : NULL;
    choose_options(c, r);
    if (type == FTB_FP32 || type == FTB_FP16 ||
        c->s.inexact) /* the oracle's digits would decide otherwise near a limit */
        c->options.top_k = 0, c->options.where = NULL, c->filter = NULL, c->options.use_min_weight = false;
    snprintf(c->what, sizeof c->what,
             "%s, epilogue %s, where %s, R %s %s width %d: k %d, n %d; loops %d triangle %d top %d min %d "
             "%g, degrees "
             "%d..%d, sources %d of %d, targets %d of %d, unweighted %d",
             c->s.text, c->epilogue->text, c->filter ? c->filter->text : "", FtB_Type_name(type),
             c->options.onto == FTB_ROWS ? "onto rows" : "onto columns", (int)c->R->width,
             (int)c->dense->nrows, (int)c->dense->ncols, c->options.self_loops, c->options.triangle,
             (int)c->options.top_k, c->options.use_min_weight, c->options.min_weight,
             (int)c->options.min_degree, (int)c->options.max_degree, c->options.sources != NULL,
             (int)c->options.nsources, c->options.targets != NULL, (int)c->options.ntargets,
             c->options.unweighted);
}

static void case_free(project_case *c)
{
    FtB_Matrix_free(&c->R);
    FtB_Plan_free(&c->plan);
    ref_free(c->dense);
}

/* ---- plans: every kernel with every accumulator, and both values of every switch */

static const struct {
    const char *key, *values[4];
} choices[] = {{"accumulator", {"auto", "dense", "list", "hash"}},
               {"ids", {"16", "32", NULL}},
               {"relabel", {"0", "1", NULL}},
               {"triangle", {"0", "1", NULL}},
               {"mirror", {"0", "1", NULL}},
               {"chunk_rows", {"1", "3", "1000", NULL}},
               {"chunk_bytes", {"64", "4096", NULL}},
               {"threads", {"1", "2", "3", NULL}}};
#define CHOICES ((int)(sizeof choices / sizeof *choices))
#define NAME(name, message, cell, width) #name,
static const char *const kernels[] = {FTB_SPGEMM_KERNELS(NAME) "program"};
#undef NAME
#define KERNELS ((int)(sizeof kernels / sizeof *kernels))
static int ran[KERNELS][4], switched[CHOICES][4];

static int kernel_of(FtB_Plan plan)
{
    for (int n = 0; n < KERNELS; n++)
        if (strcmp(kernels[n], plan->facts.spgemm.kernel) == 0)
            return n;
    fail_msg("kernel %s is not known here", plan->facts.spgemm.kernel);
    return -1;
}

/* The accumulator, as a choice, that the planned kernel ran with least: rare kernels meet each soon. */
static int least_run(FtB_Plan plan)
{
    const int *times = ran[kernel_of(plan)];
    int least = 0;
    for (int a = 1; a < 4; a++)
        least = times[a] < times[least] ? a : least;
    return least;
}

static void force_plan(project_case *c, rng *r, FtB_Matrix C)
{
    FtB_Arg weight = ref_semiring_arg(&c->s);
    int accumulator = 0;
    assert_ok((FtB_project_plan)(&c->plan, FTB_ARG(C), FTB_ARG(c->R), weight, &c->options, FTB_ESTIMATE));
    for (int t = 0; t < CHOICES; t++) {
        int value = t == 0 ? least_run(c->plan) : (int)rng_below(r, 6);
        if (value >= 4 || !choices[t].values[value])
            continue;
        assert_ok(FtB_Plan_set(c->plan, choices[t].key, choices[t].values[value]));
        switched[t][value]++;
        accumulator = t == 0 ? value : accumulator;
        size_t length = strlen(c->what);
        snprintf(c->what + length, sizeof c->what - length, ", %s %s", choices[t].key,
                 choices[t].values[value]);
    }
    if (C->pattern->nrows > 4)
        ran[kernel_of(c->plan)][accumulator]++;
    c->options.plan = c->plan;
}

static void random_case(rng *r)
{
    project_case c;
    case_new(&c, r);
    FtB_Matrix C;
    FtB_Arg weight = ref_semiring_arg(&c.s);
    assert_ok(FtB_Matrix_new(&C, FTB_FP64, c.dense->ncols, c.dense->ncols, 1));
    if (rng_below(r, 4))
        force_plan(&c, r, C);
    assert_ok(FtB_project(C, c.R, weight, &c.options));
    ref_matrix *goal = oracle(&c);
    ref_check(C, goal, c.R->type == FTB_FP32 || c.R->type == FTB_FP16 ? 1e-4 : 1e-10, c.what);
    ref_free(goal);
    FtB_Matrix_free(&C);
    case_free(&c);
}

/* The first kernel and accumulator that were never run, or switch that was never forced; NULL: none. */
static const char *never_run(char *text, size_t room)
{
    for (int n = 0; n < KERNELS; n++)
        for (int a = 0; a < 4; a++)
            if (ran[n][a] == 0) {
                snprintf(text, room, "kernel %s with accumulator %s", kernels[n], choices[0].values[a]);
                return text;
            }
    for (int t = 0; t < CHOICES; t++)
        for (int v = 0; v < 4 && choices[t].values[v]; v++)
            if (switched[t][v] == 0) {
                snprintf(text, room, "%s = %s", choices[t].key, choices[t].values[v]);
                return text;
            }
    return NULL;
}

static void random_cases(void **state)
{
    (void)state;
    rng r = rng_new();
    char missing[100];
    for (int t = 0; t < CASES || (t < 40 * CASES && never_run(missing, sizeof missing)); t++) {
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
        random_case(&r);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
    if (never_run(missing, sizeof missing))
        fail_msg("%s was never run", missing);
}

/* ---- sinks */

typedef struct collected {
    int64_t rows, count, *I, *J;
    double *X;
} collected;

static GrB_Info collect(const FtB_Rows *rows, void *arg)
{
    collected *c = arg;
    assert_int_equal(rows->row0, c->rows);
    assert_int_equal(rows->width, 1);
    for (int64_t i = 0; i < rows->nrows; i++)
        for (int64_t e = rows->rowptr[i]; e < rows->rowptr[i + 1]; e++) {
            c->I[c->count] = rows->row0 + i;
            c->J[c->count] = ((const int32_t *)rows->colidx)[e];
            c->X[c->count++] = ftb_get_real(rows->values, rows->type, e);
        }
    c->rows += rows->nrows;
    return GrB_SUCCESS;
}

static void callback_case(rng *r)
{
    project_case c;
    case_new(&c, r);
    int64_t n = c.dense->ncols;
    size_t room = (size_t)(n * n + 1);
    collected seen = {0, 0, malloc(room * 8), malloc(room * 8), malloc(room * 8)};
    FtB_Matrix C, D;
    FtB_Sink callback, stats;
    FtB_Stats s, same;
    double sum;
    FtB_Arg weight = ref_semiring_arg(&c.s);
    assert_ok(FtB_Matrix_new(&C, FTB_FP64, n, n, 1));
    if (rng_below(r, 2))
        force_plan(&c, r, C);
    assert_ok(FtB_project(C, c.R, weight, &c.options));
    assert_ok(FtB_Sink_callback(&callback, collect, &seen));
    assert_ok(FtB_project(callback, c.R, weight, &c.options));
    assert_int_equal(seen.rows, n);
    assert_ok(
        FtB_Matrix_build(&D, FTB_FP64, n, n, 1, seen.count, seen.I, seen.J, seen.X, FTB_DUP_ERROR, NULL));
    assert_close(C, D, 0);
    assert_ok(FtB_Sink_stats(&stats));
    assert_ok(FtB_project(stats, c.R, weight, &c.options));
    assert_ok(FtB_Sink_get_stats(stats, &s));
    assert_ok(FtB_Sink_get_stats(callback, &same));
    assert_int_equal(s.nvals, seen.count);
    assert_memory_equal(&s, &same, sizeof s);
    assert_ok(FtB_reduce_scalar(&sum, FTB_FP64, "plus", C));
    double size = 1; /* terms may cancel */
    for (int64_t t = 0; t < seen.count; t++)
        size += fabs(seen.X[t]);
    if (isfinite(sum) && fabs(sum - s.sum) > 1e-9 * size)
        fail_msg("%s: the sum is %.17g, statistics say %.17g", c.what, sum, s.sum);
    FtB_Sink_free(&callback);
    FtB_Sink_free(&stats);
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&D);
    free(seen.I);
    free(seen.J);
    free(seen.X);
    case_free(&c);
}

static void callbacks(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < 150; t++)
        callback_case(&r);
}

static GrB_Info refuse(const FtB_Rows *rows, void *arg)
{
    (void)rows, (void)arg;
    return GrB_DOMAIN_MISMATCH;
}

/* What the callback returns is what the call returns. */
static void callback_error(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix R = rng_matrix(&r, FTB_FP32, 20, 20, 1, 0.5);
    FtB_Sink sink;
    assert_ok(FtB_Sink_callback(&sink, refuse, NULL));
    assert_int_equal(FtB_project(sink, R, "count", NULL), GrB_DOMAIN_MISMATCH);
    FtB_Sink_free(&sink);
    FtB_Matrix_free(&R);
}

/* ---- bits, limits, refusals */

static FtB_Matrix ratings(rng *r, int64_t nrows, int64_t ncols)
{
    FtB_Matrix R = rng_matrix(r, FTB_FP64, nrows, ncols, 1, 0.3);
    double *x = matrix_values(R);
    for (int64_t e = 0; e < R->pattern->nvals; e++)
        x[e] = rng_unit(r) + 0.1;
    return R;
}

/* Threads, chunks and the memory limit change no bit; a limit that cannot be met changes nothing. */
static void bits_and_limits(void **state)
{
    (void)state;
    static const char *const weights[] = {"cosine", "pearson", "w1/(w1+w2)", "newman", "weighted-jaccard"};
    rng r = rng_new();
    FtB_Context ctx;
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_engage(ctx));
    FtB_Matrix R = ratings(&r, 90, 80), whole, C;
    int refused = 0, done = 0;
    for (int w = 0; w < 5; w++) {
        assert_ok(FtB_Context_set_threads(ctx, 1));
        assert_ok(FtB_Matrix_new(&whole, FTB_FP64, 80, 80, 1));
        assert_ok(FtB_project(whole, R, weights[w], NULL));
        for (int t = 0; t < 24; t++) {
            int64_t held;
            assert_ok(FtB_Matrix_new(&C, FTB_FP64, 80, 80, 1));
            assert_ok(FtB_Context_set_threads(ctx, 1 + t % 3));
            assert_ok(FtB_Context_memory(ctx, &held, NULL));
            assert_ok(FtB_Context_set_memory_limit(ctx, held + (INT64_C(1000) << t / 2)));
            GrB_Info info = FtB_project(C, R, weights[w], NULL);
            assert_ok(FtB_Context_set_memory_limit(ctx, 0));
            if (info == GrB_SUCCESS)
                assert_same(C, whole);
            else
                assert_int_equal(info, FTB_LIMIT);
            assert_int_equal(C->pattern->nvals == 0, info != GrB_SUCCESS);
            done += info == GrB_SUCCESS;
            refused += info != GrB_SUCCESS;
            FtB_Matrix_free(&C);
        }
        FtB_Matrix_free(&whole);
    }
    assert_true(done > 0 && refused > 0);
    FtB_Matrix_free(&R);
    FtB_Context_free(&ctx);
}

static void refusals(void **state)
{
    (void)state;
    rng r = rng_new();
    const int64_t outside[] = {0, 7};
    FtB_Matrix R = rng_matrix(&r, FTB_FP32, 9, 7, 1, 0.5), W = rng_matrix(&r, FTB_FP32, 9, 7, 2, 0.5), C,
               none = NULL;
    assert_ok(FtB_Matrix_new(&C, FTB_FP64, 7, 7, 1));
    assert_fails(GrB_NULL_POINTER, "C", FtB_project(none, R, "count", NULL));
    assert_fails(GrB_NULL_POINTER, "R", FtB_project(C, none, "count", NULL));
    assert_fails(GrB_NULL_POINTER, "weight", FtB_project(C, R, NULL, NULL));
    assert_fails(GrB_INVALID_VALUE, "jacard", FtB_project(C, R, "jacard", NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "9 x 9",
                 FtB_project(C, R, "count", FTB_PROJECT_OPTIONS(.onto = FTB_ROWS)));
    assert_fails(GrB_DIMENSION_MISMATCH, "width 2", FtB_project(C, W, "count", NULL));
    assert_fails(GrB_INVALID_VALUE, "top_k", FtB_project(C, R, "count", FTB_PROJECT_OPTIONS(.top_k = -1)));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "sources[1]",
                 FtB_project(C, R, "count", FTB_PROJECT_OPTIONS(.sources = outside, .nsources = 2)));
    assert_fails(GrB_INVALID_VALUE, "unknown name 'x'",
                 FtB_project(C, R, "count", FTB_PROJECT_OPTIONS(.epilogue = "h + x")));
    assert_fails(GrB_INVALID_VALUE, "unknown name 'v'",
                 FtB_project(C, R, "count", FTB_PROJECT_OPTIONS(.where = "v")));
    FtB_Project_options unsized = {0};
    assert_fails(GrB_INVALID_VALUE, "FTB_PROJECT_OPTIONS", FtB_project(C, R, "count", &unsized));
    assert_int_equal(C->pattern->nvals, 0);
    FtB_Matrix_free(&R);
    FtB_Matrix_free(&W);
    FtB_Matrix_free(&C);
}

static GrB_Info call(void *arg)
{
    FtB_Matrix R = NULL, C = NULL;
    GrB_Info info;
    const int64_t I[] = {0, 0, 2, 2, 3}, J[] = {1, 2, 0, 1, 1};
    const float x[] = {1, 2, 3, 4, 5};
    const char *weight = arg;
    if ((info = FtB_Matrix_build(&R, FTB_FP32, 4, 3, 1, 5, I, J, x, FTB_DUP_ERROR, NULL)) == GrB_SUCCESS &&
        (info = FtB_Matrix_new(&C, FTB_FP32, 3, 3, 1)) == GrB_SUCCESS) {
        info = FtB_project(C, R, weight, FTB_PROJECT_OPTIONS(.top_k = 1, .where = "w > 0", .min_degree = 1));
        assert_int_equal(C->pattern->nvals > 0, info == GrB_SUCCESS);
    }
    FtB_Matrix_free(&R);
    FtB_Matrix_free(&C);
    return info;
}

static void failing_allocations(void **state)
{
    (void)state;
    char names[][20] = {"count", "bm25", "msd", "min : a + i", "dot"};
    for (int t = 0; t < 5; t++)
        fail_every_allocation(call, NULL, names[t]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_cases),    cmocka_unit_test(callbacks), cmocka_unit_test(callback_error),
        cmocka_unit_test(bits_and_limits), cmocka_unit_test(refusals),  cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

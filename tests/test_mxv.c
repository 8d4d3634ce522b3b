/* Sparse x vector and vector x sparse against three loops and GraphBLAS: sizes, masks, accumulators,
 * transposes, dtypes, semirings, forms inside, threads and forced ways, at random. */
#include <GraphBLAS.h>

#include "support/check.h"

#include "oracle/ref_mxm.h"
#include "oracle/ref_vector.h"
#include "support/planned.h"

#include <math.h>
#include <stdlib.h>

#define CASES rng_cases(2500)

static const char *const ways[] = {"auto", "push", "pull", "all"};
static int taken[4][2]; /* of push, pull, all: with a column and with a row */

typedef struct mxv_case {
    ref_vector_case c;
    ref_semiring s;
    bool row;
    FtB_Matrix A;
    FtB_Vector u;
    FtB_Descriptor desc;
    FtB_Plan plan;
} mxv_case;

static int64_t dimension(rng *r)
{
    static const int64_t sizes[] = {0, 1, 2, 3, 5, 8, 13, 13, 20, 20, 40, 40, 70, 100};
    return sizes[rng_below(r, 14)];
}

/* What no vector knows: several values, the mask's entry, means; degrees of the inner index are others'. */
static bool known(const ref_semiring *s)
{
    return s->width <= 1 && !s->mask && s->reducer != REF_MEAN && !(s->text && strstr(s->text, "dk"));
}

static bool comparable(const mxv_case *m)
{
    const ref_vector_case *c = &m->c;
    const bool single = c->old->type == FTB_FP32 || c->old->type == FTB_FP64;
    const bool whole = c->accum && c->accum->domain && !ftb_type_float(c->accum->domain);
    if (m->s.inexact && (!single || whole))
        return false; /* a cast to fewer digits may go either way */
    return !(c->accum && c->accum->text && m->s.domain && ftb_type_compute(m->s.domain) == FTB_UINT64);
}

/* One of the ways that there are for the case; says which it became. */
static void force_way(mxv_case *m, rng *r, FtB_Arg accum, FtB_Arg semiring)
{
    const bool full = m->u->v.nvals == m->u->v.size;
    const int way = (int)rng_below(r, full ? 4 : 3);
    const ref_flags *f = &m->c.flags;
    const FtB_Arg A = FTB_ARG(m->A), u = FTB_ARG(m->u);
    assert_ok(FtB_mxm_plan(&m->plan, m->c.C, m->c.M, accum, semiring, m->row ? u : A, m->row ? A : u,
                           f->descriptor, FTB_ESTIMATE));
    assert_ok(FtB_Plan_set(m->plan, "way", ways[way]));
    if (rng_below(r, 2))
        assert_ok(FtB_Plan_set(m->plan, "threads", rng_below(r, 2) ? "3" : "1"));
    assert_ok(planned_descriptor(&m->desc, f->descriptor, m->plan));
    for (int w = 1; w < 4; w++)
        if (planned_figure(m->plan, ways[w]) > 0) {
            assert_true(way == 0 || way == w);
            taken[w][m->row]++;
        }
}

static GrB_Info multiply_grb(const mxv_case *m, GrB_Vector u)
{
    const ref_vector_case *c = &m->c;
    GrB_Matrix A;
    assert_ok(FtB_Matrix_export(&A, m->A, 0));
    GrB_BinaryOp accum = c->accum ? c->accum->grb : NULL;
    GrB_Info info = m->row ? GrB_vxm(c->grb_C, c->grb_M, accum, m->s.grb, u, A, c->flags.grb)
                           : GrB_mxv(c->grb_C, c->grb_M, accum, m->s.grb, A, u, c->flags.grb);
    GrB_Matrix_free(&A);
    return info;
}

/* SuiteSparse:GraphBLAS 7.4 does not return from a masked product of an operand without entries. */
static bool in_graphblas(const mxv_case *m)
{
    const bool empty = m->A->pattern->nvals == 0 || m->u->v.nvals == 0;
    return !(m->c.M && empty) && m->c.grb_C && m->s.grb && m->A->type <= FTB_FP64 && m->u->v.type <= FTB_FP64;
}

static void run_case(mxv_case *m, rng *r)
{
    const FtB_Arg accum = ref_op_arg(m->c.accum), semiring = ref_semiring_arg(&m->s);
    FtB_Arg desc = FTB_ARG(m->c.flags.descriptor);
    if (rng_below(r, 3)) {
        force_way(m, r, accum, semiring);
        desc = FTB_ARG(m->desc);
    }
    if (m->row)
        assert_ok(FtB_vxm(m->c.C, m->c.M, accum, semiring, m->u, m->A, desc));
    else
        assert_ok(FtB_mxv(m->c.C, m->c.M, accum, semiring, m->A, m->u, desc));
}

/* The vector may be C, or the mask. */
static FtB_Vector operand(rng *r, const ref_vector_case *c, int64_t size)
{
    const int64_t dice = rng_below(r, 8);
    if (dice == 0 && size == c->C->v.size)
        return c->C;
    if (dice == 1 && c->M && size == c->M->v.size)
        return c->M;
    FtB_Vector u = rng_vector(r, rng_type(r), size, dice == 2 ? 2 : dice < 5 ? 0.1 : rng_unit(r));
    force_any_form(r, u);
    return u;
}

static void matrix_or_row(ref_number *z, const ref_pair *p, int64_t width) { (void)width, z[0] = p->a[0]; }
static void column_or_matrix(ref_number *z, const ref_pair *p, int64_t width) { (void)width, z[0] = p->b[0]; }
static void both_of_them(ref_number *z, const ref_pair *p, int64_t width)
{
    (void)width;
    z[0] = ref_subtract(p->a[0], p->b[0]);
}

static void three_places(ref_number *z, const ref_pair *p, int64_t width)
{
    (void)width;
    z[0] = ref_integer(7 * p->i + p->j - 3 * p->k);
}

/* Half of them texts, which are few among many built-in ones; some of these where the first message decides.
 */
static ref_semiring random_semiring(rng *r)
{
    static const ref_semiring first[] = {
        {"any : a", NULL, 0, REF_ANY, 0, false, false, false, matrix_or_row},
        {"any : b", NULL, 0, REF_ANY, 0, false, false, false, column_or_matrix},
        {"any : a - b", NULL, 0, REF_ANY, 0, false, false, false, both_of_them},
        {"any : 7 * i + j - 3 * k", NULL, 0, REF_ANY, 1, false, false, false, three_places},
    };
    const int64_t dice = rng_below(r, 8);
    return dice == 0  ? first[rng_below(r, 4)]
           : dice < 4 ? ref_semiring_of((int)rng_below(r, ref_texts()))
                      : ref_semiring_of((int)rng_below(r, ref_semirings()));
}

static bool random_case(rng *r)
{
    mxv_case m = {.s = random_semiring(r), .row = rng_below(r, 2)};
    const int64_t receivers = dimension(r), senders = rng_below(r, 3) ? dimension(r) : receivers;
    if (!known(&m.s))
        return false;
    m.c = ref_vector_case_new(r, receivers, 2);
    if (!comparable(&m)) {
        ref_vector_case_free(&m.c);
        return false;
    }
    const bool turned = m.row ? m.c.flags.transpose1 : m.c.flags.transpose0, rows_receive = m.row == turned;
    m.A = rng_matrix(r, rng_type(r), rows_receive ? receivers : senders, rows_receive ? senders : receivers,
                     rng_below(r, 4) > 0, 0.5 * rng_unit(r));
    m.u = operand(r, &m.c, senders);
    ref_matrix *a = ref_read(m.A, turned), *u = ref_read_vector(m.u, m.row);
    ref_matrix *T = m.row ? ref_mxm(&m.s, u, a, NULL, NULL) : ref_mxm(&m.s, a, u, NULL, NULL);
    T->ncols = 1; /* a row is the same values as a column */
    T->nrows = receivers;
    const size_t length = strlen(m.c.what);
    snprintf(m.c.what + length, sizeof m.c.what - length, ", %s, %s, A %s width %d, u %s %s of %lld",
             m.row ? "row" : "column", m.s.text ? m.s.text : FtB_Type_name(m.s.domain),
             FtB_Type_name(m.A->type), (int)m.A->width, FtB_Type_name(m.u->v.type),
             ftb_form_name(m.u->v.form), (long long)senders);
    const bool grb = in_graphblas(&m);
    if (grb) {
        GrB_Vector v = ref_export_vector(m.u);
        assert_int_equal(multiply_grb(&m, v), GrB_SUCCESS);
        GrB_Vector_free(&v);
    }
    const bool own = m.u != m.c.C && m.u != m.c.M;
    run_case(&m, r);
    ref_vector_case_check(&m.c, T, m.s.inexact ? 1e-5 : 1e-12);
    if (grb)
        ref_vector_case_check_grb(&m.c, 1e-12);
    ref_free(a);
    ref_free(u);
    FtB_Matrix_free(&m.A);
    if (own)
        FtB_Vector_free(&m.u);
    FtB_Descriptor_free(&m.desc);
    FtB_Plan_free(&m.plan);
    ref_vector_case_free(&m.c);
    return true;
}

static void random_cases(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < CASES;) {
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
        t += random_case(&r);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
    for (int w = 1; w < 4; w++)
        for (int row = 0; row < 2; row++)
            if (taken[w][row] == 0)
                fail_msg("%s of a %s was never run", ways[w], row ? "row" : "column");
}

/* ---- names */

/* T(i) by what a text says of the edge from k to i, of entry e. */
typedef double (*spoken)(int64_t i, int64_t k, int64_t e, const double *x);

static double by_indices(int64_t i, int64_t k, int64_t e, const double *x)
{
    (void)e, (void)x;
    return (double)(1000 * i + k);
}
static double by_blocks(int64_t i, int64_t k, int64_t e, const double *x)
{
    return x[i] + 10 * x[k] + 100 * x[40 + e];
}

static void check_names(FtB_Matrix A, FtB_Vector u, bool row, FtB_Arg semiring, spoken f, const double *x)
{
    double best[40];
    bool found[40] = {false};
    const int64_t *rowptr;
    assert_ok(FtB_Matrix_csr(A, &rowptr, NULL, NULL));
    for (int64_t i = 0; i < 40; i++)
        for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++) {
            const int64_t j = ftb_col(A->pattern, e), to = row ? j : i, from = row ? i : j;
            const double z = f(to, from, e, x);
            if (ftb_vector_find(&u->v, from) < 0)
                continue;
            best[to] = !found[to] || z > best[to] ? z : best[to];
            found[to] = true;
        }
    for (int way = 0; way < 3; way++) {
        FtB_Vector w;
        FtB_Plan plan;
        FtB_Descriptor desc;
        const FtB_Arg a = FTB_ARG(A), v = FTB_ARG(u);
        assert_ok(FtB_Vector_new(&w, FTB_FP64, 40));
        assert_ok(FtB_mxm_plan(&plan, w, NULL, NULL, semiring, row ? v : a, row ? a : v, NULL, FTB_ESTIMATE));
        assert_ok(FtB_Plan_set(plan, "way", ways[way]));
        assert_ok(planned_descriptor(&desc, NULL, plan));
        assert_ok(FtB_mxm(w, NULL, NULL, semiring, row ? v : a, row ? a : v, desc));
        for (int64_t i = 0; i < 40; i++) {
            double z = 0;
            assert_int_equal(FtB_Vector_get(w, i, &z), found[i] ? GrB_SUCCESS : GrB_NO_VALUE);
            assert_true(!found[i] || fabs(z - best[i]) <= 1e-12 * fabs(best[i])); /* parts are hoisted */
        }
        FtB_Vector_free(&w);
        FtB_Plan_free(&plan);
        FtB_Descriptor_free(&desc);
    }
}

/* Indices, degrees and bound blocks, by receiver, by sender and by entry; of a vector in each form. */
static void names(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < 24; t++) {
        FtB_Matrix A = rng_matrix(&r, FTB_FP32, 40, 40, 1, 0.15);
        FtB_Vector u = rng_vector(&r, FTB_INT8, 40, t % 4 == 3 ? 2 : 0.3);
        FtB_Block X, W;
        FtB_Semiring s, bound;
        double *x = malloc(sizeof *x * (40 + (size_t)A->pattern->nvals));
        const bool row = t % 2;
        force_any_form(&r, u);
        for (int64_t k = 0; k < 40 + A->pattern->nvals; k++)
            x[k] = rng_unit(&r);
        assert_ok(FtB_Block_wrap(&X, x, 40, 1, 1, FTB_FP64));
        assert_ok(FtB_Block_wrap(&W, x + 40, A->pattern->nvals, 1, 1, FTB_FP64));
        check_names(A, u, row, FTB_ARG(row ? "max : 1000 * j + k + i" : "max : 1000 * i + k + j"), by_indices,
                    x);
        assert_ok(FtB_Semiring_new(&s, row ? "max : norm[j] + 10 * norm[k] + 100 * w[e]"
                                           : "max : norm[i] + 10 * norm[k] + 100 * w[e]"));
        assert_ok(FtB_Semiring_bind(&bound, s, FTB_BIND("norm", X), FTB_BIND("w", W)));
        check_names(A, u, row, FTB_ARG(bound), by_blocks, x);
        FtB_Semiring_free(&bound);
        FtB_Semiring_free(&s);
        FtB_Block_free(&X);
        FtB_Block_free(&W);
        FtB_Vector_free(&u);
        FtB_Matrix_free(&A);
        free(x);
    }
}

static void degrees(void **state)
{
    (void)state;
    const int64_t I[] = {0, 0, 1, 2, 2, 2}, J[] = {0, 1, 1, 0, 1, 2}, at[] = {0, 1};
    const float one[] = {1, 1};
    FtB_Matrix A;
    FtB_Vector u, w;
    int64_t x;
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, 3, 3, 0, 6, I, J, NULL, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Vector_build(&u, FTB_FP32, 3, 2, at, one, FTB_DUP_ERROR));
    assert_ok(FtB_Vector_new(&w, FTB_INT64, 3));
    assert_ok(FtB_mxv(w, NULL, NULL, "max : 10000 * di + 100 * dk + dj", A, u, NULL));
    assert_ok(FtB_Vector_get(w, 2, &x)); /* row 2 has 3, column 1 has 3, u has 2 */
    assert_int_equal(x, 30302);
    assert_ok(FtB_Vector_get(w, 0, &x));
    assert_int_equal(x, 20302);
    assert_ok(FtB_vxm(w, NULL, NULL, "max : 10000 * dj + 100 * dk + di", u, A, NULL));
    assert_ok(FtB_Vector_get(w, 0, &x)); /* column 0 has 2, row 0 has 2 */
    assert_int_equal(x, 20202);
    assert_int_equal(FtB_Vector_get(w, 2, &x), GrB_NO_VALUE);
    FtB_Matrix_free(&A);
    FtB_Vector_free(&u);
    FtB_Vector_free(&w);
}

/* ---- other kinds of semiring */

static void weigh(float *z, const float *src, const float *dst, const float *edge, int64_t width,
                  const void *theta)
{
    (void)dst, (void)width;
    *z = *src * *(const float *)theta + *edge;
}

static void c_function(void **state)
{
    (void)state;
    const float theta = 3;
    rng r = rng_new();
    FtB_Semiring s;
    assert_ok(FtB_Semiring_new_function(&s, "max", weigh, 1, &theta));
    for (int t = 0; t < 8; t++) {
        FtB_Matrix A = rng_matrix(&r, FTB_FP32, 20, 15, 1, 0.3);
        FtB_Vector u = rng_vector(&r, FTB_FP32, 15, t % 2 ? 2 : 0.4), w, v;
        assert_ok(FtB_Vector_new(&w, FTB_FP64, 20));
        assert_ok(FtB_Vector_new(&v, FTB_FP64, 20));
        assert_ok(FtB_mxv(w, NULL, NULL, s, A, u, NULL));
        assert_ok(FtB_mxv(v, NULL, NULL, "max : src * 3 + edge", A, u, NULL));
        assert_same_vector(w, v);
        FtB_Matrix_free(&A);
        FtB_Vector_free(&u);
        FtB_Vector_free(&w);
        FtB_Vector_free(&v);
    }
    FtB_Semiring_free(&s);
}

/* Parallel edges are messages of their own, and an entry of several values may become one. */
static void odd_matrices(void **state)
{
    (void)state;
    const int64_t I[] = {0, 0, 0, 1}, J[] = {1, 1, 2, 2}, at = 1;
    const float x[] = {1, 2, 4, 8}, pairs[] = {1, 10, 2, 20, 3, 30, 4, 40}, five = 5;
    FtB_Matrix A, W;
    FtB_Vector u, w;
    float z;
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, 2, 3, 1, 4, I, J, x, FTB_DUP_KEEP, NULL));
    assert_ok(FtB_Matrix_build(&W, FTB_FP32, 2, 3, 2, 4, I, J, pairs, FTB_DUP_KEEP, NULL));
    assert_ok(FtB_Vector_build(&u, FTB_FP32, 3, 1, &at, &five, FTB_DUP_ERROR));
    assert_ok(FtB_Vector_new(&w, FTB_FP32, 2));
    assert_ok(FtB_mxv(w, NULL, NULL, "plus : src * edge", A, u, NULL));
    assert_ok(FtB_Vector_get(w, 0, &z));
    assert_true(z == 15);
    assert_int_equal(FtB_Vector_get(w, 1, &z), GrB_NO_VALUE);
    assert_ok(FtB_mxv(w, NULL, NULL, "plus : sum(src * edge)", W, u, NULL));
    assert_ok(FtB_Vector_get(w, 0, &z));
    assert_true(z == 165);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&W);
    FtB_Vector_free(&u);
    FtB_Vector_free(&w);
}

/* ---- bits */

/* Of reals: the same for 1 to 8 threads, and from a push and a pull; of first messages from every way. */
static void bits(void **state)
{
    (void)state;
    rng r = rng_new();
    enum { N = 3000, M = 2000 };
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, M, N, 1, 0.02);
    rng_reals(&r, matrix_values(A), FTB_FP32, A->pattern->nvals);
    for (int k = 0; k < 6; k++) { /* with few, many and no gaps */
        const bool any = k >= 3, full = k % 3 == 2;
        const FtB_Arg semiring = any ? FTB_ARG("any : a - 2 * b") : FTB_ARG(FTB_PLUS_TIMES);
        FtB_Vector u = rng_real_vector(&r, FTB_FP32, N, full ? 2 : k % 3 ? 0.4 : 0.0005), first = NULL;
        for (int t = 0; t < 24; t++) {
            FtB_Vector w;
            FtB_Plan plan;
            FtB_Descriptor desc;
            assert_ok(FtB_Context_set_threads(NULL, 1 + t / 3));
            assert_ok(FtB_Vector_new(&w, FTB_FP32, M));
            assert_ok(FtB_mxm_plan(&plan, w, NULL, NULL, semiring, A, u, NULL, FTB_ESTIMATE));
            if (any || !full)
                assert_ok(FtB_Plan_set(plan, "way", ways[1 + t % (full ? 3 : 2)]));
            assert_ok(planned_descriptor(&desc, NULL, plan));
            assert_ok(FtB_mxv(w, NULL, NULL, semiring, A, u, desc));
            if (first)
                assert_same_vector(w, first);
            else
                assert_ok(FtB_Vector_dup(&first, w));
            FtB_Vector_free(&w);
            FtB_Plan_free(&plan);
            FtB_Descriptor_free(&desc);
        }
        FtB_Vector_free(&u);
        FtB_Vector_free(&first);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
    FtB_Matrix_free(&A);
}

/* ---- a search, as GraphBLAS writes it */

/* Levels of a breadth-first search: few of many places change in a step, which takes their work. */
static void search(void **state)
{
    (void)state;
    enum { N = 500 };
    rng r = rng_new();
    for (int t = 0; t < 4; t++) {
        FtB_Matrix A = rng_matrix(&r, FTB_BOOL, N, N, 0, t < 2 ? 0.004 : 0.02);
        FtB_Vector q, seen, next;
        int64_t level[N], queue[N], head = 0, tail = 0;
        const int64_t *rowptr;
        const int64_t source = rng_below(&r, N);
        const bool one = true;
        assert_ok(FtB_Matrix_csr(A, &rowptr, NULL, NULL));
        for (int64_t v = 0; v < N; v++)
            level[v] = -1;
        level[queue[tail++] = source] = 0;
        for (; head < tail; head++)
            for (int64_t e = rowptr[queue[head]]; e < rowptr[queue[head] + 1]; e++) {
                const int64_t v = ftb_col(A->pattern, e);
                if (level[v] < 0) {
                    level[v] = level[queue[head]] + 1;
                    queue[tail++] = v;
                }
            }
        assert_ok(FtB_Vector_new(&q, FTB_BOOL, N));
        assert_ok(FtB_Vector_set(q, source, &one));
        assert_ok(FtB_Vector_dup(&seen, q));
        assert_ok(FtB_Vector_new(&next, FTB_BOOL, N));
        int64_t nvals = 1;
        for (int64_t depth = 0; nvals > 0; depth++) {
            for (int64_t v = 0; v < N; v++) {
                assert_int_equal(ftb_vector_find(&q->v, v) >= 0, level[v] == depth);
                assert_int_equal(ftb_vector_find(&seen->v, v) >= 0, level[v] >= 0 && level[v] <= depth);
            }
            assert_ok(FtB_vxm(next, seen, NULL, "any : true", q, A, FTB_DESC_RSC));
            assert_ok(FtB_vxm(seen, next, NULL, "any : true", q, A, FTB_DESC_S)); /* where next is */
            assert_valid_vector(seen);
            const FtB_Vector swap = q;
            q = next;
            next = swap;
            assert_ok(FtB_Vector_shape(q, NULL, &nvals, NULL));
        }
        FtB_Vector_free(&next);
        FtB_Vector_free(&q);
        FtB_Vector_free(&seen);
        FtB_Matrix_free(&A);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_cases), cmocka_unit_test(names),        cmocka_unit_test(degrees),
        cmocka_unit_test(c_function),   cmocka_unit_test(odd_matrices), cmocka_unit_test(bits),
        cmocka_unit_test(search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

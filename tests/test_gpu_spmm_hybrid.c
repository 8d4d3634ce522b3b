/* Sparse x block on a GPU that does not exist, hybrid: the library's own calls with it, where plans choose
 * it, and what they say. Results are those of slow loops, in double, and in FP32 in the order that is
 * promised. */
#include "support/check.h"

#include "core/core.h"
#include "gpu/context.h"
#include "gpu/pieces.h"
#include "support/fake_gpu.h"
#include "support/rng.h"
#include "support/shared_columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- products */

typedef struct product {
    const char *text;
    int heads; /* of the edges' values; 0: they have none */
    bool mean, transposed, add;
    FtB_Type stored;
    int64_t nheads, width, gap;
    int best; /* 1: max, -1: min */
} product;

static const product products[] = {{"plus : src", 0, false, false, false, FTB_FP32, 1, 40, 0, 0},
                                   {"plus : src", 0, false, false, true, FTB_FP32, 1, 36, 4, 0},
                                   {"mean : src", 0, true, false, true, FTB_FP16, 1, 12, 0, 0},
                                   {"mean : src", 0, true, false, false, FTB_BF16, 1, 19, 1, 0},
                                   {"plus : edge * src", 1, false, false, false, FTB_FP32, 1, 33, 0, 0},
                                   {"plus : edge * src", 1, false, true, true, FTB_BF16, 2, 8, 0, 0},
                                   {"plus : edge * src", 3, false, false, false, FTB_FP32, 3, 12, 0, 0},
                                   {"plus : edge * src", 3, false, true, false, FTB_FP16, 3, 5, 0, 0},
                                   {"mean : edge * src", 1, true, false, false, FTB_FP32, 1, 4, 0, 0},
                                   {"plus : src", 0, false, false, false, FTB_FP16, 1, 12, 4, 0},
                                   {"plus : src", 0, false, false, false, FTB_BF16, 1, 8, 4, 0},
                                   {"plus : src", 0, false, false, true, FTB_FP16, 1, 16, 8, 0},
                                   {"max : src", 0, false, false, false, FTB_FP32, 1, 8, 0, 1},
                                   {"min : edge * src", 3, false, false, false, FTB_FP32, 3, 12, 0, -1},
                                   {"min : src", 0, false, true, false, FTB_FP16, 1, 33, 1, -1}};

static FtB_Block block(rng *r, const product *p, int64_t nrows, FtB_Type type)
{
    const int64_t d = p->nheads * p->width;
    FtB_Block all, part, X;
    assert_ok(FtB_Block_new(&all, nrows, d + p->gap, type));
    rng_reals(r, ftb_block_data(all), type, nrows * (d + p->gap));
    assert_ok(FtB_Block_columns(&part, all, p->gap == 8 ? 4 : 0, d)); /* between 16 bytes and the next */
    assert_ok(FtB_Block_heads(&X, part, p->nheads));
    FtB_Block_free(&part);
    FtB_Block_free(&all);
    return X;
}

static float *copy_of(FtB_Block X)
{
    const int64_t count = X->nrows > 0 ? (X->nrows - 1) * X->ld + X->ncols : 0;
    float *kept = malloc((size_t)(count + 1) * sizeof *kept);
    assert_ok(ftb_buffer_ask(X->owner, FTB_READ));
    ftb_cast(kept, FTB_FP32, ftb_block_data(X), X->type, count);
    return kept;
}

static float message(const product *p, FtB_Matrix A, const float *x, int64_t ldx, int64_t e, int64_t f)
{
    const float z = x[ftb_col(A->pattern, e) * ldx + f];
    const float *w = p->heads ? matrix_values(A) : NULL;
    return w ? w[e * p->heads + (p->heads > 1 ? f / p->width : 0)] * z : z;
}

/* FP32, hot entries first, of rows that are one piece. */
static float in_order(const product *p, FtB_Matrix A, const float *x, int64_t ldx, int64_t i, int64_t f,
                      const bool *hot)
{
    const int64_t *rowptr = A->pattern->rowptr;
    float sum = 0;
    for (int cold = 0; cold < 2; cold++)
        for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++)
            if (hot[e] != cold)
                sum += message(p, A, x, ldx, e, f);
    return p->mean && rowptr[i + 1] - rowptr[i] > 1 ? sum / (float)(rowptr[i + 1] - rowptr[i]) : sum;
}

/* hot: NULL where the host may have done it, whose products are fused. */
static void check(const product *p, FtB_Matrix A, const float *x, int64_t ldx, FtB_Block C,
                  const float *before, const bool *hot)
{
    const int64_t *rowptr = A->pattern->rowptr;
    const float *c = block_values(C);
    for (int64_t i = 0; i < C->nrows; i++)
        for (int64_t f = 0; f < C->ncols; f++) {
            const int64_t n = rowptr[i + 1] - rowptr[i];
            const float old = before ? before[i * C->ld + f] : 0, got = c[i * C->ld + f];
            double sum = 0, size = fabs(old), best = p->best < 0 ? INFINITY : -INFINITY;
            for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++) {
                const double z = message(p, A, x, ldx, e, f);
                sum += z;
                size += fabs(z);
                best = p->best < 0 ? fmin(best, z) : fmax(best, z);
            }
            const double exact =
                p->best ? (n > 0 ? best : 0) : (p->mean && n > 0 ? sum / (double)n : sum) + old;
            if (!(fabs(got - exact) <= (p->best ? 0 : 1e-6 * size)))
                fail_msg("%s, width %d: (%d, %d) is %.9g, not %.9g", p->text, (int)p->width, (int)i, (int)f,
                         (double)got, exact);
            if (!hot || n > FTB_GPU_PIECE || n == 0 || p->best)
                continue;
            const float same = in_order(p, A, x, ldx, i, f, hot) + (before ? old : 0);
            if (memcmp(&same, &got, sizeof got) != 0)
                fail_msg("%s, width %d: (%d, %d) is %.9g, in order %.9g", p->text, (int)p->width, (int)i,
                         (int)f, (double)got, (double)same);
        }
}

/* Which entries are hot: of one block of pieces, whose threshold is 4, all rows count. */
static bool *hot_entries(FtB_Matrix A, int threshold)
{
    const ftb_pattern *p = A->pattern;
    bool *hot = calloc((size_t)p->nvals + 1, sizeof *hot);
    int *uses = calloc((size_t)p->ncols + 1, sizeof *uses);
    assert_true(hot && uses);
    for (int64_t e = 0; e < p->nvals; e++)
        uses[ftb_col(p, e)]++;
    for (int64_t e = 0; e < p->nvals; e++)
        hot[e] = uses[ftb_col(p, e)] >= threshold;
    free(uses);
    return hot;
}

static void plan_of(FtB_Plan *plan, FtB_Descriptor *desc, const product *p, FtB_Block C, FtB_Semiring s,
                    FtB_Matrix B, FtB_Block X)
{
    assert_ok(FtB_Descriptor_new(desc));
    if (p->transposed)
        assert_ok(FtB_Descriptor_set(*desc, FTB_TRANSPOSE0, true));
    const FtB_Arg accum = p->add ? FTB_ARG("x + y") : FtB_Arg_none();
    assert_ok(FtB_mxm_plan(plan, C, NULL, accum, s, B, X, *desc, FTB_ESTIMATE));
    assert_ok(FtB_Plan_set(*plan, "kernel", "hybrid"));
    assert_ok(FtB_Plan_set(*plan, "threshold", "4"));
    assert_ok(FtB_Plan_set(*plan, "segment", "6"));
    assert_ok(FtB_Descriptor_set(*desc, FTB_PLAN, *plan));
}

static void multiply(rng *r, const product *p, const shared_shape *of)
{
    FtB_Matrix A = shared_columns(r, of, p->heads), B;
    FtB_Block X = block(r, p, of->ncols, p->stored), C = block(r, p, of->nrows, FTB_FP32),
              D = block(r, p, of->nrows, FTB_FP32);
    float *x = copy_of(X), *before = copy_of(C);
    FtB_Semiring s;
    FtB_Plan plan;
    FtB_Descriptor desc;
    double hybrid, hot;
    int64_t there[2];
    assert_ok(FtB_Semiring_new(&s, p->text));
    if (p->transposed)
        assert_ok(ftb_matrix_transpose(&B, A));
    else
        assert_ok(FtB_Matrix_dup(&B, A));
    plan_of(&plan, &desc, p, C, s, B, X);
    assert_ok(FtB_Plan_get(plan, "hybrid", &hybrid));
    assert_ok(FtB_Plan_get(plan, "hot", &hot));
    if ((hybrid > 0) != fake_gpu_emulates())
        fail_msg("%s: hybrid %g", p->text, hybrid);
    if (hybrid > 0 ? !(hot > 0 && hot < 1) : hot > 0)
        fail_msg("%s: hybrid %g, of %g entries", p->text, hybrid, hot);
    const FtB_Arg accum = p->add ? FTB_ARG("x + y") : FtB_Arg_none();
    assert_ok(FtB_mxm(C, NULL, accum, s, B, X, desc));
    bool *entries = hybrid > 0 ? hot_entries(A, 4) : NULL;
    check(p, A, x, X->ld, C, p->add ? before : NULL, entries);
    assert_ok(FtB_mxm(D, NULL, NULL, s, B, X, desc));
    assert_ok(FtB_Context_moved(NULL, NULL, &there[0]));
    assert_ok(FtB_mxm(D, NULL, NULL, s, B, X, desc));
    assert_ok(FtB_Context_moved(NULL, NULL, &there[1]));
    assert_true(there[0] == there[1] || !fake_gpu_emulates()); /* all is there */
    check(p, A, x, X->ld, D, NULL, entries);
    free(entries);
    free(x);
    free(before);
    FtB_Plan_free(&plan);
    FtB_Descriptor_free(&desc);
    FtB_Semiring_free(&s);
    FtB_Block_free(&X);
    FtB_Block_free(&C);
    FtB_Block_free(&D);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
}

/* One block of pieces; a row that is cut; where no rows are. */
static void forced(void **state)
{
    static const shared_shape list[] = {{60, 50, 9, 40}, {30, 1200, 9, 1100}, {5, 40, 1, 0}};
    rng r = rng_new();
    (void)state;
    for (size_t k = 0; k < sizeof products / sizeof *products; k++) {
        multiply(&r, &products[k], &list[0]);
        if (k % 3 == 1)
            multiply(&r, &products[k], &list[1]);
    }
}

static int launches_of(FtB_Block C, FtB_Matrix A, FtB_Block X, FtB_Descriptor desc)
{
    const int before = fake_gpu_launches();
    assert_ok(FtB_mxm(C, NULL, NULL, FTB_PLUS_SRC, A, X, desc));
    (void)block_values(C);
    return fake_gpu_launches() - before;
}

static void explained(FtB_Plan plan, const char *part)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    assert_ok(FtB_Plan_explain(plan, file));
    fclose(file);
    if (!strstr(text, part))
        fail_msg("no '%s' in:\n%s", part, text);
    free(text);
}

/* On a GPU that is described as slow the form is worth while for a small graph, and is chosen, and said to
 * be; not where bits may not depend on the GPU, nor where the plan says otherwise, nor where rows share
 * nothing. */
static void chosen(void **state)
{
    const product p = products[0];
    ftb_machine_facts machine = *ftb_machine_here();
    rng r = rng_new();
    FtB_Plan plan;
    FtB_Descriptor desc;
    double hybrid;
    (void)state;
    if (!fake_gpu_emulates())
        return;
    machine.gpu = (ftb_gpu_facts){.multiprocessors = 1,
                                  .l2 = 1 << 12,
                                  .memory = INT64_C(1) << 30,
                                  .shared = 227 << 10,
                                  .clock = 1e8,
                                  .memory_rate = 1e8};
    FtB_Matrix A = shared_columns(&r, &(shared_shape){500, 40, 30, 20}, 0),
               E = shared_columns(&r, &(shared_shape){40, 3000, 3, 900}, 0);
    FtB_Block X = block(&r, &p, 40, FTB_FP32), C = block(&r, &p, 500, FTB_FP32),
              Y = block(&r, &p, 3000, FTB_FP32), D = block(&r, &p, 40, FTB_FP32);
    assert_ok(FtB_Descriptor_new(&desc));
    assert_int_equal(launches_of(C, A, X, NULL), 1); /* direct: soon done */
    ftb_machine_force(&machine);
    assert_int_equal(launches_of(C, A, X, NULL), 2);
    assert_ok(FtB_mxm_plan(&plan, C, NULL, NULL, FTB_PLUS_SRC, A, X, NULL, FTB_ESTIMATE));
    assert_ok(FtB_Plan_get(plan, "hybrid", &hybrid));
    assert_true(hybrid > 0);
    explained(plan, "hybrid 0.");
    explained(plan, "of the entries from shared memory: of sources that 512 pieces of rows use ");
    assert_ok(FtB_Plan_set(plan, "kernel", "direct"));
    explained(plan, "direct 1.00 <- chosen");
    assert_ok(FtB_Descriptor_set(desc, FTB_PLAN, plan));
    assert_int_equal(launches_of(C, A, X, desc), 1);
    FtB_Plan_free(&plan);
    assert_ok(FtB_Context_set_deterministic(NULL, true));
    assert_int_equal(launches_of(C, A, X, NULL), 1);
    assert_ok(FtB_Context_set_deterministic(NULL, false));
    assert_int_equal(launches_of(D, E, Y, NULL), 1);
    assert_ok(FtB_mxm_plan(&plan, D, NULL, NULL, FTB_PLUS_SRC, E, Y, NULL, FTB_ESTIMATE));
    explained(plan, "rows share too few sources");
    FtB_Plan_free(&plan);
    ftb_machine_force(NULL);
    FtB_Descriptor_free(&desc);
    FtB_Block_free(&X);
    FtB_Block_free(&C);
    FtB_Block_free(&Y);
    FtB_Block_free(&D);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&E);
}

static void fail_launch(int n)
{
    char at[12];
    snprintf(at, sizeof at, "%d", n);
    setenv("FAKE_CUDA_FAILS", "cuLaunchKernel", 1);
    setenv("FAKE_CUDA_AT", at, 1);
}

/* Each launch fails in turn: the host does the product, unless some of its rows were added already. */
static void failures(void **state)
{
    product p = products[4];
    rng r = rng_new();
    FtB_Plan plan;
    FtB_Descriptor desc;
    FtB_Semiring s;
    (void)state;
    if (!fake_gpu_emulates())
        return;
    /* Two blocks of pieces: nothing is hot in the second. */
    FtB_Matrix A = shared_columns(&r, &(shared_shape){800, 50, 6, 40}, 1);
    FtB_Block X = block(&r, &p, 50, FTB_FP32), C = block(&r, &p, 800, FTB_FP32);
    float *x = copy_of(X);
    assert_ok(FtB_Semiring_new(&s, p.text));
    plan_of(&plan, &desc, &p, C, s, A, X);
    assert_ok(FtB_Plan_set(plan, "threshold", "60"));
    assert_ok(FtB_Descriptor_set(desc, FTB_PLAN, plan));
    for (int n = 1; n <= 4; n++) {
        fail_launch(n);
        assert_ok(FtB_mxm(C, NULL, NULL, s, A, X, desc));
        assert_non_null(strstr(FtB_error(), "cuLaunchKernel fails"));
        check(&p, A, x, X->ld, C, NULL, NULL);
    }
    float *was = copy_of(C); /* none fails: by tiles and the rest, and the last rows directly */
    assert_ok(FtB_mxm(C, NULL, "x + y", s, A, X, desc));
    check(&p, A, x, X->ld, C, was, NULL);
    free(was);
    fail_launch(4); /* weights, tiles, the others of these rows; the other rows */
    assert_fails(GrB_PANIC, "half of a product was done", FtB_mxm(C, NULL, "x + y", s, A, X, desc));
    float *before = copy_of(C);
    fail_launch(3);
    assert_ok(FtB_mxm(C, NULL, "x + y", s, A, X, desc));
    check(&p, A, x, X->ld, C, before, NULL);
    free(before);
    free(x);
    FtB_Plan_free(&plan);
    FtB_Descriptor_free(&desc);
    FtB_Semiring_free(&s);
    FtB_Block_free(&X);
    FtB_Block_free(&C);
    FtB_Matrix_free(&A);
}

/* ---- room */

/* Under a limit that has no room for the form, or to count how sources are shared, the product is direct. */
static void limited(void **state)
{
    const product p = products[0];
    rng r = rng_new();
    FtB_Plan plan, other;
    FtB_Descriptor desc;
    int64_t now;
    (void)state;
    if (!fake_gpu_emulates())
        return;
    FtB_Matrix A = shared_columns(&r, &(shared_shape){60, 20000, 90, 80}, 0),
               B = shared_columns(&r, &(shared_shape){60, 20000, 90, 80}, 0);
    FtB_Block X = block(&r, &p, 20000, FTB_FP32), C = block(&r, &p, 60, FTB_FP32);
    float *x = copy_of(X);
    plan_of(&plan, &desc, &p, C, FTB_PLUS_SRC, A, X);
    assert_int_equal(launches_of(C, A, X, NULL), 1);
    assert_int_equal(launches_of(C, B, X, NULL), 1);
    assert_ok(FtB_Context_memory(NULL, &now, NULL));
    assert_ok(FtB_Context_set_memory_limit(NULL, now + 60000)); /* 80 KB are counters */
    assert_int_equal(launches_of(C, A, X, desc), 1);
    check(&p, A, x, X->ld, C, NULL, NULL);
    assert_false(has_hybrid_form(A));
    assert_ok(FtB_mxm_plan(&other, C, NULL, NULL, FTB_PLUS_SRC, B, X, NULL, FTB_ESTIMATE));
    assert_ok(FtB_Plan_set(other, "kernel", "hybrid"));
    explained(other, "how sources are shared was not counted");
    assert_ok(FtB_Context_set_memory_limit(NULL, 0));
    assert_int_equal(launches_of(C, A, X, desc), 2);
    check(&p, A, x, X->ld, C, NULL, NULL);
    assert_true(has_hybrid_form(A));
    free(x);
    FtB_Plan_free(&plan);
    FtB_Plan_free(&other);
    FtB_Descriptor_free(&desc);
    FtB_Block_free(&X);
    FtB_Block_free(&C);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(forced, fake_gpu_clean),
                                       cmocka_unit_test_teardown(chosen, fake_gpu_clean),
                                       cmocka_unit_test_teardown(failures, fake_gpu_clean),
                                       cmocka_unit_test_teardown(limited, fake_gpu_clean)};
    return cmocka_run_group_tests(tests, fake_gpu_start, NULL);
}

#include "support/gpu_spgemm.h"

#include "support/check.h"

#include "core/core.h"
#include "plan/machine.h"
#include "support/compare.h"
#include "support/real_gpu.h"

#include <stdlib.h>

const gpu_size as_it_is = {"as it is", 0, 0}, of_tiles = {"tiles", 1536, INT64_C(1) << 30},
               of_chunks = {"chunks", 227 << 10, 64 << 10}, tiny = {"tiny", 1224, 8 << 10};

void gpu_use(const gpu_size *g)
{
    ftb_machine_facts facts = *ftb_machine_here();
    facts.gpu = (ftb_gpu_facts){.multiprocessors = 14,
                                .l2 = 50 << 20,
                                .memory = g->memory,
                                .shared = g->shared,
                                .clock = 1e9,
                                .memory_rate = 1e11};
    ftb_machine_force(g->memory ? &facts : NULL);
}

void gpu_place(const char *device) { assert_ok(FtB_Context_set_device(NULL, device)); }

/* ---- matrices */

FtB_Matrix gpu_matrix(rng *r, FtB_Type type, int64_t nrows, int64_t ncols, int kind)
{
    const size_t most = (size_t)(nrows * ncols + 1);
    int64_t *I = malloc(most * sizeof *I), *J = malloc(most * sizeof *J), n = 0;
    for (int64_t i = 0; i < nrows; i++) {
        const double density = i % 7 == 3 ? 0 : i % 11 == 5 ? 0.9 : kind == RATINGS ? 0.6 : 0.12;
        for (int64_t j = 0; j < ncols; j++)
            if (rng_unit(r) < density * (j % 5 == 1 ? 1 : 0.6)) {
                I[n] = i;
                J[n++] = j;
            }
    }
    double *x = malloc((size_t)(n + 1) * sizeof *x);
    char *values = malloc((size_t)(n + 1) * 8);
    for (int64_t e = 0; e < n; e++)
        x[e] = kind == REALS ? 2 * rng_unit(r) - 1 : (double)(1 + rng_below(r, 5));
    ftb_cast(values, type, x, FTB_FP64, n);
    FtB_Matrix A;
    assert_ok(FtB_Matrix_build(&A, type, nrows, ncols, kind != NONE, n, I, J, kind == NONE ? NULL : values,
                               FTB_DUP_ERROR, NULL));
    free(I);
    free(J);
    free(x);
    free(values);
    return A;
}

FtB_Matrix gpu_scattered(rng *r, FtB_Type type, int64_t nrows, int64_t ncols, int64_t degree)
{
    const int64_t most = nrows * degree + 1, step = ncols / (degree + 1);
    int64_t *I = malloc((size_t)most * sizeof *I), *J = malloc((size_t)most * sizeof *J), n = 0;
    double *x = malloc((size_t)most * sizeof *x);
    for (int64_t i = 0; i < nrows; i++)
        for (int64_t k = rng_below(r, degree + 1); k > 0; k--, n++) {
            I[n] = i;
            J[n] = k * step + rng_below(r, step);
        }
    rng_reals(r, x, type, n);
    FtB_Matrix A;
    assert_ok(FtB_Matrix_build(&A, type, nrows, ncols, 1, n, I, J, x, FTB_DUP_ERROR, NULL));
    free(I);
    free(J);
    free(x);
    return A;
}

/* ---- calls */

FtB_Matrix gpu_project(const projection *p, FtB_Matrix R, const FtB_Project_options *o, const char *device)
{
    const int64_t n = o->onto == FTB_ROWS ? R->pattern->nrows : R->pattern->ncols;
    FtB_Matrix C;
    gpu_place(device);
    assert_ok(FtB_Matrix_new(&C, p->out, n, n, p->width));
    FtB_Project_options with = *o;
    with.epilogue = p->epilogue;
    with.where = p->where;
    assert_ok(FtB_project(C, R, p->weight, &with));
    assert_ok(ftb_buffer_ask(C->values, FTB_READ));
    gpu_place("gpu");
    return C;
}

FtB_Matrix gpu_projects_as_host(const projection *p, FtB_Matrix R, const FtB_Project_options *o,
                                const gpu_size *g, bool surely)
{
    FtB_Matrix H = gpu_project(p, R, o, "cpu");
    gpu_use(g);
    const int before = fake_gpu_launches();
    FtB_Matrix C = gpu_project(p, R, o, "gpu");
    const bool ran = fake_gpu_launches() > before;
    gpu_use(&as_it_is);
    const bool text = real_gpu() && ran; /* which no test of a real GPU turns off */
    if (surely && !text && ran != (p->there && fake_gpu_emulates()))
        fail_msg("%s: %s on the GPU", p->weight, ran ? "ran" : "did not run");
    if (C->pattern->nvals != H->pattern->nvals)
        fail_msg("%s, top %lld, %s: %lld entries, on the host %lld", p->weight, (long long)o->top_k, g->name,
                 (long long)C->pattern->nvals, (long long)H->pattern->nvals);
    assert_valid(C, false);
    if (real_gpu() && C->type == FTB_FP64) /* functions are the C library's on the host, and CUDA's there */
        assert_close(H, C, 1e-12);
    else
        assert_same(C, H);
    FtB_Matrix_free(&H);
    return C;
}

void gpu_multiplies_as_host(const char *text, FtB_Type out, FtB_Matrix A, FtB_Matrix B, FtB_Arg how,
                            bool there)
{
    FtB_Semiring s;
    FtB_Matrix C[2];
    assert_ok(FtB_Semiring_new(&s, text));
    const int before = fake_gpu_launches();
    for (int gpu = 0; gpu < 2; gpu++) {
        gpu_place(gpu ? "gpu" : "cpu");
        const bool t0 = how.handle == FTB_DESC_T0, t1 = how.handle == FTB_DESC_T1;
        assert_ok(FtB_Matrix_new(&C[gpu], out, t0 ? A->pattern->ncols : A->pattern->nrows,
                                 t1 ? B->pattern->nrows : B->pattern->ncols, 1));
        assert_ok(FtB_mxm(C[gpu], NULL, NULL, s, A, B, how));
        assert_ok(ftb_buffer_ask(C[gpu]->values, FTB_READ));
    }
    if (!real_gpu() && (fake_gpu_launches() > before) != (there && fake_gpu_emulates()))
        fail_msg("%s: where it ran", text);
    assert_same(C[0], C[1]);
    FtB_Semiring_free(&s);
    FtB_Matrix_free(&C[0]);
    FtB_Matrix_free(&C[1]);
}

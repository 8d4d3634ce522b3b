/* Opens cuBLAS (cublas.h), and has it do dense products (dense_ways.h).
 *
 * Blocks are row-major and cuBLAS's matrices column-major: what it reads as A is A'. So it is asked for
 * C' = B' A', the operands in turn, and transposes where the product does.
 *
 * By its documentation ("Results reproducibility") it gives the same bits at every run of one version on GPUs
 * of one kind, but where several streams are at work, which then choose among workspaces: so each product has
 * one of its own, from the pool, in the order of its stream. The pedantic mode keeps to FP32 and FP64,
 * whatever the environment says of TF32 and of emulation; where the context allows operands to be rounded
 * (FtB_Context_set_matmul_precision), products of FP32 are asked for by that type of computing. */
#include "gpu/cublas.h"

#include "gpu/dense_ways.h"
#include "gpu/launch.h"
#include "gpu/memory.h"
#include "gpu/record.h"

#include <pthread.h>

static const ftb_symbol symbols[] = {
#define SYMBOL(name, arguments) {#name, offsetof(ftb_cublas_calls, name)},
    FTB_CUBLAS_CALLS(SYMBOL){NULL, 0}
#undef SYMBOL
};

/* Of one version each; then the toolkit's that nobody told the loader of. */
static const char *const names[] = {"libcublas.so.13", "libcublas.so.12",
                                    "/usr/local/cuda/lib64/libcublas.so", NULL};

static bool version_of(const void *table, int *major, int *minor)
{
    const ftb_cublas_calls *call = table;
    return call->cublasGetProperty && call->cublasGetProperty(FTB_CUBLAS_MAJOR, major) == 0 &&
           call->cublasGetProperty(FTB_CUBLAS_MINOR, minor) == 0;
}

static const char name[] = "cuBLAS";
static const ftb_library library = {.name = name,
                                    .role = name,
                                    .variable = "FEATBLAS_CUBLAS",
                                    .least = 12000,
                                    .symbols = symbols,
                                    .names = names,
                                    .version = version_of};

static void open_one(void *to, const char *path)
{
    ftb_cublas *c = to;
    ftb_library_look(&c->found, &library, path, &c->call);
}

void ftb_cublas_open(ftb_cublas *c, const char *path) { open_one(c, path); }

void ftb_cublas_find(ftb_cublas *c, const char *const *paths, int cuda)
{
    ftb_library_find(&c->found, &library, paths, cuda, open_one, c);
}

static ftb_cublas here;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_here(void)
{
    ftb_library_find_here(&here.found, &library, ftb_driver_here()->version, open_one, &here);
}

const ftb_cublas *ftb_cublas_here(void)
{
    pthread_once(&once, open_here);
    return &here;
}

/* ---- products */

/* The lock is held, and the driver's context is the thread's, which is the one of the handle. For want of
 * memory it may be had later. */
static void begin(ftb_gpu_device *d, const ftb_cublas *c)
{
    struct cublasContext *handle = NULL;
    unsigned status = c->call.cublasCreate_v2(&handle);
    if (status == FTB_CUBLAS_ALLOC_FAILED && ftb_gpu_make_room(d))
        status = c->call.cublasCreate_v2(&handle);
    if (!status && c->call.cublasSetMathMode(handle, FTB_CUBLAS_PEDANTIC) == 0)
        d->cublas = handle;
    else if (!status)
        c->call.cublasDestroy_v2(handle);
    d->without_cublas = !d->cublas && status != FTB_CUBLAS_ALLOC_FAILED;
}

bool ftb_gpu_cublas_ready(ftb_gpu_device *d)
{
    const ftb_cublas *c = ftb_cublas_here();
    if (!c->found.version || ftb_gpu_enter(d) != GrB_SUCCESS)
        return false;
    if (!d->cublas && !d->without_cublas)
        begin(d, c);
    const bool ready = d->cublas;
    ftb_gpu_leave(d, GrB_SUCCESS);
    return ready;
}

/* With operands that may be rounded: the context allows it. */
static unsigned multiply_rounded(const ftb_cublas *c, struct cublasContext *handle,
                                 const ftb_dense_product *p, unsigned transa, unsigned transb)
{
    static const unsigned computes[] = {[FTB_PRECISION_TF32] = FTB_CUBLAS_FAST_TF32,
                                        [FTB_PRECISION_FP16] = FTB_CUBLAS_FAST_FP16,
                                        [FTB_PRECISION_BF16] = FTB_CUBLAS_FAST_BF16};
    const float one = 1, old = p->add ? 1 : 0;
    return c->call.cublasGemmEx_64(handle, transb, transa, p->ncols, p->nrows, p->inner, &one, p->b,
                                   FTB_CUBLAS_FP32, p->ldb, p->a, FTB_CUBLAS_FP32, p->lda, &old, p->c,
                                   FTB_CUBLAS_FP32, p->ldc, computes[ftb_precision(p->ctx)], FTB_CUBLAS_ANY);
}

static bool may_round(const ftb_dense_product *p)
{
    return p->type == FTB_FP32 && ftb_precision(p->ctx) != FTB_PRECISION_FP32;
}

static unsigned multiply(const ftb_cublas *c, struct cublasContext *handle, const ftb_dense_product *p)
{
    const unsigned transb = p->what == FTB_ABT ? FTB_CUBLAS_T : FTB_CUBLAS_N,
                   transa = p->what == FTB_ATB ? FTB_CUBLAS_T : FTB_CUBLAS_N;
    if (may_round(p))
        return multiply_rounded(c, handle, p, transa, transb);
    if (p->type == FTB_FP32) {
        const float one = 1, old = p->add ? 1 : 0;
        return c->call.cublasSgemm_v2_64(handle, transb, transa, p->ncols, p->nrows, p->inner, &one, p->b,
                                         p->ldb, p->a, p->lda, &old, p->c, p->ldc);
    }
    const double one = 1, old = p->add ? 1 : 0;
    return c->call.cublasDgemm_v2_64(handle, transb, transa, p->ncols, p->nrows, p->inner, &one, p->b, p->ldb,
                                     p->a, p->lda, &old, p->c, p->ldc);
}

/* A handle that is told of a stream forgets its workspace. The lock is held. */
static GrB_Info run(ftb_gpu_device *d, const ftb_dense_product *p, void *workspace)
{
    const ftb_cublas *c = ftb_cublas_here();
    const char *call = "cublasSetStream";
    bool begun = false;
    unsigned status = c->call.cublasSetStream_v2(d->cublas, ftb_gpu_stream(d));
    if (!status) {
        call = "cublasSetWorkspace";
        status = c->call.cublasSetWorkspace_v2(d->cublas, workspace, FTB_CUBLAS_WORKSPACE);
    }
    if (!status) {
        call = "cublasSetMathMode";
        status =
            c->call.cublasSetMathMode(d->cublas, may_round(p) ? FTB_CUBLAS_DEFAULT : FTB_CUBLAS_PEDANTIC);
    }
    if (!status) {
        call = may_round(p) ? "cublasGemmEx" : p->type == FTB_FP32 ? "cublasSgemm" : "cublasDgemm";
        begun = true;
        status = multiply(c, d->cublas, p);
    }
    if (status == FTB_CUBLAS_ARCH_MISMATCH || status == FTB_CUBLAS_NOT_SUPPORTED) { /* nothing was done */
        c->call.cublasDestroy_v2(d->cublas);
        d->cublas = NULL;
        d->without_cublas = true;
        return GrB_NO_VALUE;
    }
    if (!status)
        return GrB_SUCCESS;
    GrB_Info info = ftb_fail(FTB_NO_DEVICE, "%s: %s fails with status %u", d->gpu->label, call, status);
    return begun ? ftb_gpu_half_done(info, p->add) : info;
}

GrB_Info ftb_gpu_cublas_dense(ftb_gpu_device *d, const ftb_dense_product *p)
{
    void *workspace = NULL;
    GrB_Info info = ftb_device_room(&workspace, &d->row, p->ctx, FTB_CUBLAS_WORKSPACE);
    if (info != GrB_SUCCESS)
        return info;
    info = ftb_gpu_enter_for(d, p->ctx);
    if (info == GrB_SUCCESS)
        info = ftb_gpu_leave(d, d->cublas ? run(d, p, workspace) : GrB_NO_VALUE);
    d->row.memory->free(&d->row, workspace, FTB_CUBLAS_WORKSPACE);
    return info;
}

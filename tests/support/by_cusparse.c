/* Tests of products by the made-up cuSPARSE (by_cusparse.h). */
#include "support/by_cusparse.h"

#include "core/core.h"
#include "plan/wisdom.h"
#include "support/check.h"
#include "support/fake_gpu.h"
#include "support/fakes.h"

#include <stdlib.h>
#include <unistd.h>

struct by_cusparse_counts by_cusparse;

int by_cusparse_start(void **state)
{
    setenv("FEATBLAS_CUSPARSE", fake_path("fake_cusparse"), 1);
    fake_find("fake_cusparse", "fake_cusparse_products", &by_cusparse.made);
    fake_find("fake_cusparse", "fake_cusparse_prepared", &by_cusparse.prepared);
    fake_find("fake_cusparse", "fake_cusparse_live", &by_cusparse.live);
    return fake_gpu_start(state);
}

ftb_gpu_device *by_cusparse_device(void) { return ftb_gpu_of(ftb_device(ftb_context())); }

FtB_Block by_cusparse_block(rng *r, int64_t nrows, int64_t ncols, int64_t gap)
{
    FtB_Block all, X;
    assert_ok(FtB_Block_new(&all, nrows, ncols + gap, FTB_FP32));
    rng_reals(r, ftb_block_data(all), FTB_FP32, nrows * (ncols + gap));
    assert_ok(FtB_Block_columns(&X, all, 0, ncols));
    FtB_Block_free(&all);
    return X;
}

void by_cusparse_is(by_cusparse_multiply *multiply, const void *product, bool cusparse)
{
    const int before = by_cusparse.made();
    multiply(product, cusparse);
    assert_int_equal(by_cusparse.made() - before, cusparse);
}

void by_cusparse_gives_way(void)
{
    void *piece;
    const ftb_backend *b = &by_cusparse_device()->row;
    assert_int_equal(by_cusparse.live(), 1 + KEPT * OF_A_PRODUCT);
    setenv("FAKE_CUDA_FAILS", "cuMemAlloc=2", 1);
    setenv("FAKE_CUDA_AT", "1", 1);
    assert_ok(b->memory->alloc(b, ftb_context(), &piece, 77777777));
    b->memory->free(b, piece, 77777777);
    assert_int_equal(by_cusparse.live(), 1);
}

void by_cusparse_remembered(by_cusparse_multiply *multiply, const void *product)
{
    char path[] = "/tmp/featblas-wisdom-XXXXXX";
    ftb_machine_facts other = *ftb_machine_here();
    other.gpu = by_cusparse_device()->facts;
    other.gpu.multiprocessors++; /* another GPU */
    ftb_machine_force(&other);
    by_cusparse_is(multiply, product, false);
    ftb_machine_force(NULL);
    by_cusparse_is(multiply, product, true);

    const int file = mkstemp(path);
    assert_true(file >= 0 && close(file) == 0);
    assert_ok(FtB_Wisdom_save(NULL, path));
    assert_ok(FtB_Wisdom_forget(NULL));
    by_cusparse_is(multiply, product, false);
    assert_ok(FtB_Wisdom_load(NULL, path));
    by_cusparse_is(multiply, product, true);
    unlink(path);
}

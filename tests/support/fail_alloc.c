#include "support/fail_alloc.h"

#include "support/check.h"

#include "core/core.h"
#include "gpu/memory.h"
#include "support/rng.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

/* Sanitizers return NULL, too, for allocations that cannot succeed, instead of ending the test. */
const char *__asan_default_options(void);
const char *__tsan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1:max_allocation_size_mb=2048"; }
const char *__tsan_default_options(void) { return "allocator_may_return_null=1"; }

#define MOST_ALLOCATIONS 1000000 /* of one call; more is taken for an endless loop */

static atomic_llong live, until_failure = -1; /* -1: none fails */
static atomic_int failed;

static bool fails_now(void)
{
    if (atomic_load(&until_failure) < 0 || atomic_fetch_sub(&until_failure, 1) != 0)
        return false;
    atomic_store(&failed, 1);
    return true;
}

static void *failing_malloc(size_t size)
{
    void *p = fails_now() ? NULL : malloc(size);
    if (p) {
        memset(p, 0xa5, size < 4096 ? size : 4096); /* so that reading what was never written shows */
        atomic_fetch_add(&live, 1);
    }
    return p;
}

static void *failing_realloc(void *p, size_t size) { return fails_now() ? NULL : realloc(p, size); }

static void counting_free(void *p)
{
    if (p)
        atomic_fetch_sub(&live, 1);
    free(p);
}

int64_t live_allocations(void)
{
    FtB_set_allocator(failing_malloc, failing_realloc, counting_free);
    return atomic_load(&live);
}

void limit_memory(int64_t megabytes)
{
    const rlim_t bytes = (rlim_t)megabytes << 20;
    int64_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    const bool known = file && fscanf(file, "%" SCNd64, &pages) == 1;
    if (file)
        fclose(file);
    if (known && pages < INT64_C(1) << 28) /* a sanitizer's shadow takes more: 1 TiB */
        assert_int_equal(setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes}), 0);
}

static bool has_gpu(void)
{
    const ftb_backend *b = ftb_device(ftb_context());
    return b && b->memory == &ftb_gpu_memory;
}

/* A GPU keeps what was freed there, in a list that is allocated. */
static void settle(void)
{
    if (has_gpu())
        assert_int_equal(ftb_gpu_trim(ftb_device(ftb_context())), GrB_SUCCESS);
}

static bool written; /* a call has succeeded: outputs are not as they were */

/* One run with allocation n failing. Returns whether that one was reached. */
static bool run_failing(GrB_Info (*call)(void *), void (*untouched)(void *), void *arg, int64_t n, bool again)
{
    int64_t before, bytes_before, bytes;
    settle();
    before = atomic_load(&live);
    FtB_Context_memory(NULL, &bytes_before, NULL);
    atomic_store(&failed, 0);
    atomic_store(&until_failure, n);
    GrB_Info info = call(arg);
    atomic_store(&until_failure, -1);
    if (!atomic_load(&failed)) {
        if (info != GrB_SUCCESS)
            fail_msg("without a failing allocation: %d, %s", (int)info, FtB_error());
        return false;
    }
    if (info == GrB_SUCCESS) { /* there was another way to do it */
        written = true;
        return true;
    }
    if (info != GrB_OUT_OF_MEMORY || !*FtB_error())
        fail_msg("allocation %lld failing: %d, \"%s\"; expected GrB_OUT_OF_MEMORY", (long long)n, (int)info,
                 FtB_error());
    FtB_Context_memory(NULL, &bytes, NULL);
    settle();
    const bool leaked = atomic_load(&live) != before || bytes != bytes_before;
    if (leaked && !again && has_gpu()) /* which keeps the kernels that it had not seen before */
        return run_failing(call, untouched, arg, n, true);
    if (leaked)
        fail_msg("allocation %lld failing: %lld allocations and %lld bytes leaked", (long long)n,
                 (long long)(atomic_load(&live) - before), (long long)(bytes - bytes_before));
    if (untouched && !written)
        untouched(arg);
    return true;
}

void fail_every_allocation(GrB_Info (*call)(void *arg), void (*untouched)(void *arg), void *arg)
{
    const int64_t each = 100 / rng_cases(100); /* of a share of the cases that share fails, others by seed */
    rng r = rng_case(1);
    written = false;
    FtB_set_allocator(failing_malloc, failing_realloc, counting_free);
    for (int64_t n = each > 1 ? rng_below(&r, each) : 0; run_failing(call, untouched, arg, n, false);
         n += ftb_max(1, each))
        if (n >= MOST_ALLOCATIONS)
            fail_msg("more than %d allocations", MOST_ALLOCATIONS);
    FtB_set_allocator(NULL, NULL, NULL);
}

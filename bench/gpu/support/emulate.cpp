#include "emulate.cuh"

#include <cstdio>

namespace emulate
{

void launch(const simt_kernel &kernel, dim3 grid, dim3 block, size_t shared, bool together, void **arguments)
{
    static uint64_t launches = 0;
    simt_options options = {};
    options.seed = ++launches;
    options.resident = together ? static_cast<int>(grid.x * grid.y * grid.z) : 1;
    simt_report report;
    if (simt_launch(&kernel, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, arguments,
                    &options, &report) == 0)
        return;
    simt_print(&report, stderr);
    throw std::runtime_error(std::string(kernel.name) + ": " + report.first[0].text);
}

} // namespace emulate

/* The host's code stands in the same sources as kernels, and has calls that these never make. */
extern "C" void __tsan_vptr_update(void **, void *) {}
extern "C" int __tsan_atomic32_fetch_add(volatile int *at, int value, int)
{
    return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);
}
extern "C" long __tsan_atomic64_fetch_add(volatile long *at, long value, int)
{
    return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);
}

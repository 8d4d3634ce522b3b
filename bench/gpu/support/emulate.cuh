/* What CUDA's run-time has for the host, where kernels run in the emulator of the tests
 * (tests/support/simt/): launches, whose faults end the group, and memory, whose bounds it knows. */
#pragma once

#include "simt_cuda.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <tuple>

namespace emulate
{

/* The kernel's address comes first, then its arguments, each of the parameter's type. */
template <class... P> struct Call {
    __attribute__((no_sanitize("thread"))) static void run(void **arguments)
    {
        go(arguments, std::index_sequence_for<P...>());
    }

  private:
    template <size_t... I>
    __attribute__((no_sanitize("thread"))) static void go(void **arguments, std::index_sequence<I...>)
    {
        (*static_cast<void (**)(P...)>(arguments[0]))(*static_cast<std::decay_t<P> *>(arguments[I + 1])...);
    }
};

/* Each launch has another seed. Throws with the report's first line. */
void launch(const simt_kernel &kernel, dim3 grid, dim3 block, size_t shared, bool together, void **arguments);

template <class... P, class... A>
void launch(const char *name, bool together, void (*kernel)(P...), dim3 grid, dim3 block, size_t shared,
            A... given)
{
    std::tuple<std::decay_t<P>...> values(given...);
    std::apply(
        [&](auto &...each) {
            void *arguments[] = {&kernel, &each...};
            launch(simt_kernel{name, Call<P...>::run, nullptr, nullptr}, grid, block, shared, together,
                   arguments);
        },
        values);
}

} // namespace emulate

#define LAUNCH(kernel, grid, block, shared, ...)                                                             \
    emulate::launch(#kernel, false, (kernel), (grid), (block), (shared), __VA_ARGS__)
#define LAUNCH_TOGETHER(kernel, grid, block, shared, ...)                                                    \
    emulate::launch(#kernel, true, (kernel), (grid), (block), (shared), __VA_ARGS__)
#define DYNAMIC_SHARED(name) unsigned char *const name = static_cast<unsigned char *>(simt_dynamic_shared())

typedef int cudaError_t;
typedef void *cudaStream_t;
enum { cudaSuccess, cudaErrorMemoryAllocation = 2 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum { cudaFuncAttributeMaxDynamicSharedMemorySize };
inline const char *cudaGetErrorString(cudaError_t) { return "out of memory"; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaMalloc(void **at, size_t bytes)
{
    *at = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (*at) {
        std::memset(*at, 0xa5, bytes); /* what was never written is nonsense */
        simt_memory_add(*at, bytes, "device memory");
    }
    return *at ? cudaSuccess : cudaErrorMemoryAllocation;
}
inline cudaError_t cudaFree(void *at)
{
    simt_memory_remove(at);
    std::free(at);
    return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind)
{
    if (bytes > 0)
        std::memcpy(to, from, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemset(void *at, int byte, size_t bytes)
{
    if (bytes > 0)
        std::memset(at, byte, bytes);
    return cudaSuccess;
}
template <class Kernel> cudaError_t cudaFuncSetAttribute(Kernel *, int, int) { return cudaSuccess; }
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Kernel *, int, size_t)
{
    *blocks = 2;
    return cudaSuccess;
}

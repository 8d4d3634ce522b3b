/* What kernels and the code that launches them stand on: CUDA where nvcc compiles, and emulate.cuh where a
 * C++ compiler does. Kernels are written once; both compile them. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#ifdef __CUDACC__
#include <cuda_runtime.h>
/* A launch on the default stream; a kernel's template arguments are bracketed: LAUNCH((k<4>), grid, block, 0,
 * x). */
#define LAUNCH(kernel, grid, block, shared, ...) (kernel)<<<(grid), (block), (shared)>>>(__VA_ARGS__)
/* All blocks of this launch are resident together, as a persistent kernel needs. */
#define LAUNCH_TOGETHER LAUNCH
#define DYNAMIC_SHARED(name) extern __shared__ __align__(128) unsigned char name[]
#define EMULATED 0
#else
#include "emulate.cuh"
#define EMULATED 1
#endif

namespace facts
{

constexpr unsigned FULL_WARP = 0xffffffffu;
constexpr int WARP = 32;

/* A failed call of CUDA or of a library on it. */
struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline void check(cudaError_t error, const char *what)
{
    if (error != cudaSuccess)
        throw Failure(std::string(what) + ": " + cudaGetErrorString(error));
}

/* Device memory of `size` values; frees itself. */
template <class T> class Buffer
{
  public:
    Buffer() = default;
    explicit Buffer(size_t size) : count(size)
    {
        void *made = nullptr;
        const cudaError_t error = cudaMalloc(&made, (size ? size : 1) * sizeof(T));
        if (error != cudaSuccess)
            (void)cudaGetLastError(); /* too large is no lasting failure */
        check(error, ("device memory of " + std::to_string(size * sizeof(T)) + " bytes").c_str());
        values = static_cast<T *>(made);
    }
    explicit Buffer(const std::vector<T> &host) : Buffer(host.size())
    {
        check(cudaMemcpy(values, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice),
              "copy to the device");
    }
    Buffer(Buffer &&other) noexcept
        : values(std::exchange(other.values, nullptr)), count(std::exchange(other.count, 0))
    {
    }
    Buffer &operator=(Buffer &&other) noexcept
    {
        std::swap(values, other.values);
        std::swap(count, other.count);
        return *this;
    }
    ~Buffer() { (void)cudaFree(values); }

    T *data() const { return values; }
    size_t size() const { return count; }
    size_t bytes() const { return count * sizeof(T); }
    void zero() { check(cudaMemset(values, 0, bytes()), "clearing device memory"); }
    std::vector<T> download() const
    {
        std::vector<T> host(count);
        check(cudaMemcpy(host.data(), values, bytes(), cudaMemcpyDeviceToHost), "copy from the device");
        return host;
    }

  private:
    T *values = nullptr;
    size_t count = 0;
};

inline int divide_up(int64_t n, int64_t by) { return static_cast<int>((n + by - 1) / by); }

/* Before a launch with more than 48 KB of dynamic shared memory. */
template <class Kernel> void allow_shared(Kernel *kernel, size_t bytes)
{
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
          "shared memory of a block");
}

int multiprocessors();
/* Shared memory that one block may have, in bytes. */
size_t shared_per_block();
/* Blocks of a kernel that one multiprocessor holds. */
template <class Kernel> int resident_blocks(Kernel *kernel, int block, size_t shared)
{
    int blocks = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, block, shared), "occupancy");
    return blocks;
}

} // namespace facts

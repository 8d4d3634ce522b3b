/* What a kernel costs that is made at run time: NVRTC from text to a cubin, the loading of it, its first
 * launch.
 *
 * Two texts: `small`, one line of work, and `medium`, a sum over the rows of a sparse matrix as long as a
 * kernel of the library. By the host's clock, each compilation of a text that differs from those before by a
 * macro. `first` is the first compilation of the process, which reads the compiler itself. What the cache on
 * disk and the variants that are built beforehand save is these figures; loading and first launch are left
 * then. */
#include "host_clock.cuh"
#include "words.cuh"

#include <algorithm>
#include <cmath>
#include <memory>
#include <nvrtc.h>
#include <thread>

namespace facts
{

namespace
{

constexpr int SAMPLES = 7, WIDTH = 64, DEGREE = 16, ROWS = 1000;

const char *const small_text = R"(
extern "C" __global__ void scale(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = FACTOR * x[i];
}
)";

/* Rows by groups of lanes; columns dealt out by shuffles, four rows in flight, the rest one by one. */
const char *const medium_text = R"(
namespace {

struct Sum {
    static __device__ __forceinline__ float start() { return 0.0f; }
    static __device__ __forceinline__ float add(float a, float b) { return a + b; }
};

struct Largest {
    static __device__ __forceinline__ float start() { return -__int_as_float(0x7f800000); }
    static __device__ __forceinline__ float add(float a, float b) { return b > a ? b : a; }
};

template <class M> __device__ __forceinline__ void add(float4 &a, float w, float4 v)
{
    a.x = M::add(a.x, w * v.x);
    a.y = M::add(a.y, w * v.y);
    a.z = M::add(a.z, w * v.z);
    a.w = M::add(a.w, w * v.w);
}

__device__ __forceinline__ float4 scaled(float4 v)
{
    return make_float4(FACTOR * v.x, FACTOR * v.y, FACTOR * v.z, FACTOR * v.w);
}

template <int LANES> __device__ __forceinline__ unsigned lanes_of_group()
{
    const unsigned all = 0xffffffffu >> (32 - LANES);
    return all << (threadIdx.x % 32 / LANES * LANES);
}

template <class M, int LANES, int VECTORS, int FLIGHT>
__device__ __forceinline__ void row(const int *col, const float *val, int begin, int end, const float4 *x, int ld,
                                    float4 (&sum)[VECTORS])
{
    const int lane = threadIdx.x % LANES;
    const unsigned group = lanes_of_group<LANES>();
    for (int base = begin; base < end; base += LANES) {
        const int mine = base + lane, left = end - base < LANES ? end - base : LANES;
        const int j = mine < end ? col[mine] : 0;
        const float w = mine < end ? val[mine] : 0.0f;
        int e = 0;
        for (; e + FLIGHT <= left; e += FLIGHT) {
            float4 v[FLIGHT][VECTORS];
            float weight[FLIGHT];
#pragma unroll
            for (int f = 0; f < FLIGHT; f++) {
                const long long from = __shfl_sync(group, j, e + f, LANES);
                weight[f] = __shfl_sync(group, w, e + f, LANES);
#pragma unroll
                for (int k = 0; k < VECTORS; k++)
                    v[f][k] = __ldg(x + from * ld + k * LANES + lane);
            }
#pragma unroll
            for (int f = 0; f < FLIGHT; f++)
#pragma unroll
                for (int k = 0; k < VECTORS; k++)
                    add<M>(sum[k], weight[f], v[f][k]);
        }
        for (; e < left; e++) {
            const long long from = __shfl_sync(group, j, e, LANES);
            const float weight = __shfl_sync(group, w, e, LANES);
#pragma unroll
            for (int k = 0; k < VECTORS; k++)
                add<M>(sum[k], weight, __ldg(x + from * ld + k * LANES + lane));
        }
    }
}

template <class M, int LANES, int VECTORS, int FLIGHT>
__device__ __forceinline__ void rows(const int *ptr, const int *col, const float *val, const float4 *x, int nrows,
                                     float4 *y)
{
    const int ld = LANES * VECTORS, groups = gridDim.x * (blockDim.x / LANES);
    for (int i = (blockIdx.x * blockDim.x + threadIdx.x) / LANES; i < nrows; i += groups) {
        float4 sum[VECTORS];
#pragma unroll
        for (int k = 0; k < VECTORS; k++)
            sum[k] = make_float4(M::start(), M::start(), M::start(), M::start());
        row<M, LANES, VECTORS, FLIGHT>(col, val, ptr[i], ptr[i + 1], x, ld, sum);
#pragma unroll
        for (int k = 0; k < VECTORS; k++)
            y[(long long)i * ld + k * LANES + threadIdx.x % LANES] = scaled(sum[k]);
    }
}

}

extern "C" __global__ void __launch_bounds__(256)
    spmm(const int *ptr, const int *col, const float *val, const float4 *x, int nrows, float4 *y)
{
    rows<Sum, WIDTH / 4, 1, 4>(ptr, col, val, x, nrows, y);
}

extern "C" __global__ void __launch_bounds__(256)
    spmm_max(const int *ptr, const int *col, const float *val, const float4 *x, int nrows, float4 *y)
{
    rows<Largest, WIDTH / 8, 2, 2>(ptr, col, val, x, nrows, y);
}
)";

void check_nvrtc(nvrtcResult result, const char *what)
{
    if (result != NVRTC_SUCCESS)
        throw Failure(std::string(what) + ": " + nvrtcGetErrorString(result));
}

enum class Form { cubin, ptx };

/* The text for this device; `turn` makes it a text that was not compiled before. */
std::vector<char> compile(const char *text, int turn, const std::string &capability, Form form,
                          const char *more = nullptr)
{
    nvrtcProgram program;
    check_nvrtc(nvrtcCreateProgram(&program, text, "kernel.cu", 0, nullptr, nullptr), "a program");
    const std::string arch =
        (form == Form::ptx ? "--gpu-architecture=compute_" : "--gpu-architecture=sm_") + capability;
    const std::string factor = "-DFACTOR=" + std::to_string(turn) + ".5f",
                      width = "-DWIDTH=" + std::to_string(WIDTH);
    std::vector<const char *> options = {arch.c_str(), "--std=c++17", factor.c_str(), width.c_str()};
    if (more)
        options.push_back(more);
    const nvrtcResult result = nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data());
    std::vector<char> code;
    size_t size = 0;
    std::string log;
    if (result == NVRTC_SUCCESS) {
        const bool ptx = form == Form::ptx;
        check_nvrtc(ptx ? nvrtcGetPTXSize(program, &size) : nvrtcGetCUBINSize(program, &size), "its size");
        code.resize(size);
        check_nvrtc(ptx ? nvrtcGetPTX(program, code.data()) : nvrtcGetCUBIN(program, code.data()),
                    "its code");
    } else if (nvrtcGetProgramLogSize(program, &size) == NVRTC_SUCCESS) {
        log.resize(size);
        (void)nvrtcGetProgramLog(program, log.data());
    }
    (void)nvrtcDestroyProgram(&program);
    if (result != NVRTC_SUCCESS)
        throw Failure(std::string("compiling: ") + nvrtcGetErrorString(result) + ": " + log.substr(0, 300));
    return code;
}

struct Text {
    const char *name, *text, *kernel;
};

const Text texts[] = {{"small", small_text, "scale"}, {"medium", medium_text, "spmm"}};

/* Compilations of texts that differ by a number. */
void measure_compilation(Group &group, const char *what, const Text &t, const std::string &capability,
                         Form form, const char *more, int samples)
{
    static int turn = 1;
    const Fields parameters = {{"what", what}, {"kernel", t.name}, {"clock", "host"}};
    group.attempt(parameters, [&] {
        size_t size = 0;
        const std::vector<double> taken =
            host_times([&] { size = compile(t.text, turn++, capability, form, more).size(); }, 1, samples, 4);
        group.record(parameters, taken, {{"code_bytes", size}});
    });
}

/* As many at once as a first product with several variants would need. */
void measure_threads(Group &group, const Text &t, const std::string &capability)
{
    constexpr int THREADS = 8;
    const Fields parameters = {{"what", "nvrtc, 8 by 8 threads"}, {"kernel", t.name}, {"clock", "host"}};
    group.attempt(parameters, [&] {
        int turn = 1000;
        std::vector<int> worked(THREADS, 0);
        const auto all = [&] {
            std::vector<std::thread> threads;
            for (int k = 0; k < THREADS; k++)
                threads.emplace_back([&, k, mine = turn++] {
                    try {
                        worked[static_cast<size_t>(k)] =
                            !compile(t.text, mine, capability, Form::cubin).empty();
                    } catch (const std::exception &) {
                        worked[static_cast<size_t>(k)] = 0;
                    }
                });
            for (std::thread &one : threads)
                one.join();
        };
        const std::vector<double> taken = host_times(all, 1, 3, 4);
        if (std::count(worked.begin(), worked.end(), 0) > 0)
            throw Failure("compilations at the same time fail");
        group.record(parameters, taken);
    });
}

class Library
{
  public:
    explicit Library(const std::vector<char> &code)
    {
        check(cudaLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
              "loading code");
    }
    ~Library() { (void)cudaLibraryUnload(library); }
    Library(const Library &) = delete;
    const void *kernel(const char *name) const
    {
        cudaKernel_t found = nullptr;
        check(cudaLibraryGetKernel(&found, library, name), "a kernel by its name");
        return reinterpret_cast<const void *>(found);
    }

  private:
    cudaLibrary_t library = nullptr;
};

/* Operands of both kernels, and the host's results. */
struct Operands {
    Operands()
    {
        for (int k = 0; k < ROWS * DEGREE; k++)
            columns.push_back(static_cast<int>(scaled(word_at(static_cast<uint32_t>(k), 71), ROWS)));
        for (int i = 0; i <= ROWS; i++)
            starts.push_back(i * DEGREE);
        x = random_floats(size_t{ROWS} * WIDTH, 72);
        values = random_floats(size_t{ROWS} * DEGREE, 73);
        ptr = Buffer<int>(starts);
        col = Buffer<int>(columns);
        y = Buffer<float>(size_t{ROWS} * WIDTH);
    }
    void launch(const Text &t, const void *kernel)
    {
        const float *from = x.data(), *weights = values.data();
        float *to = y.data();
        const int *starts_there = ptr.data(), *columns_there = col.data();
        int n = t.text == small_text ? ROWS * WIDTH : ROWS;
        void *scale[] = {&from, &to, &n}, *spmm[] = {&starts_there, &columns_there, &weights, &from, &n, &to};
        const unsigned blocks = static_cast<unsigned>(divide_up(ROWS * WIDTH, 256));
        check(cudaLaunchKernel(kernel, dim3(blocks), dim3(256), t.text == small_text ? scale : spmm, 0,
                               nullptr),
              "launch");
    }
    Fields compared(const Text &t, int turn) const
    {
        const std::vector<float> got = y.download(), in = x.download(), w = values.download();
        double worst = 0;
        for (size_t k = 0; k < got.size(); k++) {
            double expected = static_cast<double>(in[k]);
            if (t.text == medium_text) {
                expected = 0;
                for (size_t e = k / WIDTH * DEGREE; e < (k / WIDTH + 1) * DEGREE; e++)
                    expected += static_cast<double>(w[e]) *
                                static_cast<double>(in[static_cast<size_t>(columns[e]) * WIDTH + k % WIDTH]);
            }
            worst = std::max(worst, std::abs(static_cast<double>(got[k]) / (turn + 0.5) - expected) / DEGREE);
            if (!(std::abs(static_cast<double>(got[k]) / (turn + 0.5) - expected) < 1e-4))
                throw Failure("a compiled kernel's result is wrong");
        }
        return {{"error", worst}};
    }
    std::vector<int> columns, starts;
    Buffer<int> ptr, col;
    Buffer<float> x, values, y;
};

/* Each turn loads a code of its own, and one that no run before has had: the driver keeps what it made of
 * PTX. */
void measure_loading(Group &group, const Text &t, const std::string &capability, Form form)
{
    const std::string of = form == Form::ptx ? "PTX" : "cubin";
    const auto parameters = [&](const std::string &what) {
        return Fields{{"what", what}, {"kernel", t.name}, {"clock", "host"}};
    };
    group.attempt(parameters("load " + of), [&] {
        Operands operands;
        std::vector<double> load, first, second, unload;
        Fields facts;
        const int begin = static_cast<int>(std::fmod(now() * 1e3, 1e5));
        for (int turn = begin; turn < begin + 5; turn++) {
            const std::vector<char> code = compile(t.text, turn, capability, form);
            operands.y = Buffer<float>(operands.y.size());
            synchronize();
            std::unique_ptr<Library> library;
            const void *kernel = nullptr;
            const auto run = [&] {
                operands.launch(t, kernel);
                check(cudaStreamSynchronize(nullptr), "kernel");
            };
            const auto get = [&] {
                library = std::make_unique<Library>(code);
                kernel = library->kernel(t.kernel);
            };
            load.push_back(host_times(get, 1, 1)[0]);
            first.push_back(host_times(run, 1, 1)[0]);
            facts = operands.compared(t, turn);
            second.push_back(host_times(run, 1, 1)[0]);
            unload.push_back(host_times([&] { library.reset(); }, 1, 1)[0]);
        }
        group.record(parameters("load " + of), load, facts);
        group.record(parameters("first launch of it and wait, from " + of), first, facts);
        group.record(parameters("second launch and wait, from " + of), second, facts);
        group.record(parameters("giving it back, from " + of), unload);
    });
}

} // namespace

void machine_compile(Group &group)
{
    int major = 0, minor = 0;
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), "device attribute");
    check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0), "device attribute");
    check(cudaFree(nullptr), "a context");
    const std::string capability = std::to_string(major * 10 + minor);
    measure_compilation(group, "first compilation of the process", texts[0], capability, Form::cubin, nullptr,
                        1);
    for (const Text &t : texts)
        measure_compilation(group, "nvrtc", t, capability, Form::cubin, nullptr, SAMPLES);
    for (const Text &t : texts)
        measure_loading(group, t, capability, Form::cubin);
    measure_threads(group, texts[1], capability);
    for (const Text &t : texts) {
        measure_compilation(group, "nvrtc, --minimal", t, capability, Form::cubin, "--minimal", SAMPLES);
        measure_compilation(group, "nvrtc, to PTX", t, capability, Form::ptx, nullptr, SAMPLES);
    }
    for (const Text &t : texts)
        measure_loading(group, t, capability, Form::ptx);
}

} // namespace facts

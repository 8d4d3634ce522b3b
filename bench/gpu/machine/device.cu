/* Which device and which software this is, its clock under load, and the rates of its arithmetic.
 *
 * One record of properties and versions. Its clock is cycles over wall time, both read on the device, while
 * all multiprocessors multiply for half a second: what the clock settles at, which may be less than the limit
 * that the driver names. Two more: single-precision multiply-adds (two operations each) and powers of two by
 * the special function units, eight independent chains a lane. */
#include "ptx.cuh"
#include "words.cuh"

#include <algorithm>
#include <cmath>
#include <cusparse.h>
#include <fstream>
#include <nvrtc.h>
#include <thread>
#include <unistd.h>

namespace facts
{

namespace
{

constexpr int BLOCK = 256, CHAINS = 8;

__device__ __forceinline__ float power_of_two(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

struct MultiplyAdd {
    static constexpr double operations = 2;
    static __device__ float step(float x) { return fmaf(x, -0.625f, 0.875f); }
    static double host(double x) { return x * -0.625 + 0.875; }
};

/* The sign is changed by the unit that does the rest. */
struct Power {
    static constexpr double operations = 1;
    static __device__ float step(float x) { return power_of_two(-x); }
    static double host(double x) { return std::exp2(-x); }
};

struct Span {
    long long ticks;
    uint64_t nanoseconds;
};

template <class Op>
__global__ void __launch_bounds__(BLOCK) work_out(const float *from, int turns, float *to, Span *spans)
{
    const uint32_t thread = blockIdx.x * BLOCK + threadIdx.x;
    const long long since = ticks();
    const uint64_t at = nanoseconds();
    float x[CHAINS];
#pragma unroll
    for (int c = 0; c < CHAINS; c++)
        x[c] = from[thread * CHAINS + c];
    for (int k = 0; k < turns; k++)
#pragma unroll
        for (int c = 0; c < CHAINS; c++)
            x[c] = Op::step(x[c]);
    float sum = 0;
#pragma unroll
    for (int c = 0; c < CHAINS; c++)
        sum += x[c];
    to[thread] = sum;
    if (threadIdx.x == 0)
        spans[blockIdx.x] = {ticks() - since, nanoseconds() - at};
}

/* Both chains go to a fixed point: some turns show every step, and all of them whether it was reached. */
template <class Op> Fields compared(const std::vector<float> &from, int turns, const std::vector<float> &got)
{
    double worst = 0;
    const int enough = std::min(turns, 1000); /* the fixed point, to all digits of a double */
    for (size_t t = 0; t < got.size(); t += 997) {
        double sum = 0;
        for (size_t c = 0; c < CHAINS; c++) {
            double x = static_cast<double>(from[t * CHAINS + c]);
            for (int k = 0; k < enough; k++)
                x = Op::host(x);
            sum += x;
        }
        const double off = std::abs(static_cast<double>(got[t]) - sum) / CHAINS;
        if (!(off < 1e-5))
            throw Failure("wrong arithmetic");
        worst = std::max(worst, off);
    }
    return {{"error", worst}};
}

template <class Op> struct Work {
    int grid = resident_blocks(work_out<Op>, BLOCK, 0) * multiprocessors();
    Buffer<float> from = random_floats(static_cast<size_t>(grid) * BLOCK * CHAINS, 51);
    Buffer<float> to = Buffer<float>(static_cast<size_t>(grid) * BLOCK);
    Buffer<Span> spans = Buffer<Span>(static_cast<size_t>(grid));
    void start(int turns) const
    {
        LAUNCH((work_out<Op>), grid, BLOCK, 0, from.data(), turns, to.data(), spans.data());
    }
    double operations(int turns) const
    {
        return static_cast<double>(to.size()) * CHAINS * turns * Op::operations;
    }
};

template <class Op> void measure_rate(Group &group, const char *what)
{
    const Fields parameters = {{"what", what}};
    group.attempt(parameters, [&] {
        const Work<Op> work;
        const int turns = group.toy() ? 16 : 1 << 14;
        check(cudaMemset(work.to.data(), 0xff, work.to.bytes()), "poison");
        /* After few steps values still depend on where they began. */
        work.start(3);
        synchronize();
        (void)compared<Op>(work.from.download(), 3, work.to.download());
        Case c;
        c.parameters = parameters;
        c.operations = work.operations(turns);
        c.launch = [&] { work.start(turns); };
        c.check = [&] { return compared<Op>(work.from.download(), turns, work.to.download()); };
        group.run(c);
    });
}

/* The median over blocks of cycles per second, in the last launch of half a second of them. */
double clock_under_load(bool toy)
{
    const Work<MultiplyAdd> work;
    const double from = now(), length = toy ? 0.01 : 0.5;
    do {
        work.start(1 << 15);
        synchronize();
    } while (now() - from < length);
    std::vector<double> rates;
    for (const Span &s : work.spans.download())
        if (s.nanoseconds > 0)
            rates.push_back(static_cast<double>(s.ticks) / (static_cast<double>(s.nanoseconds) * 1e-9));
    return median(rates);
}

int attribute(cudaDeviceAttr which)
{
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, 0), "device attribute");
    return value;
}

std::string version(int number)
{
    return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

std::string cusparse_version()
{
    int part[3] = {0, 0, 0};
    if (cusparseGetProperty(MAJOR_VERSION, part) != CUSPARSE_STATUS_SUCCESS ||
        cusparseGetProperty(MINOR_VERSION, part + 1) != CUSPARSE_STATUS_SUCCESS ||
        cusparseGetProperty(PATCH_LEVEL, part + 2) != CUSPARSE_STATUS_SUCCESS)
        return "unknown";
    return std::to_string(part[0]) + "." + std::to_string(part[1]) + "." + std::to_string(part[2]);
}

std::string nvrtc_version()
{
    int major = 0, minor = 0;
    return nvrtcVersion(&major, &minor) == NVRTC_SUCCESS ? std::to_string(major) + "." + std::to_string(minor)
                                                         : "unknown";
}

std::string processor()
{
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const size_t at = line.find(": ");
        if (line.rfind("model name", 0) == 0 && at != std::string::npos)
            return line.substr(at + 2);
    }
    return "unknown";
}

Fields properties()
{
    cudaDeviceProp p;
    check(cudaGetDeviceProperties(&p, 0), "device properties");
    int driver = 0, runtime = 0;
    check(cudaDriverGetVersion(&driver), "driver version");
    check(cudaRuntimeGetVersion(&runtime), "runtime version");
    return {{"name", p.name},
            {"compute", std::to_string(p.major) + "." + std::to_string(p.minor)},
            {"multiprocessors", p.multiProcessorCount},
            {"l2_bytes", p.l2CacheSize},
            {"l2_persisting_bytes", p.persistingL2CacheMaxSize},
            {"memory_bytes", p.totalGlobalMem},
            {"shared_block_bytes", p.sharedMemPerBlockOptin},
            {"shared_multiprocessor_bytes", p.sharedMemPerMultiprocessor},
            {"registers", p.regsPerMultiprocessor},
            {"threads_multiprocessor", p.maxThreadsPerMultiProcessor},
            {"blocks_multiprocessor", p.maxBlocksPerMultiProcessor},
            {"copy_engines", p.asyncEngineCount},
            {"sm_clock_hz", 1e3 * attribute(cudaDevAttrClockRate)},
            {"memory_clock_hz", 1e3 * attribute(cudaDevAttrMemoryClockRate)},
            {"bus_bits", p.memoryBusWidth},
            {"cooperative", p.cooperativeLaunch != 0},
            {"ecc", p.ECCEnabled != 0},
            {"pageable_access", p.pageableMemoryAccess != 0},
            {"driver", version(driver)},
            {"runtime", version(runtime)},
            {"cusparse", cusparse_version()},
            {"nvrtc", nvrtc_version()},
            {"host", processor()},
            {"host_cores", static_cast<int>(std::thread::hardware_concurrency())},
            {"host_bytes",
             static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE))}};
}

} // namespace

void machine_device(Group &group)
{
    group.attempt({{"what", "properties"}}, [&] {
        Fields all = properties();
        try {
            all.push_back({"clock_under_load_hz", clock_under_load(group.toy())});
        } catch (const Failure &) {
            group.record({{"what", "properties"}}, {}, all);
            throw;
        }
        group.record({{"what", "properties"}}, {}, all);
    });
    measure_rate<MultiplyAdd>(group, "multiply-add");
    measure_rate<Power>(group, "exp2");
}

} // namespace facts

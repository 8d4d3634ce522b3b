/* Values, comparisons and the plain checks of products with blocks. */
#include "values.cuh"

#include <cmath>
#include <cstdio>
#include <cstring>

namespace facts::sparse
{

namespace
{

constexpr int BLOCK = 256;
constexpr double UNWRITTEN = 1e30; /* the error of outputs that were left as they were */

struct About {
    const char *name;
    cudaDataType type;
    double bound;
};

const About &about(Type type)
{
    static const About all[] = {
        {"fp32", CUDA_R_32F, 1e-5}, {"fp16", CUDA_R_16F, 8 * 0x1p-11}, {"bf16", CUDA_R_16BF, 8 * 0x1p-8}};
    return all[static_cast<int>(type)];
}

inline __device__ float drawn(int64_t at, uint64_t seed)
{
    uint64_t z = (static_cast<uint64_t>(at) + (seed << 40) + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 31) * 0xbf58476d1ce4e5b9u;
    const unsigned bits = static_cast<unsigned>((z ^ z >> 29) >> 32);
    const float magnitude = 0.125f + 0.87f * static_cast<float>(bits >> 8) * 0x1p-24f;
    return bits & 1 ? magnitude : -magnitude;
}

inline __device__ void narrow(float x, float *to) { *to = x; }
inline __device__ void narrow(float x, __half *to) { *to = __float2half(x); }
inline __device__ void narrow(float x, __nv_bfloat16 *to) { *to = __float2bfloat16(x); }

inline __device__ int64_t this_thread() { return int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }

template <class T> __global__ void draw_values(T *to, int64_t count, uint64_t seed, bool negative)
{
    const int64_t at = this_thread();
    if (at < count) {
        const float x = drawn(at, seed);
        narrow(negative ? -fabsf(x) : x, to + at);
    }
}

__global__ void count_differing(const unsigned short *a, const unsigned short *b, int64_t count,
                                unsigned long long *different)
{
    const int64_t at = this_thread();
    if (at < count && a[at] != b[at])
        atomicAdd(different, 1ull);
}

/* POISON is 61280 in the narrowest type. */
template <class T> __global__ void count_wild(const T *values, int64_t count, unsigned long long *found)
{
    const int64_t at = this_thread();
    if (at < count && !(fabsf(widened(values[at])) < 6e4f))
        atomicAdd(found, 1ull);
}

template <class T, class Y>
__global__ void spmm_errors(const int *rowptr, const int *colidx, const T *values, const T *x, const Y *y,
                            int nrows, int d, unsigned *worst)
{
    const int64_t at = this_thread();
    if (at >= int64_t{nrows} * d)
        return;
    const int i = static_cast<int>(at / d), f = static_cast<int>(at % d);
    double sum = 0, magnitude = 0;
    for (int e = rowptr[i]; e < rowptr[i + 1]; e++) {
        const double term = double{widened(values[e])} * double{widened(x[int64_t{colidx[e]} * d + f])};
        sum += term;
        magnitude += fabs(term);
    }
    keep_worst(worst, error_of(double{widened(y[at])}, sum, magnitude));
}

template <class T, class Y>
__global__ void sddmm_errors(const int *rowptr, const int *colidx, const T *x, const T *z, const Y *dots,
                             int nrows, int64_t nvals, int d, int stride, unsigned *worst)
{
    const int64_t e = this_thread() * stride;
    if (e >= nvals)
        return;
    int low = 0, high = nrows; /* rowptr[low] <= e < rowptr[high] */
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        (rowptr[middle] <= e ? low : high) = middle;
    }
    double sum = 0, magnitude = 0;
    for (int f = 0; f < d; f++) {
        const double term =
            double{widened(x[int64_t{low} * d + f])} * double{widened(z[int64_t{colidx[e]} * d + f])};
        sum += term;
        magnitude += fabs(term);
    }
    keep_worst(worst, error_of(double{widened(dots[e])}, sum, magnitude));
}

template <class T> std::vector<double> download(const Values &v)
{
    std::vector<T> stored(v.count);
    check(cudaMemcpy(stored.data(), v.data(), v.count * sizeof(T), cudaMemcpyDeviceToHost),
          "copy from the device");
    std::vector<double> all(v.count);
    for (size_t k = 0; k < all.size(); k++)
        all[k] = double{widened(stored[k])};
    return all;
}

std::vector<double> download(const Values &v)
{
    return with_type(v.type, [&](auto t) { return download<decltype(t)>(v); });
}

/* The same on the host, with the loops the other way around. */
double spmm_error_on_host(const DeviceGraph &a, const Values &values, const Values &x, const Values &y, int d)
{
    const std::vector<int> rowptr = a.rowptr.download(), colidx = a.colidx.download();
    const std::vector<double> v = download(values), from = download(x), got = download(y);
    const size_t width = static_cast<size_t>(d);
    float worst = 0;
    for (size_t i = 0; i < static_cast<size_t>(a.nrows); i++) {
        std::vector<long double> sum(width), magnitude(width);
        for (size_t e = static_cast<size_t>(rowptr[i]); e < static_cast<size_t>(rowptr[i + 1]); e++)
            for (size_t f = 0; f < width; f++) {
                const long double term = v[e] * from.at(static_cast<size_t>(colidx[e]) * width + f);
                sum[f] += term;
                magnitude[f] += std::fabs(term);
            }
        for (size_t f = 0; f < width; f++)
            worst = std::max(worst, error_of(got.at(i * width + f), static_cast<double>(sum[f]),
                                             static_cast<double>(magnitude[f])));
    }
    return double{worst};
}

double sddmm_error_on_host(const DeviceGraph &a, const Values &x, const Values &z, const Values &dots, int d)
{
    const std::vector<int> rowptr = a.rowptr.download(), colidx = a.colidx.download();
    const std::vector<double> left = download(x), right = download(z), got = download(dots);
    const size_t width = static_cast<size_t>(d);
    float worst = 0;
    for (size_t i = 0; i < static_cast<size_t>(a.nrows); i++)
        for (size_t e = static_cast<size_t>(rowptr[i]); e < static_cast<size_t>(rowptr[i + 1]); e++) {
            long double sum = 0, magnitude = 0;
            for (size_t f = 0; f < width; f++) {
                const long double term =
                    left.at(i * width + f) * right.at(static_cast<size_t>(colidx[e]) * width + f);
                sum += term;
                magnitude += std::fabs(term);
            }
            worst = std::max(worst,
                             error_of(got.at(e), static_cast<double>(sum), static_cast<double>(magnitude)));
        }
    return double{worst};
}

double run_spmm_error(const DeviceGraph &a, const Values &values, const Values &x, const Values &y, int d)
{
    const Worst worst;
    with_type(x.type, [&](auto t) {
        with_type(y.type, [&](auto u) {
            using T = decltype(t);
            using U = decltype(u);
            LAUNCH((spmm_errors<T, U>), divide_up(int64_t{a.nrows} * d, BLOCK), BLOCK, 0, a.rowptr.data(),
                   a.colidx.data(), values.as<T>(), x.as<T>(), y.as<U>(), a.nrows, d, worst.data());
        });
    });
    return worst.read();
}

double run_sddmm_error(const DeviceGraph &a, const Values &x, const Values &z, const Values &dots, int d,
                       int stride)
{
    const Worst worst;
    with_type(x.type, [&](auto t) {
        with_type(dots.type, [&](auto u) {
            using T = decltype(t);
            using U = decltype(u);
            LAUNCH((sddmm_errors<T, U>), divide_up(divide_up(a.nvals, stride), BLOCK), BLOCK, 0,
                   a.rowptr.data(), a.colidx.data(), x.as<T>(), z.as<T>(), dots.as<U>(), a.nrows, a.nvals, d,
                   stride, worst.data());
        });
    });
    return wild(dots) > 0 ? UNWRITTEN : worst.read();
}

std::string short_text(double x)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", x);
    return text;
}

/* The check itself, checked: the host's loop agrees, and the last output, when wrong, is noticed. */
template <class Device, class Host> double tried(const Values &output, double bound, Device device, Host host)
{
    const double found = device(), again = host();
    if (!(std::fabs(found - again) <= 1e-7 + 1e-3 * std::fabs(found)))
        throw Failure("the check's kernel finds an error of " + short_text(found) + ", the host's loop " +
                      short_text(again));
    const size_t bytes = bytes_of(output.type);
    unsigned char *last = output.memory.data() + (output.count - 1) * bytes, kept[4], flipped[4];
    check(cudaMemcpy(kept, last, bytes, cudaMemcpyDeviceToHost), "copy from the device");
    std::copy(kept, kept + bytes, flipped);
    flipped[bytes - 1] ^= 0x80; /* the other sign, */
    flipped[bytes - 1] |= 0x4f; /* and large */
    check(cudaMemcpy(last, flipped, bytes, cudaMemcpyHostToDevice), "copy to the device");
    const double noticed = device();
    check(cudaMemcpy(last, kept, bytes, cudaMemcpyHostToDevice), "copy to the device");
    if (!(noticed > bound))
        throw Failure("the check does not notice a wrong output");
    return found;
}

} // namespace

const char *name_of(Type type) { return about(type).name; }
cudaDataType cuda_type(Type type) { return about(type).type; }
double bound_of(Type type) { return about(type).bound; }

void Values::draw(uint64_t seed, Sign sign)
{
    with_type(type, [&](auto t) {
        using T = decltype(t);
        LAUNCH((draw_values<T>), divide_up(static_cast<int64_t>(count), BLOCK), BLOCK, 0, as<T>(),
               static_cast<int64_t>(count), seed, sign == Sign::NEGATIVE);
    });
    synchronize();
}

void Values::fill(int byte) { check(cudaMemset(memory.data(), byte, memory.bytes()), "filling an output"); }

double Worst::read() const
{
    synchronize();
    const unsigned bits = found.download()[0];
    float error;
    std::memcpy(&error, &bits, sizeof error);
    return double{error};
}

int64_t differing(const void *a, const void *b, size_t bytes)
{
    Buffer<unsigned long long> different(1);
    different.zero();
    const int64_t count = static_cast<int64_t>(bytes / 2);
    if (count > 0)
        LAUNCH(count_differing, divide_up(count, BLOCK), BLOCK, 0, static_cast<const unsigned short *>(a),
               static_cast<const unsigned short *>(b), count, different.data());
    synchronize();
    return static_cast<int64_t>(different.download()[0]);
}

int64_t wild(const Values &v)
{
    Buffer<unsigned long long> found(1);
    found.zero();
    with_type(v.type, [&](auto t) {
        using T = decltype(t);
        LAUNCH((count_wild<T>), divide_up(static_cast<int64_t>(v.count), BLOCK), BLOCK, 0, v.as<T>(),
               static_cast<int64_t>(v.count), found.data());
    });
    synchronize();
    return static_cast<int64_t>(found.download()[0]);
}

double spmm_error(const DeviceGraph &a, const Values &values, const Values &x, const Values &y, int d,
                  bool toy)
{
    const auto device = [&] { return run_spmm_error(a, values, x, y, d); };
    return toy ? tried(y, bound_of(y.type), device, [&] { return spmm_error_on_host(a, values, x, y, d); })
               : device();
}

double sddmm_error(const DeviceGraph &a, const Values &x, const Values &z, const Values &dots, int d,
                   int stride, bool toy)
{
    const auto device = [&] { return run_sddmm_error(a, x, z, dots, d, toy ? 1 : stride); };
    return toy ? tried(dots, bound_of(dots.type), device,
                       [&] { return sddmm_error_on_host(a, x, z, dots, d); })
               : device();
}

Fields checked(double error, double bound)
{
    if (!(error <= bound))
        throw Failure("wrong: an error of " + short_text(error) + " over the sum of magnitudes, beyond " +
                      short_text(bound));
    return {{"error", error}};
}

} // namespace facts::sparse

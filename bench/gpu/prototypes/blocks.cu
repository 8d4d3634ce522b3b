/* Features, pieces of rows, and the plain product. */
#include "blocks.cuh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace facts
{

namespace
{

__global__ void fill_kernel(int64_t count, float *x, uint32_t salt)
{
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t k = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; k < count; k += step)
        x[k] = mixed(static_cast<uint64_t>(k), salt);
}

/* One thread a value of y. */
__global__ void plain_spmm(int nrows, int d, const int *rowptr, const int *colidx, const float *x, float *sum,
                           float *magnitude)
{
    const int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= static_cast<int64_t>(nrows) * d)
        return;
    const int i = static_cast<int>(at / d), f = static_cast<int>(at % d);
    double total = 0, size = 0;
    for (int e = rowptr[i]; e < rowptr[i + 1]; e++) {
        const double v = x[static_cast<int64_t>(colidx[e]) * d + f];
        total += v;
        size += v < 0 ? -v : v;
    }
    sum[at] = static_cast<float>(total);
    magnitude[at] = static_cast<float>(size);
}

/* Non-negative floats are ordered as their bits are. */
__global__ void compare_kernel(int64_t count, const float *y, const float *expected, const float *magnitude,
                               unsigned *largest)
{
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    unsigned worst = 0;
    for (int64_t k = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; k < count; k += step) {
        const float off = fabsf(y[k] - expected[k]);
        float error = 0;
        if (off > 0)
            error = magnitude[k] > 0 ? off / magnitude[k] : INFINITY;
        else if (!(off == 0))
            error = INFINITY; /* NaN, or infinite on both sides */
        worst = max(worst, __float_as_uint(error));
    }
    atomicMax(largest, worst);
}

__global__ void merge_kernel(int ncuts, const Cut *cuts, const float4 *partial, float4 *y, int row4,
                             bool accumulate)
{
    const int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= static_cast<int64_t>(ncuts) * row4)
        return;
    const Cut c = cuts[at / row4];
    const int f = static_cast<int>(at % row4);
    float4 *const to = y + static_cast<int64_t>(c.row) * row4 + f;
    float4 sum = accumulate ? *to : make_float4(0, 0, 0, 0);
    for (int k = 0; k < c.count; k++)
        add(sum, partial[static_cast<int64_t>(c.first + k) * row4 + f]);
    *to = sum;
}

int grid_for(int64_t count)
{
    return static_cast<int>(
        std::min<int64_t>((count + 255) / 256, static_cast<int64_t>(multiprocessors()) * 8));
}

/* At toy size: the plain kernel beside a loop on the host, on the graph's own arrays. */
void check_plain(const DeviceGraph &a, const Buffer<float> &x, int d, const Buffer<float> &sum)
{
    const std::vector<int> rowptr = a.rowptr.download(), colidx = a.colidx.download();
    const std::vector<float> in = x.download(), out = sum.download();
    for (size_t i = 0; i + 1 < rowptr.size(); i++)
        for (int f = 0; f < d; f++) {
            long double total = 0;
            for (int e = rowptr[i]; e < rowptr[i + 1]; e++)
                total += in[static_cast<size_t>(colidx[static_cast<size_t>(e)]) * static_cast<size_t>(d) +
                            static_cast<size_t>(f)];
            const float got = out[i * static_cast<size_t>(d) + static_cast<size_t>(f)];
            if (!(std::fabs(static_cast<double>(total) - got) <= 1e-6 * (1 + std::fabs(got))))
                throw Failure("the plain kernel differs from the host's loop");
        }
}

} // namespace

std::vector<std::string> block_graphs(const Group &group)
{
    std::vector<std::string> names = graph_names();
    if (group.toy())
        names.resize(1);
    return names;
}

void fill(Buffer<float> &x, uint32_t salt)
{
    if (x.size() == 0)
        return;
    LAUNCH(fill_kernel, grid_for(static_cast<int64_t>(x.size())), 256, 0, static_cast<int64_t>(x.size()),
           x.data(), salt);
    synchronize();
}

Pieces::Pieces(const std::vector<int> &rowptr, int length, bool by_degree, bool with_empty_rows)
{
    std::vector<Piece> all;
    std::vector<Cut> cut;
    const int nrows = static_cast<int>(rowptr.size()) - 1;
    for (int i = 0; i < nrows; i++) {
        const int begin = rowptr[static_cast<size_t>(i)], end = rowptr[static_cast<size_t>(i) + 1];
        if (begin == end && !with_empty_rows)
            continue;
        if (length == 0 || end - begin <= length) {
            all.push_back({i, begin, end, -1});
            continue;
        }
        /* Parts of equal size, so that no small one is left over. */
        const int parts = divide_up(end - begin, length);
        cut.push_back({i, nslots, parts});
        for (int k = 0; k < parts; k++)
            all.push_back({i, begin + static_cast<int>(int64_t{end - begin} * k / parts),
                           begin + static_cast<int>(int64_t{end - begin} * (k + 1) / parts), nslots++});
    }
    if (by_degree)
        std::stable_sort(all.begin(), all.end(),
                         [](const Piece &a, const Piece &b) { return a.end - a.begin > b.end - b.begin; });
    npieces = static_cast<int>(all.size());
    ncuts = static_cast<int>(cut.size());
    pieces = Buffer<Piece>(all);
    cuts = Buffer<Cut>(cut);
}

Expected::Expected(const DeviceGraph &a, const Buffer<float> &x, int d)
    : sum(static_cast<size_t>(a.nrows) * static_cast<size_t>(d)), magnitude(sum.size())
{
    LAUNCH(plain_spmm, divide_up(static_cast<int64_t>(sum.size()), 256), 256, 0, a.nrows, d, a.rowptr.data(),
           a.colidx.data(), x.data(), sum.data(), magnitude.data());
    synchronize();
    if (a.nvals < 20000)
        check_plain(a, x, d, sum);
}

Fields compare(const Buffer<float> &y, const Buffer<float> &expected, const Buffer<float> &magnitude,
               double tolerance)
{
    Buffer<unsigned> largest(1);
    largest.zero();
    LAUNCH(compare_kernel, grid_for(static_cast<int64_t>(y.size())), 256, 0, static_cast<int64_t>(y.size()),
           y.data(), expected.data(), magnitude.data(), largest.data());
    synchronize();
    const unsigned bits = largest.download()[0];
    float error;
    static_assert(sizeof error == sizeof bits, "bits of a float");
    std::copy_n(reinterpret_cast<const char *>(&bits), sizeof bits, reinterpret_cast<char *>(&error));
    if (!(error <= tolerance))
        throw Failure("wrong result: relative error " + std::to_string(error));
    return {{"error", static_cast<double>(error)}};
}

void merge_cuts(const Pieces &p, const Buffer<float4> &partial, Buffer<float> &y, int d, bool accumulate)
{
    if (p.ncuts == 0)
        return;
    const int row4 = d / 4;
    LAUNCH(merge_kernel, divide_up(static_cast<int64_t>(p.ncuts) * row4, 256), 256, 0, p.ncuts, p.cuts.data(),
           partial.data(), reinterpret_cast<float4 *>(y.data()), row4, accumulate);
}

} // namespace facts

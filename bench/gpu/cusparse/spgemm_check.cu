/* The check of a sparse product: all offsets, and some rows whole against plain loops in double precision. */
#include "spgemm.cuh"

#include <algorithm>
#include <cmath>
#include <map>

namespace facts::sparse
{

namespace
{

constexpr int BLOCK = 256;
constexpr double BOUND = 1e-5;

/* A row of the product for each block, dense: the sum and the magnitudes' sum for every column. */
__global__ void dense_rows(const int *rowptr_a, const int *colidx_a, const float *a, const int *rowptr_b,
                           const int *colidx_b, const float *b, const int *rows, int64_t ncols, double *sums,
                           double *magnitudes)
{
    const int i = rows[blockIdx.x];
    double *const sum = sums + blockIdx.x * ncols, *const magnitude = magnitudes + blockIdx.x * ncols;
    for (int e = rowptr_a[i]; e < rowptr_a[i + 1]; e++) {
        const int k = colidx_a[e];
        for (int at = rowptr_b[k] + static_cast<int>(threadIdx.x); at < rowptr_b[k + 1];
             at += static_cast<int>(blockDim.x)) {
            const double term =
                double{a[e]} * double{b[at]}; /* a row's columns are distinct: no two threads meet */
            sum[colidx_b[at]] += term;
            magnitude[colidx_b[at]] += fabs(term);
        }
        __syncthreads();
    }
}

/* found: entries in a wrong place, rows of a wrong length, entries out of order, wrong offsets. */
enum { MISPLACED, LENGTHS, UNORDERED, OFFSETS, FOUND };

template <class Offset, class Column>
__global__ void compare_rows(const Offset *rowptr, const Column *colidx, const float *values, const int *rows,
                             int64_t ncols, const double *sums, const double *magnitudes,
                             unsigned long long *found, unsigned *worst)
{
    const int i = rows[blockIdx.x];
    const double *const sum = sums + blockIdx.x * ncols, *const magnitude = magnitudes + blockIdx.x * ncols;
    const int64_t first = rowptr[i], last = rowptr[i + 1];
    for (int64_t e = first + threadIdx.x; e < last; e += blockDim.x) {
        const int64_t j = colidx[e];
        if (j < 0 || j >= ncols || magnitude[j] == 0) {
            atomicAdd(found + MISPLACED, 1ull);
            continue;
        }
        if (e > first && colidx[e - 1] >= j)
            atomicAdd(found + UNORDERED, 1ull);
        keep_worst(worst, error_of(double{values[e]}, sum[j], magnitude[j]));
    }
    __shared__ int entries;
    if (threadIdx.x == 0)
        entries = 0;
    __syncthreads();
    int mine = 0;
    for (int64_t j = threadIdx.x; j < ncols; j += blockDim.x)
        mine += magnitude[j] != 0;
    atomicAdd(&entries, mine);
    __syncthreads();
    if (threadIdx.x == 0 && entries != last - first)
        atomicAdd(found + LENGTHS, 1ull);
}

template <class Offset>
__global__ void check_offsets(const Offset *rowptr, int64_t nrows, int64_t nvals, unsigned long long *found)
{
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i > nrows)
        return;
    const int64_t at = rowptr[i];
    if ((i == 0 && at != 0) || (i == nrows && at != nvals) || (i > 0 && rowptr[i - 1] > at))
        atomicAdd(found + OFFSETS, 1ull);
}

struct Found {
    uint64_t count[FOUND];
    double error;
};

/* Rows to look at: spread over all, and the left operand's longest. */
std::vector<int> chosen_rows(const DeviceGraph &a)
{
    const std::vector<int> rowptr = a.rowptr.download();
    const int count = std::min(a.nrows, 31);
    std::vector<int> rows;
    for (int k = 0; k < count; k++)
        rows.push_back(static_cast<int>(int64_t{k} * (a.nrows - 1) / std::max(count - 1, 1)));
    int longest = 0;
    for (int i = 0; i < a.nrows; i++) {
        const size_t at = static_cast<size_t>(i), best = static_cast<size_t>(longest);
        if (rowptr[at + 1] - rowptr[at] > rowptr[best + 1] - rowptr[best])
            longest = i;
    }
    rows.push_back(longest);
    return rows;
}

template <class Offset, class Column>
Found compare(const SparseResult &c, const Buffer<int> &rows, const Buffer<double> &sums,
              const Buffer<double> &magnitudes)
{
    const Worst worst;
    Buffer<unsigned long long> found(FOUND);
    found.zero();
    const Offset *rowptr = reinterpret_cast<const Offset *>(c.rowptr.data());
    LAUNCH((check_offsets<Offset>), divide_up(c.nrows + 1, BLOCK), BLOCK, 0, rowptr, c.nrows, c.nvals,
           found.data());
    synchronize();
    Found f = {};
    if (found.download()[OFFSETS] == 0) { /* else the rows may lie anywhere */
        LAUNCH((compare_rows<Offset, Column>), static_cast<int>(rows.size()), BLOCK, 0, rowptr,
               reinterpret_cast<const Column *>(c.colidx.data()),
               reinterpret_cast<const float *>(c.values.data()), rows.data(), c.ncols, sums.data(),
               magnitudes.data(), found.data(), worst.data());
    }
    f.error = worst.read();
    const std::vector<unsigned long long> counts = found.download();
    std::copy(counts.begin(), counts.end(), f.count);
    return f;
}

Found compare(const SparseResult &c, const Buffer<int> &rows, const Buffer<double> &sums,
              const Buffer<double> &magnitudes)
{
    switch (c.width) {
    case Width::W64:
        return compare<int64_t, int64_t>(c, rows, sums, magnitudes);
    case Width::W64_OFFSETS:
        return compare<int64_t, int>(c, rows, sums, magnitudes);
    default:
        return compare<int, int>(c, rows, sums, magnitudes);
    }
}

/* The dense rows again on the host. */
void try_dense_rows(const Operand &a, const Operand &b, const std::vector<int> &rows,
                    const std::vector<double> &sums)
{
    const std::vector<int> rowptr_a = a.graph.rowptr.download(), colidx_a = a.graph.colidx.download(),
                           rowptr_b = b.graph.rowptr.download(), colidx_b = b.graph.colidx.download();
    std::vector<float> values_a(a.values.count), values_b(b.values.count);
    check(cudaMemcpy(values_a.data(), a.values.data(), 4 * values_a.size(), cudaMemcpyDeviceToHost), "copy");
    check(cudaMemcpy(values_b.data(), b.values.data(), 4 * values_b.size(), cudaMemcpyDeviceToHost), "copy");
    const size_t ncols = static_cast<size_t>(b.graph.ncols);
    for (size_t r = 0; r < rows.size(); r++) {
        std::map<int, double> sum;
        const size_t i = static_cast<size_t>(rows[r]);
        for (size_t e = static_cast<size_t>(rowptr_a[i]); e < static_cast<size_t>(rowptr_a[i + 1]); e++) {
            const size_t k = static_cast<size_t>(colidx_a[e]);
            for (size_t f = static_cast<size_t>(rowptr_b[k]); f < static_cast<size_t>(rowptr_b[k + 1]); f++)
                sum[colidx_b[f]] += double{values_a[e]} * double{values_b[f]};
        }
        for (size_t j = 0; j < ncols; j++) {
            const auto at = sum.find(static_cast<int>(j));
            if (std::fabs((at == sum.end() ? 0 : at->second) - sums.at(r * ncols + j)) > 1e-12)
                throw Failure("the check's dense rows disagree with the host's loop");
        }
    }
}

/* A value and a column that are wrong in the last row with entries are noticed. */
void try_compare(const SparseResult &c, const Buffer<double> &sums, const Buffer<double> &magnitudes,
                 const std::vector<int> &chosen)
{
    const std::vector<int> rowptr = [&] {
        std::vector<int> all(static_cast<size_t>(c.nrows) + 1);
        check(cudaMemcpy(all.data(), c.rowptr.data(), 4 * all.size(), cudaMemcpyDeviceToHost), "copy");
        return all;
    }();
    const Buffer<int> rows(chosen);
    for (const int i : chosen) {
        const int e = rowptr[static_cast<size_t>(i)];
        if (e == rowptr[static_cast<size_t>(i) + 1])
            continue;
        for (const bool value : {true, false}) {
            unsigned char *const at = (value ? c.values.data() : c.colidx.data()) + 4 * e;
            int kept = 0, wrong = value ? 0x40000000 : -1;
            check(cudaMemcpy(&kept, at, 4, cudaMemcpyDeviceToHost), "copy");
            check(cudaMemcpy(at, &wrong, 4, cudaMemcpyHostToDevice), "copy");
            const Found f = compare(c, rows, sums, magnitudes);
            check(cudaMemcpy(at, &kept, 4, cudaMemcpyHostToDevice), "copy");
            if (value ? f.error <= BOUND : f.count[MISPLACED] == 0)
                throw Failure("the check does not notice a wrong entry");
        }
    }
}

} // namespace

Fields check_product(const Operand &a, const Operand &b, const SparseResult &c, bool toy)
{
    const std::vector<int> chosen = chosen_rows(a.graph);
    const Buffer<int> rows(chosen);
    Buffer<double> sums(chosen.size() * static_cast<size_t>(c.ncols)), magnitudes(sums.size());
    sums.zero();
    magnitudes.zero();
    LAUNCH(dense_rows, static_cast<int>(chosen.size()), BLOCK, 0, a.graph.rowptr.data(),
           a.graph.colidx.data(), a.values.as<float>(), b.graph.rowptr.data(), b.graph.colidx.data(),
           b.values.as<float>(), rows.data(), c.ncols, sums.data(), magnitudes.data());
    synchronize();
    const Found f = compare(c, rows, sums, magnitudes);
    if (f.count[OFFSETS] > 0)
        throw Failure("wrong: " + std::to_string(f.count[OFFSETS]) + " offsets are out of order");
    if (f.count[MISPLACED] > 0 || f.count[LENGTHS] > 0)
        throw Failure("wrong: among " + std::to_string(rows.size()) + " rows " +
                      std::to_string(f.count[LENGTHS]) + " have a wrong length, and " +
                      std::to_string(f.count[MISPLACED]) + " entries a wrong place");
    const Fields fields = checked(f.error, BOUND);
    if (toy) {
        try_dense_rows(a, b, chosen, sums.download());
        if (c.width == Width::W32)
            try_compare(c, sums, magnitudes, chosen);
    }
    return {fields[0], {"sorted", f.count[UNORDERED] == 0}};
}

} // namespace facts::sparse

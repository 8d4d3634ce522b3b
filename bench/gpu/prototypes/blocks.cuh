/* What the prototypes of products with feature blocks share: features, pieces of rows, the plain kernel that
 * results are compared with, and the comparison. */
#pragma once

#include "support/graphs.cuh"

namespace facts
{

/* The graphs of graph_names(), one of them at toy size. */
std::vector<std::string> block_graphs(const Group &group);

/* Values in (-1, 1) that depend on their place alone: x[k] for k < count. */
void fill(Buffer<float> &x, uint32_t salt);

/* A row's entries [begin, end), or a part of them. `slot` is where the part's sums go, -1 for the row itself.
 */
struct alignas(16) Piece {
    int row, begin, end, slot;
};

/* A row that was cut: its parts' sums are in `count` slots from `first` on, and are added in that order. */
struct Cut {
    int row, first, count;
};

/* The rows of a graph as pieces of at most `length` entries (0: uncut), and the rows that were cut. */
struct Pieces {
    Pieces(const std::vector<int> &rowptr, int length, bool by_degree, bool with_empty_rows = true);
    Buffer<Piece> pieces;
    Buffer<Cut> cuts;
    int npieces = 0, ncuts = 0, nslots = 0;
};

/* y = A x in double precision, one thread a value, and the sums of |terms|, which errors are measured by. */
struct Expected {
    Expected(const DeviceGraph &a, const Buffer<float> &x, int d);
    Buffer<float> sum, magnitude;
};

/* The largest |y - expected| over the sum of magnitudes; NaN counts as infinite. Throws above `tolerance`. */
Fields compare(const Buffer<float> &y, const Buffer<float> &expected, const Buffer<float> &magnitude,
               double tolerance);

/* Adds the slots of cut rows, in order, into y: `accumulate` adds to what is there. */
void merge_cuts(const Pieces &p, const Buffer<float4> &partial, Buffer<float> &y, int d, bool accumulate);

/* The direct product, y (+)= A x (spmm_direct.cu); 16 bytes a lane. `tile` features at a time, `flight` rows
 * in flight. */
struct Direct {
    int lanes, vectors, flight;
    int tile() const { return lanes * vectors * 4; }
};
void run_direct(const Direct &way, const Pieces &p, const Buffer<int> &colidx, const Buffer<float> &x,
                Buffer<float> &y, Buffer<float4> &partial, int d, bool accumulate);

inline __host__ __device__ float mixed(uint64_t k, uint32_t salt)
{
    uint64_t h = (k + 1) * 0x9E3779B97F4A7C15ull ^ salt * 0xD1B54A32D192ED03ull;
    h = (h ^ (h >> 29)) * 0xBF58476D1CE4E5B9ull;
    h ^= h >> 32;
    return (static_cast<float>(static_cast<uint32_t>(h) >> 8) + 0.5f) * 0x1p-23f - 1.0f;
}

__host__ __device__ inline void add(float4 &sum, const float4 &v)
{
    sum.x += v.x;
    sum.y += v.y;
    sum.z += v.z;
    sum.w += v.w;
}

/* Lanes of the group of LANES that this lane is in, as a mask of the warp. */
template <int LANES> __device__ __forceinline__ unsigned group_mask()
{
    return LANES == 32 ? FULL_WARP : ((1u << (LANES % 32)) - 1) << (threadIdx.x % 32 / LANES * LANES);
}

} // namespace facts

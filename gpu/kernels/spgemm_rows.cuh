/* Rows of a sparse x sparse product, each gathered in shared memory (Gustavson):
 *
 *     C(i, :) = sum over the entries (i, k) of A of message(A(i, k), B(k, :))
 *
 * dense   a block has a unit's columns as cells, all of them, and reads them out in ascending order. A warp
 * has columns of its own, finds in each row of B, 32 rows at a time, what lies there, and adds it: no two
 *         lanes meet in a cell, and a cell's sum is made in the order of k, so that its bits are the host's.
 * counts  the same with atomic additions of whole numbers, whose order cannot show: warps share all
 *         columns, and take rows of B side by side.
 * hash    a warp has a short row: open addressing, columns read out by their rank among each other.
 *
 * Dense wins where products are many to a cell; each cell is cleared and read once. The limit is one read and
 * one write of shared memory for a product. A cell that has no sum is 0, or -0.0, which no sum gives. */
#ifndef FTB_SPGEMM_ROWS_CUH
#define FTB_SPGEMM_ROWS_CUH

#include "gpu/kernels/kernel.cuh"
#include "gpu/kernels/spgemm_rows.h"

namespace
{

constexpr int WARP = 32;

struct Segment {
    long long begin, end; /* entries of B */
};

__device__ __forceinline__ long long first_from(const int *columns, long long begin, long long end,
                                                int column)
{
    while (begin < end) {
        const long long middle = begin + (end - begin) / 2;
        if (__ldg(columns + middle) < column)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/* What left entry x meets in columns [first, last). */
__device__ __forceinline__ Segment segment_of(const ftb_spgemm_arguments &a, long long x, int first, int last)
{
    const long long k = __ldg(a.acol + x);
    Segment s = {__ldg(a.brow + k), __ldg(a.bend + k)};
    if (first > 0)
        s.begin = first_from(a.bcol, s.begin, s.end, first);
    if (last < a.ncols)
        s.end = first_from(a.bcol, s.begin, s.end, last);
    return s;
}

/* ---- cells: nothing yet */

__device__ __forceinline__ void clear_value(float &v) { v = -0.0f; }
__device__ __forceinline__ void clear_value(double &v) { v = -0.0; }
__device__ __forceinline__ void clear_value(unsigned long long &v) { v = 0; }
__device__ __forceinline__ void clear_value(unsigned &v) { v = 0; }
__device__ __forceinline__ bool holds(float v) { return __float_as_uint(v) != 0x80000000u; }
__device__ __forceinline__ bool holds(double v)
{
    return static_cast<unsigned long long>(__double_as_longlong(v)) != 0x8000000000000000ull;
}
__device__ __forceinline__ bool holds(unsigned long long v) { return v != 0; }
__device__ __forceinline__ bool holds(unsigned v) { return v != 0; }

/* ---- messages */

/* add() adds that of left entry x, which a message is made of, and right entry p, in `column`, to a cell,
 * whose values are `step` apart. Cells of a message that may give any value have marks, too: 0, or how many
 * messages they hold. */
struct Plain {
    typedef unsigned char Mark;
    enum { MARKED = 0 };
    template <class T> static __device__ __forceinline__ T result(T value, Mark) { return value; }
};

/* 1. */
struct Pair : Plain {
    typedef unsigned Type;
    enum { VALUES = 1 };
    __device__ __forceinline__ Pair(const ftb_spgemm_arguments &, const ftb_spgemm_unit &, long long) {}
    __device__ __forceinline__ void add(unsigned *cell, int, Mark *, int, long long) const { ++*cell; }
};

/* a * b; -0 becomes 0. */
template <class T, int N> struct Times : Plain {
    typedef T Type;
    enum { VALUES = N };
    T left;
    const T *right;
    __device__ __forceinline__ Times(const ftb_spgemm_arguments &a, const ftb_spgemm_unit &, long long x)
        : left(a.a ? __ldg(static_cast<const T *>(a.a) + x) : T(1)), right(static_cast<const T *>(a.b))
    {
    }
    __device__ __forceinline__ void add(T *cell, int, Mark *, int, long long p) const
    {
        *cell += left * __ldg(right + p) + T(0);
    }
};

/* By the codes of both. */
template <class T, int N> struct Table : Plain {
    typedef T Type;
    enum { VALUES = N };
    const T *row;
    const unsigned char *right;
    __device__ __forceinline__ Table(const ftb_spgemm_arguments &a, const ftb_spgemm_unit &, long long x)
        : row(static_cast<const T *>(a.table) +
              static_cast<long long>(__ldg(static_cast<const unsigned char *>(a.a) + x)) * a.table_row),
          right(static_cast<const unsigned char *>(a.b))
    {
    }
    __device__ __forceinline__ void add(T *cell, int step, Mark *, int, long long p) const
    {
        const T *const message = row + __ldg(right + p) * N;
#pragma unroll
        for (int v = 0; v < N; v++)
            cell[v * step] += __ldg(message + v);
    }
};

/* The n cells of a unit, or of a row's hash. The first values of all come first: lanes that have neighbouring
 * cells ask no bank of shared memory twice, as they would for cells of 4 or 8 values side by side. */
template <class M> struct Cells {
    typedef typename M::Type T;
    enum {
        BYTES = static_cast<int>(sizeof(T)) * M::VALUES +
                (M::MARKED ? static_cast<int>(sizeof(typename M::Mark)) : 0)
    };         /* of one */
    T *values; /* value v of cell c at v * n + c */
    int n;
    typename M::Mark *marks; /* behind them */
    __device__ __forceinline__ Cells(void *memory, int count)
        : values(static_cast<T *>(memory)), n(count),
          marks(reinterpret_cast<typename M::Mark *>(static_cast<T *>(memory) + count * M::VALUES))
    {
    }
    __device__ __forceinline__ void clear(int c)
    {
        if constexpr (M::MARKED)
            marks[c] = 0;
        else
#pragma unroll
            for (int v = 0; v < M::VALUES; v++)
                clear_value(values[v * n + c]);
    }
    __device__ __forceinline__ bool there(int c) const
    {
        if constexpr (M::MARKED)
            return marks[c] != 0;
        else
            return holds(values[c]);
    }
    __device__ __forceinline__ void add(const M &message, int c, int column, long long p)
    {
        message.add(values + c, n, marks + c, column, p);
    }
    __device__ __forceinline__ void put(const ftb_spgemm_arguments &a, int c, int column, long long at) const
    {
        T *const to = static_cast<T *>(a.cells) + at * M::VALUES;
        a.cols[at] = column;
#pragma unroll
        for (int v = 0; v < M::VALUES; v++)
            to[v] = M::result(values[v * n + c], M::MARKED ? marks[c] : typename M::Mark(0));
    }
};

/* ---- reading out */

/* Columns that each warp of a block has, of n. */
__device__ __forceinline__ int share_of(int n)
{
    const int warps = static_cast<int>(blockDim.x) / WARP;
    return ((n + warps - 1) / warps + WARP - 1) / WARP * WARP;
}

/* Of a block whose cells are done; sums: a word for each of its warps. put(c, at) for each of the n that is
 * there, c ascending with `at`. */
template <class THERE, class PUT>
__device__ __forceinline__ void read_out(const ftb_spgemm_arguments &a, int *sums, int unit, int n,
                                         THERE there, PUT put)
{
    const int lane = static_cast<int>(threadIdx.x) % WARP, warp = static_cast<int>(threadIdx.x) / WARP;
    const int share = share_of(n), from = min(warp * share, n), to = min(from + share, n);
    int before = 0, mine = 0;
    for (int c = from; c < to; c += WARP)
        mine += __popc(__ballot_sync(FTB_FULL_WARP, c + lane < to && there(c + lane)));
    if (lane == 0)
        sums[warp] = mine;
    __syncthreads();
    for (int w = 0; w < warp; w++)
        before += sums[w];
    if (threadIdx.x + 1 == blockDim.x)
        a.counts[unit] = before + mine;
    long long at = a.units[unit].at + before;
    for (int c = from; c < to; c += WARP) {
        const bool has = c + lane < to && there(c + lane);
        const unsigned found = __ballot_sync(FTB_FULL_WARP, has);
        if (has)
            put(c + lane, at + __popc(found & ((1u << lane) - 1)));
        at += __popc(found);
    }
}

/* The same for statistics of counts: count(c) is 0 of what is not there. */
template <class COUNT>
__device__ __forceinline__ void read_statistics(const ftb_spgemm_arguments &a, int unit, int n, COUNT count)
{
    __shared__ ftb_spgemm_count warps[FTB_SPGEMM_BLOCK / WARP];
    ftb_spgemm_count s = {0, 0, FTB_FULL_WARP, 0};
    for (int c = static_cast<int>(threadIdx.x); c < n; c += static_cast<int>(blockDim.x)) {
        const unsigned one = count(c);
        s.sum += one;
        s.nvals += one > 0;
        s.least = one > 0 ? min(s.least, one) : s.least;
        s.most = max(s.most, one);
    }
    for (int far = WARP / 2; far > 0; far /= 2) {
        s.sum += __shfl_xor_sync(FTB_FULL_WARP, s.sum, far);
        s.nvals += __shfl_xor_sync(FTB_FULL_WARP, s.nvals, far);
        s.least = min(s.least, __shfl_xor_sync(FTB_FULL_WARP, s.least, far));
        s.most = max(s.most, __shfl_xor_sync(FTB_FULL_WARP, s.most, far));
    }
    if (threadIdx.x % WARP == 0)
        warps[threadIdx.x / WARP] = s;
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    for (unsigned w = 1; w < blockDim.x / WARP; w++) {
        s.sum += warps[w].sum;
        s.nvals += warps[w].nvals;
        s.least = min(s.least, warps[w].least);
        s.most = max(s.most, warps[w].most);
    }
    a.statistics[unit] = s;
}

/* Calls each(message, column, p) for all products of a unit, by a warp: no two lanes have the same column at
 * a time, and times are in the order of the row's entries. */
template <class M, class EACH>
__device__ __forceinline__ void walk_products(const ftb_spgemm_arguments &a, const ftb_spgemm_unit &u,
                                              int first, int last, EACH each)
{
    const int lane = static_cast<int>(threadIdx.x) % WARP;
    for (long long x0 = u.begin; x0 < u.end; x0 += WARP) {
        Segment s = {0, 0};
        if (x0 + lane < u.end)
            s = segment_of(a, x0 + lane, first, last);
        /* Most have nothing where there are many tiles. */
        for (unsigned left = __ballot_sync(FTB_FULL_WARP, s.begin < s.end); left; left &= left - 1) {
            const int t = __ffs(static_cast<int>(left)) - 1;
            const long long begin = __shfl_sync(FTB_FULL_WARP, s.begin, t),
                            end = __shfl_sync(FTB_FULL_WARP, s.end, t);
            const M message(a, u, x0 + t);
            for (long long p = begin + lane; p < end; p += WARP)
                each(message, __ldg(a.bcol + p), p);
            __syncwarp();
        }
    }
}

/* ---- dense rows */

template <class M> __device__ __forceinline__ void dense_unit(const ftb_spgemm_arguments &a)
{
    FTB_DYNAMIC_SHARED(unsigned char, memory);
    const int unit = __ldg(a.order + blockIdx.x), lane = static_cast<int>(threadIdx.x) % WARP;
    const ftb_spgemm_unit u = a.units[unit];
    const int n = u.last - u.first, share = share_of(n);
    const int from = min(static_cast<int>(threadIdx.x) / WARP * share, n), to = min(from + share, n);
    Cells<M> cells(memory + FTB_SPGEMM_HEAD_BYTES, n);
    for (int c = from + lane; c < to; c += WARP)
        cells.clear(c);
    __syncwarp();
    if (from < to)
        walk_products<M>(a, u, u.first + from, u.first + to, [&](const M &message, int column, long long p) {
            cells.add(message, column - u.first, column, p);
        });
    __syncwarp();
    read_out(
        a, reinterpret_cast<int *>(memory), unit, n,
        [&](int c) { return cells.there(c) && !(a.off_diagonal && u.first + c == u.row); },
        [&](int c, long long at) { cells.put(a, c, u.first + c, at); });
}

/* ---- counts */

/* BITS for a count, which a row of fewer left entries than that holds cannot exceed. */
template <int BITS> __device__ __forceinline__ void add_many(unsigned *words, int c, unsigned many)
{
    atomicAdd(words + c / (32 / BITS), many << c % (32 / BITS) * BITS % 32);
}

template <int BITS> __device__ __forceinline__ unsigned count_at(const unsigned *words, int c)
{
    return words[c / (32 / BITS)] >> c % (32 / BITS) * BITS % 32 & (FTB_FULL_WARP >> (32 - BITS));
}

/* Calls each(column) for all products of a unit, by a block, in any order. */
template <class EACH>
__device__ __forceinline__ void walk_columns(const ftb_spgemm_arguments &a, const ftb_spgemm_unit &u,
                                             EACH each)
{
    const int lane = static_cast<int>(threadIdx.x) % WARP, warp = static_cast<int>(threadIdx.x) / WARP,
              warps = static_cast<int>(blockDim.x) / WARP;
    const int batch =
        static_cast<int>(min(static_cast<long long>(WARP), (u.end - u.begin + warps - 1) / warps));
    for (long long x0 = u.begin + warp * batch; x0 < u.end; x0 += static_cast<long long>(warps) * batch) {
        Segment s = {0, 0};
        if (lane < batch && x0 + lane < u.end)
            s = segment_of(a, x0 + lane, u.first, u.last);
        for (int t = lane / a.lanes; t - lane / a.lanes < batch; t += WARP / a.lanes) {
            const long long begin = __shfl_sync(FTB_FULL_WARP, s.begin, t),
                            end = __shfl_sync(FTB_FULL_WARP, s.end, t);
            for (long long p = begin + lane % a.lanes; p < end; p += a.lanes)
                each(__ldg(a.bcol + p));
        }
    }
}

/* more(unit, words) adds what is not among B's entries. */
template <int BITS, class MORE>
__device__ __forceinline__ void count_unit(const ftb_spgemm_arguments &a, MORE more)
{
    FTB_DYNAMIC_SHARED(unsigned, memory);
    unsigned *const words = memory + FTB_SPGEMM_HEAD_BYTES / 4;
    const int unit = __ldg(a.order + blockIdx.x);
    const ftb_spgemm_unit u = a.units[unit];
    const int n = u.last - u.first;
    for (int w = static_cast<int>(threadIdx.x); w < (n * BITS + 31) / 32; w += static_cast<int>(blockDim.x))
        words[w] = 0;
    __syncthreads();
    more(u, words);
    walk_columns(a, u, [&](int column) { add_many<BITS>(words, column - u.first, 1); });
    __syncthreads();
    const auto count = [&](int c) {
        return a.off_diagonal && u.first + c == u.row ? 0 : count_at<BITS>(words, c);
    };
    if (a.statistics) {
        read_statistics(a, unit, n, count);
        return;
    }
    read_out(
        a, reinterpret_cast<int *>(memory), unit, n, [&](int c) { return count(c) > 0; },
        [&](int c, long long at) {
            a.cols[at] = u.first + c;
            static_cast<unsigned *>(a.cells)[at] = count(c);
        });
}

/* ---- short rows */

/* Where a column's slot is looked for first. */
__device__ __forceinline__ int slot_at(int slots, int column)
{
    return static_cast<int>(static_cast<unsigned>(column) * 2654435769u >> 16) & (slots - 1);
}

/* A row's table: the column of each slot, or -1. Most columns are there already: a slot is taken only where
 * it looks free. */
__device__ __forceinline__ int slot_of(int *columns, int slots, int column)
{
    for (int s = slot_at(slots, column);; s = (s + 1) & (slots - 1)) {
        int found = ftb_load_shared(columns + s);
        if (found == -1)
            found = atomicCAS(columns + s, -1, column);
        if (found == -1 || found == column)
            return s;
    }
}

/* The slots that are taken, to list[]; returns how many. */
__device__ __forceinline__ int list_taken(const ftb_spgemm_arguments &a, const int *columns, int without,
                                          int *list)
{
    const int lane = static_cast<int>(threadIdx.x) % WARP;
    int n = 0;
    for (int s = lane; s - lane < a.slots; s += WARP) {
        const bool taken = s < a.slots && columns[s] >= 0 && columns[s] != without;
        const unsigned found = __ballot_sync(FTB_FULL_WARP, taken);
        if (taken)
            list[n + __popc(found & ((1u << lane) - 1))] = s;
        n += __popc(found);
    }
    __syncwarp();
    return n;
}

/* Of a row of a few: what read_statistics makes of a block's cells. */
template <class T>
__device__ __forceinline__ void hash_statistics(const ftb_spgemm_arguments &a, int unit, int n,
                                                const int *list, const T *cells)
{
    ftb_spgemm_count s = {0, static_cast<unsigned>(n), FTB_FULL_WARP, 0};
    for (int e = static_cast<int>(threadIdx.x) % WARP; e < n; e += WARP) {
        const unsigned one = static_cast<unsigned>(cells[list[e]]);
        s.sum += one;
        s.least = min(s.least, one);
        s.most = max(s.most, one);
    }
    for (int far = WARP / 2; far > 0; far /= 2) {
        s.sum += __shfl_xor_sync(FTB_FULL_WARP, s.sum, far);
        s.least = min(s.least, __shfl_xor_sync(FTB_FULL_WARP, s.least, far));
        s.most = max(s.most, __shfl_xor_sync(FTB_FULL_WARP, s.most, far));
    }
    if (threadIdx.x % WARP == 0)
        a.statistics[unit] = s;
}

template <class M> __device__ __forceinline__ void hash_unit(const ftb_spgemm_arguments &a)
{
    constexpr int CELL = Cells<M>::BYTES;
    FTB_DYNAMIC_SHARED(unsigned char, memory);
    const int lane = static_cast<int>(threadIdx.x) % WARP, warp = static_cast<int>(threadIdx.x) / WARP;
    const long long place = static_cast<long long>(blockIdx.x) * (FTB_SPGEMM_HASH_BLOCK / WARP) + warp;
    if (place >= a.norder)
        return; /* the whole warp */
    const int unit = __ldg(a.order + place);
    const ftb_spgemm_unit u = a.units[unit];
    unsigned char *const own = memory + warp * FTB_SPGEMM_HASH_BYTES(a.slots, CELL);
    Cells<M> cells(own, a.slots);
    int *const columns = reinterpret_cast<int *>(own + a.slots * CELL), *const list = columns + a.slots;
    for (int s = lane; s < a.slots; s += WARP) {
        cells.clear(s);
        columns[s] = -1;
    }
    __syncwarp();
    walk_products<M>(a, u, u.first, u.last, [&](const M &message, int column, long long p) {
        cells.add(message, slot_of(columns, a.slots, column), column, p);
    });
    const int n = list_taken(a, columns, a.off_diagonal ? u.row : -1, list);
    if (a.statistics) {
        hash_statistics(a, unit, n, list, cells.values);
        return;
    }
    for (int e = lane; e < n; e += WARP) {
        const int column = columns[list[e]];
        int rank = 0;
        for (int other = 0; other < n; other++)
            rank += columns[list[other]] < column;
        cells.put(a, list[e], column, u.at + rank);
    }
    if (lane == 0)
        a.counts[unit] = n;
}

} // namespace

#endif

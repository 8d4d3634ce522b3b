/* Rows of a sparse x sparse product under a mask (spgemm_rows.cuh): a warp has some entries of a mask's row,
 * whose columns are in a hash before products come; those of other columns are left. Read out in the mask's
 * order. Products in columns before the first and behind the last of them are never looked at. */
#ifndef FTB_SPGEMM_MASK_CUH
#define FTB_SPGEMM_MASK_CUH

#include "gpu/kernels/spgemm_rows.cuh"

namespace
{

/* Whether the mask's entry e lets its position through. */
__device__ __forceinline__ bool admits(const ftb_spgemm_arguments &a, long long e)
{
    if (!a.mask_values)
        return true;
    const unsigned long long value =
        a.mask_size == 1   ? static_cast<const unsigned char *>(a.mask_values)[e]
        : a.mask_size == 2 ? static_cast<const unsigned short *>(a.mask_values)[e]
        : a.mask_size == 4 ? static_cast<const unsigned *>(a.mask_values)[e]
                           : static_cast<const unsigned long long *>(a.mask_values)[e];
    return (value & a.mask_bits) != 0;
}

/* The slot of a column; -1: it has none. */
__device__ __forceinline__ int find_slot(const int *columns, int slots, int column)
{
    for (int s = slot_at(slots, column);; s = (s + 1) & (slots - 1)) {
        if (columns[s] == column)
            return s;
        if (columns[s] < 0)
            return -1;
    }
}

template <class M> __device__ __forceinline__ void mask_unit(const ftb_spgemm_arguments &a)
{
    constexpr int CELL = Cells<M>::BYTES;
    FTB_DYNAMIC_SHARED(unsigned char, memory);
    const int lane = static_cast<int>(threadIdx.x) % WARP, warp = static_cast<int>(threadIdx.x) / WARP;
    const long long place = static_cast<long long>(blockIdx.x) * (FTB_SPGEMM_HASH_BLOCK / WARP) + warp;
    if (place >= a.norder)
        return; /* the whole warp */
    const int unit = __ldg(a.order + place);
    const ftb_spgemm_unit u = a.units[unit];
    unsigned char *const own = memory + warp * FTB_SPGEMM_MASK_BYTES(a.slots, CELL);
    int *const columns = reinterpret_cast<int *>(own), *const entry = columns + a.slots;
    Cells<M> cells(entry + a.slots, a.slots / 2);
    for (int s = lane; s < a.slots; s += WARP)
        columns[s] = -1;
    for (int e = lane; e < u.masked; e += WARP)
        cells.clear(e);
    __syncwarp();
    for (int e = lane; e < u.masked; e += WARP)
        if (admits(a, u.mask + e))
            entry[slot_of(columns, a.slots, __ldg(a.mask_col + u.mask + e))] = e;
    __syncwarp();
    walk_products<M>(a, u, u.first, u.last, [&](const M &message, int column, long long p) {
        const int s = find_slot(columns, a.slots, column);
        if (s >= 0)
            cells.add(message, entry[s], column, p);
    });
    int n = 0;
    for (int e = lane; e - lane < u.masked; e += WARP) {
        const bool has = e < u.masked && cells.there(e);
        const unsigned found = __ballot_sync(FTB_FULL_WARP, has);
        if (has)
            cells.put(a, e, __ldg(a.mask_col + u.mask + e), u.at + n + __popc(found & ((1u << lane) - 1)));
        n += __popc(found);
    }
    if (lane == 0)
        a.counts[unit] = n;
}

} // namespace

#endif

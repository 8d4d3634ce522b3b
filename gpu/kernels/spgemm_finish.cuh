/* What becomes of the entries of sparse x sparse products before they are stored: cells are made into values,
 * and those that filters drop make way, in their unit's room. A warp takes a unit, 32 entries at a time, and
 * moves what stays down to where it goes. */
#ifndef FTB_SPGEMM_FINISH_CUH
#define FTB_SPGEMM_FINISH_CUH

#include "gpu/kernels/kernel.cuh"
#include "gpu/kernels/spgemm_rows.h"

namespace
{

/* A block's warps take units, or rows. */
__device__ __forceinline__ long long warp_place()
{
    return static_cast<long long>(blockIdx.x) * (FTB_SPGEMM_STEP_BLOCK / 32) + threadIdx.x / 32;
}

/* one(i, j, at) is whether entry (i, j), whose cell is at `at`, stays; then put(at, to) writes its value. */
template <class ONE, class PUT>
__device__ __forceinline__ void finish_unit(const ftb_spgemm_finish_arguments &a, ONE one, PUT put)
{
    const long long number = warp_place();
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (number >= a.nunits)
        return; /* the whole warp */
    const ftb_spgemm_unit *const u = a.units + number;
    const int n = a.counts[number];
    long long to = u->at;
    __syncwarp();
    for (int t = lane; t - lane < n; t += 32) {
        const long long at = u->at + t;
        const int j = t < n ? a.cols[at] : 0;
        const bool stays = t < n && (!a.keep || a.keep[j]) && one(u->row, j, at);
        const unsigned found = __ballot_sync(FTB_FULL_WARP, stays);
        const long long place = to + __popc(found & ((1u << lane) - 1));
        __syncwarp(); /* all have read what may be overwritten */
        if (stays) {
            a.cols[place] = j;
            put(at, place);
        }
        to += __popc(found);
    }
    if (lane == 0)
        a.counts[number] = static_cast<int>(to - u->at);
}

/* Value v of the entry whose cell is at `at`, of cells that FP64 can hold. */
__device__ __forceinline__ double number_at(const ftb_spgemm_finish_arguments &a, long long at, int v)
{
    if (a.cell == FTB_SPGEMM_COUNT)
        return static_cast<const unsigned *>(a.cells)[at];
    if (a.cell == FTB_SPGEMM_F32)
        return static_cast<double>(static_cast<const float *>(a.cells)[at * a.cell_width + v]);
    if (a.cell == FTB_SPGEMM_F64)
        return static_cast<const double *>(a.cells)[at * a.cell_width + v];
    const ftb_spgemm_field f = a.field[v];
    const unsigned long long word =
        static_cast<const unsigned long long *>(a.cells)[at * a.cell_width + f.word];
    return static_cast<double>(word >> f.shift & ((1ull << f.bits) - 1)) * f.unit;
}

/* What a value's first bytes are. */
__device__ __forceinline__ void take_bits(unsigned char &v, unsigned long long bits)
{
    v = static_cast<unsigned char>(bits);
}
__device__ __forceinline__ void take_bits(float &v, unsigned long long bits)
{
    v = __uint_as_float(static_cast<unsigned>(bits));
}
__device__ __forceinline__ void take_bits(double &v, unsigned long long bits)
{
    v = __longlong_as_double(static_cast<long long>(bits));
}
__device__ __forceinline__ void take_bits(long long &v, unsigned long long bits)
{
    v = static_cast<long long>(bits);
}
__device__ __forceinline__ void take_bits(unsigned long long &v, unsigned long long bits) { v = bits; }

/* The same in the type that values have. */
template <class T>
__device__ __forceinline__ T value_at(const ftb_spgemm_finish_arguments &a, long long at, int v)
{
    if (a.constant) {
        T same;
        take_bits(same, a.same);
        return same;
    }
    return a.cell == FTB_SPGEMM_SAME ? static_cast<const T *>(a.cells)[at * a.cell_width + v]
                                     : static_cast<T>(number_at(a, at, v));
}

} // namespace

#endif

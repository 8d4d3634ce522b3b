/* Sums over the entries of rows, of as many values as an entry has, in FP64:
 *
 *     sum(i, f) = sum over the entries e of row i of value(p, e, f)
 *
 * A warp takes a piece p of a row, and in y of the grid 32 values of each entry: up to 32 of them side by
 * side, and as many entries as then are lanes left. Pieces of rows that were cut leave their sums, which
 * join_cut adds in the order of the pieces. Sums of lanes are joined as a tree. Bits depend on the shape
 * alone. */
#ifndef FTB_ENTRY_SUMS_CUH
#define FTB_ENTRY_SUMS_CUH

#include "gpu/kernels/entry_sums.h"
#include "gpu/kernels/kernel.cuh"

/* value: of entry e of piece p, as above; put(p, f, sum): by one lane for each whole row and value. */
template <class VALUE, class PUT>
static __device__ __forceinline__ void sum_entries(const ftb_entry_sums &s, VALUE value, PUT put)
{
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, tile = static_cast<int>(blockIdx.y);
    const long long number = static_cast<long long>(blockIdx.x) * (FTB_ENTRY_SUMS_BLOCK / 32) + thread / 32;
    if (number >= s.npieces)
        return;
    const ftb_spmm_piece p = s.pieces[number];
    int across = 1; /* lanes side by side */
    while (across < 32 && across < s.width - tile * 32)
        across *= 2;
    const int f = tile * 32 + lane % across;
    double sum = 0;
    for (long long e = p.begin + lane / across; f < s.width && e < p.end; e += 32 / across)
        sum += value(p, e, f);
    for (int far = across; far < 32; far *= 2)
        sum += __shfl_xor_sync(FTB_FULL_WARP, sum, far);
    if (lane >= across || f >= s.width)
        return;
    if (p.slot < 0)
        put(p, f, sum);
    else
        s.partial[p.slot * static_cast<long long>(s.width) + f] = sum;
}

/* put(row, f, sum): by one thread for each value. */
template <class PUT>
static __device__ __forceinline__ void join_cut(const ftb_entry_sums &s, const ftb_spmm_cut &cut, PUT put)
{
    const int f = static_cast<int>(blockIdx.x) * FTB_ENTRY_SUMS_BLOCK + static_cast<int>(threadIdx.x);
    if (f >= s.width)
        return;
    double sum = 0;
    for (int k = 0; k < cut.count; k++)
        sum += s.partial[(cut.slot + k) * static_cast<long long>(s.width) + f];
    put(cut.row, f, sum);
}

#endif

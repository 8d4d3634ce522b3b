/* What winning entries of min and max stand for: the values of their columns, and of a gradient the sums of
 * rows into the columns that won them, with whether a column won anything.
 *
 * Those sums are by column, over the entries of the transpose: each asks the rows of its entries whether it
 * won there, so that no two threads add to one value and the order is fixed. That reads a winner for each
 * value of each entry, 8 bytes of it, in whole sectors, where spreading rows would read each row once: what
 * it takes is about twice the product that found them. */
#include "gpu/kernels/entry_sums.cuh"
#include "gpu/kernels/items.cuh"
#include "gpu/kernels/winning_entries.h"

namespace
{

template <class WORD> __device__ __forceinline__ void winners(const ftb_winners_arguments &a)
{
    long long i, f;
    if (!find_item(a.items, i, f))
        return;
    const long long e = a.won[i * a.ldwon + f];
    const bool is = e >= 0 && e < a.nvals;
    static_cast<WORD *>(a.out)[i * a.items.width + f] =
        is ? static_cast<const WORD *>(a.x)[__ldg(a.colidx + e) * a.ldx + f % a.xvalues] : WORD(0);
}

template <class T>
__device__ __forceinline__ void put(const ftb_winners_grad_arguments &a, int row, int f, double sum)
{
    static_cast<T *>(a.out)[row * static_cast<long long>(a.entries.width) + f] = static_cast<T>(sum);
}

template <class T> __device__ __forceinline__ void add_up(const ftb_winners_grad_arguments &a)
{
    sum_entries(
        a.entries,
        [&](const ftb_spmm_piece &, long long t, int f) {
            const long long i = __ldg(a.colidx + t);
            return __ldg(a.won + i * a.ldwon + f) == __ldg(a.from + t)
                       ? static_cast<double>(__ldg(static_cast<const T *>(a.x) + i * a.ldx + f))
                       : 0;
        },
        [&](const ftb_spmm_piece &p, int f, double sum) { put<T>(a, p.row, f, sum); });
}

} // namespace

#define WINNERS(bytes, word)                                                                                 \
    extern "C" __global__ void __launch_bounds__(FTB_ROW_ITEMS_BLOCK)                                        \
        winners_##bytes(ftb_winners_arguments a)                                                             \
    {                                                                                                        \
        winners<word>(a);                                                                                    \
    }                                                                                                        \
    FTB_KERNEL(winners_##bytes);
#define GRAD(type)                                                                                           \
    extern "C" __global__ void __launch_bounds__(FTB_ENTRY_SUMS_BLOCK)                                       \
        winners_grad_##type(ftb_winners_grad_arguments a)                                                    \
    {                                                                                                        \
        add_up<type>(a);                                                                                     \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(FTB_ENTRY_SUMS_BLOCK)                                       \
        winners_grad_##type##_cut(ftb_winners_grad_arguments a, const ftb_spmm_cut *cuts)                    \
    {                                                                                                        \
        join_cut(a.entries, cuts[blockIdx.y],                                                                \
                 [&](int row, int f, double sum) { put<type>(a, row, f, sum); });                            \
    }                                                                                                        \
    FTB_KERNEL(winners_grad_##type);                                                                         \
    FTB_KERNEL(winners_grad_##type##_cut);
FTB_WINNERS(WINNERS)
FTB_WINNERS_GRAD(GRAD)

/* A warp looks at a row's entries one by one, 32 values side by side, until one has won. */
extern "C" __global__ void __launch_bounds__(FTB_WINNERS_ANY_BLOCK) winners_any(ftb_winners_grad_arguments a)
{
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
    const long long row = static_cast<long long>(blockIdx.x) * (FTB_WINNERS_ANY_BLOCK / 32) + thread / 32;
    if (row >= a.nrows)
        return;
    bool any = false;
    for (long long t = a.rowptr[row]; t < a.rowptr[row + 1] && !any; t++) {
        const long long i = __ldg(a.colidx + t), e = __ldg(a.from + t);
        for (int f = 0; f < a.entries.width && !any; f += 32)
            any = __any_sync(FTB_FULL_WARP,
                             f + lane < a.entries.width && __ldg(a.won + i * a.ldwon + f + lane) == e);
    }
    if (lane == 0)
        a.any[row] = any;
}
FTB_KERNEL(winners_any);

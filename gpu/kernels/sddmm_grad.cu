/* Gradients of leaky_relu(src + dst) on entries, FP32, by the rows that are walked: those of a pattern, or of
 * its transpose, whose entries are where a list says:
 *
 *     out(i, h) = sum over the entries e = (i, j) of row i of grad(e, h) (own(i, h) + other(j, h) > 0 ? 1 :
 * slope)
 *
 * (entry_sums.cuh). Sectors of 32 bytes, of n entries in r rows, heads a multiple of 8:
 *
 *     n (1 / 8 for the column + heads / 8 of other + heads / 8 of grad)  +  r (4 for the piece + 2 heads / 8)
 *
 * and n / 4 more for where entries are. Of fewer heads `other`, and grad where its entries lie apart, still
 * take a sector each. The limit is the gather of other and of grad. */
#include "gpu/kernels/entry_sums.cuh"
#include "gpu/kernels/sddmm_grad_sums.h"

extern "C" __global__ void __launch_bounds__(FTB_ENTRY_SUMS_BLOCK)
    sddmm_grad_f32_pieces(ftb_sddmm_grad_arguments a)
{
    const long long heads = a.entries.width;
    sum_entries(
        a.entries,
        [&](const ftb_spmm_piece &p, long long e, int h) {
            const float score =
                __ldg(a.own + p.row * a.ldown + h) + __ldg(a.other + __ldg(a.colidx + e) * a.ldother + h);
            const float grad = __ldg(a.grad + (a.from ? __ldg(a.from + e) : e) * heads + h);
            return static_cast<double>(score > 0 ? grad : grad * a.slope);
        },
        [&](const ftb_spmm_piece &p, int h, double sum) {
            a.out[p.row * heads + h] = static_cast<float>(sum);
        });
}
extern "C" __global__ void __launch_bounds__(FTB_ENTRY_SUMS_BLOCK)
    sddmm_grad_f32_cut(ftb_sddmm_grad_arguments a, const ftb_spmm_cut *cuts)
{
    join_cut(a.entries, cuts[blockIdx.y], [&](int row, int h, double sum) {
        a.out[row * static_cast<long long>(a.entries.width) + h] = static_cast<float>(sum);
    });
}
FTB_KERNEL(sddmm_grad_f32_pieces);
FTB_KERNEL(sddmm_grad_f32_cut);

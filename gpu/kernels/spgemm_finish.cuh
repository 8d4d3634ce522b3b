/* What becomes of the entries of sparse x sparse products before they are stored: cells are made into values,
 * and those that filters drop make way, in their unit's room. A warp takes a unit, 32 entries at a time, or a
 * block does, and moves what stays down to where it goes. */
#ifndef FTB_SPGEMM_FINISH_CUH
#define FTB_SPGEMM_FINISH_CUH

#include "gpu/kernels/kernel.cuh"
#include "gpu/kernels/spgemm_teams.cuh"

namespace
{

/* one(i, j, at) is whether entry (i, j), whose cell is at `at`, stays; then put(at, to) writes its value. */
template <class TEAM, class ONE, class PUT>
__device__ __forceinline__ void finish_unit(const ftb_spgemm_finish_arguments &a, long long number, TEAM team,
                                            ONE one, PUT put)
{
    const ftb_spgemm_unit *const u = a.units + number;
    const int n = a.counts[number];
    long long to = u->at;
    team.sync();
    for (int t = team.rank; t - team.rank < n; t += TEAM::SIZE) {
        const long long at = u->at + t;
        const int j = t < n ? a.cols[at] : 0;
        int all;
        const bool stays = t < n && (!a.keep || a.keep[j]) && one(u->row, j, at);
        const long long place = to + team.before(stays, &all);
        team.sync(); /* all have read what may be overwritten */
        if (stays) {
            a.cols[place] = j;
            put(at, place);
        }
        to += all;
    }
    if (team.rank == 0)
        a.counts[number] = static_cast<int>(to - u->at);
}

template <class ONE, class PUT>
__device__ __forceinline__ void finish_units(const ftb_spgemm_finish_arguments &a, ONE one, PUT put)
{
    for_teams(
        a.nunits, [&](long long number) { return a.counts[number]; },
        [&](long long number, auto team) { finish_unit(a, number, team, one, put); });
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

/* Products of matrices that a warp makes (mma.sync): D += A B, of 16 x 8 values, over 8 of TF32 or 16 of FP16
 * or BF16. With g = lane / 4 and t = lane % 4 a lane has, of
 *
 *     D          (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1)
 *     A, TF32    (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4)
 *     A, 16 bit  two from (g, 2t), (g + 8, 2t), (g, 2t + 8), (g + 8, 2t + 8) on, the first in the lower half
 *     B, TF32    (t, g), (t + 4, g)
 *     B, 16 bit  two, one below the other, from (2t, g), (2t + 8, g) on
 *
 * (PTX ISA, "Matrix fragments for mma.m16n8k8", "mma.m16n8k16"). Of TF32 the last 13 bits do not count. Terms
 * are added in FP32, in order; in which order a device does, and how it rounds, nobody says. */
#include "simt_machine.h"

#include <cstring>

namespace simt
{

namespace
{

constexpr int ROWS = 16, COLUMNS = 8, MOST = 16;

struct Matrices {
    float a[ROWS][MOST], b[MOST][COLUMNS];
};

float value_of(simt_call kind, unsigned bits)
{
    const unsigned whole = kind == SIMT_MULTIPLY_TF32 ? bits & ~0x1fffu : bits << 16;
    float value;
    if (kind == SIMT_MULTIPLY_FP16)
        return simt_half_to_float(static_cast<unsigned short>(bits));
    std::memcpy(&value, &whole, sizeof value);
    return value;
}

void put(Matrices &m, simt_call kind, int lane, const simt_fragments &f)
{
    const int g = lane / 4, t = lane % 4;
    for (int k = 0; k < 4; k++) {
        const int row = g + k % 2 * 8;
        if (kind == SIMT_MULTIPLY_TF32) {
            m.a[row][t + k / 2 * 4] = value_of(kind, f.a[k]);
            continue;
        }
        for (int half = 0; half < 2; half++)
            m.a[row][2 * t + half + k / 2 * 8] = value_of(kind, f.a[k] >> 16 * half & 0xffff);
    }
    for (int k = 0; k < 2; k++) {
        if (kind == SIMT_MULTIPLY_TF32) {
            m.b[t + k * 4][g] = value_of(kind, f.b[k]);
            continue;
        }
        for (int half = 0; half < 2; half++)
            m.b[2 * t + half + k * 8][g] = value_of(kind, f.b[k] >> 16 * half & 0xffff);
    }
}

simt_fragments &fragments_of(const Lane &l)
{
    return *reinterpret_cast<simt_fragments *>(static_cast<uintptr_t>(l.call.value));
}

} // namespace

void multiply(Warp &w, simt_call kind)
{
    static Matrices m;
    const int inner = kind == SIMT_MULTIPLY_TF32 ? 8 : 16;
    for (const Lane *l : w.lanes)
        put(m, kind, static_cast<int>(l->lane), fragments_of(*l));
    for (const Lane *l : w.lanes) {
        const int g = static_cast<int>(l->lane) / 4, t = static_cast<int>(l->lane) % 4;
        for (int k = 0; k < 4; k++)
            for (int j = 0; j < inner; j++)
                fragments_of(*l).d[k] += m.a[g + k / 2 * 8][j] * m.b[j][2 * t + k % 2];
    }
}

} // namespace simt

using namespace simt;

extern "C" void simt_multiply(simt_call kind, simt_fragments *own, simt_site site)
{
    (void)simt_warp(kind, 0xffffffffu, reinterpret_cast<uintptr_t>(own), 0, 32, site);
}

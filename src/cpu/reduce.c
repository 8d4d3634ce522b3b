/* Which kernels reduce values (monoid_kernels.c) and messages (reduce_kernels.c), and the rarer reduction
 * that notes the winners. */
#include "cpu/reduce.h"

#include "core/isa.h"
#include "expr/scalar.h"

extern const ftb_segment ftb_segments_baseline[FTB_NMONOIDS][FTB_NCLASSES];
#ifdef FTB_X86_CELLS
extern const ftb_segment ftb_segments_avx2[FTB_NMONOIDS][FTB_NCLASSES];
extern const ftb_segment ftb_segments_avx512[FTB_NMONOIDS][FTB_NCLASSES];
#endif

extern const ftb_combine ftb_combines_baseline[FTB_NMONOIDS][FTB_NCLASSES];
#ifdef FTB_X86_CELLS
extern const ftb_combine ftb_combines_avx2[FTB_NMONOIDS][FTB_NCLASSES];
extern const ftb_combine ftb_combines_avx512[FTB_NMONOIDS][FTB_NCLASSES];
#endif

void ftb_monoid_apply(ftb_monoid m, FtB_Type t, void *x, const void *y, int64_t count)
{
    ftb_combine combine = FTB_PICK(ftb_combines)[m][ftb_class(t)];
    if (combine && count > 0)
        combine(x, y, count);
}

ftb_segment ftb_segment_of(ftb_monoid m, FtB_Type reduced)
{
    return FTB_PICK(ftb_segments)[m][ftb_class(reduced)];
}

#define ARG(name, T, better)                                                                                 \
    static void name(T *restrict x, int64_t *restrict arg, const T *restrict z, int64_t count,               \
                     int64_t width, int64_t first)                                                           \
    {                                                                                                        \
        for (int64_t t = 0; t < count; t++, z += width)                                                      \
            for (int64_t f = 0; f < width; f++) {                                                            \
                T both = better(x[f], z[f]);                                                                 \
                bool wins = memcmp(&both, &x[f], sizeof both) != 0;                                          \
                arg[f] = wins ? first + t : arg[f];                                                          \
                x[f] = both;                                                                                 \
            }                                                                                                \
    }
#define ARGS(suffix, T) ARG(min_##suffix, T, ftb_least_##suffix) ARG(max_##suffix, T, ftb_greatest_##suffix)
ARGS(u8, uint8_t)
ARGS(i64, int64_t)
ARGS(u64, uint64_t)
ARGS(f32, float)
ARGS(f64, double)

void ftb_segment_arg(ftb_monoid m, FtB_Type reduced, void *x, int64_t *arg, const void *z, int64_t count,
                     int64_t width, int64_t first, bool fresh)
{
    size_t row = (size_t)width * FtB_Type_size(reduced);
    bool least = m == FTB_MIN;
    if (fresh) {
        memcpy(x, z, row);
        for (int64_t f = 0; f < width; f++)
            arg[f] = first;
        z = (const char *)z + row;
        first++;
        count--;
    }
    switch (ftb_class(reduced)) {
    case FTB_CLASS_BOOL:
        (least ? min_u8 : max_u8)(x, arg, z, count, width, first);
        break;
    case FTB_CLASS_INT64:
        (least ? min_i64 : max_i64)(x, arg, z, count, width, first);
        break;
    case FTB_CLASS_UINT64:
        (least ? min_u64 : max_u64)(x, arg, z, count, width, first);
        break;
    case FTB_CLASS_FP32:
        (least ? min_f32 : max_f32)(x, arg, z, count, width, first);
        break;
    default:
        (least ? min_f64 : max_f64)(x, arg, z, count, width, first);
    }
}

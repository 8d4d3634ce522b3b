/* The equations of several rows of factors side by side, one in each lane: alone, a row waits for its
 * divisions and for what it has just stored, which takes several times as long as the products. The matrix is
 * made R' D R in its place, Cholesky's factorization without roots. The right side is a column of it. Only
 * for kernel files. */
#ifndef FTB_CPU_FACTORIZE_ABREAST_H
#define FTB_CPU_FACTORIZE_ABREAST_H

#include "cpu/kernels/factorize_lanes.h"

enum { FEW = 4 }; /* rows of a matrix that wait for each other, and are summed together before that */

/* A value of all rows is a vector; `ld` values are between those of a row of the matrix. */
typedef struct abreast {
    real *matrix; /* what is right of the diagonal, and behind it the right side */
    real *scaled; /* its rows times -1 / D, once they are solved */
    int64_t ld;
} abreast;

/* ---- values of a row to lanes */

#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLED(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
#if FTB_REAL_SIZE == 4
typedef int32_t lane_numbers __attribute__((vector_size(FTB_VECTOR_BYTES)));
#else
typedef int64_t lane_numbers __attribute__((vector_size(FTB_VECTOR_BYTES)));
#endif
#define SHUFFLED(x, y, ...) __builtin_shuffle(x, y, (lane_numbers){__VA_ARGS__})
#endif

#if FTB_VECTOR_BYTES == 64 && FTB_REAL_SIZE == 4
#define FIRST_OF_BOTH(x, y) SHUFFLED(x, y, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define LAST_OF_BOTH(x, y) SHUFFLED(x, y, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#elif FTB_VECTOR_BYTES / FTB_REAL_SIZE == 8
#define FIRST_OF_BOTH(x, y) SHUFFLED(x, y, 0, 8, 1, 9, 2, 10, 3, 11)
#define LAST_OF_BOTH(x, y) SHUFFLED(x, y, 4, 12, 5, 13, 6, 14, 7, 15)
#elif FTB_VECTOR_BYTES / FTB_REAL_SIZE == 4
#define FIRST_OF_BOTH(x, y) SHUFFLED(x, y, 0, 4, 1, 5)
#define LAST_OF_BOTH(x, y) SHUFFLED(x, y, 2, 6, 3, 7)
#else
#define FIRST_OF_BOTH(x, y) SHUFFLED(x, y, 0, 2)
#define LAST_OF_BOTH(x, y) SHUFFLED(x, y, 1, 3)
#endif

/* Lane l of vector r becomes lane r of vector l: in each step the number of a vector and of a lane, written
 * one behind the other, are turned by a bit. */
FTB_INLINE void turn(part t[PART_LANES])
{
#pragma GCC unroll 4
    for (int step = 1; step < PART_LANES; step *= 2) {
        part both[PART_LANES];
#pragma GCC unroll 8
        for (int l = 0; l < PART_LANES / 2; l++) {
            both[2 * l] = FIRST_OF_BOTH(t[l], t[l + PART_LANES / 2]);
            both[2 * l + 1] = LAST_OF_BOTH(t[l], t[l + PART_LANES / 2]);
        }
#pragma GCC unroll 16
        for (int l = 0; l < PART_LANES; l++)
            t[l] = both[l];
    }
}

/* Values from[l] on of all rows l, `step` apart in `to`. */
FTB_INLINE void spread(real *to, int64_t step, const real *const from[PART_LANES], int64_t at)
{
    part t[PART_LANES];
    for (int l = 0; l < PART_LANES; l++)
        t[l] = part_load(from[l] + at);
    turn(t);
    for (int l = 0; l < PART_LANES; l++)
        part_store(to + l * step, t[l]);
}

/* Of `count` rows the matrices and, pitch x pitch behind them, the right sides, which are `apart` values from
 * each other. Lanes behind them get the last one. */
FTB_INLINE void spread_all(const abreast *a, const real *rows, int64_t apart, int64_t count, int64_t nfactors,
                           int64_t pitch)
{
    const real *from[PART_LANES];
    for (int64_t l = 0; l < PART_LANES; l++)
        from[l] = rows + ftb_min(l, count - 1) * apart;
    for (int64_t i = 0; i < (nfactors + FEW - 1) / FEW * FEW; i++)
        for (int64_t c = i / PART_LANES * PART_LANES; c < nfactors; c += PART_LANES)
            spread(a->matrix + i * a->ld + c * PART_LANES, PART_LANES, from, i * pitch + c);
    for (int64_t c = 0; c < nfactors; c += PART_LANES)
        spread(a->matrix + c * a->ld + nfactors * PART_LANES, a->ld, from, pitch * pitch + c);
}

/* ---- solving */

/* What FEW rows from i on take from those above, in `columns` columns from c on. */
FTB_INLINE void take_above(const abreast *a, int64_t i, int64_t c, int columns)
{
    part sum[FEW][2];
    for (int r = 0; r < FEW; r++)
        for (int k = 0; k < columns; k++)
            sum[r][k] = part_load(a->matrix + (i + r) * a->ld + (c + k) * PART_LANES);
    for (int64_t j = 0; j < i; j++)
        for (int r = 0; r < FEW; r++) {
            const part left = part_load(a->matrix + j * a->ld + (i + r) * PART_LANES);
            for (int k = 0; k < columns; k++)
                sum[r][k] =
                    part_madd(left, part_load(a->scaled + j * a->ld + (c + k) * PART_LANES), sum[r][k]);
        }
    for (int r = 0; r < FEW; r++)
        for (int k = 0; k < columns; k++)
            part_store(a->matrix + (i + r) * a->ld + (c + k) * PART_LANES, sum[r][k]);
}

/* Row j is done; those below to `last` - 1 take from it. */
FTB_INLINE void eliminate_abreast(const abreast *a, int64_t j, int64_t last, int64_t nfactors)
{
    const real *row = a->matrix + j * a->ld;
    const part inverse = part_all(-1) / part_load(row + j * PART_LANES);
    for (int64_t c = j + 1; c <= nfactors; c++) {
        const part scaled = part_load(row + c * PART_LANES) * inverse;
        part_store(a->scaled + j * a->ld + c * PART_LANES, scaled);
        for (int64_t i = j + 1; i < last; i++) {
            real *to = a->matrix + i * a->ld + c * PART_LANES;
            part_store(to, part_madd(part_load(row + i * PART_LANES), scaled, part_load(to)));
        }
    }
}

/* The solution, negative, is the column of the right side in `scaled`. Returns how many of the first lanes
 * come before one whose matrix is singular, if that is less than `count`. */
FTB_INLINE int64_t solve_abreast(const abreast *a, int64_t count, int64_t nfactors)
{
    const part none = part_all(0), most = part_all(FTB_REAL_SIZE == 4 ? (real)3e38F : (real)1e308);
    __typeof__(none < most) good = none < most; /* all lanes */
    for (int64_t i = 0; i < nfactors; i += FEW) {
        const int64_t last = ftb_min(i + FEW, nfactors);
        int64_t c = i;
        for (; i > 0 && c < nfactors; c += 2)
            take_above(a, i, c, 2);
        if (i > 0 && c == nfactors)
            take_above(a, i, c, 1);
        for (int64_t j = i; j < last; j++) {
            const part d = part_load(a->matrix + j * a->ld + j * PART_LANES);
            good &= (d > none) & (d <= most);
            eliminate_abreast(a, j, last, nfactors);
        }
    }
    for (int64_t c = nfactors - 1; c > 0; c--) {
        const part x = part_load(a->scaled + c * a->ld + nfactors * PART_LANES);
        for (int64_t i = 0; i < c; i++) {
            real *to = a->scaled + i * a->ld + nfactors * PART_LANES;
            part_store(to, part_madd(part_load(a->scaled + i * a->ld + c * PART_LANES), x, part_load(to)));
        }
    }
    int64_t lane = 0;
    while (lane < count && good[lane])
        lane++;
    return lane;
}

#endif

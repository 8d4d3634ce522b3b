/* Kernels of sparse x block -> block:
 *
 *     C(i,:) = reduce over the entries e = (i, k) of A of message(X(k,:), Y(e,:))
 *
 * Families. *Partitioned* (spmm_partitioned.c): for a tile of features and a segment of sources, the
 * sources' features are packed into memory that stays in L2, and every row visits them. *Direct*
 * (spmm_direct.c): row by row over the whole pattern. *Sliced* (spmm_sliced.c): of few features, entry by
 * entry into a slice of the rows. All add in the order of the entries, so they give the same bits, whatever
 * the segment, the tile and the threads.
 *
 * Kernels know three types: FP32, FP64, INT64. Sums are taken in the type itself; min and max ("best") on
 * *keys*, integers of the type's width that are ordered as the values are: NaN below every number, -0 below
 * 0, and for min everything turned round. Then the best is one integer instruction per vector, and exactly
 * what ftb_monoid_apply gives. A tile holds keys where its kernel compares keys. */
#ifndef FTB_CPU_SPMM_H
#define FTB_CPU_SPMM_H

#include "core/isa.h"
#include "core/partition.h"
#include "expr/rewrite.h"
#include "plan/spmm_tiles.h"
#include "verbs/spmm_product.h"

/* How the lanes of a vector find their values among an edge's: lane l has y[first + lane[l]], lane[l] < count
 * <= lanes of a vector. */
typedef struct ftb_spmm_window {
    int64_t first;
    int32_t count;
    int32_t lane[16];
} ftb_spmm_window;

/* What both families are told. */
typedef struct ftb_spmm_terms {
    ftb_form form; /* for kernels of form ANY */
    bool least;    /* best is min */
    const void *y; /* edge e's values are at y + e * ldy */
    int64_t ldy;
    ftb_spmm_window window[FTB_SPMM_VECTORS];
} ftb_spmm_terms;

/* Visits of one segment. Row i's tile is at out + (i - row0) * vectors; it is not read at a row's first
 * visit. Packed sources and the tile are aligned to vectors; best of form COPY: x holds keys. */
typedef struct ftb_spmm_visits {
    const ftb_partition *partition;
    const int64_t *rowptr;
    int64_t first, last; /* visits, all of one segment */
    const void *x;       /* column c's features are at x + c * vectors */
    void *out;
    int64_t row0;
    /* Values of a visit's edges are at message.y + (place[visit] - place0) * ldy: in the order of CSR, or of
     * visits. */
    const int64_t *place;
    int64_t place0;
    ftb_spmm_terms message;
} ftb_spmm_visits;
typedef void (*ftb_spmm_visit)(const ftb_spmm_visits *v);

/* Rows of the result, over some features. */
typedef struct ftb_spmm_rows {
    const int64_t *rowptr;
    const int32_t *colidx;
    int64_t nvals;
    int64_t first, last; /* rows, or places in `rows` */
    const int64_t *rows; /* NULL: all */
    const void *x;       /* column c's features are at x + c * ldx */
    int64_t ldx;
    void *out; /* row i's are at out + i * ldo: values, not keys; rows without entries are not written */
    int64_t ldo;
    int tail;      /* features in the last vector */
    int64_t ahead; /* sources are fetched so many entries ahead; 0: not */
    ftb_spmm_terms message;
} ftb_spmm_rows;
typedef void (*ftb_spmm_row)(const ftb_spmm_rows *r);

/* One row per kind: X(name, suffix, type, best, form, edge). Kernels are spmm_partitioned_<name> and
 * spmm_direct_<name>, in every number of vectors of FTB_SPMM_COUNTS and for every instruction set. */
#define FTB_SPMM_KERNELS(X)                                                                                  \
    X(plus_copy_f32, f32, FTB_FP32, false, FTB_FORM_COPY, FTB_EDGE_NONE)                                     \
    X(plus_mul_f32_edge, f32, FTB_FP32, false, FTB_FORM_MUL, FTB_EDGE_ONE)                                   \
    X(plus_mul_f32_heads, f32, FTB_FP32, false, FTB_FORM_MUL, FTB_EDGE_HEADS)                                \
    X(plus_mul_f32_lanes, f32, FTB_FP32, false, FTB_FORM_MUL, FTB_EDGE_LANES)                                \
    X(plus_any_f32_edge, f32, FTB_FP32, false, FTB_FORM_ANY, FTB_EDGE_ONE)                                   \
    X(plus_any_f32_lanes, f32, FTB_FP32, false, FTB_FORM_ANY, FTB_EDGE_LANES)                                \
    X(best_copy_f32, f32, FTB_FP32, true, FTB_FORM_COPY, FTB_EDGE_NONE)                                      \
    X(best_any_f32_edge, f32, FTB_FP32, true, FTB_FORM_ANY, FTB_EDGE_ONE)                                    \
    X(best_any_f32_lanes, f32, FTB_FP32, true, FTB_FORM_ANY, FTB_EDGE_LANES)                                 \
    X(plus_copy_f64, f64, FTB_FP64, false, FTB_FORM_COPY, FTB_EDGE_NONE)                                     \
    X(plus_mul_f64_edge, f64, FTB_FP64, false, FTB_FORM_MUL, FTB_EDGE_ONE)                                   \
    X(plus_mul_f64_heads, f64, FTB_FP64, false, FTB_FORM_MUL, FTB_EDGE_HEADS)                                \
    X(plus_mul_f64_lanes, f64, FTB_FP64, false, FTB_FORM_MUL, FTB_EDGE_LANES)                                \
    X(plus_any_f64_edge, f64, FTB_FP64, false, FTB_FORM_ANY, FTB_EDGE_ONE)                                   \
    X(plus_any_f64_lanes, f64, FTB_FP64, false, FTB_FORM_ANY, FTB_EDGE_LANES)                                \
    X(best_copy_f64, f64, FTB_FP64, true, FTB_FORM_COPY, FTB_EDGE_NONE)                                      \
    X(best_any_f64_edge, f64, FTB_FP64, true, FTB_FORM_ANY, FTB_EDGE_ONE)                                    \
    X(best_any_f64_lanes, f64, FTB_FP64, true, FTB_FORM_ANY, FTB_EDGE_LANES)                                 \
    X(plus_copy_i64, i64, FTB_INT64, false, FTB_FORM_COPY, FTB_EDGE_NONE)                                    \
    X(plus_any_i64_edge, i64, FTB_INT64, false, FTB_FORM_ANY, FTB_EDGE_ONE)                                  \
    X(plus_any_i64_lanes, i64, FTB_INT64, false, FTB_FORM_ANY, FTB_EDGE_LANES)                               \
    X(best_copy_i64, i64, FTB_INT64, true, FTB_FORM_COPY, FTB_EDGE_NONE)                                     \
    X(best_any_i64_edge, i64, FTB_INT64, true, FTB_FORM_ANY, FTB_EDGE_ONE)                                   \
    X(best_any_i64_lanes, i64, FTB_INT64, true, FTB_FORM_ANY, FTB_EDGE_LANES)

/* A registered kernel: a row of the table above. */
typedef struct ftb_spmm_kernel {
    const char *name;
    ftb_spmm_kind kind;
} ftb_spmm_kernel;
/* All of them; *count: how many. The same for every instruction set. (spmm_table.c) */
const ftb_spmm_kernel *ftb_spmm_kernels(int *count);
/* The number of the kernel for a kind, forms but COPY and MUL being ANY's; -1: there is none. (spmm_table.c)
 */
int ftb_spmm_find(const ftb_spmm_kind *kind);

/* Kernel number `which` for so many vectors. */
FTB_CELLS(ftb_spmm_visit, ftb_spmm_partitioned, (int which, int vectors))
FTB_CELLS(ftb_spmm_row, ftb_spmm_direct, (int which, int vectors))
FTB_CELLS(int, ftb_spmm_lanes, (FtB_Type type)) /* values of a vector */
/* The kernel for one feature, x and y without gaps (spmv.c): of the direct family, in place of those above.
 * `far`: sources do not fit L2. NULL: none for that kind. */
FTB_CELLS(ftb_spmm_row, ftb_spmv, (const ftb_spmm_kind *kind, bool far))

/* ---- slices (spmm_sliced.c): of what a slice has of 2^19 columns, COPY alone. The words of its entries, in
 * order, sources fetched `ahead` entries before they are read; row 0 of the sources is the block's first
 * column, of the results the slice's first row; both have `pitch` values a row, keys where best. */
typedef void (*ftb_spmm_slice)(const uint32_t *word, int64_t count, int64_t ahead, const void *sources,
                               void *results);
/* NULL: none for so many features. *pitch: values of a row. */
ftb_spmm_slice ftb_spmm_sliced(FtB_Type type, bool best, int64_t features, int64_t *pitch);

/* ---- tiles (spmm_tile.c). `keys`: the tile holds keys, of `least` or greatest. */

typedef struct ftb_spmm_tile {
    FtB_Type type; /* FP32, FP64, INT64 */
    bool keys, least;
    int64_t features; /* used of each row */
    int64_t pitch;    /* values of a row of the tile; of partitions a multiple of the lanes */
} ftb_spmm_tile;
/* Packs rows [0, count) of x (`stored` dtype, ldx values apart); what is beyond `features` becomes 0. The
 * tile has room for whole vectors. */
FTB_CELLS(void, ftb_spmm_pack,
          (const ftb_spmm_tile *t, void *tile, const void *x, FtB_Type stored, int64_t ldx, int64_t count))
/* Writes the rows of a tile out as values of its type, ldo apart. */
FTB_CELLS(void, ftb_spmm_unpack,
          (const ftb_spmm_tile *t, const void *tile, void *out, int64_t ldo, int64_t count))
/* x /= divisor, for n values of FP32 or FP64, which the divisor becomes first. */
FTB_CELLS(void, ftb_spmm_divide, (FtB_Type type, void *x, int64_t n, int64_t divisor))

#endif

/* Visits of a segment: T(i, tile) += sum over the visit's entries of message(X(segment + c, tile), Y(e)).
 *
 * The accumulators of a visit stay in registers; packed sources come from L2, their 16-bit numbers and the
 * edges' values in order. Rows of the tile are fetched AHEAD visits early, since their distance depends on
 * the pattern. Wins over the direct kernels when a source is used several times while its segment is in L2.
 * The idea is cache blocking by sources, as in Beamer, Asanovic, Patterson, "Reducing PageRank communication
 * via propagation blocking", IPDPS 2017, for rows of features instead of numbers.
 *
 * Cells: instruction sets */
#include "cpu/kernels/spmm_lanes.h"

#define AHEAD 8         /* visits; 4 to 12 measure the same within noise, 2 is slower */
#define EDGE_BYTES 2048 /* at most, of a visit's values, fetched with the row */

#pragma GCC diagnostic ignored "-Wpsabi" /* vectors are passed between inlined functions only */

INLINE void fetch(const void *from, int64_t bytes)
{
    for (int64_t line = 0; line < bytes; line += 64)
        __builtin_prefetch((const char *)from + line);
}

#define VISITS(suffix, T)                                                                                    \
    INLINE void visits_##suffix(const ftb_spmm_visits *v, int nv, bool best, ftb_form constant,              \
                                ftb_spmm_edge edge)                                                          \
    {                                                                                                        \
        enum { L = LANES(T) };                                                                               \
        const ftb_form form = constant == FTB_FORM_ANY ? v->message.form : constant;                         \
        const int flip = v->message.least ? -1 : 0;                                                          \
        const int64_t *rowptr = v->rowptr, *start = v->partition->start, *entry = v->partition->entry;       \
        const int64_t *place = v->place;                                                                     \
        const int64_t row0 = v->row0, place0 = v->place0, ldy = v->message.ldy, end = v->last;               \
        const uint32_t *row = v->partition->row;                                                             \
        const uint16_t *column = v->partition->column;                                                       \
        const T *xs = v->x, *ys = v->message.y;                                                              \
        T *outs = v->out;                                                                                    \
        spread lanes[FTB_SPMM_VECTORS];                                                                      \
        const v_##suffix none = best ? NONE_##suffix : (v_##suffix){0};                                      \
        int64_t at[FTB_SPMM_VECTORS];                                                                        \
        for (int n = 0; n < nv && edge > FTB_EDGE_ONE; n++) {                                                \
            at[n] = v->message.window[n].first;                                                              \
            lanes[n] = spread_of(&v->message.window[n], sizeof(T));                                          \
        }                                                                                                    \
        for (int64_t visit = v->first; visit < end; visit++) {                                               \
            const int64_t i = row[visit], last = start[visit + 1], soon = ftb_min(visit + AHEAD, end - 1);   \
            const T *y = ys + (place[visit] - place0) * ldy;                                                 \
            T *out = outs + (i - row0) * (nv * L);                                                           \
            v_##suffix acc[FTB_SPMM_VECTORS];                                                                \
            fetch(outs + (row[soon] - row0) * (nv * L), nv * VECTOR);                                        \
            if (edge != FTB_EDGE_NONE)                                                                       \
                fetch(ys + (place[soon] - place0) * ldy,                                                     \
                      ftb_min((start[soon + 1] - start[soon]) * ldy * (int64_t)sizeof(T), EDGE_BYTES));      \
            if (entry[visit] == rowptr[i])                                                                   \
                for (int n = 0; n < nv; n++)                                                                 \
                    acc[n] = none;                                                                           \
            else                                                                                             \
                for (int n = 0; n < nv; n++)                                                                 \
                    acc[n] = *(const v_##suffix *)(out + n * L);                                             \
            for (int64_t e = start[visit]; e < last; e++, y += ldy) {                                        \
                const T *x = xs + (int64_t)column[e] * (nv * L);                                             \
                v_##suffix all = {0};                                                                        \
                if (edge == FTB_EDGE_ONE)                                                                    \
                    all = splat_##suffix(*y);                                                                \
                for (int n = 0; n < nv; n++)                                                                 \
                    acc[n] = gather_##suffix(                                                                \
                        acc[n], best, true, form, *(const v_##suffix *)(x + n * L),                          \
                        edge > FTB_EDGE_ONE ? value_of_##suffix(edge, y, at, lanes, n) : all, flip);         \
            }                                                                                                \
            for (int n = 0; n < nv; n++)                                                                     \
                *(v_##suffix *)(out + n * L) = acc[n];                                                       \
        }                                                                                                    \
    }
#define NONE_f32 ((v_f32)((v_k32){0} + LOWEST_f32))
#define NONE_f64 ((v_f64)((v_k64){0} + LOWEST_f64))
#define NONE_i64 ((v_i64)((v_k64){0} + LOWEST_i64))
VISITS(f32, float)
VISITS(f64, double)
VISITS(i64, uint64_t)

#define ONE(name, suffix, best, form, edge, vectors)                                                         \
    static void name##_##vectors(const ftb_spmm_visits *v) { visits_##suffix(v, vectors, best, form, edge); }
#define DEFINE(name, suffix, type, best, form, edge) FTB_SPMM_COUNTS(ONE, name, suffix, best, form, edge)
FTB_SPMM_KERNELS(DEFINE)

#define ENTRY(name, vectors) [vectors] = name##_##vectors,
#define ROW(name, suffix, type, best, form, edge) {FTB_SPMM_COUNTS(ENTRY, name)},
ftb_spmm_visit FTB_CELL(ftb_spmm_partitioned)(int which, int vectors)
{
    static const ftb_spmm_visit registry[][FTB_SPMM_VECTORS + 1] = {FTB_SPMM_KERNELS(ROW)};
    return registry[which][vectors];
}

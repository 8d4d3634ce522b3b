/* Layer-wise picks: k columns for all rows of a hop together, of each tree, which keep their entries in
 * these.
 *
 * Columns are drawn k times, with chances q_j in proportion to the sum of w_ij^2, over the rows at hand
 * (LADIES) or over all rows (FastGCN). An entry whose column was drawn n times stands for n / (k q_j) of
 * itself, so that sums over a row are right in the mean, also where some entries are not there. Chen, Ma and
 * Xiao, "FastGCN", ICLR 2018; Zou et al., "Layer-dependent importance sampling", NeurIPS 2019. */
#include "cpu/sample/row_filter.h"
#include "cpu/sample/rows_columns.h"

#include "core/draws.h"

#include <math.h>
#include <stdlib.h>

#define LONG_ROW                                                                                             \
    16 /* rows of more entries than that times the columns drawn: these are looked for in them               \
        */

typedef struct layer {
    const ftb_together *g;
    const ftb_sample_product *s;
    ftb_rows_columns c; /* LADIES */
    double *sums;       /* its sums of squares, each with those before it */
    const double *all;  /* these, or those of all columns */
    int64_t ncolumns;   /* of these */
    int64_t *drawn;     /* k; then each once, ascending: numbers, and columns */
    double *scale;      /* n / (k q) of each */
    int64_t ndrawn;
} layer;

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* ---- chances */

static GrB_Info weigh_columns(layer *l)
{
    const ftb_together *g = l->g;
    l->sums = ftb_new(l->s->ctx, l->c.ncolumns, sizeof *l->sums);
    if (!l->sums)
        return ftb_nomem();
    double sum = 0;
    for (int64_t n = 0; n < l->c.ncolumns; n++) {
        double here = 0;
        for (int64_t at = l->c.begin[n]; at < l->c.begin[n + 1]; at++) {
            const int64_t t = ftb_columns_entry(&l->c, at);
            const double w = g->weight[g->offset[ftb_together_row(g, l->c.row[t])] + l->c.place[t]];
            here += w * w;
        }
        l->sums[n] = sum += here;
    }
    l->all = l->sums;
    l->ncolumns = l->c.ncolumns;
    return GrB_SUCCESS;
}

static GrB_Info check_total(const layer *l)
{
    const double total = l->ncolumns > 0 ? l->all[l->ncolumns - 1] : 0;
    if (l->ncolumns == 0 || (total > 0 && total < (double)INFINITY))
        return GrB_SUCCESS;
    return ftb_fail(GrB_INVALID_VALUE,
                    "key: the squares of the weights of %s have the sum %g; expected a number above 0",
                    l->sums ? "a hop's rows" : "A", total);
}

static void draw_columns(layer *l)
{
    const ftb_sample_product *s = l->s;
    const uint64_t seed = ftb_random_mix(l->g->seed, 0, FTB_DRAW_LAYER);
    const double total = l->ncolumns > 0 ? l->all[l->ncolumns - 1] : 0;
    if (!(total > 0) || s->k == 0)
        return;
    const double most = nextafter(total, 0);
    for (int64_t d = 0; d < s->k; d++) {
        const uint64_t high = ftb_draw(seed, 0, l->g->stream, (uint64_t)d, false),
                       more = ftb_draw(seed, 0, l->g->stream, (uint64_t)d, true);
        const double aim = (double)((high << 32 | more) >> 11) * 0x1p-53 * total;
        l->drawn[d] = ftb_first_beyond(l->all, l->ncolumns - 1, aim < most ? aim : most);
    }
    qsort(l->drawn, (size_t)s->k, sizeof *l->drawn, by_number);
    for (int64_t d = 0, next; d < s->k; d = next) {
        const int64_t n = l->drawn[d];
        const double chance = (l->all[n] - (n > 0 ? l->all[n - 1] : 0)) / total;
        for (next = d; next < s->k && l->drawn[next] == n;)
            next++;
        l->scale[l->ndrawn] = (double)(next - d) / ((double)s->k * chance);
        l->drawn[l->ndrawn++] = l->sums ? l->c.column[n] : n;
    }
}

/* ---- rows */

static void put(const layer *l, int64_t at, int64_t e, int64_t d)
{
    l->s->entries[at] = e;
    l->s->scale[at] = l->scale[d];
    ftb_sample_put_column(l->s, at);
}

static void pick_row(const layer *l, int64_t r)
{
    const ftb_sample_product *s = l->s;
    const int64_t i = ftb_sample_row(s, r), end = s->p->rowptr[i + 1], to = s->rowptr[r];
    const ftb_row_filter filter = ftb_row_filter_of(s, r);
    int64_t at = to, e = s->p->rowptr[i];
    if (end - e > LONG_ROW * l->ndrawn) {
        for (int64_t d = 0; d < l->ndrawn; d++)
            for (e = ftb_first_entry(s->p, e, end, l->drawn[d]); e < end && ftb_col(s->p, e) == l->drawn[d];
                 e++)
                if (ftb_row_admits(&filter, e - filter.begin))
                    put(l, at++, e, d);
    } else {
        for (; e < end; e++) {
            const int64_t column = ftb_col(s->p, e), d = ftb_first_not_below(l->drawn, l->ndrawn, column);
            if (d < l->ndrawn && l->drawn[d] == column && ftb_row_admits(&filter, e - filter.begin))
                put(l, at++, e, d);
        }
    }
    l->g->counts[r] = at - to;
}

GrB_Info ftb_sample_layer(ftb_together *g)
{
    const ftb_sample_product *s = g->s;
    layer l = {.g = g, .s = s, .all = s->norms, .ncolumns = s->norms ? s->p->ncols : 0};
    GrB_Info info = GrB_SUCCESS;
    int64_t room = 0;
    for (int64_t t = 0; t < g->count; t++) {
        const int64_t r = ftb_together_row(g, t);
        room += s->rowptr[r + 1] - s->rowptr[r];
    }
    if (s->selector == FTB_SAMPLE_LADIES) {
        FTB_CHECK(ftb_columns_of_rows(&l.c, g));
        FTB_CHECK(weigh_columns(&l));
    }
    if (s->p->nvals > 0)
        FTB_CHECK(check_total(&l));
    l.drawn = ftb_new(s->ctx, s->k, sizeof *l.drawn);
    l.scale = ftb_new(s->ctx, s->k, sizeof *l.scale);
    if (!l.drawn || !l.scale)
        FTB_CHECK(ftb_nomem());
    draw_columns(&l);
#pragma omp parallel for num_threads(ftb_threads_for(s->ctx, room + g->count)) schedule(dynamic, 64)
    for (int64_t t = 0; t < g->count; t++)
        pick_row(&l, ftb_together_row(g, t));
    g->work = g->count + l.c.nentries + room;
done:
    ftb_columns_delete(&l.c);
    ftb_delete(l.sums);
    ftb_delete(l.drawn);
    ftb_delete(l.scale);
    return info;
}

/* ---- all rows' */

GrB_Info ftb_sample_norms(const ftb_sample_product *all, double *sums)
{
    enum { CHUNK = 4096 };
    const ftb_pattern *p = all->p;
    ftb_sample_product s = *all;
    int64_t most = 0, *rows = ftb_new(s.ctx, CHUNK, sizeof *rows),
            *offset = ftb_new(s.ctx, CHUNK + 1, sizeof *offset);
    for (int64_t first = 0; first < p->nrows; first += CHUNK)
        most = ftb_max(most, p->rowptr[ftb_min(p->nrows, first + CHUNK)] - p->rowptr[first]);
    double *weight = ftb_new(s.ctx, most, sizeof *weight);
    GrB_Info info = rows && offset && weight ? GrB_SUCCESS : ftb_nomem();
    for (int64_t j = 0; j < p->ncols; j++)
        sums[j] = 0;
    for (int64_t first = 0; first < p->nrows && info == GrB_SUCCESS; first += CHUNK) {
        s.rows = rows;
        s.nrows = ftb_min(p->nrows - first, CHUNK);
        for (int64_t r = 0; r < s.nrows; r++)
            rows[r] = first + r;
        for (int64_t r = 0; r <= s.nrows; r++)
            offset[r] = p->rowptr[first + r] - p->rowptr[first];
        info = ftb_sample_weights(&s, weight, offset);
        for (int64_t t = 0; info == GrB_SUCCESS && t < offset[s.nrows]; t++)
            sums[ftb_col(p, p->rowptr[first] + t)] += weight[t] * weight[t];
    }
    for (int64_t j = 1; j < p->ncols; j++)
        sums[j] += sums[j - 1];
    ftb_delete(rows);
    ftb_delete(offset);
    ftb_delete(weight);
    return info;
}

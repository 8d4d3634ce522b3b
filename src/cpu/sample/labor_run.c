/* LABOR-i: rows share their columns' draws, and columns that many rows want get larger chances.
 *
 * Row r keeps its entry of column j where j's draw is below min(1, c_r p_j), c_r such that the sum over the
 * row of 1 / min(1, c_r p_j) is degree^2 / k: the variance of k picks of the row. p is 1 at first, which is
 * LABOR-0, and becomes p_j max_r c_r, i times: fewer columns in all. Balin and Catalyurek, "Layer-neighbor
 * sampling", NeurIPS 2023, equations 14 to 18. All sums are in the order of the entries. */
#include "cpu/sample/rows_columns.h"

#include "core/draws.h"
#include "cpu/kernels/sample_kernels.h"

typedef struct labor {
    const ftb_together *g;
    const ftb_sample_product *s;
    ftb_rows_columns c;
    double *importance; /* p, of each column */
    double *factor;     /* c, of each row */
    uint32_t *word;     /* each column's draw */
    int threads;
} labor;

static bool takes_all(const labor *l, int64_t degree) { return l->s->k < 0 || l->s->k >= degree; }

/* c of a row: those of its columns that are certain are found first, which are more for a larger c. */
static double factor_of(const labor *l, int64_t r)
{
    const int64_t begin = l->c.offset[r], end = l->c.offset[r + 1], degree = end - begin;
    double sum = 0, least = 0;
    for (int64_t t = begin; t < end; t++) {
        const double here = 1 / l->importance[l->c.number[t]];
        sum += here;
        least = here > least ? here : least;
    }
    if (takes_all(l, degree) || l->s->k == 0)
        return l->s->k == 0 ? 0 : least;
    const double target = (double)degree * (double)degree / (double)l->s->k;
    double c = sum / target;
    for (int64_t certain = 0, was = -1; certain != was;) {
        was = certain;
        certain = 0;
        sum = 0;
        for (int64_t t = begin; t < end; t++) {
            const double p = l->importance[l->c.number[t]];
            if (c * p >= 1)
                certain++;
            else
                sum += 1 / p;
        }
        if (certain != was && certain < degree)
            c = sum / (target - (double)certain);
    }
    return c;
}

static void find_factors(const labor *l)
{
#pragma omp parallel for num_threads(l->threads) schedule(dynamic, 64)
    for (int64_t r = 0; r < l->g->count; r++)
        l->factor[r] = factor_of(l, r);
}

static void raise_importance(const labor *l)
{
#pragma omp parallel for num_threads(l->threads) schedule(static)
    for (int64_t n = 0; n < l->c.ncolumns; n++) {
        double most = 0;
        for (int64_t at = l->c.begin[n]; at < l->c.begin[n + 1]; at++) {
            const double here = l->factor[l->c.row[ftb_columns_entry(&l->c, at)]];
            most = here > most ? here : most;
        }
        l->importance[n] *= most;
    }
}

static void draw_columns(const labor *l)
{
    const uint64_t seed = ftb_random_mix(l->g->seed, 0, FTB_DRAW_SHARED);
#pragma omp parallel for num_threads(l->threads) schedule(static)
    for (int64_t first = 0; first < l->c.ncolumns; first += FTB_PICK_ROWS) {
        int64_t column[FTB_PICK_ROWS] = {0};
        uint32_t word[FTB_PICK_ROWS];
        const int64_t here = ftb_min(l->c.ncolumns - first, FTB_PICK_ROWS);
        memcpy(column, l->c.column + first, sizeof *column * (size_t)here);
        FTB_PICK(ftb_draw_vertices)(word, seed, column, l->g->stream);
        memcpy(l->word + first, word, sizeof *word * (size_t)here);
    }
}

/* Row r of those that are picked of. */
static void pick_row(const labor *l, int64_t r)
{
    const ftb_sample_product *s = l->s;
    const int64_t of = ftb_together_row(l->g, r);
    const int64_t begin = s->p->rowptr[ftb_sample_row(s, of)], to = s->rowptr[of];
    const bool all = takes_all(l, l->c.offset[r + 1] - l->c.offset[r]);
    int64_t count = 0;
    for (int64_t t = l->c.offset[r]; t < l->c.offset[r + 1]; t++) {
        const int64_t n = l->c.number[t];
        const double c = l->factor[r] * l->importance[n], chance = all || c > 1 ? 1 : c;
        if ((double)l->word[n] < chance * 0x1p32) {
            s->entries[to + count] = begin + l->c.place[t];
            s->scale[to + count] = 1 / chance;
            ftb_sample_put_column(s, to + count);
            count++;
        }
    }
    l->g->counts[of] = count;
}

GrB_Info ftb_sample_labor(ftb_together *g)
{
    const ftb_sample_product *s = g->s;
    labor l = {.g = g, .s = s};
    GrB_Info info;
    FTB_CHECK(ftb_columns_of_rows(&l.c, g));
    l.importance = ftb_new(s->ctx, l.c.ncolumns, sizeof *l.importance);
    l.factor = ftb_new(s->ctx, g->count, sizeof *l.factor);
    l.word = ftb_new(s->ctx, l.c.ncolumns, sizeof *l.word);
    if (!l.importance || !l.factor || !l.word)
        FTB_CHECK(ftb_nomem());
    l.threads = ftb_threads_for(s->ctx, l.c.nentries + g->count);
    for (int64_t n = 0; n < l.c.ncolumns; n++)
        l.importance[n] = 1;
    find_factors(&l);
    for (int i = 0; i < s->iterations && s->k != 0; i++) {
        FTB_CHECK(ftb_check_cancelled(s->ctx));
        raise_importance(&l);
        find_factors(&l);
    }
    draw_columns(&l);
#pragma omp parallel for num_threads(l.threads) schedule(dynamic, 64)
    for (int64_t r = 0; r < g->count; r++)
        pick_row(&l, r);
    g->work = g->count + l.c.nentries;
done:
    ftb_columns_delete(&l.c);
    ftb_delete(l.importance);
    ftb_delete(l.factor);
    ftb_delete(l.word);
    return info;
}

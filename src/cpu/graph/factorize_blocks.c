/* Ratings by block. Rows and columns are cut into as many slices, of about as many ratings each: the factors
 * of a slice of columns stay in L2 while those of the rows go by. Two passes over the columns of the ratings,
 * one that counts and one that places, a thread for each slice of rows. */
#include "cpu/graph/factorize_run.h"

enum { MOST = 16, RATINGS = 4096 }; /* slices; ratings of a block that are worth one */

typedef struct cutter {
    const ftb_factorize *w;
    ftb_rating_blocks *b;
    int64_t *cut;    /* of rows: slices + 1 */
    uint8_t *slice;  /* of each column */
    int64_t *visits; /* of each block: how many, then the next one's place; one more */
    int64_t *ratings;
} cutter;

/* Depends on the ratings alone, as bits do. */
static int64_t slices_of(const ftb_pattern *p)
{
    int64_t slices = 1;
    while (slices < MOST && 4 * slices * slices * RATINGS <= p->nvals)
        slices *= 2;
    return slices;
}

static void cut_columns(const cutter *c)
{
    const ftb_factorize *w = c->w;
    const double each = (double)ftb_max(w->rows.p->nvals, 1) / (double)c->b->slices;
    double before = 0;
    for (int64_t j = 0; j < w->ncols; j++) {
        const double middle = before + (double)w->column_counts[j] / 2;
        c->slice[j] = (uint8_t)ftb_min(c->b->slices - 1, (int64_t)(middle / each));
        before += (double)w->column_counts[j];
    }
}

/* The end of the visit that begins at e. */
static int64_t visit_end(const cutter *c, int64_t e, int64_t end)
{
    const int32_t *column = c->w->rows.p->colidx;
    const uint8_t slice = c->slice[column[e]];
    for (e++; e < end && c->slice[column[e]] == slice;)
        e++;
    return e;
}

static void count_slice(const cutter *c, int64_t s)
{
    const ftb_pattern *p = c->w->rows.p;
    const int32_t *column = p->colidx;
    for (int64_t i = c->cut[s]; i < c->cut[s + 1]; i++)
        for (int64_t e = p->rowptr[i], end = p->rowptr[i + 1]; e < end;) {
            const int64_t block = s * c->b->slices + c->slice[column[e]], next = visit_end(c, e, end);
            c->visits[block]++;
            c->ratings[block] += next - e;
            e = next;
        }
}

static void place_slice(const cutter *c, int64_t s)
{
    const ftb_pattern *p = c->w->rows.p;
    const int32_t *column = p->colidx;
    const size_t size = FtB_Type_size(c->w->type);
    for (int64_t i = c->cut[s]; i < c->cut[s + 1]; i++)
        for (int64_t e = p->rowptr[i], end = p->rowptr[i + 1]; e < end;) {
            const int64_t block = s * c->b->slices + c->slice[column[e]], next = visit_end(c, e, end);
            const int64_t visit = c->visits[block]++, to = c->ratings[block];
            c->ratings[block] += next - e;
            c->b->row[visit] = (int32_t)i;
            c->b->start[visit] = to;
            memcpy(c->b->column + to, column + e, (size_t)(next - e) * sizeof *column);
            memcpy((char *)c->b->value + (size_t)to * size, (const char *)c->w->rows.value + (size_t)e * size,
                   (size_t)(next - e) * size);
            e = next;
        }
}

static void sum_up(int64_t *counts, int64_t n)
{
    int64_t sum = 0;
    for (int64_t t = 0; t <= n; t++) {
        const int64_t here = counts[t];
        counts[t] = sum;
        sum += here;
    }
}

static GrB_Info fill(cutter *c, int threads)
{
    const FtB_Context ctx = c->w->ctx;
    const int64_t nvals = c->w->rows.p->nvals, blocks = c->b->slices * c->b->slices;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int64_t s = 0; s < c->b->slices; s++)
        count_slice(c, s);
    sum_up(c->visits, blocks);
    sum_up(c->ratings, blocks);
    memcpy(c->b->first, c->visits, (size_t)(blocks + 1) * sizeof *c->visits);
    c->b->row = ftb_new(ctx, c->visits[blocks], sizeof *c->b->row);
    c->b->start = ftb_new(ctx, c->visits[blocks] + 1, sizeof *c->b->start);
    c->b->column = ftb_new(ctx, nvals, sizeof *c->b->column);
    c->b->value = ftb_new(ctx, nvals, FtB_Type_size(c->w->type));
    if (!c->b->row || !c->b->start || !c->b->column || !c->b->value)
        return ftb_nomem();
    c->b->start[c->visits[blocks]] = nvals;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int64_t s = 0; s < c->b->slices; s++)
        place_slice(c, s);
    return GrB_SUCCESS;
}

GrB_Info ftb_rating_blocks_new(ftb_factorize *w)
{
    const ftb_pattern *p = w->rows.p;
    const int64_t slices = slices_of(p);
    cutter c = {.w = w, .b = &w->blocks};
    GrB_Info info = GrB_SUCCESS;
    w->blocks.slices = slices;
    w->blocks.first = ftb_new(w->ctx, slices * slices + 1, sizeof *w->blocks.first);
    c.cut = ftb_new(w->ctx, slices + 1, sizeof *c.cut);
    c.slice = ftb_new(w->ctx, w->ncols, sizeof *c.slice);
    c.visits = ftb_new0(w->ctx, slices * slices + 1, sizeof *c.visits);
    c.ratings = ftb_new0(w->ctx, slices * slices + 1, sizeof *c.ratings);
    if (w->blocks.first && c.cut && c.slice && c.visits && c.ratings) {
        for (int64_t s = 0; s <= slices; s++)
            c.cut[s] = ftb_pattern_cut(p, s, slices);
        cut_columns(&c);
        info = fill(&c, ftb_threads_for(w->ctx, p->nvals));
    } else {
        info = ftb_nomem();
    }
    ftb_delete(c.cut);
    ftb_delete(c.slice);
    ftb_delete(c.visits);
    ftb_delete(c.ratings);
    return info;
}

void ftb_rating_blocks_delete(ftb_rating_blocks *b)
{
    ftb_delete(b->first);
    ftb_delete(b->row);
    ftb_delete(b->column);
    ftb_delete(b->start);
    ftb_delete(b->value);
}

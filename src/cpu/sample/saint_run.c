/* GraphSAINT on the host (saint_run.h). Sums are made in the order of the entries, so that they are the same
 * for all threads. */
#include "cpu/sample/saint_run.h"

#include "core/draws.h"
#include "core/search.h"
#include "cpu/entries/keep_run.h"

static inline double value_at(const void *values, FtB_Type type, int64_t e)
{
    return values ? ftb_get_real(values, type, e) : 1;
}

static void add_up(double *sums, int64_t n)
{
    for (int64_t t = 1; t < n; t++)
        sums[t] += sums[t - 1];
}

void ftb_saint_columns(double *sums, const ftb_pattern *p, const void *values, FtB_Type type)
{
    for (int64_t j = 0; j < p->ncols; j++)
        sums[j] = 0;
    for (int64_t e = 0; e < p->nvals; e++) {
        const double x = value_at(values, type, e);
        sums[ftb_col(p, e)] += x * x;
    }
    add_up(sums, p->ncols);
}

void ftb_saint_entries(FtB_Context ctx, double *sums, const ftb_pattern *p)
{
#pragma omp parallel for num_threads(ftb_threads_for(ctx, p->nvals)) schedule(dynamic, 256)
    for (int64_t i = 0; i < p->nrows; i++) {
        const double own = 1 / (double)ftb_max(p->rowptr[i + 1] - p->rowptr[i], 1);
        for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++) {
            const int64_t j = ftb_col(p, e);
            sums[e] = own + 1 / (double)ftb_max(p->rowptr[j + 1] - p->rowptr[j], 1);
        }
    }
    add_up(sums, p->nvals);
}

void ftb_saint_draw(FtB_Context ctx, int64_t *place, int64_t count, uint64_t key, const double *sums,
                    int64_t n)
{
    int64_t last = n - 1; /* that is drawn at all */
    while (sums && last > 0 && sums[last] == sums[last - 1])
        last--;
#pragma omp parallel for num_threads(ftb_threads_for(ctx, 16 * count)) schedule(static)
    for (int64_t t = 0; t < count; t++) {
        if (!sums) {
            place[t] = (int64_t)ftb_draw_below((uint64_t)n, key, (uint64_t)t, 0, 0);
            continue;
        }
        const uint64_t high = ftb_draw(key, (uint64_t)t, 0, 0, false),
                       more = ftb_draw(key, (uint64_t)t, 0, 0, true);
        place[t] = ftb_first_beyond(sums, last, (double)((high << 32 | more) >> 11) * 0x1p-53 * sums[n - 1]);
    }
}

void ftb_saint_ends(FtB_Context ctx, int64_t *places, int64_t count, const ftb_pattern *p)
{
#pragma omp parallel for num_threads(ftb_threads_for(ctx, 16 * count)) schedule(static)
    for (int64_t t = 0; t < count; t++) {
        const int64_t e = places[t];
        places[count + t] = ftb_col(p, e);
        places[t] = ftb_row_at(p->rowptr, p->nrows, e);
    }
}

int64_t ftb_saint_sort(int64_t *list, int64_t *scratch, int64_t count)
{
    int64_t some = 0, once = 0;
    for (int64_t t = 0; t < count; t++)
        if (list[t] >= 0)
            list[some++] = list[t];
    const int64_t *sorted = (int64_t *)ftb_sort((uint64_t *)list, (uint64_t *)scratch, some, 0, 63);
    for (int64_t t = 0; t < some; t++)
        if (t == 0 || sorted[t] != sorted[t - 1])
            scratch[once++] = sorted[t];
    memcpy(list, scratch, (size_t)once * sizeof *list);
    return once;
}

void ftb_saint_count(FtB_Context ctx, int32_t *vertex, const int64_t *vertices, int64_t nvertices,
                     int32_t *entry, const int64_t *entries, int64_t nentries)
{
    for (int64_t t = 0; t < nvertices; t++)
        vertex[vertices[t]]++;
#pragma omp parallel for num_threads(ftb_threads_for(ctx, nentries)) schedule(static)
    for (int64_t t = 0; t < nentries; t++)
        entry[entries[t]]++;
}

void ftb_saint_scale(const ftb_saint_values *v)
{
#pragma omp parallel for num_threads(ftb_threads_for(v->ctx, v->rowptr[v->nrows])) schedule(dynamic, 256)
    for (int64_t r = 0; r < v->nrows; r++) {
        const double times = v->vertex[v->vertices[r]];
        for (int64_t t = v->rowptr[r]; t < v->rowptr[r + 1]; t++) {
            const int64_t e = v->entries[t];
            const double scale = v->entry[e] > 0 ? times / v->entry[e] : 1;
            v->out[t] = (float)(value_at(v->values, v->type, e) * scale);
        }
    }
}

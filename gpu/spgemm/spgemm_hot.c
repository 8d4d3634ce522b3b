/* The most frequent columns of counts as bits (kernels/spgemm_bits.cuh): which they are is the host's to
 * find, from its pattern; bits are made where they are read, from entries that are there. Made for each
 * product: that reads B once more, where the product reads it many times. Without memory for it there are
 * none. */
#include "gpu/spgemm/spgemm_chunks.h"

#include "core/column_counts.h"

/* Columns by how many entries they have: more than any has, for long ones. */
enum { DEGREES = 1 << 16 };

/* Of one operand with itself they are the left one's rows. */
static void count_entries(uint32_t *degree, const ftb_spgemm_product *p)
{
    if (!p->self)
        ftb_column_counts(degree, p->right, p->ctx);
    for (int64_t j = 0; j < p->p.ncols && p->self; j++)
        degree[j] = (uint32_t)ftb_min(p->left->rowptr[j + 1] - p->left->rowptr[j], UINT32_MAX);
}

/* id[column]: its place among the `hot` columns of most entries, in ascending order, or -1; of equal ones the
 * first are taken. */
static GrB_Info name_columns(int32_t *id, int32_t *column, const ftb_spgemm_product *p, int64_t hot)
{
    int64_t *const many = ftb_new0(p->ctx, DEGREES, sizeof *many), n = p->p.ncols, equal = hot;
    uint32_t *const degrees = (uint32_t *)id; /* until each has its place */
    int32_t next = 0, least = DEGREES - 1;
    if (!many)
        return ftb_nomem();
    count_entries(degrees, p);
    for (int64_t j = 0; j < n; j++)
        many[ftb_min(degrees[j], DEGREES - 1)]++;
    for (; least > 0 && many[least] < equal; least--)
        equal -= many[least];
    for (int64_t j = 0; j < n; j++) {
        const int32_t degree = (int32_t)ftb_min(degrees[j], DEGREES - 1);
        const bool taken = degree > least || (degree == least && equal-- > 0);
        if (taken)
            column[next] = (int32_t)j;
        id[j] = taken ? next++ : -1;
    }
    ftb_delete(many);
    return GrB_SUCCESS;
}

static GrB_Info make(ftb_gpu_spgemm_run *run, const int32_t *id, const int32_t *column)
{
    const ftb_spgemm_product *p = run->product;
    const int64_t hot = run->plan.hot, lines = (hot + FTB_SPGEMM_LINE - 1) / FTB_SPGEMM_LINE,
                  each = FTB_SPGEMM_STEP_BLOCK / 32;
    ftb_spgemm_hot_arguments a = {
        .row = run->rows.brow, .col = run->rows.bcol, .nrows = p->right->nrows, .lines = (int)lines};
    const void *ids = NULL, *columns = NULL;
    void *bits = NULL, *rest = NULL, *end = NULL;
    GrB_Info info;
    FTB_CHECK(ftb_gpu_send(&ids, &run->rooms, id, p->p.ncols * (int64_t)sizeof *id));
    FTB_CHECK(ftb_gpu_send(&columns, &run->rooms, column, hot * (int64_t)sizeof *column));
    FTB_CHECK(ftb_gpu_room(&bits, &run->rooms, lines * a.nrows * (FTB_SPGEMM_LINE / 8)));
    FTB_CHECK(ftb_gpu_room(&rest, &run->rooms, p->right->nvals * 4));
    FTB_CHECK(ftb_gpu_room(&end, &run->rooms, a.nrows * 8));
    a.id = ids;
    a.bits = bits;
    a.rest = rest;
    a.end = end;
    FTB_CHECK(ftb_gpu_launch(
        run->d, p->ctx, FTB_GPU_SPGEMM_BITS, "spgemm_bits",
        (ftb_gpu_grid){.x = (a.nrows + each - 1) / each, .y = 1, .threads = FTB_SPGEMM_STEP_BLOCK},
        (void *[]){&a}));
    run->hot = run->rows;
    run->hot.bend = a.end;
    run->hot.bcol = a.rest;
    run->hot.bits = a.bits;
    run->hot.hot = columns;
    run->hot.nhot = (int)hot;
    run->hot.ninner = a.nrows;
done:
    return info;
}

GrB_Info ftb_gpu_spgemm_hot(ftb_gpu_spgemm_run *run)
{
    const ftb_spgemm_product *p = run->product;
    if (run->plan.hot == 0 || ftb_gpu_load(run->d, FTB_GPU_SPGEMM_BITS) != GrB_SUCCESS) {
        run->plan.hot = 0;
        return GrB_SUCCESS;
    }
    int32_t *const id = ftb_new(p->ctx, p->p.ncols, sizeof *id), *const column = ftb_new(
                                                                     p->ctx, run->plan.hot, sizeof *column);
    GrB_Info info = id && column ? name_columns(id, column, p, run->plan.hot) : ftb_nomem();
    if (info == GrB_SUCCESS)
        info = make(run, id, column);
    if (info == FTB_NO_DEVICE && !run->d->lost) {
        run->plan.hot = 0;
        info = GrB_SUCCESS;
    }
    ftb_delete(id);
    ftb_delete(column);
    return info;
}

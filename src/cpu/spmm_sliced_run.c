/* Sparse x block of few features by destination slices (core/slices.h): a thread takes a slice, whose results
 * stay in its L1 while all sources go by, in order; what is done to a row behind its last entry is done
 * there. Slices share no results, so that nothing depends on threads. */
#include "cpu/spmm_sliced_run.h"

#include "core/slices.h"

#include <omp.h>

#define PIECE 4096 /* rows that are packed at once: a multiple of all vectors */
#define ALIGNED(bytes) (((bytes) + 63) / 64 * 64)

typedef struct run {
    const ftb_spmm_product *product;
    ftb_slices slices;
    ftb_spmm_slice add;
    int64_t ahead;           /* entries */
    int64_t features, pitch; /* pitch: values of a row of sources and results, as they are added */
    size_t size;
    const char *x;
    char *packed, *scratch; /* NULL: sources as they are; scratch: of each thread */
} run;

/* A row of so many values, in whole vectors. */
static ftb_spmm_tile long_row(const run *r, int64_t values)
{
    const ftb_spmm_kind *k = &r->product->kind;
    return (ftb_spmm_tile){k->type, k->best, r->product->least, values, (values + 15) / 16 * 16};
}

static GrB_Info pack_sources(run *r, int threads)
{
    const ftb_spmm_product *p = r->product;
    const int64_t count = p->p->ncols;
    const bool together = p->ldx == r->features && r->features == r->pitch;
    r->x = p->x;
    if (together && p->stored == p->kind.type && !p->kind.best)
        return GrB_SUCCESS;
    r->x = r->packed = ftb_new(p->ctx, count / PIECE + 1, PIECE * (size_t)r->pitch * r->size);
    if (!r->packed)
        return ftb_nomem();
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t first = 0; first < count; first += PIECE) {
        const int64_t rows = ftb_min(PIECE, count - first);
        const char *from = (const char *)p->x + (size_t)(first * p->ldx) * FtB_Type_size(p->stored);
        char *to = r->packed + (size_t)(first * r->pitch) * r->size;
        ftb_spmm_tile t = long_row(r, rows * r->pitch);
        if (!together) {
            t.features = r->features;
            t.pitch = r->pitch;
        }
        FTB_PICK(ftb_spmm_pack)(&t, to, from, p->stored, p->ldx, together ? 1 : rows);
    }
    return GrB_SUCCESS;
}

static size_t slice_bytes(const run *r) { return ALIGNED(FTB_SLICE_ROWS * (size_t)r->pitch * r->size) + 64; }

/* From the pitch of results to that of `out`. */
static void copy_rows(const run *r, char *restrict out, const char *restrict from, int64_t rows)
{
    const size_t bytes = (size_t)r->features * r->size, step = (size_t)r->pitch * r->size,
                 ldo = (size_t)r->product->ldo * r->size;
    for (int64_t i = 0; i < rows; i++)
        memcpy(out + (size_t)i * ldo, from + (size_t)i * step, bytes);
}

static void put_results(const run *r, int64_t first, int64_t rows, const char *acc, char *values)
{
    const ftb_spmm_product *p = r->product;
    const ftb_spmm_tile t = long_row(r, rows * r->pitch);
    char *out = (char *)p->out + (size_t)(first * p->ldo) * r->size;
    const bool together = p->ldo == r->features && r->features == r->pitch;
    if (together || p->kind.best)
        FTB_PICK(ftb_spmm_unpack)(&t, acc, together ? out : values, t.features, 1);
    if (!together)
        copy_rows(r, out, p->kind.best ? values : acc, rows);
    ftb_spmm_end_rows(p, 0, r->features, first, first + rows);
}

static void run_slice(const run *r, int64_t slice, char *acc)
{
    static const uint64_t zero = 0;
    static const int64_t lowest_64 = INT64_MIN; /* below every key */
    static const int32_t lowest_32 = INT32_MIN;
    const ftb_slices *s = &r->slices;
    const ftb_spmm_product *p = r->product;
    const void *begin = !p->kind.best  ? (const void *)&zero
                        : r->size == 4 ? (const void *)&lowest_32
                                       : &lowest_64;
    const int64_t first = s->row[slice], rows = s->row[slice + 1] - first;
    ftb_fill(acc, rows * r->pitch, begin, r->size);
    for (int64_t b = s->block[slice]; b < s->block[slice + 1]; b++)
        r->add(s->word + s->start[b], s->start[b + 1] - s->start[b], r->ahead,
               r->x + (size_t)(s->high[b] * FTB_SLICE_COLUMNS * r->pitch) * r->size, acc);
    put_results(r, first, rows, acc, acc + slice_bytes(r));
}

GrB_Info ftb_spmm_sliced_run(const ftb_spmm_product *product, const ftb_spmm_plan *plan)
{
    ftb_spmm_product own = *product;
    if (!own.kind.best)
        own.empty = FTB_EMPTY_ANYTHING; /* sums begin at 0, which stays in rows without entries */
    run r = {.product = &own,
             .features = product->heads * product->width,
             .ahead = plan->ahead,
             .size = FtB_Type_size(product->kind.type)};
    r.add = ftb_spmm_sliced(product->kind.type, product->kind.best, r.features, &r.pitch);
    GrB_Info info = ftb_slices_get(&r.slices, product->p);
    if (info == GrB_SUCCESS)
        info = pack_sources(&r, plan->threads);
    r.scratch = info == GrB_SUCCESS ? ftb_new(product->ctx, plan->threads, 2 * slice_bytes(&r)) : NULL;
    if (info == GrB_SUCCESS && !r.scratch)
        info = ftb_nomem();
    if (info == GrB_SUCCESS) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(plan->threads)
        for (int64_t slice = 0; slice < r.slices.count; slice++)
            if (!product->interruptible || !ftb_cancelled(product->ctx))
                run_slice(&r, slice, r.scratch + 2 * (size_t)omp_get_thread_num() * slice_bytes(&r));
    }
    ftb_delete(r.packed);
    ftb_delete(r.scratch);
    return info;
}

/* How to run a sparse x sparse product.
 *
 * Cost model: a product is one read-modify-write of a cell, 1.4 cycles while cells are in L1 or L2 and
 * more where they are not; a dense row is found again by scanning ncols / 16 words, a listed one by
 * sorting. So: triangle when symmetric (half the products); renaming by degree when products outnumber
 * entries (hot cells then share cache lines); dense rows from ncols / 32 products up; hash where the
 * dense cells would leave L2 or the memory that is left. */
#include "plan/spgemm_plan.h"

#include <math.h>
#include <string.h>

#define NANOSECONDS_NEAR 0.60 /* per product, cells in L2 */
#define NANOSECONDS_FAR 2.5   /* per product, cells beyond L2 */
#define NANOSECONDS_TABLE 0.9
#define DUAL 1.3                    /* times as long with cells of two values */
#define NANOSECONDS_PROGRAM 8.0     /* and what the message costs */
#define NANOSECONDS_HASH 20.0       /* more, where the cell is found by hashing */
#define NANOSECONDS_LINE 5.0        /* per left entry and 512 hot columns, as bits */
#define NANOSECONDS_NEAR4 15        /* the same as half bytes, by blocks in L2 */
#define NANOSECONDS_FETCH4 25       /* and more in any order */
#define NANOSECONDS_LIST 20.0       /* per left entry whose cold columns are scattered */
#define NANOSECONDS_CROSS 1.5       /* per pair of a hot and a cold column: counts */
#define NANOSECONDS_CROSS4 5        /* sums */
#define NANOSECONDS_BYTE 0.3        /* of memory touched for the first time */
#define HOT_ROW 1                   /* a row pays for its hot columns from so many products per column */
#define NANOSECONDS_SCANNED 7.0     /* per emitted entry: found by scanning, read, stored */
#define NANOSECONDS_SORTED 14.0     /* found by sorting */
#define NANOSECONDS_MIRRORED 4.0    /* retained and read again */
#define NANOSECONDS_CELL 0.2        /* per cell that is scanned */
#define NANOSECONDS_VALUE 15.0      /* per value of it but the first */
#define NANOSECONDS_ROW 90.0        /* per row that is computed, however short */
#define NANOSECONDS_ROW_PASSED 60.0 /* per row, computed or not */
#define NANOSECONDS_OFFER 4.0       /* per entry of a triangle whose k largest are sought for both ends */
#define NANOSECONDS_RIDER 15.0      /* per product, with a count or a winner beside the cell */
#define NANOSECONDS_SIFT 5.0        /* per level of a heap of the k largest */
#define CHUNK_BYTES                                                                                          \
    (INT64_C(2) << 20)    /* in L2 when the sink reads them; 16 MiB: 0.4 s more for 120 M entries */
#define LEAST_CHUNK 16384 /* holds the rows of a few hundred, however short */
#define RETAINED_BYTES (INT64_C(16) << 20) /* of a mirrored triangle: blocks that get huge pages */

#define FREE(key) (!(plan->forced & (key)))

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

static void choose_accumulator(ftb_spgemm_plan *plan, const ftb_spgemm_facts *f, const ftb_machine_facts *m)
{
    plan->dense_from = MAX(f->ncols / 32, 1);
    plan->hash_rest = f->ncols * f->cell_bytes > m->l2;
    if (FREE(FTB_SET_ACCUMULATOR))
        plan->accumulator = f->masked ? FTB_ACC_SLOT : FTB_ACC_AUTO;
    if (plan->accumulator == FTB_ACC_SLOT && !f->masked) /* slots are a mask's */
        plan->accumulator = FTB_ACC_AUTO;
    if (f->slot_only)
        plan->accumulator = FTB_ACC_SLOT;
    /* Dense cells that no row would use, or that do not fit, are not made. */
    int64_t all = plan->threads * ftb_spgemm_thread_bytes(plan, f);
    if (FREE(FTB_SET_ACCUMULATOR) && !f->masked && all > f->memory_left / 2 && f->longest_row < f->ncols / 8)
        plan->accumulator = FTB_ACC_HASH;
    if (plan->accumulator == FTB_ACC_SLOT)
        plan->relabel = false; /* slots go by the mask's own columns */
}

/* Nanoseconds of what the hot columns hold, for `lines` of 512 that rows read in full, `mine` of which are
 * wanted. */
static double hot_work(const ftb_spgemm_facts *f, int c, bool cross, double lines, double mine)
{
    double cold_entries = cross ? 1 - f->hot_entries[c] : 1, crossed = (double)(512 << c) * (double)f->ncols;
    if (f->hot_form == FTB_HOT_COUNTS)
        return (mine + (cross ? cold_entries * lines : 0)) * NANOSECONDS_LINE +
               (cross ? crossed * NANOSECONDS_CROSS : 0);
    double near = f->hot_form == FTB_HOT_LOOKUP ? f->hot_line : NANOSECONDS_NEAR4;
    double far = near + NANOSECONDS_FETCH4;
    if (!cross)
        return mine * far;
    double twice = f->hot_dual ? 2 : 1;
    return f->hot_entries[c] * mine * near + cold_entries * lines * (far + (twice - 1) * near) +
           twice * crossed * NANOSECONDS_CROSS4;
}

/* Nanoseconds for all products with the first 512 << c columns held densely; c < 0: none. Cross counts take
 * the cold columns' rows whole, ahead; then only these scatter, and only among themselves. */
static double hot_cost(const ftb_spgemm_facts *f, int c, bool cross, bool half)
{
    double products = half ? f->products / 2 : f->products;
    double each = f->hot_form == FTB_HOT_COUNTS ? NANOSECONDS_NEAR : NANOSECONDS_TABLE;
    if (c < 0)
        return products * each;
    double lines = (double)f->avals * (double)(1 << c);
    double cold_entries = cross ? 1 - f->hot_entries[c] : 1;
    double cold_products = cross ? f->cold_share[c] : 1 - f->hot_share[c];
    return products * cold_products * each + (double)f->avals * cold_entries * NANOSECONDS_LIST +
           hot_work(f, c, cross, lines, half ? lines / 2 : lines) +
           (double)ftb_spgemm_hot_bytes(f, INT64_C(512) << c, cross) * NANOSECONDS_BYTE;
}

/* Counts and sums of products: how many columns to hold densely. A full product then needs no triangle: what
 * is left to scatter costs less than retaining and mirroring. */
static void choose_hot(ftb_spgemm_plan *plan, const ftb_spgemm_facts *f)
{
    const bool half = f->symmetric && f->half_wanted, given = plan->cross, free = FREE(FTB_SET_CROSS);
    if (FREE(FTB_SET_HOT)) {
        double best = hot_cost(f, -1, false, f->symmetric);
        if (f->symmetric && !f->half_wanted) /* mirrored; cells may hold both halves */
            best = best * (f->hot_dual ? DUAL : 1) +
                   f->entries_bound * (1 + (double)f->retained_bytes / 2 * NANOSECONDS_BYTE);
        plan->hot = 0;
        for (int t = 0; t < 2 * FTB_HOT_CHOICES; t++) {
            int c = t / 2;
            int64_t hot = INT64_C(512) << c;
            if (f->products < FTB_HOT_PRODUCTS || f->hot_share[c] <= 0 || hot > f->ncols ||
                (t % 2 && !f->self) || (!free && t % 2 != given) ||
                ftb_spgemm_hot_bytes(f, hot, t % 2) > f->memory_left / 4)
                continue;
            double cost = hot_cost(f, c, t % 2, half);
            if (cost < 0.9 * best) {
                best = cost;
                plan->hot = hot;
                plan->cross = t % 2;
            }
        }
    } else {
        plan->cross = free || given;
    }
    if (f->hot_share[0] <= 0 || f->masked || plan->hot > f->ncols ||
        (!FREE(FTB_SET_RELABEL) && !plan->relabel))
        plan->hot = 0;
    if (f->hot_dual && plan->forced & FTB_SET_TRIANGLE && plan->triangle && !f->half_wanted)
        plan->hot = 0; /* cells of a mirrored triangle may hold both halves */
    plan->cross = plan->cross && f->self && plan->hot > 0;
    plan->hot_from = plan->forced & FTB_SET_HOT ? 1 : HOT_ROW * plan->hot;
    if (plan->hot > 0) {
        plan->relabel = true;
        if (FREE(FTB_SET_TRIANGLE))
            plan->triangle = f->half_wanted && f->self;
    }
}

/* Nanoseconds of the products that are scattered one by one. */
static double scatter_work(const ftb_spgemm_plan *plan, const ftb_spgemm_facts *f, const ftb_machine_facts *m)
{
    double products = plan->triangle ? f->products / 2 : f->products;
    bool near = f->ncols * f->cell_bytes <= m->l2 || plan->relabel;
    double row = products / MAX(f->rows_wanted, 1);
    bool hashed = plan->accumulator == FTB_ACC_HASH ||
                  (plan->accumulator == FTB_ACC_AUTO && plan->hash_rest && row < (double)plan->dense_from);
    bool rides = f->cell_bytes > 8 * f->width + 1; /* and a mark of a program's */
    double each = strcmp(f->kernel, "program") == 0
                      ? NANOSECONDS_PROGRAM + f->message_cost + rides * NANOSECONDS_RIDER
                  : strncmp(f->kernel, "table", 5) == 0 ? NANOSECONDS_TABLE
                                                        : NANOSECONDS_NEAR;
    return products * (each + (hashed ? NANOSECONDS_HASH : near ? 0 : NANOSECONDS_FAR));
}

/* Nanoseconds of keeping the k largest: a heap that about k (1 + ln(n / k)) of a row's n entries enter. */
static double heap_work(const ftb_spgemm_facts *f, double entries)
{
    double rows = MAX(f->rows_wanted, 1), n = entries / rows, k = (double)f->top_k;
    if (k < 1)
        return 0;
    if (n <= k)
        return entries * NANOSECONDS_SIFT;
    return rows * k * (1 + log(n / k)) * (1 + log2(k)) * NANOSECONDS_SIFT;
}

static double predict_seconds(const ftb_spgemm_plan *plan, const ftb_spgemm_facts *f,
                              const ftb_machine_facts *m)
{
    double work = scatter_work(plan, f, m);
    for (int c = 0; c < FTB_HOT_CHOICES; c++)
        if (plan->hot == INT64_C(512) << c)
            work = hot_cost(f, c, plan->cross, plan->triangle);
    double entries = f->entries_estimate >= 0 ? f->entries_estimate : f->entries_bound;
    double heap = heap_work(f, entries * f->passing);
    if (plan->triangle && f->half_wanted)
        entries /= 2;
    double products = (plan->triangle ? f->products / 2 : f->products) / MAX(f->rows_wanted, 1);
    bool scanned = plan->accumulator == FTB_ACC_DENSE ||
                   (plan->accumulator == FTB_ACC_AUTO && products >= (double)plan->dense_from);
    double entry = (scanned ? NANOSECONDS_SCANNED : NANOSECONDS_SORTED) +
                   (plan->mirror ? NANOSECONDS_MIRRORED : 0) +
                   (f->heap_bytes > 0 ? NANOSECONDS_OFFER * f->passing : 0) +
                   NANOSECONDS_VALUE * (double)MAX(f->width - 1, 0) + f->finish_cost;
    if (f->counted && scanned && !plan->mirror)
        entry = 0;
    double row = NANOSECONDS_ROW + f->finish_row_cost + (scanned ? NANOSECONDS_CELL * (double)f->ncols : 0);
    return 1e-9 * ftb_machine_costs(m).products *
           (work + entries * entry + heap + f->rows_wanted * row +
            (double)f->nrows * NANOSECONDS_ROW_PASSED) /
           plan->threads;
}

/* How hard memory presses: the fastest form, the same on one thread, or the one that holds the least. */
enum { ROOMY, ONE_THREAD, TIGHT, PRESSURES };

static void choose_form(ftb_spgemm_plan *plan, const ftb_spgemm_facts *f, const ftb_machine_facts *m,
                        int pressure)
{
    bool tight = pressure == TIGHT;
    if (FREE(FTB_SET_THREADS)) /* starting threads costs about 50 us */
        plan->threads = pressure != ROOMY || f->products < 2e5 ? 1 : f->threads;
    if (FREE(FTB_SET_ID16) || f->ncols > 65536)
        plan->id16 = !tight && f->ncols <= 65536 && f->products > 4 * (double)f->bvals;
    if (FREE(FTB_SET_RELABEL))
        plan->relabel = !tight && f->products > 16 * (double)f->bvals && f->ncols * f->cell_bytes > m->l1 / 2;
    bool may_halve = !f->masked && (f->half_wanted ? f->self : f->symmetric);
    if (FREE(FTB_SET_TRIANGLE))
        plan->triangle = f->heap_bytes > 0 ? !tight : f->half_wanted || (!tight && f->products > 1e5);
    plan->triangle = plan->triangle && may_halve;
    choose_hot(plan, f);
    if (tight && FREE(FTB_SET_HOT))
        plan->hot = 0;
    choose_accumulator(plan, f, m);
    if (tight && FREE(FTB_SET_ACCUMULATOR) && !f->masked) { /* whichever is smaller */
        plan->accumulator = FTB_ACC_LIST;
        int64_t list = ftb_spgemm_thread_bytes(plan, f);
        plan->accumulator = FTB_ACC_HASH;
        if (list < ftb_spgemm_thread_bytes(plan, f))
            plan->accumulator = FTB_ACC_LIST;
    }
}

/* Bytes with chunks that hold just the longest row. */
static int64_t least_bytes(const ftb_spgemm_plan *plan, const ftb_spgemm_facts *f)
{
    ftb_spgemm_plan least = *plan;
    if (FREE(FTB_SET_CHUNK))
        least.chunk_bytes = MAX(MIN(f->longest_row, f->ncols) * ftb_spgemm_entry_bytes(f), LEAST_CHUNK);
    return ftb_spgemm_bytes(&least, f);
}

/* The chunks' room, by halves down to one row: of what is left beyond the least they take half, and the sink
 * the other. */
static void choose_chunk(ftb_spgemm_plan *plan, const ftb_spgemm_facts *f, int64_t left)
{
    const int64_t row = MAX(MIN(f->longest_row, f->ncols) * ftb_spgemm_entry_bytes(f), LEAST_CHUNK);
    const int64_t most = left == INT64_MAX ? left : left - MAX(left - plan->least_limit, 0) / 2;
    if (!FREE(FTB_SET_CHUNK))
        return;
    plan->chunk_bytes = MAX(plan->mirror ? RETAINED_BYTES : CHUNK_BYTES, row);
    while (plan->chunk_bytes > row && ftb_spgemm_bytes(plan, f) > most)
        plan->chunk_bytes = MAX(plan->chunk_bytes / 2, row);
}

static void choose_memory(ftb_spgemm_plan *plan, const ftb_spgemm_facts *f, int64_t left, int pressure)
{
    double entries = f->entries_estimate >= 0 ? f->entries_estimate : f->entries_bound;
    double retained = entries / 2 * (double)f->retained_bytes;
    plan->chunk_products = (int64_t)MAX(f->products / (64.0 * plan->threads), 1e5);
    if (FREE(FTB_SET_MIRROR)) {
        plan->mirror = plan->triangle && !f->half_wanted && pressure != TIGHT;
        plan->mirror =
            plan->mirror &&
            (f->memory_left == INT64_MAX ||
             retained * 1.25 + RETAINED_BYTES * plan->threads + (double)least_bytes(plan, f) < (double)left);
    }
    plan->mirror = plan->mirror && plan->triangle && !f->half_wanted;
    if (plan->triangle && !f->half_wanted && !plan->mirror)
        plan->triangle = false;
    plan->least_limit = least_bytes(plan, f);
    choose_chunk(plan, f, left < INT64_MAX && plan->mirror ? left - (int64_t)retained : left);
    plan->bytes = ftb_spgemm_bytes(plan, f) + (plan->mirror ? (int64_t)retained : 0);
}

bool ftb_rule_spgemm(ftb_spgemm_plan *plan, const ftb_spgemm_facts *f, const ftb_machine_facts *m)
{
    const ftb_spgemm_plan given = *plan;
    int64_t least = INT64_MAX, left = f->memory_left;
    bool fits = false;
    if (left < INT64_MAX)
        left = MAX(left - f->sink_bytes, 0);
    for (int pressure = ROOMY; pressure < PRESSURES; pressure++) {
        ftb_spgemm_plan form = given;
        /* the last form may use all that is left, others leave a quarter to the sink */
        int64_t share = pressure == TIGHT || left == INT64_MAX ? left : left - left / 4;
        choose_form(&form, f, m, pressure);
        choose_memory(&form, f, share, pressure);
        least = MIN(least, form.least_limit);
        if (fits)
            continue;
        *plan = form;
        fits = form.least_limit <= share;
    }
    plan->least_limit = least + f->sink_bytes;
    plan->seconds = predict_seconds(plan, f, m);
    plan->origin = FTB_ORIGIN_MODEL;
    if (f->gpu.gpu.multiprocessors > 0) {
        ftb_gpu_spgemm_facts gpu = f->gpu;
        gpu.hot = ftb_spgemm_hot_asked(plan);
        ftb_rule_gpu_spgemm(&plan->gpu, &gpu);
    }
    return fits;
}

/* The form that the hybrid kernels walk, on a GPU that does not exist: what is made of a pattern, against
 * slow counts, and how forms give way to what needs memory. */
#include "support/check.h"

#include "core/core.h"
#include "gpu/context.h"
#include "gpu/memory.h"
#include "gpu/spmm_form.h"
#include "support/fail_alloc.h"
#include "support/fake_gpu.h"
#include "support/real_gpu.h"
#include "support/rng.h"
#include "support/shared_columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PIECES = FTB_SPMM_HYBRID_PIECES };

/* ---- the form */

typedef struct form {
    const ftb_spmm_piece *pieces;
    int64_t npieces;
    ftb_gpu_hybrid on; /* the host's copies, in its place */
} form;

static const void *home(const ftb_derived *of, const void *there, const void *start)
{
    return (const char *)ftb_buffer_data(of->buffers[0]) + ((const char *)there - (const char *)start);
}

/* The form as the host made it: its copy begins where the device's does, with tile_start. */
static form form_of(FtB_Matrix A, int threshold, int64_t tile)
{
    ftb_pattern *p = A->pattern;
    form f;
    ftb_gpu_hybrid h;
    assert_ok(ftb_gpu_pieces_here(&f.pieces, &f.npieces, p));
    assert_ok(ftb_gpu_hybrid_ask(&h, p, ftb_gpu_of(ftb_device(NULL)), threshold, tile, true));
    const ftb_derived *of = p->derived; /* the newest is first */
    const void *start = h.tile_start;
    for (int n = 0; n < 2; n++)
        assert_null(of->buffers[n]->host); /* given back */
    assert_ok(ftb_buffer_ask(of->buffers[0], FTB_READ));
    assert_ok(ftb_buffer_ask(of->buffers[1], FTB_READ));
    ftb_gpu_hybrid_end(&h);
    f.on = h;
    f.on.tile_start = home(of, h.tile_start, start);
    f.on.column_start = home(of, h.column_start, start);
    f.on.columns = home(of, h.columns, start);
    f.on.entry_start = home(of, h.entry_start, start);
    f.on.cold_start = home(of, h.cold_start, start);
    f.on.cold = home(of, h.cold, start);
    f.on.count = home(of, h.count, start);
    f.on.entries = home(of, h.entries, start);
    f.on.order = ftb_buffer_data(of->buffers[1]);
    return f;
}

static int64_t uses_of(const form *f, const ftb_pattern *p, int64_t b, int64_t column)
{
    int64_t uses = 0;
    for (int64_t k = b * PIECES; k < (b + 1) * PIECES && k < f->npieces; k++)
        for (int64_t e = f->pieces[k].begin; e < f->pieces[k].end; e++)
            uses += ftb_col(p, e) == column;
    return uses;
}

/* A block's tiles: each entry of a hot column once, in its order, where the starts say. */
static void check_tiles(const form *f, const ftb_pattern *p, int64_t b, int64_t tile, int threshold,
                        int *seen)
{
    int before = -1;
    for (int64_t t = f->on.tile_start[b]; t < f->on.tile_start[b + 1]; t++) {
        const int64_t first = f->on.column_start[t], n = f->on.column_start[t + 1] - first;
        assert_true(n > 0 && n <= tile && (n == tile || t + 1 == f->on.tile_start[b + 1]));
        for (int64_t k = 0; k < n; k++) {
            assert_true(f->on.columns[first + k] > before);
            before = f->on.columns[first + k];
            assert_true(uses_of(f, p, b, before) >= threshold);
        }
        int64_t at = f->on.entry_start[t * PIECES / FTB_SPMM_HYBRID_STEP];
        for (int64_t k = 0; k < PIECES; k++) {
            const int64_t piece = b * PIECES + k, count = f->on.count[t * PIECES + k];
            if (k % FTB_SPMM_HYBRID_STEP == 0)
                assert_int_equal(at, f->on.entry_start[(t * PIECES + k) / FTB_SPMM_HYBRID_STEP]);
            assert_true(count == 0 || piece < f->npieces);
            for (int64_t e = at; e < at + count; e++) {
                const int64_t entry = f->on.order[e];
                assert_true(entry >= f->pieces[piece].begin && entry < f->pieces[piece].end);
                assert_true(e == at || entry > f->on.order[e - 1]);
                assert_int_equal(ftb_col(p, entry), f->on.columns[first + f->on.entries[e]]);
                seen[entry]++;
            }
            at += count;
        }
    }
}

static void check_form(FtB_Matrix A, int threshold, int64_t tile)
{
    const ftb_pattern *p = A->pattern;
    const form f = form_of(A, threshold, tile);
    int *seen = calloc((size_t)p->nvals + 1, sizeof *seen);
    assert_non_null(seen);
    for (int64_t b = 0; b < f.on.nblocks; b++) {
        check_tiles(&f, p, b, tile, threshold, seen);
        for (int64_t k = b * PIECES; k < (b + 1) * PIECES && k < f.npieces; k++)
            for (int64_t c = f.on.cold_start[k]; c < f.on.cold_start[k + 1]; c++) {
                const int64_t entry = f.on.order[f.on.nhot + c];
                assert_true(entry >= f.pieces[k].begin && entry < f.pieces[k].end);
                assert_true(c == f.on.cold_start[k] || entry > f.on.order[f.on.nhot + c - 1]);
                assert_int_equal(ftb_col(p, entry), f.on.cold[c]);
                assert_true(uses_of(&f, p, b, f.on.cold[c]) < threshold);
                seen[entry]++;
            }
    }
    int64_t entries = 0;
    for (int64_t k = 0; k < f.npieces; k++)
        for (int64_t e = f.pieces[k].begin; e < f.pieces[k].end; e++) {
            assert_int_equal(seen[e], k < f.on.nblocks * PIECES);
            entries += seen[e];
            if (k >= f.on.nblocks * PIECES) /* none is hot there */
                assert_true(uses_of(&f, p, k / PIECES, ftb_col(p, e)) < threshold);
        }
    assert_int_equal(entries, f.on.nentries);
    free(seen);
}

/* One block and several, all hot and none, tiles of one column and of all; columns found by sorting and by
 * looking at all. */
static void forms(void **state)
{
    static const struct {
        shared_shape of;
        int threshold;
        int64_t tile;
    } list[] = {{{40, 30, 9, 20}, 2, 4},     {{40, 30, 9, 20}, 1, 1},       {{700, 90, 12, 80}, 9, 16},
                {{700, 90, 12, 80}, 500, 8}, {{1100, 2500, 9, 2400}, 6, 7}, {{1100, 40, 9, 30}, 100, 1000}};
    rng r = rng_new();
    (void)state;
    if (!fake_gpu_emulates())
        return;
    for (size_t n = 0; n < sizeof list / sizeof *list; n++) {
        FtB_Matrix A = shared_columns(&r, &list[n].of, 0);
        check_form(A, list[n].threshold, list[n].tile);
        FtB_Matrix_free(&A);
    }
}

/* Of few blocks the density is exact. */
static void density(void **state)
{
    const shared_shape of = {1300, 70, 12, 60};
    rng r = rng_new();
    (void)state;
    FtB_Matrix A = shared_columns(&r, &of, 0);
    ftb_gpu_density d;
    form f;
    assert_ok(ftb_gpu_density_ask(&d, A->pattern));
    assert_ok(ftb_gpu_pieces_here(&f.pieces, &f.npieces, A->pattern));
    double columns[FTB_GPU_USES] = {0}, entries[FTB_GPU_USES] = {0}, blocks[FTB_GPU_USES] = {0};
    for (int64_t b = 0; b * PIECES < f.npieces; b++) {
        int most = 0;
        for (int64_t j = 0; j < of.ncols; j++) {
            const int64_t uses = uses_of(&f, A->pattern, b, j);
            const int class = uses > 0 ? (int)log2((double)uses) : 0;
            columns[class] += uses > 0;
            entries[class] += (double)uses;
            most = ftb_max(most, class);
        }
        blocks[most]++;
    }
    assert_true(d.known);
    for (int b = 0; b < FTB_GPU_USES; b++)
        assert_true(fabs(d.columns[b] - columns[b]) + fabs(d.entries[b] - entries[b]) +
                        fabs(d.blocks[b] - blocks[b]) <
                    1e-9);
    FtB_Matrix_free(&A);
}

/* ---- room */

static bool takes(int64_t bytes)
{
    const ftb_backend *gpu = ftb_device(ftb_context());
    void *device;
    if (gpu->memory->alloc(gpu, NULL, &device, bytes) != GrB_SUCCESS)
        return false;
    gpu->memory->free(gpu, device, bytes);
    return true;
}

/* A form gives way to what needs its memory, unless somebody is using it, and is made again. */
static void gives_way(void **state)
{
    enum { STEP = 1024, MORE = 16 << 10 };
    rng r = rng_new();
    (void)state;
    if (!fake_gpu_emulates() || real_gpu())
        return;
    FtB_Matrix A = shared_columns(&r, &(shared_shape){800, 90, 40, 80}, 0);
    ftb_gpu_hybrid h;
    ftb_gpu_device *gpu = ftb_gpu_of(ftb_device(NULL));
    for (int again = 0; again < 2; again++) {
        char room[24];
        assert_ok(ftb_gpu_hybrid_ask(&h, A->pattern, gpu, 4, 16, true));
        assert_true(h.nentries * 6 > MORE + STEP);
        assert_ok(ftb_gpu_trim(&gpu->row));
        for (int64_t all = 0;; all += STEP) { /* hardly more than there is now */
            snprintf(room, sizeof room, "%lld", (long long)all);
            setenv("FAKE_CUDA_MEMORY", room, 1);
            if (takes(STEP / 2))
                break;
        }
        assert_false(takes(MORE));
        assert_true(has_hybrid_form(A));
        ftb_gpu_hybrid_end(&h);
        assert_true(takes(MORE));
        assert_false(has_hybrid_form(A));
        unsetenv("FAKE_CUDA_MEMORY");
    }
    FtB_Matrix_free(&A);
}

/* All forms on a GPU take no more than their share of it: those unused for longest go. */
static void share(void **state)
{
    rng r = rng_new();
    (void)state;
    if (!fake_gpu_emulates())
        return;
    FtB_Matrix A = shared_columns(&r, &(shared_shape){300, 90, 40, 80}, 0);
    ftb_gpu_device *gpu = ftb_gpu_of(ftb_device(NULL));
    const int64_t memory = gpu->facts.memory;
    gpu->facts.memory = 70 * A->pattern->nvals; /* three forms of some 10 bytes an entry are too many */
    for (int threshold = 2; threshold < 12; threshold++) {
        ftb_gpu_hybrid h;
        assert_ok(ftb_gpu_hybrid_ask(&h, A->pattern, gpu, threshold, 16, true));
        ftb_gpu_hybrid_end(&h);
        const ftb_derived *of = A->pattern->derived; /* the newest is first: not it, nor the last one */
        assert_int_equal(of->key >> 32, threshold);
        assert_true(threshold == 2 || of->next->key >> 32 == threshold - 1);
        assert_true(hybrid_forms(A) <= 2);
    }
    gpu->facts.memory = memory;
    gpu->recording = true; /* by another thread: they may be what it will replay */
    assert_false(ftb_gpu_forms_drop(gpu));
    assert_true(has_hybrid_form(A));
    gpu->recording = false;
    assert_true(ftb_gpu_forms_drop(gpu));
    assert_false(has_hybrid_form(A));
    FtB_Matrix_free(&A);
}

/* Density and form of a pattern of its own, each allocation failing in turn. */
static GrB_Info make_all(void *arg)
{
    FtB_Matrix from = arg, A;
    ftb_gpu_density d;
    ftb_gpu_hybrid h;
    GrB_Info info = FtB_Matrix_wrap_csr(&A, FTB_FP32, from->pattern->nrows, from->pattern->ncols, 0,
                                        from->pattern->rowptr, from->pattern->colidx, NULL);
    if (info == GrB_SUCCESS)
        info = ftb_gpu_density_ask(&d, A->pattern);
    if (info == GrB_SUCCESS)
        info = ftb_gpu_hybrid_ask(&h, A->pattern, ftb_gpu_of(ftb_device(NULL)), 2, 8, true);
    if (info == GrB_SUCCESS)
        ftb_gpu_hybrid_end(&h);
    FtB_Matrix_free(&A);
    return info;
}

static void allocations(void **state)
{
    rng r = rng_new();
    (void)state;
    FtB_Matrix A = shared_columns(&r, &(shared_shape){60, 50, 9, 40}, 0);
    fail_every_allocation(make_all, NULL, A);
    FtB_Matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(forms, fake_gpu_clean),
                                       cmocka_unit_test_teardown(density, fake_gpu_clean),
                                       cmocka_unit_test_teardown(gives_way, fake_gpu_clean),
                                       cmocka_unit_test_teardown(share, fake_gpu_clean),
                                       cmocka_unit_test_teardown(allocations, fake_gpu_clean)};
    return cmocka_run_group_tests(tests, fake_gpu_start, NULL);
}

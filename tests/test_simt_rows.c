/* Steps on rows of blocks on a GPU: every variant in the emulator, on memory that ends where its last row
 * does, and the sectors of 32 bytes that are touched. What they make is compared in tests/test_gpu_rows.c,
 * test_gpu_update.c and test_gpu_head_dots.c; but rows of the host, of which some are kept, are here. */
#include "support/simt_case.h"

#include "gpu/columns.h"
#include "gpu/items.h"
#include "gpu/kernels/copy_rows.h"
#include "gpu/kernels/dropout_draws.h"
#include "gpu/kernels/gather_lists.h"
#include "gpu/kernels/head_dots_rows.h"
#include "gpu/kernels/mean_heads_rows.h"
#include "gpu/kernels/update_steps.h"

enum { SECTOR = 32, MOST = 8 };

/* Memory of a launch, reals that are small. */
static struct {
    void *made[MOST];
    int count;
} memory;

static void *reals(int64_t count, int64_t size)
{
    char *made = case_memory(count, (size_t)size, "values");
    for (int64_t k = 0; k < count; k++) {
        const double x = 0.25 * (double)(k % 7);
        const float narrow = (float)x;
        memcpy(made + k * size, size == 4 ? (const void *)&narrow : &x, (size_t)size);
    }
    memory.made[memory.count++] = made;
    return made;
}

static void *list(int64_t count)
{
    long long *made = case_memory(count, sizeof *made, "list");
    for (int64_t k = 0; k < count; k++)
        made[k] = count - 1 - k;
    return memory.made[memory.count++] = made;
}

/* Launches, and forgets the memory. */
static double sectors(const char *name, ftb_gpu_grid grid, void *arguments)
{
    simt_report report;
    case_launch(name, simt_line((unsigned)grid.x), grid.threads, (void *[]){arguments},
                &(simt_options){.seed = 1, .count = 1}, &report);
    while (memory.count > 0)
        case_forget(memory.made[--memory.count]);
    return (double)report.global_sectors;
}

/* Where rows fill sectors the formula is exact; ragged rows have none, and must have no faults. */
static void expect(const char *name, double got, bool ragged, double formula)
{
    if (!ragged && !(got >= formula && got <= 1.02 * formula))
        fail_msg("%s: %g sectors, not %g", name, got, formula);
}

/* Rows and columns, and how far apart rows are. */
typedef struct rows {
    int64_t n, d, ld;
    bool ragged;
} rows;
static const rows shapes[] = {
    {8, 512, 512, false}, {5, 131, 132, true}, {3, 1, 4, true}, {1, 1027, 1028, true}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* To the end of the last row. */
static int64_t extent(const rows *r) { return (r->n - 1) * r->ld + r->d; }
static double bytes(const rows *r, int64_t size) { return (double)(r->n * r->d * size); }
static int64_t size_of(const char *type) { return strcmp(type, "f32") == 0 ? 4 : 8; }

/* ---- rows */

static void copy(const char *name, const char *type, int arrays, int each)
{
    for (int n = 0; n < SHAPES; n++) {
        const rows *r = &shapes[n];
        const int64_t size = size_of(type);
        ftb_copy_arguments a = {.ncols = r->d, .ldx = r->ld, .ldy = r->ld, .value = 1};
        a.x = reals(extent(r), size);
        a.y = reals(extent(r), size);
        const ftb_gpu_grid grid = ftb_gpu_items(&a.items, r->n, (r->d + each - 1) / each);
        expect(name, sectors(name, grid, &a), r->ragged, arrays * bytes(r, size) / SECTOR);
    }
}
enum { FILL = 1, PUT, ADD, MEAN, SPREAD }; /* the first three: arrays that are touched */
#define COPY(type, what, values) copy("copy_" #type "_" #what "_" #values, #type, what, values);

static void gather(const char *name, int unit)
{
    for (int64_t n = 1; n < 40; n += 31) { /* 32 rows of 64 bytes: one is of a half warp or more */
        ftb_gather_arguments a = {.from = list(n), .to = list(n), .ldx = 64 / unit, .ldy = 64 / unit};
        a.x = reals(n * 16, 4);
        a.y = reals(n * 16, 4);
        const ftb_gpu_grid grid = ftb_gpu_items(&a.items, n, 64 / unit);
        const double warps = (double)n * 64 / unit / 32, rows_of_warp = fmax(1, 32.0 * unit / 64);
        const double lists = 2 * warps * ceil(rows_of_warp * 8 / SECTOR);
        const double moved = 2 * (double)n * 64 / SECTOR * fmax(1, 1.0 / unit);
        expect(name, sectors(name, grid, &a), n == 1, lists + moved);
    }
}
#define GATHER(unit, type) gather("gather_" #unit, unit);

static void scatter(const char *name, const char *type, int each)
{
    for (int n = 0; n < SHAPES; n++) {
        const rows *r = &shapes[n];
        const int64_t size = size_of(type);
        ftb_scatter_arguments a = {.rows = list(r->n), .ncols = r->d, .ldx = r->ld, .ldy = r->ld};
        a.x = reals(extent(r), size);
        a.y = reals(extent(r), size);
        const ftb_gpu_grid grid = ftb_gpu_items(&a.items, r->n, (r->d + each - 1) / each);
        const double warps = (double)(r->n * r->d) / each / 32; /* each of one row */
        expect(name, sectors(name, grid, &a), r->ragged, 3 * bytes(r, size) / SECTOR + warps);
    }
}
#define SCATTER(type, values) scatter("scatter_" #type "_" #values, #type, values);

static void dropout(const char *name, const char *type, int arrays)
{
    for (int n = 0; n < SHAPES; n++) {
        const rows *r = &shapes[n];
        const int64_t size = size_of(type);
        ftb_dropout_arguments a = {
            .count = r->n * r->d, .ncols = r->d, .ldx = r->ld, .ldy = r->ld, .threshold = 3000, .scale = 2};
        a.x = reals(extent(r), size);
        a.y = reals(extent(r), size);
        const ftb_gpu_grid grid = {.x = (a.count + FTB_DROPOUT_VALUES - 1) / FTB_DROPOUT_VALUES,
                                   .threads = FTB_DROPOUT_THREADS};
        expect(name, sectors(name, grid, &a), r->ragged, arrays * bytes(r, size) / SECTOR);
    }
}
#define DROPOUT(type, what) dropout("dropout_" #type "_" #what, #type, what);

enum { HEADS = 4 };
static void mean_heads(const char *name, const char *type, bool mean, bool add, int each)
{
    for (int n = 0; n < 2; n++) {
        const int64_t size = size_of(type), width = n == 0 ? 64 : 4, count = n == 0 ? 32 : 3;
        ftb_mean_heads_arguments a = {.heads = HEADS, .width = width, .factor = 1.0 / HEADS};
        a.ldx = mean ? HEADS * width : width;
        a.ldy = mean ? width : HEADS * width;
        a.x = reals(count * a.ldx, size);
        a.y = reals(count * a.ldy, size);
        const ftb_gpu_grid grid = ftb_gpu_items(&a.items, count, width / each);
        const double wide = (double)(count * width * HEADS * size) / SECTOR;
        expect(name, sectors(name, grid, &a), n > 0, wide + wide / HEADS + (add ? wide : 0));
    }
}
#define MEAN_HEADS(type, what, values)                                                                       \
    mean_heads("mean_heads_" #type "_" #what "_" #values, #type, what == MEAN, what == ADD, values);

static void every_row(void **state)
{
    (void)state;
    FTB_COPY(COPY)
    FTB_GATHER(GATHER)
    FTB_SCATTER(SCATTER)
    FTB_DROPOUT(DROPOUT)
    FTB_MEAN_HEADS(MEAN_HEADS)
}

/* ---- steps */

static void update(const char *name, const char *type, int moments, int each)
{
    for (int64_t count = 1; count < 5000; count += 4095) {
        const int64_t size = size_of(type);
        ftb_update_arguments a = {.count = count, .how = {.rate = 1, .clip = 1, .scale = 1, .eps = 1}};
        a.gradient = reals(count, size);
        a.values = reals(count, size);
        a.first = reals(moments > 0 ? count : 0, size);
        a.second = reals(moments > 1 ? count : 0, size);
        const ftb_gpu_grid grid = ftb_gpu_items(&a.items, 1, (count + each - 1) / each);
        expect(name, sectors(name, grid, &a), count == 1,
               (3 + 2 * moments) * (double)(count * size) / SECTOR);
    }
}
enum { SGD = 0, MOMENTUM = 1, NESTEROV = 1, ADAM = 2 };
#define UPDATE(type, rule, values) update("update_" #type "_" #rule "_" #values, #type, rule, values);

/* As gpu/columns.c has it, on memory that kernels know. */
static ftb_gpu_columns columns(int64_t nrows, int lanes, int parts, unsigned tiles, int64_t ncols)
{
    const ftb_gpu_grid first = {.x = parts * (int64_t)tiles, .threads = FTB_COLUMN_PARTS_BLOCK},
                       second = {.x = tiles, .threads = FTB_COLUMN_PARTS_BLOCK};
    return (ftb_gpu_columns){
        {nrows, ncols, reals(parts * ncols, sizeof(double)), lanes, parts, tiles}, first, second, 0};
}

static void sum_squares(const char *name, const char *type)
{
    enum { COUNT = 8192, PARTS = 8 };
    const int64_t size = size_of(type);
    ftb_sum_squares_arguments a = {.parts = columns(COUNT, 0, PARTS, 1, 1).parts, .clip = 1};
    a.gradient = reals(COUNT, size);
    a.sum = reals(1, sizeof(double));
    const ftb_gpu_grid grid = {.x = PARTS, .threads = FTB_COLUMN_PARTS_BLOCK};
    expect(name, sectors(name, grid, &a), false, COUNT * (double)size / SECTOR + PARTS);
}
#define SUM_SQUARES(type) sum_squares("sum_squares_" #type, #type);

static void every_step(void **state)
{
    (void)state;
    FTB_UPDATE(UPDATE)
    FTB_SUM_SQUARES(SUM_SQUARES)
}

/* ---- heads' dot products */

enum { WIDTH = 32, ROWS = 64 };

/* Rows and vectors are read as often; a span of 8 lanes has a result, so that a warp writes one sector. */
static void dot(const char *name, const char *type, int each)
{
    const int64_t size = size_of(type);
    ftb_head_dots_arguments a = {.width = WIDTH, .span = 8, .ldx = HEADS * WIDTH, .ldo = HEADS};
    a.x = reals(ROWS * a.ldx, size);
    a.a = reals(a.ldx, size);
    a.out = reals(ROWS * HEADS, size);
    const ftb_gpu_grid grid = ftb_gpu_items(&a.items, ROWS, HEADS * a.span);
    const double parts = FTB_HEAD_DOTS_FEATURES / (double)each, read = (double)(ROWS * a.ldx * size) / SECTOR;
    const double again = each > 1 && size == 4 ? 1 : parts; /* sectors that a part of a lane's four touches */
    expect(name, sectors(name, grid, &a), false, 2 * read * again + ROWS);
}

static void gradient_of_x(const char *name, const char *type, int each)
{
    const int64_t size = size_of(type);
    ftb_head_dots_arguments a = {.width = WIDTH, .lddy = HEADS, .ldo = HEADS * WIDTH};
    a.a = reals(a.ldo, size);
    a.dy = reals(ROWS * HEADS, size);
    a.out = reals(ROWS * a.ldo, size);
    const ftb_gpu_grid grid = ftb_gpu_items(&a.items, ROWS, a.ldo / each);
    const double written = (double)(ROWS * a.ldo * size) / SECTOR, warps = (double)(ROWS * a.ldo) / each / 32;
    expect(name, sectors(name, grid, &a), false, 2 * written + warps);
}
#define HEAD_DOTS(type, values)                                                                              \
    dot("head_dots_" #type "_DOT_" #values, #type, values);                                                  \
    gradient_of_x("head_dots_" #type "_DX_" #values, #type, values);

/* A warp has 32 columns of a row, which are one head. */
static void gradient_of_a(const char *name, const char *join, const char *type)
{
    enum { PARTS = 2, COLUMNS = HEADS * WIDTH };
    const int64_t size = size_of(type);
    const ftb_gpu_columns c = columns(ROWS, 5, PARTS, COLUMNS / 32, COLUMNS);
    ftb_head_dots_arguments a = {.parts = c.parts, .width = WIDTH, .ldx = COLUMNS, .lddy = HEADS};
    a.x = reals(ROWS * COLUMNS, size);
    a.dy = reals(ROWS * HEADS, size);
    const double partial = PARTS * COLUMNS * 8.0 / SECTOR, read = (double)(ROWS * COLUMNS * size) / SECTOR;
    expect(name, sectors(name, c.first, &a), false, read + ROWS * HEADS + partial);
    const ftb_gpu_columns again = columns(ROWS, 5, PARTS, COLUMNS / 32, COLUMNS);
    a.parts = again.parts;
    a.out = reals(COLUMNS, size);
    expect(join, sectors(join, again.second, &a), false, partial + (double)(COLUMNS * size) / SECTOR);
}
#define HEAD_DOTS_DA(type) gradient_of_a("head_dots_" #type "_DA", "head_dots_" #type "_JOIN", #type);

static void every_head(void **state)
{
    (void)state;
    FTB_HEAD_DOTS(HEAD_DOTS)
    FTB_HEAD_DOTS_DA(HEAD_DOTS_DA)
}

/* ---- rows that are kept */

static unsigned char *bytes_of(rng *r, int64_t count, const char *name)
{
    unsigned char *made = case_memory(count, 1, name);
    for (int64_t k = 0; k < count; k++)
        made[k] = (unsigned char)rng_bits(r);
    return memory.made[memory.count++] = made;
}

/* `width` units a row: each is its copy where it has a place, and what is between rows stays. */
static void kept_one(rng *r, const char *name, int64_t unit, int64_t width, bool none)
{
    enum { COUNT = 40, KEPT = 9 };
    const int64_t n = 1 + rng_below(r, 70), ldx = width + rng_below(r, 3), ldkept = width + rng_below(r, 2),
                  ldy = width + rng_below(r, 3);
    const unsigned char *x = bytes_of(r, COUNT * ldx * unit, "x"),
                        *kept = bytes_of(r, KEPT * ldkept * unit, "kept");
    unsigned char *y = bytes_of(r, n * ldy * unit, "y"), *before = malloc((size_t)(n * ldy * unit));
    long long *from = list(n), *hits = list(1);
    int *place = memory.made[memory.count++] = case_memory(COUNT, sizeof *place, "place");
    int64_t expected = 7;
    simt_report report;
    assert_non_null(before);
    memcpy(before, y, (size_t)(n * ldy * unit));
    *hits = expected;
    for (int k = 0; k < COUNT; k++)
        place[k] = rng_below(r, 2) ? (int)rng_below(r, KEPT) : -1;
    for (int64_t t = 0; t < n; t++)
        from[t] = rng_below(r, COUNT);
    ftb_gather_kept_arguments a = {.from = from,
                                   .place = none ? NULL : place,
                                   .kept = kept,
                                   .x = x,
                                   .y = y,
                                   .ldkept = ldkept,
                                   .ldx = ldx,
                                   .ldy = ldy,
                                   .hits = (unsigned long long *)hits};
    const ftb_gpu_grid grid = ftb_gpu_items(&a.items, n, width);
    case_launch(name, simt_line((unsigned)grid.x), grid.threads, (void *[]){&a},
                &(simt_options){.seed = rng_bits(r)}, &report);
    for (int64_t t = 0; t < n; t++) {
        const int at = none ? -1 : place[from[t]];
        const unsigned char *row = at >= 0 ? kept + at * ldkept * unit : x + from[t] * ldx * unit;
        const int64_t gap = (t * ldy + width) * unit;
        expected += at >= 0;
        assert_memory_equal(y + t * ldy * unit, row, (size_t)(width * unit));
        assert_memory_equal(y + gap, before + gap, (size_t)((ldy - width) * unit));
    }
    assert_int_equal(*hits, expected);
    free(before);
    while (memory.count > 0)
        case_forget(memory.made[--memory.count]);
}

static void every_kept(void **state)
{
    enum { WIDTHS = 5 };
    static const int64_t widths[WIDTHS] = {1, 2, 31, 33, 257};
    (void)state;
    rng r = rng_new();
#define KEPT(bytes, type)                                                                                    \
    for (int w = 0; w < 2 * WIDTHS; w++)                                                                     \
        kept_one(&r, "gather_kept_" #bytes, bytes, widths[w / 2], w % 2);
    FTB_GATHER(KEPT)
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_row), cmocka_unit_test(every_step),
                                       cmocka_unit_test(every_head), cmocka_unit_test(every_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

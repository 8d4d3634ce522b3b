/* Every registered kernel of sparse x sparse products, on every instruction set of this machine, against a
 * loop over products; and the counts and sums of hot columns. */
#include "support/check.h"

#include "cpu/kernels/spgemm_bits.h"
#include "cpu/kernels/spgemm_kernels.h"
#include "support/rng.h"

#include <math.h>

#define LEFT 40  /* entries of the left row */
#define INNER 60 /* rows of the right operand */
#define IDS 300  /* columns */
#define LONGEST 90
#define CODES 4

typedef struct product {
    ftb_spgemm p;
    int64_t arow[2], brow[INNER + 1];
    int32_t acol[LEFT];
    uint16_t id16[INNER * LONGEST];
    uint32_t id32[INNER * LONGEST];
    uint8_t acode[LEFT], bcode[INNER * LONGEST];
    float a32[LEFT], b32[INNER * LONGEST], table32[CODES * CODES * 8];
    double a64[LEFT], b64[INNER * LONGEST], table64[CODES * CODES * 8];
    uint64_t words[CODES * CODES * 2]; /* table64 as packed cells of one field a word */
} product;

/* Small whole numbers, so that sums are exact in any type. */
static void make_product(product *x, rng *r, ftb_spgemm_kind message, FtB_Type cell, int64_t width, bool id16)
{
    int64_t at = 0;
    memset(x, 0, sizeof *x);
    for (int64_t k = 0; k < INNER; k++) {
        int64_t length = k == 3 ? LONGEST : rng_below(r, 20); /* empty and long rows, too */
        for (int64_t t = 0; t < length; t++, at++) {
            x->id32[at] = (uint32_t)ftb_min(t * (IDS / LONGEST) + rng_below(r, 3), IDS - 1);
            x->id16[at] = (uint16_t)x->id32[at];
            x->bcode[at] = (uint8_t)rng_below(r, CODES);
            x->b32[at] = (float)(rng_below(r, 9) - 4);
            x->b64[at] = (double)x->b32[at];
        }
        x->brow[k + 1] = at;
    }
    for (int64_t t = 0; t < LEFT; t++) {
        x->acol[t] = (int32_t)rng_below(r, INNER);
        x->acode[t] = (uint8_t)rng_below(r, CODES);
        x->a32[t] = (float)(rng_below(r, 9) - 4);
        x->a64[t] = (double)x->a32[t];
    }
    x->arow[1] = LEFT;
    for (int64_t t = 0; t < CODES * CODES * width; t++) {
        x->table32[t] = (float)(rng_below(r, 9) - (cell == FTB_UINT64 ? -1 : 4));
        x->table64[t] = (double)x->table32[t];
        if (cell == FTB_UINT64)
            x->words[t] = (uint64_t)x->table64[t];
    }
    bool table = message == FTB_MESSAGE_TABLE, single = cell == FTB_FP32;
    x->p = (ftb_spgemm){.nrows = 1,
                        .ncols = IDS,
                        .arow = x->arow,
                        .acol = x->acol,
                        .brow = x->brow,
                        .id16 = id16,
                        .bid = id16 ? (void *)x->id16 : (void *)x->id32,
                        .nids = IDS,
                        .message = message,
                        .cell = cell,
                        .cell_width = width,
                        .table = single               ? (void *)x->table32
                                 : cell == FTB_UINT64 ? (void *)x->words
                                                      : (void *)x->table64,
                        .table_row = CODES * width};
    x->p.aval = table ? (void *)x->acode : single ? (void *)x->a32 : (void *)x->a64;
    x->p.bval = table ? (void *)x->bcode : single ? (void *)x->b32 : (void *)x->b64;
}

/* What cell `id` should hold. */
static void expect(const product *x, double sum[IDS][8], bool present[IDS])
{
    const ftb_spgemm *p = &x->p;
    memset(sum, 0, sizeof(double) * IDS * 8);
    memset(present, 0, sizeof(bool) * IDS);
    for (int64_t e = 0; e < LEFT; e++)
        for (int64_t b = x->brow[x->acol[e]]; b < x->brow[x->acol[e] + 1]; b++)
            for (int64_t f = 0; f < p->cell_width; f++) {
                double z = p->message == FTB_MESSAGE_PAIR ? 1
                           : p->message == FTB_MESSAGE_TIMES
                               ? x->a64[e] * x->b64[b]
                               : x->table64[(x->acode[e] * CODES + x->bcode[b]) * p->cell_width + f];
                sum[x->id32[b]][f] += z;
                present[x->id32[b]] = true;
            }
}

static double cell_value(const ftb_spgemm *p, const void *acc, int64_t at)
{
    return p->cell == FTB_UINT32   ? ((const uint32_t *)acc)[at]
           : p->cell == FTB_FP32   ? (double)((const float *)acc)[at]
           : p->cell == FTB_UINT64 ? (double)((const uint64_t *)acc)[at]
                                   : ((const double *)acc)[at];
}

static void empty_cells(const ftb_spgemm *p, void *acc, int64_t n)
{
    for (int64_t t = 0; t < n * p->cell_width; t++)
        if (p->cell == FTB_UINT32)
            ((uint32_t *)acc)[t] = 0;
        else if (p->cell == FTB_UINT64)
            ((uint64_t *)acc)[t] = 0;
        else if (p->cell == FTB_FP32)
            ((float *)acc)[t] = -0.0f;
        else
            ((double *)acc)[t] = -0.0;
}

static void check_kernel(rng *r, ftb_spgemm_kind message, FtB_Type cell, int64_t width, bool id16,
                         ftb_spgemm_locate locate)
{
    static product x;
    static double sum[IDS][8], acc[1024 * 8];
    static bool present[IDS];
    static uint32_t list[1025], key[1024], slot[IDS];
    static uint64_t words[16];
    make_product(&x, r, message, cell, width, id16);
    expect(&x, sum, present);
    empty_cells(&x.p, acc, 1024);
    memset(key, 0, sizeof key);
    for (int64_t id = 0; id < IDS; id++) /* admit every third column */
        slot[id] = id % 3 == 0 ? (uint32_t)(id / 3 + 1) : 0;
    ftb_row row = {.acc = acc, .list = list, .key = key, .hash_shift = 22, .slot = slot};
    ftb_spgemm_kernel kernel = FTB_PICK(ftb_spgemm_pick)(&x.p, locate);
    assert_non_null(kernel);
    kernel(&x.p, 0, LEFT, &row);
    FTB_PICK(ftb_spgemm_presence)(&x.p, acc, 1024, words);
    int64_t cells = 0;
    for (int64_t id = 0; id < IDS; id++) {
        if (locate == FTB_LOCATE_SLOT && !slot[id])
            continue;
        int64_t at = locate == FTB_LOCATE_SLOT ? slot[id] : id;
        if (locate == FTB_LOCATE_HASH && present[id]) {
            int64_t before = row.count;
            at = ftb_bucket_of(&row, (uint32_t)id);
            assert_int_equal(row.count, before); /* it was there */
        }
        if (present[id] || locate != FTB_LOCATE_HASH)
            assert_int_equal((words[at / 64] >> (at % 64)) & 1, present[id]);
        for (int64_t f = 0; f < width && present[id]; f++)
            assert_true(fabs(cell_value(&x.p, acc, at * width + f) - sum[id][f]) == 0);
        cells += present[id];
    }
    if (locate == FTB_LOCATE_LIST || locate == FTB_LOCATE_HASH)
        assert_int_equal(row.count, cells);
}

static void every_kernel(void **state)
{
    (void)state;
    rng r = rng_new();
    int best = ftb_isa(), checked = 0;
    for (int isa = 0; isa <= best; isa++) {
        ftb_isa_force(isa);
#define CHECK(name, message, cell, width)                                                                    \
    for (int locate = 0; locate < FTB_NLOCATE; locate++)                                                     \
        for (int id16 = 0; id16 < 2; id16++, checked++)                                                      \
            check_kernel(&r, message, cell, width, id16, (ftb_spgemm_locate)locate);
        FTB_SPGEMM_KERNELS(CHECK)
    }
    ftb_isa_force(-1);
    print_message("%d kernels on %d instruction sets\n", checked, best + 1);
}

/* Fields of packed cells, and those that every random case would miss: the widest. */
static void packed_fields(void **state)
{
    (void)state;
    rng r = rng_new();
    int best = ftb_isa();
    const FtB_Type types[] = {FTB_FP32, FTB_FP64, FTB_INT64};
    static uint64_t acc[1024];
    static uint32_t cells[300];
    static double h[300 * 8];
    for (int round = 0; round < 60; round++) {
        ftb_packed packed = {.words = 1 + round % 2, .width = 2 + (int)rng_below(&r, 4)};
        FtB_Type type = types[round % 3];
        int used[2] = {0, 0};
        int64_t n = rng_below(&r, 301);
        ftb_isa_force(round / 6 % (best + 1));
        for (int c = 0; c < packed.width; c++) {
            int word = (int)rng_below(&r, packed.words), bits = 1 + (int)rng_below(&r, 12);
            packed.field[c].word = (uint8_t)word;
            packed.field[c].shift = (uint8_t)used[word];
            packed.field[c].bits = (uint8_t)bits;
            packed.field[c].unit = type == FTB_INT64 ? 4 : 0.25;
            used[word] += bits;
        }
        for (int64_t t = 0; t < 1024; t++)
            acc[t] = rng_bits(&r);
        for (int64_t t = 0; t < n; t++)
            cells[t] = (uint32_t)rng_below(&r, 1024 / packed.words);
        FTB_PICK(ftb_spgemm_unpack)(&packed, acc, cells, n, type, h);
        for (int64_t t = 0; t < n * packed.width; t++) {
            int64_t c = t % packed.width;
            uint64_t word = acc[cells[t / packed.width] * (uint32_t)packed.words + packed.field[c].word];
            double goal = (double)((word >> packed.field[c].shift) % (UINT64_C(1) << packed.field[c].bits));
            assert_true(ftb_get_real(h, type, t) == goal * packed.field[c].unit);
        }
    }
    ftb_isa_force(-1);
}

static void unknown_kernels(void **state)
{
    (void)state;
    ftb_spgemm p = {.message = FTB_MESSAGE_PAIR, .cell = FTB_FP64, .cell_width = 1};
    assert_null(FTB_PICK(ftb_spgemm_pick)(&p, FTB_LOCATE_DENSE));
}

/* Hot columns: bit counts of any number of rows. */
static void bit_counts(void **state)
{
    (void)state;
    enum { ROWS = 50, COLUMNS = 2 * FTB_BITS_LINE, MOST = 3000 };
    static uint64_t table[ROWS * COLUMNS / 64] __attribute__((aligned(64)));
    static int32_t k[MOST];
    static uint32_t counts[COLUMNS], expected[COLUMNS];
    rng r = rng_new();
    for (size_t t = 0; t < sizeof table / sizeof table[0]; t++) {
        uint64_t half = rng_bits(&r);
        table[t] = t % 7 == 0 ? UINT64_MAX : half & rng_bits(&r);
    }
    static const int64_t lengths[] = {0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 1023, 1024, MOST};
    int best = ftb_isa();
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++) {
        memset(expected, 0, sizeof expected);
        for (int64_t t = 0; t < lengths[l]; t++) {
            k[t] = (int32_t)rng_below(&r, ROWS);
            for (int64_t c = 0; c < COLUMNS; c++)
                expected[c] +=
                    (uint32_t)((table[(c / 512 * ROWS + k[t]) * 8 + c % 512 / 64] >> (c % 64)) & 1);
        }
        for (int isa = 0; isa <= best; isa++) {
            ftb_isa_force(isa);
            memset(counts, 255, sizeof counts);
            FTB_PICK(ftb_spgemm_bits)(table, ROWS, COLUMNS, k, lengths[l], counts);
            assert_memory_equal(counts, expected, sizeof counts);
        }
    }
    ftb_isa_force(-1);
}

/* Hot columns: sums of products of factors up to 15, of any number of rows. */
static void nibble_sums(void **state)
{
    (void)state;
    enum { ROWS = 50, COLUMNS = 2 * FTB_BITS_LINE, HALF = FTB_BITS_LINE / 2, MOST = 3000 };
    static uint8_t table[ROWS * COLUMNS / 2] __attribute__((aligned(64)));
    static uint8_t factor[MOST];
    static int32_t k[MOST];
    static uint32_t sums[COLUMNS];
    static float cells[COLUMNS], expected[COLUMNS];
    rng r = rng_new();
    for (int64_t t = 0; t < ROWS * COLUMNS / 2;
         t++) { /* row 3 and every seventh column hold nothing, row 4 most */
        bool none = t / HALF % ROWS == 3 || t % HALF % 7 == 0;
        table[t] = none ? 0 : t / HALF % ROWS == 4 ? 255 : (uint8_t)(rng_bits(&r) & rng_bits(&r));
    }
    static const int64_t lengths[] = {0, 1, 2, 15, 16, 17, 290, 291, 292, 581, 582, 583, MOST};
    int best = ftb_isa();
    for (size_t l = 0; l < 2 * sizeof lengths / sizeof lengths[0]; l++) {
        const int64_t n = lengths[l / 2];
        for (int64_t t = 0; t < n; t++) { /* odd rounds: the largest sums */
            k[t] = l % 2 ? 4 : (int32_t)rng_below(&r, ROWS);
            factor[t] = l % 2 ? 15 : (uint8_t)(1 + rng_below(&r, 15));
        }
        for (int64_t c = 0; c < COLUMNS; c++) {
            double sum = 0;
            for (int64_t t = 0; t < n; t++) {
                uint8_t byte = table[(c / FTB_BITS_LINE * ROWS + k[t]) * HALF + c % HALF];
                sum += factor[t] * (c % FTB_BITS_LINE < HALF ? byte & 15 : byte >> 4);
            }
            expected[c] = sum > 0 ? (float)(0.25 * sum) : -0.0f;
        }
        for (int isa = 0; isa <= best; isa++) {
            ftb_isa_force(isa);
            memset(sums, 0, sizeof sums);
            FTB_PICK(ftb_spgemm_nibbles)
            ((const uint64_t *)(const void *)table, ROWS, COLUMNS, k, factor, n / 3, sums);
            FTB_PICK(ftb_spgemm_nibbles)
            ((const uint64_t *)(const void *)table, ROWS, COLUMNS, k + n / 3, factor + n / 3, n - n / 3,
             sums);
            FTB_PICK(ftb_spgemm_cells)(sums, COLUMNS, 0.25f, cells);
            assert_memory_equal(cells, expected, sizeof cells);
        }
    }
    ftb_isa_force(-1);
}

/* Hot columns: sums of looked-up messages, in the order of the rows. */
static void lookup_sums(void **state)
{
    (void)state;
    enum { ROWS = 50, COLUMNS = 2 * FTB_BITS_LINE, HALF = FTB_BITS_LINE / 2, MOST = 200, CODED = 7 };
    static uint8_t table[ROWS * COLUMNS / 2] __attribute__((aligned(64)));
    static uint8_t code[MOST];
    static int32_t k[MOST];
    static float values[CODED][16], cells[COLUMNS], expected[COLUMNS];
    rng r = rng_new();
    for (int64_t t = 0; t < ROWS * COLUMNS / 2; t++) /* row 3 and every seventh byte hold nothing */
        table[t] = t / HALF % ROWS == 3 || t % 7 == 0 ? 0 : (uint8_t)(rng_bits(&r) & rng_bits(&r));
    for (int c = 0; c < CODED * 16; c++)
        values[c / 16][c % 16] = c % 16 ? (float)(rng_unit(&r) - 0.5) : -0.0f;
    static const int64_t lengths[] = {0, 1, 2, 15, 16, 17, MOST};
    int best = ftb_isa();
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++) {
        for (int64_t t = 0; t < lengths[l]; t++) {
            k[t] = (int32_t)rng_below(&r, ROWS);
            code[t] = (uint8_t)rng_below(&r, CODED);
        }
        for (int64_t c = 0; c < COLUMNS; c++) {
            expected[c] = c % 3 ? -0.0f : 1;
            for (int64_t t = 0; t < lengths[l]; t++) {
                uint8_t byte = table[(c / FTB_BITS_LINE * ROWS + k[t]) * HALF + c % HALF];
                int half = c % FTB_BITS_LINE < HALF ? byte & 15 : byte >> 4;
                if (half)
                    expected[c] += values[code[t]][half];
            }
        }
        for (int isa = 0; isa <= best; isa++) {
            ftb_isa_force(isa);
            for (int64_t c = 0; c < COLUMNS; c++)
                cells[c] = c % 3 ? -0.0f : 1;
            FTB_PICK(ftb_spgemm_lookup)
            ((const uint64_t *)(const void *)table, ROWS, COLUMNS, k, code, lengths[l],
             (const float(*)[16])values, cells);
            assert_memory_equal(cells, expected, sizeof cells);
        }
    }
    ftb_isa_force(-1);
}

/* Dense rows in column order: any part of the columns, renamed or not, in place of looking one by one. */
static void sweeps(void **state)
{
    (void)state;
    enum { COLUMNS = 77 };
    static const FtB_Type cells[] = {FTB_UINT32, FTB_FP32, FTB_FP64};
    static double acc[COLUMNS], h[COLUMNS + FTB_SWEEP_ROOM];
    static int32_t cols[COLUMNS + FTB_SWEEP_ROOM];
    uint32_t rank[COLUMNS];
    rng r = rng_new();
    int best = ftb_isa();
    for (uint32_t j = 0; j < COLUMNS; j++)
        rank[j] = (j * 5 + 3) % COLUMNS;
    for (int round = 0; round < 600; round++) {
        ftb_spgemm p = {.ncols = COLUMNS, .nids = COLUMNS, .cell = cells[round % 3], .cell_width = 1};
        p.rank = round % 2 ? rank : NULL;
        empty_cells(&p, acc, COLUMNS);
        for (int64_t t = 0; t < round % 100; t++) {
            int64_t at = rng_below(&r, COLUMNS);
            if (p.cell == FTB_UINT32)
                ((uint32_t *)acc)[at] = (uint32_t)t + UINT32_C(4000000000);
            else if (p.cell == FTB_FP32)
                ((float *)acc)[at] = (float)t;
            else
                acc[at] = (double)t;
        }
        int64_t first = rng_below(&r, COLUMNS + 1), last = first + rng_below(&r, COLUMNS + 1 - first);
        for (int isa = 0; isa <= best; isa++) {
            ftb_isa_force(isa);
            int64_t n = FTB_PICK(ftb_spgemm_sweep)(&p, acc, first, last, cols, h), found = 0;
            for (int64_t j = first; j < last; j++) {
                int64_t at = p.rank ? rank[j] : j;
                double x = cell_value(&p, acc, at);
                if (p.cell == FTB_UINT32 ? x < 1 : signbit(x) && x >= 0)
                    continue;
                double y = p.cell == FTB_UINT32 ? (double)((const int64_t *)h)[found]
                           : p.cell == FTB_FP32 ? (double)((const float *)h)[found]
                                                : h[found];
                assert_int_equal(cols[found++], j);
                assert_true(fabs(x - y) <= 0);
            }
            assert_int_equal(n, found);
        }
    }
    ftb_isa_force(-1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel), cmocka_unit_test(packed_fields), cmocka_unit_test(unknown_kernels),
        cmocka_unit_test(bit_counts),   cmocka_unit_test(nibble_sums),   cmocka_unit_test(lookup_sums),
        cmocka_unit_test(sweeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

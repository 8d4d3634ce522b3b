/* Messages of few distinct operands, tabulated: ratings take ten values, so a / (a + b) takes a hundred,
 * and any expression costs one look-up per product. The table holds what the program gives, bit for bit.
 */
#include "cpu/interpreter.h"
#include "cpu/kernels/spgemm_bits.h"
#include "cpu/spgemm_codes.h"
#include "ops/spgemm/spgemm.h"

#include <float.h>
#include <limits.h>
#include <math.h>

#define PADDED(width) ((width) <= 2 ? (width) : (width) <= 4 ? 4 : 8)

/* The code of each entry, in the operand's own order. */
static uint8_t *encode(ftb_spgemm_product *product, const ftb_codes *d, FtB_Matrix A)
{
    int64_t n = A->pattern->nvals;
    uint8_t *codes =
        A->width == 0 ? ftb_arena_new0(&product->arena, n, 1) : ftb_arena_new(&product->arena, n, 1);
    if (!codes || A->width == 0)
        return codes;
    ftb_codes_encode(codes, d, A, ftb_threads(product->ctx));
    return codes;
}

/* Runs the program on all pairs: z[code a][code b][width], of which none is -0.0, see ftb_row. */
static GrB_Info evaluate_pairs(ftb_spgemm_product *product, const ftb_codes *da, const ftb_codes *db,
                               double *z)
{
    ftb_sparse_message *m = &product->message;
    FtB_Type type = ftb_program_type(m->program);
    int64_t width = product->width, nrows = product->finish.nrows, ncols = product->finish.ncols, one = 1;
    ftb_operand operands[FTB_MESSAGE_NAMES + FTB_BOUND_ROOM];
    ftb_interpreter *machine = NULL;
    char a[8], b[8 * FTB_MOST_CODES];
    GrB_Info info = ftb_interpreter_new(&machine, product->ctx, m->program);
    if (info != GrB_SUCCESS)
        return info;
    memcpy(operands, m->fixed, sizeof operands);
    for (int n = 0; n < FTB_MESSAGE_NAMES; n++)
        if (m->index[n] >= 0)
            operands[m->index[n]] = (ftb_operand){n == FTB_NAME_NCOLS   ? &ncols
                                                  : n == FTB_NAME_NROWS ? &nrows
                                                                        : &one,
                                                  0};
    ftb_cast(b, m->btype, db->value, FTB_FP64, db->count);
    for (int ca = 0; ca < da->count; ca++) {
        double *row = z + ca * db->count * width;
        ftb_cast(a, m->atype, &da->value[ca], FTB_FP64, 1);
        operands[m->index[FTB_NAME_A]] = (ftb_operand){a, 0};
        operands[m->index[FTB_NAME_B]] = (ftb_operand){b, 1};
        ftb_interpreter_run(machine, db->count, operands, row);
        ftb_cast(row, FTB_FP64, row, type, db->count * width); /* in place: grows backwards */
        for (int64_t t = 0; t < db->count * width; t++)
            row[t] += 0.0;
    }
    ftb_interpreter_delete(machine);
    return GrB_SUCCESS;
}

/* What matters of the numbers in a table. */
typedef struct figures {
    double largest; /* magnitude */
    double quantum; /* power of two that divides all; 0 if there is none */
} figures;

static figures measure(const double *z, int64_t n)
{
    figures f = {0, 0};
    int lowest = INT_MAX;
    for (int64_t t = 0; t < n; t++) {
        f.largest = fmax(f.largest, fabs(z[t]));
        if (!isfinite(z[t]))
            return (figures){INFINITY, 0};
        if (z[t] == 0)
            continue;
        int exponent;
        uint64_t digits = (uint64_t)ldexp(fabs(frexp(z[t], &exponent)), 53);
        lowest = ftb_min(lowest, exponent - 53 + __builtin_ctzll(digits));
    }
    f.quantum = lowest == INT_MAX ? 1 : ldexp(1, lowest);
    return f;
}

/* swap[c]: the component of message (b, a) that equals component c of (a, b), for all a and b. */
static bool find_swap(ftb_spgemm_product *product, int codes, const double *z)
{
    int64_t width = product->width;
    for (int64_t c = 0; c < width; c++) {
        product->swap[c] = -1;
        for (int64_t d = 0; d < width && product->swap[c] < 0; d++) {
            bool same = true;
            for (int x = 0; x < codes && same; x++)
                for (int y = 0; y < codes && same; y++)
                    same = ftb_bits_of(z[(x * codes + y) * width + c]) ==
                           ftb_bits_of(z[(y * codes + x) * width + d]);
            if (same)
                product->swap[c] = (int)d;
        }
        if (product->swap[c] < 0)
            return false;
    }
    return true;
}

/* z as a table of cells; with `dual`, of pairs of cells (a, b), (b, a). */
static const void *make_table(ftb_spgemm_product *product, const ftb_codes *da, const ftb_codes *db,
                              const double *z, bool dual)
{
    FtB_Type cell = product->p.cell;
    int64_t width = product->width, padded = dual ? 2 : product->p.cell_width;
    size_t size = FtB_Type_size(cell);
    char *table = ftb_arena_new0(&product->arena, da->count * db->count * padded, size);
    if (!table)
        return NULL;
    for (int64_t ca = 0; ca < da->count; ca++)
        for (int64_t cb = 0; cb < db->count; cb++) {
            char *to = table + (size_t)((ca * db->count + cb) * padded) * size;
            ftb_cast(to, cell, &z[(ca * db->count + cb) * width], FTB_FP64, width);
            if (dual)
                ftb_cast(to + size, cell, &z[(cb * db->count + ca) * width], FTB_FP64, 1);
        }
    return table;
}

/* The type of cells in which sums have the bits that they should: 0 if there is none. */
static FtB_Type cell_type(const ftb_spgemm_product *product, figures f)
{
    FtB_Type type = ftb_program_type(product->message.program), sum = product->sum_type;
    const double most = ftb_product_most_messages(product);
    if (type == FTB_FP32 && sum == FTB_FP32)
        return FTB_FP32;
    /* every partial sum is a whole number of quanta below 2^24, and FP32 has them */
    if (f.quantum >= 0x1p-149 && most * (f.largest / f.quantum) < 16777216.0 && most * f.largest <= FLT_MAX)
        return FTB_FP32;
    if (type == FTB_FP64 && sum == FTB_FP64)
        return FTB_FP64;
    bool exact64 = f.quantum >= 1 && f.largest * most < 9007199254740992.0;
    return sum == FTB_INT64 && exact64 ? FTB_FP64 : (FtB_Type)0;
}

static int64_t common_divisor(int64_t x, int64_t y)
{
    while (y) {
        int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return x;
}

/* Numbers by their greatest common divisor, which is returned; 0 if one is not 1 .. FTB_NIBBLE then. */
static int64_t reduce(const int64_t *x, int64_t n, uint8_t *factor)
{
    int64_t divisor = 0;
    for (int64_t t = 0; t < n; t++)
        divisor = common_divisor(x[t], divisor);
    for (int64_t t = 0; t < n; t++) {
        if (x[t] <= 0 || x[t] / divisor > FTB_NIBBLE)
            return 0;
        factor[t] = (uint8_t)(x[t] / divisor);
    }
    return divisor;
}

/* z as products of small positive factors, whose sums are exact, and zero only where there are none. */
static void find_factors(ftb_spgemm_product *product, const ftb_codes *da, const ftb_codes *db,
                         const double *z, figures f)
{
    int64_t x[FTB_MOST_CODES];
    uint8_t *left = product->factors.left, *right = product->factors.right;
    product->factors.unit = 0;
    if (product->width != 1 || product->p.cell != FTB_FP32 || product->dual_table || f.quantum <= 0 ||
        ftb_product_most_messages(product) * (f.largest / f.quantum) >= 16777216.0)
        return;
    for (int cb = 0; cb < db->count; cb++)
        x[cb] = (int64_t)(z[cb] / f.quantum);
    if (!reduce(x, db->count, right))
        return;
    for (int ca = 0; ca < da->count; ca++)
        x[ca] = (int64_t)(z[ca * db->count] / f.quantum) / right[0];
    double unit = f.quantum * (double)reduce(x, da->count, left);
    for (int ca = 0; ca < da->count; ca++)
        for (int cb = 0; cb < db->count; cb++)
            if (unit * (left[ca] * right[cb]) != z[ca * db->count + cb])
                return;
    product->factors.unit = unit;
}

/* Any z of few right values, to be looked up. */
static GrB_Info find_lookup(ftb_spgemm_product *product, const ftb_codes *da, const ftb_codes *db,
                            const double *z)
{
    if (product->width != 1 || product->p.cell != FTB_FP32 || db->count > FTB_NIBBLE)
        return GrB_SUCCESS;
    const bool dual = product->dual_table != NULL;
    float(*table)[16] = ftb_arena_new(&product->arena, da->count * (1 + dual), sizeof *table);
    if (!table)
        return ftb_nomem();
    float(*back)[16] = dual ? table + da->count : table;
    product->factors.table = table;
    product->factors.back = back;
    for (int ca = 0; ca < da->count; ca++) {
        product->factors.left[ca] = (uint8_t)ca;
        for (int t = 0; t < 16; t++) {
            bool held = t > 0 && t <= db->count;
            table[ca][t] = held ? (float)z[ca * db->count + t - 1] : -0.0f;
            if (dual)
                back[ca][t] = held ? (float)z[(t - 1) * db->count + ca] : -0.0f;
        }
    }
    for (int cb = 0; cb < db->count; cb++)
        product->factors.right[cb] = (uint8_t)(cb + 1);
    return GrB_SUCCESS;
}

static bool worth_a_table(const ftb_spgemm_product *product)
{
    double entries = (double)(product->left->nvals + product->right->nvals);
    return product->reducer.monoid == FTB_PLUS && !product->reducer.mean && !product->winners &&
           product->width <= 8 && product->width >= 1 && product->message.awidth == 1 &&
           product->message.bwidth == 1 && !product->semiring->domain &&
           product->facts.products > 4 * entries &&
           (product->sum_type == FTB_FP32 || product->sum_type == FTB_FP64 ||
            product->sum_type == FTB_INT64) &&
           ftb_product_uses_only_values(product);
}

/* Bits of the sums of component c of z in units of its own quantum; 0 if they may not be exact in FP32. */
static int field_bits(const ftb_spgemm_product *product, int64_t pairs, const double *z, int64_t c,
                      double *unit)
{
    double column[FTB_MOST_CODES * FTB_MOST_CODES];
    for (int64_t t = 0; t < pairs; t++) {
        column[t] = z[t * product->width + c];
        if (!(column[t] >= 0))
            return 0;
    }
    figures f = measure(column, pairs);
    if (f.quantum <= 0)
        return 0;
    double most = ftb_product_most_messages(product) * (f.largest / f.quantum);
    if (most >= 16777216.0 || (product->sum_type == FTB_INT64 && f.quantum < 1))
        return 0;
    *unit = f.quantum;
    return most < 1 ? 1 : 64 - __builtin_clzll((uint64_t)most);
}

/* Whether every message leaves a mark in this word. */
static bool word_marks(const ftb_packed *packed, int word, int64_t pairs, const double *z)
{
    for (int64_t t = 0; t < pairs; t++) {
        bool marks = false;
        for (int c = 0; c < packed->width; c++)
            marks = marks || (packed->field[c].word == word && z[t * packed->width + c] > 0);
        if (!marks)
            return false;
    }
    return true;
}

/* Bit fields for the sums of several components, longest first into the first word that has room; false if
 * two words do not hold them, or nothing is saved. */
static bool find_fields(ftb_packed *packed, const ftb_spgemm_product *product, int64_t pairs, const double *z)
{
    int used[2] = {0, 0}, width = (int)product->width;
    bool placed[8] = {false};
    packed->width = width;
    for (int c = 0; c < width; c++) {
        int bits = field_bits(product, pairs, z, c, &packed->field[c].unit);
        if (bits == 0)
            return false;
        packed->field[c].bits = (uint8_t)bits;
    }
    for (int n = 0; n < width; n++) {
        int longest = -1;
        for (int c = 0; c < width; c++)
            if (!placed[c] && (longest < 0 || packed->field[c].bits > packed->field[longest].bits))
                longest = c;
        int bits = packed->field[longest].bits, word = used[0] + bits <= 64 ? 0 : 1;
        if (used[word] + bits > 64)
            return false;
        placed[longest] = true;
        packed->field[longest].word = (uint8_t)word;
        packed->field[longest].shift = (uint8_t)used[word];
        used[word] += bits;
    }
    packed->words = used[1] > 0 ? 2 : 1;
    if (8 * packed->words >= PADDED(width) * (int)FtB_Type_size(product->p.cell))
        return false;
    if (word_marks(packed, 0, pairs, z))
        return true;
    for (int c = 0; c < width; c++) /* the other word first */
        packed->field[c].word = (uint8_t)(packed->words - 1 - packed->field[c].word);
    return word_marks(packed, 0, pairs, z);
}

/* z as a table of packed cells. */
static const void *pack_table(ftb_spgemm_product *product, int64_t pairs, const double *z)
{
    const ftb_packed *packed = &product->packed;
    uint64_t *table = ftb_arena_new0(&product->arena, pairs * packed->words, sizeof *table);
    for (int64_t t = 0; table && t < pairs; t++)
        for (int c = 0; c < packed->width; c++)
            table[t * packed->words + packed->field[c].word] +=
                (uint64_t)(z[t * packed->width + c] / packed->field[c].unit) << packed->field[c].shift;
    return table;
}

static GrB_Info fill_product(ftb_spgemm_product *product, const ftb_codes *da, const ftb_codes *db,
                             const double *z)
{
    bool dual = product->self && product->width == 1;
    product->facts.symmetric = product->self && find_swap(product, da->count, z);
    product->p.message = FTB_MESSAGE_TABLE;
    product->p.cell_width = PADDED(product->width);
    const int64_t pairs = (int64_t)da->count * db->count;
    if (product->width > 1 && find_fields(&product->packed, product, pairs, z)) {
        product->p.cell = FTB_UINT64;
        product->p.cell_width = product->packed.words;
        product->p.table = pack_table(product, pairs, z);
    } else {
        product->p.table = make_table(product, da, db, z, false);
    }
    product->p.table_row = db->count * product->p.cell_width;
    product->p.table_rows = da->count;
    if (dual && !product->facts.symmetric) {
        product->dual_table = make_table(product, da, db, z, true);
        product->dual_row = db->count * 2;
        product->facts.symmetric = true;
        if (!product->dual_table)
            return ftb_nomem();
    }
    product->p.aval = encode(product, da, product->A);
    product->p.bval = product->self ? product->p.aval : encode(product, db, product->B);
    if (!product->p.table || !product->p.aval || !product->p.bval)
        return ftb_nomem();
    return GrB_SUCCESS;
}

GrB_Info ftb_product_table(ftb_spgemm_product *product, bool *done)
{
    ftb_codes da, db;
    if (!worth_a_table(product) || !ftb_codes_collect(&da, product->A) || !ftb_codes_collect(&db, product->B))
        return GrB_SUCCESS;
    int64_t n = (int64_t)da.count * db.count * product->width;
    double *z = ftb_new(product->ctx, n, sizeof *z);
    GrB_Info info = z ? evaluate_pairs(product, &da, &db, z) : ftb_nomem();
    if (info == GrB_SUCCESS) {
        figures f = measure(z, n);
        FtB_Type cell = cell_type(product, f);
        if (cell) {
            product->p.cell = cell;
            info = fill_product(product, &da, &db, z);
            find_factors(product, &da, &db, z, f);
            if (info == GrB_SUCCESS && product->factors.unit <= 0)
                info = find_lookup(product, &da, &db, z);
            *done = info == GrB_SUCCESS;
        }
    }
    ftb_delete(z);
    return info;
}

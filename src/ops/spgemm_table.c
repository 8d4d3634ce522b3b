/* Messages of few distinct operands, tabulated: ratings take ten values, so a / (a + b) takes a hundred,
 * and any expression costs one look-up per product. The table holds what the program gives, bit for bit.
 */
#include "ops/spgemm.h"

#include <math.h>

#define MOST_CODES 64
#define PADDED(width) ((width) == 1 ? 1 : (width) <= 4 ? 4 : 8)

typedef struct dictionary {
    double value[MOST_CODES]; /* ascending by bits as first met */
    int count;
} dictionary;

static int code_of(const dictionary *d, double x)
{
    for (int c = 0; c < d->count; c++)
        if (memcmp(&d->value[c], &x, sizeof x) == 0)
            return c;
    return -1;
}

/* The distinct values of an operand, ascending, or false if there are too many. Values must be exact in
 * FP64 and free of NaN. */
static bool collect(dictionary *d, FtB_Matrix A)
{
    d->count = 0;
    if (A->width == 0) {
        d->value[d->count++] = 1;
        return true;
    }
    double last = NAN;
    for (int64_t e = 0; e < A->pattern->nvals; e++) {
        double x = ftb_get_real(A->values->data, A->type, e);
        if (x == last)
            continue;
        if (isnan(x) || (code_of(d, x) < 0 && d->count == MOST_CODES))
            return false;
        if (code_of(d, x) < 0)
            d->value[d->count++] = x;
        last = x == 0 ? NAN : x; /* both zeros are looked up */
    }
    for (int c = 1; c < d->count; c++) /* ascending, so that the table does not depend on order */
        for (int t = c; t > 0 && d->value[t] < d->value[t - 1]; t--) {
            double swap = d->value[t];
            d->value[t] = d->value[t - 1];
            d->value[t - 1] = swap;
        }
    return true;
}

/* The code of each entry, in the operand's own order. */
static uint8_t *encode(ftb_product *product, const dictionary *d, FtB_Matrix A)
{
    int64_t n = A->pattern->nvals;
    uint8_t *codes =
        ftb_product_own(product, A->width == 0 ? ftb_new0(product->ctx, n, 1) : ftb_new(product->ctx, n, 1));
    if (!codes || A->width == 0)
        return codes;
#pragma omp parallel for num_threads(ftb_threads(product->ctx))
    for (int64_t e = 0; e < n; e++)
        codes[e] = (uint8_t)code_of(d, ftb_get_real(A->values->data, A->type, e));
    return codes;
}

/* Fills table[code a][code b] by running the program on all pairs; `largest` is the greatest magnitude. */
static GrB_Info tabulate(ftb_product *product, const dictionary *da, const dictionary *db, double *largest)
{
    ftb_message *m = &product->message;
    FtB_Type type = ftb_program_type(m->program), cell = product->p.cell;
    int64_t width = product->width, padded = product->p.cell_width, nrows = product->finish.nrows,
            ncols = product->finish.ncols;
    size_t size = FtB_Type_size(cell);
    ftb_operand operands[FTB_MESSAGE_NAMES + FTB_BOUND_ROOM];
    ftb_machine *machine = NULL;
    char *z = ftb_new(product->ctx, MOST_CODES * width, 8), *b = ftb_new(product->ctx, MOST_CODES, 8);
    char *table = ftb_product_own(product, ftb_new0(product->ctx, da->count * db->count * padded, size));
    GrB_Info info = z && b && table ? ftb_machine_new(&machine, product->ctx, m->program) : ftb_nomem();
    if (info != GrB_SUCCESS)
        goto done;
    int64_t one = 1;
    memcpy(operands, m->fixed, sizeof operands);
    for (int n = 0; n < FTB_MESSAGE_NAMES; n++)
        if (m->index[n] >= 0)
            operands[m->index[n]] = (ftb_operand){n == FTB_NAME_NCOLS   ? &ncols
                                                  : n == FTB_NAME_NROWS ? &nrows
                                                                        : &one,
                                                  0};
    ftb_cast(b, m->btype, db->value, FTB_FP64, db->count);
    for (int ca = 0; ca < da->count; ca++) {
        char a[8];
        ftb_cast(a, m->atype, &da->value[ca], FTB_FP64, 1);
        operands[m->index[FTB_NAME_A]] = (ftb_operand){a, 0};
        operands[m->index[FTB_NAME_B]] = (ftb_operand){b, 1};
        ftb_machine_run(machine, db->count, operands, z);
        for (int64_t t = 0; t < db->count * width; t++) {
            double x = ftb_get_real(z, type, t) + 0.0; /* never -0.0, see ftb_row */
            *largest = fmax(*largest, fabs(x));
            ftb_cast(table + (size_t)((ca * db->count + t / width) * padded + t % width) * size, cell, &x,
                     FTB_FP64, 1);
        }
    }
    product->p.table = table;
    product->p.table_row = db->count * padded;
done:
    ftb_machine_delete(machine);
    ftb_delete(z);
    ftb_delete(b);
    return info;
}

GrB_Info ftb_product_table(ftb_product *product, bool *done)
{
    FtB_Type type = ftb_program_type(product->message.program);
    dictionary da, db;
    if (product->reducer.monoid != FTB_PLUS || product->reducer.mean || product->want_arg ||
        product->width > 8 || product->width < 1 || product->message.awidth != 1 ||
        product->message.bwidth != 1 || product->semiring->domain ||
        product->facts.products < 4 * (double)(product->left->nvals + product->right->nvals) ||
        !ftb_product_uses_only_values(product))
        return GrB_SUCCESS;
    if (!collect(&da, product->A) || !collect(&db, product->B))
        return GrB_SUCCESS;
    double largest = 0;
    ftb_spgemm saved = product->p;
    product->p.message = FTB_MESSAGE_TABLE;
    product->p.cell = type == FTB_FP32 && product->width == 1 ? FTB_FP32 : FTB_FP64;
    product->p.cell_width = PADDED(product->width);
    GrB_Info info = tabulate(product, &da, &db, &largest);
    if (info != GrB_SUCCESS)
        return info;
    bool exact =
        type == FTB_INT64 && product->sum_type == FTB_INT64 && ftb_product_exact_in_fp64(product, largest);
    if (!exact &&
        (type != product->sum_type || (type != FTB_FP64 && !(type == FTB_FP32 && product->width == 1)))) {
        product->p = saved;
        return GrB_SUCCESS;
    }
    uint8_t *codes_a = encode(product, &da, product->A);
    uint8_t *codes_b = product->self ? codes_a : encode(product, &db, product->B);
    if (!codes_a || !codes_b)
        return ftb_nomem();
    product->p.aval = codes_a;
    product->p.bval = codes_b;
    product->facts.kernel = product->width > 1 ? "table_wide" : "table";
    *done = true;
    return GrB_SUCCESS;
}

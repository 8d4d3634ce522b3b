/* The verb `spgemm` on a GPU: sums of 1, of a * b and of tabulated messages (kernels/spgemm_rows.cuh), and
 * what texts say (spgemm_text.c), in the host's order, in chunks of rows (spgemm_chunks.c). What is filtered,
 * and what is not among the k largest of a row, never leaves the GPU. The host's plan has no say, but in how
 * much memory is taken at home. */
#include "gpu/spgemm/spgemm_chunks.h"

#include "gpu/entries.h"
#include "gpu/gpu_verbs.h"
#include "gpu/items.h"
#include "gpu/scan.h"

#include <limits.h>
#include <stdio.h>

#define SOURCE "gpu/kernels/spgemm_rows.cu"
#define SOURCE_FINISH "gpu/kernels/spgemm_finish.cu" /* and what operands are read as */
#define SOURCE_PACK "gpu/kernels/spgemm_pack.cu"
#define SOURCE_MASK "gpu/kernels/spgemm_mask.cu"

/* ---- which products */

/* Operands are read as what they are stored as, or cast once, reals to no whole numbers. */
static bool domain_fits(const ftb_spgemm_product *p, FtB_Matrix A, FtB_Type type)
{
    const FtB_Type domain = p->semiring->domain;
    return !domain || domain == A->type || (domain == type && ftb_type_float(type));
}

static bool message_fits(const ftb_spgemm_product *p)
{
    switch (p->p.message) {
    case FTB_MESSAGE_PAIR:
    case FTB_MESSAGE_TABLE:
        return true;
    case FTB_MESSAGE_TIMES:
        return domain_fits(p, p->A, p->p.cell) && domain_fits(p, p->B, p->p.cell);
    default:
        return domain_fits(p, p->A, p->message.atype) && domain_fits(p, p->B, p->message.btype);
    }
}

/* Whether what texts say can be made into kernels, and is. */
static bool texts_fit(const ftb_spgemm_product *p, ftb_gpu_device *d)
{
    ftb_gpu_text text = {.source = NULL};
    if (!ftb_gpu_spgemm_texts(p))
        return true;
    const bool well = ftb_gpu_spgemm_text_fits(p) && ftb_gpu_spgemm_text_new(&text, p) == GrB_SUCCESS &&
                      ftb_gpu_load(d, text.source) == GrB_SUCCESS;
    ftb_gpu_text_delete(&text);
    return well;
}

bool ftb_gpu_spgemm_fits(const ftb_spgemm_product *p)
{
    const ftb_finish *f = &p->finish;
    if (!message_fits(p) || p->winners || f->wrap || (p->mask && p->mask->pattern->multi))
        return false;
    if (p->left->wide || p->right->wide || p->right->multi || p->p.nrows > INT_MAX || p->p.ncols > INT_MAX)
        return false;
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(p->ctx));
    return ftb_gpu_load(d, p->mask ? SOURCE_MASK : SOURCE) == GrB_SUCCESS &&
           (p->mask || ftb_gpu_spgemm_texts(p) & FTB_SPGEMM_TEXT_ROWS ||
            ftb_gpu_load(d, FTB_GPU_SPGEMM_LARGE) == GrB_SUCCESS) &&
           ftb_gpu_load(d, SOURCE_FINISH) == GrB_SUCCESS && ftb_gpu_load(d, SOURCE_PACK) == GrB_SUCCESS &&
           ftb_gpu_load(d, FTB_GPU_SCAN) == GrB_SUCCESS && texts_fit(p, d);
}

/* ---- operands */

static const char *name_of(FtB_Type type)
{
    return type == FTB_FP32     ? "f32"
           : type == FTB_FP64   ? "f64"
           : type == FTB_INT64  ? "i64"
           : type == FTB_UINT64 ? "u64"
                                : "u8";
}

/* Values of a pattern's entries as `type`, in its order: entry e's are at from[e]. */
static GrB_Info make_values(const void **to, ftb_gpu_spgemm_run *run, const void *stored, FtB_Type as,
                            FtB_Type type, ftb_pattern *p, const int64_t *from)
{
    ftb_spgemm_values_arguments a = {.stored = stored, .nvals = p->nvals, .type = ftb_gpu_stored_as(as)};
    char kernel[40];
    *to = stored;
    if (as == type && !from)
        return GrB_SUCCESS;
    GrB_Info info = from ? ftb_gpu_from_ask(&a.from, p, from, run->d) : GrB_SUCCESS;
    if (info == GrB_SUCCESS)
        info = ftb_gpu_room(&a.to, &run->rooms, p->nvals * (int64_t)FtB_Type_size(type));
    if (info != GrB_SUCCESS)
        return info;
    *to = a.to;
    snprintf(kernel, sizeof kernel, "spgemm_values_%s", name_of(type));
    const int64_t blocks = (p->nvals + FTB_SPGEMM_STEP_BLOCK - 1) / FTB_SPGEMM_STEP_BLOCK;
    return ftb_gpu_launch(run->d, run->product->ctx, SOURCE_FINISH, kernel,
                          (ftb_gpu_grid){.x = blocks, .y = 1, .threads = FTB_SPGEMM_STEP_BLOCK},
                          (void *[]){&a});
}

static GrB_Info make_both(ftb_gpu_spgemm_run *run, FtB_Type atype, FtB_Type btype)
{
    const ftb_spgemm_product *p = run->product;
    GrB_Info info = GrB_SUCCESS;
    if (p->A->width > 0)
        info = make_values(&run->rows.a, run, p->a, p->A->type, atype, p->left, p->left_from);
    if (info == GrB_SUCCESS && p->B->width > 0)
        info = make_values(&run->rows.b, run, p->b, p->B->type, btype, p->right, p->right_from);
    return info;
}

/* Figures of one side's vertices, of those that texts ask for. */
static GrB_Info make_side(ftb_gpu_spgemm_run *run, ftb_spgemm_figures *f, int side, const ftb_vertices *of,
                          const bool used[3])
{
    const ftb_spgemm_product *p = run->product;
    const int64_t n = side == FTB_SPGEMM_ROW   ? p->left->nrows
                      : side == FTB_SPGEMM_COL ? p->p.ncols
                                               : p->left->ncols;
    const struct {
        const void *host;
        const void **to;
    } figures[] = {{of->degree, (const void **)&f->degree[side]},
                   {of->sum, (const void **)&f->sum[side]},
                   {of->square, (const void **)&f->square[side]}};
    GrB_Info info = GrB_SUCCESS;
    for (int k = 0; k < 3 && info == GrB_SUCCESS; k++)
        if (used[k] && figures[k].host)
            info = ftb_gpu_send(figures[k].to, &run->rooms, figures[k].host, 8 * n);
    return info;
}

static GrB_Info make_figures(ftb_gpu_spgemm_run *run)
{
    const ftb_spgemm_product *p = run->product;
    const bool *m = p->message.used;
    const bool(*f)[FTB_ROW_NAMES] = p->finish.used;
    const bool message = run->texts & FTB_SPGEMM_TEXT_ROWS;
    ftb_spgemm_figures figures = {.nrows = p->finish.nrows, .ncols = p->finish.ncols};
    GrB_Info info;
    FTB_CHECK(make_side(run, &figures, FTB_SPGEMM_ROW, &p->rows,
                        (bool[]){(message && m[FTB_NAME_DI]) || f[0][FTB_ROW_DI] || f[1][FTB_ROW_DI],
                                 (message && m[FTB_NAME_SI]) || f[0][FTB_ROW_SI] || f[1][FTB_ROW_SI],
                                 f[0][FTB_ROW_QI] || f[1][FTB_ROW_QI]}));
    FTB_CHECK(make_side(run, &figures, FTB_SPGEMM_COL, &p->cols,
                        (bool[]){(message && m[FTB_NAME_DJ]) || f[0][FTB_ROW_DJ] || f[1][FTB_ROW_DJ],
                                 (message && m[FTB_NAME_SJ]) || f[0][FTB_ROW_SJ] || f[1][FTB_ROW_SJ],
                                 f[0][FTB_ROW_QJ] || f[1][FTB_ROW_QJ]}));
    FTB_CHECK(make_side(run, &figures, FTB_SPGEMM_INNER, &p->inner,
                        (bool[]){message && m[FTB_NAME_DK], message && m[FTB_NAME_SK], false}));
    if (message)
        ftb_gpu_spgemm_numbers(&figures, p);
    run->rows.figures = run->finish.figures = figures;
done:
    return info;
}

/* Codes are the host's, in the operands' own order. */
static GrB_Info make_table(ftb_gpu_spgemm_run *run)
{
    const ftb_spgemm_product *p = run->product;
    const void *a = NULL, *b;
    GrB_Info info;
    FTB_CHECK(ftb_gpu_send(&a, &run->rooms, p->p.aval, p->left->nvals));
    b = a;
    if (p->p.bval != p->p.aval)
        FTB_CHECK(ftb_gpu_send(&b, &run->rooms, p->p.bval, p->right->nvals));
    FTB_CHECK(make_values(&run->rows.a, run, a, FTB_UINT8, FTB_UINT8, p->left, p->left_from));
    FTB_CHECK(make_values(&run->rows.b, run, b, FTB_UINT8, FTB_UINT8, p->right, p->right_from));
    run->rows.table_row = (int)p->p.table_row;
    info = ftb_gpu_send(&run->rows.table, &run->rooms, p->p.table,
                        p->p.table_rows * p->p.table_row * (int64_t)FtB_Type_size(p->p.cell));
done:
    return info;
}

static GrB_Info make_operands(ftb_gpu_spgemm_run *run)
{
    const ftb_spgemm_product *p = run->product;
    const ftb_backend *where = &run->d->row;
    const int64_t *unused, *rowptr;
    const void *acol, *bcol;
    GrB_Info info;
    FTB_CHECK(ftb_pattern_ask_at(p->left, where, &unused, &acol));
    FTB_CHECK(ftb_pattern_ask_at(p->right, where, &rowptr, &bcol));
    run->rows.acol = acol;
    run->rows.bcol = bcol;
    run->rows.brow = (const long long *)rowptr;
    run->rows.bend = run->rows.brow + 1;
    if (p->finish.keep) {
        const void *keep = NULL;
        FTB_CHECK(ftb_gpu_send(&keep, &run->rooms, p->finish.keep, p->p.ncols));
        run->finish.keep = keep;
    }
    if (p->mask) {
        FTB_CHECK(ftb_pattern_ask_at(p->mask->pattern, where, &unused, &acol));
        run->rows.mask_col = acol;
        run->rows.mask_values = p->admits.values;
        run->rows.mask_size = (int)p->admits.size;
        run->rows.mask_bits = p->admits.bits;
    }
    if (run->texts)
        FTB_CHECK(make_figures(run));
    if (p->p.message == FTB_MESSAGE_TIMES)
        info = make_both(run, p->p.cell, p->p.cell);
    else if (p->p.message == FTB_MESSAGE_TABLE)
        info = make_table(run);
    else if (p->p.message == FTB_MESSAGE_PROGRAM)
        info = make_both(run, p->message.atype, p->message.btype);
done:
    return info;
}

/* ---- the run */

static void describe_cells(ftb_gpu_spgemm_run *run)
{
    const ftb_spgemm_product *p = run->product;
    ftb_spgemm_finish_arguments *f = &run->finish;
    const bool pair = p->p.message == FTB_MESSAGE_PAIR, text = p->p.message == FTB_MESSAGE_PROGRAM,
               packed = p->p.message == FTB_MESSAGE_TABLE && p->p.cell == FTB_UINT64;
    f->cell_width = pair ? 1 : (int)p->p.cell_width;
    f->cell = pair                    ? FTB_SPGEMM_COUNT
              : text                  ? FTB_SPGEMM_SAME
              : packed                ? FTB_SPGEMM_PACKED
              : p->p.cell == FTB_FP32 ? FTB_SPGEMM_F32
                                      : FTB_SPGEMM_F64;
    for (int c = 0; packed && c < p->packed.width; c++)
        f->field[c] = (ftb_spgemm_field){.unit = p->packed.field[c].unit,
                                         .word = p->packed.field[c].word,
                                         .shift = p->packed.field[c].shift,
                                         .bits = p->packed.field[c].bits};
    f->constant = p->constant;
    memcpy(&f->same, p->constant_value, sizeof f->same);
    run->entry_cell = pair ? 4 : p->p.cell_width * (int64_t)FtB_Type_size(p->p.cell);
    run->hash_cell = run->entry_cell + ftb_gpu_spgemm_mark(p);
    run->cell = pair ? 2 : run->hash_cell;
    if (pair)
        snprintf(run->name, sizeof run->name, "pair_");
    else if (p->p.message == FTB_MESSAGE_TIMES)
        snprintf(run->name, sizeof run->name, "times_%s_", name_of(p->p.cell));
    else if (p->p.message == FTB_MESSAGE_TABLE)
        snprintf(run->name, sizeof run->name, "table_%s_%d_", name_of(p->p.cell), f->cell_width);
}

static void describe_finish(ftb_gpu_spgemm_run *run)
{
    const ftb_finish *f = &run->product->finish;
    run->value = f->out_width * (int64_t)FtB_Type_size(f->out_type);
    run->type = name_of(f->out_type);
    run->finish.width = (int)f->out_width;
    run->finish.use_least = f->use_min;
    run->finish.least = f->min_weight;
    run->rows.off_diagonal = f->drop_diagonal;
    run->rows.ncols = (int)run->product->p.ncols;
}

/* What of the plan the message and what becomes of its sums decide. */
static ftb_gpu_spgemm_run describe(const ftb_spgemm_product *product, ftb_gpu_device *d)
{
    ftb_gpu_spgemm_run run = {.product = product,
                              .d = d,
                              .texts = ftb_gpu_spgemm_texts(product),
                              .rooms = {.d = d, .ctx = product->ctx}};
    describe_cells(&run);
    describe_finish(&run);
    return run;
}

/* row: of each; NULL: not wanted. */
static ftb_gpu_spgemm_facts facts_of(const ftb_gpu_spgemm_run *run, ftb_gpu_spgemm_row *row)
{
    const ftb_spgemm_product *p = run->product;
    ftb_gpu_spgemm_facts facts = {.gpu = ftb_gpu_planned(run->d),
                                  .ninner = p->right->nrows,
                                  .ncols = p->p.ncols,
                                  .avals = p->left->nvals,
                                  .bvals = p->right->nvals,
                                  .rows = p->facts.rows_wanted,
                                  .products = p->facts.products,
                                  .cell_bytes = run->cell,
                                  .entry_bytes = 8 + run->entry_cell + 2 * run->value,
                                  .counts = p->p.message == FTB_MESSAGE_PAIR};
    for (int64_t i = 0; i < p->p.nrows; i++) {
        const int64_t room = ftb_gpu_spgemm_row_room(p, i);
        facts.entries += (double)room;
        facts.longest_row = ftb_max(facts.longest_row, room);
        if (row)
            row[i].room = (int)room;
    }
    for (int c = 0; c < FTB_GPU_SPGEMM_HOTS && !p->mask; c++) /* the host's begin with 512 */
        facts.hot_share[c] = p->facts.hot_share[c + 1];
    for (int k = 0; k < FTB_GPU_SPGEMM_HASHES; k++)
        facts.hash_bytes[k] = ftb_gpu_spgemm_hash_bytes(run, k);
    return facts;
}

static void plan(ftb_gpu_spgemm_run *run)
{
    const ftb_spgemm_product *p = run->product;
    ftb_gpu_spgemm_facts facts = facts_of(run, run->row);
    const int64_t mask =
        FTB_SPGEMM_HASH_BLOCK / 32 * FTB_SPGEMM_MASK_BYTES(2 * ftb_gpu_spgemm_hash[1], run->hash_cell);
    facts.hot = p->mask ? 0 : ftb_spgemm_hot_asked(run->host);
    ftb_rule_gpu_spgemm(&run->plan, &facts);
    run->piece = ftb_gpu_spgemm_hash[mask <= ftb_max(facts.gpu.shared, FTB_GPU_SHARED)];
    run->rows.lanes = run->plan.lanes;
}

GrB_Info ftb_gpu_spgemm_plan_of(ftb_spgemm_plan *plan, ftb_spgemm_facts *facts,
                                const ftb_spgemm_product *product)
{
    const ftb_gpu_spgemm_run run = describe(product, ftb_gpu_of(ftb_device(product->ctx)));
    facts->gpu = facts_of(&run, NULL);
    facts->gpu.hot = product->mask ? 0 : ftb_spgemm_hot_asked(plan);
    ftb_rule_gpu_spgemm(&plan->gpu, &facts->gpu);
    return GrB_SUCCESS;
}

GrB_Info ftb_gpu_spgemm(const ftb_spgemm_product *product, const ftb_spgemm_plan *host, FtB_Sink sink)
{
    ftb_gpu_spgemm_run run = describe(product, ftb_gpu_of(ftb_device(product->ctx)));
    GrB_Info info;
    run.host = host;
    run.sink = sink;
    run.counted = product->facts.counted && !product->mask && ftb_sink_counts(sink);
    run.tallied = !run.counted && product->finish.out_width > 0 && ftb_sink_counts(sink);
    run.row = ftb_new(product->ctx, product->p.nrows, sizeof *run.row);
    if (!run.row)
        return ftb_nomem();
    plan(&run);
    if (run.texts)
        FTB_CHECK(ftb_gpu_spgemm_text_new(&run.text, product));
    FTB_CHECK(make_operands(&run));
    FTB_CHECK(ftb_gpu_spgemm_hot(&run));
    info = ftb_gpu_spgemm_chunks(&run);
done:
    ftb_gpu_rooms_free(&run.rooms);
    ftb_gpu_text_delete(&run.text);
    ftb_delete(run.row);
    return info == FTB_NO_DEVICE ? ftb_gpu_half_done(info, run.delivered) : info;
}

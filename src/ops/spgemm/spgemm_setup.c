/* From operands and a semiring to a product that the kernels can run: patterns, products per row, the
 * kernel that fits the message, and the plan. */
#include "core/floats.h"
#include "core/words.h"
#include "cpu/interpreter.h"
#include "cpu/scan_run.h"
#include "expr/cost.h"
#include "ops/spgemm/spgemm.h"

#include <math.h>

void ftb_product_delete(ftb_spgemm_product *product)
{
    if (!product)
        return;
    ftb_arena_free(&product->arena);
    ftb_program_delete(product->message.program);
    ftb_program_delete(product->finish.epilogue);
    ftb_program_delete(product->finish.where);
    FtB_Semiring_free(&product->semiring);
    ftb_pattern_release(product->left);
    ftb_pattern_release(product->right);
    FtB_Matrix_free(&product->own_mask);
    ftb_buffer_release(product->columns);
    ftb_context_release(product->ctx);
    ftb_delete(product);
}

/* ---- patterns */

static GrB_Info read_operand(ftb_pattern **pattern, const int64_t **from, FtB_Matrix A, bool transpose)
{
    *from = NULL;
    if (!transpose) {
        *pattern = ftb_pattern_retain(A->pattern);
        return GrB_SUCCESS;
    }
    ftb_pattern *t;
    GrB_Info info = ftb_pattern_transpose_listed(A->pattern, &t, from);
    if (info == GrB_SUCCESS)
        *pattern = ftb_pattern_retain(t);
    return info;
}

void ftb_product_want(ftb_spgemm_product *product, const uint8_t *rows)
{
    const int64_t nrows = product->p.nrows, *counts = product->row_products;
    double total = 0, bound = 0, wanted = 0;
    int64_t longest = 0;
    for (int64_t i = 0; i < nrows; i++) {
        if (rows && !rows[i])
            continue;
        wanted++;
        total += (double)counts[i]; /* exact: whole numbers below 2^53 */
        bound += (double)ftb_min(counts[i], product->p.ncols);
        longest = ftb_max(longest, counts[i]);
    }
    product->keep_rows = rows;
    product->facts.rows_wanted = wanted;
    product->facts.products = total;
    product->facts.entries_bound = bound;
    product->facts.longest_row = longest;
}

GrB_Info ftb_product_new(ftb_spgemm_product **out, FtB_Context ctx, FtB_Semiring *semiring, FtB_Matrix A,
                         bool transpose_a, FtB_Matrix B, bool transpose_b, ftb_listed listed)
{
    GrB_Info info = GrB_SUCCESS;
    *out = NULL;
    ftb_spgemm_product *product = ftb_new0(ctx, 1, sizeof *product);
    if (!product)
        return ftb_nomem();
    product->ctx = product->arena.ctx = ftb_context_retain(ctx);
    product->A = A;
    product->B = B;
    product->a = ftb_values(A);
    product->b = ftb_values(B);
    FTB_CHECK(read_operand(&product->left, &product->left_from, A, transpose_a));
    FTB_CHECK(read_operand(&product->right, &product->right_from, B, transpose_b));
    ftb_pattern *left = product->left, *right = product->right;
    const int64_t inner = left->ncols;
    if (inner != right->nrows) {
        info = ftb_fail(
            GrB_DIMENSION_MISMATCH, "B: %lld x %lld%s; expected %lld rows, the columns of A (%lld x %lld%s)",
            (long long)right->nrows, (long long)right->ncols, transpose_b ? " after transposing" : "",
            (long long)left->ncols, (long long)left->nrows, (long long)left->ncols,
            transpose_a ? " after transposing" : "");
        goto done;
    }
    FTB_CHECK(ftb_product_list(product, listed));
    left = product->left;
    right = product->right;
    product->self = !left->numbers && !right->numbers && A->pattern == B->pattern && A->values == B->values &&
                    A->type == B->type && transpose_a != transpose_b && !A->pattern->multi &&
                    left->nrows <= FTB_INT32_LIMIT;
    product->p = (ftb_spgemm){.ctx = ctx,
                              .nrows = left->nrows,
                              .ncols = right->ncols,
                              .arow = left->rowptr,
                              .acol = left->colidx,
                              .awide = left->wide,
                              .aperm = product->left_from,
                              .brow = right->rowptr,
                              .nids = right->ncols};
    product->finish.nrows = inner;
    product->finish.ncols = right->ncols;
    int64_t *counts = ftb_arena_new(&product->arena, left->nrows, sizeof *counts);
    if (!counts) {
        info = ftb_nomem();
        goto done;
    }
    ftb_row_products(&product->p, counts);
    product->row_products = counts;
    ftb_product_want(product, NULL);
    product->semiring = *semiring;
    *semiring = NULL;
    info = ftb_product_compact(product);
done:
    if (info != GrB_SUCCESS) {
        ftb_product_delete(product);
        product = NULL;
    }
    *out = product;
    return info;
}

/* ---- message */

static const char *const message_names[FTB_MESSAGE_NAMES] = {"a",  "b",  "m",  "i",  "j",  "k",     "di",
                                                             "dj", "dk", "si", "sj", "sk", "nrows", "ncols"};

/* The type that an operand's values are read as; every entry of a pattern counts as 1, which is unsigned
 * where it meets an unsigned domain. */
static FtB_Type operand_type(const ftb_spgemm_product *product, FtB_Matrix A)
{
    FtB_Type domain = product->semiring->domain;
    if (product->facts.widened && A->width > 0 && ftb_type_integer(A->type))
        return FTB_FP64;
    if (A->width == 0)
        return domain && ftb_type_compute(domain) == FTB_UINT64 ? FTB_UINT8 : FTB_INT8;
    return domain ? domain : A->type;
}

static void list_message_names(ftb_spgemm_product *product, bool project)
{
    ftb_sparse_message *m = &product->message;
    m->count = 0;
    for (int n = 0; n < FTB_MESSAGE_NAMES; n++) {
        ftb_name name = {.name = message_names[n], .type = FTB_INT64, .width = 1};
        m->index[n] = -1;
        if (n == FTB_NAME_A || n == FTB_NAME_B) {
            FtB_Matrix X = n == FTB_NAME_A ? product->A : product->B;
            name.type = operand_type(product, X);
            name.width = ftb_max(X->width, 1);
        }
        if (n == FTB_NAME_M) {
            if (!product->mask || product->mask->width != 1)
                continue;
            name.type = product->mask->type;
        }
        if ((n >= FTB_NAME_SI && !project) || (n == FTB_NAME_DJ && product->right->wide && !project))
            continue;
        if (n >= FTB_NAME_SI && n <= FTB_NAME_SK)
            name.type = FTB_FP64;
        m->index[n] = m->count;
        m->names[m->count++] = name;
    }
}

/* Whether the program uses nothing that differs from one product to the next, but a and b if `values`. */
static bool uses_only(const ftb_spgemm_product *product, bool values)
{
    const ftb_sparse_message *m = &product->message;
    for (int n = 0; n < FTB_MESSAGE_NAMES; n++) {
        bool fixed =
            n == FTB_NAME_NROWS || n == FTB_NAME_NCOLS || (n == FTB_NAME_A && product->A->width == 0) ||
            (n == FTB_NAME_B && product->B->width == 0) || (values && (n == FTB_NAME_A || n == FTB_NAME_B));
        if (m->used[n] && !fixed)
            return false;
    }
    return true;
}

/* The message when it is the same for all products. */
static GrB_Info evaluate_constant(ftb_spgemm_product *product, char value[8])
{
    ftb_sparse_message *m = &product->message;
    ftb_interpreter *machine = NULL;
    ftb_operand operands[FTB_MESSAGE_NAMES + FTB_BOUND_ROOM];
    int64_t one = 1, nrows = product->finish.nrows, ncols = product->finish.ncols;
    memcpy(operands, m->fixed, sizeof operands);
    for (int n = 0; n < FTB_MESSAGE_NAMES; n++)
        if (m->index[n] >= 0)
            operands[m->index[n]] = (ftb_operand){n == FTB_NAME_NCOLS   ? &ncols
                                                  : n == FTB_NAME_NROWS ? &nrows
                                                                        : &one,
                                                  0};
    GrB_Info info = ftb_interpreter_new(&machine, product->ctx, m->program);
    if (info == GrB_SUCCESS)
        ftb_interpreter_run(machine, 1, operands, value);
    ftb_interpreter_delete(machine);
    return info;
}

/* Counting, or a constant, when messages are all alike. */
static GrB_Info try_pair(ftb_spgemm_product *product, bool *done)
{
    char value[8] = {0};
    FtB_Type type = ftb_program_type(product->message.program);
    if (product->width != 1 || product->reducer.mean || product->winners || !uses_only(product, false))
        return GrB_SUCCESS;
    if (ftb_product_most_messages(product) > UINT32_MAX) /* a count that wraps to 0 would say "empty" */
        return GrB_SUCCESS;
    GrB_Info info = evaluate_constant(product, value);
    if (info != GrB_SUCCESS)
        return info;
    bool one = type != FTB_FP32 && type != FTB_FP64 && ftb_get_integer(value, type, 0) == 1;
    if (ftb_monoid_idempotent(product->reducer.monoid)) {
        product->constant = true;
        ftb_cast(product->constant_value, product->sum_type, value, type, 1);
    } else if (product->reducer.monoid != FTB_PLUS || !one || product->sum_type != FTB_INT64) {
        return GrB_SUCCESS;
    }
    product->p.message = FTB_MESSAGE_PAIR;
    product->p.cell = FTB_UINT32;
    product->p.cell_width = 1;
    *done = true;
    return GrB_SUCCESS;
}

/* The largest magnitude among an operand's values, as FP64. */
static double magnitude(const ftb_spgemm_product *product, FtB_Matrix A)
{
    return A->width == 0
               ? 1
               : ftb_scan_magnitude(ftb_values(A), A->type, A->pattern->nvals, ftb_threads(product->ctx));
}

/* Most messages that one result can sum. */
double ftb_product_most_messages(const ftb_spgemm_product *product)
{
    int64_t most = 0;
    for (int64_t i = 0; i < product->p.nrows; i++)
        most = ftb_max(most, product->p.arow[i + 1] - product->p.arow[i]);
    return (double)(product->right->multi ? product->facts.longest_row : most);
}

bool ftb_product_exact_in_fp64(const ftb_spgemm_product *product, double largest_message)
{
    return largest_message * ftb_product_most_messages(product) < 9007199254740992.0; /* 2^53 */
}

/* plus : a * b on plain values. */
static void try_times(ftb_spgemm_product *product, bool *done)
{
    const ftb_sparse_message *m = &product->message;
    FtB_Type type = ftb_program_type(m->program);
    if (product->reducer.monoid != FTB_PLUS || product->reducer.mean || product->winners ||
        product->width != 1 || !product->text_times || product->B->width != 1 || product->A->width > 1)
        return;
    bool integers =
        type == FTB_INT64 && !product->semiring->domain &&
        ftb_product_exact_in_fp64(product, magnitude(product, product->A) * magnitude(product, product->B));
    if (type != FTB_FP32 && type != FTB_FP64 && !integers)
        return;
    product->p.message = FTB_MESSAGE_TIMES;
    product->p.cell = type == FTB_FP32 ? FTB_FP32 : FTB_FP64;
    product->p.cell_width = 1;
    *done = true;
}

static bool reads_times(const char *text)
{
    char packed[8] = {0};
    size_t n = 0;
    for (const char *c = text; *c && n < sizeof packed - 1; c++)
        if (*c != ' ')
            packed[n++] = *c;
    return strcmp(packed, "a*b") == 0 || strcmp(packed, "b*a") == 0;
}

static GrB_Info compile_message(ftb_spgemm_product *product, bool project)
{
    ftb_sparse_message *m = &product->message;
    const struct FtB_Semiring_opaque *s = product->semiring;
    list_message_names(product, project);
    int known = m->count;
    m->count = ftb_bound_names(s->nbound, s->bound, m->names, m->fixed, m->count,
                               FTB_MESSAGE_NAMES + FTB_BOUND_ROOM);
    if (m->count < 0)
        return ftb_fail(GrB_INVALID_VALUE, "semiring: %d bindings; at most %d are taken here", s->nbound,
                        FTB_BOUND_ROOM);
    bool sums = product->reducer.monoid == FTB_PLUS || product->reducer.monoid == FTB_TIMES;
    GrB_Info info = ftb_program_new(&m->program, product->ctx, s->message, m->count, m->names, sums);
    if (info == GrB_SUCCESS)
        info = ftb_program_check_rows(m->program, "i", ftb_rows_in_all(product->left));
    if (info == GrB_SUCCESS)
        info = ftb_program_check_rows(m->program, "j", product->right->ncols);
    if (info == GrB_SUCCESS)
        info = ftb_program_check_rows(m->program, "k", ftb_rows_in_all(product->right));
    for (int n = 0; n < FTB_MESSAGE_NAMES && info == GrB_SUCCESS; n++)
        m->used[n] = m->index[n] >= 0 && m->index[n] < known && ftb_program_uses(m->program, m->index[n]);
    product->text_times = reads_times(ftb_expr_text(s->message));
    if (info != GrB_SUCCESS)
        return info;
    product->width = ftb_program_width(m->program);
    product->sum_type = ftb_monoid_type(s->reducer.monoid, ftb_program_type(m->program));
    if (s->reducer.mean && product->sum_type != FTB_FP32)
        product->sum_type = FTB_FP64;
    return ftb_product_range(product);
}

/* The same; of a named weight with FP64 in place of whole numbers that may wrap. */
static GrB_Info compile_wide_enough(ftb_spgemm_product *product, bool project)
{
    GrB_Info info = compile_message(product, project);
    if (info != GrB_SUCCESS || !product->facts.wraps || !product->named)
        return info;
    product->facts.widened = true;
    ftb_program_delete(product->message.program);
    product->message.program = NULL;
    return compile_message(product, project);
}

/* Degrees that the message asks for: entries in row i of A, in column j of B, in row k of B. */
static GrB_Info count_degrees(ftb_spgemm_product *product)
{
    const struct {
        int name;
        int64_t **degree;
        const ftb_pattern *pattern;
        int64_t n;
    } ends[] = {{FTB_NAME_DI, &product->rows.degree, product->left, product->left->nrows},
                {FTB_NAME_DJ, &product->cols.degree, product->right, product->right->ncols},
                {FTB_NAME_DK, &product->inner.degree, product->right, product->right->nrows}};
    for (int t = 0; t < 3; t++) {
        if (!product->message.used[ends[t].name] || *ends[t].degree)
            continue;
        int64_t *degree = ftb_arena_new0(&product->arena, ends[t].n, sizeof *degree);
        if (!degree)
            return ftb_nomem();
        if (ends[t].name == FTB_NAME_DJ)
            for (int64_t e = 0; e < ends[t].pattern->nvals; e++)
                degree[ftb_col(ends[t].pattern, e)]++;
        else
            for (int64_t i = 0; i < ends[t].n; i++)
                degree[i] = ends[t].pattern->rowptr[i + 1] - ends[t].pattern->rowptr[i];
        *ends[t].degree = degree;
    }
    return GrB_SUCCESS;
}

/* Symmetric if exchanging a and b, and i and j, changes no bit. (Tables are checked value by value.) */
static bool message_symmetric(const ftb_spgemm_product *product)
{
    /* i, j exchange with their figures, which are the same vertex's only when both sides are one. */
    static const char *const pairs[] = {"a", "b", "i", "j", "di", "dj", "si", "sj", NULL};
    if (!product->self || product->winners || product->semiring->function || product->semiring->nbound > 0)
        return false;
    return product->p.message == FTB_MESSAGE_PAIR || product->p.message == FTB_MESSAGE_TIMES ||
           ftb_expr_symmetric(product->semiring->message, pairs);
}

static GrB_Info make_message(ftb_spgemm_product *product, const ftb_vertices *rows, const ftb_vertices *cols,
                             const ftb_vertices *inner, bool project)
{
    ftb_sparse_message *m = &product->message;
    const struct FtB_Semiring_opaque *s = product->semiring;
    GrB_Info info = GrB_SUCCESS;
    bool done = false;
    product->reducer = s->reducer;
    for (int c = 0; c < 8; c++)
        product->swap[c] = c;
    m->semiring = s;
    m->awidth = ftb_max(product->A->width, 1);
    m->bwidth = ftb_max(product->B->width, 1);
    if (s->function && s->nbound > 0)
        return ftb_fail(GrB_INVALID_VALUE,
                        "semiring: '%s' is bound, which products of two matrices do not have",
                        s->bound[0].name);
    if (s->function) {
        list_message_names(product, project);
        m->used[FTB_NAME_A] = m->used[FTB_NAME_B] = true;
        product->width = s->function_width;
        product->sum_type = ftb_monoid_type(s->reducer.monoid, FTB_FP32);
    } else {
        info = compile_wide_enough(product, project);
        if (info != GrB_SUCCESS)
            return info;
    }
    m->atype = ftb_type_compute(operand_type(product, product->A));
    m->btype = ftb_type_compute(operand_type(product, product->B));
    if (product->winners && s->reducer.monoid != FTB_MIN && s->reducer.monoid != FTB_MAX)
        return ftb_fail(GrB_INVALID_VALUE, "semiring: the reducer is %s; expected min or max",
                        ftb_monoid_name(s->reducer.monoid));
    if (product->winners && product->width != 1)
        return ftb_fail(GrB_INVALID_VALUE,
                        "semiring: the message has %lld values; the winner is known for one only",
                        (long long)product->width);
    product->rows = rows ? *rows : product->rows;
    product->cols = cols ? *cols : product->cols;
    product->inner = inner ? *inner : product->inner;
    if (!project)
        info = count_degrees(product);
    if (!s->function && info == GrB_SUCCESS) {
        info = try_pair(product, &done);
        if (!done && info == GrB_SUCCESS) /* codes are one byte, values four or eight */
            info = ftb_product_table(product, &done);
        if (!done && info == GrB_SUCCESS)
            try_times(product, &done);
    }
    if (info == GrB_SUCCESS && !done) {
        product->p.message = FTB_MESSAGE_PROGRAM;
        product->p.cell = product->sum_type;
        product->p.cell_width = product->width;
    }
    product->facts.self = product->self;
    if (product->p.message != FTB_MESSAGE_TABLE)
        product->facts.symmetric = info == GrB_SUCCESS && message_symmetric(product);
    return info;
}

GrB_Info ftb_product_message(ftb_spgemm_product *product, const ftb_vertices *rows, const ftb_vertices *cols,
                             const ftb_vertices *inner, bool project)
{
    fenv_t callers;
    ftb_floats_begin(&callers); /* tables hold no -0.0 */
    GrB_Info info = make_message(product, rows, cols, inner, project);
    ftb_floats_end(&callers);
    return info;
}

bool ftb_product_uses_only_values(const ftb_spgemm_product *product) { return uses_only(product, true); }

/* ---- plan */

/* The name of the kernel, as registered. */
static const char *kernel_name(const ftb_spgemm *p)
{
#define NAME(name, message_, cell_, width)                                                                   \
    if (p->message == (message_) && p->cell == (cell_) && p->cell_width == (width))                          \
        return #name;
    FTB_SPGEMM_KERNELS(NAME)
#undef NAME
    return "program";
}

/* Nanoseconds of a message; what is the same for a whole row of the right operand is evaluated once for it.
 */
static double message_cost(const ftb_sparse_message *m)
{
    bool differs = m->used[FTB_NAME_B] || m->used[FTB_NAME_J] || m->used[FTB_NAME_DJ] || m->used[FTB_NAME_SJ];
    return m->program && differs ? ftb_program_cost(m->program).item : 0;
}

/* Bytes of an operand's values when they are cast to `type`, and moved if `from`. */
static int64_t copied_bytes(FtB_Matrix A, FtB_Type type, FtB_Type domain, bool from)
{
    int64_t n = A->pattern->nvals * A->width;
    bool cast = type != A->type || (domain && domain != A->type);
    return n * (8 * cast + (int64_t)FtB_Type_size(type) * from);
}

/* What a form allocates for values. */
static int64_t prepared_bytes(const ftb_spgemm_product *product)
{
    const ftb_spgemm *p = &product->p;
    FtB_Type domain = product->semiring->domain;
    bool times = p->message == FTB_MESSAGE_TIMES;
    if (p->message == FTB_MESSAGE_PAIR)
        return 0;
    if (p->message == FTB_MESSAGE_TABLE)
        return product->right_from ? product->right->nvals : 0;
    bool once = product->A == product->B && !product->right_from;
    return copied_bytes(product->A, times ? p->cell : product->message.atype, domain, false) +
           (once ? 0
                 : copied_bytes(product->B, times ? p->cell : product->message.btype, domain,
                                product->right_from != NULL));
}

GrB_Info ftb_product_plan(ftb_spgemm_product *product, const ftb_spgemm_plan *forced, bool estimate)
{
    ftb_spgemm_facts *f = &product->facts;
    const ftb_finish *finish = &product->finish;
    GrB_Info info = GrB_SUCCESS;
    f->nrows = product->p.nrows;
    f->ncols = ftb_max(product->p.nids, 1);
    f->ninner = product->left->ncols;
    f->all_rows[0] = product->left->numbers ? product->left->all_rows : 0;
    f->all_rows[1] = product->right->numbers ? product->right->all_rows : 0;
    f->avals = product->left->nvals;
    f->bvals = product->right->nvals;
    f->kernel = kernel_name(&product->p);
    f->masked = product->mask != NULL;
    f->half_wanted = finish->upper_only || finish->two_sided;
    f->cell_bytes = product->p.cell_width * (int64_t)FtB_Type_size(product->p.cell) +
                    (product->p.message == FTB_MESSAGE_PROGRAM) +
                    8 * (product->winners || product->reducer.mean);
    f->value_bytes = (int64_t)FtB_Type_size(finish->out_type) * ftb_max(finish->out_width, 1);
    f->winner_bytes = product->winners ? 8 : 0;
    f->index_bytes = (int64_t)ftb_col_size(product->p.ncols);
    f->retained_bytes = ftb_mirror_entry_bytes(product);
    f->prepared_bytes = prepared_bytes(product);
    f->starts_bytes = product->left_from ? 0 : 8 * f->bvals;
    f->dual = product->dual_table != NULL;
    f->stats_only = product->counted;
    f->worker_bytes = ftb_finisher_bytes(finish, ftb_min(f->longest_row, f->ncols)) +
                      (product->p.message == FTB_MESSAGE_PROGRAM ? ftb_batch_bytes(product) : 0);
    f->sink_bytes = product->reserve;
    f->memory_left = ftb_memory_left(product->ctx);
    FtB_Context_memory(product->ctx, &f->held_bytes, NULL);
    f->threads = ftb_threads(product->ctx);
    f->message_cost = message_cost(&product->message);
    ftb_finish_cost(finish, &f->finish_cost, &f->finish_row_cost);
    f->passing = finish->where || finish->use_min ? 0.5 : 1;
    f->top_k = finish->use_top_k ? finish->top_k : 0;
    f->width = product->width;
    f->counted = product->counted && ftb_product_plain_counts(product);
    f->entries_estimate = f->kept_estimate = -1;
    f->kept_bound = f->entries_bound;
    if (estimate || (f->symmetric && !f->half_wanted && f->memory_left < INT64_MAX))
        info = ftb_product_estimate(product);
    if (forced)
        product->plan = *forced;
    if ((info == GrB_SUCCESS || info == FTB_LIMIT) && (estimate || forced || f->products >= FTB_HOT_PRODUCTS))
        info = ftb_product_hot_facts(product);
    if (info != GrB_SUCCESS && info != FTB_LIMIT) /* what a limit leaves no room to learn is not known */
        return info;
    if (ftb_rule_spgemm(&product->plan, f, ftb_machine_here()))
        return GrB_SUCCESS;
    char left[FTB_WORDS], needed[FTB_WORDS], limit[FTB_WORDS];
    return ftb_fail(
        FTB_LIMIT,
        "memory limit: %s are left and this product needs at least %s beside its operands and result; "
        "without the result, the smallest limit that would do is %s",
        ftb_bytes_text(left, (double)f->memory_left),
        ftb_bytes_text(needed, (double)product->plan.least_limit),
        ftb_bytes_text(limit, (double)(f->held_bytes + product->plan.least_limit)));
}

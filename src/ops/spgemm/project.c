/* Projection of a bipartite graph: C(i,j) = epilogue(reduce over k of message(R(k,i), R(k,j))), a product
 * of R' with R (or R with R') with per-vertex figures, filters and top-k fused per row. */
#include "core/options.h"
#include "core/words.h"
#include "cpu/interpreter.h"
#include "ops/plan_object.h"
#include "ops/spgemm/spgemm.h"

#include <stdlib.h>

/* The slots' macros are for callers: these are the functions. */
#undef FtB_project
#undef FtB_project_plan

typedef struct call {
    FtB_Matrix C; /* NULL: sink */
    FtB_Sink sink;
    FtB_Matrix R;        /* the caller's */
    FtB_Matrix weighted; /* ours: unweighted or prepared; else NULL */
    FtB_Context ctx;
    FtB_Project_options options;
    const ftb_weight *weight;
    FtB_Semiring semiring;
    bool rows; /* project onto the rows of R */
    ftb_spgemm_product *product;
    uint8_t *keep_rows, *keep_cols;
    ftb_vertices vertex, inner;
} call;

/* ---- arguments */

static GrB_Info check_list(const char *name, const int64_t *list, int64_t count, int64_t n)
{
    if (!list)
        return GrB_SUCCESS;
    if (count < 0)
        return ftb_fail(GrB_INVALID_VALUE, "options: n%s is %lld; expected 0 or more", name,
                        (long long)count);
    char below[FTB_WORDS];
    for (int64_t t = 0; t < count; t++)
        if (list[t] < 0 || list[t] >= n)
            return ftb_fail(GrB_INDEX_OUT_OF_BOUNDS, "options: %s[%lld] is %lld; expected %s", name,
                            (long long)t, (long long)list[t], ftb_below_text(below, n));
    return GrB_SUCCESS;
}

static GrB_Info read_options(call *c, const FtB_Project_options *options)
{
    GrB_Info info =
        ftb_options_read(&c->options, sizeof c->options, options, "FtB_project", "FTB_PROJECT_OPTIONS");
    if (info != GrB_SUCCESS)
        return info;
    const FtB_Project_options *o = &c->options;
    if (o->onto != FTB_COLS && o->onto != FTB_ROWS)
        return ftb_fail(GrB_INVALID_VALUE, "options: onto is %d; expected FTB_COLS or FTB_ROWS",
                        (int)o->onto);
    if (o->top_k < 0 || o->min_degree < 0 || o->max_degree < 0)
        return ftb_fail(GrB_INVALID_VALUE, "options: %s is negative",
                        o->top_k < 0        ? "top_k"
                        : o->min_degree < 0 ? "min_degree"
                                            : "max_degree");
    c->rows = o->onto == FTB_ROWS;
    int64_t n = c->rows ? c->R->pattern->nrows : c->R->pattern->ncols;
    if (c->C && (c->C->pattern->nrows != n || c->C->pattern->ncols != n))
        return ftb_fail(GrB_DIMENSION_MISMATCH, "C: %lld x %lld; expected %lld x %lld, the %s of R squared",
                        (long long)c->C->pattern->nrows, (long long)c->C->pattern->ncols, (long long)n,
                        (long long)n, c->rows ? "rows" : "columns");
    info = check_list("sources", o->sources, o->nsources, n);
    return info == GrB_SUCCESS ? check_list("targets", o->targets, o->ntargets, n) : info;
}

static GrB_Info read_weight(call *c, FtB_Arg weight)
{
    FtB_Arg text = weight;
    if (weight.kind == FTB_KIND_NONE)
        return ftb_fail(GrB_NULL_POINTER,
                        "weight: NULL; expected an FtB_Semiring, a GrB_Semiring, text, or a name");
    if (weight.kind == FTB_KIND_TEXT && !strchr((const char *)weight.handle, ':')) {
        c->weight = ftb_weight_find(weight.handle);
        if (!c->weight)
            return ftb_fail(GrB_INVALID_VALUE,
                            "weight: unknown name '%s', and not a semiring 'reducer : message'",
                            (const char *)weight.handle);
        text = FtB_Arg_make(FTB_KIND_TEXT, c->weight->semiring, 0, 0);
    }
    return ftb_arg_semiring(&c->semiring, text, "weight");
}

/* ---- vertices */

static int64_t *count_entries(FtB_Context ctx, const ftb_pattern *p, bool rows)
{
    int64_t n = rows ? p->nrows : p->ncols;
    int64_t *degree = ftb_new0(ctx, n, sizeof *degree);
    if (degree && rows)
        for (int64_t i = 0; i < n; i++)
            degree[i] = p->rowptr[i + 1] - p->rowptr[i];
    if (degree && !rows)
        for (int64_t e = 0; e < p->nvals; e++)
            degree[ftb_col(p, e)]++;
    return degree;
}

/* Sums and sums of squares of each row's or column's values, in entry order. */
static GrB_Info sum_entries(call *c, FtB_Matrix R, bool rows, double **sum, double **square)
{
    const ftb_pattern *p = R->pattern;
    int64_t n = rows ? p->nrows : p->ncols;
    ftb_delete(*sum);
    ftb_delete(*square);
    *sum = ftb_new0(c->ctx, n, sizeof **sum);
    *square = ftb_new0(c->ctx, n, sizeof **square);
    if (!*sum || !*square)
        return ftb_nomem();
    for (int64_t i = 0; i < p->nrows; i++)
        for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++) {
            int64_t v = rows ? i : ftb_col(p, e);
            double x = R->width ? ftb_get_real(ftb_values(R), R->type, e) : 1;
            (*sum)[v] += x;
            (*square)[v] += x * x;
        }
    return GrB_SUCCESS;
}

/* Whether some text may speak of sums or squares; a false alarm only costs time. */
static bool speaks_of_sums(const call *c)
{
    static const char *const names[] = {"si", "sj", "sk", "qi", "qj", "total"};
    const char *texts[] = {c->weight ? c->weight->prepare : NULL,
                           c->options.epilogue ? c->options.epilogue
                           : c->weight         ? c->weight->epilogue
                                               : NULL,
                           c->options.where,
                           c->semiring->message ? ftb_expr_text(c->semiring->message) : NULL};
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++)
        for (size_t n = 0; texts[t] && n < sizeof names / sizeof names[0]; n++)
            if (strstr(texts[t], names[n]))
                return true;
    return false;
}

static GrB_Info measure_vertices(call *c)
{
    FtB_Matrix R = c->weighted ? c->weighted : c->R;
    GrB_Info info = GrB_SUCCESS;
    if (speaks_of_sums(c))
        info = sum_entries(c, R, c->rows, &c->vertex.sum, &c->vertex.square);
    if (speaks_of_sums(c) && info == GrB_SUCCESS)
        info = sum_entries(c, R, !c->rows, &c->inner.sum, &c->inner.square);
    if (info != GrB_SUCCESS || c->vertex.degree)
        return info;
    c->vertex.degree = count_entries(c->ctx, R->pattern, c->rows);
    c->inner.degree = count_entries(c->ctx, R->pattern, !c->rows);
    return c->vertex.degree && c->inner.degree ? GrB_SUCCESS : ftb_nomem();
}

/* ---- values that enter the product */

static GrB_Info drop_values(call *c)
{
    return ftb_matrix_make(&c->weighted, c->ctx, c->R->type, 0, ftb_pattern_retain(c->R->pattern), NULL);
}

enum { X, I, J, DI, DJ, SI, SJ, QI, QJ, NROWS, NCOLS, TOTAL, NAMES };

typedef struct preparation {
    ftb_interpreter *machine;
    ftb_operand operands[NAMES];
    FtB_Type x_type, z_type;
    double x[FTB_BATCH];
    int64_t i[FTB_BATCH], j[FTB_BATCH], degree_i[FTB_BATCH], degree_j[FTB_BATCH];
    double sum_i[FTB_BATCH], sum_j[FTB_BATCH], square_i[FTB_BATCH], square_j[FTB_BATCH];
} preparation;

/* New values of entries [e, e + n), whose rows are in row[]. i is the shared, j the projected vertex. */
static void prepare_batch(const call *c, preparation *p, int64_t e, int64_t n, const int64_t *row, char *out)
{
    FtB_Matrix R = c->weighted ? c->weighted : c->R;
    if (R->width)
        ftb_cast(p->x, p->x_type, (const char *)ftb_values(R) + (size_t)e * FtB_Type_size(R->type), R->type,
                 n);
    for (int64_t t = 0; t < n; t++) {
        int64_t col = ftb_col(R->pattern, e + t), i = c->rows ? col : row[t], j = c->rows ? row[t] : col;
        p->i[t] = i;
        p->j[t] = j;
        p->degree_i[t] = c->inner.degree[i];
        p->sum_i[t] = c->inner.sum[i];
        p->square_i[t] = c->inner.square[i];
        p->degree_j[t] = c->vertex.degree[j];
        p->sum_j[t] = c->vertex.sum[j];
        p->square_j[t] = c->vertex.square[j];
    }
    ftb_interpreter_run(p->machine, n, p->operands, out);
}

static void run_preparation(const call *c, preparation *p, char *out)
{
    const ftb_pattern *pattern = c->R->pattern;
    int64_t row[FTB_BATCH], n = 0, first = 0;
    size_t size = FtB_Type_size(p->z_type);
    for (int64_t i = 0; i < pattern->nrows; i++)
        for (int64_t e = pattern->rowptr[i]; e < pattern->rowptr[i + 1]; e++) {
            row[n++] = i;
            if (n == FTB_BATCH) {
                prepare_batch(c, p, first, n, row, out + (size_t)first * size);
                first += n;
                n = 0;
            }
        }
    if (n > 0)
        prepare_batch(c, p, first, n, row, out + (size_t)first * size);
}

/* The program of the weight's `prepare`, and where its operands are. */
static GrB_Info compile_preparation(const call *c, preparation *p, ftb_program **program, const double *total,
                                    const int64_t shape[2])
{
    static const char *const names[NAMES] = {"x",  "i",  "j",  "di",    "dj",    "si",
                                             "sj", "qi", "qj", "nrows", "ncols", "total"};
    static const double one = 1;
    FtB_Matrix R = c->weighted ? c->weighted : c->R;
    FtB_Type type = R->width ? R->type : FTB_FP64;
    ftb_name known[NAMES];
    ftb_expr *e = NULL;
    GrB_Info info = ftb_expr_parse(&e, c->ctx, c->weight->prepare, "prepare", 0);
    if (info != GrB_SUCCESS)
        return info;
    for (int n = 0; n < NAMES; n++) {
        bool real = (n >= SI && n <= QJ) || n == TOTAL;
        known[n] = (ftb_name){.name = names[n],
                              .type = n == X ? type
                                      : real ? FTB_FP64
                                             : FTB_INT64,
                              .width = 1};
    }
    info = ftb_program_new(program, c->ctx, e, NAMES, known, false);
    ftb_expr_release(e);
    if (info != GrB_SUCCESS)
        return info;
    p->x_type = ftb_type_compute(type);
    p->z_type = ftb_program_type(*program);
    const ftb_operand operands[NAMES] = {
        {R->width ? (const void *)p->x : (const void *)&one, R->width ? 1 : 0},
        {p->i, 1},
        {p->j, 1},
        {p->degree_i, 1},
        {p->degree_j, 1},
        {p->sum_i, 1},
        {p->sum_j, 1},
        {p->square_i, 1},
        {p->square_j, 1},
        {&shape[0], 0},
        {&shape[1], 0},
        {total, 0},
    };
    memcpy(p->operands, operands, sizeof operands);
    return ftb_interpreter_new(&p->machine, c->ctx, *program);
}

/* Replaces R's values by what the weight's `prepare` makes of them. */
static GrB_Info prepare_values(call *c)
{
    const ftb_pattern *pattern = c->R->pattern;
    ftb_program *program = NULL;
    FtB_Matrix prepared = NULL;
    void *out = NULL;
    double total = 0;
    const int64_t shape[2] = {c->rows ? pattern->ncols : pattern->nrows,
                              c->rows ? pattern->nrows : pattern->ncols};
    GrB_Info info;
    preparation *p = ftb_new0(c->ctx, 1, sizeof *p);
    if (!p)
        return ftb_nomem();
    for (int64_t v = 0; v < shape[1]; v++)
        total += c->vertex.sum[v];
    FTB_CHECK(compile_preparation(c, p, &program, &total, shape));
    out = ftb_new(c->ctx, pattern->nvals, FtB_Type_size(p->z_type));
    if (!out) {
        info = ftb_nomem();
        goto done;
    }
    run_preparation(c, p, out);
    ftb_buffer *values = ftb_buffer_adopt(c->ctx, out);
    out = NULL; /* adopted, also on failure */
    if (!values) {
        info = ftb_nomem();
        goto done;
    }
    FTB_CHECK(ftb_matrix_make(&prepared, c->ctx, p->z_type, 1, ftb_pattern_retain(c->R->pattern), values));
    FtB_Matrix_free(&c->weighted);
    c->weighted = prepared;
done:
    ftb_delete(out);
    ftb_interpreter_delete(p->machine);
    ftb_program_delete(program);
    ftb_delete(p);
    return info;
}

/* ---- which vertices take part */

static GrB_Info choose_vertices(call *c)
{
    const FtB_Project_options *o = &c->options;
    int64_t n = c->rows ? c->R->pattern->nrows : c->R->pattern->ncols;
    if (!o->sources && !o->targets && o->min_degree == 0 && o->max_degree == 0)
        return GrB_SUCCESS;
    c->keep_rows = ftb_new0(c->ctx, n, 1);
    c->keep_cols = ftb_new0(c->ctx, n, 1);
    if (!c->keep_rows || !c->keep_cols)
        return ftb_nomem();
    for (int64_t t = 0; t < o->nsources && o->sources; t++)
        c->keep_rows[o->sources[t]] = 1;
    for (int64_t t = 0; t < o->ntargets && o->targets; t++)
        c->keep_cols[o->targets[t]] = 1;
    for (int64_t v = 0; v < n; v++) {
        int64_t degree = c->vertex.degree[v];
        bool fits = degree >= o->min_degree && (o->max_degree == 0 || degree <= o->max_degree);
        c->keep_rows[v] = fits && (!o->sources || c->keep_rows[v]);
        c->keep_cols[v] = fits && (!o->targets || c->keep_cols[v]);
    }
    return GrB_SUCCESS;
}

/* ---- the call */

static GrB_Info make_product(call *c)
{
    const FtB_Project_options *o = &c->options;
    FtB_Matrix R = c->weighted ? c->weighted : c->R;
    GrB_Info info =
        ftb_product_new(&c->product, c->ctx, &c->semiring, R, !c->rows, R, c->rows, FTB_LISTED_NONE);
    if (info != GrB_SUCCESS)
        return info;
    ftb_spgemm_product *product = c->product;
    ftb_finish *finish = &product->finish;
    if (product->right->wide)
        return ftb_fail(GrB_INVALID_VALUE, "R: %lld vertices to project onto; expected fewer than 2^31",
                        (long long)product->right->ncols);
    product->named = c->weight != NULL;
    product->counted = c->sink && ftb_sink_counts(c->sink);
    if (c->keep_rows)
        ftb_product_want(product, c->keep_rows);
    info = ftb_product_message(product, &c->vertex, &c->vertex, &c->inner, true);
    if (info != GrB_SUCCESS)
        return info;
    if (o->sources) /* a triangle would compute rows that nobody wants */
        product->facts.symmetric = product->facts.symmetric && o->triangle;
    finish->drop_diagonal = !o->self_loops;
    finish->upper_only = o->triangle;
    finish->keep = c->keep_cols;
    finish->use_min = o->use_min_weight;
    finish->min_weight = o->min_weight;
    finish->use_top_k = o->top_k > 0;
    finish->top_k = o->top_k;
    const char *epilogue = o->epilogue ? o->epilogue : c->weight ? c->weight->epilogue : NULL;
    info = ftb_finish_compile(finish, product, epilogue, o->where);
    bool one_set = !o->sources && !o->targets; /* rows and columns are the same vertices */
    finish->two_sided = info == GrB_SUCCESS && one_set && ftb_topk_two_sided(product, epilogue, o->where);
    if (info == GrB_SUCCESS)
        ftb_product_reserve(product, c->sink, o->triangle);
    product->facts.heap_bytes = finish->two_sided ? ftb_topk_bytes(product) : 0;
    return info;
}

/* Everything up to the plan. */
static GrB_Info begin_call(call *c, FtB_Arg C, FtB_Arg R, FtB_Arg weight, const FtB_Project_options *options,
                           bool estimate)
{
    GrB_Info info;
    FTB_CHECK(ftb_product_output(&c->C, &c->sink, &c->ctx, C));
    FTB_CHECK(ftb_arg_matrix(&c->R, R, "R", false));
    FTB_CHECK(read_options(c, options));
    if (c->R->width > 1) {
        info = ftb_fail(GrB_DIMENSION_MISMATCH, "R: width %lld; expected 0 or 1", (long long)c->R->width);
        goto done;
    }
    FTB_CHECK(read_weight(c, weight));
    if (c->R->width == 1 && (c->options.unweighted || (c->weight && c->weight->unweighted)))
        FTB_CHECK(drop_values(c));
    FTB_CHECK(measure_vertices(c));
    if (c->weight && c->weight->prepare) {
        FTB_CHECK(prepare_values(c));
        FTB_CHECK(measure_vertices(c));
    }
    FTB_CHECK(choose_vertices(c));
    FTB_CHECK(make_product(c));
    info = ftb_spgemm_plan_take(c->product, c->options.plan, estimate);
    if (info == GrB_SUCCESS)
        c->product->finish.two_sided = c->product->finish.two_sided && c->product->plan.triangle;
done:
    return info;
}

static GrB_Info end_call(call *c, GrB_Info info)
{
    FtB_Semiring_free(&c->semiring);
    FtB_Matrix_free(&c->weighted);
    void *arrays[] = {c->keep_rows,     c->keep_cols,    c->vertex.degree, c->vertex.sum,
                      c->vertex.square, c->inner.degree, c->inner.sum,     c->inner.square};
    for (size_t t = 0; t < sizeof arrays / sizeof arrays[0]; t++)
        ftb_delete(arrays[t]);
    return ftb_product_end(c->product, c->ctx, info);
}

GrB_Info FtB_project(FtB_Arg C, FtB_Arg R, FtB_Arg weight, const FtB_Project_options *options)
{
    call c = {0};
    FtB_Matrix T = NULL;
    GrB_Info info;
    FTB_CHECK(begin_call(&c, C, R, weight, options, false));
    if (c.sink) {
        info = ftb_product_to_sink(c.product, c.sink, c.options.triangle && c.product->facts.symmetric);
        goto done;
    }
    FTB_CHECK(ftb_product_to_matrix(&T, c.product, c.C->type));
    FTB_CHECK(ftb_matrix_become(c.C, T));
    T = NULL;
done:
    FtB_Matrix_free(&T);
    return end_call(&c, info);
}

GrB_Info FtB_project_plan(FtB_Plan *plan, FtB_Arg C, FtB_Arg R, FtB_Arg weight,
                          const FtB_Project_options *options, FtB_Effort effort)
{
    call c = {0};
    GrB_Info info;
    if (!plan)
        return ftb_fail(GrB_NULL_POINTER, "plan: NULL; expected where to put the plan");
    *plan = NULL;
    FTB_CHECK(begin_call(&c, C, R, weight, options, true));
    info = ftb_spgemm_plan_make(plan, c.product, effort);
done:
    return end_call(&c, info);
}

/* What happens to a row of a product before it is stored: w = epilogue(h, i, j, ...), then the filters
 * (diagonal, columns, w >= least, expression over w), then the k largest. Works in place, in batches. */
#include "cpu/interpreter.h"
#include "cpu/spgemm_run.h"
#include "expr/cost.h"

#include <math.h>
#include <stdlib.h>

struct ftb_finisher {
    const ftb_spgemm_form *form;
    ftb_interpreter *epilogue, *where;
    ftb_operand operands[FTB_ROW_NAMES];
    int64_t j[FTB_BATCH], degree_j[FTB_BATCH];
    double sum_j[FTB_BATCH], square_j[FTB_BATCH];
    int64_t i, degree_i, nrows, ncols;
    double sum_i, square_i;
    char *w;       /* epilogue's values of a batch */
    char *where_z; /* filter's values of a batch */
    int64_t *heap; /* top_k: entries */
};

static const char *const row_names[FTB_ROW_NAMES] = {"h",  "h0", "h1", "h2",    "h3",    "h4", "h5",
                                                     "h6", "h7", "i",  "j",     "di",    "dj", "si",
                                                     "sj", "qi", "qj", "nrows", "ncols", "w"};

/* Names of an expression over rows; those not known here have width 0. Returns how many; place[] tells
 * which is which. */
static int list_names(const ftb_finish *f, bool with_w, FtB_Type w_type, int64_t w_width, ftb_name *names,
                      int *place)
{
    int count = 0;
    for (int n = 0; n < FTB_ROW_NAMES; n++) {
        ftb_name name = {.name = row_names[n], .type = FTB_INT64, .width = 1};
        if (n <= FTB_ROW_H7)
            name.type = f->in_type;
        if (n == FTB_ROW_H)
            name.width = f->in_width;
        if (n >= FTB_ROW_H0 && n <= FTB_ROW_H7 && n - FTB_ROW_H0 >= f->in_width)
            continue;
        if ((n == FTB_ROW_DI || n == FTB_ROW_DJ) && (!f->rows->degree || !f->cols->degree))
            continue;
        if (n >= FTB_ROW_SI && n <= FTB_ROW_QJ) {
            if (!f->rows->sum && !f->rows->degree)
                continue; /* without degrees: no projection. One that has not summed up has no text with these
                             names */
            name.type = FTB_FP64;
        }
        if (n == FTB_ROW_W) {
            if (!with_w)
                continue;
            name.type = w_type;
            name.width = w_width;
        }
        place[count] = n;
        names[count++] = name;
    }
    return count;
}

/* Bounds of what an expression gives, to *w; notes where whole numbers may wrap. */
static GrB_Info bound(ftb_spgemm_product *product, const ftb_program *program, int count, const int *place,
                      const char *what, ftb_range *w)
{
    const ftb_finish *f = &product->finish;
    const ftb_range counts = {0, (double)ftb_max(ftb_max(f->nrows, f->ncols), product->left->nvals)};
    ftb_range ranges[FTB_ROW_NAMES];
    bool wraps = false;
    for (int n = 0; n < count; n++)
        ranges[n] = place[n] <= FTB_ROW_H7 ? product->h[place[n]] : place[n] == FTB_ROW_W ? *w : counts;
    GrB_Info info = ftb_program_range(program, ranges, 0, w, &wraps);
    if (wraps && !product->facts.wraps)
        product->facts.wraps = what;
    return info;
}

static GrB_Info compile(ftb_program **program, bool *used, ftb_spgemm_product *product, const char *text,
                        const char *what, bool with_w, ftb_range *w)
{
    const ftb_finish *f = &product->finish;
    ftb_name names[FTB_ROW_NAMES];
    int place[FTB_ROW_NAMES];
    ftb_expr *e = NULL;
    GrB_Info info = ftb_expr_parse(&e, product->ctx, text, what, 0);
    if (info != GrB_SUCCESS)
        return info;
    int count = list_names(f, with_w, f->out_type, f->out_width, names, place);
    info = ftb_program_new(program, product->ctx, e, count, names, false);
    for (int n = 0; n < count && info == GrB_SUCCESS; n++)
        used[place[n]] = ftb_program_uses(*program, n);
    ftb_expr_release(e);
    return info == GrB_SUCCESS ? bound(product, *program, count, place, what, w) : info;
}

GrB_Info ftb_finish_compile(ftb_finish *f, ftb_spgemm_product *product, const char *epilogue,
                            const char *where)
{
    f->in_type = f->out_type = product->sum_type;
    f->in_width = f->out_width = product->width;
    f->wrap = ftb_semiring_wraps_to(product->semiring, f->in_type);
    f->rows = &product->rows;
    f->cols = &product->cols;
    ftb_range w = product->h[FTB_ROW_H];
    if (epilogue) {
        GrB_Info info = compile(&f->epilogue, f->used[0], product, epilogue, "epilogue", false, &w);
        if (info != GrB_SUCCESS)
            return info;
        f->out_type = ftb_program_type(f->epilogue);
        f->out_width = ftb_program_width(f->epilogue);
    }
    if (where) {
        GrB_Info info = compile(&f->where, f->used[1], product, where, "where", true, &w);
        if (info != GrB_SUCCESS)
            return info;
        if (ftb_program_width(f->where) != 1)
            return ftb_fail(GrB_INVALID_VALUE, "where: '%s' gives %lld values per entry; expected one", where,
                            (long long)ftb_program_width(f->where));
    }
    if ((f->use_min || f->use_top_k) && f->out_width != 1)
        return ftb_fail(GrB_INVALID_VALUE, "%s: the weight has %lld values per entry; expected one",
                        f->use_min ? "min_weight" : "top_k", (long long)f->out_width);
    return GrB_SUCCESS;
}

#define NANOSECONDS_PROGRAM 3 /* operands of a batch, results to their places */
#define NANOSECONDS_BATCH 100 /* to gather the operands */
#define NANOSECONDS_LOOKUP 3  /* a figure of the column's vertex */
#define NANOSECONDS_FILTER 10 /* entries moved together, by a branch that is seldom foreseen */

void ftb_finish_cost(const ftb_finish *f, double *entry, double *row)
{
    const ftb_program *const programs[] = {f->epilogue, f->where};
    *entry = f->keep || f->use_min || f->where ? NANOSECONDS_FILTER : 0;
    *row = 0;
    for (int t = 0; t < 2; t++) {
        if (!programs[t])
            continue;
        ftb_cost cost = ftb_program_cost(programs[t]);
        int lookups = f->used[t][FTB_ROW_DJ] + f->used[t][FTB_ROW_SJ] + f->used[t][FTB_ROW_QJ];
        *entry += NANOSECONDS_PROGRAM + cost.item + NANOSECONDS_LOOKUP * lookups;
        *row += NANOSECONDS_BATCH + cost.batch;
    }
}

void ftb_finisher_delete(struct ftb_finisher *f)
{
    if (!f)
        return;
    ftb_interpreter_delete(f->epilogue);
    ftb_interpreter_delete(f->where);
    ftb_delete(f->w);
    ftb_delete(f->where_z);
    ftb_delete(f->heap);
    ftb_delete(f);
}

int64_t ftb_finisher_bytes(const ftb_finish *finish, int64_t longest)
{
    const ftb_program *const programs[] = {finish->epilogue, finish->where};
    int64_t bytes =
        (int64_t)sizeof(struct ftb_finisher) + 8 * FTB_BATCH * (ftb_max(finish->out_width, 1) + 1);
    for (int t = 0; t < 2; t++)
        bytes += programs[t] ? ftb_interpreter_bytes(programs[t]) : 0;
    return bytes + (finish->use_top_k ? 8 * ftb_min(finish->top_k, longest) : 0);
}

GrB_Info ftb_finisher_new(struct ftb_finisher **out, const ftb_spgemm_form *form)
{
    const ftb_finish *finish = &form->product->finish;
    GrB_Info info = GrB_SUCCESS;
    *out = NULL;
    struct ftb_finisher *f = ftb_new0(form->product->ctx, 1, sizeof *f);
    if (!f)
        return ftb_nomem();
    f->form = form;
    f->nrows = finish->nrows;
    f->ncols = finish->ncols;
    if (finish->epilogue)
        FTB_CHECK(ftb_interpreter_new(&f->epilogue, form->product->ctx, finish->epilogue));
    if (finish->where)
        FTB_CHECK(ftb_interpreter_new(&f->where, form->product->ctx, finish->where));
    f->w = ftb_new(form->product->ctx, FTB_BATCH * ftb_max(finish->out_width, 1), 8);
    f->where_z = ftb_new(form->product->ctx, FTB_BATCH, 8);
    int64_t longest = ftb_min(form->product->facts.longest_row, form->p.nids);
    f->heap = ftb_new(form->product->ctx, finish->use_top_k ? ftb_min(finish->top_k, longest) + 1 : 1,
                      sizeof *f->heap);
    if (!f->w || !f->where_z || !f->heap)
        info = ftb_nomem();
done:
    if (info != GrB_SUCCESS) {
        ftb_finisher_delete(f);
        return info;
    }
    *out = f;
    return GrB_SUCCESS;
}

static int64_t column_at(const struct ftb_finisher *f, const void *cols, int64_t t)
{
    return ftb_index_wide(f->form) ? ((const int64_t *)cols)[t] : ((const int32_t *)cols)[t];
}

/* Operands of n entries from t0, in the order of the names that list_names gave. */
static void load(struct ftb_finisher *f, const bool *used, bool with_w, int64_t n, const void *cols,
                 int64_t t0, const char *h, const char *w)
{
    const ftb_finish *finish = &f->form->product->finish;
    size_t size = FtB_Type_size(finish->in_type);
    int count = 0;
    for (int64_t t = 0; t < n; t++)
        f->j[t] = column_at(f, cols, t0 + t);
    if (used[FTB_ROW_DJ])
        for (int64_t t = 0; t < n; t++)
            f->degree_j[t] = finish->cols->degree[f->j[t]];
    if (used[FTB_ROW_SJ])
        for (int64_t t = 0; t < n; t++)
            f->sum_j[t] = finish->cols->sum[f->j[t]];
    if (used[FTB_ROW_QJ])
        for (int64_t t = 0; t < n; t++)
            f->square_j[t] = finish->cols->square[f->j[t]];
    const ftb_operand fixed[] = {
        [FTB_ROW_I] = {&f->i, 0},
        [FTB_ROW_J] = {f->j, 1},
        [FTB_ROW_DI] = {&f->degree_i, 0},
        [FTB_ROW_DJ] = {f->degree_j, 1},
        [FTB_ROW_SI] = {&f->sum_i, 0},
        [FTB_ROW_SJ] = {f->sum_j, 1},
        [FTB_ROW_QI] = {&f->square_i, 0},
        [FTB_ROW_QJ] = {f->square_j, 1},
        [FTB_ROW_NROWS] = {&f->nrows, 0},
        [FTB_ROW_NCOLS] = {&f->ncols, 0},
        [FTB_ROW_W] = {w, finish->out_width},
    };
    ftb_name names[FTB_ROW_NAMES];
    int place[FTB_ROW_NAMES];
    count = list_names(finish, with_w, finish->out_type, finish->out_width, names, place);
    for (int c = 0; c < count; c++) {
        int name = place[c];
        if (name <= FTB_ROW_H7)
            f->operands[c] = (ftb_operand){h + (size_t)(name == FTB_ROW_H ? 0 : name - FTB_ROW_H0) * size,
                                           finish->in_width};
        else
            f->operands[c] = fixed[name];
    }
}

static bool nonzero(const char *z, FtB_Type type, int64_t t)
{
    if (type == FTB_BOOL)
        return z[t] != 0;
    return ftb_get_real(z, type, t) != 0;
}

/* Entries of a batch that the filters keep, moved down to `kept`. */
static int64_t keep_entries(struct ftb_finisher *f, int64_t n, void *cols, int64_t t0, const char *w,
                            void *values, int64_t kept)
{
    const ftb_finish *finish = &f->form->product->finish;
    size_t size = FtB_Type_size(finish->out_type), entry = size * (size_t)finish->out_width;
    FtB_Type where_type = finish->where ? ftb_program_type(finish->where) : FTB_BOOL;
    bool wide = ftb_index_wide(f->form);
    if (!finish->keep && !finish->use_min && !finish->where) {
        if (w != (char *)values + (size_t)kept * entry)
            memcpy((char *)values + (size_t)kept * entry, w, (size_t)n * entry);
        return kept + n;
    }
    for (int64_t t = 0; t < n; t++) {
        int64_t j = column_at(f, cols, t0 + t);
        if (finish->keep && !finish->keep[j])
            continue;
        if (finish->use_min && !(ftb_get_real(w, finish->out_type, t) >= finish->min_weight))
            continue;
        if (finish->where && !nonzero(f->where_z, where_type, t))
            continue;
        if (wide)
            ((int64_t *)cols)[kept] = j;
        else
            ((int32_t *)cols)[kept] = (int32_t)j;
        memmove((char *)values + (size_t)kept * entry, w + (size_t)t * entry, entry);
        kept++;
    }
    return kept;
}

/* Whether entry x ranks below y: smaller value, or the same and a larger column (columns ascend). */
static bool below(const void *values, FtB_Type type, int64_t x, int64_t y)
{
    double a = ftb_get_real(values, type, x), b = ftb_get_real(values, type, y);
    if (a == b && (type == FTB_INT64 || type == FTB_UINT64)) {
        int64_t p = ftb_get_integer(values, type, x), q = ftb_get_integer(values, type, y);
        if (p != q)
            return type == FTB_UINT64 ? (uint64_t)p < (uint64_t)q : p < q;
    }
    return a < b || (a == b && x > y);
}

static void sift_down(int64_t *heap, int64_t n, int64_t at, const void *values, FtB_Type type)
{
    for (;;) {
        int64_t child = 2 * at + 1;
        if (child >= n)
            return;
        if (child + 1 < n && below(values, type, heap[child + 1], heap[child]))
            child++;
        if (!below(values, type, heap[child], heap[at]))
            return;
        int64_t swap = heap[at];
        heap[at] = heap[child];
        heap[child] = swap;
        at = child;
    }
}

static int compare_entries(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a > b) - (a < b);
}

/* Keeps the k largest of n entries, in column order: a heap whose root is the least one kept. */
static int64_t keep_largest(struct ftb_finisher *f, int64_t n, void *cols, void *values)
{
    const ftb_finish *finish = &f->form->product->finish;
    FtB_Type type = finish->out_type;
    size_t size = FtB_Type_size(type);
    int64_t held = 0, k = finish->top_k, *heap = f->heap;
    double least = -INFINITY;
    for (int64_t t = 0; t < n; t++) {
        double x = type == FTB_FP64   ? ((const double *)values)[t]
                   : type == FTB_FP32 ? (double)((const float *)values)[t]
                                      : ftb_get_real(values, type, t);
        if (isnan(x) || (held == k && !(x >= least)))
            continue;
        if (held < k) {
            heap[held++] = t;
            if (held == k)
                for (int64_t at = k / 2 - 1; at >= 0; at--)
                    sift_down(heap, k, at, values, type);
        } else if (k > 0 && below(values, type, heap[0], t)) {
            heap[0] = t;
            sift_down(heap, k, 0, values, type);
        }
        if (held == k && k > 0)
            least = ftb_get_real(values, type, heap[0]);
    }
    qsort(heap, (size_t)held, sizeof *heap, compare_entries);
    for (int64_t t = 0; t < held; t++) {
        if (ftb_index_wide(f->form))
            ((int64_t *)cols)[t] = ((const int64_t *)cols)[heap[t]];
        else
            ((int32_t *)cols)[t] = ((const int32_t *)cols)[heap[t]];
        memmove((char *)values + (size_t)t * size, (char *)values + (size_t)heap[t] * size, size);
    }
    return held;
}

/* Removes entries [from, to) of a row. */
static int64_t cut(const struct ftb_finisher *f, int64_t n, int64_t from, int64_t to, void *cols, char *h)
{
    const ftb_finish *finish = &f->form->product->finish;
    size_t index = ftb_index_wide(f->form) ? 8 : 4;
    size_t in = FtB_Type_size(finish->in_type) * (size_t)finish->in_width;
    if (from == to)
        return n;
    memmove((char *)cols + (size_t)from * index, (char *)cols + (size_t)to * index, (size_t)(n - to) * index);
    memmove(h + (size_t)from * in, h + (size_t)to * in, (size_t)(n - to) * in);
    return n - (to - from);
}

/* Diagonal and lower triangle go first; a triangle's kernel never made them. */
static int64_t cut_triangle(const struct ftb_finisher *f, int64_t n, void *cols, char *h)
{
    const ftb_finish *finish = &f->form->product->finish;
    if (f->form->plan.triangle || (!finish->drop_diagonal && !finish->upper_only))
        return n;
    int64_t lo = 0, hi = n; /* first column from i up */
    while (lo < hi) {
        int64_t mid = (lo + hi) / 2;
        if (column_at(f, cols, mid) < f->i)
            lo = mid + 1;
        else
            hi = mid;
    }
    int64_t after = lo + (finish->drop_diagonal && lo < n && column_at(f, cols, lo) == f->i);
    return cut(f, n, finish->upper_only ? 0 : lo, after, cols, h);
}

int64_t ftb_finish_row(struct ftb_finisher *f, int64_t i, int64_t n, void *cols, void *h, void *values)
{
    const ftb_finish *finish = &f->form->product->finish;
    size_t in = FtB_Type_size(finish->in_type) * (size_t)finish->in_width;
    f->i = i;
    f->degree_i = finish->rows->degree ? finish->rows->degree[i] : 0;
    f->sum_i = finish->rows->sum ? finish->rows->sum[i] : 0;
    f->square_i = finish->rows->square ? finish->rows->square[i] : 0;
    n = cut_triangle(f, n, cols, h);
    if (finish->wrap) { /* in place: down, and up again */
        ftb_cast(h, finish->wrap, h, finish->in_type, n * finish->in_width);
        ftb_cast(h, finish->in_type, h, finish->wrap, n * finish->in_width);
    }
    int64_t count = 0;
    for (int64_t t0 = 0; t0 < n; t0 += FTB_BATCH) {
        int64_t batch = ftb_min(n - t0, FTB_BATCH);
        const char *hs = (const char *)h + (size_t)t0 * in, *w = hs;
        if (f->epilogue) {
            load(f, finish->used[0], false, batch, cols, t0, hs, NULL);
            ftb_interpreter_run(f->epilogue, batch, f->operands, f->w);
            w = f->w;
        }
        if (f->where) {
            load(f, finish->used[1], true, batch, cols, t0, hs, w);
            ftb_interpreter_run(f->where, batch, f->operands, f->where_z);
        }
        count = keep_entries(f, batch, cols, t0, w, values, count);
    }
    return finish->use_top_k && !finish->two_sided ? keep_largest(f, count, cols, values) : count;
}

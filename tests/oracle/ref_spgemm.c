/* The verb `spgemm` (ref_device.h): every pair of entries that meet, one after the other. Texts run in the
 * library's interpreter, whose operands are found by their names. */
#include "oracle/ref_spgemm.h"

#include "cpu/interpreter.h"
#include "cpu/reduce.h"
#include "expr/program.h"
#include "oracle/ref_nn_verbs.h"

#include <math.h>
#include <stdlib.h>

typedef struct run {
    const ftb_spgemm_product *p;
    ftb_interpreter *message, *epilogue, *where;
    int64_t i, j, k;
    int64_t left, right, masked; /* entries of A, B and the mask */
    /* of the row's columns */
    bool *there;
    char *h;        /* sum_type x width, 8 bytes each */
    double *real;   /* sums of reals */
    int64_t *count; /* messages */
    int64_t *winner;
    /* of the row's entries that stay */
    int64_t kept, *cols, *winners;
    char *w; /* out_type x out_width */
} run;

static void *room(int64_t count)
{
    void *x = calloc((size_t)count + 1, 8);
    if (!x)
        abort();
    return x;
}

/* An operand's value as the interpreter takes it. */
typedef struct number {
    union {
        int64_t whole;
        double real;
        char values[8 * 64];
    };
} number;

static number whole(int64_t x) { return (number){.whole = x}; }
static number real(double x) { return (number){.real = x}; }

/* Values of entry e of an operand; one of a pattern is 1. */
static number entry(const void *values, FtB_Matrix A, int64_t e, FtB_Type domain, FtB_Type type)
{
    number out, domained;
    const int64_t one = 1, width = A->width;
    if (width > 64)
        abort();
    if (width == 0)
        ftb_cast(out.values, type, &one, FTB_INT64, 1);
    else {
        ftb_cast(domained.values, domain ? domain : A->type,
                 (const char *)values + (size_t)(e * width) * FtB_Type_size(A->type), A->type, width);
        ftb_cast(out.values, type, domained.values, domain ? domain : A->type, width);
    }
    return out;
}

static int64_t count_at(const int64_t *x, int64_t v) { return x ? x[v] : 0; }
static double sum_at(const double *x, int64_t v) { return x ? x[v] : 0; }

static number of_message(const run *r, const char *name)
{
    const ftb_spgemm_product *p = r->p;
    const ftb_vertices *at[] = {&p->rows, &p->cols, &p->inner};
    const int64_t vertex[] = {r->i, r->j, r->k};
    const char *const places = "ijk";
    if (strcmp(name, "a") == 0)
        return entry(p->a, p->A, r->left, p->semiring->domain, p->message.atype);
    if (strcmp(name, "b") == 0)
        return entry(p->b, p->B, r->right, p->semiring->domain, p->message.btype);
    if (strcmp(name, "m") == 0)
        return entry(p->m, p->mask, r->masked, p->mask->type, ftb_type_compute(p->mask->type));
    if (strcmp(name, "nrows") == 0)
        return whole(p->finish.nrows);
    if (strcmp(name, "ncols") == 0)
        return whole(p->finish.ncols);
    const char *place = strchr(places, name[strlen(name) - 1]);
    if (!place)
        abort();
    const int64_t n = place - places;
    return strlen(name) == 1 ? whole(vertex[n])
           : name[0] == 'd'  ? whole(count_at(at[n]->degree, vertex[n]))
                             : real(sum_at(at[n]->sum, vertex[n]));
}

/* Of an epilogue or filter; `w` is the epilogue's result. */
static number of_row(const run *r, const char *name, const void *h, const void *w)
{
    const ftb_finish *f = &r->p->finish;
    number out = {0};
    const bool row = name[strlen(name) - 1] == 'i';
    const ftb_vertices *at = row ? f->rows : f->cols;
    const int64_t v = row ? r->i : r->j;
    const size_t size = FtB_Type_size(f->in_type);
    if (strcmp(name, "h") == 0)
        memcpy(out.values, h, size * (size_t)f->in_width);
    else if (name[0] == 'h')
        memcpy(out.values, (const char *)h + size * (size_t)(name[1] - '0'), size);
    else if (strcmp(name, "w") == 0)
        memcpy(out.values, w, FtB_Type_size(f->out_type) * (size_t)f->out_width);
    else if (strcmp(name, "nrows") == 0)
        return whole(f->nrows);
    else if (strcmp(name, "ncols") == 0)
        return whole(f->ncols);
    else if (strlen(name) == 1)
        return whole(v);
    else
        return name[0] == 'd'   ? whole(count_at(at->degree, v))
               : name[0] == 's' ? real(sum_at(at->sum, v))
                                : real(sum_at(at->square, v));
    return out;
}

static bool unused(const ftb_program *program, int n) { return !ftb_program_uses(program, n); }

/* The message of the entries at hand, in the type that is reduced. */
static void message(const run *r, char *z)
{
    const ftb_sparse_message *m = &r->p->message;
    ftb_operand operands[FTB_MESSAGE_NAMES + FTB_BOUND_ROOM];
    number values[FTB_MESSAGE_NAMES];
    memcpy(operands, m->fixed, sizeof operands);
    for (int n = 0; n < FTB_MESSAGE_NAMES; n++) {
        const int at = m->index[n];
        if (at < 0)
            continue;
        values[n] = unused(m->program, at) ? whole(0) : of_message(r, m->names[at].name);
        operands[at] = (ftb_operand){values[n].values, 0};
    }
    ftb_interpreter_run(r->message, 1, operands, z);
    ftb_cast(z, r->p->sum_type, z, ftb_program_type(m->program), r->p->width);
}

/* A text over the entry (i, j). */
static void evaluate(const run *r, ftb_interpreter *machine, const ftb_program *program, const void *h,
                     const void *w, void *z)
{
    ftb_operand operands[FTB_ROW_NAMES];
    number values[FTB_ROW_NAMES];
    for (int n = 0; n < program->nnames; n++) {
        values[n] = unused(program, n) ? whole(0) : of_row(r, program->names[n].name, h, w);
        operands[n] = (ftb_operand){values[n].values, 0};
    }
    ftb_interpreter_run(machine, 1, operands, z);
}

/* Adds a message to its column. */
static void combine(run *r, const char *z)
{
    const ftb_spgemm_product *p = r->p;
    const FtB_Type type = p->sum_type;
    const bool sums = p->reducer.monoid == FTB_PLUS && ftb_type_float(type);
    char *h = r->h + 8 * r->j * p->width;
    for (int64_t f = 0; sums && f < p->width; f++)
        r->real[r->j * p->width + f] += ref_get(z, type, f);
    if (p->winners)
        ftb_segment_arg(p->reducer.monoid, type, h, &r->winner[r->j], z, 1, 1, r->k, !r->there[r->j]);
    else if (r->there[r->j])
        ftb_monoid_apply(p->reducer.monoid, type, h, z, p->width);
    else
        memcpy(h, z, FtB_Type_size(type) * (size_t)p->width);
    r->there[r->j] = true;
    r->count[r->j]++;
}

/* Whether the mask has (i, j), and lets it through. */
static bool admitted(run *r)
{
    const FtB_Matrix M = r->p->mask;
    if (!M)
        return true;
    for (int64_t e = M->pattern->rowptr[r->i]; e < M->pattern->rowptr[r->i + 1]; e++)
        if (ftb_col(M->pattern, e) == r->j) {
            r->masked = e;
            return ftb_mask_admits(&r->p->admits, e);
        }
    return false;
}

static void gather(run *r, char *z)
{
    const ftb_spgemm_product *p = r->p;
    for (int64_t x = p->left->rowptr[r->i]; x < p->left->rowptr[r->i + 1]; x++) {
        r->k = ftb_col(p->left, x);
        r->left = p->left_from ? p->left_from[x] : x;
        for (int64_t e = p->right->rowptr[r->k]; e < p->right->rowptr[r->k + 1]; e++) {
            r->j = ftb_col(p->right, e);
            r->right = p->right_from ? p->right_from[e] : e;
            if (!admitted(r))
                continue;
            message(r, z);
            combine(r, z);
        }
    }
}

/* The value of column j before the epilogue, in place. */
static void settle(run *r, char *h)
{
    const ftb_spgemm_product *p = r->p;
    const bool sums = p->reducer.monoid == FTB_PLUS && ftb_type_float(p->sum_type);
    for (int64_t f = 0; sums && f < p->width; f++)
        ref_put(h, p->sum_type, f,
                r->real[r->j * p->width + f] / (p->reducer.mean ? (double)r->count[r->j] : 1));
    if (p->finish.wrap) {
        ftb_cast(h, p->finish.wrap, h, p->finish.in_type, p->width);
        ftb_cast(h, p->finish.in_type, h, p->finish.wrap, p->width);
    }
}

/* Column j of the row, if it stays. */
static void finish(run *r)
{
    const ftb_finish *f = &r->p->finish;
    const size_t size = FtB_Type_size(f->out_type) * (size_t)f->out_width;
    char *h = r->h + 8 * r->j * r->p->width, *w = r->w + (size_t)r->kept * size;
    number verdict = {0};
    if ((f->drop_diagonal && r->i == r->j) || (f->upper_only && r->j < r->i) || (f->keep && !f->keep[r->j]))
        return;
    settle(r, h);
    if (f->epilogue)
        evaluate(r, r->epilogue, f->epilogue, h, NULL, w);
    else
        memcpy(w, h, size);
    if (f->use_min && !(ref_get(w, f->out_type, 0) >= f->min_weight))
        return;
    if (f->where) {
        evaluate(r, r->where, f->where, h, w, verdict.values);
        if (ftb_get_real(verdict.values, ftb_program_type(f->where), 0) == 0)
            return;
    }
    r->cols[r->kept] = r->j;
    r->winners[r->kept++] = r->winner[r->j];
}

/* Entry x of the row, exactly. */
static long double weight(const run *r, int64_t x)
{
    const FtB_Type type = r->p->finish.out_type;
    return ftb_type_float(type) ? (long double)ref_get(r->w, type, x)
           : type == FTB_UINT64 ? (long double)((const uint64_t *)(const void *)r->w)[x]
                                : (long double)ftb_get_integer(r->w, type, x);
}

/* Whether entry x of the row comes before y among the largest. */
static bool larger(const run *r, int64_t x, int64_t y)
{
    return weight(r, x) > weight(r, y) || (weight(r, x) == weight(r, y) && x < y);
}

/* An entry stays if fewer than k come before it; one that is NaN never does. */
static void select_largest(run *r)
{
    const ftb_finish *f = &r->p->finish;
    const size_t size = FtB_Type_size(f->out_type);
    bool *stays = room(r->kept);
    int64_t kept = 0;
    for (int64_t x = 0; x < r->kept; x++) {
        int64_t before = 0;
        for (int64_t y = 0; y < r->kept; y++)
            before += larger(r, y, x);
        stays[x] = before < f->top_k && !isnan(ref_get(r->w, f->out_type, x));
    }
    for (int64_t x = 0; x < r->kept; x++)
        if (stays[x]) {
            r->cols[kept] = r->cols[x];
            memmove(r->w + (size_t)kept++ * size, r->w + (size_t)x * size, size);
        }
    r->kept = kept;
    free(stays);
}

static GrB_Info deliver(run *r, FtB_Sink sink)
{
    const ftb_finish *f = &r->p->finish;
    const int64_t ncols = r->p->right->ncols, rowptr[] = {0, r->kept};
    int32_t *narrow = room(r->kept);
    for (int64_t t = 0; t < r->kept; t++)
        narrow[t] = (int32_t)r->cols[t];
    FtB_Rows rows = {.row0 = r->i,
                     .nrows = 1,
                     .ncols = ncols,
                     .rowptr = rowptr,
                     .colidx = ncols > FTB_INT32_LIMIT ? (const void *)r->cols : narrow,
                     .values = r->w,
                     .type = f->out_type,
                     .width = f->out_width};
    GrB_Info info = ftb_sink_rows(sink, &rows);
    if (info == GrB_SUCCESS && r->p->winners) {
        rows.values = r->winners;
        rows.type = FTB_INT64;
        info = ftb_sink_rows(r->p->winners, &rows);
    }
    free(narrow);
    return info;
}

static GrB_Info rows_of(run *r, FtB_Sink sink)
{
    const ftb_spgemm_product *p = r->p;
    const int64_t n = p->right->ncols;
    number z;
    GrB_Info info = GrB_SUCCESS;
    if (p->width > 64)
        abort();
    for (r->i = 0; r->i < p->left->nrows && info == GrB_SUCCESS; r->i++) {
        memset(r->there, 0, (size_t)n);
        memset(r->count, 0, (size_t)n * 8);
        memset(r->real, 0, (size_t)(n * p->width) * 8);
        r->kept = 0;
        if (!p->keep_rows || p->keep_rows[r->i])
            gather(r, z.values);
        for (r->j = 0; r->j < n; r->j++)
            if (r->there[r->j])
                finish(r);
        if (p->finish.use_top_k)
            select_largest(r);
        info = deliver(r, sink);
    }
    return info;
}

GrB_Info ref_spgemm(const ftb_spgemm_product *p, const ftb_spgemm_plan *plan, FtB_Sink sink)
{
    (void)plan;
    const int64_t n = p->right->ncols;
    run r = {.p = p,
             .there = room(n),
             .h = room(n * p->width),
             .real = room(n * p->width),
             .count = room(n),
             .winner = room(n),
             .cols = room(n),
             .winners = room(n),
             .w = room(n * p->finish.out_width)};
    GrB_Info info;
    FTB_CHECK(ftb_interpreter_new(&r.message, p->ctx, p->message.program));
    if (p->finish.epilogue)
        FTB_CHECK(ftb_interpreter_new(&r.epilogue, p->ctx, p->finish.epilogue));
    if (p->finish.where)
        FTB_CHECK(ftb_interpreter_new(&r.where, p->ctx, p->finish.where));
    info = rows_of(&r, sink);
done:
    ftb_interpreter_delete(r.message);
    ftb_interpreter_delete(r.epilogue);
    ftb_interpreter_delete(r.where);
    void *arrays[] = {r.there, r.h, r.real, r.count, r.winner, r.cols, r.winners, r.w};
    for (size_t t = 0; t < sizeof arrays / sizeof *arrays; t++)
        free(arrays[t]);
    return info;
}

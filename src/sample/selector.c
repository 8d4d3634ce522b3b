/* Checks what is asked for, and has the verb `sample` pick. */
#include "sample/selector.h"

#include "core/draws.h"
#include "cpu/block/gather_run.h"
#include "cpu/entries/entry_map.h"
#include "cpu/sample_run.h"
#include "ops/backends.h"
#include "ops/merge.h"

static const char *const names[] = {
    [FTB_SAMPLE_UNIFORM] = "FTB_SAMPLE_UNIFORM",     [FTB_SAMPLE_WEIGHTED] = "FTB_SAMPLE_WEIGHTED",
    [FTB_SAMPLE_TOPK] = "FTB_SAMPLE_TOPK",           [FTB_SAMPLE_THRESHOLD] = "FTB_SAMPLE_THRESHOLD",
    [FTB_SAMPLE_BERNOULLI] = "FTB_SAMPLE_BERNOULLI", [FTB_SAMPLE_LABOR] = "FTB_SAMPLE_LABOR",
};

static bool has_key(FtB_Selector selector)
{
    return selector != FTB_SAMPLE_UNIFORM && selector != FTB_SAMPLE_LABOR;
}

static GrB_Info check(const ftb_sample_product *p, const ftb_selector_options *options)
{
    const bool key = options->key.kind != FTB_KIND_NONE;
    const bool weights = p->selector == FTB_SAMPLE_UNIFORM || p->selector == FTB_SAMPLE_WEIGHTED;
    if ((int)p->selector < FTB_SAMPLE_UNIFORM || p->selector > FTB_SAMPLE_LABOR)
        return ftb_fail(GrB_INVALID_VALUE, "options: selector is %d, which is no FtB_Selector",
                        (int)options->selector);
    if (key && !has_key(p->selector))
        return ftb_fail(GrB_INVALID_VALUE, "key is given, which %s does not look at; expected NULL",
                        names[p->selector]);
    if (!key && has_key(p->selector))
        return ftb_fail(GrB_NULL_POINTER, "key is NULL; %s needs an expression", names[p->selector]);
    if (p->replace && !weights)
        return ftb_fail(GrB_INVALID_VALUE,
                        "options: replace means nothing to %s; expected FTB_SAMPLE_UNIFORM or _WEIGHTED",
                        names[p->selector]);
    if (p->threshold != 0 && p->selector != FTB_SAMPLE_THRESHOLD)
        return ftb_fail(GrB_INVALID_VALUE,
                        "options: threshold means nothing to %s; it goes with "
                        "FTB_SAMPLE_THRESHOLD",
                        names[p->selector]);
    if (p->threshold != p->threshold)
        return ftb_fail(GrB_INVALID_VALUE, "options: threshold is NaN; expected a number");
    return GrB_SUCCESS;
}

/* ---- tables of rows, kept with A
 *
 * As long as few weights were asked for, those of the rows at hand are evaluated. Once they have been of as
 * many entries as A has, tables of all rows are made, if there is room, and looked at from then on: whatever
 * comes, that is less than twice the work of the better way. Picks are the same. */

/* A's, for this text and the values as they are, under the pattern's lock. NULL: there is none. */
static GrB_Info alias_of(ftb_draw_tables **alias, const ftb_selector *s)
{
    ftb_draw_tables *a = s->A->tables;
    bool same = a && strcmp(a->text, s->text) == 0;
    const GrB_Info info = same ? ftb_watch_look(&a->values, &same, "A") : GrB_SUCCESS;
    *alias = info == GrB_SUCCESS && same ? a : NULL;
    return info;
}

static GrB_Info make_alias(ftb_selector *s)
{
    const FtB_Context ctx = s->A->ctx;
    ftb_draw_tables *a = ftb_new0(ctx, 1, sizeof *a);
    if (!a || !(a->text = ftb_strdup(ctx, s->text))) {
        ftb_delete(a);
        return ftb_nomem();
    }
    ftb_watch_matrix(&a->values, s->A);
    ftb_draw_tables_delete(s->A->tables);
    s->A->tables = a;
    return GrB_SUCCESS;
}

/* Where there is no room, it is done without them. */
static GrB_Info make_tables(ftb_selector *s, ftb_draw_tables *a)
{
    ftb_sample_product all = s->product;
    ftb_buffer *slots =
        ftb_buffer_adopt(s->A->ctx, ftb_new(s->A->ctx, s->A->pattern->nvals, sizeof(ftb_alias_slot)));
    all.nrows = s->A->pattern->nrows;
    const GrB_Info info = slots ? ftb_sample_tables(&all, ftb_buffer_data(slots)) : GrB_OUT_OF_MEMORY;
    if (info == GrB_SUCCESS) {
        a->slots = slots;
        return info;
    }
    ftb_buffer_release(slots);
    a->looked = 0; /* it is not tried at every call */
    return info == GrB_OUT_OF_MEMORY || info == FTB_LIMIT ? GrB_SUCCESS : info;
}

/* Tables that are there; `make`: also those that now pay. */
static GrB_Info find_tables(ftb_selector *s, bool make)
{
    ftb_pattern *p = s->A->pattern;
    ftb_draw_tables *a;
    pthread_mutex_lock(&p->lock);
    GrB_Info info = alias_of(&a, s);
    if (make && info == GrB_SUCCESS && !a)
        info = make_alias(s);
    else if (make && info == GrB_SUCCESS && !a->slots && a->looked >= p->nvals)
        info = make_tables(s, a);
    if (info == GrB_SUCCESS && a && a->slots) {
        s->tables = ftb_buffer_retain(a->slots);
        s->product.tables = ftb_buffer_data(s->tables);
    }
    pthread_mutex_unlock(&p->lock);
    return info;
}

/* After picks without tables, of rows with so many entries. */
static GrB_Info note_looked(const ftb_selector *s, int64_t entries)
{
    ftb_draw_tables *a;
    if (!s->text || s->tables)
        return GrB_SUCCESS;
    pthread_mutex_lock(&s->A->pattern->lock);
    const GrB_Info info = alias_of(&a, s);
    if (a)
        a->looked += entries;
    pthread_mutex_unlock(&s->A->pattern->lock);
    return info;
}

/* ---- */

static GrB_Info compile(ftb_selector *s, FtB_Arg key)
{
    const FtB_Matrix A = s->A;
    const FtB_Context ctx = s->ctx;
    ftb_sample_product *p = &s->product;
    GrB_Info info = ftb_arg_op(&s->key, key, "key", false);
    if (info == GrB_SUCCESS)
        info = ftb_buffer_ask(A->values, FTB_READ);
    if (info != GrB_SUCCESS)
        return info;
    if (key.kind == FTB_KIND_TEXT && strcmp(key.handle, "x") == 0 && A->width == 1) {
        p->values = ftb_values(A);
        p->type = A->type;
        return GrB_SUCCESS;
    }
    const ftb_map_input x = ftb_map_entries(A);
    info = ftb_map_new(&s->map, ctx, s->key, &x, NULL, A->pattern,
                       s->tables ? 1 : ftb_threads_for(ctx, A->pattern->nvals));
    if (info != GrB_SUCCESS)
        return info == GrB_INVALID_VALUE ? ftb_wrap_error(info, "key: ") : info;
    p->key = s->map;
    if (s->map->width != 1)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "key gives %lld values per entry; expected one",
                        (long long)s->map->width);
    return ftb_map_check_rows(s->map, A->pattern->nrows, A->pattern->ncols);
}

GrB_Info ftb_selector_begin(ftb_selector *s, FtB_Context ctx, FtB_Matrix A,
                            const ftb_selector_options *options)
{
    const bool key = options->key.kind != FTB_KIND_NONE;
    ftb_sample_product *p = &s->product;
    *s = (ftb_selector){.ctx = ctx, .A = A};
    p->ctx = ctx;
    p->p = A->pattern;
    p->selector = options->selector != FTB_SAMPLE_DEFAULT ? options->selector
                  : key                                   ? FTB_SAMPLE_WEIGHTED
                                                          : FTB_SAMPLE_UNIFORM;
    p->replace = options->replace;
    p->threshold = options->threshold;
    p->seed = options->seed ? options->seed : ctx->seed;
    GrB_Info info = check(p, options);
    if (info != GrB_SUCCESS || !key)
        return info;
    if (p->selector == FTB_SAMPLE_WEIGHTED && options->key.kind == FTB_KIND_TEXT) {
        s->text = options->key.handle;
        info = ftb_buffer_ask(A->values, FTB_READ);
        if (info == GrB_SUCCESS)
            info = find_tables(s, false);
    }
    if (info == GrB_SUCCESS)
        info = compile(s, options->key);
    return info == GrB_SUCCESS && s->text && !s->tables ? find_tables(s, true) : info;
}

void ftb_selector_end(ftb_selector *s)
{
    ftb_buffer_release(s->tables);
    ftb_map_delete(s->map);
    FtB_Op_free(&s->key);
}

GrB_Info ftb_selector_check(const ftb_selector *s, int64_t k, const char *name)
{
    const FtB_Selector selector = s->product.selector;
    if (k < -1)
        return ftb_fail(GrB_INVALID_VALUE, "%s is %lld; expected 0 or more, or -1 for all", name,
                        (long long)k);
    if (k < 0 && s->product.replace)
        return ftb_fail(GrB_INVALID_VALUE, "%s is -1, for all; with replacement expected 0 or more", name);
    if (k >= 0 && (selector == FTB_SAMPLE_THRESHOLD || selector == FTB_SAMPLE_BERNOULLI))
        return ftb_fail(GrB_INVALID_VALUE, "%s is %lld; %s has no number of picks, expected -1", name,
                        (long long)k, names[selector]);
    return GrB_SUCCESS;
}

void ftb_picks_delete(ftb_picks *picks)
{
    ftb_delete(picks->rowptr);
    ftb_delete(picks->entries);
    ftb_delete(picks->columns);
    *picks = (ftb_picks){NULL, NULL, NULL};
}

GrB_Info ftb_pick(ftb_picks *picks, const ftb_selector *s, const int64_t *rows, int64_t nrows, int64_t k)
{
    ftb_sample_product p = s->product;
    const ftb_place nothing[] = {{.X = NULL}}; /* lists are the host's, and patterns are asked for by verbs */
    const ftb_backend *who = p.key || p.values ? NULL : FTB_WHO(s->ctx, sample);
    int64_t most, looked = 0, *counted = p.work;
    GrB_Info info = GrB_SUCCESS;
    *picks = (ftb_picks){NULL, NULL, NULL};
    if (p.replace && __builtin_mul_overflow(nrows, k, &most))
        return ftb_fail(GrB_OUT_OF_MEMORY, "%lld picks for each of %lld rows are too many", (long long)k,
                        (long long)nrows);
    p.rows = rows;
    p.nrows = nrows;
    p.k = k;
    p.work = &looked;
    p.rowptr = picks->rowptr = ftb_new(s->ctx, nrows + 1, sizeof *p.rowptr);
    if (!p.rowptr)
        return ftb_nomem();
    FTB_RUN(info, who, sample, nothing, &p);
    if (info != GrB_SUCCESS)
        goto done;
    p.entries = picks->entries = ftb_new(s->ctx, p.rowptr[nrows], sizeof *p.entries);
    p.columns = picks->columns = ftb_new(s->ctx, p.rowptr[nrows], ftb_col_size(p.p->ncols));
    if (!p.entries || !p.columns)
        FTB_CHECK(ftb_nomem());
    FTB_RUN(info, who, sample, nothing, &p);
    if (info == GrB_SUCCESS)
        info = note_looked(s, looked);
    if (counted)
        *counted += looked;
done:
    if (info != GrB_SUCCESS)
        ftb_picks_delete(picks);
    return info;
}

/* One, `width` times, of a matrix's type. */
static GrB_Info fill_ones(const ftb_selector *s, char **ones)
{
    const double one = 1;
    const size_t size = FtB_Type_size(s->A->type);
    *ones = ftb_new(s->ctx, s->A->width, size);
    if (!*ones)
        return ftb_nomem();
    ftb_cast(*ones, s->A->type, &one, FTB_FP64, 1);
    for (int64_t f = 1; f < s->A->width; f++)
        memcpy(*ones + (size_t)f * size, *ones, size);
    return GrB_SUCCESS;
}

GrB_Info ftb_pick_values(ftb_buffer **values, const ftb_selector *s, const int64_t *entries, int64_t count,
                         bool ones)
{
    const FtB_Matrix A = s->A;
    const int64_t width = A->width;
    char *one = NULL;
    int64_t total;
    GrB_Info info = GrB_SUCCESS;
    *values = NULL;
    if (width == 0)
        return GrB_SUCCESS;
    if (__builtin_mul_overflow(count, width, &total))
        total = INT64_MAX; /* refused by the allocator, with its message */
    ftb_buffer *made = ftb_buffer_new(s->ctx, total, FtB_Type_size(A->type));
    if (!made)
        return ftb_nomem();
    if (ones) {
        FTB_CHECK(ftb_buffer_ask(A->values, FTB_READ));
        FTB_CHECK(fill_ones(s, &one));
        ftb_sample_values(s->ctx, made->host, ftb_values(A), entries, count,
                          (size_t)width * FtB_Type_size(A->type), one);
    } else {
        ftb_gather_product g = {.ctx = s->ctx,
                                .rows = entries,
                                .count = count,
                                .ncols = width,
                                .ldx = width,
                                .ldy = width,
                                .xtype = A->type,
                                .ytype = A->type};
        const ftb_place places[] = {{.values = A->values, .read = &g.x},
                                    {.values = made, .write = &g.y, .whole = true}};
        FTB_RUN(info, FTB_WHO(s->ctx, gather), gather, places, &g);
    }
done:
    ftb_delete(one);
    if (info != GrB_SUCCESS)
        ftb_buffer_release(made);
    else
        *values = made;
    return info;
}

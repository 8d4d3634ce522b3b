/* Checks what is asked for, and has the verb `sample` pick. */
#include "sample/selector.h"

#include "core/draws.h"
#include "core/words.h"
#include "cpu/block/gather_run.h"
#include "cpu/entries/entry_map.h"
#include "cpu/sample/sample_run.h"
#include "ops/backends.h"
#include "ops/merge.h"

static const char *const names[] = {
    [FTB_SAMPLE_UNIFORM] = "FTB_SAMPLE_UNIFORM",     [FTB_SAMPLE_WEIGHTED] = "FTB_SAMPLE_WEIGHTED",
    [FTB_SAMPLE_TOPK] = "FTB_SAMPLE_TOPK",           [FTB_SAMPLE_THRESHOLD] = "FTB_SAMPLE_THRESHOLD",
    [FTB_SAMPLE_BERNOULLI] = "FTB_SAMPLE_BERNOULLI", [FTB_SAMPLE_LABOR] = "FTB_SAMPLE_LABOR",
    [FTB_SAMPLE_FASTGCN] = "FTB_SAMPLE_FASTGCN",     [FTB_SAMPLE_LADIES] = "FTB_SAMPLE_LADIES",
    [FTB_SAMPLE_LAST] = "FTB_SAMPLE_LAST",
};

/* Those that pick columns for all rows of a hop together: by squares of the values where there is no key. */
static bool of_layers(FtB_Selector selector)
{
    return selector == FTB_SAMPLE_FASTGCN || selector == FTB_SAMPLE_LADIES;
}

static bool has_key(FtB_Selector selector)
{
    return selector != FTB_SAMPLE_UNIFORM && selector != FTB_SAMPLE_LABOR && selector != FTB_SAMPLE_LAST;
}

static GrB_Info check(const ftb_sample_product *p, const ftb_selector_options *options)
{
    const bool key = options->key.kind != FTB_KIND_NONE;
    const bool weights = p->selector == FTB_SAMPLE_UNIFORM || p->selector == FTB_SAMPLE_WEIGHTED;
    if ((int)p->selector < FTB_SAMPLE_UNIFORM || p->selector > FTB_SAMPLE_LAST)
        return ftb_fail(GrB_INVALID_VALUE, "options: selector is %d, which is no FtB_Selector",
                        (int)options->selector);
    if (key && !has_key(p->selector))
        return ftb_fail(GrB_INVALID_VALUE, "key is given, which %s does not look at; expected NULL",
                        names[p->selector]);
    if (!key && has_key(p->selector) && !of_layers(p->selector))
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
    if (p->iterations < 0 || (p->iterations > 0 && p->selector != FTB_SAMPLE_LABOR))
        return ftb_fail(GrB_INVALID_VALUE,
                        "options: iterations is %d; expected 0, or more with FTB_SAMPLE_LABOR",
                        p->iterations);
    if (p->threshold != p->threshold)
        return ftb_fail(GrB_INVALID_VALUE, "options: threshold is NaN; expected a number");
    return GrB_SUCCESS;
}

/* ---- tables of rows, kept with A
 *
 * As long as few weights were asked for, those of the rows at hand are evaluated. Once they have been of as
 * many entries as A has, tables of all rows are made, if there is room, and looked at from then on: whatever
 * comes, that is less than twice the work of the better way. Picks are the same. */

static int kind_of(const ftb_selector *s)
{
    return s->product.selector == FTB_SAMPLE_FASTGCN ? FTB_TABLES_COLUMNS : FTB_TABLES_ROWS;
}

/* A's, for this text and the values as they are, under the pattern's lock. NULL: there is none. */
static GrB_Info tables_of(ftb_draw_tables **tables, const ftb_selector *s)
{
    ftb_draw_tables *t = s->A->tables[kind_of(s)];
    bool same = t && strcmp(t->text, s->text) == 0;
    const GrB_Info info = same ? ftb_watch_look(&t->values, &same, "A") : GrB_SUCCESS;
    *tables = info == GrB_SUCCESS && same ? t : NULL;
    return info;
}

static GrB_Info begin_tables(ftb_draw_tables **tables, ftb_selector *s)
{
    const FtB_Context ctx = s->A->ctx;
    ftb_draw_tables *t = ftb_new0(ctx, 1, sizeof *t);
    if (!t || !(t->text = ftb_strdup(ctx, s->text))) {
        ftb_delete(t);
        return ftb_nomem();
    }
    ftb_watch_matrix(&t->values, s->A);
    ftb_draw_tables_delete(s->A->tables[kind_of(s)]);
    s->A->tables[kind_of(s)] = *tables = t;
    return GrB_SUCCESS;
}

/* Tables of all rows. Where there is no room, it is done without them. */
static GrB_Info make_rows(ftb_selector *s, ftb_draw_tables *t)
{
    ftb_sample_product all = s->product;
    ftb_buffer *slots =
        ftb_buffer_adopt(s->A->ctx, ftb_new(s->A->ctx, s->A->pattern->nvals, sizeof(ftb_alias_slot)));
    all.nrows = s->A->pattern->nrows;
    const GrB_Info info = slots ? ftb_sample_tables(&all, ftb_buffer_data(slots)) : GrB_OUT_OF_MEMORY;
    if (info == GrB_SUCCESS) {
        t->made = slots;
        return info;
    }
    ftb_buffer_release(slots);
    t->looked = 0; /* it is not tried at every call */
    return info == GrB_OUT_OF_MEMORY || info == FTB_LIMIT ? GrB_SUCCESS : info;
}

/* Sums of all columns, which nothing can be done without. */
static GrB_Info make_columns(ftb_buffer **made, const ftb_selector *s)
{
    ftb_buffer *sums = ftb_buffer_adopt(s->A->ctx, ftb_new(s->A->ctx, s->A->pattern->ncols, sizeof(double)));
    const GrB_Info info = sums ? ftb_sample_norms(&s->product, ftb_buffer_data(sums)) : ftb_nomem();
    if (info == GrB_SUCCESS)
        *made = sums;
    else
        ftb_buffer_release(sums);
    return info;
}

static void use_tables(ftb_selector *s)
{
    if (s->product.selector == FTB_SAMPLE_FASTGCN)
        s->product.norms = ftb_buffer_data(s->tables);
    else
        s->product.tables = ftb_buffer_data(s->tables);
}

/* Tables that are there; `make`: also those that now pay. */
static GrB_Info find_tables(ftb_selector *s, bool make)
{
    ftb_pattern *p = s->A->pattern;
    ftb_draw_tables *t;
    pthread_mutex_lock(&p->lock);
    GrB_Info info = tables_of(&t, s);
    if (make && info == GrB_SUCCESS && !t)
        info = begin_tables(&t, s);
    if (make && info == GrB_SUCCESS && !t->made && kind_of(s) == FTB_TABLES_COLUMNS)
        info = make_columns(&t->made, s);
    else if (make && info == GrB_SUCCESS && !t->made && t->looked >= p->nvals && t->looked > 0)
        info = make_rows(s, t);
    if (info == GrB_SUCCESS && t && t->made) {
        s->tables = ftb_buffer_retain(t->made);
        use_tables(s);
    }
    pthread_mutex_unlock(&p->lock);
    return info;
}

/* After picks without tables, of rows with so many entries. */
static GrB_Info note_looked(const ftb_selector *s, int64_t entries)
{
    ftb_draw_tables *t;
    if (!s->text || s->tables)
        return GrB_SUCCESS;
    pthread_mutex_lock(&s->A->pattern->lock);
    const GrB_Info info = tables_of(&t, s);
    if (t)
        t->looked += entries;
    pthread_mutex_unlock(&s->A->pattern->lock);
    return info;
}

GrB_Info ftb_selector_tables(ftb_selector *s)
{
    return s->text && !s->tables ? find_tables(s, true) : GrB_SUCCESS;
}

/* ---- begin */

static GrB_Info compile(ftb_selector *s, FtB_Arg key)
{
    const FtB_Matrix A = s->A;
    const FtB_Context ctx = s->ctx;
    ftb_sample_product *p = &s->product;
    GrB_Info info = ftb_arg_op(&s->key, key, "key", false);
    if (info == GrB_SUCCESS)
        info = ftb_buffer_ask_as(A->values, FTB_READ, "A");
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

/* The key, compiled, with its tables. */
static GrB_Info begin_key(ftb_selector *s, FtB_Arg key)
{
    const FtB_Selector selector = s->product.selector;
    if (key.kind == FTB_KIND_NONE) {
        if (s->A->width > 1)
            return ftb_fail(GrB_DIMENSION_MISMATCH, "A has %lld values per entry; %s needs a key then",
                            (long long)s->A->width, names[selector]);
        key = FTB_ARG(s->A->width == 1 ? "x" : "1");
    }
    const bool tables = selector == FTB_SAMPLE_WEIGHTED || selector == FTB_SAMPLE_FASTGCN;
    GrB_Info info = ftb_buffer_ask_as(s->A->values, FTB_READ, "A");
    if (tables && key.kind == FTB_KIND_TEXT)
        s->text = key.handle;
    if (info == GrB_SUCCESS && s->text)
        info = find_tables(s, false);
    if (info == GrB_SUCCESS)
        info = compile(s, key);
    if (info == GrB_SUCCESS && selector == FTB_SAMPLE_FASTGCN && !s->text) {
        info = make_columns(&s->tables, s);
        if (info == GrB_SUCCESS)
            use_tables(s);
    }
    return info;
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
    p->iterations = options->iterations;
    p->seed = options->seed ? options->seed : ctx->seed;
    GrB_Info info = check(p, options);
    if (info == GrB_SUCCESS)
        info = ftb_filter_begin(s, options);
    if (info != GrB_SUCCESS || (!key && !of_layers(p->selector)))
        return info;
    return begin_key(s, options->key);
}

GrB_Info ftb_check_square(FtB_Matrix A)
{
    const ftb_pattern *p = A->pattern;
    if (p->nrows == p->ncols)
        return GrB_SUCCESS;
    return ftb_fail(GrB_DIMENSION_MISMATCH, "A is %lld x %lld; expected as many rows as columns",
                    (long long)p->nrows, (long long)p->ncols);
}

GrB_Info ftb_check_vertices(FtB_Context ctx, const int64_t *at, int64_t count, int64_t n, const char *name)
{
    char below[FTB_WORDS];
    if (count < 0 || count > INT32_MAX)
        return ftb_fail(GrB_INVALID_VALUE, "n%s is %lld; expected 0 to 2^31 - 1", name, (long long)count);
    if (!at && count > 0)
        return ftb_fail(GrB_NULL_POINTER, "%s is NULL; expected %lld vertices", name, (long long)count);
    const int64_t bad = ftb_rows_beyond(ctx, at, count, 1, n);
    if (bad == count)
        return GrB_SUCCESS;
    return ftb_fail(GrB_INDEX_OUT_OF_BOUNDS, "%s[%lld] is %lld; expected %s", name, (long long)bad,
                    (long long)at[bad], ftb_below_text(below, n));
}

GrB_Info ftb_selector_rows(const int64_t **rows, int64_t *nrows, FtB_Arg arg, FtB_Matrix A)
{
    const int64_t bound = A->pattern->nrows;
    char below[FTB_WORDS];
    *rows = NULL;
    *nrows = bound;
    if (arg.kind == FTB_KIND_NONE)
        return GrB_SUCCESS;
    if (arg.kind != FTB_KIND_IDS)
        return ftb_fail(GrB_INVALID_VALUE, "rows is %s; expected an FtB_Ids or NULL",
                        ftb_kind_name(arg.kind));
    if (arg.integer < 0)
        return ftb_fail(GrB_INVALID_VALUE, "rows: count is %lld; expected >= 0", (long long)arg.integer);
    if (!arg.handle && arg.integer > 0)
        return ftb_fail(GrB_NULL_POINTER, "rows is NULL; expected %lld indices", (long long)arg.integer);
    static const int64_t none;
    *rows = arg.handle ? arg.handle : &none;
    *nrows = arg.integer;
    const int64_t bad = ftb_rows_beyond(A->ctx, *rows, *nrows, 1, bound);
    if (bad == *nrows)
        return GrB_SUCCESS;
    return ftb_fail(GrB_INDEX_OUT_OF_BOUNDS, "rows[%lld] is %lld; expected %s", (long long)bad,
                    (long long)(*rows)[bad], ftb_below_text(below, bound));
}

void ftb_selector_end(ftb_selector *s)
{
    ftb_buffer_release(s->tables);
    ftb_delete(s->excluded);
    ftb_map_delete(s->map);
    FtB_Op_free(&s->key);
}

GrB_Info ftb_selector_check(const ftb_selector *s, int64_t k, const char *name)
{
    const FtB_Selector selector = s->product.selector;
    if (k < -1)
        return ftb_fail(GrB_INVALID_VALUE, "%s is %lld; expected 0 or more, or -1 for all", name,
                        (long long)k);
    if (k < 0 && of_layers(selector))
        return ftb_fail(GrB_INVALID_VALUE, "%s is -1, for all; %s expects 0 or more", name, names[selector]);
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
    ftb_delete(picks->scale);
    *picks = (ftb_picks){.rowptr = NULL};
}

GrB_Info ftb_picks_join(FtB_Context ctx, ftb_picks *picks, int32_t **local, int64_t *nrows,
                        const ftb_hop_before *before)
{
    const ftb_pattern *p = before->layer->pattern;
    const int64_t count = picks->rowptr[*nrows], all = p->nvals + count;
    ftb_picks joined = {.rowptr = ftb_new(ctx, p->nrows + *nrows + 1, sizeof *joined.rowptr),
                        .entries = ftb_new(ctx, all, sizeof *joined.entries),
                        .columns = ftb_new(ctx, all, sizeof **local),
                        .scale = before->scale ? ftb_new(ctx, all, sizeof *joined.scale) : NULL};
    if (!joined.rowptr || !joined.entries || !joined.columns || (before->scale && !joined.scale)) {
        ftb_picks_delete(&joined);
        return ftb_nomem();
    }
    if (before->scale) {
        memcpy(joined.scale, before->scale, (size_t)p->nvals * sizeof *joined.scale);
        memcpy(joined.scale + p->nvals, picks->scale, (size_t)count * sizeof *joined.scale);
    }
    memcpy(joined.rowptr, p->rowptr, (size_t)p->nrows * sizeof *joined.rowptr);
    for (int64_t r = 0; r <= *nrows; r++)
        joined.rowptr[p->nrows + r] = p->nvals + picks->rowptr[r];
    int32_t *numbers = joined.columns;
    memcpy(numbers, p->colidx, (size_t)p->nvals * sizeof *numbers);
    memcpy(numbers + p->nvals, *local, (size_t)count * sizeof *numbers);
    memcpy(joined.entries, before->entries, (size_t)p->nvals * sizeof *joined.entries);
    memcpy(joined.entries + p->nvals, picks->entries, (size_t)count * sizeof *joined.entries);
    joined.columns = NULL;
    ftb_picks_delete(picks);
    ftb_delete(*local);
    *picks = joined;
    *local = numbers;
    *nrows += p->nrows;
    return GrB_SUCCESS;
}

/* Gives back room that nothing was picked for. */
static void shrink(FtB_Context ctx, ftb_picks *picks, int64_t count, size_t column)
{
    void *scale = picks->scale, *entries = picks->entries;
    (void)ftb_resize(ctx, &entries, count, sizeof *picks->entries);
    (void)ftb_resize(ctx, &picks->columns, count, column);
    if (scale)
        (void)ftb_resize(ctx, &scale, count, sizeof *picks->scale);
    picks->entries = entries;
    picks->scale = scale;
}

GrB_Info ftb_pick(ftb_picks *picks, ftb_selector *s, const int64_t *rows, int64_t nrows, int64_t k)
{
    GrB_Info info = ftb_selector_tables(s);
    ftb_sample_product p = s->product;
    /* Lists are the host's, and patterns are asked for by verbs. */
    const bool kept =
        p.tables != NULL; /* and the values are only looked at, here, where one of them is bad */
    const ftb_place places[] = {
        {.values = p.values && !kept ? s->A->values : NULL, .read = kept ? NULL : &p.values, .name = "A"},
        {.values = kept ? s->tables : NULL, .read = &p.tables, .name = "A"}};
    int64_t most, looked = 0, *counted = p.work;
    *picks = (ftb_picks){.rowptr = NULL};
    if (info != GrB_SUCCESS)
        return info;
    if (p.replace && __builtin_mul_overflow(nrows, k, &most))
        return ftb_fail(GrB_OUT_OF_MEMORY, "%lld picks for each of %lld rows are too many", (long long)k,
                        (long long)nrows);
    p.rows = rows;
    p.nrows = nrows;
    p.k = k;
    p.work = &looked;
    const bool ours = (p.key && !kept) || ftb_sample_scales(&p) || ftb_sample_filters(&p);
    const ftb_backend *who = ours ? NULL : FTB_WHO_FITS(s->ctx, sample, &p);
    p.rowptr = picks->rowptr = ftb_new(s->ctx, nrows + 1, sizeof *p.rowptr);
    if (!p.rowptr)
        return ftb_nomem();
    FTB_RUN(info, who, sample, places, &p);
    if (info != GrB_SUCCESS)
        goto done;
    p.entries = picks->entries = ftb_new(s->ctx, p.rowptr[nrows], sizeof *p.entries);
    p.columns = picks->columns = ftb_new(s->ctx, p.rowptr[nrows], ftb_col_size(p.p->ncols));
    if (ftb_sample_scales(&p))
        p.scale = picks->scale = ftb_new(s->ctx, p.rowptr[nrows], sizeof *p.scale);
    if (!p.entries || !p.columns || (ftb_sample_scales(&p) && !p.scale))
        FTB_CHECK(ftb_nomem());
    const int64_t room = p.rowptr[nrows];
    FTB_RUN(info, who, sample, places, &p);
    if (info == GrB_SUCCESS && p.rowptr[nrows] < room)
        shrink(s->ctx, picks, p.rowptr[nrows], ftb_col_size(p.p->ncols));
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

/* Values times the picks' scales. */
static GrB_Info scaled_values(ftb_picked_values *to, const ftb_selector *s, const ftb_pick_list *list)
{
    const FtB_Matrix A = s->A;
    int64_t total;
    to->type = A->type == FTB_FP64 ? FTB_FP64 : FTB_FP32;
    to->width = ftb_max(A->width, 1);
    GrB_Info info = ftb_buffer_ask_as(A->values, FTB_READ, "A");
    if (info != GrB_SUCCESS)
        return info;
    if (__builtin_mul_overflow(list->count, to->width, &total))
        total = INT64_MAX; /* refused by the allocator, with its message */
    to->values = ftb_buffer_new(s->ctx, total, FtB_Type_size(to->type));
    if (!to->values)
        return ftb_nomem();
    ftb_sample_scaled(&(ftb_scaled_values){.ctx = s->ctx,
                                           .to = to->values->host,
                                           .to_type = to->type,
                                           .type = A->type,
                                           .from = ftb_values(A),
                                           .width = to->width,
                                           .count = list->count,
                                           .entries = list->entries,
                                           .scale = list->scale});
    return info;
}

GrB_Info ftb_pick_values(ftb_picked_values *to, const ftb_selector *s, const ftb_pick_list *list)
{
    const FtB_Matrix A = s->A;
    const int64_t width = A->width;
    char *one = NULL;
    int64_t total;
    GrB_Info info = GrB_SUCCESS;
    *to = (ftb_picked_values){.type = A->type, .width = width};
    if (list->scale)
        return scaled_values(to, s, list);
    if (width == 0)
        return GrB_SUCCESS;
    if (__builtin_mul_overflow(list->count, width, &total))
        total = INT64_MAX;
    ftb_buffer *made = ftb_buffer_adopt(s->ctx, ftb_new(s->ctx, total, FtB_Type_size(A->type)));
    if (!made)
        return ftb_nomem();
    if (list->ones) {
        FTB_CHECK(ftb_buffer_ask_as(A->values, FTB_READ, "A"));
        FTB_CHECK(fill_ones(s, &one));
        ftb_sample_values(s->ctx, made->host, ftb_values(A), list->entries, list->count,
                          (size_t)width * FtB_Type_size(A->type), one);
    } else {
        ftb_gather_product g = {.ctx = s->ctx,
                                .rows = list->entries,
                                .count = list->count,
                                .ncols = width,
                                .ldx = width,
                                .ldy = width,
                                .xtype = A->type,
                                .ytype = A->type};
        const ftb_place places[] = {{.values = A->values, .read = &g.x, .name = "A"},
                                    {.values = made, .write = &g.y, .whole = true}};
        FTB_RUN(info, FTB_WHO(s->ctx, gather), gather, places, &g);
    }
done:
    ftb_delete(one);
    if (info != GrB_SUCCESS)
        ftb_buffer_release(made);
    else
        to->values = made;
    return info;
}

/* GraphSAINT: subgraphs of vertices that are drawn, and weights that make up for how often a vertex or an
 * entry is in one (FtB_Saint_new). Zeng et al., "GraphSAINT: graph sampling based inductive learning method",
 * ICLR 2020: the loss of v over p_v, and the entry (i, j) of a sum over p_ij / p_i, of which subgraphs that
 * are drawn beforehand give estimates. */
#include "core/draws.h"
#include "core/options.h"
#include "cpu/sample/saint_run.h"
#include "sample/induce.h"
#include "sample/sample_object.h"
#include "sample/walker.h"

#define FTB_MAGIC_SAINT 0x46544274

struct FtB_Saint_opaque {
    uint32_t magic;
    FtB_Context ctx;
    FtB_Matrix A; /* a handle of our own */
    FtB_Saint_options options;
    uint64_t seed;
    double *sums; /* NULL: all alike */
    int64_t nsums;
    int32_t *vertex, *entry; /* counts */
    double *loss;
};

static bool is_saint(FtB_Saint s) { return s && s->magic == FTB_MAGIC_SAINT; }

GrB_Info FtB_Saint_free(FtB_Saint *saint)
{
    FtB_Saint s = saint ? *saint : NULL;
    if (!s)
        return GrB_SUCCESS;
    if (!is_saint(s))
        return ftb_fail(GrB_UNINITIALIZED_OBJECT, "saint is not an FtB_Saint, or was freed");
    FtB_Matrix_free(&s->A);
    ftb_delete(s->sums);
    ftb_delete(s->vertex);
    ftb_delete(s->entry);
    ftb_delete(s->loss);
    s->magic = 0;
    ftb_delete(s);
    *saint = NULL;
    return GrB_SUCCESS;
}

const double *FtB_Saint_loss(FtB_Saint saint) { return is_saint(saint) ? saint->loss : NULL; }

/* ---- chances */

static GrB_Info make_sums(FtB_Saint s)
{
    const ftb_pattern *p = s->A->pattern;
    const bool node = s->options.kind == FTB_SAINT_NODE;
    if (s->options.kind == FTB_SAINT_WALK)
        return p->nrows > 0 ? GrB_SUCCESS : ftb_fail(GrB_INVALID_VALUE, "A has no vertex to be drawn");
    s->nsums = node ? p->ncols : p->nvals;
    s->sums = ftb_new(s->ctx, s->nsums, sizeof *s->sums);
    if (!s->sums)
        return ftb_nomem();
    if (node)
        ftb_saint_columns(s->sums, p, ftb_values(s->A), s->A->type);
    else
        ftb_saint_entries(s->ctx, s->sums, p);
    const double total = s->nsums > 0 ? s->sums[s->nsums - 1] : 0;
    if (total > 0 && total <= 1e300)
        return GrB_SUCCESS;
    if (total == 0)
        return ftb_fail(GrB_INVALID_VALUE, "A has no %s to be drawn; expected entries that are not 0",
                        node ? "vertex" : "entry");
    return ftb_fail(GrB_INVALID_VALUE, "the squares of A's values have the sum %g; expected a finite one",
                    total);
}

/* ---- a subgraph */

/* Walks from drawn vertices, into `list`. */
static GrB_Info walk(FtB_Saint s, int64_t *list, uint64_t key)
{
    const int64_t budget = s->options.budget;
    int64_t *starts = ftb_new(s->ctx, budget, sizeof *starts);
    ftb_walker w = {.memory = NULL};
    GrB_Info info = starts ? ftb_walker_begin(&w, s->ctx, s->A, NULL, "FtB_Saint_batch") : ftb_nomem();
    if (info == GrB_SUCCESS) {
        const ftb_walk_list all = {
            .starts = starts, .count = budget, .length = s->options.length, .placed = true, .out = list};
        ftb_saint_draw(s->ctx, starts, budget, key, NULL, s->A->pattern->nrows);
        w.selector.product.seed = key;
        info = ftb_walker_run(&w, &all);
    }
    ftb_walker_end(&w);
    ftb_delete(starts);
    return info;
}

/* Vertices of one subgraph, ascending, in new memory. */
static GrB_Info draw(FtB_Saint s, uint64_t key, int64_t **vertices, int64_t *count)
{
    const FtB_Saint_options *o = &s->options;
    const int64_t parts = o->kind == FTB_SAINT_NODE ? 1 : o->kind == FTB_SAINT_EDGE ? 2 : 1 + o->length;
    int64_t room;
    GrB_Info info = GrB_SUCCESS;
    if (__builtin_mul_overflow(parts, o->budget, &room) || room > INT64_MAX / 16)
        room = INT64_MAX / 2; /* refused by the allocator, with its message */
    int64_t *list = ftb_new(s->ctx, room, sizeof *list), *scratch = ftb_new(s->ctx, room, sizeof *scratch);
    if (!list || !scratch)
        FTB_CHECK(ftb_nomem());
    if (o->kind == FTB_SAINT_WALK) {
        FTB_CHECK(walk(s, list, key));
    } else {
        ftb_saint_draw(s->ctx, list, o->budget, key, s->sums, s->nsums);
    }
    if (o->kind == FTB_SAINT_EDGE)
        ftb_saint_ends(s->ctx, list, o->budget, s->A->pattern);
    *count = ftb_saint_sort(list, scratch, room);
    *vertices = list;
    list = NULL;
done:
    ftb_delete(list);
    ftb_delete(scratch);
    return info;
}

static GrB_Info scaled(ftb_buffer **values, const void *arg, const int64_t *vertices, int64_t count,
                       const int64_t *rowptr, const int64_t *entries)
{
    const struct FtB_Saint_opaque *s = arg;
    GrB_Info info = ftb_buffer_ask_as(s->A->values, FTB_READ, "A");
    if (info != GrB_SUCCESS)
        return info;
    *values = ftb_buffer_new(s->ctx, rowptr[count], sizeof(float));
    if (!*values)
        return ftb_nomem();
    const ftb_saint_values v = {.ctx = s->ctx,
                                .vertex = s->vertex,
                                .entry = s->entry,
                                .values = ftb_values(s->A),
                                .type = s->A->type,
                                .vertices = vertices,
                                .rowptr = rowptr,
                                .entries = entries,
                                .nrows = count,
                                .out = (*values)->host};
    ftb_saint_scale(&v);
    return GrB_SUCCESS;
}

GrB_Info FtB_Saint_batch(FtB_Sample *sample, FtB_Saint saint, int64_t batch)
{
    int64_t *vertices = NULL, count = 0;
    if (!sample)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Saint_batch: sample is NULL");
    *sample = NULL;
    if (!is_saint(saint))
        return ftb_fail(saint ? GrB_UNINITIALIZED_OBJECT : GrB_NULL_POINTER,
                        "saint is not an FtB_Saint, or was freed");
    if (batch < 0)
        return ftb_fail(GrB_INVALID_VALUE, "batch is %lld; expected 0 or more", (long long)batch);
    const FtB_Subgraph_options o = {.edges = saint->options.edges};
    const ftb_induced_values values = {.make = scaled, .arg = saint};
    GrB_Info info =
        draw(saint, ftb_random_mix(saint->seed, (uint64_t)batch, FTB_DRAW_LIST), &vertices, &count);
    if (info == GrB_SUCCESS)
        info = ftb_induce(sample, saint->ctx, saint->A, vertices, count, &o, &values);
    ftb_delete(vertices);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(saint->ctx);
    return info;
}

/* ---- estimates */

/* Subgraphs that are drawn beforehand have other draws than batches. */
static GrB_Info estimate(FtB_Saint s)
{
    const ftb_pattern *p = s->A->pattern;
    const FtB_Subgraph_options o = {.edges = true, .structural = true};
    GrB_Info info = GrB_SUCCESS;
    for (int64_t t = 0; t < s->options.samples && info == GrB_SUCCESS; t++) {
        int64_t *vertices = NULL, count = 0;
        FtB_Sample one = NULL;
        info = draw(s, ftb_random_mix(s->seed, (uint64_t)t, FTB_DRAW_LIST | 1), &vertices, &count);
        if (info == GrB_SUCCESS)
            info = ftb_induce(&one, s->ctx, s->A, vertices, count, &o, NULL);
        if (info == GrB_SUCCESS)
            ftb_saint_count(s->ctx, s->vertex, vertices, count, s->entry, one->edges[0], one->picked[0]);
        FtB_Sample_free(&one);
        ftb_delete(vertices);
    }
    for (int64_t v = 0; v < p->nrows; v++)
        s->loss[v] = (double)s->options.samples / ftb_max(s->vertex[v], 1);
    return info;
}

static GrB_Info check_options(FtB_Saint_options *o)
{
    if ((int)o->kind < FTB_SAINT_NODE || o->kind > FTB_SAINT_WALK)
        return ftb_fail(GrB_INVALID_VALUE, "options: kind is %d, which is no FtB_Saint_kind", (int)o->kind);
    if (o->length != 0 && o->kind != FTB_SAINT_WALK)
        return ftb_fail(GrB_INVALID_VALUE, "options: length goes with FTB_SAINT_WALK");
    const struct {
        const char *name;
        int64_t *value, usual;
    } numbers[] = {{"budget", &o->budget, 1000}, {"length", &o->length, 2}, {"samples", &o->samples, 50}};
    for (int t = 0; t < 3; t++) {
        if (*numbers[t].value < 0 || *numbers[t].value > INT32_MAX)
            return ftb_fail(GrB_INVALID_VALUE, "options: %s is %lld; expected 1 to 2^31 - 1, or 0 for %lld",
                            numbers[t].name, (long long)*numbers[t].value, (long long)numbers[t].usual);
        if (*numbers[t].value == 0)
            *numbers[t].value = numbers[t].usual;
    }
    return GrB_SUCCESS;
}

static GrB_Info make_object(FtB_Saint *made, FtB_Context ctx, FtB_Matrix A, const FtB_Saint_options *o)
{
    const ftb_pattern *p = A->pattern;
    FtB_Saint s = *made = ftb_new0(ctx, 1, sizeof *s);
    if (!s)
        return ftb_nomem();
    s->magic = FTB_MAGIC_SAINT;
    s->ctx = ctx;
    s->options = *o;
    s->seed = o->seed ? o->seed : ctx->seed;
    s->vertex = ftb_new0(ctx, p->nrows, sizeof *s->vertex);
    s->entry = ftb_new0(ctx, p->nvals, sizeof *s->entry);
    s->loss = ftb_new(ctx, p->nrows, sizeof *s->loss);
    if (!s->vertex || !s->entry || !s->loss)
        return ftb_nomem();
    return ftb_matrix_share(&s->A, A);
}

GrB_Info FtB_Saint_new(FtB_Saint *saint, FtB_Matrix A, const FtB_Saint_options *options)
{
    const FtB_Context ctx = ftb_context();
    FtB_Saint_options o = {.size = 0};
    FtB_Saint s = NULL;
    if (!saint)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Saint_new: saint is NULL");
    *saint = NULL;
    GrB_Info info = ftb_options_read(&o, sizeof o, options, "FtB_Saint_new", "FTB_SAINT_OPTIONS");
    if (info == GrB_SUCCESS)
        info = ftb_arg_matrix(&A, FTB_ARG(A), "A", false);
    if (info == GrB_SUCCESS)
        info = ftb_check_square(A);
    if (info == GrB_SUCCESS && A->width > 1)
        info = ftb_fail(GrB_DIMENSION_MISMATCH, "A has %lld values per entry; expected none or one",
                        (long long)A->width);
    if (info == GrB_SUCCESS)
        info = check_options(&o);
    if (info != GrB_SUCCESS)
        return info;
    FTB_CHECK(make_object(&s, ctx, A, &o));
    FTB_CHECK(make_sums(s));
    FTB_CHECK(estimate(s));
    *saint = s;
    s = NULL;
done:
    FtB_Saint_free(&s);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(ctx);
    return info;
}

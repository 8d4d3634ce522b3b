/* Serialized graphs of GAP: row u is what u points at. What follows the offsets is read as it is, since its
 * length alone tells .sg from .wsg. The inverse is not kept; but it must be one, and a graph without
 * directions be its own: both are compared by a sum over hashed edges, which no order changes. */
#include "io/format.h"
#include "io/serialized.h"

typedef struct graph {
    FtB_Context ctx;
    const char *name; /* of the file */
    bool directed, weighted;
    int64_t nvals, n;
    int64_t *offsets; /* n + 1 */
    void *rest;       /* behind them */
    int64_t size;     /* of rest */
} graph;

/* ---- the head, and the length that it announces */

static bool parse_head(graph *g, const char head[FTB_SERIALIZED_HEAD])
{
    memcpy(&g->nvals, head + 1, sizeof g->nvals);
    memcpy(&g->n, head + 1 + sizeof g->nvals, sizeof g->n);
    g->directed = head[0] != 0;
    return (head[0] == 0 || head[0] == 1) && g->nvals >= 0 && g->nvals < INT64_C(1) << 56 && g->n >= 0 &&
           g->n <= FTB_SERIALIZED_VERTICES;
}

static int64_t offsets_bytes(const graph *g) { return 8 * (g->n + 1); }
static int64_t entries_bytes(const graph *g, bool weighted) { return g->nvals * (weighted ? 8 : 4); }

/* Of what follows the offsets. */
static int64_t rest_bytes(const graph *g, bool weighted)
{
    const int64_t entries = entries_bytes(g, weighted);
    return g->directed ? 2 * entries + offsets_bytes(g) : entries;
}

static int64_t whole_bytes(const graph *g, bool weighted)
{
    return FTB_SERIALIZED_HEAD + offsets_bytes(g) + rest_bytes(g, weighted);
}

/* No first bytes are reserved: a head that may be one, and the first offset. Of either format: which it is,
 * and whether the length is right, is found out when it is read. */
static bool looks_like(const ftb_input *in)
{
    graph g;
    int64_t count, first;
    const char *bytes = ftb_input_peek(in, &count);
    if (count < FTB_SERIALIZED_HEAD + 8 || !parse_head(&g, bytes))
        return false;
    memcpy(&first, bytes + FTB_SERIALIZED_HEAD, sizeof first);
    return first == 0 && (g.n > 0 || ftb_input_size(in) == whole_bytes(&g, false));
}

/* Whether a file of `size` bytes in all has weights, unless the caller said. */
static bool has_weights(const graph *g, FtB_Format wanted, int64_t size)
{
    return wanted == FTB_WSG || (wanted != FTB_SG && g->nvals > 0 && size == whole_bytes(g, true));
}

static GrB_Info read_head(graph *g, ftb_input *in, FtB_Format wanted)
{
    char head[FTB_SERIALIZED_HEAD];
    const int64_t size = ftb_input_size(in);
    GrB_Info info = ftb_input_exactly(in, head, sizeof head, "head");
    if (info == GrB_SUCCESS && !parse_head(g, head))
        info = ftb_fail(FTB_FORMAT,
                        "%s: is no serialized graph of GAP: expected a byte 0 or 1, and numbers "
                        "of entries and vertices of 32 bits",
                        g->name);
    if (info == GrB_SUCCESS) /* where the length is not known yet, for what memory it may take */
        g->weighted = has_weights(g, wanted, size < 0 ? whole_bytes(g, true) : size);
    return info;
}

/* ---- the rest */

/* Of an input whose length is not known, up to one byte more than it may have. */
static GrB_Info read_on(graph *g, ftb_input *in, int64_t most)
{
    int64_t room = 0, got = 0;
    GrB_Info info = GrB_SUCCESS;
    while (info == GrB_SUCCESS && g->size == room && room < most) {
        room = ftb_min(most, ftb_max(INT64_C(1) << 16, 2 * room));
        if (!ftb_resize(g->ctx, &g->rest, room, 1))
            return ftb_nomem();
        info = ftb_input_read(in, (char *)g->rest + g->size, room - g->size, &got);
        g->size += got;
    }
    return info;
}

static GrB_Info read_rest(graph *g, ftb_input *in, FtB_Format wanted)
{
    const int64_t known = ftb_input_size(in), before = FTB_SERIALIZED_HEAD + offsets_bytes(g);
    GrB_Info info = GrB_SUCCESS;
    if (known < 0)
        info = read_on(g, in, rest_bytes(g, true) + 1);
    else
        g->size = known - before;
    if (info != GrB_SUCCESS)
        return info;
    g->weighted = has_weights(g, wanted, before + g->size);
    if (g->size != rest_bytes(g, g->weighted) && known < 0 && g->size > rest_bytes(g, g->weighted))
        return ftb_fail(FTB_FORMAT, "%s: goes on after its neighbours", g->name);
    if (g->size != rest_bytes(g, g->weighted))
        return ftb_fail(FTB_FORMAT, "%s: has %lld bytes; its head announces %lld, or, with weights, %lld",
                        g->name, (long long)(before + g->size), (long long)whole_bytes(g, false),
                        (long long)whole_bytes(g, true));
    if (known >= 0)
        info = ftb_read_array(&g->rest, g->ctx, in, g->size, 1, "neighbours");
    return info;
}

/* ---- the inverse */

static uint64_t mix(uint64_t from, uint64_t to, uint64_t weight)
{
    uint64_t x = (from << 32 | to) * UINT64_C(0x9e3779b97f4a7c15) + weight * UINT64_C(0xd6e8feb86659fd93);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

typedef struct sums {
    uint64_t there, back; /* of the edges, and of them the other way round */
    int64_t beyond;       /* neighbours that are no vertices */
} sums;

static sums sum_edges(const graph *g, const int64_t *offsets, const char *entries)
{
    const int width = g->weighted ? 2 : 1;
    uint64_t there = 0, back = 0;
    int64_t beyond = 0;
#pragma omp parallel for schedule(dynamic, 1024) num_threads(ftb_threads(g->ctx)) reduction(+ : there, back, beyond)   \
    if (g->nvals > 65536)
    for (int64_t v = 0; v < g->n; v++)
        for (int64_t e = offsets[v]; e < offsets[v + 1]; e++) {
            int32_t entry[2] = {0, 0}; /* neighbour, weight */
            memcpy(entry, entries + e * width * 4, (size_t)width * 4);
            there += mix((uint64_t)v, (uint32_t)entry[0], (uint32_t)entry[1]);
            back += mix((uint32_t)entry[0], (uint64_t)v, (uint32_t)entry[1]);
            beyond += entry[0] < 0 || entry[0] >= g->n;
        }
    return (sums){there, back, beyond};
}

static GrB_Info check_offsets(const graph *g, int64_t *offsets, const char *what)
{
    const ftb_arrays a = {
        .ctx = g->ctx, .name = g->name, .nrows = g->n, .nvals = g->nvals, .rowptr = offsets};
    return ftb_arrays_check_rowptr(&a, what);
}

/* Of an edge to what is no vertex, which the builder of the matrix tells of, nothing is said here. */
static GrB_Info check_inverse(const graph *g)
{
    const char *entries = g->rest, *inverse = entries + entries_bytes(g, g->weighted);
    const sums forth = sum_edges(g, g->offsets, entries);
    int64_t *offsets = NULL;
    GrB_Info info = GrB_SUCCESS;
    if (!g->directed && forth.beyond == 0 && forth.there != forth.back)
        return ftb_fail(FTB_FORMAT,
                        "%s: says that its edges have no direction, but some do not come back the same",
                        g->name);
    if (!g->directed)
        return GrB_SUCCESS;
    if (!(offsets = ftb_new(g->ctx, g->n + 1, sizeof *offsets)))
        return ftb_nomem();
    memcpy(offsets, inverse, (size_t)offsets_bytes(g));
    FTB_CHECK(check_offsets(g, offsets, "inverse row pointers"));
    const sums back = sum_edges(g, offsets, inverse + offsets_bytes(g));
    if (forth.beyond == 0 && (back.beyond > 0 || forth.there != back.back))
        info = ftb_fail(FTB_FORMAT, "%s: the inverse graph, behind the graph, has other edges", g->name);
done:
    ftb_delete(offsets);
    return info;
}

/* ---- the matrix */

/* Neighbours and weights apart. */
static GrB_Info split(ftb_arrays *a, graph *g)
{
    int32_t *to = ftb_new(g->ctx, g->nvals, sizeof *to), *weight = ftb_new(g->ctx, g->nvals, sizeof *weight);
    const int32_t *entries = g->rest;
    a->colidx = to;
    a->values = weight;
    if (!to || !weight)
        return ftb_nomem();
#pragma omp parallel for schedule(static) num_threads(ftb_threads(g->ctx)) if (g->nvals > 65536)
    for (int64_t e = 0; e < g->nvals; e++) {
        to[e] = entries[2 * e];
        weight[e] = entries[2 * e + 1];
    }
    ftb_delete(g->rest);
    g->rest = NULL;
    return GrB_SUCCESS;
}

static GrB_Info make_arrays(ftb_arrays *a, graph *g)
{
    a->nrows = a->ncols = g->n;
    a->nvals = g->nvals;
    a->column_bytes = 4;
    a->width = g->weighted;
    a->type = g->weighted ? FTB_INT32 : FTB_BOOL;
    a->rowptr = g->offsets;
    g->offsets = NULL;
    if (g->weighted)
        return split(a, g);
    if (!ftb_resize(g->ctx, &g->rest, g->nvals, 4))
        return ftb_nomem();
    a->colidx = g->rest;
    g->rest = NULL;
    return GrB_SUCCESS;
}

/* What is held at most: the file, and of .wsg its entries apart; where columns turned out not to ascend, also
 * what it takes to build anew. */
static double bytes_needed(const graph *g, bool anew)
{
    const double n = (double)g->nvals, weights = g->weighted ? 4 : 0;
    double bytes = 2 * (double)whole_bytes(g, g->weighted) + n * (4 + weights) + 131072;
    return anew ? bytes + 16 * n + ftb_build_bytes(g->ctx, n, (double)g->n, 4, 8) : bytes;
}

static GrB_Info read_serialized(FtB_Matrix *A, FtB_Labels labels[2], FtB_Context ctx, ftb_input *in,
                                const FtB_Read_options *options)
{
    (void)labels;
    graph g = {.ctx = ctx, .name = ftb_input_name(in)};
    ftb_arrays a = {.ctx = ctx, .name = g.name};
    const int64_t left = ftb_memory_left(ctx);
    void *offsets = NULL;
    bool whole = false;
    GrB_Info info;
    FTB_CHECK(read_head(&g, in, options->format));
    info = ftb_read_array(&offsets, ctx, in, g.n + 1, 8, "offsets");
    g.offsets = offsets;
    FTB_CHECK(info);
    FTB_CHECK(check_offsets(&g, g.offsets, "row pointers"));
    FTB_CHECK(read_rest(&g, in, options->format));
    FTB_CHECK(check_inverse(&g));
    FTB_CHECK(make_arrays(&a, &g));
    whole = true;
    FTB_CHECK(ftb_arrays_build(A, &a, options));
    *options->found = g.weighted ? FTB_WSG : FTB_SG;
done:
    if (info == FTB_LIMIT)
        info = ftb_too_large(ctx, left, bytes_needed(&g, whole), g.name);
    ftb_delete(g.offsets);
    ftb_delete(g.rest);
    ftb_arrays_clear(&a);
    return info;
}

const ftb_codec ftb_codec_sg = {
    .tells = looks_like, .rank = 7, .matrix = read_serialized, .sink = &ftb_serialized_kind};
const ftb_codec ftb_codec_wsg = {
    .tells = looks_like, .rank = 8, .matrix = read_serialized, .sink = &ftb_serialized_kind};

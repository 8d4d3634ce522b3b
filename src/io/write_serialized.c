/* Serialized graphs of GAP. Whether edges have a direction comes first and is known last, and the inverse
 * wants all entries: rows are collected, and written at the end, in order, so that a pipe needs no spool. */
#include "core/words.h"
#include "io/serialized.h"
#include "io/target.h"

enum { BLOCK = 1 << 15 }; /* entries that are put together; between two looks at the cancel flag */

typedef struct serialized {
    ftb_target target;
    FtB_Sink rows; /* collects them */
    FtB_Matrix A;
    ftb_stream stream;
    int32_t *block; /* BLOCK entries */
} serialized;

static GrB_Info serialized_begin(FtB_Sink sink, const ftb_sink_shape *shape)
{
    serialized *s = sink->state;
    const char *path = s->target.path;
    const bool weighted = s->target.format == FTB_WSG;
    GrB_Info info;
    if (shape->nrows != shape->ncols || shape->nrows > FTB_SERIALIZED_VERTICES)
        return ftb_fail(
            GrB_INVALID_VALUE,
            "%s: a serialized graph is square, of 2147483647 vertices at most; this is %lld x %lld", path,
            (long long)shape->nrows, (long long)shape->ncols);
    if (shape->width > weighted)
        return ftb_fail(GrB_INVALID_VALUE, "%s: an entry of %s file has %s; these have %lld values", path,
                        weighted ? "a .wsg" : "an .sg",
                        weighted ? "one weight" : "no value, but of a .wsg file", (long long)shape->width);
    FTB_CHECK(ftb_target_check_labels(&s->target, shape));
    FTB_CHECK(ftb_file_create(&s->target.file, shape->ctx, path));
    FTB_CHECK(ftb_target_write_ids(&s->target, shape, 0));
    s->block = ftb_new(shape->ctx, BLOCK, 2 * sizeof *s->block);
    FTB_CHECK(s->block ? GrB_SUCCESS : ftb_nomem());
    FTB_CHECK(ftb_sink_matrix(&s->rows, shape->ctx, &s->A, 0));
    FTB_CHECK(ftb_sink_begin(s->rows, shape));
done:
    return info;
}

static GrB_Info serialized_rows(FtB_Sink sink, const FtB_Rows *rows)
{
    return ftb_sink_rows(((serialized *)sink->state)->rows, rows);
}

static GrB_Info put(serialized *s, const void *bytes, int64_t count)
{
    const int error = ftb_file_append(s->target.file, &s->stream, bytes, count);
    return error ? ftb_file_failed(s->target.file, error) : ftb_check_cancelled(s->A->ctx);
}

/* Weights as GAP has them: whole numbers of 32 bits; of a graph without values 1. */
static GrB_Info cast_weights(serialized *s, int32_t **weight)
{
    char word[FTB_WORDS];
    const FtB_Matrix A = s->A;
    const int64_t nvals = A->pattern->nvals,
                  bad = A->values ? ftb_find_unfit(FTB_INT32, ftb_values(A), A->type, nvals) : -1;
    if (bad >= 0)
        return ftb_fail(GrB_INVALID_VALUE,
                        "%s: the weight of entry %lld, from 0, is %s; expected a whole number of 32 bits",
                        s->target.path, (long long)bad, ftb_value_text(word, ftb_values(A), A->type, bad));
    if (!(*weight = ftb_new(A->ctx, nvals, sizeof **weight)))
        return ftb_nomem();
    if (A->values)
        ftb_cast(*weight, FTB_INT32, ftb_values(A), A->type, nvals);
    for (int64_t e = 0; !A->values && e < nvals; e++)
        (*weight)[e] = 1;
    return GrB_SUCCESS;
}

/* Offsets, then entries; weight NULL: none. from: where the weight of each is; NULL: in its place. */
static GrB_Info put_graph(serialized *s, const ftb_pattern *p, const int32_t *weight, const int64_t *from)
{
    const int32_t *to = p->colidx;
    GrB_Info info = put(s, p->rowptr, 8 * (p->nrows + 1));
    for (int64_t e = 0; e < p->nvals && info == GrB_SUCCESS; e += BLOCK) {
        const int64_t n = ftb_min(BLOCK, p->nvals - e);
        for (int64_t b = 0; weight && b < n; b++) {
            s->block[2 * b] = to[e + b];
            s->block[2 * b + 1] = weight[from ? from[e + b] : e + b];
        }
        info = weight ? put(s, s->block, 8 * n) : put(s, to + e, 4 * n);
    }
    return info;
}

static bool same_weights(const int32_t *weight, const int64_t *from, int64_t nvals)
{
    int64_t others = 0;
    for (int64_t e = 0; weight && e < nvals; e++)
        others += weight[e] != weight[from[e]];
    return others == 0;
}

static GrB_Info put_all(serialized *s)
{
    ftb_pattern *const p = s->A->pattern, *inverse = NULL;
    const int64_t counts[2] = {p->nvals, p->nrows}, *from = NULL;
    int32_t *weight = NULL;
    GrB_Info info;
    if (s->target.format == FTB_WSG)
        FTB_CHECK(cast_weights(s, &weight));
    FTB_CHECK(ftb_pattern_transpose(p, &inverse, s->A->values ? &from : NULL));
    const char directed = inverse != p || (from && !same_weights(weight, from, p->nvals));
    FTB_CHECK(put(s, &directed, 1));
    FTB_CHECK(put(s, counts, sizeof counts));
    FTB_CHECK(put_graph(s, p, weight, NULL));
    if (directed)
        FTB_CHECK(put_graph(s, inverse, weight, from));
done:
    ftb_delete(weight);
    return info;
}

static void serialized_abort(FtB_Sink sink)
{
    serialized *s = sink->state;
    FtB_Sink_free(&s->rows);
    FtB_Matrix_free(&s->A);
    ftb_delete(s->block);
    s->block = NULL;
    ftb_target_abort(sink);
}

static GrB_Info serialized_end(FtB_Sink sink)
{
    serialized *s = sink->state;
    ftb_stream *const streams[] = {&s->stream};
    GrB_Info info;
    FTB_CHECK(ftb_sink_end(s->rows));
    FTB_CHECK(put_all(s));
    FTB_CHECK(ftb_file_settle(s->target.file, streams, 1));
    FTB_CHECK(ftb_target_commit(&s->target));
    serialized_abort(sink); /* what is left */
done:
    return info;
}

static int64_t serialized_least(FtB_Sink sink, const ftb_sink_shape *shape)
{
    (void)sink, (void)shape;
    return BLOCK * 8;
}

const ftb_format_kind ftb_serialized_kind = {{.name = "serialized graph",
                                              .begin = serialized_begin,
                                              .rows = serialized_rows,
                                              .end = serialized_end,
                                              .abort = serialized_abort,
                                              .destroy = ftb_target_destroy,
                                              .least = serialized_least},
                                             sizeof(serialized)};

/* What a batch of `featblas sample` draws beside neighbourhoods: pairs that the graph has no entry for, and
 * walks. */
#include "sample/sample_parts.h"

#include "core/core.h"

/* ---- pairs without an entry */

/* As text: two vertices a line, as the graph's file numbers them. rows: NULL: all vertices. */
static GrB_Info write_pairs(sample_work *w, FtB_Matrix S, const int64_t *rows, int64_t batch)
{
    FtB_Block X = NULL;
    int64_t nrows, pairs;
    const int64_t *rowptr;
    void *values;
    GrB_Info info;
    FTB_CHECK(FtB_Matrix_shape(S, &nrows, NULL, &pairs, NULL, NULL));
    FTB_CHECK(FtB_Matrix_csr(S, &rowptr, NULL, NULL));
    FTB_CHECK(FtB_Block_new(&X, pairs, 2, FTB_INT64));
    FTB_CHECK(FtB_Block_shape(X, NULL, NULL, NULL, NULL, &values));
    int64_t *to = values;
    for (int64_t i = 0; i < nrows; i++)
        for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++) {
            to[2 * e] = (rows ? rows[i] : i) + w->names.base;
            to[2 * e + 1] = ftb_col(S->pattern, e) + w->names.base;
        }
    info = FtB_Block_write(X, sample_path(w, batch, "negative", -1, "tsv"), FTB_FORMAT_AUTO, 0);
done:
    FtB_Block_free(&X);
    return info;
}

int sample_batch_negative(sample_work *w, int64_t batch)
{
    const sample_values *v = w->v;
    const int64_t count = sample_batch_size(w, batch);
    const FtB_Ids rows = FtB_Ids_of(w->seeds + batch * v->batch, count);
    const FtB_Negative_options o = {.size = sizeof o,
                                    .seed = (uint64_t)v->seed,
                                    .batch = batch,
                                    .replace = v->replace,
                                    .loops = v->loops,
                                    .global = v->global};
    FtB_Matrix S = NULL;
    int64_t pairs = 0;
    GrB_Info info = FtB_Matrix_new(&S, FTB_BOOL, v->global ? w->n : count, w->n, 0);
    if (info == GrB_SUCCESS)
        info = v->global ? FtB_sample_negative(S, NULL, v->negative, w->A, &o)
                         : FtB_sample_negative(S, rows, v->negative, w->A, &o);
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_shape(S, NULL, NULL, &pairs, NULL, NULL);
    w->negatives += pairs;
    int code = graph_error(info, APP_USAGE, &w->names);
    if (code == APP_OK && v->output)
        code = app_library_error(sample_is_text(w) ? write_pairs(w, S, v->global ? NULL : rows.at, batch)
                                                   : sample_write_matrix(w, S, batch, "negative", -1),
                                 APP_OUTPUT);
    FtB_Matrix_free(&S);
    return code;
}

/* ---- walks */

static void count_steps(sample_work *w, const int64_t *at, int64_t nwalks, int64_t ld)
{
    for (int64_t r = 0; r < nwalks; r++) {
        int64_t t = 1;
        while (t <= w->v->walk && at[r * ld + t] >= 0)
            t++;
        w->steps += t - 1;
        w->ended += t <= w->v->walk;
    }
}

int sample_batch_walks(sample_work *w, int64_t batch)
{
    const sample_values *v = w->v;
    const FtB_Walk_options o = {.size = sizeof o,
                                .key = v->key,
                                .restart = v->restart,
                                .p = v->p,
                                .q = v->q,
                                .each = v->walks,
                                .seed = (uint64_t)v->seed,
                                .batch = batch};
    FtB_Block walks = NULL;
    int64_t rows, cols, ld;
    void *values;
    const double start = app_seconds();
    GrB_Info info =
        FtB_walk(&walks, w->A, w->seeds + batch * v->batch, sample_batch_size(w, batch), v->walk, &o);
    w->seconds += app_seconds() - start;
    if (info == GrB_SUCCESS)
        info = FtB_Block_shape(walks, &rows, &cols, &ld, NULL, &values);
    int code = graph_error(info, APP_USAGE, &w->names);
    if (code == APP_OK) {
        int64_t *at = values;
        count_steps(w, at, rows, ld);
        for (int64_t r = 0; r < rows && sample_is_text(w); r++)
            for (int64_t t = 0; t < cols; t++)
                at[r * ld + t] += at[r * ld + t] < 0 ? 0 : w->names.base;
    }
    if (code == APP_OK && v->output)
        code = app_library_error(
            FtB_Block_write(walks, sample_path(w, batch, "walks", -1, sample_is_text(w) ? "tsv" : "npy"),
                            FTB_FORMAT_AUTO, 0),
            APP_OUTPUT);
    FtB_Block_free(&walks);
    return code;
}

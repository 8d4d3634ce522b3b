/* Inference over a graph that is too large for one record: layer after layer, and each by pieces of rows,
 * with all neighbours. A piece is a hop of a sample that picks all. At a time there are what goes into a
 * layer, what comes out of it, a row for each vertex, and what a piece needs; the last layer's outputs are
 * counted and not kept. */
#include "learn/training.h"

#include "core/core.h"

#include <stdlib.h>
#include <string.h>

/* Rows and entries of a piece for each row of a batch, so that memory follows the batch here, too; a longer
 * row is a piece of its own. */
enum { PIECE_ROWS = 16, PIECE_ENTRIES = 1024, MOST_ROWS = 1 << 16 };

typedef struct inference {
    training *s;
    FtB_Block in, out; /* of the layer at hand; in NULL: the data set's features */
    int64_t layer;
    const int64_t *rowptr;
    int64_t rows[MOST_ROWS], count, next; /* rows of the piece; where the next one begins */
    train_sums sums[DATASET_PARTS];
    unsigned losses;
} inference;

/* Whether anybody wants the row: of the last layer, those that are scored. */
static bool wanted(const inference *f, int64_t v)
{
    const dataset *set = &f->s->t->set;
    bool scored = f->layer + 1 < f->s->m.o.layers;
    for (int p = 0; p < DATASET_PARTS; p++)
        scored = scored || (set->part[p] && set->part[p][v]);
    return scored;
}

/* The rows of the next piece; none are left: false. */
static bool next_piece(inference *f)
{
    const int64_t batch = ftb_min(f->s->t->plan.sampling.batch, MOST_ROWS);
    const int64_t most = ftb_min(PIECE_ROWS * batch, MOST_ROWS);
    int64_t entries = 0;
    for (f->count = 0; f->next < f->s->t->set.nvertices && f->count < most; f->next++) {
        const int64_t degree = f->rowptr[f->next + 1] - f->rowptr[f->next];
        if (!wanted(f, f->next))
            continue;
        if (f->count > 0 && entries + degree > PIECE_ENTRIES * batch)
            break;
        entries += degree;
        f->rows[f->count++] = f->next;
    }
    return f->count > 0;
}

/* Features of a piece's sources on the tape. */
static GrB_Info record_input(const inference *f, FtB_Ids vertices, FtB_Var *x)
{
    const dataset *set = &f->s->t->set;
    const FtB_Block from = f->in ? f->in : set->dense_features;
    FtB_Block X = NULL;
    FtB_Matrix S = NULL;
    GrB_Info info;
    if (from) {
        info = FtB_Block_new(&X, vertices.count, from->ncols, from->type);
        if (info == GrB_SUCCESS)
            info = FtB_gather(X, from, vertices);
        if (info == GrB_SUCCESS)
            *x = FtB_input(f->s->pieces, X);
    } else {
        const FtB_Matrix all = set->sparse_features;
        info = FtB_Matrix_new(&S, all->type, vertices.count, all->pattern->ncols, all->width);
        if (info == GrB_SUCCESS)
            info = FtB_select_sample(S, vertices, -1, NULL, all, NULL);
        if (info == GrB_SUCCESS)
            *x = FtB_input(f->s->pieces, S);
    }
    FtB_Block_free(&X);
    FtB_Matrix_free(&S);
    return info;
}

/* Where the piece's outputs go. */
static void keep(inference *f, FtB_Block Y)
{
    for (int64_t r = 0; r < f->count && f->out; r++)
        memcpy((float *)ftb_block_data(f->out) + f->rows[r] * f->out->ld,
               (const float *)ftb_block_data(Y) + r * Y->ld, (size_t)Y->ncols * sizeof(float));
    if (!f->out)
        train_score_rows(f->sums, Y, f->rows, &f->s->t->set, f->s->m.o.task, f->losses);
}

static GrB_Info run_piece(inference *f)
{
    static const int64_t all = -1;
    const training *s = f->s;
    FtB_Sample hop = NULL;
    FtB_Block Y = NULL;
    FtB_Var x;
    GrB_Info info = FtB_Tape_reset(s->pieces);
    if (info == GrB_SUCCESS)
        info = FtB_sample(&hop, s->t->set.graph, f->rows, f->count, &all, 1, FTB_SAMPLE_OPTIONS(.seed = 1));
    if (info == GrB_SUCCESS)
        info = record_input(f, FtB_Sample_vertices(hop), &x);
    if (info == GrB_SUCCESS)
        info = FtB_evaluate(&Y, model_record_layer(&s->m, f->layer, FtB_Sample_layer(hop, 0), x));
    if (info == GrB_SUCCESS)
        info = ftb_buffer_ask(Y->owner, FTB_READ);
    if (info == GrB_SUCCESS)
        keep(f, Y);
    FtB_Block_free(&Y);
    FtB_Sample_free(&hop);
    return info;
}

static GrB_Info run_layer(inference *f)
{
    const training *s = f->s;
    GrB_Info info = GrB_SUCCESS;
    if (f->layer + 1 < s->m.o.layers)
        info = FtB_Block_new(&f->out, s->t->set.nvertices, model_columns(&s->m, f->layer), FTB_FP32);
    f->next = 0;
    while (info == GrB_SUCCESS && next_piece(f))
        info = run_piece(f);
    FtB_Block_free(&f->in);
    f->in = f->out;
    f->out = NULL;
    return info;
}

GrB_Info train_infer(training *s, train_score scores[DATASET_PARTS], unsigned losses)
{
    inference *f = calloc(1, sizeof *f); /* the rows of a piece: too much for a stack */
    GrB_Info info = GrB_SUCCESS;
    if (!f)
        return ftb_fail(GrB_OUT_OF_MEMORY, "out of memory");
    f->s = s;
    f->losses = losses;
    if (!s->pieces)
        info = FtB_Tape_new(&s->pieces, 0);
    if (info == GrB_SUCCESS)
        info = FtB_Tape_inference(s->pieces);
    if (info == GrB_SUCCESS)
        info = FtB_Matrix_csr(s->t->set.graph, &f->rowptr, NULL, NULL);
    for (; f->layer < s->m.o.layers && info == GrB_SUCCESS; f->layer++)
        info = run_layer(f);
    if (info == GrB_SUCCESS)
        train_score_end(scores, f->sums, s->m.o.task, losses);
    FtB_Block_free(&f->in);
    FtB_Block_free(&f->out);
    (void)FtB_Tape_reset(s->pieces); /* the last piece's hop need not stay */
    free(f);
    return info;
}

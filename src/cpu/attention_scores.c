/* Scores of any text: the message's program, on batches of a row's entries (attention_scores.h). */
#include "cpu/attention_scores.h"

#include "cpu/interpreter.h"
#include "cpu/kernels/attention_kernels.h"
#include "cpu/message_load.h"

typedef struct scorer {
    const ftb_attention_product *product;
    ftb_loader *loader;
    ftb_interpreter *machine;
    ftb_panels *panels; /* the first one's, for all; NULL in others */
    int64_t room;       /* entries of a batch */
    int64_t column[FTB_ATTENTION_EDGES];
    char *scores; /* of a batch, of the program's type */
} scorer;

/* Results of a domain of fewer bits wrap to it, in place: down, and up again. */
static void wrap(const ftb_attention_product *p, char *scores, int64_t count)
{
    if (p->wraps) {
        ftb_cast(scores, p->wraps, scores, p->score_type, count);
        ftb_cast(scores, p->score_type, scores, p->wraps, count);
    }
}

void ftb_attention_scores_run(void *arg, int64_t row, int64_t entry, int64_t count, void *out)
{
    scorer *s = arg;
    const ftb_attention_product *p = s->product;
    int64_t heads = p->message->heads;
    size_t size = FtB_Type_size(p->type), from = FtB_Type_size(p->score_type);
    for (int64_t done = 0; done < count; done += s->room) {
        int64_t n = ftb_min(s->room, count - done);
        for (int64_t e = 0; e < n; e++)
            s->column[e] = ftb_col(p->p, entry + done + e);
        ftb_places places[FTB_SIDES] = {[FTB_SIDE_ROW] = {.first = row, .same = true},
                                        [FTB_SIDE_COL] = {.index = s->column},
                                        [FTB_SIDE_EDGE] = {.first = entry + done}};
        const ftb_operand *operands = ftb_loader_run(s->loader, n, places);
        ftb_interpreter_run(s->machine, n * heads, operands, s->scores);
        wrap(p, s->scores, n * heads);
        for (int64_t t = 0; t < n * p->heads; t++) /* one score for all heads, or one for each */
            ftb_cast((char *)out + (size_t)(done * p->heads + t) * size, p->type,
                     s->scores + (size_t)(heads == 1 ? t / p->heads : t) * from, p->score_type, 1);
    }
}

void ftb_attention_scores_delete(void **args, int count)
{
    for (int t = 0; args && t < count; t++) {
        scorer *s = args[t];
        if (!s)
            continue;
        ftb_loader_delete(s->loader);
        ftb_interpreter_delete(s->machine);
        ftb_panels_delete(s->panels);
        ftb_delete(s->scores);
        ftb_delete(s);
    }
    ftb_delete(args);
}

GrB_Info ftb_attention_scores_new(void ***args, const ftb_attention_product *product, int count)
{
    const ftb_message *m = product->message;
    GrB_Info info = GrB_SUCCESS;
    *args = ftb_new0(product->ctx, count, sizeof **args);
    if (!*args)
        return ftb_nomem();
    for (int t = 0; t < count && info == GrB_SUCCESS; t++) {
        scorer *s = (*args)[t] = ftb_new0(product->ctx, 1, sizeof *s);
        if (!s)
            return ftb_nomem();
        s->product = product;
        s->room = ftb_max(1, ftb_min(FTB_ATTENTION_EDGES, FTB_BATCH / m->heads));
        s->scores = ftb_new(product->ctx, s->room * m->heads, 8);
        info = s->scores ? ftb_loader_new(&s->loader, m, product->program, s->room) : ftb_nomem();
        if (info == GrB_SUCCESS)
            info = ftb_interpreter_new(&s->machine, product->ctx, product->program);
        if (info == GrB_SUCCESS && t == 0)
            info = ftb_panels_new(&s->panels, m, product->program);
        if (info == GrB_SUCCESS)
            ftb_interpreter_give(s->machine, ((scorer *)(*args)[0])->panels);
    }
    return info;
}

/* Products of a matrix and a vector by push and pull (mxv_run.h): a superstep of a vertex program that has
 * one text, its message, and whose vertices do not apply. */
#include "cpu/vector/mxv_run.h"

typedef struct step {
    const ftb_mxv_product *p;
    ftb_vector own; /* the vector by place, or its list */
    ftb_vertex_list senders;
    ftb_vertex_text texts[2]; /* nothing is sent by a text: the first one is never run */
    ftb_vertex_work work;
    ftb_vertex_mail mail;
    ftb_program *program;
    bool first;       /* the loops where the first message decides do it */
    uint64_t *takers; /* bits of receivers that the mask admits */
} step;

/* ---- what is sent */

static bool reads_vector(const ftb_message *m) { return m->function || ftb_message_reads(m, "src"); }

/* Whether a push marks its receivers: it speaks of senders by place, and has a bit for each receiver. */
static bool may_mark(const ftb_mxv_product *p)
{
    return (p->u->form != FTB_VECTOR_LIST || !reads_vector(p->m)) &&
           ftb_mxv_edges(p->ctx, p->edges.rows[0], p->u) >= p->receivers / 64;
}

/* The vector's values: a push reads them as they lie, a pull by place. */
static GrB_Info point_mail(step *s)
{
    const ftb_vector *u = s->p->u;
    const bool list = u->form == FTB_VECTOR_LIST;
    GrB_Info info = GrB_SUCCESS;
    s->senders = (ftb_vertex_list){u->index, u->nvals};
    s->mail = (ftb_vertex_mail){.sent = u->values, .type = u->type, .ld = 1, .by_vertex = !list || s->first};
    if (list && !s->p->push) {
        info = ftb_vector_as(&s->own, s->p->ctx, u, FTB_VECTOR_BITMAP);
        s->mail.sent = s->own.values;
        s->mail.by_vertex = true;
    } else if (u->form == FTB_VECTOR_BITMAP) {
        info = ftb_vector_room(&s->own, s->p->ctx, FTB_VECTOR_LIST, FTB_BOOL, u->size, u->nvals);
        if (info == GrB_SUCCESS)
            ftb_vector_list(s->p->ctx, u->present, u->size, s->own.index);
        s->senders.list = s->own.index;
    }
    return info;
}

/* Feeds of senders are read by the number of the sender, which of a list is not its place. */
static void point_feeds(step *s)
{
    ftb_vertex_text *text = &s->texts[FTB_VERTEX_COMBINE];
    for (int f = 0; f < text->m.nfeeds; f++) {
        ftb_feed *feed = &text->m.feeds[f];
        text->of[f].kind = FTB_VERTEX_FIXED;
        if (strcmp(feed->name, "src") == 0)
            text->of[f].kind = FTB_VERTEX_MESSAGE;
        else if (feed->side == FTB_SIDE_COL && !s->mail.by_vertex)
            feed->at = s->p->u->index;
    }
}

/* ---- who receives */

static bool admitted(const ftb_mxv_product *p, int64_t i)
{
    const ftb_vector *M = p->mask;
    return ((!M->present || M->present[i]) && ftb_mask_admits(&p->admits, i)) != p->complement;
}

/* Bits of 64 receivers. */
static uint64_t admitted_word(const ftb_mxv_product *p, int64_t word)
{
    const int64_t first = 64 * word, end = ftb_min(first + 64, p->receivers);
    uint64_t bits = 0;
    for (int64_t i = first; i < end; i++)
        bits |= (uint64_t)(p->mask->form == FTB_VECTOR_LIST ? p->complement : admitted(p, i)) << (i - first);
    return bits;
}

static GrB_Info make_takers(step *s)
{
    const ftb_mxv_product *p = s->p;
    const ftb_vector *M = p->mask;
    const int64_t words = p->receivers / 64 + 1;
    if (p->push || !M)
        return GrB_SUCCESS;
    s->takers = ftb_new(p->ctx, words, sizeof *s->takers);
    if (!s->takers)
        return ftb_nomem();
#pragma omp parallel for num_threads(ftb_threads_for(p->ctx, p->receivers / 8)) schedule(static)
    for (int64_t w = 0; w < words; w++)
        s->takers[w] = admitted_word(p, w);
    for (int64_t t = 0; M->form == FTB_VECTOR_LIST && t < M->nvals; t++)
        if (ftb_mask_admits(&p->admits, t))
            s->takers[M->index[t] / 64] ^= UINT64_C(1) << (M->index[t] % 64);
    return GrB_SUCCESS;
}

/* ---- running */

static GrB_Info prepare(step *s)
{
    const ftb_mxv_product *p = s->p;
    ftb_vertex_text *text = &s->texts[FTB_VERTEX_COMBINE];
    ftb_message_type type;
    s->first = p->first && (!p->push || may_mark(p));
    GrB_Info info = point_mail(s);
    if (info == GrB_SUCCESS)
        info = make_takers(s);
    if (info == GrB_SUCCESS)
        info = ftb_message_compile(&type, &s->program, p->m);
    if (info != GrB_SUCCESS)
        return info;
    *text = (ftb_vertex_text){.m = *p->m, .program = s->program, .type = type.message, .width = type.width};
    point_feeds(s);
    s->texts[FTB_VERTEX_SEND] = *text;
    s->work = (ftb_vertex_work){.ctx = p->ctx,
                                .n = p->receivers,
                                .senders = p->senders,
                                .nthreads = p->threads,
                                .ntexts = 2,
                                .texts = s->texts,
                                .active = -1,
                                .settled = -1,
                                .takers = s->takers,
                                .edges = p->values,
                                .plain = p->plain,
                                .monoid = p->m->reducer.monoid,
                                .reduced = type.reduced,
                                .width = type.width,
                                .reduce = ftb_segment_of(p->m->reducer.monoid, type.reduced)};
    return ftb_vertex_workers_new(&s->work);
}

static GrB_Info take_result(ftb_vector *T, const step *s)
{
    const ftb_vertex_mail *mail = &s->mail;
    const int64_t count = mail->receivers.count;
    const size_t each = FtB_Type_size(s->work.reduced);
    GrB_Info info = ftb_vector_room(T, s->p->ctx, FTB_VECTOR_LIST, s->work.reduced, s->p->receivers, count);
    if (info != GrB_SUCCESS)
        return info;
    const int64_t *receivers = mail->receivers.list;
#pragma omp parallel for num_threads(ftb_min(s->p->threads, ftb_threads_for(s->p->ctx, count)))              \
    schedule(static)
    for (int64_t t = 0; t < count; t++) {
        const int64_t from = mail->received_by_vertex ? receivers[t] : t;
        T->index[t] = receivers[t];
        memcpy((char *)T->values + (size_t)t * each, (const char *)mail->received + (size_t)from * each,
               each);
    }
    return GrB_SUCCESS;
}

static GrB_Info deliver(step *s)
{
    const ftb_mxv_product *p = s->p;
    const int64_t edges = p->push ? ftb_vertex_count(&s->work, &p->edges, &s->senders) : 0;
    if (p->plain)
        return p->push
                   ? ftb_vertex_plain_push(&s->work, &p->edges, &s->senders, edges, s->mail.type, &s->mail)
                   : ftb_vertex_plain_pull(&s->work, &p->edges, &s->senders, s->mail.type, &s->mail);
    if (p->push)
        return s->first ? ftb_vertex_first_push(&s->work, &p->edges, &s->senders, edges, &s->mail)
                        : ftb_vertex_push(&s->work, &p->edges, &s->senders, edges, &s->mail);
    return s->first ? ftb_vertex_first_pull(&s->work, &p->edges, &s->senders, &s->mail)
                    : ftb_vertex_pull(&s->work, &p->edges, &s->senders, &s->mail);
}

GrB_Info ftb_mxv_run(ftb_vector *T, const ftb_mxv_product *p)
{
    step s = {.p = p, .own = {.form = FTB_VECTOR_LIST}};
    *T = (ftb_vector){.form = FTB_VECTOR_LIST};
    GrB_Info info;
    FTB_CHECK(prepare(&s));
    info = deliver(&s);
    if (info == GrB_SUCCESS)
        info = take_result(T, &s);
done:
    ftb_vertex_workers_delete(&s.work);
    for (size_t r = 0; r < sizeof s.mail.rooms / sizeof *s.mail.rooms; r++)
        ftb_delete(s.mail.rooms[r].at);
    ftb_delete(s.mail.open.at);
    ftb_delete(s.mail.marks);
    ftb_delete(s.takers);
    ftb_program_delete(s.program);
    ftb_vector_clear(&s.own);
    return info;
}

/* ---- what a plan asks */

int64_t ftb_mxv_edges(FtB_Context ctx, const ftb_pattern *by_sender, const ftb_vector *u)
{
    const ftb_vertex_work w = {.ctx = ctx, .nthreads = ftb_threads(ctx)};
    const ftb_vertex_edges edges = {.rows = {by_sender, NULL}};
    const ftb_vertex_list senders = {u->index, u->nvals};
    int64_t count = 0;
    if (u->form != FTB_VECTOR_BITMAP)
        return u->form == FTB_VECTOR_DENSE ? by_sender->nvals : ftb_vertex_count(&w, &edges, &senders);
#pragma omp parallel for num_threads(ftb_threads_for(ctx, u->size)) schedule(static) reduction(+ : count)
    for (int64_t i = 0; i < u->size; i++)
        count += u->present[i] ? by_sender->rowptr[i + 1] - by_sender->rowptr[i] : 0;
    return count;
}

bool ftb_mxv_may_push(int64_t receivers, int64_t edges) { return ftb_vertex_may_push(receivers, edges); }

/* ---- a product of all rows */

int64_t ftb_mxv_admitted(int64_t *list, const ftb_vector *M, const ftb_mask *mask, bool complement)
{
    const bool some = M->form == FTB_VECTOR_LIST;
    const int64_t most = some ? M->nvals : M->size;
    int64_t count = 0;
    for (int64_t t = 0; t < most; t++) {
        const bool has = !M->present || M->present[t];
        list[count] = some ? M->index[t] : t;
        count += (has && ftb_mask_admits(mask, t)) != complement;
    }
    return count;
}

void ftb_mxv_mark(ftb_vector *T, const ftb_pattern *rows, const int64_t *list, int64_t count)
{
    for (int64_t t = 0; t < count; t++) {
        const int64_t i = list ? list[t] : t;
        T->present[i] = rows->rowptr[i + 1] > rows->rowptr[i];
        T->nvals += T->present[i];
    }
}

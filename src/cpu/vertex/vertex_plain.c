/* Messages of one value that are what was sent, or that and the edge's value by +, - or *, of min, max and
 * plus: loops that evaluate no text. A push adds to the receivers in place, where a mark says whether
 * something is there; the senders' order is that of a pull, so bits are those of all other loops. */
#include "cpu/vertex/vertex_parts.h"
#include "cpu/vertex/vertex_test.h"
#include "expr/scalar.h"
#include "expr/tree.h"

#define INLINE static inline __attribute__((always_inline))

/* The mail's rooms. */
enum { ACTIVE, RECEIVERS, RECEIVED, SENT, WORDS, SCRATCH, MESSAGES, KEPT };

typedef struct plain {
    const ftb_vertex_work *w;
    const ftb_vertex_edges *by;
    const ftb_vertex_list *senders;
    const void *sent,
        *edges; /* of the type that is reduced: sent of each sender, or by vertex; edges or NULL: 1 */
    const uint64_t *active, *open; /* of a pull; open NULL: all */
    uint64_t *marks;               /* of a push: who received */
    int64_t first, last;           /* and the part of the receivers that a thread has */
    void *received;                /* by vertex, or of each receiver */
    int64_t *receiver;
    uint64_t *words; /* of a push of few: receiver and place of each message */
    void *messages;
} plain;

/* ---- what the loops know */

/* What was sent, or that and the edge's value, by an operator that leaves nothing behind that could show. */
ftb_vertex_plain ftb_vertex_plain_of(const ftb_expr *text, const char *sent)
{
    if (!text)
        return FTB_PLAIN_NONE;
    const ftb_node *root = &text->nodes[text->root];
    if (root->op == FTB_OP_NAME)
        return ftb_tree_is_name(text, text->root, sent) ? FTB_PLAIN_COPY : FTB_PLAIN_NONE;
    if ((root->op != FTB_OP_ADD && root->op != FTB_OP_SUB && root->op != FTB_OP_MUL) || root->count != 2)
        return FTB_PLAIN_NONE;
    const int left = ftb_tree_arg(text, text->root, 0), right = ftb_tree_arg(text, text->root, 1);
    const bool as_said = ftb_tree_is_name(text, left, sent) && ftb_tree_is_name(text, right, "edge");
    const bool turned = ftb_tree_is_name(text, left, "edge") && ftb_tree_is_name(text, right, sent);
    if (!as_said && (!turned || root->op == FTB_OP_SUB))
        return FTB_PLAIN_NONE;
    return root->op == FTB_OP_ADD ? FTB_PLAIN_ADD : root->op == FTB_OP_SUB ? FTB_PLAIN_SUB : FTB_PLAIN_MUL;
}

bool ftb_vertex_plain_knows(ftb_monoid monoid, FtB_Type reduced)
{
    return (monoid == FTB_MIN || monoid == FTB_MAX || monoid == FTB_PLUS) &&
           (reduced == FTB_INT64 || reduced == FTB_FP32 || reduced == FTB_FP64);
}

/* ---- loops */

/* Entries of row v whose receivers are the part's. */
static inline int64_t not_below(const ftb_pattern *p, int64_t v, int64_t column)
{
    int64_t low = p->rowptr[v], count = p->rowptr[v + 1] - low;
    while (count > 0) {
        const int64_t half = count / 2;
        const bool below = ftb_col(p, low + half) < column;
        low = below ? low + half + 1 : low;
        count = below ? count - half - 1 : half;
    }
    return low;
}
static inline int64_t first_of(const plain *x, const ftb_pattern *p, int64_t v)
{
    return x->first > 0 ? not_below(p, v, x->first) : p->rowptr[v];
}
static inline int64_t end_of(const plain *x, const ftb_pattern *p, int64_t v)
{
    return x->last < x->w->n ? not_below(p, v, x->last) : p->rowptr[v + 1];
}

static inline bool is_set(const uint64_t *bits, int64_t v) { return bits[v / 64] >> (v % 64) & 1; }

#define LOOPS(suffix, T, U)                                                                                  \
    INLINE T message_##suffix(ftb_vertex_plain form, T sent, T edge)                                         \
    {                                                                                                        \
        return form == FTB_PLAIN_COPY  ? sent                                                                \
               : form == FTB_PLAIN_ADD ? (T)((U)sent + (U)edge)                                              \
               : form == FTB_PLAIN_SUB ? (T)((U)sent - (U)edge)                                              \
                                       : (T)((U)sent * (U)edge);                                             \
    }                                                                                                        \
    INLINE T join_##suffix(ftb_monoid m, T x, T y)                                                           \
    {                                                                                                        \
        return m == FTB_MIN   ? ftb_least_##suffix(x, y)                                                     \
               : m == FTB_MAX ? ftb_greatest_##suffix(x, y)                                                  \
                              : (T)((U)x + (U)y);                                                            \
    }                                                                                                        \
    INLINE T begin_##suffix(ftb_monoid m, T x) { return m == FTB_PLUS ? (T)(0 + x) : x; }                    \
    INLINE void push_##suffix(const plain *x, int which, ftb_monoid m, ftb_vertex_plain form)                \
    {                                                                                                        \
        const ftb_pattern *p = x->by->rows[which];                                                           \
        const int64_t *from = x->by->from[which];                                                            \
        const T *values = x->edges, *all = x->sent;                                                          \
        T *received = x->received;                                                                           \
        for (int64_t t = 0; t < x->senders->count; t++) {                                                    \
            const int64_t v = x->senders->list ? x->senders->list[t] : t, end = end_of(x, p, v);             \
            const T sent = all[t];                                                                           \
            for (int64_t e = first_of(x, p, v); e < end; e++) {                                              \
                const int64_t to = ftb_col(p, e);                                                            \
                const T edge = form == FTB_PLAIN_COPY || !values ? (T)1 : values[from ? from[e] : e];        \
                const T message = message_##suffix(form, sent, edge);                                        \
                const uint64_t mark = UINT64_C(1) << (to % 64), word = x->marks[to / 64];                    \
                received[to] =                                                                               \
                    word & mark ? join_##suffix(m, received[to], message) : begin_##suffix(m, message);      \
                x->marks[to / 64] = word | mark;                                                             \
            }                                                                                                \
        }                                                                                                    \
    }                                                                                                        \
    INLINE int64_t gather_##suffix(const plain *x, int which, int64_t at, int bits, ftb_vertex_plain form)   \
    {                                                                                                        \
        const ftb_pattern *p = x->by->rows[which];                                                           \
        const int64_t *from = x->by->from[which];                                                            \
        const T *values = x->edges, *all = x->sent;                                                          \
        T *messages = x->messages;                                                                           \
        for (int64_t t = 0; t < x->senders->count; t++) {                                                    \
            const int64_t v = x->senders->list ? x->senders->list[t] : t;                                    \
            for (int64_t e = p->rowptr[v]; e < p->rowptr[v + 1]; e++, at++) {                                \
                const T edge = form == FTB_PLAIN_COPY || !values ? (T)1 : values[from ? from[e] : e];        \
                messages[at] = message_##suffix(form, all[t], edge);                                         \
                x->words[at] = (uint64_t)ftb_col(p, e) << bits | (uint64_t)at;                               \
            }                                                                                                \
        }                                                                                                    \
        return at;                                                                                           \
    }                                                                                                        \
    INLINE int64_t reduce_##suffix(const plain *x, const uint64_t *words, int64_t count, int bits,           \
                                   ftb_monoid m)                                                             \
    {                                                                                                        \
        const uint64_t places = (UINT64_C(1) << bits) - 1;                                                   \
        const T *messages = x->messages;                                                                     \
        T *received = x->received;                                                                           \
        int64_t last = -1;                                                                                   \
        for (int64_t q = 0; q < count; q++) {                                                                \
            const int64_t to = (int64_t)(words[q] >> bits);                                                  \
            const T message = messages[words[q] & places];                                                   \
            if (last >= 0 && x->receiver[last] == to) {                                                      \
                received[last] = join_##suffix(m, received[last], message);                                  \
            } else {                                                                                         \
                x->receiver[++last] = to;                                                                    \
                received[last] = begin_##suffix(m, message);                                                 \
            }                                                                                                \
        }                                                                                                    \
        return last + 1;                                                                                     \
    }                                                                                                        \
    INLINE int64_t pull_##suffix(const plain *x, int64_t begin, int64_t end, ftb_monoid m,                   \
                                 ftb_vertex_plain form)                                                      \
    {                                                                                                        \
        const T *values = x->edges, *sent = x->sent;                                                         \
        int64_t at = begin;                                                                                  \
        for (int64_t i = begin; i < end; i++) {                                                              \
            T got = 0;                                                                                       \
            bool there = false;                                                                              \
            if (x->open && !is_set(x->open, i))                                                              \
                continue;                                                                                    \
            for (int which = 0; which < 2 && x->by->rows[which]; which++) {                                  \
                const ftb_pattern *p = x->by->rows[which];                                                   \
                const int64_t *from = x->by->from[which];                                                    \
                for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++) {                                  \
                    const int64_t v = ftb_col(p, e);                                                         \
                    if (!is_set(x->active, v))                                                               \
                        continue;                                                                            \
                    const T edge = form == FTB_PLAIN_COPY || !values ? (T)1 : values[from ? from[e] : e];    \
                    const T message = message_##suffix(form, sent[v], edge);                                 \
                    got = there ? join_##suffix(m, got, message) : begin_##suffix(m, message);               \
                    there = true;                                                                            \
                }                                                                                            \
            }                                                                                                \
            ((T *)x->received)[i] = got;                                                                     \
            x->receiver[at] = i;                                                                             \
            at += there;                                                                                     \
        }                                                                                                    \
        return at - begin;                                                                                   \
    }
LOOPS(i64, int64_t, uint64_t) /* integers wrap */
LOOPS(f32, float, float)
LOOPS(f64, double, double)

/* A function for each type, reducer and form. */
#define PAIR(suffix, monoid, form)                                                                           \
    static void push_##suffix##_##monoid##_##form(const plain *x, int which)                                 \
    {                                                                                                        \
        push_##suffix(x, which, FTB_##monoid, FTB_PLAIN_##form);                                             \
    }                                                                                                        \
    static int64_t gather_##suffix##_##monoid##_##form(const plain *x, int which, int64_t at, int bits)      \
    {                                                                                                        \
        return gather_##suffix(x, which, at, bits, FTB_PLAIN_##form);                                        \
    }                                                                                                        \
    static int64_t reduce_##suffix##_##monoid##_##form(const plain *x, const uint64_t *words, int64_t count, \
                                                       int bits)                                             \
    {                                                                                                        \
        return reduce_##suffix(x, words, count, bits, FTB_##monoid);                                         \
    }                                                                                                        \
    static int64_t pull_##suffix##_##monoid##_##form(const void *x, int64_t begin, int64_t end)              \
    {                                                                                                        \
        return pull_##suffix(x, begin, end, FTB_##monoid, FTB_PLAIN_##form);                                 \
    }
#define PAIRS_OF(suffix, monoid)                                                                             \
    PAIR(suffix, monoid, COPY) PAIR(suffix, monoid, ADD) PAIR(suffix, monoid, SUB) PAIR(suffix, monoid, MUL)
#define PAIRS(suffix) PAIRS_OF(suffix, MIN) PAIRS_OF(suffix, MAX) PAIRS_OF(suffix, PLUS)
PAIRS(i64)
PAIRS(f32)
PAIRS(f64)

typedef struct loops {
    void (*push)(const plain *x, int which);
    int64_t (*gather)(const plain *x, int which, int64_t at, int bits);
    int64_t (*reduce)(const plain *x, const uint64_t *words, int64_t count, int bits);
    int64_t (*pull)(const void *x, int64_t begin, int64_t end);
} loops;
#define CELL(suffix, monoid, form)                                                                           \
    {                                                                                                        \
        push_##suffix##_##monoid##_##form, gather_##suffix##_##monoid##_##form,                              \
            reduce_##suffix##_##monoid##_##form, pull_##suffix##_##monoid##_##form                           \
    }
#define CELLS_OF(suffix, monoid)                                                                             \
    {                                                                                                        \
        CELL(suffix, monoid, COPY), CELL(suffix, monoid, ADD), CELL(suffix, monoid, SUB),                    \
            CELL(suffix, monoid, MUL)                                                                        \
    }
#define CELLS(suffix)                                                                                        \
    {                                                                                                        \
        CELLS_OF(suffix, MIN), CELLS_OF(suffix, MAX), CELLS_OF(suffix, PLUS)                                 \
    }
static const loops all_loops[3][3][4] = {CELLS(i64), CELLS(f32), CELLS(f64)};

static const loops *loops_of(const ftb_vertex_work *w)
{
    const int type = w->reduced == FTB_INT64 ? 0 : w->reduced == FTB_FP32 ? 1 : 2;
    const int monoid = w->monoid == FTB_MIN ? 0 : w->monoid == FTB_MAX ? 1 : 2;
    return &all_loops[type][monoid][w->plain - 1];
}

/* ---- what was sent, in the type that is reduced */

static GrB_Info convert(plain *x, ftb_vertex_mail *mail, FtB_Type type, bool all)
{
    const ftb_vertex_work *w = x->w;
    const int64_t count = all ? w->senders : x->senders->count;
    const size_t size = FtB_Type_size(type), wide = FtB_Type_size(w->reduced);
    const bool in_place = mail->by_vertex == (all || !x->senders->list);
    x->sent = mail->sent;
    if (in_place && type == w->reduced && mail->ld == 1)
        return GrB_SUCCESS;
    char *to = ftb_vertex_need(w->ctx, &mail->rooms[SENT], count, ftb_max(size, wide));
    if (!to)
        return ftb_nomem();
    for (int64_t t = 0; t < count; t++) { /* one behind the other, then all of them, in place */
        const int64_t from = in_place ? t : x->senders->list[t];
        memcpy(to + (size_t)t * size, (const char *)mail->sent + (size_t)(from * mail->ld) * size, size);
    }
    ftb_cast(to, w->reduced, to, type, count);
    x->sent = to;
    return GrB_SUCCESS;
}

static GrB_Info need(plain *x, ftb_vertex_mail *mail, int64_t count)
{
    const ftb_vertex_work *w = x->w;
    x->receiver = ftb_vertex_need(w->ctx, &mail->rooms[RECEIVERS], count, sizeof *x->receiver);
    x->received = ftb_vertex_need(w->ctx, &mail->rooms[RECEIVED], count, FtB_Type_size(w->reduced));
    x->edges = w->edges;
    return x->receiver && x->received ? GrB_SUCCESS : ftb_nomem();
}

static void receive(const plain *x, ftb_vertex_mail *mail, int64_t count, bool by_vertex)
{
    mail->receivers = (ftb_vertex_list){x->receiver, count};
    mail->received = x->received;
    mail->ldr = 1;
    mail->received_by_vertex = by_vertex;
}

/* Of receivers whose values lie one behind the other. */
static GrB_Info drop_settled(const plain *x, ftb_vertex_mail *mail)
{
    const ftb_vertex_work *w = x->w;
    const size_t size = FtB_Type_size(w->reduced);
    char *received = x->received;
    int64_t *kept = ftb_vertex_need(w->ctx, &mail->rooms[KEPT], mail->receivers.count, sizeof *kept);
    if (!kept)
        return ftb_nomem();
    for (int64_t t = 0; t < mail->receivers.count; t++)
        kept[t] = t;
    mail->receivers.count = ftb_vertex_keep_open(w, x->receiver, kept, NULL, mail->receivers.count);
    for (int64_t t = 0; t < mail->receivers.count; t++)
        memcpy(received + (size_t)t * size, received + (size_t)kept[t] * size, size);
    return GrB_SUCCESS;
}

/* In memory as long as the messages are many. */
static GrB_Info push_few(plain *x, int64_t edges, ftb_vertex_mail *mail)
{
    const ftb_vertex_work *w = x->w;
    const int bits = ftb_vertex_bits_of(edges);
    x->words = ftb_vertex_need(w->ctx, &mail->rooms[WORDS], edges, sizeof *x->words);
    uint64_t *scratch = ftb_vertex_need(w->ctx, &mail->rooms[SCRATCH], edges, sizeof *scratch);
    x->messages = ftb_vertex_need(w->ctx, &mail->rooms[MESSAGES], edges, FtB_Type_size(w->reduced));
    if (!x->words || !scratch || !x->messages)
        return ftb_nomem();
    int64_t count = 0;
    for (int which = 0; which < 2 && x->by->rows[which]; which++)
        count = loops_of(w)->gather(x, which, count, bits);
    const uint64_t *sorted = ftb_sort_by(x->words, scratch, count, bits, bits + ftb_vertex_bits_of(w->n),
                                         ftb_min(w->nthreads, ftb_threads_for(w->ctx, count)));
    count = loops_of(w)->reduce(x, sorted, count, bits);
    receive(x, mail, count, false);
    return w->settled >= 0 ? drop_settled(x, mail) : GrB_SUCCESS;
}

enum { SAMPLED = 1024, PARTS = 64 };

/* Cuts the receivers into parts of about equal entries, by the columns of some; at multiples of 64, so that
 * no two parts share a word of marks. */
static void cut_receivers(const plain *x, int64_t *cut, int parts)
{
    const ftb_pattern *p = x->by->rows[0];
    uint64_t columns[SAMPLED], scratch[SAMPLED];
    const int64_t count = ftb_min(SAMPLED, p->nvals);
    for (int64_t s = 0; s < count; s++)
        columns[s] = (uint64_t)ftb_col(p, (int64_t)((double)p->nvals * (double)s / (double)count));
    const uint64_t *sorted = ftb_sort(columns, scratch, count, 0, ftb_vertex_bits_of(x->w->n));
    cut[0] = 0;
    for (int c = 1; c < parts; c++)
        cut[c] = count > 0 ? (int64_t)sorted[count * c / parts] / 64 * 64 : 0;
    cut[parts] = x->w->n;
}

/* In memory as long as the graph. */
static GrB_Info push_many(plain *x, int64_t edges, ftb_vertex_mail *mail)
{
    const ftb_vertex_work *w = x->w;
    const int64_t words = w->n / 64 + 1;
    const int parts = ftb_min(ftb_min(w->nthreads, ftb_threads_for(w->ctx, edges)), PARTS);
    int64_t cut[PARTS + 1], count = 0;
    if (!mail->marks)
        mail->marks = ftb_new0(w->ctx, words, sizeof *mail->marks);
    if (!mail->marks)
        return ftb_nomem();
    x->marks = mail->marks;
    cut_receivers(x, cut, parts);
#pragma omp parallel for num_threads(parts) schedule(static, 1) if (parts > 1)
    for (int part = 0; part < parts; part++) {
        plain of = *x;
        of.first = cut[part];
        of.last = cut[part + 1];
        for (int which = 0; which < 2 && x->by->rows[which] && of.first < of.last; which++)
            loops_of(w)->push(&of, which);
    }
    for (int64_t word = 0; word < words; x->marks[word++] = 0)
        for (uint64_t bits = x->marks[word]; bits; bits &= bits - 1)
            x->receiver[count++] = 64 * word + __builtin_ctzll(bits);
    receive(x, mail, ftb_vertex_keep_open(w, x->receiver, NULL, NULL, count), true);
    return GrB_SUCCESS;
}

GrB_Info ftb_vertex_plain_push(const ftb_vertex_work *w, const ftb_vertex_edges *by_sender,
                               const ftb_vertex_list *senders, int64_t edges, FtB_Type sent,
                               ftb_vertex_mail *mail)
{
    const bool few = edges < w->n / FTB_VERTEX_FEW;
    plain x = {.w = w, .by = by_sender, .senders = senders};
    GrB_Info info = need(&x, mail, few ? edges : w->n);
    if (info == GrB_SUCCESS)
        info = convert(&x, mail, sent, false);
    if (info == GrB_SUCCESS)
        info = few ? push_few(&x, edges, mail) : push_many(&x, edges, mail);
    return info;
}

GrB_Info ftb_vertex_plain_pull(const ftb_vertex_work *w, const ftb_vertex_edges *by_receiver,
                               const ftb_vertex_list *senders, FtB_Type sent, ftb_vertex_mail *mail)
{
    const int64_t words = w->senders / 64 + 1;
    plain x = {.w = w, .by = by_receiver, .senders = senders};
    uint64_t *active = ftb_vertex_need(w->ctx, &mail->rooms[ACTIVE], words, sizeof *active);
    if (!active)
        return ftb_nomem();
    memset(active, 0, (size_t)words * sizeof *active);
    for (int64_t t = 0; t < senders->count; t++) {
        const int64_t v = senders->list ? senders->list[t] : t;
        active[v / 64] |= UINT64_C(1) << (v % 64);
    }
    x.active = active;
    int64_t count = 0;
    GrB_Info info = need(&x, mail, w->n);
    if (info == GrB_SUCCESS)
        info = convert(&x, mail, sent, true);
    if (info == GrB_SUCCESS)
        info = ftb_vertex_open(&x.open, w, mail);
    if (info == GrB_SUCCESS)
        info = ftb_vertex_by_parts(
            &(ftb_vertex_parts){
                .w = w, .by = by_receiver, .rows = loops_of(w)->pull, .arg = &x, .lists = {x.receiver}},
            &count);
    receive(&x, mail, count, true);
    return info;
}

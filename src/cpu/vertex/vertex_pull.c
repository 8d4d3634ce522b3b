/* Messages of many senders: every vertex looks through its edges for those that are active, which are bits.
 */
#include "cpu/vertex/vertex_work.h"

#include <omp.h>

/* The mail's rooms; those of a push are others. */
enum { ACTIVE, HIT, RECEIVED, RECEIVERS };

typedef struct pull {
    const ftb_vertex_work *w;
    const ftb_vertex_edges *by;
    const ftb_vertex_mail *mail;
    const uint64_t *active, *open; /* open NULL: all are */
    uint8_t *hit;
    char *received;
} pull;

static inline bool is_active(const uint64_t *bits, int64_t v) { return bits[v / 64] >> (v % 64) & 1; }

/* Rows first .. last - 1. */
static void pull_rows(const pull *x, ftb_vertex_worker *k, int64_t first, int64_t last)
{
    const size_t row = (size_t)x->w->width * FtB_Type_size(x->w->reduced);
    for (int64_t i = first; i < last; i++) {
        char *to = x->received + (size_t)i * row;
        bool fresh = true;
        x->hit[i] = 0;
        if (x->open && !is_active(x->open, i))
            continue;
        for (int which = 0; which < 2 && x->by->rows[which]; which++) {
            const ftb_pattern *p = x->by->rows[which];
            const int64_t *from = x->by->from[which];
            for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++) {
                const int64_t v = ftb_col(p, e);
                if (!is_active(x->active, v))
                    continue;
                ftb_vertex_put(x->w, k, to, fresh, i, v, from ? from[e] : e);
                fresh = false;
            }
        }
        x->hit[i] = !fresh;
    }
    ftb_vertex_flush(x->w, k);
}

static GrB_Info pull_all(const pull *x)
{
    const ftb_vertex_work *w = x->w;
    const ftb_pattern *a = x->by->rows[0], *b = x->by->rows[1];
    const int64_t all = a->nvals + (b ? b->nvals : 0) + w->n;
    const int threads = ftb_min(w->nthreads, ftb_threads_for(w->ctx, all));
    const int64_t parts = threads == 1 ? 1 : 32 * (int64_t)threads;
    for (int t = 0; t < threads; t++)
        ftb_vertex_ready(w, &w->workers[t], FTB_VERTEX_COMBINE, x->mail);
    atomic_bool stopped = false;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int64_t p = 0; p < parts; p++)
        if (!ftb_stops(w->ctx, &stopped))
            pull_rows(x, &w->workers[omp_get_thread_num()],
                      ftb_rows_cut(w->n, a->rowptr, b ? b->rowptr : NULL, p, parts),
                      ftb_rows_cut(w->n, a->rowptr, b ? b->rowptr : NULL, p + 1, parts));
    return ftb_check_stopped(w->ctx, &stopped);
}

GrB_Info ftb_vertex_pull(const ftb_vertex_work *w, const ftb_vertex_edges *by_receiver,
                         const ftb_vertex_list *senders, ftb_vertex_mail *mail)
{
    ftb_vertex_room *rooms = mail->rooms;
    const int64_t words = w->senders / 64 + 1;
    uint64_t *active = ftb_vertex_need(w->ctx, &rooms[ACTIVE], words, sizeof *active);
    pull x = {.w = w, .by = by_receiver, .mail = mail, .active = active};
    x.hit = ftb_vertex_need(w->ctx, &rooms[HIT], w->n, 1);
    x.received =
        ftb_vertex_need(w->ctx, &rooms[RECEIVED], w->n, (size_t)w->width * FtB_Type_size(w->reduced));
    int64_t *receiver = ftb_vertex_need(w->ctx, &rooms[RECEIVERS], w->n, sizeof *receiver), count = 0;
    if (!active || !x.hit || !x.received || !receiver)
        return ftb_nomem();
    memset(active, 0, (size_t)words * sizeof *active);
    for (int64_t t = 0; t < senders->count; t++) {
        const int64_t v = senders->list ? senders->list[t] : t;
        active[v / 64] |= UINT64_C(1) << (v % 64);
    }
    GrB_Info info = ftb_vertex_open(&x.open, w, mail);
    if (info == GrB_SUCCESS)
        info = pull_all(&x);
    if (info != GrB_SUCCESS)
        return info;
    for (int64_t i = 0; i < w->n; i++) {
        receiver[count] = i;
        count += x.hit[i];
    }
    mail->receivers = (ftb_vertex_list){receiver, count};
    mail->received = x.received;
    mail->ldr = w->width;
    mail->received_by_vertex = true;
    return GrB_SUCCESS;
}

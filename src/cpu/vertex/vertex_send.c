/* What vertices send, or another text over their own state, batch by batch. */
#include "cpu/message_load.h"
#include "cpu/vertex/vertex_work.h"

#include <omp.h>

static void send_batch(const ftb_vertex_work *w, const ftb_vertex_worker *k, int which,
                       const ftb_vertex_list *senders, int64_t first, char *out)
{
    const ftb_vertex_text *text = &w->texts[which];
    const int64_t count = ftb_min(w->room, senders->count - first);
    const ftb_places places[FTB_SIDES] = {
        [FTB_SIDE_ROW] = {.index = senders->list ? senders->list + first : NULL, .first = first}};
    ftb_vertex_evaluate(k, which, count, places,
                        out + (size_t)(first * text->width) * FtB_Type_size(text->type));
}

void ftb_vertex_send(const ftb_vertex_work *w, int text, const ftb_vertex_list *senders, void *out)
{
    const int64_t count = senders->count, batches = (count + w->room - 1) / w->room;
    const int threads = ftb_min(w->nthreads, ftb_threads_for_values(w->ctx, count * w->texts[text].width));
    const ftb_vertex_mail none = {.sent = NULL};
    for (int t = 0; t < threads; t++)
        ftb_vertex_ready(w, &w->workers[t], text, &none);
    if (threads == 1) {
        for (int64_t b = 0; b < batches; b++)
            send_batch(w, w->workers, text, senders, b * w->room, out);
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t b = 0; b < batches; b++)
        send_batch(w, &w->workers[omp_get_thread_num()], text, senders, b * w->room, out);
}

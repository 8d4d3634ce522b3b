/* Who takes no messages any more: bits of all vertices for who looks at all of them, a list's for who has
 * one. A text that compares a field with a number is a loop over the field; others are evaluated. */
#include "cpu/message_load.h"
#include "cpu/vertex/vertex_test.h"

#include <omp.h>

/* ---- bits */

/* 64 truths, a byte each, as a word: the first is the lowest bit. Eight bytes of 0 or 1 times this number
 * have their bits in the highest byte. */
static uint64_t pack(const uint8_t truth[64])
{
    uint64_t word = 0;
    for (int b = 0; b < 8; b++) {
        uint64_t eight = 0;
        for (int t = 0; t < 8; t++)
            eight |= (uint64_t)truth[8 * b + t] << (8 * t);
        word |= (eight * UINT64_C(0x0102040810204080) >> 56) << (8 * b);
    }
    return word;
}

/* Words first .. last - 1 of the vertices that the test says are not settled. */
#define OPEN(name, T, from, to)                                                                              \
    static void name(const ftb_vertex_test *test, const T *x, int64_t n, uint64_t *words, int64_t first,     \
                     int64_t last)                                                                           \
    {                                                                                                        \
        const T least = (T)test->from, most = (T)test->to;                                                   \
        const uint8_t in = test->beyond;                                                                     \
        uint8_t truth[64];                                                                                   \
        for (int64_t w = first; w < last; w++) {                                                             \
            const int64_t count = ftb_min(n - 64 * w, 64);                                                   \
            const T *at = x + 64 * w * test->ld;                                                             \
            if (count < 64)                                                                                  \
                memset(truth, 0, sizeof truth);                                                              \
            if (count == 64 && test->ld == 1)                                                                \
                for (int t = 0; t < 64; t++)                                                                 \
                    truth[t] = (uint8_t)((at[t] >= least) & (at[t] <= most)) ^ in ^ 1;                       \
            else                                                                                             \
                for (int64_t t = 0; t < count; t++)                                                          \
                    truth[t] = (uint8_t)((at[t * test->ld] >= least) & (at[t * test->ld] <= most)) ^ in ^ 1; \
            words[w] = pack(truth);                                                                          \
        }                                                                                                    \
    }
OPEN(open_i32, int32_t, least, most)
OPEN(open_i64, int64_t, least, most)
OPEN(open_f32, float, low, high)
OPEN(open_f64, double, low, high)

static void open_by_test(const ftb_vertex_work *w, uint64_t *words, int64_t first, int64_t last)
{
    const ftb_vertex_test *test = &w->test;
    const void *x = w->states[test->state];
    if (test->type == FTB_INT32)
        open_i32(test, x, w->n, words, first, last);
    else if (test->type == FTB_INT64)
        open_i64(test, x, w->n, words, first, last);
    else if (test->type == FTB_FP32)
        open_f32(test, x, w->n, words, first, last);
    else
        open_f64(test, x, w->n, words, first, last);
}

/* ---- texts */

/* open[t]: whether vertex first + t, or list[first + t], is not settled. */
static void evaluate(const ftb_vertex_work *w, const ftb_vertex_worker *k, const int64_t *list, int64_t first,
                     int64_t count, uint8_t *open)
{
    const ftb_vertex_text *text = &w->texts[w->settled];
    const ftb_places places[FTB_SIDES] = {
        [FTB_SIDE_ROW] = {.index = list ? list + first : NULL, .first = first}};
    uint8_t *truth = k->values;
    ftb_vertex_evaluate(k, w->settled, count, places, k->values);
    ftb_cast(truth, FTB_BOOL, k->values, text->type, count * text->width);
    for (int64_t t = 0; t < count; t++) {
        bool all = true;
        for (int64_t f = 0; f < text->width; f++)
            all = all && truth[t * text->width + f];
        open[t] = !all;
    }
}

static void open_by_text(const ftb_vertex_work *w, const ftb_vertex_worker *k, uint64_t *words, int64_t first,
                         int64_t last)
{
    const int64_t end = ftb_min(64 * last, w->n);
    memset(words + first, 0, (size_t)(last - first) * sizeof *words);
    for (int64_t i = 64 * first; i < end; i += w->room) {
        const int64_t count = ftb_min(w->room, end - i);
        evaluate(w, k, NULL, i, count, k->changed);
        for (int64_t t = 0; t < count; t++)
            words[(i + t) / 64] |= (uint64_t)k->changed[t] << ((i + t) % 64);
    }
}

static void ready(const ftb_vertex_work *w, int threads)
{
    const ftb_vertex_mail none = {.sent = NULL};
    for (int t = 0; !w->test.there && t < threads; t++)
        ftb_vertex_ready(w, &w->workers[t], w->settled, &none);
}

GrB_Info ftb_vertex_open(const uint64_t **open, const ftb_vertex_work *w, ftb_vertex_mail *mail)
{
    const int64_t count = w->n / 64 + 1, parts = (count + FTB_VERTEX_OPEN_WORDS - 1) / FTB_VERTEX_OPEN_WORDS;
    *open = w->takers;
    if (w->takers || w->settled < 0)
        return GrB_SUCCESS;
    uint64_t *words = ftb_vertex_need(w->ctx, &mail->open, count, sizeof *words);
    if (!words)
        return ftb_nomem();
    words[count - 1] = 0; /* of no vertex, where n is a multiple of 64 */
    const int threads =
        ftb_min(w->nthreads, ftb_threads_for_values(w->ctx, w->n * w->texts[w->settled].width));
    ready(w, threads);
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (int64_t p = 0; p < parts; p++) {
        const int64_t first = p * FTB_VERTEX_OPEN_WORDS,
                      last = ftb_min(first + FTB_VERTEX_OPEN_WORDS, (w->n + 63) / 64);
        if (w->test.there)
            open_by_test(w, words, first, last);
        else
            open_by_text(w, &w->workers[omp_get_thread_num()], words, first, last);
    }
    *open = words;
    return GrB_SUCCESS;
}

int64_t ftb_vertex_keep_open(const ftb_vertex_work *w, int64_t *list, int64_t *with, int64_t *also,
                             int64_t count)
{
    if (w->settled < 0)
        return count;
    const ftb_vertex_worker *k = w->workers;
    const void *x = w->test.there ? w->states[w->test.state] : NULL;
    int64_t kept = 0;
    ready(w, 1);
    for (int64_t first = 0; first < count; first += w->room) {
        const int64_t batch = ftb_min(w->room, count - first);
        if (!w->test.there)
            evaluate(w, k, list, first, batch, k->changed);
        for (int64_t t = 0; t < batch; t++) {
            const int64_t at = first + t;
            const bool open = x ? !ftb_vertex_shut(&w->test, w->test.type, x, list[at]) : (bool)k->changed[t];
            list[kept] = list[at];
            if (with)
                with[kept] = with[at];
            if (also)
                also[kept] = also[at];
            kept += open;
        }
    }
    return kept;
}

/* Vertices apply what they received, batch by batch: all texts are computed over the old state before any of
 * the batch is written. Batches are as long whatever the threads, and sums are of batches, in their order:
 * bits are the same. */
#include "cpu/message_load.h"
#include "cpu/vertex/vertex_work.h"

#include <omp.h>

#define INLINE static inline __attribute__((always_inline))

typedef struct apply {
    const ftb_vertex_work *w;
    const ftb_vertex_mail *mail;
    const ftb_vertex_list *who;
    uint8_t *flags; /* of each that applies: whether it is active; NULL: all are */
    double *parts;  /* of each batch: sums */
} apply;

static inline int64_t vertex_at(const ftb_vertex_list *v, int64_t t) { return v->list ? v->list[t] : t; }

static char *row_of(const ftb_vertex_work *w, const ftb_vertex_field *f, int64_t v)
{
    return (char *)w->states[f->state] + (size_t)(v * f->ld) * FtB_Type_size(f->type);
}

static bool is_nan(FtB_Type type, const char *value)
{
    float few;
    double real;
    switch (type) {
    case FTB_FP32:
        memcpy(&few, value, sizeof few);
        return few != few;
    case FTB_FP64:
        memcpy(&real, value, sizeof real);
        return real != real;
    case FTB_FP16:
    case FTB_BF16:
        real = ftb_get_real(value, type, 0);
        return real != real;
    default:
        return false;
    }
}

/* Whether a row is another one. NaN is NaN, whatever its bits: which of several a reducer gives depends on
 * how it is computed. */
static bool differs(const ftb_vertex_field *f, const char *fresh, const char *old)
{
    const size_t size = FtB_Type_size(f->type), row = (size_t)f->ncols * size;
    if (memcmp(fresh, old, row) == 0)
        return false;
    for (size_t at = 0; at < row; at += size)
        if (memcmp(fresh + at, old + at, size) != 0 &&
            !(is_nan(f->type, fresh + at) && is_nan(f->type, old + at)))
            return true;
    return false;
}

/* Fields of one column, of the commonest types: which vertices are changed (NULL: nobody asks), and, with
 * `store`, written. Both are constants at each call, and so is what a list and a step are where fields lie
 * one behind the other: vectors then. */
#define COLUMN(name, T, U, nan)                                                                              \
    INLINE void name##_loop(T *restrict state, int64_t ld, const int64_t *list, const T *restrict fresh,     \
                            uint8_t *restrict changed, int64_t count, bool store)                            \
    {                                                                                                        \
        for (int64_t t = 0; t < count; t++) {                                                                \
            T *at = &state[(list ? list[t] : t) * ld];                                                       \
            const T old = *at, now = fresh[t];                                                               \
            U x, y;                                                                                          \
            memcpy(&x, &old, sizeof x);                                                                      \
            memcpy(&y, &now, sizeof y);                                                                      \
            const bool other = (x != y) & !(nan(old) & nan(now));                                            \
            if (changed)                                                                                     \
                changed[t] |= other;                                                                         \
            if (store)                                                                                       \
                *at = other ? now : old;                                                                     \
        }                                                                                                    \
    }                                                                                                        \
    static void name(T *state, int64_t ld, const int64_t *list, const T *fresh, uint8_t *changed,            \
                     int64_t count, bool store)                                                              \
    {                                                                                                        \
        if (list || ld != 1)                                                                                 \
            name##_loop(state, ld, list, fresh, changed, count, store);                                      \
        else if (!store)                                                                                     \
            name##_loop(state, 1, NULL, fresh, changed, count, false);                                       \
        else if (changed)                                                                                    \
            name##_loop(state, 1, NULL, fresh, changed, count, true);                                        \
        else                                                                                                 \
            name##_loop(state, 1, NULL, fresh, NULL, count, true);                                           \
    }
#define NAN_OF_REAL(x) ((x) != (x))
#define NAN_OF_INTEGER(x) false
COLUMN(column_32, int32_t, uint32_t, NAN_OF_INTEGER)
COLUMN(column_64, int64_t, uint64_t, NAN_OF_INTEGER)
COLUMN(column_f32, float, uint32_t, NAN_OF_REAL)
COLUMN(column_f64, double, uint64_t, NAN_OF_REAL)

/* Whether there is a loop for the field. */
static bool run_column(const ftb_vertex_field *f, void *state, const int64_t *list, const void *fresh,
                       uint8_t *changed, int64_t count, bool store)
{
    if (f->ncols != 1)
        return false;
    switch (f->type) {
    case FTB_INT32:
    case FTB_UINT32:
        column_32(state, f->ld, list, fresh, changed, count, store);
        return true;
    case FTB_INT64:
    case FTB_UINT64:
        column_64(state, f->ld, list, fresh, changed, count, store);
        return true;
    case FTB_FP32:
        column_f32(state, f->ld, list, fresh, changed, count, store);
        return true;
    case FTB_FP64:
        column_f64(state, f->ld, list, fresh, changed, count, store);
        return true;
    default:
        return false;
    }
}

/* Which vertices of a batch a field's new values change (NULL: nobody asks); with `store` they are written
 * where they do. */
static void compare(const ftb_vertex_work *w, const ftb_vertex_worker *k, int f, const int64_t *list,
                    int64_t first, int64_t count, uint8_t *changed, bool store)
{
    const ftb_vertex_field *field = &w->fields[f];
    const size_t row = (size_t)field->ncols * FtB_Type_size(field->type);
    const char *fresh = k->fresh[f];
    if (run_column(field, row_of(w, field, list ? 0 : first), list, fresh, changed, count, store))
        return;
    for (int64_t t = 0; t < count; t++) {
        char *at = row_of(w, field, list ? list[t] : first + t);
        const bool other = differs(field, fresh + (size_t)t * row, at);
        if (changed)
            changed[t] |= other;
        if (store && other)
            memcpy(at, fresh + (size_t)t * row, row);
    }
}

/* The new values of a batch, as they will be stored. */
static void compute(const apply *x, const ftb_vertex_worker *k, const ftb_places *places, int64_t count)
{
    const ftb_vertex_work *w = x->w;
    for (int f = 0; f < w->nfields; f++) {
        const ftb_vertex_field *field = &w->fields[f];
        ftb_vertex_evaluate(k, FTB_VERTEX_APPLY + f, count, places, k->fresh[f]);
        ftb_cast(k->fresh[f], field->type, k->fresh[f], w->texts[FTB_VERTEX_APPLY + f].type,
                 count * field->ncols);
    }
}

static void find_active(const apply *x, const ftb_vertex_worker *k, const ftb_places *places, int64_t first,
                        int64_t count)
{
    const ftb_vertex_work *w = x->w;
    uint8_t *flags = x->flags + first;
    if (w->always || w->active < 0) {
        for (int64_t t = 0; t < count; t++)
            flags[t] = w->always | k->changed[t];
        return;
    }
    const int64_t width = w->texts[w->active].width;
    uint8_t *truth = k->values;
    ftb_vertex_evaluate(k, w->active, count, places, k->values);
    ftb_cast(truth, FTB_BOOL, k->values, w->texts[w->active].type, count * width);
    if (width == 1)
        memcpy(flags, truth, (size_t)count);
    for (int64_t t = 0; t < count && width != 1; t++) {
        flags[t] = 0;
        for (int64_t f = 0; f < width; f++)
            flags[t] |= truth[t * width + f];
    }
}

static void sum_batch(const apply *x, const ftb_vertex_worker *k, const ftb_places *places, double *parts,
                      int64_t count)
{
    const ftb_vertex_work *w = x->w;
    for (int s = 0; s < w->nsums; s++) {
        const ftb_vertex_text *text = &w->texts[w->first_sum + s];
        const double *values = k->values;
        double sum = 0;
        ftb_vertex_evaluate(k, w->first_sum + s, count, places, k->values);
        ftb_cast(k->values, FTB_FP64, k->values, text->type, count * text->width);
        for (int64_t t = 0; t < count * text->width; t++)
            sum += values[t];
        parts[s] = sum;
    }
}

static void apply_batch(const apply *x, const ftb_vertex_worker *k, int64_t batch)
{
    const ftb_vertex_work *w = x->w;
    const int64_t first = batch * w->room, count = ftb_min(w->room, x->who->count - first);
    const int64_t *list = x->who->list ? x->who->list + first : NULL;
    const ftb_places places[FTB_SIDES] = {
        [FTB_SIDE_ROW] = {.index = list, .first = first},
        [FTB_SIDE_COL] = {.first = 0},
        [FTB_SIDE_EDGE] = {.index = x->mail->received_by_vertex ? list : NULL, .first = first}};
    const bool looks = w->active >= 0 || w->nsums > 0; /* at the old state */
    uint8_t *changed = (x->flags && w->active < 0) || w->reads_changed ? k->changed : NULL;
    if (changed)
        memset(changed, 0, (size_t)count);
    compute(x, k, places, count);
    for (int f = 0; f < w->nfields && (changed || !looks); f++)
        compare(w, k, f, list, first, count, changed, !looks);
    if (x->flags)
        find_active(x, k, places, first, count);
    if (!looks)
        return;
    sum_batch(x, k, places, x->parts + batch * w->nsums, count);
    for (int f = 0; f < w->nfields; f++)
        compare(w, k, f, list, first, count, NULL, true);
}

GrB_Info ftb_vertex_apply(const ftb_vertex_work *w, const ftb_vertex_mail *mail, ftb_vertex_applying *a)
{
    const int64_t count = a->who.count, batches = (count + w->room - 1) / w->room;
    const int threads = ftb_min(w->nthreads, ftb_threads_for(w->ctx, count * w->width));
    apply x = {.w = w, .mail = mail, .who = &a->who};
    x.flags = a->all ? NULL : ftb_vertex_need(w->ctx, &a->flags, count, 1);
    x.parts = ftb_vertex_need(w->ctx, &a->parts, batches * w->nsums, sizeof *x.parts);
    if ((!x.flags && !a->all) || !x.parts)
        return ftb_nomem();
    for (int t = 0; t < threads; t++)
        for (int text = FTB_VERTEX_APPLY; text < w->ntexts; text++)
            if (text != w->settled && text != w->priority)
                ftb_vertex_ready(w, &w->workers[t], text, mail);
    if (threads == 1)
        for (int64_t b = 0; b < batches; b++)
            apply_batch(&x, w->workers, b);
    else {
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t b = 0; b < batches; b++)
            apply_batch(&x, &w->workers[omp_get_thread_num()], b);
    }
    for (int s = 0; s < w->nsums; s++) {
        a->sums[s] = 0;
        for (int64_t b = 0; b < batches; b++)
            a->sums[s] += x.parts[b * w->nsums + s];
    }
    a->count = count;
    if (a->all)
        return GrB_SUCCESS;
    int64_t next = 0;
    for (int64_t t = 0; t < count; t++) {
        a->next[next] = vertex_at(&a->who, t);
        next += x.flags[t];
    }
    a->count = next;
    return GrB_SUCCESS;
}

/* ---- of a whole graph */

static inline bool has_entries(const ftb_pattern *p, int64_t i)
{
    return p && p->rowptr[i] < p->rowptr[i + 1];
}

int64_t ftb_vertex_receivers(const ftb_vertex_work *w, int64_t *list, const ftb_pattern *p,
                             const ftb_pattern *q)
{
    int64_t count = 0;
    for (int64_t i = 0; i < w->n; i++)
        if (has_entries(p, i) || has_entries(q, i))
            list[count++] = i;
    return count;
}

void ftb_vertex_join(const ftb_vertex_work *w, void *a, int64_t lda, const ftb_pattern *p, const void *b,
                     int64_t ldb, const ftb_pattern *q)
{
    const size_t size = FtB_Type_size(w->reduced), row = (size_t)w->width * size;
    const int threads = ftb_min(w->nthreads, ftb_threads_for_values(w->ctx, w->n * w->width));
    uint64_t none = 0;
    ftb_monoid_identity(w->monoid, w->reduced, &none);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < w->n; i++) {
        char *to = (char *)a + (size_t)(i * lda) * size;
        const char *more = has_entries(q, i) ? (const char *)b + (size_t)(i * ldb) * size : NULL;
        if (!has_entries(p, i) && more)
            memcpy(to, more, row);
        else if (!has_entries(p, i))
            ftb_fill(to, w->width, &none, size);
        else if (more)
            ftb_monoid_apply(w->monoid, w->reduced, to, more, w->width);
    }
}

GrB_Info ftb_vertex_spread(const ftb_vertex_work *w, ftb_vertex_mail *mail)
{
    enum { SPREAD = 9 }; /* of the mail's rooms, the one that neither push nor pull has */
    const size_t size = FtB_Type_size(w->reduced), row = (size_t)w->width * size;
    uint64_t none = 0;
    char *all = ftb_vertex_need(w->ctx, &mail->rooms[SPREAD], w->n, row);
    if (!all)
        return ftb_nomem();
    ftb_monoid_identity(w->monoid, w->reduced, &none);
    ftb_fill(all, w->n * w->width, &none, size);
    for (int64_t g = 0; g < mail->receivers.count; g++) {
        const int64_t v = vertex_at(&mail->receivers, g), from = mail->received_by_vertex ? v : g;
        memcpy(all + (size_t)v * row, (const char *)mail->received + (size_t)(from * mail->ldr) * size, row);
    }
    mail->received = all;
    mail->ldr = w->width;
    mail->received_by_vertex = true;
    return GrB_SUCCESS;
}

/* Merges of sparse vectors (vector_merge_run.h).
 *
 * Places are gone through in ascending order, in parts that threads share. Where lists have all entries that
 * may stay, only their places are looked at, first to count what stays, then to write it; what else is read
 * (a mask, the other operand of an intersection) is looked up, in a list by steps that double. Else all
 * places are gone through, once. The lists that are followed are those of left and right, or that of a mask
 * that is not complemented, whichever are shorter. What becomes of a place depends on none of this. */
#include "cpu/vector/vector_merge_run.h"

#include "core/search.h"

#include <omp.h>

#define PARTS_PER_THREAD 8
#define PLACES_OF_ENTRY 4 /* that are gone through in about the time of an entry of a list */
#define FEW_LEFT 64       /* places of an entry, from which on a bitmap is left for a list */

enum { LEFT, RIGHT, MASK, SIDES };

/* ---- what must be followed */

typedef struct lists {
    bool followed[SIDES];
    int64_t entries; /* of them together */
} lists;

static const ftb_vector *side_of(const ftb_vector_merge *w, int side)
{
    return side == LEFT ? w->left : side == RIGHT ? w->right : w->mask;
}

static bool masked(const ftb_vector_merge *w) { return w->mask || w->complement; }

/* Adds a side to those that are followed; false: it is no list. */
static bool follow(lists *l, const ftb_vector_merge *w, int side)
{
    const ftb_vector *v = side_of(w, side);
    if (v->form != FTB_VECTOR_LIST)
        return v->nvals == 0;
    if (!l->followed[side])
        l->entries += v->nvals;
    l->followed[side] = true;
    return true;
}

/* Either of two ways will do: the shorter. */
static bool either(lists *l, bool one, const lists *by_one, bool other, const lists *by_other)
{
    if (!one && !other)
        return false;
    *l = !other || (one && by_one->entries <= by_other->entries) ? *by_one : *by_other;
    return true;
}

/* Lists that have every admitted place that stays. */
static bool follow_sides(lists *l, const ftb_vector_merge *w)
{
    lists left = *l, right = *l;
    if (w->lone_left || w->lone_right)
        return (!w->lone_left || follow(l, w, LEFT)) && (!w->lone_right || follow(l, w, RIGHT));
    const bool by_left = follow(&left, w, LEFT), by_right = follow(&right, w, RIGHT);
    return either(l, by_left, &left, by_right, &right);
}

static bool follow_mask(lists *l, const ftb_vector_merge *w)
{
    return w->mask && !w->complement && follow(l, w, MASK);
}

/* Lists that have every place that stays; false: there are none. */
static bool lists_of_result(lists *l, const ftb_vector_merge *w)
{
    *l = (lists){{false}, 0};
    if (masked(w) && w->outside && !follow(l, w, LEFT))
        return false;
    lists sides = *l, mask = *l;
    const bool by_sides = follow_sides(&sides, w), by_mask = follow_mask(&mask, w);
    return either(l, by_sides, &sides, by_mask, &mask);
}

/* Lists that have every place that changes, in left. */
static bool lists_of_changes(lists *l, const ftb_vector_merge *w)
{
    lists right = {{false}, 0}, mask = right;
    if (masked(w) && !w->outside)
        return false;
    const bool by_right = w->lone_left && follow(&right, w, RIGHT), by_mask = follow_mask(&mask, w);
    return either(l, by_right, &right, by_mask, &mask);
}

static bool is_short(const lists *l, const ftb_vector_merge *w)
{
    return l->entries <= w->left->size / PLACES_OF_ENTRY;
}

/* ---- one place after the other */

typedef struct cursor {
    const ftb_vector *v; /* NULL: there is none */
    bool followed;
    int64_t at; /* in a list */
} cursor;

/* The first entry of a list, from `at` on, whose place is not below i. */
static inline int64_t gallop(const ftb_vector *v, int64_t at, int64_t i)
{
    int64_t step = 1;
    if (at >= v->nvals || v->index[at] >= i)
        return at;
    for (; at + step < v->nvals && v->index[at + step] < i; step *= 2)
        at += step;
    const int64_t end = ftb_min(at + step, v->nvals);
    return at + 1 + ftb_first_not_below(v->index + at + 1, end - at - 1, i);
}

/* Where the value of place i is; -1: there is no entry. Places only rise. */
static inline int64_t look_up(cursor *c, int64_t i)
{
    const ftb_vector *v = c->v;
    if (v->form == FTB_VECTOR_DENSE)
        return i;
    if (v->form == FTB_VECTOR_BITMAP)
        return v->present[i] ? i : -1;
    c->at = gallop(v, c->at, i);
    return c->at < v->nvals && v->index[c->at] == i ? c->at : -1;
}

/* What becomes of a place. */
typedef struct fate {
    int64_t left, right; /* where the values are, or -1 */
    bool keep, both;
    int side; /* whose value is taken, unless both */
} fate;

static inline fate decide(const ftb_vector_merge *w, cursor *c, int64_t i)
{
    fate f = {.left = look_up(&c[LEFT], i), .right = look_up(&c[RIGHT], i)};
    bool admitted = true;
    if (w->mask) {
        const int64_t m = look_up(&c[MASK], i);
        admitted = m >= 0 && ftb_mask_admits(&w->admits, m);
    }
    admitted = admitted != w->complement;
    const bool left = f.left >= 0, right = f.right >= 0;
    f.both = admitted && left && right && w->combine;
    f.side = admitted && right ? RIGHT : LEFT;
    f.keep = !admitted       ? left && w->outside
             : left && right ? true
             : left          ? w->lone_left
                             : right && w->lone_right;
    return f;
}

/* The next place of the lists that are followed; INT64_MAX: there is none. */
static inline int64_t next_place(const cursor *c)
{
    int64_t place = INT64_MAX;
    for (int s = 0; s < SIDES; s++)
        if (c[s].followed && c[s].at < c[s].v->nvals)
            place = ftb_min(place, c[s].v->index[c[s].at]);
    return place;
}

static inline void pass(cursor *c, int64_t place)
{
    for (int s = 0; s < SIDES; s++)
        if (c[s].followed && c[s].at < c[s].v->nvals && c[s].v->index[c[s].at] == place)
            c[s].at++;
}

static void start_cursors(cursor *c, const ftb_vector_merge *w, const lists *l, int64_t first)
{
    for (int s = 0; s < SIDES; s++) {
        const ftb_vector *v = side_of(w, s);
        const bool list = v && v->form == FTB_VECTOR_LIST;
        c[s] = (cursor){v, l && l->followed[s],
                        list && first > 0 ? ftb_first_not_below(v->index, v->nvals, first) : 0};
    }
}

/* ---- writing */

typedef struct writer {
    const ftb_vector_merge *w;
    ftb_vector *out;
    ftb_batch *batch;
    int64_t at, kept; /* at: in a list */
    int side;         /* values that are to be cast: so many of a side, from and to places side by side */
    int64_t from, to, count;
} writer;

static void copy_run(writer *k)
{
    if (k->count == 0)
        return;
    const ftb_vector *v = side_of(k->w, k->side);
    ftb_cast((char *)k->out->values + (size_t)k->to * FtB_Type_size(k->out->type), k->out->type,
             (const char *)v->values + (size_t)k->from * FtB_Type_size(v->type), v->type, k->count);
    k->count = 0;
}

static inline void copy(writer *k, int side, int64_t from, int64_t to)
{
    if (k->side != side || k->from + k->count != from || k->to + k->count != to) {
        copy_run(k);
        k->side = side;
        k->from = from;
        k->to = to;
    }
    k->count++;
}

static inline void put_value(writer *k, const fate *f, int64_t to, int64_t place)
{
    if (f->both)
        ftb_batch_push(k->batch, f->left, f->right, to, place, 0);
    else
        copy(k, f->side, f->side == LEFT ? f->left : f->right, to);
}

static void end_writer(writer *k)
{
    copy_run(k);
    if (k->batch)
        ftb_batch_flush(k->batch);
}

static ftb_batch *batch_of(const ftb_vector_merge *w)
{
    return w->map ? &w->map->batches[omp_get_thread_num()] : NULL;
}

/* ---- by lists */

static int64_t count_part(const ftb_vector_merge *w, const lists *l, int64_t first, int64_t end)
{
    cursor c[SIDES];
    int64_t kept = 0;
    start_cursors(c, w, l, first);
    for (int64_t i = next_place(c); i < end; i = next_place(c)) {
        kept += decide(w, c, i).keep;
        pass(c, i);
    }
    return kept;
}

static void fill_part(const ftb_vector_merge *w, const lists *l, int64_t first, int64_t end, int64_t at,
                      ftb_vector *out)
{
    cursor c[SIDES];
    writer k = {.w = w, .out = out, .batch = batch_of(w), .at = at};
    start_cursors(c, w, l, first);
    for (int64_t i = next_place(c); i < end; i = next_place(c)) {
        const fate f = decide(w, c, i);
        if (f.keep) {
            out->index[k.at] = i;
            put_value(&k, &f, k.at++, i);
        }
        pass(c, i);
    }
    end_writer(&k);
}

/* Where part `part` of `parts` begins: at an entry of the longest list. */
static int64_t cut(const ftb_vector_merge *w, const lists *l, int64_t part, int64_t parts)
{
    const ftb_vector *longest = NULL;
    if (part == 0 || part == parts)
        return part == 0 ? 0 : w->left->size;
    for (int s = 0; s < SIDES; s++)
        if (l->followed[s] && (!longest || side_of(w, s)->nvals > longest->nvals))
            longest = side_of(w, s);
    if (!longest || longest->nvals == 0)
        return 0;
    return longest->index[longest->nvals / parts * part + ftb_min(part, longest->nvals % parts)];
}

static GrB_Info merge_lists(ftb_vector *out, const ftb_vector_merge *w, const lists *l)
{
    const int threads = ftb_min(w->threads, ftb_threads_for(w->ctx, l->entries));
    const int64_t parts = threads == 1 ? 1 : threads * PARTS_PER_THREAD;
    int64_t *start = ftb_new0(w->ctx, parts + 1, sizeof *start);
    GrB_Info info = start ? GrB_SUCCESS : ftb_nomem();
    atomic_bool stopped = false;
    if (info != GrB_SUCCESS)
        return info;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int64_t part = 0; part < parts; part++)
        if (!ftb_stops(w->ctx, &stopped))
            start[part + 1] = count_part(w, l, cut(w, l, part, parts), cut(w, l, part + 1, parts));
    for (int64_t part = 0; part < parts; part++)
        start[part + 1] += start[part];
    info = ftb_check_stopped(w->ctx, &stopped);
    if (info == GrB_SUCCESS)
        info = ftb_vector_room(out, w->ctx, FTB_VECTOR_LIST, w->type, w->left->size, start[parts]);
    if (info != GrB_SUCCESS)
        goto done;
    if (w->map)
        ftb_map_output(w->map, out->values, w->type);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int64_t part = 0; part < parts; part++)
        fill_part(w, l, cut(w, l, part, parts), cut(w, l, part + 1, parts), start[part], out);
done:
    ftb_delete(start);
    return info;
}

/* ---- by places */

static int64_t fill_places(const ftb_vector_merge *w, int64_t first, int64_t end, ftb_vector *out)
{
    cursor c[SIDES];
    writer k = {.w = w, .out = out, .batch = batch_of(w)};
    start_cursors(c, w, NULL, first);
    for (int64_t i = first; i < end; i++) {
        const fate f = decide(w, c, i);
        if (!f.keep)
            continue;
        out->present[i] = 1;
        put_value(&k, &f, i, i);
        k.kept++;
    }
    end_writer(&k);
    return k.kept;
}

static GrB_Info merge_places(ftb_vector *out, const ftb_vector_merge *w)
{
    const int64_t size = w->left->size;
    const int threads = ftb_min(w->threads, ftb_threads_for(w->ctx, size));
    const int64_t parts = threads == 1 ? 1 : threads * PARTS_PER_THREAD;
    int64_t kept = 0;
    atomic_bool stopped = false;
    GrB_Info info = ftb_vector_room(out, w->ctx, FTB_VECTOR_BITMAP, w->type, size, 0);
    if (info != GrB_SUCCESS)
        return info;
    if (w->map)
        ftb_map_output(w->map, out->values, w->type);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) reduction(+ : kept)
    for (int64_t part = 0; part < parts; part++)
        if (!ftb_stops(w->ctx, &stopped))
            kept += fill_places(w, size / parts * part + ftb_min(part, size % parts),
                                size / parts * (part + 1) + ftb_min(part + 1, size % parts), out);
    out->nvals = kept;
    info = ftb_check_stopped(w->ctx, &stopped);
    if (info != GrB_SUCCESS)
        ftb_vector_clear(out);
    return info;
}

int ftb_vector_merge_threads(const ftb_vector_merge *w)
{
    lists l;
    return ftb_threads_for(w->ctx, lists_of_result(&l, w) && is_short(&l, w) ? l.entries : w->left->size);
}

GrB_Info ftb_vector_merge_new(ftb_vector *out, const ftb_vector_merge *w)
{
    lists l;
    const bool by_lists = lists_of_result(&l, w) && is_short(&l, w);
    *out = (ftb_vector){.form = FTB_VECTOR_LIST};
    GrB_Info info = by_lists ? merge_lists(out, w, &l) : merge_places(out, w);
    if (info == GrB_SUCCESS)
        info = ftb_vector_settle(out, w->ctx);
    if (info != GrB_SUCCESS)
        ftb_vector_clear(out);
    return info;
}

/* ---- in place */

/* How many entries more left has. */
static int64_t change_part(const ftb_vector_merge *w, const lists *l, int64_t first, int64_t end,
                           ftb_vector *left)
{
    cursor c[SIDES];
    int64_t more = 0;
    writer k = {.w = w, .out = left, .batch = batch_of(w)};
    start_cursors(c, w, l, first);
    for (int64_t i = next_place(c); i < end; i = next_place(c)) {
        const fate f = decide(w, c, i);
        if (f.keep && (f.both || f.side == RIGHT))
            put_value(&k, &f, i, i);
        if (f.keep != (f.left >= 0)) {
            left->present[i] = f.keep;
            more += f.keep ? 1 : -1;
        }
        pass(c, i);
    }
    end_writer(&k);
    return more;
}

/* Makes room for gaps. */
static GrB_Info open_gaps(ftb_vector *v, FtB_Context ctx)
{
    v->present = ftb_new(ctx, v->size, 1);
    if (!v->present)
        return ftb_nomem();
    memset(v->present, 1, (size_t)v->size);
    v->form = FTB_VECTOR_BITMAP;
    return GrB_SUCCESS;
}

bool ftb_vector_merge_in_place(GrB_Info *info, ftb_vector *left, const ftb_vector_merge *w)
{
    lists l;
    if (left->form == FTB_VECTOR_LIST || left->type != w->type || !lists_of_changes(&l, w) ||
        !is_short(&l, w))
        return false;
    *info = left->form == FTB_VECTOR_DENSE && !w->lone_left ? open_gaps(left, w->ctx) : GrB_SUCCESS;
    if (*info != GrB_SUCCESS)
        return true;
    const int threads = ftb_min(w->threads, ftb_threads_for(w->ctx, l.entries));
    const int64_t parts = threads == 1 ? 1 : threads * PARTS_PER_THREAD;
    int64_t more = 0;
    if (w->map)
        ftb_map_output(w->map, left->values, w->type);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) reduction(+ : more)
    for (int64_t part = 0; part < parts; part++)
        more += change_part(w, &l, cut(w, &l, part, parts), cut(w, &l, part + 1, parts), left);
    left->nvals += more;
    if (left->nvals == left->size || left->nvals < left->size / FEW_LEFT)
        (void)ftb_vector_settle(left, w->ctx); /* where that fails, the form that it has does, too */
    return true;
}

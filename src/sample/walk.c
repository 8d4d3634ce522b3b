/* Random walks: every step of all walks of a piece is one pick of rows, as FtB_select_sample makes them, with
 * a key for each walk (FtB_walk). */
#include "core/draws.h"
#include "core/options.h"
#include "sample/walker.h"

#define PIECE 16384 /* walks that go side by side: what a step needs of them stays in L2 */

/* ---- options */

static GrB_Info check_options(FtB_Walk_options *o)
{
    if (o->batch < 0)
        return ftb_fail(GrB_INVALID_VALUE, "options: batch is %lld; expected 0 or more", (long long)o->batch);
    if (o->each < 0 || o->each > INT32_MAX)
        return ftb_fail(GrB_INVALID_VALUE, "options: each is %lld; expected 0 to 2^31 - 1",
                        (long long)o->each);
    if (o->key && o->key_op)
        return ftb_fail(GrB_INVALID_VALUE, "options: both key and key_op are given; expected one of them");
    if (!(o->restart >= 0 && o->restart < 1))
        return ftb_fail(GrB_INVALID_VALUE, "options: restart is %g; expected 0 or more, and below 1",
                        o->restart);
    const struct {
        const char *name;
        double *value;
    } parts[] = {{"p", &o->p}, {"q", &o->q}};
    for (int t = 0; t < 2; t++) {
        const double value = *parts[t].value;
        if (!(value >= 0 && value <= 1e9 && (value == 0 || value >= 1e-9)))
            return ftb_fail(GrB_INVALID_VALUE,
                            "options: %s is %g; expected 1e-9 to 1e9, or 0 for the default, 1", parts[t].name,
                            value);
        if (value == 0)
            *parts[t].value = 1;
    }
    o->each = ftb_max(o->each, 1);
    return GrB_SUCCESS;
}

GrB_Info ftb_walker_begin(ftb_walker *w, FtB_Context ctx, FtB_Matrix A, const FtB_Walk_options *options,
                          const char *call)
{
    FtB_Walk_options *o = &w->options;
    *w = (ftb_walker){.memory = NULL};
    GrB_Info info = ftb_options_read(o, sizeof *o, options, call, "FTB_WALK_OPTIONS");
    if (info == GrB_SUCCESS)
        info = check_options(o);
    if (info != GrB_SUCCESS)
        return info;
    const ftb_selector_options how = {.key = o->key ? FTB_ARG(o->key) : FTB_ARG(o->key_op),
                                      .selector = FTB_SAMPLE_DEFAULT,
                                      .replace = true,
                                      .seed = o->seed};
    return ftb_selector_begin(&w->selector, ctx, A, &how);
}

void ftb_walker_end(ftb_walker *w)
{
    ftb_selector_end(&w->selector);
    ftb_picks_delete(&w->picks);
    ftb_delete(w->memory);
}

/* ---- walking */

/* Arrays of a piece, in one. */
static GrB_Info make_room(ftb_walker *w, int64_t count)
{
    ftb_walkers *k = &w->walkers;
    enum { ARRAYS = 6 };
    w->memory = ftb_new(w->selector.ctx, count, ARRAYS * sizeof(int64_t) + sizeof(int32_t));
    if (!w->memory)
        return ftb_nomem();
    k->key = w->memory;
    k->again = k->key + count;
    k->at = (int64_t *)(k->again + count);
    k->before = k->at + count;
    k->next = k->before + count;
    k->rows = k->next + count;
    k->who = (int32_t *)(k->rows + count);
    return GrB_SUCCESS;
}

/* Picks for all that wait for one, again and again. */
static GrB_Info step(ftb_walker *w)
{
    ftb_walkers *k = &w->walkers;
    ftb_sample_product *p = &w->selector.product;
    GrB_Info info = GrB_SUCCESS;
    ftb_walk_ask(k, p->stream);
    for (int64_t next = 1; k->npending > 0 && info == GrB_SUCCESS; next++) {
        p->seeds = next == 1 ? k->key : k->again;
        p->trees = k->who;
        info = ftb_check_cancelled(k->ctx);
        if (info == GrB_SUCCESS)
            info = ftb_pick(&w->picks, &w->selector, k->rows, k->npending, 1);
        if (info == GrB_SUCCESS)
            ftb_walk_take(k, w->picks.rowptr, w->picks.columns, p->stream, next);
        ftb_picks_delete(&w->picks);
    }
    return info;
}

static GrB_Info walk_piece(ftb_walker *w, int64_t length, int64_t *out)
{
    ftb_walkers *k = &w->walkers;
    ftb_sample_product *p = &w->selector.product;
    const uint64_t seed = p->seed;
    GrB_Info info = GrB_SUCCESS;
    ftb_walk_begin(k);
    ftb_walk_put(k, out, 1 + length);
    for (int64_t t = 0; t < length && info == GrB_SUCCESS; t++) {
        const uint64_t was = t > 0 ? p->seed : ~seed;
        p->seed = seed;
        p->stream = ftb_draw_stream(&p->seed, (uint64_t)w->options.batch, (uint64_t)t);
        if (t == 0 || p->seed != was)
            ftb_walk_keys(k, p->seed);
        info = step(w);
        if (info == GrB_SUCCESS)
            ftb_walk_put(k, out + t + 1, 1 + length);
    }
    p->seed = seed;
    return info;
}

GrB_Info ftb_walker_run(ftb_walker *w, const ftb_walk_list *list)
{
    const FtB_Walk_options *o = &w->options;
    GrB_Info info = make_room(w, ftb_min(PIECE, list->count));
    for (int64_t done = 0; done < list->count && info == GrB_SUCCESS; done += PIECE) {
        ftb_walkers *k = &w->walkers;
        k->ctx = w->selector.ctx;
        k->p = w->selector.A->pattern;
        k->starts = list->starts;
        k->first = list->first + done;
        k->count = ftb_min(PIECE, list->count - done);
        k->each = o->each;
        k->placed = list->placed;
        k->restart = o->restart;
        k->back = 1 / o->p;
        k->out = 1 / o->q;
        info = walk_piece(w, list->length, list->out + done * (1 + list->length));
    }
    ftb_delete(w->memory);
    w->memory = NULL;
    return info;
}

/* ---- the call */

GrB_Info FtB_walk(FtB_Block *walks, FtB_Matrix A, const int64_t *starts, int64_t nstarts, int64_t length,
                  const FtB_Walk_options *options)
{
    const FtB_Context ctx = ftb_context();
    ftb_walker w = {.memory = NULL};
    ftb_walk_list list = {.starts = starts, .length = length};
    int64_t all;
    if (!walks)
        return ftb_fail(GrB_NULL_POINTER, "FtB_walk: walks is NULL");
    *walks = NULL;
    GrB_Info info = ftb_arg_matrix_anywhere(&A, FTB_ARG(A), "A", false);
    if (info == GrB_SUCCESS)
        info = ftb_check_square(A);
    if (info == GrB_SUCCESS)
        info = ftb_check_vertices(ctx, starts, nstarts, A->pattern->nrows, "starts");
    if (info == GrB_SUCCESS && length < 0)
        info = ftb_fail(GrB_INVALID_VALUE, "length is %lld; expected 0 or more", (long long)length);
    if (info != GrB_SUCCESS)
        return info;
    FTB_CHECK(ftb_walker_begin(&w, ctx, A, options, "FtB_walk"));
    list.count = nstarts * w.options.each;
    if (length == INT64_MAX || __builtin_mul_overflow(list.count, length + 1, &all))
        all = INT64_MAX; /* refused by the allocator, with its message */
    list.out = ftb_new(ctx, all, sizeof *list.out);
    if (!list.out)
        FTB_CHECK(ftb_nomem());
    FTB_CHECK(ftb_walker_run(&w, &list));
    ftb_buffer *held = ftb_buffer_adopt(ctx, list.out);
    list.out = NULL;
    FTB_CHECK(ftb_block_view(walks, ctx, FTB_INT64, list.count, 1 + length, 1 + length, held));
done:
    ftb_delete(list.out);
    ftb_walker_end(&w);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(ctx);
    return info;
}

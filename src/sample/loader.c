/* Batches one after the other, some made ahead by a thread: while a caller computes with one batch, the next
 * is sampled and gathered.
 *
 * The thread makes the batches in their order and puts them into a ring. Where it cannot make one, for want
 * of memory or for anything else, it makes no more: FtB_Loader_next, which has freed the batch before by
 * then, makes that one itself and says what is wrong, and the thread goes on behind it. So errors come where
 * they belong, and memory that suffices without a thread suffices with it.
 *
 * On a device the thread's work goes beside the caller's (core/backend.h), in a stream of its own: what it
 * samples and gathers overlaps what the caller computes, and who takes a batch goes on behind it. */
#include "core/backend.h"
#include "core/held_device.h"
#include "core/options.h"
#include "core/spare.h"
#include "core/words.h"
#include "cpu/block/gather_run.h"
#include "sample/batch.h"
#include "sample/cluster_batches.h"
#include "sample/feature_rows.h"

#include <stdio.h>
#include <unistd.h>

#define FTB_MAGIC_LOADER 0x4654426c

/* The slots' macro is for callers: this is the function. */
#undef FtB_Loader_new

struct FtB_Loader_opaque {
    uint32_t magic;
    ftb_batches of;
    int64_t epoch, batch; /* that FtB_Loader_next gives */
    FtB_Batch current;    /* that it gave */
    GrB_Info status;
    char message[400];            /* of status */
    char plan[FTB_FEATURES_TEXT]; /* that was asked for */
    /* the thread, and what it shares */
    bool threaded;
    pid_t process; /* whose thread it is */
    pthread_t thread;
    const ftb_backend *where; /* the thread's own: the device that it has worked beside on; NULL: none */
    pthread_mutex_t lock;
    pthread_cond_t made, wanted;
    bool stopping, stuck; /* stuck: `next` could not be made ahead */
    int64_t next;         /* batch that the thread makes, counted over all epochs */
    int64_t first, count; /* of the ring: options.ahead places */
    FtB_Batch *ring;
};

/* ---- the thread */

/* Who writes what batches were made of, or frees it, knows nothing of the work beside. */
static void settle(FtB_Loader l)
{
    if (l->where)
        (void)l->where->memory->wait(l->where, l->of.ctx); /* one that is lost does nothing */
    l->where = NULL;
}

/* Batch `at`, beside what is done on a device; false: it could not be made so. */
static bool make_beside(FtB_Batch *b, FtB_Loader l, int64_t at, const ftb_backend *who)
{
    const ftb_batches *of = &l->of;
    if (!who->memory->beside_begin || who->memory->beside_begin(who, of->ctx) != GrB_SUCCESS)
        return false;
    l->where = who;
    const bool made = ftb_batch_make(b, of, at) == GrB_SUCCESS;
    if (made) {
        (*b)->where = who;
        (*b)->stamp = who->memory->stamp(who);
    }
    who->memory->beside_end(who);
    return made;
}

/* The same, or on the host, whatever device the context has then. */
static bool make_one(FtB_Batch *b, FtB_Loader l, int64_t at)
{
    const ftb_backend *who = ftb_device(l->of.ctx);
    if (l->where != who)
        settle(l);
    ftb_device_hold(who);
    const bool made = who ? make_beside(b, l, at, who) : ftb_batch_make(b, &l->of, at) == GrB_SUCCESS;
    ftb_device_release();
    return made;
}

static void *make_ahead(void *arg)
{
    FtB_Loader l = arg;
    const int ahead = l->of.options.ahead;
    const bool engaged = FtB_Context_engage(l->of.ctx) == GrB_SUCCESS;
    ftb_work_ahead(l->of.options.threads > 0 ? l->of.options.threads
                                             : ftb_max(1, ftb_threads(l->of.ctx) / 2));
    pthread_mutex_lock(&l->lock);
    for (;;) {
        while (!l->stopping && (l->stuck || l->count == ahead))
            pthread_cond_wait(&l->wanted, &l->lock);
        if (l->stopping)
            break;
        const int64_t at = l->next;
        FtB_Batch b = NULL;
        pthread_mutex_unlock(&l->lock);
        const bool made = engaged && make_one(&b, l, at);
        pthread_mutex_lock(&l->lock);
        if (at != l->next) { /* meanwhile others are wanted */
            ftb_batch_free(&b);
            continue;
        }
        l->stuck = !made;
        if (made) {
            l->ring[(l->first + l->count++) % ahead] = b;
            l->next++;
        }
        pthread_cond_signal(&l->made);
    }
    pthread_mutex_unlock(&l->lock);
    settle(l);
    return NULL;
}

/* Batches from `at` on are wanted; those in the ring are not. Under the lock. */
static void turn_to(FtB_Loader l, int64_t at)
{
    for (; l->count > 0; l->count--) {
        ftb_batch_free(&l->ring[l->first]);
        l->first = (l->first + 1) % l->of.options.ahead;
    }
    l->next = at;
    l->stuck = false;
    pthread_cond_signal(&l->wanted);
}

/* In a fork of the process that made the loader there is no thread; what it held is left as it is. */
static bool has_thread(FtB_Loader l)
{
    if (l->threaded && l->process != getpid()) {
        l->threaded = false;
        l->count = 0;
    }
    return l->threaded;
}

static void start(FtB_Loader l)
{
    l->process = getpid();
    pthread_mutex_init(&l->lock, NULL); /* these cannot fail with default attributes on Linux */
    pthread_cond_init(&l->made, NULL);
    pthread_cond_init(&l->wanted, NULL);
    l->threaded = l->ring && !ftb_forked() && ftb_thread_start(&l->thread, make_ahead, l);
}

/* Batch `at`, of the ring or made here. */
static GrB_Info take(FtB_Loader l, int64_t at)
{
    if (!has_thread(l))
        return ftb_batch_make(&l->current, &l->of, at);
    pthread_mutex_lock(&l->lock);
    while (l->count == 0 && !l->stuck)
        pthread_cond_wait(&l->made, &l->lock);
    const bool ready = l->count > 0;
    if (ready) {
        l->current = l->ring[l->first];
        l->first = (l->first + 1) % l->of.options.ahead;
        l->count--;
        if (l->current->where) /* before more goes beside; what it reads of a lost device says so */
            (void)l->current->where->memory->after(l->current->where, l->current->stamp);
        pthread_cond_signal(&l->wanted);
    }
    pthread_mutex_unlock(&l->lock);
    if (ready)
        return GrB_SUCCESS;
    const GrB_Info info = ftb_batch_make(&l->current, &l->of, at);
    if (info != GrB_SUCCESS)
        return info;
    pthread_mutex_lock(&l->lock);
    turn_to(l, at + 1);
    pthread_mutex_unlock(&l->lock);
    return GrB_SUCCESS;
}

/* ---- made */

static GrB_Info share_block(FtB_Block *to, FtB_Block X, int64_t nrows, const char *name)
{
    if (!X)
        return GrB_SUCCESS;
    if (X->nrows != nrows)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "%s is %lld x %lld; expected %lld rows, one for each vertex",
                        name, (long long)X->nrows, (long long)X->ncols, (long long)nrows);
    return FtB_Block_heads(to, X, X->heads);
}

static GrB_Info share_features(ftb_batches *of, FtB_Arg X, int64_t n)
{
    FtB_Matrix sparse = NULL;
    FtB_Block dense = NULL;
    GrB_Info info = X.kind == FTB_KIND_MATRIX ? ftb_arg_matrix_anywhere(&sparse, X, "X", false)
                                              : ftb_arg_block_anywhere(&dense, X, "X", true);
    if (info != GrB_SUCCESS || !sparse)
        return info == GrB_SUCCESS ? share_block(&of->features, dense, n, "X") : info;
    if (sparse->pattern->nrows != n || sparse->width > 1)
        return ftb_fail(
            GrB_DIMENSION_MISMATCH,
            "X is %lld x %lld with %lld values per entry; expected %lld rows, one for each vertex, "
            "and one value or none",
            (long long)sparse->pattern->nrows, (long long)sparse->pattern->ncols, (long long)sparse->width,
            (long long)n);
    return ftb_matrix_share(&of->sparse, sparse);
}

static GrB_Info check_cache(const FtB_Loader_options *o)
{
    if (o->cache_bytes < -1)
        return ftb_fail(GrB_INVALID_VALUE, "options: cache_bytes is %lld; expected bytes, 0 or -1",
                        (long long)o->cache_bytes);
    if (!(o->cache_share >= 0 && o->cache_share <= 1))
        return ftb_fail(GrB_INVALID_VALUE, "options: cache_share is %g; expected 0 to 1", o->cache_share);
    if (o->cache_bytes != 0 && o->cache_share > 0)
        return ftb_fail(GrB_INVALID_VALUE, "options: cache_bytes is %lld and cache_share %g; expected one",
                        (long long)o->cache_bytes, o->cache_share);
    if ((int)o->cache_by < FTB_CACHE_DEGREE || o->cache_by > FTB_CACHE_SAMPLED)
        return ftb_fail(GrB_INVALID_VALUE, "options: cache_by is %d, which is no FtB_Cache_by",
                        (int)o->cache_by);
    if (o->cache_batches < 0)
        return ftb_fail(GrB_INVALID_VALUE, "options: cache_batches is %lld; expected 0 or more",
                        (long long)o->cache_batches);
    return GrB_SUCCESS;
}

/* That nothing else says which batches there are. */
static GrB_Info check_clusters(const ftb_batches *of)
{
    const FtB_Loader_options *o = &of->options;
    const struct {
        const char *name;
        bool given;
    } others[] = {{"fanout", o->fanout[0] != 0},
                  {"batch", o->batch != 0},
                  {"seed", o->seed != 0},
                  {"sampler", o->sampler},
                  {"in_order", o->in_order},
                  {"drop_last", o->drop_last},
                  {"cache_by, by what is sampled,", o->cache_by == FTB_CACHE_SAMPLED}};
    for (size_t n = 0; n < sizeof others / sizeof *others; n++)
        if (others[n].given)
            return ftb_fail(GrB_INVALID_VALUE, "options: %s means nothing with clusters", others[n].name);
    if (!ftb_is_clusters(o->clusters))
        return ftb_fail(GrB_UNINITIALIZED_OBJECT, "options: clusters is not an FtB_Clusters, or was freed");
    if (!ftb_clusters_of(o->clusters, of->A))
        return ftb_fail(GrB_INVALID_VALUE, "options: clusters are of another matrix than A");
    return GrB_SUCCESS;
}

static GrB_Info read_options(ftb_batches *of, const FtB_Loader_options *options)
{
    FtB_Loader_options *o = &of->options;
    GrB_Info info = ftb_options_read(o, sizeof *o, options, "FtB_Loader_new", "FTB_LOADER");
    if (info == GrB_SUCCESS)
        info = ftb_options_read(&of->sampler, sizeof of->sampler, o->sampler, "FtB_Loader_new: sampler",
                                "FTB_SAMPLE_OPTIONS");
    if (info != GrB_SUCCESS)
        return info;
    if (o->batch < 0 || o->epoch < 0 || o->threads < 0 || o->ahead < -1)
        return ftb_fail(GrB_INVALID_VALUE,
                        "options: batch is %lld, epoch %lld, threads %d, ahead %d; expected 0 or more, of "
                        "ahead also -1",
                        (long long)o->batch, (long long)o->epoch, o->threads, o->ahead);
    if (of->sampler.batch != 0)
        return ftb_fail(GrB_INVALID_VALUE,
                        "options: sampler: batch is %lld; expected 0, since the loader counts its batches",
                        (long long)of->sampler.batch);
    if (of->sampler.stack != 0)
        return ftb_fail(GrB_INVALID_VALUE,
                        "options: sampler: stack is %lld; expected 0, since a loader's batch is one",
                        (long long)of->sampler.stack);
    FTB_CHECK(check_cache(o));
    FTB_CHECK(o->clusters ? check_clusters(of) : GrB_SUCCESS);
    o->batch = o->batch > 0 ? o->batch : 1024;
    o->ahead = o->ahead == 0 ? ftb_threads(of->ctx) > 1 : ftb_max(o->ahead, 0);
    of->sampler.size = sizeof of->sampler;
    of->sampler.seed = o->seed ? o->seed : of->sampler.seed ? of->sampler.seed : of->ctx->seed;
    while (of->nhops < FTB_LOADER_HOPS && o->fanout[of->nhops] != 0)
        of->nhops++;
    for (int h = of->nhops; h < FTB_LOADER_HOPS; h++)
        if (o->fanout[h] != 0)
            return ftb_fail(GrB_INVALID_VALUE, "options: fanout[%d] is %lld, after a 0, which ends the list",
                            h, (long long)o->fanout[h]);
done:
    return info;
}

static GrB_Info copy_seeds(ftb_batches *of, const int32_t *labels, const int64_t *seeds, int64_t nseeds)
{
    const int64_t n = of->A->pattern->nrows;
    char below[FTB_WORDS];
    if (nseeds < 0)
        return ftb_fail(GrB_INVALID_VALUE, "nseeds is %lld; expected 0 or more", (long long)nseeds);
    if (!seeds && nseeds > 0)
        return ftb_fail(GrB_NULL_POINTER, "seeds is NULL; expected %lld vertices", (long long)nseeds);
    const int64_t bad = ftb_rows_beyond(of->ctx, seeds, nseeds, 1, n);
    if (bad != nseeds)
        return ftb_fail(GrB_INDEX_OUT_OF_BOUNDS, "seeds[%lld] is %lld; expected %s", (long long)bad,
                        (long long)seeds[bad], ftb_below_text(below, n));
    of->nseeds = nseeds;
    of->count = of->options.clusters    ? FtB_Clusters_batches(of->options.clusters)
                : of->options.drop_last ? nseeds / of->options.batch
                                        : nseeds / of->options.batch + (nseeds % of->options.batch > 0);
    of->seeds = ftb_new(of->ctx, nseeds, sizeof *of->seeds);
    of->labels = labels ? ftb_new(of->ctx, nseeds, sizeof *of->labels) : NULL;
    if (!of->seeds || (labels && !of->labels))
        return ftb_nomem();
    for (int64_t t = 0; t < nseeds; t++) {
        of->seeds[t] = seeds[t];
        if (labels)
            of->labels[t] = labels[seeds[t]];
    }
    return GrB_SUCCESS;
}

/* Which vertices are seeds. */
static GrB_Info place_seeds(ftb_batches *of)
{
    const int64_t n = of->A->pattern->nrows;
    if (!of->options.clusters)
        return GrB_SUCCESS;
    if (of->nseeds > INT32_MAX)
        return ftb_fail(FTB_LIMIT, "%lld seeds of clusters; expected less than 2^31", (long long)of->nseeds);
    of->place = ftb_new(of->ctx, n, sizeof *of->place);
    if (!of->place)
        return ftb_nomem();
    for (int64_t v = 0; v < n; v++)
        of->place[v] = -1;
    for (int64_t t = 0; t < of->nseeds; t++) {
        if (of->place[of->seeds[t]] >= 0)
            return ftb_fail(GrB_INVALID_VALUE,
                            "seeds has %lld twice; with clusters expected each vertex once",
                            (long long)of->seeds[t]);
        of->place[of->seeds[t]] = (int32_t)t;
    }
    return GrB_SUCCESS;
}

/* A sample of no seeds is refused for what any would be. */
static GrB_Info check_sampler(const ftb_batches *of)
{
    FtB_Sample none;
    if (of->options.clusters)
        return GrB_SUCCESS;
    const GrB_Info info = FtB_sample(&none, of->A, NULL, 0, of->options.fanout, of->nhops, &of->sampler);
    FtB_Sample_free(&none);
    return info;
}

static GrB_Info fill(FtB_Loader l, FtB_Matrix A, FtB_Arg X, const int32_t *labels, const int64_t *seeds,
                     int64_t nseeds, const FtB_Loader_options *options)
{
    ftb_batches *of = &l->of;
    FtB_Block targets = NULL;
    GrB_Info info = ftb_arg_matrix_anywhere(&A, FTB_ARG(A), "A", false);
    if (info == GrB_SUCCESS)
        info = ftb_matrix_share(&of->A, A);
    if (info == GrB_SUCCESS)
        info = read_options(of, options);
    if (info == GrB_SUCCESS)
        info = check_sampler(of);
    if (info == GrB_SUCCESS)
        info = share_features(of, X, A->pattern->nrows);
    if (info == GrB_SUCCESS && of->features)
        info = ftb_features_new(&of->rows, of);
    if (info == GrB_SUCCESS)
        info = ftb_arg_block_anywhere(&targets, FTB_ARG(of->options.targets), "options: targets", true);
    if (info == GrB_SUCCESS)
        info = share_block(&of->targets, targets, A->pattern->nrows, "options: targets");
    if (info == GrB_SUCCESS)
        info = copy_seeds(of, labels, seeds, nseeds);
    if (info == GrB_SUCCESS)
        info = place_seeds(of);
    if (info == GrB_SUCCESS)
        info = FtB_Loader_seek(l, of->options.epoch, 0);
    if (info == GrB_SUCCESS && of->options.ahead > 0 && of->count > 0 &&
        !(l->ring = ftb_new0(of->ctx, of->options.ahead, sizeof(FtB_Batch))))
        info = ftb_nomem();
    return info;
}

GrB_Info FtB_Loader_new(FtB_Loader *loader, FtB_Matrix A, FtB_Arg X, const int32_t *labels,
                        const int64_t *seeds, int64_t nseeds, const FtB_Loader_options *options)
{
    if (!loader)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Loader_new: loader is NULL");
    *loader = NULL;
    FtB_Loader l = ftb_new0(NULL, 1, sizeof *l);
    if (!l)
        return ftb_nomem();
    l->magic = FTB_MAGIC_LOADER;
    l->of.ctx = ftb_context_retain(ftb_context());
    ftb_spare_begin(l->of.ctx);
    GrB_Info info = fill(l, A, X, labels, seeds, nseeds, options);
    if (info == GrB_SUCCESS) {
        start(l);
    } else {
        (void)ftb_wrap_error(info, "FtB_Loader_new: ");
        FtB_Loader_free(&l);
    }
    *loader = l;
    return info;
}

GrB_Info FtB_Loader_free(FtB_Loader *loader)
{
    FtB_Loader l = loader ? *loader : NULL;
    if (!l || l->magic != FTB_MAGIC_LOADER)
        return GrB_SUCCESS;
    ftb_batches *of = &l->of;
    ftb_spare_end(of->ctx);
    if (has_thread(l)) {
        pthread_mutex_lock(&l->lock);
        l->stopping = true;
        pthread_cond_signal(&l->wanted);
        pthread_mutex_unlock(&l->lock);
        pthread_join(l->thread, NULL);
        turn_to(l, 0);
    }
    ftb_batch_free(&l->current);
    ftb_delete(l->ring);
    ftb_delete(of->seeds);
    ftb_delete(of->labels);
    ftb_features_delete(of->rows);
    ftb_delete(of->place);
    FtB_Matrix_free(&of->A);
    FtB_Matrix_free(&of->sparse);
    FtB_Block_free(&of->features);
    FtB_Block_free(&of->targets);
    if (l->process == getpid()) {
        pthread_cond_destroy(&l->made);
        pthread_cond_destroy(&l->wanted);
        pthread_mutex_destroy(&l->lock);
    }
    FtB_Context ctx = of->ctx;
    l->magic = 0;
    ftb_delete(l);
    ftb_context_release(ctx);
    *loader = NULL;
    return GrB_SUCCESS;
}

/* ---- used */

static GrB_Info check_loader(FtB_Loader l)
{
    if (!l)
        return ftb_fail(GrB_NULL_POINTER, "loader is NULL; expected an FtB_Loader");
    if (l->magic != FTB_MAGIC_LOADER)
        return ftb_fail(GrB_UNINITIALIZED_OBJECT, "loader is not an FtB_Loader, or was freed");
    return GrB_SUCCESS;
}

/* The batch at hand in l->current, which is NULL at the epoch's end. */
static GrB_Info advance(FtB_Loader l)
{
    ftb_batch_free(&l->current);
    ftb_spare_round(l->of.ctx);
    GrB_Info info = ftb_check_cancelled(l->of.ctx);
    if (info == GrB_SUCCESS && l->batch == l->of.count) {
        l->epoch++;
        l->batch = 0;
        return GrB_SUCCESS;
    }
    if (info == GrB_SUCCESS)
        info = take(l, l->epoch * l->of.count + l->batch);
    if (info == GrB_SUCCESS)
        l->batch++;
    return info;
}

FtB_Batch FtB_Loader_next(FtB_Loader l)
{
    if (check_loader(l) != GrB_SUCCESS)
        return NULL;
    FtB_Context ctx = l->of.ctx, before = ftb_context();
    if (before != ctx)
        ftb_context_retain(before);
    l->status = before == ctx ? GrB_SUCCESS : FtB_Context_engage(ctx);
    if (l->status == GrB_SUCCESS)
        l->status = advance(l);
    if (l->status == FTB_CANCELLED)
        ftb_cancel_clear(ctx);
    if (l->status != GrB_SUCCESS)
        snprintf(l->message, sizeof l->message, "%s", FtB_error());
    if (before != ctx) {
        (void)FtB_Context_engage(before);
        ftb_context_release(before);
    }
    return l->current;
}

GrB_Info FtB_Loader_status(FtB_Loader l)
{
    const GrB_Info info = check_loader(l);
    if (info != GrB_SUCCESS || l->status == GrB_SUCCESS)
        return info;
    return ftb_fail(l->status, "%s", l->message);
}

GrB_Info FtB_Loader_position(FtB_Loader l, int64_t *epoch, int64_t *batch)
{
    const GrB_Info info = check_loader(l);
    if (info == GrB_SUCCESS && epoch)
        *epoch = l->epoch;
    if (info == GrB_SUCCESS && batch)
        *batch = l->batch;
    return info;
}

GrB_Info FtB_Loader_seek(FtB_Loader l, int64_t epoch, int64_t batch)
{
    int64_t at;
    const GrB_Info info = check_loader(l);
    if (info != GrB_SUCCESS)
        return info;
    if (epoch < 0 || batch < 0 || batch > l->of.count || epoch == INT64_MAX ||
        __builtin_mul_overflow(epoch + 1, l->of.count, &at))
        return ftb_fail(GrB_INVALID_VALUE,
                        "epoch is %lld and batch %lld; expected an epoch and one of 0 to %lld",
                        (long long)epoch, (long long)batch, (long long)l->of.count);
    l->epoch = epoch;
    l->batch = batch;
    if (!has_thread(l)) {
        l->next = at - l->of.count + batch;
        return GrB_SUCCESS;
    }
    pthread_mutex_lock(&l->lock);
    turn_to(l, at - l->of.count + batch);
    pthread_mutex_unlock(&l->lock);
    return GrB_SUCCESS;
}

GrB_Info FtB_Loader_cache(FtB_Loader l, int64_t *kept, int64_t *gathered, int64_t *hits)
{
    int64_t counts[3] = {0};
    GrB_Info info = check_loader(l);
    if (info == GrB_SUCCESS && l->of.rows)
        info = ftb_features_count(l->of.rows, l->of.features->nrows, &counts[0], &counts[1], &counts[2]);
    if (info == GrB_SUCCESS && kept)
        *kept = counts[0];
    if (info == GrB_SUCCESS && gathered)
        *gathered = counts[1];
    if (info == GrB_SUCCESS && hits)
        *hits = counts[2];
    return info;
}

const char *FtB_Loader_plan(FtB_Loader l)
{
    if (check_loader(l) != GrB_SUCCESS)
        return NULL;
    if (l->of.rows)
        ftb_features_say(l->plan, l->of.rows);
    return l->plan;
}

int64_t FtB_Loader_batches(FtB_Loader l) { return check_loader(l) == GrB_SUCCESS ? l->of.count : 0; }

/* Contexts: threads, memory limit, seed, progress and cancellation. Reference-counted: every counted
 * allocation holds one reference, so a context outlives what was made in it. */
#include "core/backend.h"
#include "core/held_device.h"
#include "core/spare.h"

#include <omp.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define MEASURE_SECONDS 10             /* unless set */
#define PROGRESS_INTERVAL_NS 100000000 /* the callback runs at most ten times a second */

static struct FtB_Context_opaque default_context = {.refs = 1,
                                                    .reporting = ATOMIC_FLAG_INIT,
                                                    .wisdom_lock = PTHREAD_MUTEX_INITIALIZER,
                                                    .spare_lock = PTHREAD_MUTEX_INITIALIZER};
static _Thread_local FtB_Context engaged; /* NULL: the default; holds a reference */
static pthread_key_t engaged_key;         /* releases the reference when a thread ends */
static pthread_once_t engaged_once = PTHREAD_ONCE_INIT;
static bool engaged_key_valid;
static _Thread_local int ahead; /* threads of a thread that works ahead; 0: it does not */
static pid_t loaded_in;         /* the process that OpenMP's threads belong to */

__attribute__((constructor)) static void remember_process(void) { loaded_in = getpid(); }

FtB_Context ftb_context(void) { return engaged ? engaged : &default_context; }

static FtB_Context chosen(FtB_Context ctx) { return ctx ? ctx : ftb_context(); }

FtB_Context ftb_context_retain(FtB_Context ctx)
{
    atomic_fetch_add(&ctx->refs, 1);
    return ctx;
}

void ftb_context_release(FtB_Context ctx)
{
    if (!ctx || atomic_fetch_sub(&ctx->refs, 1) > 1)
        return;
    (void)FtB_Context_set_reuse(ctx, false);
    if (ctx->stream)
        (void)ctx->device->memory->set_stream(ctx->device, ctx, NULL);
    ftb_raw_delete(ctx->tmpdir);
    ftb_raw_delete(ctx->wisdom);
    pthread_mutex_destroy(&ctx->wisdom_lock);
    pthread_mutex_destroy(&ctx->spare_lock);
    ftb_raw_delete(ctx);
}

GrB_Info FtB_Context_new(FtB_Context *ctx)
{
    if (!ctx)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Context_new: ctx is NULL");
    *ctx = ftb_raw_new(sizeof **ctx);
    if (!*ctx)
        return ftb_fail(GrB_OUT_OF_MEMORY, "FtB_Context_new: out of memory");
    memset(*ctx, 0, sizeof **ctx);
    atomic_init(&(*ctx)->refs, 1);
    atomic_flag_clear(&(*ctx)->reporting);
    pthread_mutex_init(&(*ctx)->wisdom_lock, NULL); /* these cannot fail with default attributes on Linux */
    pthread_mutex_init(&(*ctx)->spare_lock, NULL);
    return GrB_SUCCESS;
}

GrB_Info FtB_Context_free(FtB_Context *ctx)
{
    if (!ctx || !*ctx)
        return GrB_SUCCESS;
    if (*ctx == engaged)
        FtB_Context_engage(NULL);
    ftb_context_release(*ctx);
    *ctx = NULL;
    return GrB_SUCCESS;
}

static void release_engaged(void *ctx) { ftb_context_release(ctx); }

static void make_key(void) { engaged_key_valid = pthread_key_create(&engaged_key, release_engaged) == 0; }

GrB_Info FtB_Context_engage(FtB_Context ctx)
{
    pthread_once(&engaged_once, make_key);
    if (ctx == engaged)
        return GrB_SUCCESS;
    if (!engaged_key_valid || pthread_setspecific(engaged_key, ctx))
        return ftb_fail(GrB_OUT_OF_MEMORY, "FtB_Context_engage: no thread-specific storage is left");
    FtB_Context old = engaged;
    engaged = ctx ? ftb_context_retain(ctx) : NULL;
    ftb_context_release(old);
    return GrB_SUCCESS;
}

GrB_Info FtB_Context_set_threads(FtB_Context ctx, int threads)
{
    if (threads < 0)
        return ftb_fail(GrB_INVALID_VALUE, "threads is %d; expected 0 (all cores) or more", threads);
    chosen(ctx)->threads = threads;
    return GrB_SUCCESS;
}

GrB_Info FtB_Context_set_memory_limit(FtB_Context ctx, int64_t bytes)
{
    if (bytes < 0)
        return ftb_fail(GrB_INVALID_VALUE, "memory limit is %lld bytes; expected 0 (none) or more",
                        (long long)bytes);
    chosen(ctx)->limit = bytes;
    return GrB_SUCCESS;
}

GrB_Info FtB_Context_set_reuse(FtB_Context ctx, bool on)
{
    ctx = chosen(ctx);
    if (atomic_exchange(&ctx->reuse, on) == on)
        return GrB_SUCCESS;
    if (on)
        ftb_spare_begin(ctx);
    else
        ftb_spare_end(ctx);
    return GrB_SUCCESS;
}

GrB_Info FtB_Context_set_seed(FtB_Context ctx, uint64_t seed)
{
    chosen(ctx)->seed = seed;
    return GrB_SUCCESS;
}

GrB_Info FtB_Context_set_deterministic(FtB_Context ctx, bool on)
{
    chosen(ctx)->deterministic = on;
    return GrB_SUCCESS;
}

GrB_Info FtB_Context_set_matmul_precision(FtB_Context ctx, FtB_Precision precision)
{
    if ((int)precision < FTB_PRECISION_FP32 || (int)precision > FTB_PRECISION_BF16)
        return ftb_fail(GrB_INVALID_VALUE, "precision is %d; expected one of FTB_PRECISION_*",
                        (int)precision);
    chosen(ctx)->precision = precision;
    return GrB_SUCCESS;
}

GrB_Info FtB_Context_set_relaxed(FtB_Context ctx, bool on)
{
    chosen(ctx)->relaxed = on;
    return GrB_SUCCESS;
}

GrB_Info FtB_Context_set_measure_seconds(FtB_Context ctx, double seconds)
{
    if (!(seconds > 0))
        return ftb_fail(GrB_INVALID_VALUE, "seconds is %g; expected more than 0", seconds);
    chosen(ctx)->measure_seconds = seconds;
    return GrB_SUCCESS;
}

GrB_Info FtB_Context_set_sync(FtB_Context ctx, bool on)
{
    chosen(ctx)->no_sync = !on;
    return GrB_SUCCESS;
}

GrB_Info FtB_Context_set_tmpdir(FtB_Context ctx, const char *path)
{
    char *copy = NULL;
    if (path) {
        size_t size = strlen(path) + 1;
        copy = ftb_raw_new(size);
        if (!copy)
            return ftb_fail(GrB_OUT_OF_MEMORY, "FtB_Context_set_tmpdir: out of memory");
        memcpy(copy, path, size);
    }
    ctx = chosen(ctx);
    ftb_raw_delete(ctx->tmpdir);
    ctx->tmpdir = copy;
    return GrB_SUCCESS;
}

GrB_Info FtB_Context_progress(FtB_Context ctx, FtB_Progress_function f, void *arg)
{
    ctx = chosen(ctx);
    ctx->progress = f;
    ctx->progress_arg = arg;
    atomic_store(&ctx->progress_ns, 0);
    return GrB_SUCCESS;
}

GrB_Info FtB_Context_cancel(FtB_Context ctx)
{
    atomic_store(&(ctx ? ctx : &default_context)->cancelled, 1);
    return GrB_SUCCESS;
}

static _Thread_local struct {
    bool holds;
    const ftb_backend *device;
} held; /* by this thread (held_device.h) */

void ftb_device_hold(const ftb_backend *where)
{
    held.holds = true;
    held.device = where;
}

void ftb_device_release(void) { held.holds = false; }

const ftb_backend *ftb_device(FtB_Context ctx)
{
    if (held.holds)
        return held.device;
    return chosen(ctx)->device;
}

void ftb_moved(FtB_Context ctx, ftb_direction direction, int64_t bytes)
{
    atomic_fetch_add(&chosen(ctx)->moved[direction], bytes);
}

GrB_Info FtB_Context_memory(FtB_Context ctx, int64_t *now, int64_t *peak)
{
    ctx = chosen(ctx);
    if (now)
        *now = atomic_load(&ctx->now);
    if (peak)
        *peak = atomic_load(&ctx->peak);
    return GrB_SUCCESS;
}

bool ftb_forked(void) { return getpid() != loaded_in; }

int ftb_threads(FtB_Context ctx)
{
    if (ftb_forked()) /* the OpenMP threads of the parent are not here; waiting for them hangs */
        return 1;
    int threads = chosen(ctx)->threads;
    threads = threads > 0 ? threads : ftb_max(1, omp_get_max_threads());
    return ahead > 0 ? ftb_min(ahead, threads) : threads;
}

void ftb_work_ahead(int threads) { ahead = threads; }

bool ftb_thread_start(pthread_t *thread, void *(*work)(void *), void *arg)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    const bool started = pthread_create(thread, NULL, work, arg) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return started;
}

/* Waking a thread takes 1 us while it still spins and 9 us once it sleeps, more where cores are busy: each
 * has some 50 us of work, or there is but one. */
#define ENTRIES_PER_THREAD 8192
#define VALUES_OF_ENTRY 4 /* that take as long as one, 6 ns */

int ftb_threads_for(FtB_Context ctx, int64_t entries)
{
    const int64_t useful =
        entries / ENTRIES_PER_THREAD; /* few: nobody asks the system whether we are a fork */
    return useful <= 1 ? 1 : (int)ftb_min((int64_t)ftb_threads(ctx), useful);
}

int ftb_threads_for_values(FtB_Context ctx, int64_t values)
{
    return ftb_threads_for(ctx, values / VALUES_OF_ENTRY);
}

double ftb_measure_seconds(FtB_Context ctx)
{
    const double seconds = chosen(ctx)->measure_seconds;
    return seconds > 0 ? seconds : MEASURE_SECONDS;
}

bool ftb_deterministic(FtB_Context ctx) { return chosen(ctx)->deterministic; }

FtB_Precision ftb_precision(FtB_Context ctx)
{
    ctx = chosen(ctx);
    return ctx->deterministic ? FTB_PRECISION_FP32 : ctx->precision;
}

bool ftb_relaxed(FtB_Context ctx) { return chosen(ctx)->relaxed; }

int64_t ftb_memory_left(FtB_Context ctx)
{
    ctx = chosen(ctx);
    const int64_t used = atomic_load(&ctx->now) - atomic_load(&ctx->spare_bytes);
    return ctx->limit > 0 ? ftb_max(0, ctx->limit - used) : INT64_MAX;
}

bool ftb_cancelled(FtB_Context ctx)
{
    return atomic_load_explicit(&chosen(ctx)->cancelled, memory_order_relaxed);
}

GrB_Info ftb_check_cancelled(FtB_Context ctx)
{
    return ftb_cancelled(ctx) ? ftb_progress(ctx, 0, 0, "rows") : GrB_SUCCESS;
}

bool ftb_stops(FtB_Context ctx, atomic_bool *stopped)
{
    if (ftb_cancelled(ctx))
        atomic_store_explicit(stopped, true, memory_order_relaxed);
    return atomic_load_explicit(stopped, memory_order_relaxed);
}

GrB_Info ftb_check_stopped(FtB_Context ctx, const atomic_bool *stopped)
{
    return atomic_load(stopped) ? ftb_fail(FTB_CANCELLED, "cancelled") : ftb_check_cancelled(ctx);
}

void ftb_cancel_clear(FtB_Context ctx)
{
    if (ahead == 0)
        atomic_store(&chosen(ctx)->cancelled, 0);
}

double ftb_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Calls the callback unless it was called lately or runs on another thread. false: stop. */
static bool report(FtB_Context ctx, double done, double total, const char *what)
{
    int64_t now = (int64_t)(1e9 * ftb_seconds()), last = atomic_load(&ctx->progress_ns);
    if ((last && now - last < PROGRESS_INTERVAL_NS) || atomic_flag_test_and_set(&ctx->reporting))
        return true;
    atomic_store(&ctx->progress_ns, now);
    bool go_on = ctx->progress(done, total, what, ctx->progress_arg);
    atomic_flag_clear(&ctx->reporting);
    return go_on;
}

GrB_Info ftb_progress(FtB_Context ctx, double done, double total, const char *what)
{
    ctx = chosen(ctx);
    if (ctx->progress && ahead == 0 && !report(ctx, done, total, what))
        atomic_store(&ctx->cancelled, 1);
    return ftb_cancelled(ctx) ? ftb_fail(FTB_CANCELLED, "cancelled") : GrB_SUCCESS;
}

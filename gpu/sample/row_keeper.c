/* Features on the host, of which a GPU keeps the rows that are sampled most (Lin, Li, Miao, Liu and Xu,
 * "PaGraph", SoCC 2020; Yang, Tang, Song et al., "GNNLab", EuroSys 2022), and reads the others where they
 * are.
 *
 * `place` has for each row where its copy is, or -1: one look at it a row, and then 16 bytes a lane
 * (kernels/gather.cu), of the GPU's memory or over the bus. Copies are made by the same kernel, and again
 * once the rows' buffer has another version. They can be made again, and give way where memory is short. */
#include "gpu/sample/row_keeper.h"

#include "core/watch.h"
#include "gpu/gather.h"
#include "gpu/memory.h"
#include "gpu/sample/device_lists.h"
#include "gpu/sample/mapped.h"

enum { LEAST_KEPT = 16 }; /* rows: of fewer nothing is gained */

struct ftb_kept_rows {
    struct ftb_kept_rows *next;
    ftb_gpu_device *d;
    ftb_rows_of of;
    const void *host; /* the memory that is mapped; NULL: not yet */
    const char *x;    /* where kernels read row 0 */
    int64_t version;  /* of the rows that are kept */
    int64_t nkept;
    const long long *list; /* their numbers */
    void *kept;
    int *place;
    unsigned long long *hits;
    ftb_gpu_rooms rooms; /* all of these: hits' first, */
    int always;          /* which stays */
    uint64_t stamp;      /* of the last work on them */
    bool busy;           /* somebody gathers of them: they do not give way */
};

static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER; /* of the list, and of what gives way */
static struct ftb_kept_rows *all;

/* ---- plan */

static GrB_Info plan(ftb_gpu_features_plan *to, const ftb_backend *b, ftb_gpu_features_facts *facts)
{
    const GrB_Info info = ftb_gpu_free_memory(ftb_gpu_of(b), &facts->free);
    if (info == GrB_SUCCESS)
        ftb_rule_gpu_features(to, facts);
    return info;
}

/* ---- copies */

static void drop(struct ftb_kept_rows *k)
{
    (void)ftb_gpu_after(&k->d->row, k->stamp);
    ftb_gpu_rooms_free_after(&k->rooms, k->always);
    k->nkept = 0;
    k->list = NULL;
    k->kept = NULL;
    k->place = NULL;
}

bool ftb_gpu_kept_drop(const ftb_gpu_device *d)
{
    bool any = false;
    pthread_mutex_lock(&kept_lock);
    for (struct ftb_kept_rows *k = all; k; k = k->next)
        if (k->d == d && !k->busy && k->place) {
            drop(k);
            any = true;
        }
    pthread_mutex_unlock(&kept_lock);
    return any;
}

static void set_busy(struct ftb_kept_rows *k, bool busy)
{
    pthread_mutex_lock(&kept_lock);
    k->busy = busy;
    pthread_mutex_unlock(&kept_lock);
}

/* Room for copies of the first `count` rows of a list, whose places are put down. */
static GrB_Info take(struct ftb_kept_rows *k, const int64_t *rows, int64_t count)
{
    ftb_gpu_rooms *rooms = &k->rooms;
    const int64_t words = (k->of.nrows + 1) / 2;
    const void *list = NULL;
    GrB_Info info;
    FTB_CHECK(ftb_gpu_room(&k->kept, rooms, count * k->of.row_bytes));
    FTB_CHECK(ftb_gpu_list(rooms, &k->place, 8 * words));
    FTB_CHECK(ftb_gpu_send(&list, rooms, rows, count * (int64_t)sizeof *rows));
    FTB_CHECK(ftb_gpu_ones(rooms, k->place, words));
    FTB_CHECK(ftb_gpu_gather_places(k->d, k->of.ctx, list, count, k->place));
    k->list = list;
    k->nkept = count;
done:
    return info;
}

/* The same of fewer rows, where there is no room for all. */
static GrB_Info take_room(struct ftb_kept_rows *k, const int64_t *rows, int64_t count)
{
    GrB_Info info = GrB_SUCCESS;
    for (; count >= LEAST_KEPT && k->nkept == 0; count /= 2) {
        info = take(k, rows, count);
        if (info != GrB_SUCCESS)
            drop(k);
        if (info != GrB_SUCCESS && (info != FTB_NO_DEVICE || k->d->lost))
            return info;
    }
    return GrB_SUCCESS;
}

/* Copies of what the host has now. */
static GrB_Info fill(struct ftb_kept_rows *k)
{
    ftb_gather_kept_arguments a = {.from = k->list, .x = k->x, .y = k->kept, .hits = k->hits};
    const int64_t version = ftb_buffer_version(k->of.buffer);
    GrB_Info info = ftb_gpu_gather_kept(k->d, k->of.ctx, &a, k->nkept, k->of.row_bytes, k->of.step);
    if (info == GrB_SUCCESS) {
        k->version = version;
        ftb_moved(k->of.ctx, FTB_TO_DEVICE, k->nkept * k->of.row_bytes);
    }
    return info;
}

/* ---- the keeper */

static void take_out(const struct ftb_kept_rows *k)
{
    pthread_mutex_lock(&kept_lock);
    struct ftb_kept_rows **at = &all;
    while (*at && *at != k)
        at = &(*at)->next;
    if (*at)
        *at = k->next;
    pthread_mutex_unlock(&kept_lock);
}

static void close_rows(struct ftb_kept_rows *k)
{
    if (!k)
        return;
    if (!ftb_forked()) /* else the lock may be held for good */
        take_out(k);
    (void)ftb_gpu_after(&k->d->row, k->stamp);
    ftb_gpu_rooms_free(&k->rooms);
    if (k->host)
        ftb_gpu_unmap(k->d, k->host);
    ftb_buffer_release(k->of.buffer);
    ftb_delete(k);
}

static GrB_Info open_rows(struct ftb_kept_rows **made, const ftb_backend *b, const ftb_rows_of *of,
                          const int64_t *kept, int64_t nkept)
{
    unsigned long long device = 0;
    struct ftb_kept_rows *k = ftb_new0(of->ctx, 1, sizeof *k);
    *made = NULL;
    if (!k)
        return ftb_nomem();
    *k = (struct ftb_kept_rows){
        .d = ftb_gpu_of(b), .of = *of, .rooms = {.d = ftb_gpu_of(b), .ctx = of->ctx}, .busy = true};
    ftb_buffer_retain(of->buffer);
    const void *host = of->buffer->host;
    GrB_Info info = ftb_gpu_load(k->d, "gpu/kernels/gather.cu");
    if (info == GrB_SUCCESS)
        info = ftb_gpu_load(k->d, FTB_GPU_SAMPLE_NUMBERS);
    if (info == GrB_SUCCESS)
        info = ftb_gpu_map(k->d, host, of->buffer->bytes, &device);
    if (info == GrB_SUCCESS) {
        k->host = host;
        k->x = (const char *)(uintptr_t)device + of->offset;
        info = ftb_gpu_list(&k->rooms, &k->hits, sizeof *k->hits);
    }
    if (info == GrB_SUCCESS)
        info = ftb_gpu_zeros(&k->rooms, k->hits, 1);
    k->always = k->rooms.count;
    if (info == GrB_SUCCESS)
        info = take_room(k, kept, nkept);
    if (info == GrB_SUCCESS && k->place)
        info = fill(k);
    if (info != GrB_SUCCESS) {
        close_rows(k);
        return info;
    }
    k->stamp = ftb_gpu_stamp(b);
    pthread_mutex_lock(&kept_lock);
    k->busy = false;
    k->next = all;
    all = k;
    pthread_mutex_unlock(&kept_lock);
    ftb_buffer_read_by(of->buffer, b);
    *made = k;
    return info;
}

static GrB_Info gather_rows(struct ftb_kept_rows *k, const int64_t *rows, int64_t count, void *y)
{
    ftb_gpu_rooms rooms = {.d = k->d, .ctx = k->of.ctx};
    const void *from = NULL;
    if (count == 0 || k->of.row_bytes == 0)
        return GrB_SUCCESS;
    set_busy(k, true);
    GrB_Info info = ftb_gpu_after(&k->d->row, k->stamp);
    if (info == GrB_SUCCESS && k->place && k->version != ftb_buffer_version(k->of.buffer))
        info = fill(k);
    if (info == GrB_SUCCESS)
        info = ftb_gpu_send(&from, &rooms, rows, count * (int64_t)sizeof *rows);
    ftb_gather_kept_arguments a = {
        .from = from, .place = k->place, .kept = k->kept, .x = k->x, .y = y, .hits = k->hits};
    if (info == GrB_SUCCESS)
        info = ftb_gpu_gather_kept(k->d, k->of.ctx, &a, count, k->of.row_bytes, k->of.step);
    k->stamp = ftb_gpu_stamp(&k->d->row);
    set_busy(k, false);
    ftb_gpu_rooms_free(&rooms);
    return info;
}

static GrB_Info count_rows(struct ftb_kept_rows *k, int64_t *nkept, int64_t *hits)
{
    pthread_mutex_lock(&kept_lock);
    *nkept = k->nkept;
    pthread_mutex_unlock(&kept_lock);
    const GrB_Info info = ftb_gpu_after(&k->d->row, k->stamp);
    if (info != GrB_SUCCESS)
        return info;
    return ftb_gpu_lists_get(&k->rooms, hits, k->hits, sizeof *hits);
}

const ftb_row_keeper ftb_gpu_row_keeper = {
    .plan = plan, .open = open_rows, .gather = gather_rows, .count = count_rows, .close = close_rows};

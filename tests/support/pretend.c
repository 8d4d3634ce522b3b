#include "support/pretend.h"

#include "core/hypersparse.h"
#include "ops/backends.h"
#include "oracle/ref_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096
#define MOST_LATE 64
#define MOST_SPARE 64
#define SPOILT 0xcb

/* Memory of one buffer. */
typedef struct piece {
    struct piece *next;
    char *given, *own; /* the same pages: unreadable, and readable */
    size_t bytes;
} piece;

typedef struct copy {
    void *to;
    const void *from;
    size_t bytes;
} copy;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static piece *pieces, *spare; /* spare: freed, for the next of their size; mapping takes longest */
static int nspare;
static copy late[MOST_LATE];
static int nlate;
static uint64_t state;
static int64_t products;
static atomic_llong patterns, refusals;
static _Thread_local bool pattern_refused;
static bool full; /* one allocation in three fails */

static uint64_t draw(void) /* xorshift64* */
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * UINT64_C(0x2545f4914f6cdd1d);
}

void *pretend_own(const void *device)
{
    if (!device)
        return NULL;
    for (const piece *p = pieces; p; p = p->next)
        if ((const char *)device >= p->given && (const char *)device < p->given + p->bytes)
            return p->own + ((const char *)device - p->given);
    fprintf(stderr, "pretend: %p is not memory of this device\n", device);
    abort();
}

static void do_copies(int count)
{
    for (int n = 0; n < count; n++)
        memcpy(late[n].to, late[n].from, late[n].bytes);
    memmove(late, late + count, (size_t)(nlate - count) * sizeof *late);
    nlate -= count;
}

static piece *map_piece(size_t room)
{
    piece *made = malloc(sizeof *made);
    const int file = memfd_create("pretend", 0);
    if (!made || file < 0 || ftruncate(file, (off_t)room) != 0)
        abort();
    made->bytes = room;
    made->given = mmap(NULL, room, PROT_NONE, MAP_SHARED, file, 0);
    made->own = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (made->given == MAP_FAILED || made->own == MAP_FAILED)
        abort();
    return made;
}

static piece *take_spare(size_t room)
{
    for (piece **at = &spare; *at; at = &(*at)->next)
        if ((*at)->bytes == room) {
            piece *taken = *at;
            *at = taken->next;
            nspare--;
            return taken;
        }
    return NULL;
}

static void unmap_piece(piece *gone)
{
    munmap(gone->given, gone->bytes);
    munmap(gone->own, gone->bytes);
    free(gone);
}

static GrB_Info alloc(const ftb_backend *b, FtB_Context ctx, void **device, int64_t bytes)
{
    (void)b, (void)ctx;
    const size_t room = ((size_t)bytes / PAGE + 1) * PAGE;
    pthread_mutex_lock(&lock);
    const bool refused = full && draw() % 3 == 0;
    if (refused) {
        pthread_mutex_unlock(&lock);
        refusals++;
        return ftb_fail(FTB_NO_DEVICE, "pretend: %lld bytes are not left", (long long)bytes);
    }
    piece *made = take_spare(room);
    if (!made)
        made = map_piece(room);
    memset(made->own, SPOILT, room);
    made->next = pieces;
    pieces = made;
    pthread_mutex_unlock(&lock);
    *device = made->given;
    return GrB_SUCCESS;
}

static void release(const ftb_backend *b, void *device, int64_t bytes)
{
    (void)b, (void)bytes;
    pthread_mutex_lock(&lock);
    do_copies(nlate);
    piece **at = &pieces;
    while (*at && (*at)->given != device)
        at = &(*at)->next;
    piece *gone = *at;
    if (!gone)
        abort();
    *at = gone->next;
    const bool keep = nspare < MOST_SPARE && gone->bytes <= 16 * PAGE;
    if (keep) {
        gone->next = spare;
        spare = gone;
        nspare++;
    }
    pthread_mutex_unlock(&lock);
    if (!keep)
        unmap_piece(gone);
}

static GrB_Info put(const ftb_backend *b, FtB_Context ctx, void *device, const void *host, int64_t bytes)
{
    (void)b, (void)ctx;
    pthread_mutex_lock(&lock);
    if (nlate == MOST_LATE)
        do_copies(nlate);
    if (bytes > 0)
        late[nlate++] = (copy){pretend_own(device), host, (size_t)bytes};
    do_copies((int)(draw() % (uint64_t)(nlate + 1)) * (draw() % 4 == 0));
    pthread_mutex_unlock(&lock);
    return GrB_SUCCESS;
}

static GrB_Info get(const ftb_backend *b, FtB_Context ctx, void *host, const void *device, int64_t bytes)
{
    (void)b, (void)ctx;
    pthread_mutex_lock(&lock);
    do_copies(nlate);
    if (bytes > 0)
        memcpy(host, pretend_own(device), (size_t)bytes);
    pthread_mutex_unlock(&lock);
    return GrB_SUCCESS;
}

static GrB_Info finish(const ftb_backend *b, FtB_Context ctx)
{
    (void)b, (void)ctx;
    pthread_mutex_lock(&lock);
    do_copies(nlate);
    pthread_mutex_unlock(&lock);
    return GrB_SUCCESS;
}

static void spoil(void *host, int64_t bytes) { memset(host, SPOILT, (size_t)bytes); }

/* ---- for its verbs (pretend_verbs.c) */

void pretend_enter(void)
{
    pthread_mutex_lock(&lock);
    do_copies(nlate);
    products++;
}

void pretend_leave(void) { pthread_mutex_unlock(&lock); }

ftb_pattern *pretend_pattern(ftb_pattern *p)
{
    const int64_t *rowptr;
    const void *colidx;
    for (int n = 0; p && n < 2; n++) {
        const ftb_buffer *b = n ? p->colidx_owner : p->rowptr_owner;
        atomic_fetch_add(&patterns, atomic_load(&b->valid) & FTB_VALID_DEVICE ? 0 : b->bytes);
    }
    const GrB_Info info = p ? ftb_pattern_ask_at(p, &pretend_device, &rowptr, &colidx) : GrB_SUCCESS;
    pattern_refused = info == FTB_NO_DEVICE;
    if (!p || info != GrB_SUCCESS)
        return NULL;
    pthread_mutex_lock(&lock);
    do_copies(nlate);
    rowptr = pretend_own(rowptr);
    colidx = pretend_own(colidx);
    pthread_mutex_unlock(&lock);
    ftb_pattern *twin = ftb_pattern_new(p->ctx, p->nrows, p->ncols,
                                        ftb_buffer_wrap(p->ctx, rowptr, p->rowptr_owner->bytes, false),
                                        ftb_buffer_wrap(p->ctx, colidx, p->colidx_owner->bytes, false));
    if (twin)
        twin->multi = p->multi;
    return twin;
}

static int64_t size(const ftb_backend *b)
{
    (void)b;
    return INT64_C(1) << 30;
}

static const ftb_memory memory = {.size = size,
                                  .rate = PRETEND_RATE,
                                  .alloc = alloc,
                                  .free = release,
                                  .put = put,
                                  .get = get,
                                  .wait = finish,
                                  .spoil = spoil};
const ftb_backend pretend_device = {
    .name = "pretend", .about = "a device that does not exist", .memory = &memory, .verbs = &pretend_verbs};

void pretend_begin(uint64_t seed)
{
    state = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
    ftb_backend_remove(&pretend_device);
    ftb_backend_add(&pretend_device);
    if (FtB_Context_set_device(NULL, "pretend") != GrB_SUCCESS)
        abort();
}

void pretend_end(void)
{
    if (FtB_Context_set_device(NULL, NULL) != GrB_SUCCESS)
        abort();
    ftb_backend_remove(&pretend_device);
}

int pretend_setup(void **nothing)
{
    (void)nothing;
    pretend_begin(7);
    return 0;
}

int pretend_teardown(void **nothing)
{
    (void)nothing;
    pretend_end();
    return 0;
}

void pretend_send(ftb_buffer *b)
{
    void *device;
    if (b && (ftb_buffer_ask_at(b, &pretend_device, FTB_UPDATE, &device) != GrB_SUCCESS ||
              ftb_buffer_written(b) != GrB_SUCCESS))
        abort();
}

const void *pretend_memory(const void *device) { return pretend_own(device); }
bool pretend_refused(void) { return pattern_refused; }
int64_t pretend_refusals(void) { return refusals; }
void pretend_fill(bool on) { full = on; }
int64_t pretend_pending(void) { return nlate; }
int64_t pretend_products(void) { return products; }
void pretend_moved(int64_t *home, int64_t *away)
{
    if (FtB_Context_moved(NULL, home, away) != GrB_SUCCESS)
        abort();
    *away -= atomic_load(&patterns);
}

/* Linked into every test (cmake/tests.cmake). */
void pretend_by_environment(void);
__attribute__((constructor)) void pretend_by_environment(void)
{
    const char *seed = getenv("FEATBLAS_PRETEND");
    if (getenv("FEATBLAS_LISTED")) /* every matrix is held as a hypersparse one */
        ftb_listed_rows = -1;
    if (!seed)
        return;
    fprintf(stderr, "FEATBLAS_PRETEND=%s\n", seed);
    if (strcmp(seed, "oracle") == 0)
        ref_device_begin();
    else if (strcmp(seed, "gpu") == 0) {
        if (FtB_Context_set_device(NULL, "gpu") != GrB_SUCCESS)
            abort();
    } else
        pretend_begin(strtoull(seed, NULL, 10));
    full = strstr(seed, "full") != NULL;
}

/* Large files go past the page cache (O_DIRECT), in blocks, by a thread that does nothing else.
 *
 * A file that is far larger than what the page cache holds back runs at the disk's speed either way, but
 * copying it into the cache costs a core: measured on a virtual machine, 1.2 to 2.4 s of system time per GB
 * through the cache and 0.1 s past it, at 1.4 GB/s against 0.4 to 1. The thread waits for the disk while all
 * others compute. */
#include "io/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define BLOCKS (FTB_WRITER_HELD + 3) /* one being written, two waiting */
#define BLOCK_BYTES ((int64_t)4 << 20)
#define SMALL_BLOCK_BYTES ((int64_t)1 << 20) /* under a tight memory limit */
#define DISK_UNIT 4096                       /* no disk's blocks are larger */

typedef struct order {
    char *block;
    int64_t at;
} order;

struct ftb_writer {
    int fd, direct; /* direct: -1 once the file system refused it */
    int64_t unit, block_bytes;
    char *memory;
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t queued, freed;
    char *empty[BLOCKS];
    order queue[BLOCKS]; /* a ring */
    int nempty, first, nqueued;
    bool stopping;
    int error;
};

#ifdef O_DIRECT
static int open_direct(int fd)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, O_WRONLY | O_DIRECT | O_CLOEXEC);
}
#else
static int open_direct(int fd)
{
    (void)fd;
    return -1;
}
#endif

/* Returns an errno, or 0. */
static int write_block(ftb_writer *w, const char *p, int64_t at)
{
    int64_t left = w->block_bytes;
    while (left > 0) {
        bool direct = w->direct >= 0 && at % w->unit == 0;
        ssize_t n = pwrite(direct ? w->direct : w->fd, p, (size_t)left, at);
        if (n < 0 && errno == EINVAL && direct) { /* as usual, then */
            close(w->direct);
            w->direct = -1;
        } else if (n < 0 && errno != EINTR) {
            return errno;
        } else if (n == 0) {
            return ENOSPC;
        }
        if (n > 0) {
            p += n;
            at += n;
            left -= n;
        }
    }
    return 0;
}

static void *work(void *arg)
{
    ftb_writer *w = arg;
    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (w->nqueued == 0 && !w->stopping)
            pthread_cond_wait(&w->queued, &w->lock);
        if (w->nqueued == 0)
            break;
        order o = w->queue[w->first];
        w->first = (w->first + 1) % BLOCKS;
        w->nqueued--;
        int error = w->error; /* after a failure, blocks are only given back */
        pthread_mutex_unlock(&w->lock);
        if (!error)
            error = write_block(w, o.block, o.at);
        pthread_mutex_lock(&w->lock);
        w->error = error;
        w->empty[w->nempty++] = o.block;
        pthread_cond_signal(&w->freed);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static void delete_writer(ftb_writer *w)
{
    if (w->direct >= 0)
        close(w->direct);
    pthread_cond_destroy(&w->freed);
    pthread_cond_destroy(&w->queued);
    pthread_mutex_destroy(&w->lock);
    ftb_delete(w->memory);
    ftb_delete(w);
}

ftb_writer *ftb_writer_start(FtB_Context ctx, int fd)
{
    int64_t share = ftb_memory_left(ctx) / 8 / BLOCKS;
    if (share < SMALL_BLOCK_BYTES)
        return NULL;
    ftb_writer *w = ftb_new0(ctx, 1, sizeof *w);
    if (!w)
        return NULL;
    w->fd = fd;
    w->unit = ftb_max(DISK_UNIT, sysconf(_SC_PAGESIZE));
    w->block_bytes = share >= BLOCK_BYTES ? BLOCK_BYTES : SMALL_BLOCK_BYTES;
    w->memory = ftb_new(ctx, BLOCKS * w->block_bytes + w->unit, 1);
    w->direct = open_direct(fd);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->queued, NULL);
    pthread_cond_init(&w->freed, NULL);
    if (w->memory) {
        char *first = w->memory + (w->unit - (int64_t)((uintptr_t)w->memory % (uintptr_t)w->unit));
        for (; w->nempty < BLOCKS; w->nempty++)
            w->empty[w->nempty] = first + w->nempty * w->block_bytes;
    }
    if (!w->memory || w->direct < 0 || !ftb_thread_start(&w->thread, work, w)) {
        delete_writer(w);
        return NULL;
    }
    return w;
}

int64_t ftb_writer_unit(const ftb_writer *w) { return w->unit; }

int64_t ftb_writer_block_bytes(const ftb_writer *w) { return w->block_bytes; }

char *ftb_writer_take(ftb_writer *w)
{
    pthread_mutex_lock(&w->lock);
    while (w->nempty == 0)
        pthread_cond_wait(&w->freed, &w->lock);
    char *block = w->empty[--w->nempty];
    pthread_mutex_unlock(&w->lock);
    return block;
}

int ftb_writer_submit(ftb_writer *w, char *block, int64_t at)
{
    pthread_mutex_lock(&w->lock);
    w->queue[(w->first + w->nqueued++) % BLOCKS] = (order){block, at};
    int error = w->error;
    pthread_cond_signal(&w->queued);
    pthread_mutex_unlock(&w->lock);
    return error;
}

int ftb_writer_stop(ftb_writer *w, bool drop)
{
    if (!w)
        return 0;
    pthread_mutex_lock(&w->lock);
    w->stopping = true;
    if (drop)
        w->nqueued = 0;
    pthread_cond_signal(&w->queued);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    int error = w->error;
    delete_writer(w);
    return error;
}

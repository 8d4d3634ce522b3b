/* Output files that appear whole or not at all.
 *
 * A file is written under a hidden temporary name in the folder of its target, because only a rename
 * within one file system is atomic, and renamed by ftb_file_commit, when its bytes are on the disk: file
 * systems may else keep the new name and lose the bytes with the power. Standard output, pipes and devices
 * are written as they are. What must be written out of order for those is spooled in a nameless file of
 * the temporary directory, which no kill can leave behind. */
#include "io/io.h"
#include "io/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPY_BYTES (INT64_C(1) << 20)
#define SYNC_BYTES (INT64_C(1) << 26)       /* between two looks at the cancel flag */
#define LEAST_COPY_BYTES (INT64_C(1) << 12) /* under a tight memory limit */

struct ftb_file {
    FtB_Context ctx;
    int fd;
    int slot; /* in `live`, -1: no temporary name */
    bool seekable;
    int64_t at;   /* bytes written by ftb_file_write */
    char *name;   /* for messages */
    char *target; /* renamed to; NULL: nothing to rename */
    bool synced;
    int64_t appended;
    ftb_writer *writer; /* of a large file; NULL: none */
    bool cached;        /* by the page cache, however large */
};

_Static_assert(FTB_STREAMS <= FTB_WRITER_HELD, "every stream may hold a block");
int64_t ftb_file_large = -1;

/* ---- temporary names, kept where a signal handler may read them */

enum { FREE, TAKEN, LIVE };
#define SLOTS 64
static struct {
    atomic_int state;
    pid_t owner; /* a forked child must not remove its parent's files */
    char path[PATH_MAX];
} live[SLOTS];

static int slot_take(void)
{
    for (int s = 0; s < SLOTS; s++) {
        int expected = FREE;
        if (atomic_compare_exchange_strong(&live[s].state, &expected, TAKEN)) {
            live[s].owner = getpid();
            return s;
        }
    }
    return -1;
}

void ftb_file_remove_temporaries(void)
{
    for (int s = 0; s < SLOTS; s++)
        if (atomic_load(&live[s].state) == LIVE && live[s].owner == getpid())
            unlink(live[s].path);
}

/* ---- messages */

static GrB_Info failed(const char *name, const char *what, int error)
{
    char buffer[128];
    const char *reason = strerror_r(error, buffer, sizeof buffer);
    return ftb_fail(FTB_IO, "%s: cannot %s: %s", name, what, reason);
}

GrB_Info ftb_file_failed(const ftb_file *f, int error)
{
    if (error == ECANCELED)
        return ftb_fail(FTB_CANCELLED, "cancelled while writing %s", f->name);
    return failed(f->name, "write", error);
}

bool ftb_file_seekable(const ftb_file *f) { return f->seekable; }

/* ---- creation */

/* Opens a temporary beside the target, registered in a slot. Returns an errno, or 0. */
static int open_temporary(ftb_file *f, const struct stat *old)
{
    static atomic_uint serial;
    const char *base = strrchr(f->target, '/') + 1;
    int folder = (int)(base - f->target);
    f->slot = slot_take();
    if (f->slot < 0)
        return EMFILE;
    char *path = live[f->slot].path;
    do {
        int length = snprintf(path, PATH_MAX, "%.*s.%.200s.%ld-%u.tmp", folder, f->target, base,
                              (long)getpid(), atomic_fetch_add(&serial, 1));
        if (length < 0 || length >= PATH_MAX)
            return ENAMETOOLONG;
        atomic_store(&live[f->slot].state, LIVE);
        f->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (f->fd < 0)
            atomic_store(&live[f->slot].state, TAKEN);
    } while (f->fd < 0 && errno == EEXIST);
    if (f->fd < 0)
        return errno;
    if (old && fchmod(f->fd, old->st_mode & 07777) != 0)
        return errno;
    return 0;
}

static int open_named(ftb_file *f, const char *path)
{
    struct stat st;
    bool exists = stat(path, &st) == 0;
    if (!exists && errno != ENOENT)
        return errno;
    if (exists && S_ISDIR(st.st_mode))
        return EISDIR;
    if (exists && !S_ISREG(st.st_mode)) {
        f->fd = open(path, O_WRONLY | O_CLOEXEC);
        return f->fd < 0 ? errno : 0;
    }
    if (exists && access(path, W_OK) != 0)
        return errno;
    char *target = ftb_resolve(path);
    if (!target)
        return errno;
    f->target = ftb_strdup(f->ctx, target);
    free(target);
    if (!f->target)
        return ENOMEM;
    f->seekable = true;
    return open_temporary(f, exists ? &st : NULL);
}

static ftb_file *make(FtB_Context ctx, const char *name)
{
    ftb_file *f = ftb_new0(ctx, 1, sizeof *f);
    if (!f)
        return NULL;
    f->ctx = ftb_context_retain(ctx);
    f->fd = -1;
    f->slot = -1;
    f->name = ftb_strdup(ctx, name);
    if (!f->name)
        ftb_file_discard(&f);
    return f;
}

GrB_Info ftb_file_create(ftb_file **out, FtB_Context ctx, const char *path)
{
    *out = NULL;
    bool standard = strcmp(path, "-") == 0;
    ftb_file *f = make(ctx, standard ? "standard output" : path);
    if (!f)
        return ftb_nomem();
    if (standard) {
        f->fd = STDOUT_FILENO;
        fflush(stdout); /* what the program printed before comes first */
    } else {
        int error = open_named(f, path);
        if (error) {
            GrB_Info info = error == ENOMEM ? ftb_nomem() : failed(path, "write", error);
            ftb_file_discard(&f);
            return info;
        }
    }
    *out = f;
    return GrB_SUCCESS;
}

GrB_Info ftb_file_spool(ftb_file **out, FtB_Context ctx)
{
    *out = NULL;
    const char *folder = ctx->tmpdir ? ctx->tmpdir : getenv("TMPDIR");
    if (!folder || !*folder)
        folder = "/tmp";
    ftb_file *f = make(ctx, folder);
    if (!f)
        return ftb_nomem();
#ifdef O_TMPFILE
    f->fd = open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
#endif
    if (f->fd < 0) { /* a file system without nameless files */
        char path[PATH_MAX];
        int length = snprintf(path, sizeof path, "%s/featblas-XXXXXX", folder);
        errno = ENAMETOOLONG;
        f->fd = length > 0 && length < PATH_MAX ? mkstemp(path) : -1;
        if (f->fd >= 0)
            unlink(path);
    }
    if (f->fd < 0) {
        GrB_Info info = failed(folder, "make a temporary file in it", errno);
        ftb_file_discard(&f);
        return info;
    }
    f->seekable = true;
    *out = f;
    return GrB_SUCCESS;
}

/* ---- writing */

/* Waits for a stream that takes nothing now; an interrupting signal may have cancelled the context. */
static int retry(const ftb_file *f, int error)
{
    if (error == EINTR)
        return ftb_cancelled(f->ctx) ? ECANCELED : 0;
    if (error == EAGAIN) {
        poll(&(struct pollfd){.fd = f->fd, .events = POLLOUT}, 1, -1);
        return ftb_cancelled(f->ctx) ? ECANCELED : 0;
    }
    return error;
}

static int put(ftb_file *f, int64_t offset, const void *bytes, int64_t count)
{
    const char *p = bytes;
    while (count > 0) {
        ssize_t n = f->seekable ? pwrite(f->fd, p, (size_t)count, offset) : write(f->fd, p, (size_t)count);
        int error = n < 0 ? retry(f, errno) : n == 0 ? ENOSPC : 0;
        if (error)
            return error;
        if (n > 0) {
            p += n;
            offset += n;
            count -= n;
        }
    }
    return 0;
}

GrB_Info ftb_file_write(ftb_file *f, const void *bytes, int64_t count)
{
    int error = put(f, f->at, bytes, count);
    if (error)
        return ftb_file_failed(f, error);
    f->at += count;
    return GrB_SUCCESS;
}

GrB_Info ftb_file_write_at(ftb_file *f, int64_t offset, const void *bytes, int64_t count)
{
    int error = f->seekable ? put(f, offset, bytes, count) : ESPIPE;
    return error ? ftb_file_failed(f, error) : GrB_SUCCESS;
}

/* ---- streams */

/* A sixteenth of the memory: about where the page cache begins to write back what it holds. */
static int64_t large(void)
{
    if (ftb_file_large >= 0)
        return ftb_file_large;
    int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? pages / 16 * page : INT64_MAX;
}

int ftb_file_append(ftb_file *f, ftb_stream *s, const void *bytes, int64_t count)
{
    const char *p = bytes;
    int error = 0;
    f->appended += count;
    if (f->seekable && !f->writer && !f->cached && f->appended > large())
        f->cached = !(f->writer = ftb_writer_start(f->ctx, f->fd));
    while (f->writer && count > 0 && !error) {
        int64_t unit = ftb_writer_unit(f->writer), room = ftb_writer_block_bytes(f->writer), n;
        if (!s->block && s->at % unit != 0) { /* blocks begin at multiples of the unit */
            n = ftb_min(count, unit - s->at % unit);
            error = put(f, s->at, p, n);
        } else {
            if (!s->block)
                s->block = ftb_writer_take(f->writer);
            n = ftb_min(count, room - s->fill);
            memcpy(s->block + s->fill, p, (size_t)n);
            s->fill += n;
        }
        s->at += n;
        p += n;
        count -= n;
        if (s->fill == room) {
            error = ftb_writer_submit(f->writer, s->block, s->at - room);
            s->block = NULL;
            s->fill = 0;
            if (!error && ftb_cancelled(f->ctx))
                error = ECANCELED;
        }
    }
    if (count > 0 && !error)
        error = put(f, s->at, p, count);
    s->at += count;
    return error;
}

GrB_Info ftb_file_settle(ftb_file *f, ftb_stream *const *streams, int count)
{
    int error = 0;
    for (int n = 0; n < count; n++) {
        ftb_stream *s = streams[n];
        if (s->fill > 0 && !error)
            error = put(f, s->at - s->fill, s->block, s->fill);
        s->block = NULL; /* the writer's */
        s->fill = 0;
    }
    int behind = ftb_writer_stop(f->writer, error != 0);
    f->writer = NULL;
    error = error ? error : behind;
    return error ? ftb_file_failed(f, error) : GrB_SUCCESS;
}

/* ---- moving */

/* Copies within or between files by way of memory. Returns an errno, or 0. */
static int copy_bytes(ftb_file *to, int64_t offset, ftb_file *from, int64_t at, int64_t count)
{
    int error = 0;
    const int64_t room = ftb_min(COPY_BYTES, ftb_max(ftb_memory_left(to->ctx) / 2, LEAST_COPY_BYTES));
    char *buffer = ftb_new(to->ctx, ftb_min(count, room), 1);
    if (!buffer)
        return ENOMEM;
    while (count > 0 && !error) {
        ssize_t n = pread(from->fd, buffer, (size_t)ftb_min(count, room), at);
        error = n < 0 ? retry(from, errno) : n == 0 ? EIO : put(to, offset, buffer, n);
        if (n > 0) {
            at += n;
            offset += n;
            count -= n;
        }
    }
    ftb_delete(buffer);
    return error;
}

GrB_Info ftb_file_send(ftb_file *to, ftb_file *spool, int64_t count)
{
    int error = copy_bytes(to, to->at, spool, 0, count);
    if (error)
        return error == ENOMEM ? ftb_nomem() : ftb_file_failed(to, error);
    to->at += count;
    return GrB_SUCCESS;
}

GrB_Info ftb_file_reserve(ftb_file *f, int64_t want, int64_t *tail)
{
    const int64_t unit = 1 << 20; /* a multiple of every file system's block */
    int64_t at = (ftb_min(want, INT64_MAX / 8) + unit - 1) / unit * unit;
    while (ftruncate(f->fd, 4 * at) != 0) { /* room above as well, for an array of twice the size or so */
        if (errno != EINTR && errno != EFBIG && errno != EINVAL)
            return ftb_file_failed(f, errno);
        if (errno != EINTR && at <= unit)
            return ftb_file_failed(f, EFBIG);
        if (errno != EINTR)
            at = at / 2 / unit * unit;
    }
    *tail = at;
    return GrB_SUCCESS;
}

GrB_Info ftb_file_close_gap(ftb_file *f, int64_t end, int64_t *tail, int64_t tail_bytes)
{
    struct stat st;
    int error = 0;
    if (fstat(f->fd, &st) != 0)
        return ftb_file_failed(f, errno);
    int64_t block = ftb_max(st.st_blksize, 4096);
    int64_t start = (end + block - 1) / block * block;
    bool moved = start >= *tail || tail_bytes == 0;
#ifdef FALLOC_FL_COLLAPSE_RANGE
    /* Cuts the gap out of the file's extents. It waits for the disk, so small arrays are copied. */
    if (!moved && tail_bytes > ((int64_t)1 << 28))
        moved = fallocate(f->fd, FALLOC_FL_COLLAPSE_RANGE, start, *tail - start) == 0;
#endif
    if (!moved)
        error = copy_bytes(f, start, f, *tail, tail_bytes);
    if (!error) {
        *tail = ftb_min(start, *tail);
        start = *tail;
        while (ftruncate(f->fd, start + tail_bytes) != 0 && !error)
            error = errno == EINTR ? 0 : errno;
    }
    return error == 0 ? GrB_SUCCESS : error == ENOMEM ? ftb_nomem() : ftb_file_failed(f, error);
}

/* ---- ends */

/* In pieces, since a single fsync of a large file would keep a signal waiting. */
static int sync_bytes(ftb_file *f)
{
    int error = 0;
#ifdef SYNC_FILE_RANGE_WRITE
    struct stat st;
    const int64_t size = fstat(f->fd, &st) == 0 ? st.st_size : 0;
    for (int64_t at = 0; at + SYNC_BYTES < size && !error; at += SYNC_BYTES) { /* errors: fsync has them */
        sync_file_range(f->fd, at, SYNC_BYTES,
                        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
        error = ftb_cancelled(f->ctx) ? ECANCELED : 0;
    }
#endif
    while (!error && fsync(f->fd) != 0)
        error = retry(f, errno);
    return error;
}

GrB_Info ftb_file_sync(ftb_file *f)
{
    if (!f->target || f->ctx->no_sync || f->synced)
        return GrB_SUCCESS;
    const int error = sync_bytes(f);
    f->synced = !error;
    return error ? ftb_file_failed(f, error) : GrB_SUCCESS;
}

/* The target's folder, to be synced; *fd -1: it need not, or cannot. Returns an errno, or 0. */
static int open_folder(int *fd, const ftb_file *f)
{
    char folder[PATH_MAX];
    *fd = -1;
    if (f->ctx->no_sync)
        return 0;
    const int length = (int)(strrchr(f->target, '/') + 1 - f->target); /* shorter than the temporary's name */
    snprintf(folder, sizeof folder, "%.*s", length, f->target);
    *fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *fd >= 0 || errno == EACCES ? 0 : errno;
}

static int sync_folder(int fd)
{
    while (fd >= 0 && fsync(fd) != 0)
        if (errno != EINTR)
            return errno == EINVAL || errno == ENOTSUP ? 0 : errno; /* file systems that sync no folders */
    return 0;
}

GrB_Info ftb_file_commit(ftb_file **file)
{
    ftb_file *f = *file;
    GrB_Info info = ftb_file_sync(f);
    if (info == GrB_SUCCESS && f->target) {
        int folder = -1, error = close(f->fd) == 0 || errno == EINTR ? 0 : errno;
        f->fd = -1;
        if (!error)
            error = open_folder(&folder, f);
        if (!error && rename(live[f->slot].path, f->target) != 0)
            error = errno;
        if (!error) {
            atomic_store(&live[f->slot].state, TAKEN); /* nothing left to remove */
            error = sync_folder(folder);
        }
        if (folder >= 0)
            close(folder);
        if (error)
            info = ftb_file_failed(f, error);
    }
    ftb_file_discard(file);
    return info;
}

void ftb_file_discard(ftb_file **file)
{
    ftb_file *f = *file;
    if (!f)
        return;
    ftb_writer_stop(f->writer, true);
    if (f->fd >= 0 && f->fd != STDOUT_FILENO)
        close(f->fd);
    if (f->slot >= 0) {
        if (atomic_load(&live[f->slot].state) == LIVE && live[f->slot].owner == getpid())
            unlink(live[f->slot].path);
        atomic_store(&live[f->slot].state, FREE);
    }
    FtB_Context ctx = f->ctx;
    ftb_delete(f->name);
    ftb_delete(f->target);
    ftb_delete(f);
    ftb_context_release(ctx);
    *file = NULL;
}

GrB_Info ftb_file_put(FtB_Context ctx, const char *path, const void *bytes, int64_t count)
{
    ftb_file *f = NULL;
    GrB_Info info = ftb_file_create(&f, ctx, path);
    if (info == GrB_SUCCESS)
        info = ftb_file_write(f, bytes, count);
    if (info == GrB_SUCCESS)
        info = ftb_file_commit(&f);
    ftb_file_discard(&f);
    return info;
}

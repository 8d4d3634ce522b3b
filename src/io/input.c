/* Input bytes. Files are read, not mapped: mapped pages would count towards the process's resident size,
 * and a file that shrinks meanwhile would kill it. Large reads of plain files are split between threads. */
#include "io/input.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define PEEK_BYTES 512
#define PACKED_BYTES (256 * 1024)
#define PIECE (4 << 20)

struct ftb_input {
    FtB_Context ctx;
    char *name;
    int fd;
    int64_t size; /* of a plain file, else -1 */
    int64_t at;   /* in a plain file */
    char peeked[PEEK_BYTES];
    int64_t npeeked, peek_used;
    bool gzip, stream_end; /* stream_end: a gzip member just ended */
    bool padded;           /* zeros follow the last one */
    z_stream z;
    unsigned char *packed;
};

const char *ftb_input_name(const ftb_input *in) { return in->name; }

int64_t ftb_input_size(const ftb_input *in) { return in->size; }

const char *ftb_input_peek(const ftb_input *in, int64_t *count)
{
    *count = in->npeeked;
    return in->peeked;
}

static GrB_Info failed(const char *name, int error)
{
    char buffer[128];
    return ftb_fail(FTB_IO, "%s: cannot read: %s", name, strerror_r(error, buffer, sizeof buffer));
}

/* Up to `count` bytes as they are in the file, from its position `at` (ignored for a pipe); *got < count
 * only at its end. Returns an errno, or 0. */
static int read_raw(ftb_input *in, int64_t at, void *bytes, int64_t count, int64_t *got)
{
    *got = 0;
    while (*got < count) {
        char *to = (char *)bytes + *got;
        size_t want = (size_t)(count - *got);
        ssize_t n = in->size >= 0 ? pread(in->fd, to, want, at + *got) : read(in->fd, to, want);
        if (n == 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return errno;
        if (n < 0 && ftb_cancelled(in->ctx))
            return ECANCELED;
        *got += n > 0 ? n : 0;
    }
    return 0;
}

static GrB_Info read_plain(ftb_input *in, void *bytes, int64_t count, int64_t *got)
{
    int first_error = 0, threads = ftb_threads(in->ctx);
    int64_t total = 0;
    if (in->size >= 0) /* a file that grows meanwhile is read as it was: others rely on its size */
        count = ftb_min(count, in->size - in->at);
    if (in->size < 0 || count < 2 * PIECE || threads == 1) {
        first_error = read_raw(in, in->at, bytes, count, &total);
    } else {
        int64_t pieces = (count + PIECE - 1) / PIECE;
#pragma omp parallel for schedule(static) num_threads(threads) reduction(+ : total) reduction(max : first_error)
        for (int64_t p = 0; p < pieces; p++) {
            int64_t n, start = p * PIECE;
            int error =
                read_raw(in, in->at + start, (char *)bytes + start, ftb_min(PIECE, count - start), &n);
            total += n;
            first_error = ftb_max(first_error, error);
        }
    }
    if (first_error == ECANCELED)
        return ftb_fail(FTB_CANCELLED, "cancelled while reading %s", in->name);
    if (first_error)
        return failed(in->name, first_error);
    in->at += total;
    *got = total;
    return GrB_SUCCESS;
}

/* ---- gzip */

static voidpf z_new(voidpf ctx, uInt count, uInt size) { return ftb_new(ctx, count, size); }

static void z_delete(voidpf ctx, voidpf p)
{
    (void)ctx;
    ftb_delete(p);
}

/* The place in the file of the next packed byte. */
static long long packed_at(const ftb_input *in) { return (long long)(in->at - (int64_t)in->z.avail_in); }

/* What stands behind a member is another one, or zeros up to the end, with which some devices pad. */
static GrB_Info next_member(ftb_input *in)
{
    if (!in->padded && *in->z.next_in == 0x1f) {
        inflateReset(&in->z);
        in->stream_end = false;
        return GrB_SUCCESS;
    }
    in->padded = true;
    for (; in->z.avail_in > 0; in->z.avail_in--, in->z.next_in++)
        if (*in->z.next_in != 0)
            return ftb_fail(
                FTB_FORMAT,
                "%s: byte %lld, behind the gzip data, is neither the beginning of more nor a zero "
                "of padding; what follows would be lost",
                in->name, packed_at(in));
    return GrB_SUCCESS;
}

static GrB_Info refill(ftb_input *in)
{
    int64_t n;
    GrB_Info info = read_plain(in, in->packed, PACKED_BYTES, &n);
    if (info == GrB_SUCCESS && n == 0 && !in->stream_end)
        return ftb_fail(FTB_FORMAT, "%s: ends early, in its gzip data, after %lld bytes", in->name,
                        packed_at(in));
    in->z.next_in = in->packed;
    in->z.avail_in = info == GrB_SUCCESS ? (uInt)n : 0;
    return info;
}

static GrB_Info read_gzip(ftb_input *in, void *bytes, int64_t count, int64_t *got)
{
    GrB_Info info = GrB_SUCCESS;
    *got = 0;
    while (*got < count) {
        if (in->z.avail_in == 0) {
            FTB_CHECK(refill(in));
            if (in->z.avail_in == 0)
                break;
        }
        if (in->stream_end) {
            FTB_CHECK(next_member(in));
            continue;
        }
        uInt room = (uInt)ftb_min(count - *got, INT32_MAX);
        in->z.next_out = (unsigned char *)bytes + *got;
        in->z.avail_out = room;
        int status = inflate(&in->z, Z_NO_FLUSH);
        *got += room - in->z.avail_out;
        in->stream_end = status == Z_STREAM_END;
        if (status == Z_MEM_ERROR)
            return ftb_nomem();
        if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
            return ftb_fail(FTB_FORMAT, "%s: damaged gzip data before byte %lld: %s", in->name, packed_at(in),
                            in->z.msg ? in->z.msg : "no reason given");
    }
done:
    return info;
}

static GrB_Info start_gzip(ftb_input *in)
{
    in->packed = ftb_new(in->ctx, PACKED_BYTES, 1);
    if (!in->packed)
        return ftb_nomem();
    in->z = (z_stream){.zalloc = z_new, .zfree = z_delete, .opaque = in->ctx};
    if (inflateInit2(&in->z, 15 + 16) != Z_OK)
        return ftb_nomem();
    in->gzip = true;
    memcpy(in->packed, in->peeked, (size_t)in->npeeked);
    in->z.next_in = in->packed;
    in->z.avail_in = (uInt)in->npeeked;
    in->npeeked = 0;
    return read_gzip(in, in->peeked, PEEK_BYTES, &in->npeeked);
}

/* ---- the whole */

GrB_Info ftb_input_read(ftb_input *in, void *bytes, int64_t count, int64_t *got)
{
    int64_t n = ftb_min(count, in->npeeked - in->peek_used), more = 0;
    memcpy(bytes, in->peeked + in->peek_used, (size_t)n);
    in->peek_used += n;
    GrB_Info info = GrB_SUCCESS;
    if (n < count)
        info = (in->gzip ? read_gzip : read_plain)(in, (char *)bytes + n, count - n, &more);
    *got = n + more;
    return info;
}

GrB_Info ftb_input_exactly(ftb_input *in, void *bytes, int64_t count, const char *what)
{
    int64_t got;
    GrB_Info info = ftb_input_read(in, bytes, count, &got);
    if (info == GrB_SUCCESS && got < count)
        info = ftb_fail(FTB_FORMAT, "%s: ends early, in the %s", in->name, what);
    return info;
}

GrB_Info ftb_input_end(ftb_input *in, const char *what)
{
    int64_t more = 0;
    char beyond;
    GrB_Info info = ftb_input_read(in, &beyond, 1, &more); /* of gzip, also up to the checksum at its end */
    if (info == GrB_SUCCESS && more > 0)
        info = ftb_fail(FTB_FORMAT, "%s: goes on after its %s", in->name, what);
    return info;
}

static GrB_Info open_file(ftb_input *in, const char *path)
{
    struct stat st;
    bool standard = strcmp(path, "-") == 0;
    in->fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (in->fd < 0 || fstat(in->fd, &st) != 0)
        return failed(in->name, errno);
    if (S_ISDIR(st.st_mode))
        return failed(in->name, EISDIR);
    if (S_ISREG(st.st_mode) && !standard && st.st_size > 0) /* 0: perhaps one that is made as it is read */
        in->size = st.st_size;
    return GrB_SUCCESS;
}

GrB_Info ftb_input_open(ftb_input **out, FtB_Context ctx, const char *path)
{
    *out = NULL;
    ftb_input *in = ftb_new0(ctx, 1, sizeof *in);
    if (!in)
        return ftb_nomem();
    GrB_Info info = GrB_SUCCESS;
    in->ctx = ctx;
    in->fd = -1;
    in->size = -1;
    in->name = ftb_strdup(ctx, strcmp(path, "-") == 0 ? "standard input" : path);
    if (!in->name) {
        info = ftb_nomem();
        goto done;
    }
    FTB_CHECK(open_file(in, path));
    FTB_CHECK(read_plain(in, in->peeked, PEEK_BYTES, &in->npeeked));
    if (in->npeeked > 2 && memcmp(in->peeked, "\x1f\x8b\x08", 3) == 0) { /* 8: deflate, the only method */
        FTB_CHECK(start_gzip(in));
        if (in->size >= 0) /* the file's own size says nothing now, but pread still works */
            lseek(in->fd, in->at, SEEK_SET);
        in->size = -1;
    }
done:
    if (info != GrB_SUCCESS)
        ftb_input_close(&in);
    *out = in;
    return info;
}

void ftb_input_close(ftb_input **handle)
{
    ftb_input *in = *handle;
    if (!in)
        return;
    if (in->fd > STDIN_FILENO)
        close(in->fd);
    if (in->gzip)
        inflateEnd(&in->z);
    ftb_delete(in->packed);
    ftb_delete(in->name);
    ftb_delete(in);
    *handle = NULL;
}

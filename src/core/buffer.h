/* Memory that objects share, and where it lives.
 *
 * A buffer has a copy on the host, one on a device, or both; `valid` says which of them hold its values. Its
 * memory is reached by asking, for reading or for writing, on the host or on a device: asking moves what must
 * be moved. Once asked, the address is at hand without an
 * error to look at (ftb_buffer_data, ftb_block_data): builds with assertions check that somebody asked.
 *
 * Addresses that left the library (wrapped memory, FtB_Block_shape, FtB_Matrix_csr) stay good: a buffer that
 * was lent is brought back to the host when a device has written it (ftb_buffer_written). Memory of a device
 * that is the caller's stays where it is; what the host writes of it goes there when the caller asks. */
#ifndef FTB_BUFFER_H
#define FTB_BUFFER_H

#include "featblas.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

struct ftb_backend; /* core/backend.h */

enum { FTB_VALID_HOST = 1, FTB_VALID_DEVICE = 2 };

typedef enum ftb_access {
    FTB_READ,
    FTB_UPDATE, /* read and written, or written in part */
    FTB_WRITE   /* written as a whole: nothing of it is moved */
} ftb_access;

/* What a buffer's values are of, for messages: of a block, or of a matrix's entries; kind FTB_KIND_NONE:
 * nobody said. */
typedef struct ftb_content {
    FtB_Kind kind;
    FtB_Type type;
    int64_t nrows, ncols;
    int64_t nvals, width; /* of a matrix */
} ftb_content;

typedef struct ftb_buffer {
    atomic_llong refs;
    pthread_mutex_t lock; /* held while a copy is made or moved */
    FtB_Context ctx;
    int64_t bytes;
    void *host; /* NULL: there is none yet */
    bool owned, writable;
    bool foreign; /* `device` is the caller's, on `where`, and neither changes */
    atomic_bool lent;
    atomic_int valid;
    const struct ftb_backend *where; /* whose device has a copy; NULL: none */
    void *device;                    /* that copy's address, as verbs of `where` take it */
    uint64_t stamp;                  /* of the work that has written it (backend.h), and */
    unsigned lanes;                  /* the lowest bits of all stamps since, one bit for each */
    atomic_llong version;            /* of what it holds: ftb_buffer_write (watch.h) and _written raise it */
    uint64_t sum;                    /* of the host's copy when both became valid (watch.h) */
    ftb_content content;
    struct ftb_buffer *next, *before;           /* with memory of ours on a device (buffer.c) */
    atomic_llong turn;                          /* of the last time that the device's copy was asked for */
    _Atomic(const struct ftb_backend *) reader; /* that reads the host's copy where it is; NULL: none does */
} ftb_buffer;

ftb_buffer *ftb_buffer_new(FtB_Context ctx, int64_t count, size_t size); /* zeroed; NULL on failure */
ftb_buffer *ftb_buffer_adopt(FtB_Context ctx,
                             void *data); /* owns an ftb_new()ed array, also on failure (deleted) */
ftb_buffer *ftb_buffer_wrap(FtB_Context ctx, const void *data, int64_t bytes, bool writable);
/* Of a device, with room for a copy on the host, which nothing touches before it is asked for. */
ftb_buffer *ftb_buffer_wrap_device(FtB_Context ctx, const struct ftb_backend *where, void *device,
                                   int64_t bytes);
ftb_buffer *ftb_buffer_retain(ftb_buffer *b); /* NULL is allowed */
void ftb_buffer_release(ftb_buffer *b);       /* NULL is allowed */
/* By who makes an object of it; what is shared by others keeps what was said first. */
void ftb_buffer_describe(ftb_buffer *b, const ftb_content *of);
/* The host's copy, valid and of no one else's, becomes the caller's; b is of no use but to be released. */
void *ftb_buffer_take(ftb_buffer *b);

/* Makes the host's copy valid; for writing, the only valid one. NULL is allowed. */
GrB_Info ftb_buffer_ask(ftb_buffer *b, ftb_access access);
/* The same of what a message calls `name`: the call's argument, or what else a caller knows it by. */
GrB_Info ftb_buffer_ask_as(ftb_buffer *b, ftb_access access, const char *name);
/* That name before an error, if it is a device's: what was there alone is gone with it. */
GrB_Info ftb_device_error(GrB_Info info, const char *name);
/* The same of the device of `where`, whose verbs take the address *data (as it was on failure). What is asked
 * for writing is not valid there before ftb_buffer_written says so: a verb that fails has written nothing. A
 * buffer has a copy on one device at a time: another one's is brought home first. */
GrB_Info ftb_buffer_ask_at(ftb_buffer *b, const struct ftb_backend *where, ftb_access access, void **data);
/* After a device's verb wrote it: its copy is the valid one; memory that was lent is made valid on the host,
 * too. */
GrB_Info ftb_buffer_written(ftb_buffer *b);
/* The values are on the host, and the device's memory is given back unless it is the caller's. */
GrB_Info ftb_buffer_home(ftb_buffer *b);
/* The host's memory is given back where a device has the values, and nobody knows the address. */
void ftb_buffer_leave(ftb_buffer *b);
/* Work of `where` reads the host's copy, later: from now on it is waited for before the library writes there.
 */
void ftb_buffer_read_by(ftb_buffer *b, const struct ftb_backend *where);
/* Who has the address wrote there: the caller's memory on a device, the host's else. NULL is allowed. */
GrB_Info ftb_buffer_changed(ftb_buffer *b);
/* The host's address leaves the library. */
GrB_Info ftb_buffer_lend(ftb_buffer *b);

/* A device's memory. Where it has none left, even with what it could do without, buffers whose values are on
 * the host give up their copies there, the one that was not asked for the longest first, until there is room;
 * never those that a call has asked for that is still in its `use`. On failure *device is as it was. */
GrB_Info ftb_device_room(void **device, const struct ftb_backend *where, FtB_Context ctx, int64_t bytes);
/* One of them gives up its copy, for who finds no room otherwise; false: there is none that may. */
bool ftb_device_give_way(const struct ftb_backend *where);
/* From begin to end, of one thread and nested in each other: what is asked of a device meanwhile stays there,
 * as long as what takes its address is not yet in the device's order of work. Another thread may bring it
 * home or have it elsewhere: then the memory stays. */
typedef struct ftb_use {
    struct ftb_use *next;
    const void *thread;
    int64_t since; /* a turn */
} ftb_use;
void ftb_use_begin(ftb_use *use);
void ftb_use_end(ftb_use *use);

/* What a thread asks of a device between begin and end, and what is written there: of the buffers that are
 * still there at the end. Work that a device has recorded (ops/replay.h) asks for the same when it is done
 * again. */
typedef struct ftb_asked {
    ftb_buffer *buffer; /* retained, after the end */
    void *at;
    ftb_access access; /* the first */
    bool written;
} ftb_asked;
typedef struct ftb_trace {
    const struct ftb_backend *where;
    int64_t count, room;
    ftb_asked *asked;
    bool failed; /* something is not there: of another device, or for want of memory */
} ftb_trace;
void ftb_trace_begin(ftb_trace *t, const struct ftb_backend *where);
void ftb_trace_end(void);
bool ftb_tracing(void);
void ftb_trace_clear(ftb_trace *t); /* after the end */
/* Told by buffers of what happens to them: of no effect where this thread has no trace. */
void ftb_trace_asked(ftb_buffer *b, void *at, const struct ftb_backend *where, ftb_access access);
void ftb_trace_written(const ftb_buffer *b);
void ftb_trace_gone(const ftb_buffer *b);

/* Of the host, once asked for. */
static inline void *ftb_buffer_data(const ftb_buffer *b)
{
    assert(atomic_load_explicit(&b->valid, memory_order_relaxed) & FTB_VALID_HOST);
    return b->host;
}

#endif

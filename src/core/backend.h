/* Backends: who holds data, and who runs a verb. A backend is a row of a table: a name, how its memory is
 * reached, and what it can do. Operands are placed on the device of the engaged context; what that device
 * cannot do is done on the host, and what is needed there is moved. Rows are listed in ops/backends.c; tests
 * add their own. */
#ifndef FTB_BACKEND_H
#define FTB_BACKEND_H

#include "core/core.h"

typedef struct ftb_backend ftb_backend;

#define FTB_ALL_SO_FAR UINT64_MAX /* of ftb_memory's `after` */

/* Memory of a device, whose own failures, no room among them, are FTB_NO_DEVICE: GrB_OUT_OF_MEMORY is the
 * host's. What is done for one context is done in order, but for what is done beside; `put` may return before
 * it is done, and then reads the host's memory later: wait before that is written. */
typedef struct ftb_memory {
    int64_t (*size)(const ftb_backend *b); /* bytes in all */
    double rate;                           /* bytes a second that copies move, for plans; 0: not known */
    GrB_Info (*alloc)(const ftb_backend *b, FtB_Context ctx, void **device, int64_t bytes);
    void (*free)(const ftb_backend *b, void *device, int64_t bytes);
    GrB_Info (*put)(const ftb_backend *b, FtB_Context ctx, void *device, const void *host, int64_t bytes);
    GrB_Info (*get)(const ftb_backend *b, FtB_Context ctx, void *host, const void *device, int64_t bytes);
    GrB_Info (*wait)(const ftb_backend *b, FtB_Context ctx); /* until all that was asked for is done */
    /* What is done for ctx goes to a stream of the caller's, NULL: to the device's own, from now on; in
     * order, all the same, with what is done for others. NULL: there are no streams. */
    GrB_Info (*set_stream)(const ftb_backend *b, FtB_Context ctx, void *stream);
    /* Whether an address is of memory there, whoever has it; else an error that says what it is. NULL: nobody
     * knows. */
    GrB_Info (*holds)(const ftb_backend *b, const void *device);
    /* Seconds that what is done for ctx between two calls takes there: the first has NULL, the second waits.
     * One thread at a time measures. NULL: nobody knows. */
    GrB_Info (*lap)(const ftb_backend *b, FtB_Context ctx, double *seconds);
    /* What this thread asks for between the two is done beside what others ask for, after all that was asked
     * for before. One thread at a time: GrB_NO_VALUE where another's is under way. NULL: all work has one
     * order, as it has but for this. */
    GrB_Info (*beside_begin)(const ftb_backend *b, FtB_Context ctx);
    void (*beside_end)(const ftb_backend *b);
    /* A number of what this thread has asked for so far, whose lowest bit says whether beside, and: what it
     * asks for from now on is done after what has that number, whoever asked for it; FTB_ALL_SO_FAR: after
     * all that others have asked for. NULL, both, where nothing is done beside. */
    uint64_t (*stamp)(const ftb_backend *b);
    GrB_Info (*after)(const ftb_backend *b, uint64_t stamp);
    const struct ftb_replays *replays; /* NULL: nothing is recorded */
    /* Told of host memory that is not valid any more; NULL: nobody wants to know. */
    void (*spoil)(void *host, int64_t bytes);
} ftb_memory;

/* Work that is recorded, to be done again and again by one call of the driver. */
struct ftb_recording;
typedef struct ftb_replays {
    /* From here to `end`, what verbs of this thread do there is written down and not done. What cannot be
     * written down fails, such as copies, and waiting. *numbers: room on the device for
     * `bytes` bytes, which each replay fills. One recording at a time: GrB_NO_VALUE where another thread's is
     * under way. On failure none has begun. */
    GrB_Info (*begin)(const ftb_backend *b, FtB_Context ctx, int64_t bytes, void **numbers);
    /* What was written down; NULL where it is not wanted (`keep`), or not all that is needed could be. The
     * memory that it uses for itself is kept for it. */
    GrB_Info (*end)(const ftb_backend *b, bool keep, struct ftb_recording **made);
    /* Does it, in the order of calls, with these numbers, which have been read when it returns. */
    GrB_Info (*run)(const ftb_backend *b, FtB_Context ctx, struct ftb_recording *r, const void *numbers);
    void (*drop)(const ftb_backend *b, struct ftb_recording *r); /* once it is done */
} ftb_replays;

struct ftb_verbs; /* verbs/verbs.h */

struct ftb_backend {
    const char *name;              /* as FtB_Context_set_device takes it */
    const char *about;             /* for people: "the processor's cores" */
    const ftb_memory *memory;      /* NULL: the host's own */
    const struct ftb_verbs *verbs; /* of a backend with memory of its own */
};

/* Counts what is moved for a context (context.c). */
typedef enum ftb_direction { FTB_TO_HOST, FTB_TO_DEVICE } ftb_direction;
void ftb_moved(FtB_Context ctx, ftb_direction direction, int64_t bytes);
/* The device that operands are placed on; NULL: the host. (context.c) */
const ftb_backend *ftb_device(FtB_Context ctx);

#endif

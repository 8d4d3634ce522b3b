/* Work that is done again and again, the same each time but for some numbers, such as a step of training. */
#ifndef FTB_REPLAY_H
#define FTB_REPLAY_H

#include "core/backend.h"

/* The first time it is done as it is; if all of it was done by a device that can record (core/backend.h), the
 * second time that writes it down, and from then on it is one call: the results are the same, bit for bit.
 * What was recorded is good while the buffers that it reads and writes are where they were. Whoever changes
 * anything else that the work is made of, such as which buffers, or in what order, says ftb_replay_drop. */
typedef struct ftb_replay {
    FtB_Precision precision;         /* of those times */
    const ftb_backend *who;          /* where the times were; NULL: the host, or there were none */
    int times;                       /* in a row that all of it was done there */
    int given_up;                    /* how often it could not be recorded */
    bool elsewhere;                  /* some of this time's was not done there */
    struct ftb_recording *recording; /* NULL: there is none */
    ftb_trace trace;
} ftb_replay;

/* The work. `numbers`: where a device has what is different each time, which its kernels then read there;
 * NULL: they are told the numbers themselves. What it does must do no harm where it is not done to its end,
 * and done again. For all that is written, ftb_replay_see is told, where `r` is not NULL. */
typedef GrB_Info (*ftb_work)(void *of, ftb_replay *r, const void *numbers);

/* Does the work, or replays it; `numbers` are the host's, of `bytes` bytes. */
GrB_Info ftb_replay_run(ftb_replay *r, FtB_Context ctx, ftb_work work, void *of, const void *numbers,
                        int64_t bytes);
/* Whether work of a context may be recorded at all. */
bool ftb_replay_possible(FtB_Context ctx);
/* A buffer was written by the work; NULL is allowed. */
void ftb_replay_see(ftb_replay *r, const ftb_buffer *b);
/* Forgets what was recorded, and begins again. */
void ftb_replay_drop(ftb_replay *r);

#endif

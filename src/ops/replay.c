/* Records work on a device, and replays it (replay.h).
 *
 * A recording has the addresses of what it reads and writes. So each replay asks for the same buffers, as the
 * work itself did: what the host has changed is sent, what was given back makes the address another one, and
 * the work is done as it is. Numbers that differ from time to time are the device's to read. */
#include "ops/replay.h"

#include "ops/backends.h"

#define TRIES 3 /* to record work: what moves in the second time, too, may not in the third */

bool ftb_replay_possible(FtB_Context ctx)
{
    const ftb_backend *who = ftb_device(ctx);
    return who && who->memory->replays;
}

static void forget(ftb_replay *r)
{
    if (r->recording)
        r->who->memory->replays->drop(r->who, r->recording);
    r->recording = NULL;
    ftb_trace_clear(&r->trace);
}

void ftb_replay_drop(ftb_replay *r)
{
    forget(r);
    *r = (ftb_replay){.who = NULL};
}

void ftb_replay_see(ftb_replay *r, const ftb_buffer *b)
{
    if (b && (atomic_load(&b->valid) != FTB_VALID_DEVICE || b->where != r->who))
        r->elsewhere = true;
}

/* *done: whether it was. */
static GrB_Info replay(ftb_replay *r, FtB_Context ctx, const void *numbers, bool *done)
{
    GrB_Info info = GrB_SUCCESS;
    bool same = true;
    ftb_use use;
    *done = false;
    ftb_use_begin(&use);
    for (int64_t n = 0; n < r->trace.count && same && info == GrB_SUCCESS; n++) {
        const ftb_asked *asked = &r->trace.asked[n];
        void *at = NULL;
        info = ftb_buffer_ask_at(asked->buffer, r->who, asked->access, &at);
        same = at == asked->at;
    }
    if (info == GrB_SUCCESS && same)
        info = r->who->memory->replays->run(r->who, ctx, r->recording, numbers);
    *done = info == GrB_SUCCESS && same;
    for (int64_t n = 0; *done && n < r->trace.count && info == GrB_SUCCESS; n++)
        if (r->trace.asked[n].written)
            info = ftb_buffer_written(r->trace.asked[n].buffer);
    ftb_use_end(&use);
    if (*done)
        return info;
    forget(r);
    return GrB_SUCCESS;
}

static void record(ftb_replay *r, FtB_Context ctx, ftb_work work, void *of, int64_t bytes)
{
    const ftb_replays *replays = r->who->memory->replays;
    void *numbers = NULL;
    ftb_use use;
    const GrB_Info begun = replays->begin(r->who, ctx, bytes, &numbers);
    if (begun != GrB_SUCCESS) {
        r->given_up +=
            begun != GrB_NO_VALUE; /* which is another thread's turn, and says nothing of this work */
        return;
    }
    r->elsewhere = false;
    ftb_use_begin(&use); /* what is recorded stays where it is until the record is whole */
    ftb_trace_begin(&r->trace, r->who);
    const GrB_Info info = work(of, r, numbers);
    ftb_trace_end();
    const bool keep = info == GrB_SUCCESS && !r->elsewhere && !r->trace.failed;
    const GrB_Info ended = replays->end(r->who, keep, &r->recording);
    ftb_use_end(&use);
    if (ended != GrB_SUCCESS || !r->recording) {
        r->given_up++;
        forget(r);
    }
}

GrB_Info ftb_replay_run(ftb_replay *r, FtB_Context ctx, ftb_work work, void *of, const void *numbers,
                        int64_t bytes)
{
    const ftb_backend *who = ftb_replay_possible(ctx) ? ftb_device(ctx) : NULL;
    if (!who)
        return work(of, NULL, NULL);
    const FtB_Precision precision = ftb_precision(ctx); /* what was recorded is of one */
    if (r->who != who || r->precision != precision)
        ftb_replay_drop(r);
    r->who = who;
    r->precision = precision;
    if (!r->recording && r->times > 0 && r->given_up < TRIES)
        record(r, ctx, work, of, bytes);
    if (r->recording) {
        bool done;
        GrB_Info info = replay(r, ctx, numbers, &done);
        if (done)
            return info;
    }
    r->elsewhere = false;
    GrB_Info info = work(of, r, NULL);
    r->times = info == GrB_SUCCESS && !r->elsewhere ? r->times + 1 : 0;
    return info;
}

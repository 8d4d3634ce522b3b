/* The cases of a context: an array, searched from its begin to its end (a case is compared in nanoseconds;
 * what it saves takes micro- to milliseconds), under a lock. */
#include "plan/wisdom.h"

#include "core/isa.h"

/* Lives in memory that holds no reference to the context, which owns it. */
struct ftb_wisdom {
    bool calibrated; /* costs: this machine's */
    ftb_costs costs;
    int64_t count, room, next; /* next: the oldest, once all are taken */
    ftb_wisdom_entry entry[];
};

static size_t bytes_for(int64_t room)
{
    return sizeof(struct ftb_wisdom) + (size_t)room * sizeof(ftb_wisdom_entry);
}

/* ---- cases */

_Static_assert(sizeof(ftb_wisdom_case) == 8 + 8 * FTB_WISDOM_MACHINE + 32 + 8 * FTB_CASE_FACTS + 8,
               "cases are compared as bytes");

_Static_assert(sizeof(ftb_choice) == 40, "choices are compared as bytes");

/* FNV-1a over the numbers. */
static uint64_t hash(uint64_t h, int64_t x)
{
    for (int byte = 0; byte < 8; byte++)
        h = (h ^ (uint64_t)(x >> (8 * byte) & 255)) * UINT64_C(0x100000001b3);
    return h;
}
#define HASH_BEGIN UINT64_C(0xcbf29ce484222325)

void ftb_wisdom_here(ftb_wisdom_case *when, ftb_plan_kind kind)
{
    const ftb_machine_facts *machine = ftb_machine_here();
    memset(when, 0, sizeof *when);
    when->kind = (int32_t)kind;
    when->isa = ftb_isa();
    when->machine[0] = machine->cores;
    when->machine[1] = machine->l1;
    when->machine[2] = machine->l2;
    when->machine[3] = machine->l3;
}

void ftb_wisdom_of(ftb_wisdom_case *when, ftb_plan_kind kind, const ftb_any_facts *facts)
{
    const ftb_plan_case here = ftb_plan_rows[kind].describe_case(facts);
    ftb_wisdom_here(when, kind);
    snprintf(when->kernel, sizeof when->kernel, "%s", here.kernel);
    memcpy(when->fact, here.fact, sizeof when->fact);
    when->degrees = HASH_BEGIN;
    for (int b = 0; here.degrees && b < FTB_DEGREES; b++)
        when->degrees = hash(hash(when->degrees, here.degrees->rows[b]), here.degrees->entries[b]);
}

/* ---- the array */

static ftb_wisdom_entry *find(struct ftb_wisdom *w, const ftb_wisdom_case *when)
{
    for (int64_t t = 0; w && t < w->count; t++)
        if (memcmp(&w->entry[t].when, when, sizeof *when) == 0)
            return &w->entry[t];
    return NULL;
}

/* Room for `count` more, as far as there may be more. */
static GrB_Info make_room(FtB_Context ctx, int64_t count)
{
    struct ftb_wisdom *old = ctx->wisdom;
    int64_t have = old ? old->count : 0, room = old ? old->room : 0;
    int64_t want = ftb_min(have + count, FTB_WISDOM_MOST);
    if (old && want <= room)
        return GrB_SUCCESS;
    room = ftb_min(ftb_max(want, ftb_max(16, 2 * room)), FTB_WISDOM_MOST);
    if (!ftb_count(ctx, (int64_t)bytes_for(room)))
        return ftb_nomem();
    struct ftb_wisdom *w = ftb_raw_new(bytes_for(room));
    if (!w) {
        ftb_uncount(ctx, (int64_t)bytes_for(room));
        return ftb_fail(GrB_OUT_OF_MEMORY, "out of memory for %lld cases of wisdom", (long long)room);
    }
    *w = (struct ftb_wisdom){.room = room};
    if (old) {
        *w = *old;
        w->room = room;
        memcpy(w->entry, old->entry, (size_t)have * sizeof *w->entry);
        ftb_uncount(ctx, (int64_t)bytes_for(old->room));
        ftb_raw_delete(old);
    }
    ctx->wisdom = w;
    return GrB_SUCCESS;
}

static void put(struct ftb_wisdom *w, const ftb_wisdom_entry *entry)
{
    ftb_wisdom_entry *known = find(w, &entry->when);
    if (!known && w->count < w->room)
        known = &w->entry[w->count++];
    if (!known) {
        known = &w->entry[w->next];
        w->next = (w->next + 1) % w->count;
    }
    *known = *entry;
}

/* Grows before anything is put, so that all are added or none. */
GrB_Info ftb_wisdom_add(FtB_Context ctx, const ftb_wisdom_entry *entries, int64_t count,
                        const ftb_costs *costs)
{
    if (count == 0 && !costs)
        return GrB_SUCCESS;
    pthread_mutex_lock(&ctx->wisdom_lock);
    GrB_Info info = make_room(ctx, count);
    for (int64_t t = 0; info == GrB_SUCCESS && t < count; t++)
        put(ctx->wisdom, &entries[t]);
    if (info == GrB_SUCCESS && costs) {
        ctx->wisdom->calibrated = true;
        ctx->wisdom->costs = *costs;
    }
    pthread_mutex_unlock(&ctx->wisdom_lock);
    return info;
}

static bool same_machine(const ftb_wisdom_case *a, const ftb_wisdom_case *b)
{
    return a->isa == b->isa && memcmp(a->machine, b->machine, sizeof a->machine) == 0;
}

GrB_Info ftb_wisdom_list(ftb_wisdom_text *all, FtB_Context ctx)
{
    ftb_wisdom_case here;
    ftb_wisdom_here(&here, FTB_PLAN_SPMM);
    *all = (ftb_wisdom_text){.entries = ftb_new(ctx, FTB_WISDOM_MOST, sizeof *all->entries)};
    if (!all->entries)
        return ftb_nomem();
    pthread_mutex_lock(&ctx->wisdom_lock);
    const struct ftb_wisdom *w = ctx->wisdom;
    for (int64_t t = 0; w && t < w->count; t++) {
        const ftb_wisdom_entry *entry = &w->entry[(w->next + t) % w->count];
        if (same_machine(&entry->when, &here))
            all->entries[all->count++] = *entry;
    }
    if (w && w->calibrated) {
        all->calibrated = true;
        all->costs = w->costs;
    }
    pthread_mutex_unlock(&ctx->wisdom_lock);
    return GrB_SUCCESS;
}

void ftb_wisdom_forget(FtB_Context ctx)
{
    pthread_mutex_lock(&ctx->wisdom_lock);
    if (ctx->wisdom)
        ftb_uncount(ctx, (int64_t)bytes_for(ctx->wisdom->room));
    ftb_raw_delete(ctx->wisdom);
    ctx->wisdom = NULL;
    pthread_mutex_unlock(&ctx->wisdom_lock);
}

/* ---- plans */

ftb_machine_facts ftb_wisdom_machine(FtB_Context ctx)
{
    ftb_machine_facts machine = *ftb_machine_here();
    ctx = ctx ? ctx : ftb_context();
    pthread_mutex_lock(&ctx->wisdom_lock);
    if (ctx->wisdom && ctx->wisdom->calibrated) {
        machine.calibrated = true;
        machine.costs = ctx->wisdom->costs;
    }
    pthread_mutex_unlock(&ctx->wisdom_lock);
    return machine;
}

bool ftb_wisdom_any(FtB_Context ctx)
{
    pthread_mutex_lock(&ctx->wisdom_lock);
    bool wise = ctx->wisdom && ctx->wisdom->count > 0;
    pthread_mutex_unlock(&ctx->wisdom_lock);
    return wise;
}

static bool look_up(ftb_choice *choice, FtB_Context ctx, const ftb_wisdom_case *when)
{
    pthread_mutex_lock(&ctx->wisdom_lock);
    const ftb_wisdom_entry *entry = find(ctx->wisdom, when);
    if (entry)
        *choice = entry->choice;
    pthread_mutex_unlock(&ctx->wisdom_lock);
    return entry != NULL;
}

bool ftb_wisdom_plan(ftb_any_plan *plan, ftb_plan_kind kind, const ftb_any_facts *facts, FtB_Context ctx)
{
    ftb_wisdom_case when;
    ftb_choice choice;
    if (!ftb_wisdom_any(ctx))
        return false;
    ftb_wisdom_of(&when, kind, facts);
    if (!look_up(&choice, ctx, &when))
        return false;
    const ftb_machine_facts machine = ftb_wisdom_machine(ctx);
    return ftb_plan_rows[kind].choose(plan, facts, &machine, &choice, FTB_ORIGIN_WISDOM);
}

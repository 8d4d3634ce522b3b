/* Runs of vertex programs: what is given is checked, texts are compiled once, and supersteps are done, each
 * whole or not at all.
 *
 * A superstep: what active vertices send; a push, a pull or a product of the whole graph; what vertices do
 * with what they received; who is active next. */
#include "vertex/run.h"

#include "core/options.h"
#include "core/watch.h"
#include "expr/tree.h"
#include "ops/block/blocks.h"
#include "ops/spmm.h"
#include "plan/vertex_plan.h"

static const char *const way_names[] = {"", "push", "pull", "all", "slices"};
static const char *const direction_names[] = {"out", "in", "both"};

/* ---- the state */

static const char *const reserved[] = {"message",   "edge",     "received", "changed", "id",  "n",   "round",
                                       "outdegree", "indegree", "src",      "dst",     "a",   "b",   "new",
                                       "old",       "sum",      "true",     "false",   "inf", "nan", "pi"};

static GrB_Info check_name(const struct FtB_Run_opaque *r, const char *name)
{
    const ftb_token token = ftb_token_next(name ? name : "", 0);
    if (!name)
        return ftb_fail(GrB_NULL_POINTER, "states: the name of number %d is NULL", r->nstates);
    if (token.kind != FTB_TOKEN_NAME || token.start != 0 || name[token.length] != '\0' || strchr(name, '.') ||
        token.length > FTB_NAME_MAX - 4)
        return ftb_fail(GrB_INVALID_VALUE,
                        "states: '%.40s' is no name: letters, digits and _, %d at most, a digit not first",
                        name, FTB_NAME_MAX - 4);
    for (size_t w = 0; w < sizeof reserved / sizeof *reserved; w++)
        if (strcmp(name, reserved[w]) == 0)
            return ftb_fail(GrB_INVALID_VALUE, "states: '%s' is a name of the language", name);
    for (int s = 0; s < r->nstates; s++)
        if (strcmp(r->states[s].name, name) == 0)
            return ftb_fail(GrB_INVALID_VALUE, "states: '%s' is there twice", name);
    return GrB_SUCCESS;
}

static GrB_Info add_block(FtB_Run r, ftb_vertex_state *s, const FtB_Binding *b)
{
    FtB_Block X;
    GrB_Info info = ftb_arg_block_anywhere(&X, b->value, b->name, false);
    if (info != GrB_SUCCESS)
        return ftb_wrap_error(info, "states: ");
    if (X->nrows != r->n && X->nrows != 1)
        return ftb_fail(GrB_DIMENSION_MISMATCH,
                        "states: '%s' is %lld x %lld; expected a row for each of the %lld vertices, or one",
                        b->name, (long long)X->nrows, (long long)X->ncols, (long long)r->n);
    if (X->ncols < 1)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "states: '%s' has no columns", b->name);
    s->vertex = X->nrows == r->n;
    info = ftb_block_view(&s->block, r->ctx, X->type, X->nrows, X->ncols, X->ld, ftb_buffer_retain(X->owner));
    if (info == GrB_SUCCESS)
        s->block->offset = X->offset;
    return info;
}

static GrB_Info add_state(FtB_Run r, const FtB_Binding *b)
{
    ftb_vertex_state *s = &r->states[r->nstates];
    GrB_Info info = check_name(r, b->name);
    if (info != GrB_SUCCESS)
        return info;
    snprintf(s->name, sizeof s->name, "%s", b->name);
    if (b->value.kind == FTB_KIND_REAL) {
        s->type = FTB_FP64;
        s->real = b->value.real;
    } else if (b->value.kind == FTB_KIND_INTEGER) {
        const int64_t x = b->value.integer;
        s->type = x >= INT16_MIN && x <= INT16_MAX ? FTB_INT16 : FTB_INT64;
        s->integer = x;
        s->few = (int16_t)x;
    } else
        info = add_block(r, s, b);
    r->nstates += info == GrB_SUCCESS;
    return info;
}

static GrB_Info add_states(FtB_Run r, FtB_States given)
{
    if (given.count > 0 && !given.at)
        return ftb_fail(GrB_NULL_POINTER, "states is NULL; expected %zu names", given.count);
    if (given.count > FTB_MAX_FEEDS)
        return ftb_fail(GrB_INVALID_VALUE, "states: %zu names; expected %d at most", given.count,
                        FTB_MAX_FEEDS);
    r->states = ftb_new0(r->ctx, (int64_t)given.count, sizeof *r->states);
    r->work.states = ftb_new0(r->ctx, (int64_t)given.count, sizeof *r->work.states);
    if (!r->states || !r->work.states)
        return ftb_nomem();
    GrB_Info info = GrB_SUCCESS;
    for (size_t s = 0; s < given.count && info == GrB_SUCCESS; s++)
        info = add_state(r, &given.at[s]);
    return info;
}

static size_t bytes_of(FtB_Block X)
{
    return X->nrows > 0 ? (size_t)((X->nrows - 1) * X->ld + X->ncols) * FtB_Type_size(X->type) : 0;
}

/* Whether two blocks have a byte in common; columns beside each other in the same rows have none. */
static bool share_bytes(FtB_Block X, FtB_Block Y)
{
    const size_t x = FtB_Type_size(X->type), y = FtB_Type_size(Y->type), pitch = (size_t)X->ld * x;
    if (!ftb_block_overlaps(X, ftb_block_address(Y), bytes_of(Y)))
        return false;
    if (pitch != (size_t)Y->ld * y || pitch == 0)
        return true;
    const char *from = ftb_block_address(X), *to = ftb_block_address(Y);
    const size_t apart =
        to >= from ? (size_t)(to - from) % pitch : (pitch - (size_t)(from - to) % pitch) % pitch;
    return apart < (size_t)X->ncols * x || apart + (size_t)Y->ncols * y > pitch;
}

/* What changes can be written, and is nobody else's. */
static GrB_Info check_written(const struct FtB_Run_opaque *r)
{
    for (int f = 0; f < r->work.nfields; f++) {
        const int s = r->work.fields[f].state;
        const FtB_Block X = r->states[s].block;
        if (!X->owner->writable)
            return ftb_fail(GrB_INVALID_VALUE,
                            "states: '%s', which apply changes, wraps memory that must not be written",
                            r->states[s].name);
        for (int o = 0; o < r->nstates; o++) {
            const FtB_Block other = r->states[o].block;
            if (o != s && other && share_bytes(X, other))
                return ftb_fail(GrB_INVALID_VALUE,
                                "states: '%s', which apply changes, shares memory with '%s'",
                                r->states[s].name, r->states[o].name);
        }
        if (r->A->values && ftb_block_overlaps(X, r->A->values->host, (size_t)r->A->values->bytes))
            return ftb_fail(GrB_INVALID_VALUE,
                            "states: '%s', which apply changes, shares memory with the values of A",
                            r->states[s].name);
    }
    return GrB_SUCCESS;
}

/* ---- the graph */

/* Rows of who sends (or receives), in the order in which a receiver's messages are reduced. */
static GrB_Info make_edges(ftb_vertex_edges *to, bool *there, FtB_Run r, bool senders)
{
    const FtB_Direction d = r->program->direction;
    ftb_pattern *p = r->A->pattern;
    *to = (ftb_vertex_edges){.rows = {NULL}};
    for (int part = 0, at = 0; part < 2; part++) {
        if (d != FTB_BOTH && (part == 1) != (d == FTB_IN))
            continue;
        const bool own = (part == 0) == senders; /* A's own rows are those that send out */
        ftb_pattern *rows = p;
        GrB_Info info =
            own ? GrB_SUCCESS : ftb_pattern_transpose(p, &rows, r->reads_edges ? &to->from[at] : NULL);
        if (info != GrB_SUCCESS)
            return info;
        to->rows[at++] = rows;
    }
    *there = true;
    return GrB_SUCCESS;
}

static GrB_Info want_edges(FtB_Run r, bool senders)
{
    if (senders)
        return r->by_sender_there ? GrB_SUCCESS : make_edges(&r->by_sender, &r->by_sender_there, r, true);
    return r->by_receiver_there ? GrB_SUCCESS : make_edges(&r->by_receiver, &r->by_receiver_there, r, false);
}

static int64_t entries_of(const struct FtB_Run_opaque *r)
{
    return r->A->pattern->nvals * (r->program->direction == FTB_BOTH ? 2 : 1);
}

/* ---- who begins */

static GrB_Info begin_active(FtB_Run r)
{
    const FtB_Ids start = r->options.start;
    r->all = !start.at;
    r->nactive = r->n;
    if (r->all)
        return GrB_SUCCESS;
    if (start.count < 0)
        return ftb_fail(GrB_INVALID_VALUE, "options: start has %lld vertices", (long long)start.count);
    uint64_t *words = ftb_new(r->ctx, start.count, sizeof *words),
             *scratch = ftb_new(r->ctx, start.count, sizeof *words);
    r->active = ftb_vertex_need(r->ctx, &r->active_room, start.count, sizeof *r->active);
    GrB_Info info = words && scratch && r->active ? GrB_SUCCESS : ftb_nomem();
    for (int64_t t = 0; t < start.count && info == GrB_SUCCESS; t++) {
        if (start.at[t] < 0 || start.at[t] >= r->n)
            info = ftb_fail(GrB_INDEX_OUT_OF_BOUNDS, "options: start[%lld] is %lld; expected 0 to %lld",
                            (long long)t, (long long)start.at[t], (long long)r->n - 1);
        else
            words[t] = (uint64_t)start.at[t];
    }
    r->nactive = 0;
    const uint64_t *sorted = info == GrB_SUCCESS ? ftb_sort(words, scratch, start.count, 0, 63) : NULL;
    for (int64_t t = 0; sorted && t < start.count; t++)
        if (t == 0 || sorted[t] != sorted[t - 1])
            r->active[r->nactive++] = (int64_t)sorted[t];
    r->all = r->nactive == r->n;
    ftb_delete(words);
    ftb_delete(scratch);
    return info;
}

static GrB_Info check_options(FtB_Run r, const FtB_Run_options *given)
{
    const struct FtB_Program_opaque *p = r->program;
    GrB_Info info = ftb_options_read(&r->options, sizeof r->options, given, "FtB_Run_new", "FTB_RUN_OPTIONS");
    if (info != GrB_SUCCESS)
        return info;
    const FtB_Run_options *o = &r->options;
    if (o->rounds < 0)
        return ftb_fail(GrB_INVALID_VALUE, "options: rounds is %lld; expected 0 or more",
                        (long long)o->rounds);
    if ((int)o->way < FTB_WAY_AUTO || (int)o->way > FTB_WAY_SLICES)
        return ftb_fail(GrB_INVALID_VALUE, "options: way is %d; expected one of FTB_WAY_*", (int)o->way);
    r->rounds = ftb_min(p->rounds ? p->rounds : INT64_MAX, o->rounds ? o->rounds : INT64_MAX);
    if (p->always && p->all_apply && !p->until && r->rounds == INT64_MAX)
        return ftb_fail(GrB_INVALID_VALUE,
                        "the run would never end: all vertices are active in every superstep, and there "
                        "is neither `until` nor `rounds`");
    return GrB_SUCCESS;
}

/* ---- objects */

static void destroy(FtB_Run r)
{
    if (!r)
        return;
    ftb_vertex_room *rooms[] = {&r->active_room, &r->next_room,      &r->sent_room,      &r->received_room,
                                &r->second_room, &r->receivers_room, &r->applying.flags, &r->applying.parts};
    r->magic = 0;
    ftb_vertex_texts_clear(r);
    for (size_t m = 0; m < sizeof rooms / sizeof *rooms; m++)
        ftb_delete(rooms[m]->at);
    for (size_t m = 0; m < sizeof r->mail.rooms / sizeof *r->mail.rooms; m++)
        ftb_delete(r->mail.rooms[m].at);
    for (int s = 0; s < r->nstates; s++)
        FtB_Block_free(&r->states[s].block);
    ftb_delete(r->states);
    ftb_delete(r->work.states);
    FtB_Matrix_free(&r->A);
    ftb_program_release(r->program);
    ftb_delete(r);
}

static GrB_Info begin(FtB_Run r, FtB_Matrix A, FtB_States states, const FtB_Run_options *options)
{
    GrB_Info info = ftb_arg_matrix_anywhere(&A, FTB_ARG(A), "A", false);
    if (info != GrB_SUCCESS)
        return info;
    if (A->pattern->nrows != A->pattern->ncols)
        return ftb_fail(GrB_DIMENSION_MISMATCH, "A is %lld x %lld; expected as many rows as columns",
                        (long long)A->pattern->nrows, (long long)A->pattern->ncols);
    FTB_CHECK(ftb_matrix_share(&r->A, A));
    r->n = r->vertices = r->work.n = r->work.senders = A->pattern->nrows;
    r->work.ctx = r->ctx;
    r->work.nthreads = ftb_threads(r->ctx);
    r->applying.sums = r->sums;
    FTB_CHECK(check_options(r, options));
    FTB_CHECK(add_states(r, states));
    FTB_CHECK(ftb_vertex_texts_make(r));
    FTB_CHECK(check_written(r));
    FTB_CHECK(begin_active(r));
    r->over = r->nactive == 0;
    if (r->options.explain)
        fprintf(r->options.explain, "%-9s %12s %14s %-6s %-6s %12s %12s %10s\n", "superstep", "active",
                "edges", "along", "way", "applied", "next", "seconds");
done:
    return info;
}

GrB_Info FtB_Run_new(FtB_Run *run, FtB_Program program, FtB_Matrix A, FtB_States states,
                     const FtB_Run_options *options)
{
    if (!run)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Run_new: run is NULL");
    *run = NULL;
    if (!program)
        return ftb_fail(GrB_NULL_POINTER, "program is NULL; expected an FtB_Program");
    if (program->magic != FTB_MAGIC_PROGRAM)
        return ftb_fail(GrB_UNINITIALIZED_OBJECT, "program is not an FtB_Program, or was freed");
    const FtB_Context ctx = ftb_context();
    FtB_Run r = ftb_new0(ctx, 1, sizeof *r);
    if (!r)
        return ftb_nomem();
    r->magic = FTB_MAGIC_RUN;
    r->ctx = ctx;
    r->program = ftb_program_retain(program);
    GrB_Info info = begin(r, A, states, options);
    if (info == GrB_SUCCESS)
        *run = r;
    else
        destroy(r);
    return info;
}

static GrB_Info check_run(FtB_Run run, const char *call)
{
    if (!run)
        return ftb_fail(GrB_NULL_POINTER, "%s: run is NULL", call);
    return run->magic == FTB_MAGIC_RUN
               ? GrB_SUCCESS
               : ftb_fail(GrB_UNINITIALIZED_OBJECT, "%s: run is not an FtB_Run, or was freed", call);
}

GrB_Info FtB_Run_about(FtB_Run run, FtB_Superstep *about)
{
    GrB_Info info = check_run(run, "FtB_Run_about");
    if (info != GrB_SUCCESS)
        return info;
    if (!about)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Run_about: about is NULL");
    *about = run->about;
    return GrB_SUCCESS;
}

GrB_Info FtB_Run_free(FtB_Run *run)
{
    if (!run || !*run)
        return GrB_SUCCESS;
    GrB_Info info = check_run(*run, "FtB_Run_free");
    if (info != GrB_SUCCESS)
        return info;
    destroy(*run);
    *run = NULL;
    return GrB_SUCCESS;
}

/* ---- a superstep */

static ftb_vertex_list senders_of(const struct FtB_Run_opaque *r)
{
    return (ftb_vertex_list){r->all ? NULL : r->active, r->nactive};
}

/* The state, and A's values, on the host. */
static GrB_Info ask(FtB_Run r)
{
    GrB_Info info = r->reads_edges ? ftb_buffer_ask(r->A->values, FTB_READ) : GrB_SUCCESS;
    for (int s = 0; s < r->nstates && info == GrB_SUCCESS; s++) {
        const FtB_Block X = r->states[s].block;
        if (!X)
            continue;
        info = ftb_buffer_ask(X->owner, r->states[s].changes ? FTB_UPDATE : FTB_READ);
        if (info != GrB_SUCCESS)
            break;
        if (r->states[s].changes)
            (void)ftb_buffer_write(X->owner);
        r->work.states[s] = ftb_block_data(X);
    }
    r->work.edges = r->reads_edges && info == GrB_SUCCESS ? ftb_values(r->A) : NULL;
    return info;
}

static GrB_Info choose(FtB_Run r, FtB_Way *way, int64_t *edges)
{
    const ftb_vertex_list senders = senders_of(r);
    ftb_vertex_facts facts = {.n = r->n,
                              .nvals = entries_of(r),
                              .active = r->nactive,
                              .edges = entries_of(r),
                              .threads = r->work.nthreads,
                              .pull_made = r->by_receiver_there || r->program->direction == FTB_IN,
                              .all = r->all,
                              .any_way = r->any_way,
                              .wanted = r->options.way};
    GrB_Info info = GrB_SUCCESS;
    if (!r->all) {
        info = want_edges(r, true);
        if (info == GrB_SUCCESS)
            facts.edges = ftb_vertex_count(&r->work, &r->by_sender, &senders);
    }
    facts.may_push = ftb_vertex_may_push(r->n, facts.edges);
    *way = ftb_rule_vertex(&facts);
    *edges = facts.edges;
    return info;
}

static GrB_Info send_messages(FtB_Run r, FtB_Way way)
{
    const ftb_vertex_list all = {NULL, r->n}, senders = senders_of(r);
    ftb_vertex_mail *mail = &r->mail;
    if (r->sends_field) {
        mail->sent = r->work.states[r->sent];
        mail->ld = r->states[r->sent].block->ld;
        mail->by_vertex = true;
        return GrB_SUCCESS;
    }
    const ftb_vertex_text *send = &r->work.texts[FTB_VERTEX_SEND];
    const ftb_vertex_list *who = way == FTB_WAY_PUSH ? &senders : &all;
    void *sent =
        ftb_vertex_need(r->ctx, &r->sent_room, who->count, (size_t)send->width * FtB_Type_size(send->type));
    if (!sent)
        return ftb_nomem();
    ftb_vertex_send(&r->work, who, sent);
    mail->sent = sent;
    mail->ld = send->width;
    mail->by_vertex = who->list == NULL;
    return GrB_SUCCESS;
}

/* Messages of all vertices along the rows of p, by the product that is best for the text. */
static GrB_Info multiply(ftb_spmm_result *result, FtB_Run r, int which, ftb_vertex_room *room)
{
    const ftb_pattern *p = r->by_receiver.rows[which];
    const ftb_vertex_work *w = &r->work;
    ftb_vertex_text text = w->texts[FTB_VERTEX_COMBINE];
    ftb_vertex_point(w, &text, &r->mail);
    for (int f = 0; f < text.m.nfeeds; f++) {
        if (text.of[f].kind == FTB_VERTEX_EDGE)
            text.m.feeds[f].at = r->by_receiver.from[which];
        if (text.of[f].kind == FTB_VERTEX_MESSAGE)
            text.m.feeds[f].nrows = r->n;
    }
    void *into = ftb_vertex_need(r->ctx, room, r->n, (size_t)w->width * FtB_Type_size(w->reduced));
    if (!into)
        return ftb_nomem();
    /* Not by hand: then it would be taken where its bits are others, too. */
    static const ftb_spmm_plan slices = {
        .asked = {.forced = FTB_SPMM_SET_KERNEL, .chosen = FTB_SPMM_SET_KERNEL, .family = FTB_SPMM_SLICED}};
    const ftb_spmm_request request = {.message = &text.m,
                                      .forced = r->options.way == FTB_WAY_SLICES ? &slices : NULL,
                                      .p = (ftb_pattern *)(uintptr_t)p,
                                      .into = into,
                                      .into_type = w->reduced,
                                      .ldinto = w->width};
    GrB_Info info = ftb_spmm_message(result, &request);
    if (info == GrB_SUCCESS && result->type != w->reduced) { /* then it is elsewhere */
        ftb_cast(into, w->reduced, result->values, result->type, r->n * w->width);
        result->values = into;
        result->ld = w->width;
    }
    return info;
}

/* The product of the whole graph; what it made beside the run's memory is in `results`, to be given back
 * behind apply. */
static GrB_Info multiply_all(FtB_Run r, ftb_spmm_result results[2], FtB_Way *way)
{
    ftb_vertex_mail *mail = &r->mail;
    const ftb_vertex_work *w = &r->work;
    ftb_pattern *const *rows = (ftb_pattern *const *)r->by_receiver.rows;
    GrB_Info info = multiply(&results[0], r, 0, &r->received_room);
    if (info == GrB_SUCCESS && rows[1])
        info = multiply(&results[1], r, 1, &r->second_room);
    if (info != GrB_SUCCESS)
        return info;
    *way = results[0].plan.family == FTB_SPMM_SLICED ? FTB_WAY_SLICES : FTB_WAY_ALL;
    if (rows[1] || r->program->all_apply)
        ftb_vertex_join(w, results[0].values, results[0].ld, rows[0], results[1].values, results[1].ld,
                        rows[1]);
    mail->edges = entries_of(r);
    mail->received = results[0].values;
    mail->ldr = results[0].ld;
    mail->received_by_vertex = true;
    mail->receivers = (ftb_vertex_list){NULL, r->n};
    if (r->program->all_apply)
        return GrB_SUCCESS;
    int64_t *list = ftb_vertex_need(r->ctx, &r->receivers_room, r->n, sizeof *list);
    if (!list)
        return ftb_nomem();
    mail->receivers = (ftb_vertex_list){list, ftb_vertex_receivers(w, list, rows[0], rows[1])};
    return GrB_SUCCESS;
}

static GrB_Info deliver(FtB_Run r, FtB_Way *chosen, int64_t edges, ftb_spmm_result results[2])
{
    const FtB_Way way = *chosen;
    const ftb_vertex_list senders = senders_of(r);
    GrB_Info info = want_edges(r, way == FTB_WAY_PUSH);
    if (info == GrB_SUCCESS)
        info = send_messages(r, way);
    if (info != GrB_SUCCESS)
        return info;
    if (way == FTB_WAY_ALL)
        return multiply_all(r, results, chosen);
    info = way == FTB_WAY_PUSH ? ftb_vertex_push(&r->work, &r->by_sender, &senders, edges, &r->mail)
                               : ftb_vertex_pull(&r->work, &r->by_receiver, &senders, &r->mail);
    return info == GrB_SUCCESS && r->program->all_apply ? ftb_vertex_spread(&r->work, &r->mail) : info;
}

/* Vertices apply, and those that are active next become so. */
static GrB_Info apply(FtB_Run r)
{
    ftb_vertex_applying *a = &r->applying;
    a->who = r->program->all_apply ? (ftb_vertex_list){NULL, r->n} : r->mail.receivers;
    a->next = ftb_vertex_need(r->ctx, &r->next_room, a->who.count, sizeof *a->next);
    if (!a->next)
        return ftb_nomem();
    GrB_Info info = ftb_vertex_apply(&r->work, &r->mail, a);
    if (info != GrB_SUCCESS)
        return info;
    const ftb_vertex_room swap = r->active_room;
    r->active_room = r->next_room;
    r->next_room = swap;
    r->active = a->next;
    r->nactive = a->count;
    r->all = r->nactive == r->n;
    return GrB_SUCCESS;
}

static GrB_Info superstep(FtB_Run r)
{
    const double start = ftb_seconds();
    const int64_t active = r->nactive;
    ftb_spmm_result results[2] = {{.values = NULL}};
    int64_t edges = 0;
    FtB_Way way = FTB_WAY_AUTO;
    GrB_Info info;
    r->round = r->about.round + 1;
    FTB_CHECK(ftb_progress(r->ctx, (double)r->about.round, r->rounds == INT64_MAX ? 0 : (double)r->rounds,
                           "supersteps"));
    FTB_CHECK(ask(r));
    FTB_CHECK(choose(r, &way, &edges));
    FTB_CHECK(deliver(r, &way, edges, results));
    FTB_CHECK(apply(r));
    r->over = r->nactive == 0 || r->round >= r->rounds || ftb_vertex_until(r);
    r->about = (FtB_Superstep){.round = r->round,
                               .active = active,
                               .edges = r->mail.edges,
                               .applied = r->applying.who.count,
                               .next = r->nactive,
                               .way = way,
                               .seconds = ftb_seconds() - start};
    if (r->options.explain)
        fprintf(r->options.explain, "%-9lld %12lld %14lld %-6s %-6s %12lld %12lld %10.6f\n",
                (long long)r->round, (long long)active, (long long)r->about.edges,
                direction_names[r->program->direction], way_names[way], (long long)r->about.applied,
                (long long)r->about.next, r->about.seconds);
done:
    ftb_delete(results[0].owned);
    ftb_delete(results[1].owned);
    return info;
}

GrB_Info FtB_Run_step(FtB_Run run, bool *more)
{
    GrB_Info info = check_run(run, "FtB_Run_step");
    if (info == GrB_SUCCESS && !more)
        info = ftb_fail(GrB_NULL_POINTER, "FtB_Run_step: more is NULL");
    if (info == GrB_SUCCESS && !run->over)
        info = superstep(run);
    if (info == GrB_SUCCESS)
        *more = !run->over;
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(run->ctx);
    return info;
}

GrB_Info FtB_run(FtB_Program program, FtB_Matrix A, FtB_States states, const FtB_Run_options *options)
{
    FtB_Run run = NULL;
    bool more = true;
    GrB_Info info = FtB_Run_new(&run, program, A, states, options);
    if (info != GrB_SUCCESS)
        return info;
    while (more && info == GrB_SUCCESS)
        info = FtB_Run_step(run, &more);
    if (run->options.supersteps)
        *run->options.supersteps = run->about.round;
    FtB_Run_free(&run);
    return info;
}

/* Supersteps of a vertex program, each done whole or not at all: what active vertices send; a push, a pull or
 * a product of the whole graph; what vertices do with what they received; who is active next. */
#include "vertex/run.h"

#include "core/watch.h"
#include "ops/spmm.h"
#include "plan/vertex_plan.h"
#include "vertex/run_there.h"

static const char *const way_names[] = {"", "push", "pull", "all", "slices", "whole"};
static const char *const loop_names[] = {"text", "plain", "first", "bits"};
static const char *const direction_names[] = {"out", "in", "both"};

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

GrB_Info ftb_vertex_want_edges(FtB_Run r, bool senders)
{
    if (senders)
        return r->by_sender_there ? GrB_SUCCESS : make_edges(&r->by_sender, &r->by_sender_there, r, true);
    return r->by_receiver_there ? GrB_SUCCESS : make_edges(&r->by_receiver, &r->by_receiver_there, r, false);
}

int64_t ftb_vertex_entries(const struct FtB_Run_opaque *r)
{
    return r->A->pattern->nvals * (r->program->direction == FTB_BOTH ? 2 : 1);
}

/* ---- a superstep */

ftb_vertex_list ftb_vertex_senders(const struct FtB_Run_opaque *r)
{
    return (ftb_vertex_list){r->all ? NULL : r->active, r->nactive};
}

/* Of active vertices those of the lowest bucket send; the others wait. */
static GrB_Info take_lowest(FtB_Run r)
{
    if (r->taken)
        return GrB_SUCCESS;
    if (!r->waiting) {
        const ftb_vertex_list begin = ftb_vertex_senders(r);
        ftb_vertex_waiting *q = ftb_vertex_waiting_new(&r->work);
        GrB_Info info = q ? ftb_vertex_waiting_reserve(q, &r->work, begin.count) : ftb_nomem();
        if (info != GrB_SUCCESS) {
            ftb_vertex_waiting_delete(q);
            return info;
        }
        ftb_vertex_waiting_add(q, &r->work, &begin, NULL);
        r->waiting = q;
    }
    GrB_Info info = ftb_vertex_waiting_take(r->waiting, &r->work, &r->active_room, &r->nactive);
    r->active = r->active_room.at;
    r->all = r->nactive == r->n;
    r->taken = info == GrB_SUCCESS;
    return info;
}

/* Who is active behind apply waits beside those that did. */
static void wait_for_turn(FtB_Run r)
{
    ftb_vertex_waiting_add(r->waiting, &r->work, &r->applying.who, r->applying.flags.at);
    r->nactive = r->waiting->count;
    r->taken = false;
}

GrB_Info ftb_vertex_ask(FtB_Run r)
{
    if (r->closed && r->asked)
        return GrB_SUCCESS;
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
    r->asked = info == GrB_SUCCESS;
    return info;
}

/* Who may still receive of a program that settles its vertices: about those that were not active yet and have
 * edges. */
static void count_open(const struct FtB_Run_opaque *r, ftb_vertex_facts *facts)
{
    const ftb_degrees *degrees = ftb_pattern_degrees(r->A->pattern);
    facts->open = 0;
    for (int b = 0; b < FTB_DEGREES; b++)
        facts->open += degrees->rows[b];
    facts->open = ftb_max(0, facts->open - r->sent - facts->active);
    facts->left = ftb_max(0, facts->left - r->sent_edges - facts->edges);
}

/* What the rule asks for, beside the edges of those that are active. */
static ftb_vertex_facts facts_of(const struct FtB_Run_opaque *r, int64_t edges)
{
    ftb_pattern *p = r->A->pattern;
    ftb_vertex_facts facts = {.n = r->n,
                              .nvals = ftb_vertex_entries(r),
                              .active = r->nactive,
                              .edges = edges,
                              .threads = r->work.nthreads,
                              .may_push = ftb_vertex_may_push(r->n, edges),
                              .pull_made = r->program->direction == FTB_IN ||
                                           ftb_pattern_transposed(p, r->reads_edges),
                              .missed = (double)atomic_load(&p->would_save),
                              .all = r->all,
                              .open = r->n,
                              .left = ftb_vertex_entries(r),
                              .any_way = r->any_way,
                              .first = r->work.first,
                              .bits = r->bits.there,
                              .words = r->bits.parent < 0 || r->bits.log,
                              .plain = r->work.plain != FTB_PLAIN_NONE,
                              .far = r->reads_edges && r->program->direction != FTB_IN,
                              .wanted = r->options.way};
    if (facts.first && r->work.settled >= 0)
        count_open(r, &facts);
    return facts;
}

/* Edges of those that send. */
static GrB_Info count_edges(FtB_Run r, int64_t *edges)
{
    const ftb_vertex_list senders = ftb_vertex_senders(r);
    *edges = r->there && r->there->knows_active ? r->there->edges : ftb_vertex_entries(r);
    if (r->all || (r->there && r->there->knows_active))
        return GrB_SUCCESS;
    GrB_Info info = ftb_vertex_want_edges(r, true);
    if (info == GrB_SUCCESS)
        *edges = ftb_vertex_count(&r->work, &r->by_sender, &senders);
    return info;
}

static FtB_Way choose(const struct FtB_Run_opaque *r, int64_t edges)
{
    const FtB_Way wanted = r->options.way;
    double missed;
    if (!r->all && (wanted == FTB_WAY_AUTO || wanted == FTB_WAY_PUSH) &&
        edges + r->nactive < r->n / FTB_VERTEX_FEW && ftb_vertex_may_push(r->n, edges))
        return FTB_WAY_PUSH;
    const ftb_vertex_facts facts = facts_of(r, edges);
    const FtB_Way way = ftb_rule_vertex(&facts, &missed);
    if (missed > 0)
        atomic_fetch_add(&r->A->pattern->would_save, (long long)missed);
    return way;
}

/* ---- on a device */

/* What moves where a run changes places: the fields, and who is active. */
static ftb_vertex_place place_of(const struct FtB_Run_opaque *r, const ftb_backend *who)
{
    ftb_vertex_place at = {.there = r->is_there,
                           .state = r->n,
                           .entry = 4 + r->work.width * (int64_t)FtB_Type_size(r->work.reduced),
                           .rate = who->memory->rate};
    for (int f = 0; f < r->work.nfields; f++) {
        const ftb_vertex_field *field = &r->work.fields[f];
        const int valid = atomic_load(&r->states[field->state].block->owner->valid);
        at.state += r->n * field->ncols * (int64_t)FtB_Type_size(field->type);
        at.there = at.there || !(valid & FTB_VALID_HOST);
    }
    return at;
}

/* Why the host does a superstep, though there is a device; NULL: that does. */
static GrB_Info choose_place(const char **why, FtB_Run r, int64_t edges)
{
    const ftb_backend *who = ftb_device(r->ctx);
    const FtB_Way wanted = r->options.way;
    GrB_Info info = GrB_SUCCESS;
    *why = !who                                                 ? "there is no device"
           : wanted == FTB_WAY_PUSH || wanted == FTB_WAY_SLICES ? "asked for"
                                                                : NULL;
    if (*why)
        return info;
    const ftb_vertex_facts facts = facts_of(r, edges);
    const ftb_vertex_place at = place_of(r, who);
    if (wanted != FTB_WAY_PULL && !ftb_rule_vertex_there(&facts, &at, &r->lost)) {
        *why = "few are active";
        return info;
    }
    if (r->there && r->there->who != who) {
        info = ftb_vertex_there_leave(r);
        if (info != GrB_SUCCESS)
            return info;
        ftb_vertex_there_delete(r->there);
        r->there = NULL;
    }
    if (!r->there)
        info = ftb_vertex_there_new(&r->there, r, who);
    if (info == GrB_SUCCESS)
        *why = r->there->why;
    return info;
}

static GrB_Info send_messages(FtB_Run r, FtB_Way way)
{
    const ftb_vertex_list all = {NULL, r->n}, senders = ftb_vertex_senders(r);
    ftb_vertex_mail *mail = &r->mail;
    if (r->sends_field) {
        mail->sent = r->work.states[r->sent_field];
        mail->ld = r->states[r->sent_field].block->ld;
        mail->by_vertex = true;
        return GrB_SUCCESS;
    }
    const ftb_vertex_text *send = &r->work.texts[FTB_VERTEX_SEND];
    const ftb_vertex_list *who = way == FTB_WAY_PUSH ? &senders : &all;
    void *sent =
        ftb_vertex_need(r->ctx, &r->sent_room, who->count, (size_t)send->width * FtB_Type_size(send->type));
    if (!sent)
        return ftb_nomem();
    ftb_vertex_send(&r->work, FTB_VERTEX_SEND, who, sent);
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
                                      .ldinto = w->width,
                                      .fill = r->program->all_apply && !r->by_receiver.rows[1]};
    GrB_Info info = ftb_spmm_message(result, &request);
    if (info == GrB_SUCCESS && result->type != w->reduced) { /* then it is elsewhere */
        ftb_cast(into, w->reduced, result->values, result->type, r->n * w->width);
        result->values = into;
        result->ld = w->width;
        result->filled = false;
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
    if (rows[1] || (r->program->all_apply && !results[0].filled))
        ftb_vertex_join(w, results[0].values, results[0].ld, rows[0], results[1].values, results[1].ld,
                        rows[1]);
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
    mail->receivers.count = ftb_vertex_keep_open(w, list, NULL, NULL, mail->receivers.count);
    return GrB_SUCCESS;
}

/* Messages of which one for each receiver is computed, after it is known whose. */
static GrB_Info deliver_first(FtB_Run r, FtB_Way way, int64_t edges)
{
    const ftb_vertex_list senders = ftb_vertex_senders(r);
    r->mail.sent = NULL;
    if (r->sends_field) {
        GrB_Info info = send_messages(r, way);
        if (info != GrB_SUCCESS)
            return info;
    }
    return way == FTB_WAY_PUSH ? ftb_vertex_first_push(&r->work, &r->by_sender, &senders, edges, &r->mail)
                               : ftb_vertex_first_pull(&r->work, &r->by_receiver, &senders, &r->mail);
}

static FtB_Type type_sent(const struct FtB_Run_opaque *r)
{
    return r->sends_field ? r->states[r->sent_field].block->type : r->work.texts[FTB_VERTEX_SEND].type;
}

static GrB_Info deliver_by_list(FtB_Run r, ftb_vertex_loop how, FtB_Way way, int64_t edges)
{
    const ftb_vertex_list senders = ftb_vertex_senders(r);
    const bool push = way == FTB_WAY_PUSH;
    const ftb_vertex_edges *by = push ? &r->by_sender : &r->by_receiver;
    if (how == FTB_LOOP_FIRST)
        return deliver_first(r, way, edges);
    GrB_Info info = send_messages(r, way);
    if (info != GrB_SUCCESS)
        return info;
    if (how == FTB_LOOP_PLAIN)
        return push ? ftb_vertex_plain_push(&r->work, by, &senders, edges, type_sent(r), &r->mail)
                    : ftb_vertex_plain_pull(&r->work, by, &senders, type_sent(r), &r->mail);
    return push ? ftb_vertex_push(&r->work, by, &senders, edges, &r->mail)
                : ftb_vertex_pull(&r->work, by, &senders, &r->mail);
}

/* ---- a superstep by texts */

/* All vertices that are not settled. */
static GrB_Info list_open(FtB_Run r, ftb_vertex_list *who)
{
    *who = (ftb_vertex_list){NULL, r->n};
    if (r->work.settled < 0)
        return GrB_SUCCESS;
    int64_t *list = ftb_vertex_need(r->ctx, &r->open_room, r->n, sizeof *list);
    if (!list)
        return ftb_nomem();
    for (int64_t v = 0; v < r->n; v++)
        list[v] = v;
    *who = (ftb_vertex_list){list, ftb_vertex_keep_open(&r->work, list, NULL, NULL, r->n)};
    return GrB_SUCCESS;
}

/* Vertices apply, and those that are active next become so. */
static GrB_Info apply(FtB_Run r)
{
    ftb_vertex_applying *a = &r->applying;
    a->who = r->mail.receivers;
    if (r->program->all_apply) {
        GrB_Info info = list_open(r, &a->who);
        if (info != GrB_SUCCESS)
            return info;
    }
    a->all = r->work.always && !a->who.list;
    a->next = a->all ? NULL : ftb_vertex_need(r->ctx, &r->next_room, a->who.count, sizeof *a->next);
    GrB_Info info = a->next || a->all ? GrB_SUCCESS : ftb_nomem();
    if (info == GrB_SUCCESS && r->waiting)
        info = ftb_vertex_waiting_reserve(r->waiting, &r->work, a->who.count);
    if (info == GrB_SUCCESS)
        info = ftb_vertex_apply(&r->work, &r->mail, a);
    if (info != GrB_SUCCESS)
        return info;
    if (r->waiting) {
        wait_for_turn(r);
        return info;
    }
    const ftb_vertex_room swap = r->active_room;
    r->active_room = r->next_room;
    r->next_room = swap;
    r->active = a->next;
    r->nactive = a->count;
    r->all = r->nactive == r->n;
    return GrB_SUCCESS;
}

void ftb_vertex_tell(const struct FtB_Run_opaque *r)
{
    const FtB_Superstep *s = &r->about;
    if (!r->options.explain)
        return;
    fprintf(r->options.explain, "%-9lld %12lld %14lld %-6s %-6s %-6s %12lld %12lld %10.6f",
            (long long)s->round, (long long)s->active, (long long)s->edges,
            direction_names[r->program->direction], way_names[s->way], s->loop, (long long)s->applied,
            (long long)s->next, s->seconds);
    if (ftb_device(r->ctx)) /* else nobody asks */
        fprintf(r->options.explain, "  %s%s%s", s->where, r->why_here ? ": " : "",
                r->why_here ? r->why_here : "");
    fprintf(r->options.explain, "\n");
}

static GrB_Info step_there(FtB_Run r, FtB_Way *way)
{
    *way = r->all ? FTB_WAY_ALL : FTB_WAY_PULL;
    r->asked = false;
    return ftb_vertex_there_step(r, &r->applying.who.count);
}

static GrB_Info step_by_list(FtB_Run r, ftb_vertex_loop how, FtB_Way way, int64_t edges)
{
    GrB_Info info = deliver_by_list(r, how, way, edges);
    if (info == GrB_SUCCESS && r->program->all_apply)
        info = ftb_vertex_spread(&r->work, &r->mail);
    return info == GrB_SUCCESS ? apply(r) : info;
}

/* What the product has made stays until all have applied. */
static GrB_Info step_by_product(FtB_Run r, FtB_Way *way)
{
    ftb_spmm_result results[2] = {{.values = NULL}};
    GrB_Info info = send_messages(r, *way);
    if (info == GrB_SUCCESS)
        info = multiply_all(r, results, way);
    if (info == GrB_SUCCESS)
        info = apply(r);
    ftb_delete(results[0].owned);
    ftb_delete(results[1].owned);
    return info;
}

static GrB_Info step_here(FtB_Run r, FtB_Way *way, ftb_vertex_loop *how, int64_t edges)
{
    GrB_Info info;
    FTB_CHECK(ftb_vertex_there_leave(r));
    FTB_CHECK(ftb_vertex_ask(r));
    *way = choose(r, edges);
    FTB_CHECK(ftb_vertex_choose_loop(how, r, *way));
    FTB_CHECK(ftb_vertex_want_edges(r, *way == FTB_WAY_PUSH));
    info = *how == FTB_LOOP_BITS ? ftb_vertex_search(r, *way, edges)
           : *way == FTB_WAY_ALL ? step_by_product(r, way)
                                 : step_by_list(r, *how, *way, edges);
done:
    return info;
}

static GrB_Info superstep(FtB_Run r)
{
    const bool timed = !r->closed || r->options.explain;
    const double start = timed ? ftb_seconds() : 0;
    int64_t active = 0, edges = 0;
    FtB_Way way = FTB_WAY_AUTO;
    ftb_vertex_loop how = FTB_LOOP_TEXT;
    GrB_Info info;
    r->round = r->about.round + 1;
    FTB_CHECK(ftb_progress(r->ctx, (double)r->about.round, r->rounds == INT64_MAX ? 0 : (double)r->rounds,
                           "supersteps"));
    ftb_vertex_look_at_bits(r);
    if (r->work.priority >= 0) {
        FTB_CHECK(ftb_vertex_ask(r));
        FTB_CHECK(take_lowest(r));
    }
    active = r->nactive;
    FTB_CHECK(count_edges(r, &edges));
    r->mail.edges = edges;
    FTB_CHECK(choose_place(&r->why_here, r, edges));
    FTB_CHECK(r->why_here ? step_here(r, &way, &how, edges) : step_there(r, &way));
    r->is_there = !r->why_here;
    r->sent += active;
    r->sent_edges += edges;
    r->over = r->nactive == 0 || r->round >= r->rounds || ftb_vertex_until(r);
    r->about = (FtB_Superstep){.round = r->round,
                               .active = active,
                               .edges = r->mail.edges,
                               .applied = r->applying.who.count,
                               .next = r->nactive,
                               .way = way,
                               .seconds = timed ? ftb_seconds() - start : 0,
                               .loop = r->is_there ? "device" : loop_names[how],
                               .where = r->is_there ? r->there->who->name : "host"};
    ftb_vertex_tell(r);
done:
    return info;
}

GrB_Info FtB_Run_step(FtB_Run run, bool *more)
{
    GrB_Info info = ftb_vertex_check_run(run, "FtB_Run_step");
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

GrB_Info ftb_vertex_run_to_end(FtB_Run run)
{
    bool more = true;
    GrB_Info info = ftb_vertex_whole(run);
    while (more && info == GrB_SUCCESS)
        info = FtB_Run_step(run, &more);
    ftb_vertex_settle_bits(run);
    const GrB_Info home = ftb_vertex_there_home(run);
    info = info == GrB_SUCCESS ? home : info;
    if (run->options.supersteps)
        *run->options.supersteps = run->about.round;
    FtB_Run_free(&run);
    return info;
}

GrB_Info FtB_run(FtB_Program program, FtB_Matrix A, FtB_States states, const FtB_Run_options *options)
{
    FtB_Run run = NULL;
    GrB_Info info = ftb_vertex_run_new(&run, program, A, states, options, "FtB_run");
    if (info != GrB_SUCCESS)
        return info;
    run->closed = true;
    return ftb_vertex_run_to_end(run);
}

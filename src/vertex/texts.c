/* What the names of a program's texts stand for, and the texts compiled for it.
 *
 *     send            FIELD id outdegree indegree                       of who sends
 *     settled         the same                                          of who might receive
 *     priority        the same                                          of who becomes active
 *     combine         message edge dst.FIELD
 *     apply           received FIELD old.FIELD id outdegree indegree    of who applies
 *     active, sums    received changed new.FIELD old.FIELD id outdegree indegree; FIELD where apply leaves it
 *     until           its sums
 *
 * and in all of them numbers, blocks of one row, n and round. */
#include "core/words.h"
#include "cpu/interpreter.h"
#include "expr/tree.h"
#include "vertex/run.h"

typedef enum place { IN_SEND, IN_COMBINE, IN_APPLY, BEHIND_APPLY } place;

#define KNOWN 400 /* characters of names that a message lists */

/* ---- names */

static void offer(char *known, const char *name)
{
    size_t used = strlen(known);
    used += ftb_put_word(known + used, KNOWN - used, used ? ", " : "");
    ftb_put_word(known + used, KNOWN - used, name);
}

/* What could have stood there. */
static void list_known(char *known, const struct FtB_Run_opaque *r, place in)
{
    static const char *const own[][4] = {[IN_SEND] = {NULL},
                                         [IN_COMBINE] = {"message", "edge"},
                                         [IN_APPLY] = {"received"},
                                         [BEHIND_APPLY] = {"received", "changed"}};
    static const char *const behind[] = {"new.", "old."};
    *known = '\0';
    for (int o = 0; own[in][o]; o++)
        offer(known, own[in][o]);
    for (int s = 0; s < r->nstates; s++) {
        const ftb_vertex_state *state = &r->states[s];
        char name[2 * FTB_NAME_LENGTH];
        for (int b = 0; in == BEHIND_APPLY && state->changes && b < 2; b++) {
            snprintf(name, sizeof name, "%s%s", behind[b], state->name);
            offer(known, name);
        }
        if (in == BEHIND_APPLY && state->changes)
            continue;
        snprintf(name, sizeof name, "%s%s", in == IN_COMBINE && state->vertex ? "dst." : "", state->name);
        offer(known, name);
    }
    if (in != IN_COMBINE)
        offer(known, "id, outdegree, indegree");
    offer(known, "n, round");
}

static int state_named(const struct FtB_Run_opaque *r, const char *name)
{
    for (int s = 0; s < r->nstates; s++)
        if (strcmp(r->states[s].name, name) == 0)
            return s;
    return -1;
}

typedef struct meaning { /* of a name: a feed, and what it is of */
    ftb_feed feed;
    ftb_vertex_kind kind;
    int index;
} meaning;

static ftb_feed number_feed(FtB_Type type, const void *data)
{
    return (ftb_feed){.side = FTB_SIDE_NONE,
                      .type = type,
                      .data = data,
                      .nrows = 1,
                      .ld = 1,
                      .heads = 1,
                      .width = 1,
                      .constant = true};
}

static ftb_feed index_feed(const struct FtB_Run_opaque *r, const int64_t *degree)
{
    return (ftb_feed){.side = FTB_SIDE_ROW,
                      .type = FTB_INT64,
                      .nrows = r->n,
                      .ld = 1,
                      .heads = 1,
                      .width = 1,
                      .degree = degree};
}

static bool mean_state(meaning *m, const struct FtB_Run_opaque *r, int s)
{
    const ftb_vertex_state *state = &r->states[s];
    const void *data = state->type == FTB_FP64    ? (const void *)&state->real
                       : state->type == FTB_INT16 ? (const void *)&state->few
                                                  : &state->integer;
    m->kind = state->block ? FTB_VERTEX_STATE : FTB_VERTEX_FIXED;
    m->index = s;
    m->feed = state->block ? ftb_block_feed(state->block, 1, state->vertex ? FTB_SIDE_ROW : FTB_SIDE_NONE)
                           : number_feed(state->type, data);
    m->feed.owner = NULL;
    return true;
}

static ftb_feed mail_feed(FtB_Type type, int64_t width, ftb_side side)
{
    return (ftb_feed){
        .side = side, .type = type, .nrows = INT64_MAX, .ld = width, .heads = 1, .width = width};
}

/* new.FIELD, old.FIELD, dst.FIELD. */
static bool mean_part(meaning *m, const struct FtB_Run_opaque *r, place in, const char *name)
{
    const int s = state_named(r, name + 4);
    const bool old = strncmp(name, "old.", 4) == 0 && in >= IN_APPLY, fresh = strncmp(name, "new.", 4) == 0;
    if (s < 0 || !r->states[s].vertex)
        return false;
    if (old || (strncmp(name, "dst.", 4) == 0 && in == IN_COMBINE) ||
        (fresh && in == BEHIND_APPLY && !r->states[s].changes))
        return mean_state(m, r, s);
    if (!fresh || in != BEHIND_APPLY)
        return false;
    int f = 0;
    while (r->work.fields[f].state != s)
        f++;
    m->kind = FTB_VERTEX_NEW;
    m->index = f;
    m->feed = mail_feed(r->work.fields[f].type, r->work.fields[f].ncols, FTB_SIDE_COL);
    return true;
}

/* indegree and outdegree: the pattern's rows, or its columns. */
static GrB_Info mean_degree(meaning *m, const struct FtB_Run_opaque *r, bool out)
{
    ftb_pattern *p = r->A->pattern, *transpose = p;
    GrB_Info info = out ? GrB_SUCCESS : ftb_pattern_transpose(p, &transpose, NULL);
    m->feed = index_feed(r, transpose->rowptr);
    return info;
}

/* *found: whether the name has a meaning there. */
static GrB_Info find_meaning(meaning *m, bool *found, const struct FtB_Run_opaque *r, place in,
                             const char *name)
{
    const int s = state_named(r, name);
    const bool constant = s >= 0 && (!r->states[s].vertex || (r->n == 1 && !r->states[s].changes));
    *m = (meaning){.kind = FTB_VERTEX_FIXED};
    *found = true;
    if (s >= 0 && (constant || (in != IN_COMBINE && !(in == BEHIND_APPLY && r->states[s].changes))))
        mean_state(m, r, s);
    else if (name[0] && name[1] && name[2] && name[3] == '.')
        *found = mean_part(m, r, in, name);
    else if (strcmp(name, "n") == 0 || strcmp(name, "round") == 0)
        m->feed = number_feed(FTB_INT64, name[0] == 'n' ? &r->vertices : &r->round);
    else if (in != IN_COMBINE && strcmp(name, "id") == 0)
        m->feed = index_feed(r, NULL);
    else if (in != IN_COMBINE && (strcmp(name, "outdegree") == 0 || strcmp(name, "indegree") == 0))
        return mean_degree(m, r, name[0] == 'o');
    else if (in >= IN_APPLY && strcmp(name, "received") == 0) {
        m->kind = FTB_VERTEX_RECEIVED;
        m->feed = mail_feed(r->work.reduced, r->work.width, FTB_SIDE_EDGE);
    } else if (in == BEHIND_APPLY && strcmp(name, "changed") == 0) {
        m->kind = FTB_VERTEX_CHANGED;
        m->feed = mail_feed(FTB_BOOL, 1, FTB_SIDE_COL);
    } else
        *found = false;
    return GrB_SUCCESS;
}

/* Feeds for the names that are not known yet. */
static GrB_Info add_names(ftb_vertex_text *t, const struct FtB_Run_opaque *r, place in)
{
    const ftb_expr *e = t->m.expr;
    for (int x = 0; x < e->nnodes; x++) {
        const ftb_node *node = &e->nodes[x];
        char name[FTB_NAME_LENGTH], known[KNOWN];
        meaning m;
        bool found;
        if (node->op != FTB_OP_NAME)
            continue;
        snprintf(name, sizeof name, "%.*s", node->name.length, e->text + node->name.start);
        if (ftb_message_find(&t->m, name))
            continue;
        GrB_Info info = find_meaning(&m, &found, r, in, name);
        if (info != GrB_SUCCESS)
            return info;
        if (!found) {
            list_known(known, r, in);
            return ftb_fail(GrB_INVALID_VALUE, "%s: unknown name '%s' at column %d; known here: %s",
                            in == IN_COMBINE ? "combine" : e->what, name, e->column0 + node->column, known);
        }
        if (t->m.nfeeds == FTB_MAX_FEEDS)
            return ftb_fail(GrB_INVALID_VALUE, "%s: more than %d names", e->what, FTB_MAX_FEEDS);
        ftb_put_word(m.feed.name, sizeof m.feed.name, name);
        t->of[t->m.nfeeds].kind = m.kind;
        t->of[t->m.nfeeds].index = m.index;
        t->m.feeds[t->m.nfeeds++] = m.feed;
    }
    return GrB_SUCCESS;
}

/* ---- texts over vertices */

static GrB_Info make_text(ftb_vertex_text *t, const struct FtB_Run_opaque *r, place in, ftb_expr *expr)
{
    t->m = (ftb_message){.ctx = r->ctx, .heads = 1, .expr = ftb_expr_retain(expr)};
    GrB_Info info = add_names(t, r, in);
    if (info == GrB_SUCCESS)
        info = ftb_message_program(&t->program, &t->m, expr);
    if (info != GrB_SUCCESS)
        return info;
    t->type = ftb_program_type(t->program);
    t->width = ftb_program_width(t->program);
    return GrB_SUCCESS;
}

/* A field that is sent as it is needs no text. */
static void find_sent_field(FtB_Run r)
{
    const ftb_expr *e = r->program->send;
    const ftb_vertex_text *t = &r->work.texts[FTB_VERTEX_SEND];
    r->sends_field = e->nodes[e->root].op == FTB_OP_NAME && t->of[0].kind == FTB_VERTEX_STATE &&
                     t->m.nfeeds == 1 && r->states[t->of[0].index].vertex;
    r->sent_field = r->sends_field ? t->of[0].index : 0;
}

/* ---- messages */

static GrB_Info check_bound(const ftb_message *m)
{
    for (int f = 0; f < m->nfeeds; f++)
        if (m->feeds[f].side != FTB_SIDE_NONE || m->feeds[f].whole)
            return ftb_fail(
                GrB_INVALID_VALUE,
                "combine: '%s' is bound to a block; expected it among the states, as a row per vertex "
                "(dst.FIELD) or one row",
                m->feeds[f].name);
    return GrB_SUCCESS;
}

/* The message's own feeds: what was sent, by field or by text, and the edge. */
static GrB_Info add_operands(ftb_vertex_text *t, FtB_Run r)
{
    const ftb_vertex_text *send = &r->work.texts[FTB_VERTEX_SEND];
    const char *name = t->m.function ? "src" : "message";
    ftb_feed sent = mail_feed(send->type, send->width, FTB_SIDE_COL);
    GrB_Info info = ftb_message_values(&t->m, "edge", r->A, NULL);
    if (info != GrB_SUCCESS)
        return info;
    const int edge = t->m.nfeeds - 1;
    if (edge >= 0 && strcmp(t->m.feeds[edge].name, "edge") == 0) {
        const bool values = t->m.feeds[edge].side == FTB_SIDE_EDGE;
        t->of[edge].kind = values ? FTB_VERTEX_EDGE : FTB_VERTEX_FIXED;
        r->reads_edges = values;
    }
    if (!t->m.function && !ftb_message_reads(&t->m, "message"))
        return GrB_SUCCESS;
    if (t->m.nfeeds == FTB_MAX_FEEDS)
        return ftb_fail(GrB_INVALID_VALUE, "combine: more than %d names", FTB_MAX_FEEDS);
    if (r->sends_field)
        sent.type = r->states[r->sent_field].block->type;
    ftb_put_word(sent.name, sizeof sent.name, name);
    t->of[t->m.nfeeds].kind = FTB_VERTEX_MESSAGE;
    t->m.feeds[t->m.nfeeds++] = sent;
    return GrB_SUCCESS;
}

static GrB_Info make_message(FtB_Run r)
{
    static const char *const rename[] = {"a", "edge", "b", "message", "src", "message", NULL};
    ftb_vertex_work *w = &r->work;
    ftb_vertex_text *t = &w->texts[FTB_VERTEX_COMBINE];
    ftb_message_type type;
    GrB_Info info;
    FTB_CHECK(ftb_message_new(&t->m, r->ctx, r->program->combine, rename));
    FTB_CHECK(check_bound(&t->m));
    FTB_CHECK(add_operands(t, r));
    if (!t->m.function)
        FTB_CHECK(add_names(t, r, IN_COMBINE));
    FTB_CHECK(ftb_message_indices(&t->m, r->A->pattern, false, NULL));
    FTB_CHECK(ftb_message_compile(&type, &t->program, &t->m));
    t->type = type.message;
    t->width = w->width = type.width;
    w->reduced = type.reduced;
    w->monoid = t->m.reducer.monoid;
    w->reduce = ftb_segment_of(w->monoid, w->reduced);
done:
    return info;
}

/* ---- what changes */

static GrB_Info add_field(FtB_Run r, int f)
{
    const ftb_assignment *a = &r->program->assigned[f];
    const int s = state_named(r, a->field);
    if (s < 0 || !r->states[s].vertex)
        return ftb_fail(GrB_INVALID_VALUE, "states: there is %s '%s', which apply changes",
                        s < 0 ? "no" : "no row per vertex in", a->field);
    const FtB_Block X = r->states[s].block;
    r->states[s].changes = true;
    r->work.fields[f] = (ftb_vertex_field){.state = s, .type = X->type, .ncols = X->ncols, .ld = X->ld};
    return GrB_SUCCESS;
}

static GrB_Info make_fields(FtB_Run r)
{
    ftb_vertex_work *w = &r->work;
    for (int f = 0; f < w->nfields; f++) {
        ftb_vertex_text *t = &w->texts[FTB_VERTEX_APPLY + f];
        GrB_Info info = make_text(t, r, IN_APPLY, r->program->assigned[f].expr);
        if (info != GrB_SUCCESS)
            return info;
        if (t->width != w->fields[f].ncols)
            return ftb_fail(GrB_DIMENSION_MISMATCH,
                            "apply: the text of '%s' gives %lld values; expected its %lld columns",
                            r->program->assigned[f].field, (long long)t->width,
                            (long long)w->fields[f].ncols);
    }
    return GrB_SUCCESS;
}

/* ---- until */

static int add_until_name(FtB_Run r, int count, const char *name, FtB_Type type, const void *data)
{
    r->until_names[count] = (ftb_name){.name = name, .type = type, .width = 1, .constant = true};
    r->until_operands[count] = (ftb_operand){.data = data};
    return count + 1;
}

static GrB_Info make_until(FtB_Run r)
{
    int count = 0;
    for (int s = 0; s < r->program->nsums; s++) {
        snprintf(r->sum_names[s], sizeof r->sum_names[s], "sum.%c", 'a' + s);
        count = add_until_name(r, count, r->sum_names[s], FTB_FP64, &r->sums[s]);
    }
    count = add_until_name(r, count, "n", FTB_INT64, &r->vertices);
    count = add_until_name(r, count, "round", FTB_INT64, &r->round);
    for (int s = 0; s < r->nstates && count < FTB_VERTEX_SUMS + FTB_MAX_FEEDS; s++)
        if (!r->states[s].block) {
            const ftb_vertex_state *state = &r->states[s];
            const bool real = state->type == FTB_FP64;
            count = add_until_name(r, count, state->name, real ? FTB_FP64 : FTB_INT64,
                                   real ? (const void *)&state->real : &state->integer);
        }
    GrB_Info info = ftb_program_new(&r->until, r->ctx, r->program->until, count, r->until_names, false);
    if (info == GrB_SUCCESS && ftb_program_width(r->until) != 1)
        info = ftb_fail(GrB_DIMENSION_MISMATCH, "until: gives %lld values; expected one",
                        (long long)ftb_program_width(r->until));
    return info == GrB_SUCCESS ? ftb_interpreter_new(&r->machine, r->ctx, r->until) : info;
}

bool ftb_vertex_until(FtB_Run r)
{
    uint64_t value = 0;
    uint8_t truth = 0;
    if (!r->until)
        return false;
    ftb_interpreter_run(r->machine, 1, r->until_operands, &value);
    ftb_cast(&truth, FTB_BOOL, &value, ftb_program_type(r->until), 1);
    return truth;
}

/* ---- all of them */

GrB_Info ftb_vertex_texts_make(FtB_Run r)
{
    const struct FtB_Program_opaque *p = r->program;
    ftb_vertex_work *w = &r->work;
    GrB_Info info = GrB_SUCCESS;
    w->nfields = p->nassigned;
    w->nsums = p->nsums;
    w->always = p->always;
    w->active = p->active && !p->always ? FTB_VERTEX_APPLY + w->nfields : -1;
    w->settled = p->settled ? FTB_VERTEX_APPLY + w->nfields + (w->active >= 0) : -1;
    w->priority = p->priority ? FTB_VERTEX_APPLY + w->nfields + (w->active >= 0) + (w->settled >= 0) : -1;
    w->delta = p->delta;
    w->first_sum = FTB_VERTEX_APPLY + w->nfields + (w->active >= 0) + (w->settled >= 0) + (w->priority >= 0);
    w->ntexts = w->first_sum + w->nsums;
    w->texts = ftb_new0(r->ctx, w->ntexts, sizeof *w->texts);
    w->fields = ftb_new0(r->ctx, w->nfields, sizeof *w->fields);
    if (!w->texts || !w->fields)
        FTB_CHECK(ftb_nomem());
    for (int f = 0; f < w->nfields; f++)
        FTB_CHECK(add_field(r, f));
    if (p->until)
        FTB_CHECK(make_until(r));
    FTB_CHECK(make_text(&w->texts[FTB_VERTEX_SEND], r, IN_SEND, p->send));
    find_sent_field(r);
    FTB_CHECK(make_message(r));
    FTB_CHECK(make_fields(r));
    if (w->active >= 0)
        FTB_CHECK(make_text(&w->texts[w->active], r, BEHIND_APPLY, p->active));
    if (w->settled >= 0)
        FTB_CHECK(make_text(&w->texts[w->settled], r, IN_SEND, p->settled));
    if (w->priority >= 0)
        FTB_CHECK(make_text(&w->texts[w->priority], r, IN_SEND, p->priority));
    for (int s = 0; s < w->nsums; s++)
        FTB_CHECK(make_text(&w->texts[w->first_sum + s], r, BEHIND_APPLY, p->sums[s]));
    FTB_CHECK(ftb_vertex_forms(r));
    info = ftb_vertex_workers_new(w);
done:
    return info;
}

void ftb_vertex_texts_clear(FtB_Run r)
{
    ftb_vertex_work *w = &r->work;
    ftb_vertex_workers_delete(w);
    for (int t = 0; w->texts && t < w->ntexts; t++) {
        ftb_program_delete(w->texts[t].program);
        ftb_message_clear(&w->texts[t].m);
    }
    ftb_delete(w->texts);
    ftb_delete(w->fields);
    ftb_interpreter_delete(r->machine);
    ftb_program_delete(r->until);
}

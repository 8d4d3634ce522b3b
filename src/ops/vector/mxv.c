/* w<m> = accum(w, A u) and w<m> = accum(w, u' B): a vector right of a matrix is a column, left of it a row.
 *
 * Either way the matrix's entries are edges, from senders, the vector's places, to receivers, the result's. A
 * vector with gaps is pushed along the edges that it meets, or pulled (src/cpu/vector/mxv_run.c); one without
 * is a block of one column (ops/spmm_message.c). What is computed goes through the write rule.
 *
 * A matrix that lists its rows (core/hypersparse.h) becomes one of the rows and columns that have entries,
 * the vectors become what they have there, and the result is put where it belongs. */
#include "ops/vector/mxv.h"

#include "cpu/block/write_run.h"
#include "cpu/vector/mxv_run.h"
#include "cpu/vector/vector_parts_run.h"
#include "ops/block/blocks.h"
#include "ops/plan_object.h"
#include "ops/spmm.h"
#include "ops/vector/vectors.h"

typedef struct mxv_call {
    ftb_vector_call call;
    FtB_Matrix A;
    FtB_Vector u, M; /* M: the call's mask, or what it has where receivers are */
    FtB_Matrix
        held; /* A's rows and columns that have entries, where rows are listed; then they are numbered: */
    const int64_t *receiver, *sender;
    struct FtB_Vector_opaque own[2]; /* u and M there */
    bool row;                        /* the vector stands left */
    bool rows_receive;               /* the matrix's rows are receivers */
    int64_t receivers, senders, whole_senders;
    int64_t entries; /* of the vector, all of them */
    FtB_Semiring semiring;
    ftb_message m; /* its rows are receivers, its columns senders, its entries A's own */
    ftb_message_type type;
    bool reads_entries;
    ftb_vertex_plain plain;
    int64_t *listed, nlisted; /* receivers that the mask admits; NULL: all, or most */
    ftb_mxv_facts facts;
    ftb_any_plan plan;
} mxv_call;

static const int64_t only = 0; /* the index of the vector's column, or row */

/* ---- listed rows */

/* *v becomes what it has at those places. */
static GrB_Info pick_places(mxv_call *c, FtB_Vector *v, struct FtB_Vector_opaque *own, const int64_t *places,
                            int64_t count)
{
    *own = (struct FtB_Vector_opaque){.magic = FTB_MAGIC_VECTOR, .ctx = c->call.ctx};
    GrB_Info info = ftb_vector_pick(&own->v, c->call.ctx, &(*v)->v, places, count);
    *v = own;
    return info;
}

static GrB_Info take_listed(mxv_call *c)
{
    ftb_pattern *both;
    GrB_Info info;
    FTB_CHECK(ftb_pattern_both(c->A->pattern->listed, &both));
    FTB_CHECK(ftb_matrix_view(&c->held, c->A, ftb_pattern_retain(both)));
    c->A = c->held;
    c->receiver = c->rows_receive ? both->numbers : both->columns;
    c->receivers = c->rows_receive ? both->nrows : both->ncols;
    c->sender = c->rows_receive ? both->columns : both->numbers;
    c->senders = c->rows_receive ? both->ncols : both->nrows;
    FTB_CHECK(pick_places(c, &c->u, &c->own[0], c->sender, c->senders));
    if (c->M)
        info = pick_places(c, &c->M, &c->own[1], c->receiver, c->receivers);
done:
    return info;
}

/* T's places become the matrix's. */
static GrB_Info put_places(mxv_call *c, ftb_vector *T)
{
    ftb_vector placed;
    if (!c->held)
        return GrB_SUCCESS;
    GrB_Info info = ftb_vector_put(&placed, c->call.ctx, T, c->receiver, NULL, c->call.C->v.size);
    if (info == GrB_SUCCESS) {
        ftb_vector_clear(T);
        *T = placed;
    }
    return info;
}

/* ---- arguments */

static GrB_Info read_slots(mxv_call *c, FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg A, FtB_Arg B,
                           FtB_Arg desc)
{
    GrB_Info info;
    c->row = A.kind == FTB_KIND_VECTOR;
    FTB_CHECK(ftb_vector_begin(&c->call, C, M, accum, desc));
    FTB_CHECK(ftb_arg_matrix_listed_anywhere(&c->A, c->row ? B : A, c->row ? "B" : "A", false));
    FTB_CHECK(ftb_arg_vector(&c->u, c->row ? A : B, c->row ? "A" : "B", false));
    const ftb_pattern *p = c->A->pattern;
    c->rows_receive = c->row ? c->call.flags.transpose1 : !c->call.flags.transpose0;
    c->receivers = c->rows_receive ? p->nrows : p->ncols;
    c->senders = c->rows_receive ? p->ncols : p->nrows;
    FTB_CHECK(ftb_vector_check_size(c->u, c->row ? "A" : "B", c->senders,
                                    c->row ? "the rows of B" : "the columns of A"));
    FTB_CHECK(
        ftb_vector_check_size(c->call.C, "C", c->receivers, c->row ? "the columns of B" : "the rows of A"));
    c->M = c->call.M;
    c->whole_senders = c->senders;
    c->entries = c->u->v.nvals;
    if (p->listed)
        info = take_listed(c);
done:
    return info;
}

/* ---- the message */

/* Texts are made to speak of receivers as i, of senders as k; the vector's other index, and its degree, are
 * j' and dj'. */
static const char *const of_column[] = {"a", "edge", "b", "src", "j", "j'", "dj", "dj'", NULL};
static const char *const of_row[] = {"a",  "src", "b",  "edge", "j",   "i", "dj",
                                     "di", "i",   "j'", "di",   "dj'", NULL};

static GrB_Info add_feed(ftb_message *m, const ftb_feed *feed, const char *name)
{
    if (ftb_message_find(m, name))
        return ftb_fail(GrB_INVALID_VALUE, "semiring: '%s' is bound, but stands for an operand here", name);
    if (m->nfeeds == FTB_MAX_FEEDS)
        return ftb_fail(GrB_INVALID_VALUE, "semiring: more than %d names in one text", FTB_MAX_FEEDS);
    ftb_feed *to = &m->feeds[m->nfeeds++];
    *to = *feed;
    snprintf(to->name, sizeof to->name, "%s", name);
    return GrB_SUCCESS;
}

/* The vector's values, which lie by place or by entry: who runs the message says how. */
static GrB_Info add_vector(mxv_call *c)
{
    const ftb_vector *u = &c->u->v;
    ftb_message *m = &c->m;
    const ftb_side side = c->rows_receive ? FTB_SIDE_COL : FTB_SIDE_ROW; /* of A, as indices come to be */
    const ftb_feed src = {.side = side,
                          .type = u->type,
                          .data = u->values,
                          .nrows = c->senders,
                          .ld = 1,
                          .heads = 1,
                          .width = 1};
    ftb_feed number = {.side = FTB_SIDE_NONE, .type = FTB_INT64, .nrows = 1, .ld = 1, .heads = 1, .width = 1};
    GrB_Info info = GrB_SUCCESS;
    if (m->function || ftb_message_reads(m, "src"))
        info = add_feed(m, &src, "src");
    number.data = &only;
    if (info == GrB_SUCCESS && ftb_message_reads(m, "j'"))
        info = add_feed(m, &number, "j'");
    number.data = &c->entries;
    if (info == GrB_SUCCESS && ftb_message_reads(m, "dj'"))
        info = add_feed(m, &number, "dj'");
    return info;
}

static GrB_Info check_message(const mxv_call *c)
{
    const ftb_reducer *r = &c->m.reducer;
    if (r->mean || r->arg)
        return ftb_fail(GrB_DOMAIN_MISMATCH,
                        "semiring: %s is no monoid; expected one. Of a block of one column %s",
                        r->mean ? "mean" : "argmin or argmax",
                        r->mean ? "FtB_mxm takes it" : "FtB_mxm_arg tells who won");
    if (c->m.heads > 1 || c->type.width != 1)
        return ftb_fail(GrB_DIMENSION_MISMATCH,
                        "semiring: gives %lld values for an entry; a vector holds one",
                        (long long)(c->m.heads * c->type.width));
    return GrB_SUCCESS;
}

/* Sides are those of A's rows and columns until here, then those of receivers and senders. */
static void turn_sides(ftb_message *m)
{
    for (int f = 0; f < m->nfeeds; f++) {
        ftb_feed *feed = &m->feeds[f];
        if (feed->side == FTB_SIDE_ROW || feed->side == FTB_SIDE_COL)
            feed->side = feed->side == FTB_SIDE_ROW ? FTB_SIDE_COL : FTB_SIDE_ROW;
    }
}

/* Whether loops know it, that have values of entries in the type that is reduced. */
static ftb_vertex_plain plain_of(const mxv_call *c)
{
    const ftb_vertex_plain plain = ftb_vertex_plain_of(c->m.expr, "src");
    const FtB_Type type = c->type.reduced;
    if (!ftb_vertex_plain_knows(c->m.reducer.monoid, type) || c->type.message != type ||
        (plain > FTB_PLAIN_COPY && c->reads_entries && c->A->type != type))
        return FTB_PLAIN_NONE;
    return plain;
}

static GrB_Info make_message(mxv_call *c, FtB_Arg semiring)
{
    GrB_Info info;
    FTB_CHECK(ftb_arg_semiring(&c->semiring, semiring, "semiring"));
    FTB_CHECK(ftb_message_new(&c->m, c->call.ctx, c->semiring, c->row ? of_row : of_column));
    FTB_CHECK(add_vector(c));
    FTB_CHECK(ftb_message_values(&c->m, "edge", c->A, NULL));
    FTB_CHECK(ftb_message_indices(&c->m, c->A->pattern, !c->rows_receive, NULL));
    ftb_message_argument(&c->m, "edge", c->row ? "B" : "A");
    if (!c->rows_receive)
        turn_sides(&c->m);
    if (c->held) {
        FTB_CHECK(ftb_message_number(&c->m, FTB_SIDE_ROW, c->receiver, c->call.C->v.size,
                                     c->rows_receive ? "rows" : "columns"));
        FTB_CHECK(ftb_message_number(&c->m, FTB_SIDE_COL, c->sender, c->whole_senders,
                                     c->rows_receive ? "columns" : "rows"));
    }
    for (int f = 0; f < c->m.nfeeds; f++)
        c->reads_entries |= c->m.feeds[f].side == FTB_SIDE_EDGE;
    FTB_CHECK(ftb_message_types(&c->type, &c->m));
    FTB_CHECK(check_message(c));
    c->plain = plain_of(c);
    info = ftb_vector_write_check(c->call.C, c->call.M, c->call.accum, c->type.reduced);
done:
    return info;
}

/* ---- the mask, ahead of a product of all rows */

/* Receivers that a mask admits, where it leaves out more than half of them. */
static GrB_Info list_admitted(mxv_call *c)
{
    const FtB_Vector M = c->M;
    const ftb_flags *flags = &c->call.flags;
    c->nlisted = c->receivers;
    if (!M || (M->v.form == FTB_VECTOR_LIST && (flags->complement || M->v.nvals > c->receivers / 2)))
        return GrB_SUCCESS; /* admits most */
    c->listed =
        ftb_new(c->call.ctx, M->v.form == FTB_VECTOR_LIST ? M->v.nvals : c->receivers, sizeof *c->listed);
    if (!c->listed)
        return ftb_nomem();
    const ftb_mask mask = flags->structural ? (ftb_mask){0} : ftb_mask_by(M->v.values, M->v.type);
    const int64_t count = ftb_mxv_admitted(c->listed, &M->v, &mask, flags->complement);
    if (count <= c->receivers / 2) {
        c->nlisted = count;
        return GrB_SUCCESS;
    }
    ftb_delete(c->listed);
    c->listed = NULL;
    return GrB_SUCCESS;
}

/* ---- the plan */

/* About so many receivers does the mask admit. */
static int64_t open_places(const mxv_call *c)
{
    const int64_t entries = c->M ? c->M->v.nvals : c->receivers;
    return c->call.flags.complement ? c->receivers - entries : entries;
}

static GrB_Info describe(mxv_call *c)
{
    ftb_pattern *p = c->A->pattern;
    const ftb_vector *u = &c->u->v;
    const bool there = ftb_pattern_transposed(p, c->reads_entries);
    ftb_mxv_facts *f = &c->facts;
    *f = (ftb_mxv_facts){.receivers = c->receivers,
                         .senders = c->senders,
                         .whole = {c->held ? c->call.C->v.size : 0, c->held ? c->whole_senders : 0},
                         .nvals = p->nvals,
                         .entries = u->nvals,
                         .listed = c->receivers,
                         .threads = ftb_threads(c->call.ctx),
                         .all = u->nvals == u->size,
                         .push_made = !c->rows_receive || there,
                         .pull_made = c->rows_receive || there,
                         .first = c->m.reducer.monoid == FTB_ANY,
                         .plain = c->plain != FTB_PLAIN_NONE,
                         .far = c->reads_entries && !c->rows_receive,
                         .open = open_places(c),
                         .missed = (double)atomic_load(&p->would_save),
                         .form = ftb_form_name(u->form)};
    f->counted = f->push_made || f->all;
    f->edges = (int64_t)((double)p->nvals * (double)u->nvals / (double)ftb_max(c->senders, 1));
    if (f->counted && !f->all) {
        ftb_pattern *by_sender = p;
        GrB_Info info = c->rows_receive ? ftb_pattern_transpose(p, &by_sender, NULL) : GrB_SUCCESS;
        if (info != GrB_SUCCESS)
            return info;
        f->edges = ftb_mxv_edges(c->call.ctx, by_sender, u);
    }
    f->may_push = ftb_mxv_may_push(c->receivers, f->counted ? f->edges : p->nvals);
    if (!f->all)
        return GrB_SUCCESS;
    GrB_Info info = list_admitted(c);
    f->listed = c->nlisted;
    return info;
}

static GrB_Info prepare_call(mxv_call *c, FtB_Arg semiring)
{
    const ftb_any_facts *facts;
    GrB_Info info;
    FTB_CHECK(make_message(c, semiring));
    FTB_CHECK(describe(c));
    facts = &(ftb_any_facts){.mxv = c->facts};
    info = ftb_plan_choose(&c->plan, FTB_PLAN_MXV, facts, c->call.flags.plan, c->call.ctx);
done:
    return info;
}

/* ---- running */

/* With gaps. */
static GrB_Info run_some(ftb_vector *T, const mxv_call *c, const ftb_mxv_plan *plan)
{
    ftb_pattern *p = c->A->pattern;
    const bool push = plan->way == FTB_MXV_PUSH, asked = plan->forced & FTB_MXV_SET_THREADS;
    const int64_t work = push ? c->facts.edges : p->nvals + c->receivers;
    ftb_mxv_product product = {.ctx = c->call.ctx,
                               .m = &c->m,
                               .receivers = c->receivers,
                               .senders = c->senders,
                               .u = &c->u->v,
                               .push = push,
                               .first = c->facts.first,
                               .plain = c->plain,
                               .values = c->reads_entries ? ftb_values(c->A) : NULL,
                               .mask = c->M ? &c->M->v : NULL,
                               .complement = c->call.flags.complement,
                               .threads = asked ? plan->threads
                                                : ftb_min(plan->threads, ftb_threads_for(c->call.ctx, work))};
    const int64_t *from = NULL;
    if (c->M && !c->call.flags.structural)
        product.admits = ftb_mask_by(c->M->v.values, c->M->v.type);
    if (push == c->rows_receive) {
        GrB_Info info = ftb_pattern_transpose(p, &p, c->reads_entries ? &from : NULL);
        if (info != GrB_SUCCESS)
            return info;
    }
    product.edges = (ftb_vertex_edges){.rows = {p, NULL}, .from = {from, NULL}};
    return ftb_mxv_run(T, &product);
}

/* Without gaps: the product with a block of one column. */
static GrB_Info run_all(ftb_vector *T, const mxv_call *c)
{
    ftb_message m = c->m;
    ftb_pattern *p = c->A->pattern;
    const int64_t *from = NULL;
    ftb_spmm_result result = {.values = NULL};
    GrB_Info info = GrB_SUCCESS;
    if (!c->rows_receive)
        info = ftb_pattern_transpose(p, &p, c->reads_entries ? &from : NULL);
    if (info != GrB_SUCCESS)
        return info;
    for (int f = 0; f < m.nfeeds; f++)
        if (m.feeds[f].side == FTB_SIDE_EDGE)
            m.feeds[f].at = from;
    info = ftb_vector_room(T, c->call.ctx, FTB_VECTOR_BITMAP, c->type.reduced, c->receivers, 0);
    if (info != GrB_SUCCESS)
        return info;
    const ftb_spmm_request request = {.message = &m,
                                      .p = p,
                                      .rows = c->listed,
                                      .nlisted = c->nlisted,
                                      .into = T->values,
                                      .into_type = T->type,
                                      .ldinto = 1};
    info = ftb_spmm_message(&result, &request);
    if (info != GrB_SUCCESS)
        goto done;
    if (result.values != T->values) {
        ftb_delete(T->values);
        T->values = result.owned;
        T->type = result.type;
    }
    ftb_mxv_mark(T, p, c->listed, c->nlisted);
done:
    if (info != GrB_SUCCESS)
        ftb_vector_clear(T);
    return info;
}

static GrB_Info run_plan(ftb_vector *T, const mxv_call *c, const ftb_mxv_plan *plan)
{
    *T = (ftb_vector){.form = FTB_VECTOR_LIST};
    return plan->way == FTB_MXV_ALL ? run_all(T, c) : run_some(T, c, plan);
}

/* What GraphBLAS's integers wrap to. */
static void wrap(const mxv_call *c, ftb_vector *T)
{
    const int64_t count = T->form == FTB_VECTOR_LIST ? T->nvals : T->size;
    const ftb_plain_rows rows = {T->values, T->type, count, 1, 1};
    ftb_rows_wrap(c->call.ctx, &rows, ftb_semiring_wraps_to(c->semiring, T->type));
}

static GrB_Info end_call(mxv_call *c, GrB_Info info)
{
    ftb_delete(c->listed);
    FtB_Matrix_free(&c->held);
    ftb_vector_clear(&c->own[0].v);
    ftb_vector_clear(&c->own[1].v);
    ftb_message_clear(&c->m);
    FtB_Semiring_free(&c->semiring);
    return ftb_vector_end(&c->call, info);
}

GrB_Info ftb_mxv(FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg semiring, FtB_Arg A, FtB_Arg B, FtB_Arg desc)
{
    mxv_call c = {.row = false};
    ftb_vector T = {.form = FTB_VECTOR_LIST};
    GrB_Info info;
    FTB_CHECK(read_slots(&c, C, M, accum, A, B, desc));
    FTB_CHECK(prepare_call(&c, semiring));
    FTB_CHECK(ftb_message_ask(&c.m));
    atomic_fetch_add(&c.A->pattern->would_save, (long long)c.plan.mxv.missed);
    FTB_CHECK(run_plan(&T, &c, &c.plan.mxv));
    wrap(&c, &T);
    FTB_CHECK(put_places(&c, &T));
    info = ftb_vector_write(c.call.C, c.call.M, &c.call.flags, c.call.accum, &T);
done:
    ftb_vector_clear(&T);
    return end_call(&c, info);
}

/* ---- planning */

static GrB_Info try_plan(void *run, const ftb_any_plan *plan, double *seconds)
{
    ftb_vector T;
    (void)seconds;
    GrB_Info info = run_plan(&T, run, &plan->mxv);
    ftb_vector_clear(&T);
    return info;
}

GrB_Info ftb_mxv_plan_call(FtB_Plan *plan, FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg semiring, FtB_Arg A,
                           FtB_Arg B, FtB_Arg desc, FtB_Effort effort)
{
    mxv_call c = {.row = false};
    GrB_Info info;
    FTB_CHECK(read_slots(&c, C, M, accum, A, B, desc));
    FTB_CHECK(prepare_call(&c, semiring));
    const ftb_any_facts facts = {.mxv = c.facts};
    if (effort == FTB_MEASURE && !c.facts.all) {
        FTB_CHECK(ftb_message_ask(&c.m));
        FTB_CHECK(ftb_plan_measure(&c.plan, FTB_PLAN_MXV, &facts, try_plan, &c, c.call.ctx));
    }
    info = ftb_plan_new(plan, c.call.ctx, FTB_PLAN_MXV, &facts, &c.plan);
    if (info == GrB_SUCCESS)
        ftb_plan_place_message(*plan, false, &c.m, NULL);
done:
    return end_call(&c, info);
}

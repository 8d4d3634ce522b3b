/* C<M> = accum(C, A (x) B), A sparse, B and C feature blocks: arguments, plan, run, write rule.
 *
 * Where A lists its rows (core/hypersparse.h), the host computes those alone, of the rows of B that meet an
 * entry, in blocks of their own, whose rows then go to C. */
#include "ops/spmm.h"
#include "ops/block/block_map.h"
#include "ops/merge.h"
#include "ops/plan_object.h"

typedef struct call {
    FtB_Block C, E, M;  /* E: winning entries, or NULL */
    FtB_Block whole[2]; /* C and E as they were given, where rows are listed; else the same */
    FtB_Block held[3];  /* then ours: C, E and B of the rows and columns that have entries */
    FtB_Op accum;
    FtB_Matrix A;
    FtB_Block B;
    ftb_flags flags;
    FtB_Context ctx;
    ftb_pattern *p;        /* of A, or of A', or what is held of it */
    int64_t ncolumns;      /* of all of it */
    const int64_t *from;   /* A' where entries are told apart: entry of A; else NULL */
    FtB_Semiring semiring; /* whose bound blocks the message reads */
    ftb_message message;
    FtB_Type type; /* of the result */
    int64_t ncols;
    bool repeated; /* a GraphBLAS semiring whose products do not read B: every column is the same */
    int64_t *rows; /* that M admits; NULL: all */
    int64_t nlisted;
    const ftb_backend *device; /* that may do it; NULL: the host does */
    ftb_spmm_result result;
} call;

/* Whether a device may do this call, as far as the slots tell. */
static bool may_leave(const call *c)
{
    ftb_monoid monoid;
    return !c->M && !c->flags.complement &&
           (c->accum ? ftb_op_is_monoid(&monoid, c->accum, c->C->type) && monoid == FTB_PLUS
                     : c->flags.fill == 0);
}

static GrB_Info read_slots(call *c, FtB_Arg C, FtB_Arg E, FtB_Arg M, FtB_Arg accum, FtB_Arg A, FtB_Arg B,
                           FtB_Arg desc)
{
    GrB_Info info;
    FTB_CHECK(ftb_arg_descriptor(&c->flags, desc));
    FTB_CHECK(ftb_arg_block_anywhere(&c->C, C, "C", false));
    FTB_CHECK(ftb_arg_block_anywhere(&c->E, E, "E", true));
    FTB_CHECK(ftb_arg_block(&c->M, M, "M", true));
    FTB_CHECK(ftb_arg_matrix_listed_anywhere(&c->A, A, "A", false));
    FTB_CHECK(ftb_arg_block_anywhere(&c->B, B, "B", false));
    FTB_CHECK(ftb_arg_op(&c->accum, accum, "accum", true));
    c->ctx = c->C->ctx;
    c->device = may_leave(c) ? ftb_device(c->ctx) : NULL;
    c->p = c->A->pattern;
    c->whole[0] = c->C;
    c->whole[1] = c->E;
    if (c->flags.transpose1) {
        info = ftb_fail(GrB_INVALID_VALUE, "B: sparse x block does not read B transposed");
        goto done;
    }
    if (c->flags.transpose0)
        FTB_CHECK(ftb_pattern_transpose_listed(c->A->pattern, &c->p, NULL));
    if (c->B->nrows != c->p->ncols) {
        info = ftb_fail(GrB_DIMENSION_MISMATCH, "B: %lld x %lld; expected %lld rows, the columns of A%s",
                        (long long)c->B->nrows, (long long)c->B->ncols, (long long)c->p->ncols,
                        c->flags.transpose0 ? "'" : "");
        goto done;
    }
    c->ncolumns = c->p->ncols;
    if (c->C->nrows != c->p->nrows)
        info = ftb_fail(GrB_DIMENSION_MISMATCH, "C: %lld x %lld; expected %lld rows, those of A%s",
                        (long long)c->C->nrows, (long long)c->C->ncols, (long long)c->p->nrows,
                        c->flags.transpose0 ? "'" : "");
done:
    return info;
}

/* A block without columns, into one without: nothing is computed, whatever the message. */
static bool without_columns(const call *c) { return c->B->ncols == 0 && c->C->ncols == 0; }

/* The rows that are computed: those that are listed, where the host does all that there is; else all. */
static GrB_Info hold_rows(call *c)
{
    ftb_pattern *both;
    GrB_Info info;
    if (!c->p->listed || c->M || c->flags.complement || c->device || without_columns(c))
        return ftb_pattern_all_rows(c->p, c->flags.transpose0 ? "the transpose" : "A");
    FTB_CHECK(ftb_pattern_both(c->p->listed, &both));
    FTB_CHECK(c->accum ? ftb_block_pick(&c->held[0], c->ctx, c->C, both->numbers, both->nrows, "C")
                       : ftb_block_like(&c->held[0], c->ctx, c->C, both->nrows, c->C->ncols));
    if (c->E)
        FTB_CHECK(ftb_block_like(&c->held[1], c->ctx, c->E, both->nrows, c->E->ncols));
    FTB_CHECK(ftb_block_pick(&c->held[2], c->ctx, c->B, both->columns, both->ncols, "B"));
    c->C = c->held[0];
    c->E = c->held[1];
    c->B = c->held[2];
    c->p = both;
done:
    return info;
}

/* Whether anything is read or told by entry: then those of A' are found in A. */
static bool reads_entries(const call *c)
{
    bool reads = c->E || ftb_message_reads(&c->message, "e") ||
                 (c->A->width > 0 && ftb_message_reads(&c->message, "edge")) || c->message.function;
    for (int f = 0; f < c->message.nfeeds; f++)
        reads |= c->message.feeds[f].side == FTB_SIDE_EDGE;
    return reads;
}

static GrB_Info make_message(call *c, FtB_Arg semiring)
{
    static const char *const operands[] = {"a", "edge", "b", "src", NULL};
    ftb_pattern *transpose; /* p, or what it is held of */
    GrB_Info info;
    FTB_CHECK(ftb_arg_semiring(&c->semiring, semiring, "semiring"));
    FTB_CHECK(ftb_message_new(&c->message, c->ctx, c->semiring, operands));
    if (c->semiring->domain && ftb_message_reads(&c->message, "j")) {
        info =
            ftb_fail(GrB_DOMAIN_MISMATCH, "semiring: SECONDJ of GraphBLAS gives B's column, a feature of a "
                                          "block, which has no index here");
        goto done;
    }
    c->repeated = c->semiring->domain && !ftb_message_reads(&c->message, "src");
    if (c->flags.transpose0 && reads_entries(c))
        FTB_CHECK(ftb_pattern_transpose_listed(c->A->pattern, &transpose, &c->from));
    /* GraphBLAS's semirings know no heads; of what they do not read, one value stands for all columns. */
    FTB_CHECK(ftb_message_block(&c->message, "src", FTB_SIDE_COL, c->B, c->repeated ? 1 : c->B->heads));
    FTB_CHECK(ftb_message_values(&c->message, "edge", c->A, c->from));
    FTB_CHECK(ftb_message_indices(&c->message, c->p, false, c->from));
    if (c->p->numbers) {
        FTB_CHECK(ftb_message_number(&c->message, FTB_SIDE_ROW, c->p->numbers, c->p->all_rows, "rows"));
        FTB_CHECK(ftb_message_number(&c->message, FTB_SIDE_COL, c->p->columns, c->ncolumns, "columns"));
    }
    ftb_message_argument(&c->message, "src", "B");
    ftb_message_argument(&c->message, "edge", "A");
    if (c->message.reducer.arg)
        info = ftb_fail(
            GrB_DOMAIN_MISMATCH,
            "semiring: argmin and argmax are reducers of two matrices; for blocks, FtB_mxm_arg gives "
            "the winning entries of min and max");
done:
    return info;
}

static GrB_Info check_winners(const call *c)
{
    ftb_monoid monoid = c->message.reducer.monoid;
    if (monoid != FTB_MIN && monoid != FTB_MAX)
        return ftb_fail(GrB_INVALID_VALUE, "semiring: the reducer is %s; expected min or max",
                        ftb_monoid_name(monoid));
    if (c->E->type != FTB_INT64)
        return ftb_fail(GrB_DOMAIN_MISMATCH, "E: dtype %s; expected INT64", FtB_Type_name(c->E->type));
    if (ftb_block_alias(c->whole[1], c->whole[0]) != FTB_ALIAS_NONE)
        return ftb_fail(GrB_INVALID_VALUE, "E: shares memory with C");
    GrB_Info info =
        ftb_block_write_check(c->whole[1], c->M, &c->flags, NULL, ftb_rows_in_all(c->p), c->ncols, FTB_INT64);
    return info == GrB_SUCCESS ? info : ftb_wrap_error(info, "E: ");
}

static GrB_Info take_plan(ftb_spmm_request *request, FtB_Plan plan)
{
    GrB_Info info = ftb_plan_check_kind(plan, FTB_PLAN_SPMM);
    if (info != GrB_SUCCESS)
        return info;
    request->expected = &plan->facts.spmm;
    request->forced = &plan->plan.spmm;
    return GrB_SUCCESS;
}

static GrB_Info do_nothing(call *c, FtB_Arg semiring)
{
    ftb_spmm_request request = {.p = c->p, .into_type = c->C->type};
    GrB_Info info = ftb_arg_semiring(&c->semiring, semiring, "semiring");
    if (info == GrB_SUCCESS)
        info = ftb_block_write_check(c->C, c->M, &c->flags, c->accum, c->p->nrows, 0, c->C->type);
    if (info == GrB_SUCCESS && c->E)
        info = ftb_block_write_check(c->E, c->M, &c->flags, NULL, c->p->nrows, 0, FTB_INT64);
    if (info == GrB_SUCCESS && c->flags.plan)
        info = take_plan(&request, c->flags.plan);
    return info == GrB_SUCCESS ? ftb_spmm_nothing(&c->result, &request, c->ctx) : info;
}

/* All that can be refused before anything is computed. */
static GrB_Info prepare_call(call *c, FtB_Arg semiring)
{
    GrB_Info info;
    FTB_CHECK(make_message(c, semiring));
    FTB_CHECK(ftb_spmm_shape(&c->message, &c->type, &c->ncols));
    c->repeated = c->repeated && c->ncols == 1;
    if (c->repeated)
        c->ncols = c->B->ncols;
    info = ftb_block_write_check(c->whole[0], c->M, &c->flags, c->accum, ftb_rows_in_all(c->p), c->ncols,
                                 c->type);
    if (info != GrB_SUCCESS) {
        info = ftb_wrap_error(info, "C: ");
        goto done;
    }
    if (c->E)
        FTB_CHECK(check_winners(c));
    FTB_CHECK(ftb_block_rows(&c->rows, &c->nlisted, c->M, &c->flags, c->p->nrows));
done:
    return info;
}

/* Whether nothing that is read is where an output is. */
static bool reads_apart(const call *c, FtB_Block output)
{
    for (int f = 0; f < c->message.nfeeds; f++) {
        const ftb_feed *feed = &c->message.feeds[f];
        size_t size = FtB_Type_size(feed->type);
        if (feed->data && ftb_block_overlaps(output, feed->data, (size_t)(feed->nrows * feed->ld) * size))
            return false;
    }
    return true;
}

/* Where the result may be computed: in C, if nothing of C is kept, and nothing that is read is there. */
static void offer_output(ftb_spmm_request *request, const call *c)
{
    const bool kept = c->M || c->accum || c->flags.complement;
    const ftb_backend *device = ftb_semiring_wraps_to(c->semiring, c->type) ? NULL : c->device;
    if (c->repeated || ((kept || c->E) && !device) || !reads_apart(c, c->C) ||
        (c->E && !reads_apart(c, c->E)))
        return;
    request->block = c->C;
    request->winners = c->E;
    request->device = device;
    request->add = c->accum != NULL;
    request->into = kept || c->E ? NULL : ftb_block_address(c->C);
}

/* nrows x 1 becomes nrows x ncols. */
static GrB_Info repeat(void **T, const call *c, size_t size)
{
    int64_t nrows = c->p->nrows, count;
    if (__builtin_mul_overflow(nrows, c->ncols, &count))
        count = INT64_MAX; /* refused by the allocator, with its message */
    char *wide = ftb_new(c->ctx, count, size);
    if (!wide)
        return ftb_nomem();
    for (int64_t i = 0; i < nrows; i++)
        for (int64_t f = 0; f < c->ncols; f++)
            memcpy(wide + (size_t)(i * c->ncols + f) * size, (const char *)*T + (size_t)i * size, size);
    ftb_delete(*T);
    *T = wide;
    return GrB_SUCCESS;
}

static GrB_Info repeat_columns(call *c)
{
    ftb_spmm_result *t = &c->result;
    void *winners = t->arg;
    GrB_Info info = repeat(&t->owned, c, FtB_Type_size(t->type));
    t->values = t->owned;
    t->ncols = t->ld = c->ncols;
    if (info == GrB_SUCCESS && t->arg) {
        info = repeat(&winners, c, sizeof *t->arg);
        t->arg = winners;
    }
    return info;
}

/* What was computed, or where it is in C. */
static ftb_plain_rows result_rows(const call *c)
{
    const ftb_spmm_result *t = &c->result;
    return (ftb_plain_rows){t->values, t->type, c->p->nrows, t->ncols, t->ld};
}

static GrB_Info compute(call *c, bool plan_only, bool measure)
{
    const FtB_Plan plan = c->flags.plan;
    if (plan && plan->magic == FTB_MAGIC_PLAN && ftb_plan_on_host(plan))
        c->device = NULL;
    ftb_spmm_request request = {.message = &c->message,
                                .p = c->p,
                                .rows = c->rows,
                                .nlisted = c->nlisted,
                                .arg = c->E != NULL,
                                .into_type = c->C->type,
                                .ldinto = c->C->ld,
                                .plan_only = plan_only,
                                .measure = measure};
    offer_output(&request, c);
    if (c->flags.plan) {
        GrB_Info info = take_plan(&request, c->flags.plan);
        if (info != GrB_SUCCESS)
            return info;
    }
    GrB_Info info = ftb_spmm_message(&c->result, &request);
    if (info != GrB_SUCCESS || plan_only || c->result.there)
        return info;
    const ftb_plain_rows rows = result_rows(c); /* whole numbers were summed in 64 bits */
    ftb_rows_wrap(c->ctx, &rows, ftb_semiring_wraps_to(c->semiring, rows.type));
    return c->repeated ? repeat_columns(c) : GrB_SUCCESS;
}

/* Both outputs: all that can fail is done before either changes. */
static GrB_Info write_both(call *c)
{
    ftb_block_writer *values = NULL, *winners = NULL;
    ftb_flags flags = c->flags, none = c->flags;
    int threads = ftb_threads(c->ctx);
    flags.replace = none.replace = true;
    none.fill = -1;
    GrB_Info info;
    FTB_CHECK(ftb_block_writer_new(&values, c->C, c->M, &flags, NULL, c->result.type, c->result.ld,
                                   c->p->rowptr, threads));
    FTB_CHECK(ftb_block_writer_new(&winners, c->E, c->M, &none, NULL, FTB_INT64, c->result.ncols,
                                   c->p->rowptr, threads));
    ftb_block_writer_all(values, c->result.values, threads);
    ftb_block_writer_all(winners, c->result.arg, threads);
done:
    ftb_block_writer_delete(values);
    ftb_block_writer_delete(winners);
    return info;
}

static GrB_Info end_call(call *c, GrB_Info info)
{
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(c->ctx);
    ftb_delete(c->result.owned);
    ftb_delete(c->result.arg);
    ftb_delete(c->rows);
    for (int n = 0; n < 3; n++)
        FtB_Block_free(&c->held[n]);
    ftb_message_clear(&c->message);
    FtB_Semiring_free(&c->semiring);
    FtB_Op_free(&c->accum);
    return info;
}

/* What is held goes to C and E; rows without entries become what they are of any matrix. */
static GrB_Info put_back(const call *c)
{
    const double none = -1;
    GrB_Info info = c->E ? ftb_buffer_ask_as(c->whole[1]->owner, FTB_UPDATE, "E") : GrB_SUCCESS;
    if (info == GrB_SUCCESS)
        info = ftb_block_put_back(c->whole[0], c->C, c->p->numbers, c->accum ? NULL : &c->flags.fill, "C");
    return info == GrB_SUCCESS && c->E ? ftb_block_put_back(c->whole[1], c->E, c->p->numbers, &none, "E")
                                       : info;
}

GrB_Info ftb_spmm(FtB_Arg C, FtB_Arg E, FtB_Arg M, FtB_Arg accum, FtB_Arg semiring, FtB_Arg A, FtB_Arg B,
                  FtB_Arg desc)
{
    call c = {0};
    GrB_Info info;
    FTB_CHECK(read_slots(&c, C, E, M, accum, A, B, desc));
    FTB_CHECK(hold_rows(&c));
    if (without_columns(&c)) {
        info = do_nothing(&c, semiring);
        goto done;
    }
    FTB_CHECK(prepare_call(&c, semiring));
    FTB_CHECK(compute(&c, false, false));
    if (c.result.there)
        goto done;
    FTB_CHECK(ftb_buffer_ask_as(c.C->owner, FTB_UPDATE, "C"));
    if (c.E)
        FTB_CHECK(ftb_buffer_ask_as(c.E->owner, FTB_UPDATE, "E"));
    const bool empty = c.C->nrows == 0 || c.C->ncols == 0;
    const ftb_plain_rows rows = result_rows(&c);
    if (c.E && !empty)
        info = write_both(&c);
    else if (!empty && rows.data == ftb_block_address(c.C)) /* only rows without entries are missing */
        ftb_rows_fill_empty(c.ctx, &rows, c.p->rowptr, c.flags.fill);
    else if (!c.E)
        info = ftb_block_write(c.C, c.M, &c.flags, c.accum, c.result.values, c.result.type, c.result.ld,
                               c.p->rowptr);
    if (info == GrB_SUCCESS && c.p->numbers)
        info = put_back(&c);
done:
    return end_call(&c, info);
}

GrB_Info ftb_spmm_plan_call(FtB_Plan *plan, FtB_Arg C, FtB_Arg M, FtB_Arg accum, FtB_Arg semiring, FtB_Arg A,
                            FtB_Arg B, FtB_Arg desc, FtB_Effort effort)
{
    call c = {0};
    GrB_Info info;
    FTB_CHECK(read_slots(&c, C, (FtB_Arg){0}, M, accum, A, B, desc));
    FTB_CHECK(hold_rows(&c));
    if (without_columns(&c)) {
        FTB_CHECK(do_nothing(&c, semiring));
    } else {
        FTB_CHECK(prepare_call(&c, semiring));
        FTB_CHECK(compute(&c, true, effort == FTB_MEASURE));
    }
    info = ftb_plan_new(plan, c.ctx, FTB_PLAN_SPMM, &(ftb_any_facts){.spmm = c.result.facts},
                        &(ftb_any_plan){.spmm = c.result.plan});
    if (info == GrB_SUCCESS)
        ftb_plan_place_message(*plan, c.result.fits, &c.message, c.accum ? c.C->owner : NULL);
done:
    return end_call(&c, info);
}

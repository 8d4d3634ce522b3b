/* Runs of vertex programs: what is given is checked, and texts are compiled once. */

#include "core/options.h"
#include "core/vector/vector_forms.h"
#include "expr/tree.h"
#include "ops/block/blocks.h"
#include "vertex/run_there.h"

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

/* ---- who begins */

/* From the caller's list, in any order. */
static GrB_Info begin_at(FtB_Run r, FtB_Ids start)
{
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
    ftb_delete(words);
    ftb_delete(scratch);
    return info;
}

/* From the entries of a vector. */
static GrB_Info begin_in(FtB_Run r, FtB_Vector frontier)
{
    GrB_Info info = ftb_arg_vector(&frontier, FTB_ARG(frontier), "options: frontier", false);
    if (info != GrB_SUCCESS)
        return info;
    const ftb_vector *v = &frontier->v;
    if (v->size != r->n)
        return ftb_fail(GrB_DIMENSION_MISMATCH,
                        "options: frontier has %lld places; expected %lld, the vertices", (long long)v->size,
                        (long long)r->n);
    r->nactive = v->nvals;
    if (v->nvals == r->n)
        return GrB_SUCCESS;
    r->active = ftb_vertex_need(r->ctx, &r->active_room, v->nvals, sizeof *r->active);
    if (!r->active)
        return ftb_nomem();
    if (v->form == FTB_VECTOR_LIST)
        memcpy(r->active, v->index, (size_t)v->nvals * sizeof *r->active);
    else
        ftb_vector_list(r->ctx, v->present, v->size, r->active);
    return GrB_SUCCESS;
}

static GrB_Info begin_active(FtB_Run r)
{
    const FtB_Run_options *o = &r->options;
    GrB_Info info = GrB_SUCCESS;
    r->nactive = r->n;
    if (o->start.at && o->frontier)
        return ftb_fail(GrB_INVALID_VALUE, "options: start and frontier both say who begins");
    if (o->start.at)
        info = begin_at(r, o->start);
    else if (o->frontier)
        info = begin_in(r, o->frontier);
    r->all = r->nactive == r->n;
    return info;
}

static GrB_Info check_options(FtB_Run r, const FtB_Run_options *given, const char *call)
{
    const struct FtB_Program_opaque *p = r->program;
    GrB_Info info = ftb_options_read(&r->options, sizeof r->options, given, call, "FTB_RUN_OPTIONS");
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
    ftb_vertex_room *rooms[] = {&r->active_room,    &r->next_room,      &r->sent_room, &r->received_room,
                                &r->second_room,    &r->receivers_room, &r->open_room, &r->mail.open,
                                &r->applying.flags, &r->applying.parts};
    r->magic = 0;
    ftb_vertex_texts_clear(r);
    for (size_t m = 0; m < sizeof rooms / sizeof *rooms; m++)
        ftb_delete(rooms[m]->at);
    for (size_t m = 0; m < sizeof r->mail.rooms / sizeof *r->mail.rooms; m++)
        ftb_delete(r->mail.rooms[m].at);
    ftb_delete(r->mail.marks);
    ftb_vertex_bits_clear(&r->bits);
    ftb_vertex_waiting_delete(r->waiting);
    ftb_vertex_there_delete(r->there);
    for (int s = 0; s < r->nstates; s++)
        FtB_Block_free(&r->states[s].block);
    ftb_delete(r->states);
    ftb_delete(r->work.states);
    FtB_Matrix_free(&r->A);
    ftb_program_release(r->program);
    ftb_delete(r);
}

static GrB_Info begin(FtB_Run r, FtB_Matrix A, FtB_States states, const FtB_Run_options *options,
                      const char *call)
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
    FTB_CHECK(check_options(r, options, call));
    FTB_CHECK(add_states(r, states));
    FTB_CHECK(ftb_vertex_texts_make(r));
    FTB_CHECK(check_written(r));
    FTB_CHECK(begin_active(r));
    r->over = r->nactive == 0;
    r->about.loop = r->about.where = "";
    if (r->options.explain)
        fprintf(r->options.explain, "%-9s %12s %14s %-6s %-6s %-6s %12s %12s %10s%s\n", "superstep", "active",
                "edges", "along", "way", "loop", "applied", "next", "seconds",
                ftb_device(r->ctx) ? "  where" : "");
done:
    return info;
}

GrB_Info ftb_vertex_run_new(FtB_Run *run, FtB_Program program, FtB_Matrix A, FtB_States states,
                            const FtB_Run_options *options, const char *call)
{
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
    GrB_Info info = begin(r, A, states, options, call);
    if (info == GrB_SUCCESS)
        *run = r;
    else
        destroy(r);
    return info;
}

GrB_Info FtB_Run_new(FtB_Run *run, FtB_Program program, FtB_Matrix A, FtB_States states,
                     const FtB_Run_options *options)
{
    return run ? ftb_vertex_run_new(run, program, A, states, options, "FtB_Run_new")
               : ftb_fail(GrB_NULL_POINTER, "FtB_Run_new: run is NULL");
}

GrB_Info ftb_vertex_check_run(FtB_Run run, const char *call)
{
    if (!run)
        return ftb_fail(GrB_NULL_POINTER, "%s: run is NULL", call);
    return run->magic == FTB_MAGIC_RUN
               ? GrB_SUCCESS
               : ftb_fail(GrB_UNINITIALIZED_OBJECT, "%s: run is not an FtB_Run, or was freed", call);
}

GrB_Info FtB_Run_about(FtB_Run run, FtB_Superstep *about)
{
    GrB_Info info = ftb_vertex_check_run(run, "FtB_Run_about");
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
    GrB_Info info = ftb_vertex_check_run(*run, "FtB_Run_free");
    if (info != GrB_SUCCESS)
        return info;
    destroy(*run);
    *run = NULL;
    return GrB_SUCCESS;
}

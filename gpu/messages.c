/* The verbs `messages` and `aggregate` on a GPU: texts (expression.h), kept for the entries, or reduced in
 * the entries' order, but for rows that are cut (pieces.h). */
#include "gpu/entries.h"
#include "gpu/gpu_verbs.h"
#include "gpu/memory.h"
#include "gpu/pieces.h"
#include "gpu/texts/expression.h"

#include <limits.h>

static bool fits(const ftb_message *m, const ftb_pattern *p)
{
    ftb_message_type type;
    ftb_program *program = NULL;
    if (p->wide || p->nrows > INT_MAX || ftb_message_compile(&type, &program, m) != GrB_SUCCESS)
        return false;
    const bool well = program && ftb_gpu_expression_fits(m, program, 0, p->rowptr);
    ftb_program_delete(program);
    return well;
}

bool ftb_gpu_messages_fits(const ftb_messages_product *product) { return fits(product->m, product->p); }

bool ftb_gpu_aggregate_fits(const ftb_aggregate_product *product) { return fits(product->m, product->p); }

/* The text's source, loaded, and all that it reads. */
static GrB_Info prepare(ftb_gpu_expression *e, ftb_expression_arguments *a, const ftb_message *m,
                        ftb_pattern *p, bool reduced, ftb_gpu_device *d)
{
    ftb_message_type type;
    ftb_program *program = NULL;
    const int64_t *rowptr;
    const void *colidx;
    GrB_Info info = ftb_message_compile(&type, &program, m);
    if (info == GrB_SUCCESS)
        info = ftb_gpu_expression_new(e, m, program, reduced ? type.reduced : type.message, m->reducer.monoid,
                                      reduced ? FTB_EXPRESSION_REDUCE : FTB_EXPRESSION_ENTRIES);
    if (info == GrB_SUCCESS)
        info = ftb_gpu_load(d, e->source);
    if (info == GrB_SUCCESS)
        info = ftb_pattern_ask_at(p, &d->row, &rowptr, &colidx);
    const int64_t *const from = info == GrB_SUCCESS ? ftb_gpu_expression_from(m, program) : NULL;
    if (from)
        info = ftb_gpu_from_ask(&a->from, p, from, d);
    if (info == GrB_SUCCESS) {
        a->nrows = p->nrows;
        a->nvals = p->nvals;
        a->rowptr = (const long long *)rowptr;
        a->colidx = colidx;
        a->ncols = m->heads * type.width;
        ftb_gpu_expression_feeds(a, m, program);
    }
    ftb_program_delete(program);
    return info;
}

GrB_Info ftb_gpu_messages(const ftb_messages_product *product)
{
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(product->m->ctx));
    ftb_expression_arguments a = {.out = product->out};
    ftb_gpu_expression e = {.source = NULL};
    GrB_Info info = prepare(&e, &a, product->m, product->p, false, d);
    if (info == GrB_SUCCESS)
        info = ftb_gpu_expression_run(d, &e, FTB_EXPRESSION_ENTRIES, a.nvals, &a);
    ftb_gpu_expression_delete(&e);
    return info;
}

static GrB_Info reduce(ftb_gpu_device *d, const ftb_gpu_expression *e, ftb_expression_arguments *a,
                       const ftb_gpu_pieces *p)
{
    GrB_Info info = ftb_gpu_expression_run(d, e, FTB_EXPRESSION_REDUCE, a->npieces, a);
    if (info != GrB_SUCCESS || p->ncuts == 0)
        return info;
    info = ftb_gpu_expression_run(d, e, FTB_EXPRESSION_JOIN, a->ncuts, a);
    return ftb_gpu_half_done(info, a->add);
}

GrB_Info ftb_gpu_aggregate(const ftb_aggregate_product *product)
{
    const ftb_message *m = product->m;
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(m->ctx));
    ftb_expression_arguments a = {.out = product->out,
                                  .ldo = product->ldo,
                                  .add = product->add,
                                  .won = product->won,
                                  .ldwon = product->ldwon};
    ftb_gpu_expression e = {.source = NULL};
    ftb_gpu_pieces pieces;
    ftb_gpu_rooms rooms = {.d = d, .ctx = m->ctx};
    GrB_Info info = prepare(&e, &a, m, product->p, true, d);
    if (info == GrB_SUCCESS)
        info = ftb_gpu_pieces_ask(&pieces, product->p, d);
    /* What pieces give, and behind it who won, 8 bytes each. */
    const int64_t values = info == GrB_SUCCESS ? pieces.nslots * a.ncols : 0,
                  size = (int64_t)FtB_Type_size(e.result),
                  bytes = (values * size + 7) / 8 * 8 + (a.won ? values * 8 : 0);
    if (info == GrB_SUCCESS)
        info = ftb_gpu_room(&a.partial, &rooms, bytes);
    if (a.partial && a.won)
        a.partial_won = (long long *)((char *)a.partial + (values * size + 7) / 8 * 8);
    if (info == GrB_SUCCESS) {
        a.pieces = pieces.pieces;
        a.npieces = pieces.npieces - (product->add ? pieces.nempty : 0);
        a.cuts = pieces.cuts;
        a.ncuts = pieces.ncuts;
        info = reduce(d, &e, &a, &pieces);
    }
    ftb_gpu_rooms_free(&rooms);
    ftb_gpu_expression_delete(&e);
    return info;
}

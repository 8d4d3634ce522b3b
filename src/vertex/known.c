/* Runs whose texts are those of an algorithm that a backend has: they are done at once by its verb, with the
 * bits that supersteps would give, or those of any order of them. What is matched is the meaning of the
 * texts, whatever the fields' names and the order of operands. */
#include "core/watch.h"
#include "cpu/graph/components_run.h"
#include "cpu/graph/paths_run.h"
#include "expr/tree.h"
#include "ops/backends.h"
#include "vertex/run.h"

/* min(FIELD, received), over the field's old value. */
static bool keeps_least(const ftb_expr *e, const char *field)
{
    const ftb_node *root = &e->nodes[e->root];
    char old[FTB_NAME_LENGTH + 4];
    if (root->op != FTB_OP_MIN || root->count != 2)
        return false;
    const int x = ftb_tree_arg(e, e->root, 0), y = ftb_tree_arg(e, e->root, 1);
    const int kept = ftb_tree_is_name(e, x, "received") ? y : x;
    snprintf(old, sizeof old, "old.%s", field);
    return ftb_tree_is_name(e, kept == x ? y : x, "received") &&
           (ftb_tree_is_name(e, kept, field) || ftb_tree_is_name(e, kept, old));
}

/* Every vertex keeps the least of what it receives in the field that it sends, and tells of it when that
 * falls, until nothing does. */
static bool least_spreads(const struct FtB_Run_opaque *r)
{
    const struct FtB_Program_opaque *p = r->program;
    return r->sends_field && p->nassigned == 1 && r->work.fields[0].state == r->sent_field && !p->active &&
           !p->settled && !p->always && !p->until && r->rounds == INT64_MAX &&
           r->options.way == FTB_WAY_AUTO && r->work.monoid == FTB_MIN &&
           r->work.width == r->work.fields[0].ncols && keeps_least(p->assigned[0].expr, p->assigned[0].field);
}

static bool is_components(const struct FtB_Run_opaque *r)
{
    const ftb_vertex_field *f = &r->work.fields[0];
    const ftb_expr *e = r->work.texts[FTB_VERTEX_COMBINE].m.expr;
    return r->program->direction == FTB_BOTH && r->all && f->ncols == 1 && !r->A->pattern->wide &&
           (f->type == FTB_INT32 || f->type == FTB_INT64) && e && ftb_tree_is_name(e, e->root, "message");
}

static GrB_Info components(FtB_Run r)
{
    const FtB_Block labels = r->states[r->sent_field].block;
    ftb_components_product p = {.ctx = r->ctx, .p = r->A->pattern, .type = labels->type, .ld = labels->ld};
    const ftb_place places[] = {{.X = labels, .write = &p.labels, .name = r->states[r->sent_field].name}};
    GrB_Info info;
    FTB_RUN(info, FTB_WHO(r->ctx, components), components, places, &p);
    return info;
}

/* message + edge, the sum of reals; of the field's type, or FP64. */
static bool is_paths(const struct FtB_Run_opaque *r)
{
    const FtB_Type type = r->work.fields[0].type, sums = r->work.reduced;
    const ftb_expr *e = r->work.texts[FTB_VERTEX_COMBINE].m.expr;
    if (!e || e->nodes[e->root].op != FTB_OP_ADD || e->nodes[e->root].count != 2)
        return false;
    const int x = ftb_tree_arg(e, e->root, 0), y = ftb_tree_arg(e, e->root, 1);
    const bool adds = (ftb_tree_is_name(e, x, "message") && ftb_tree_is_name(e, y, "edge")) ||
                      (ftb_tree_is_name(e, x, "edge") && ftb_tree_is_name(e, y, "message"));
    return adds && r->program->direction != FTB_BOTH && !r->A->pattern->wide && r->A->width <= 1 &&
           (type == FTB_FP32 || type == FTB_FP64) && (sums == type || sums == FTB_FP64);
}

static GrB_Info paths(FtB_Run r, bool *fits)
{
    const FtB_Block dist = r->states[r->sent_field].block;
    const bool back = r->program->direction == FTB_IN;
    ftb_paths_product p = {.ctx = r->ctx,
                           .p = r->A->pattern,
                           .ltype = r->A->type,
                           .type = dist->type,
                           .ncols = dist->ncols,
                           .ld = dist->ld,
                           .sums = r->work.reduced,
                           .start = r->all ? NULL : r->active,
                           .nstart = r->nactive,
                           .fits = fits};
    GrB_Info info =
        back ? ftb_pattern_transpose(r->A->pattern, &p.p, r->reads_edges ? &p.at : NULL) : GrB_SUCCESS;
    if (info != GrB_SUCCESS)
        return info;
    const ftb_place places[] = {
        {.X = dist, .write = &p.dist, .name = r->states[r->sent_field].name},
        {.values = r->reads_edges ? r->A->values : NULL, .read = &p.lengths, .name = "A"}};
    FTB_RUN(info, FTB_WHO(r->ctx, paths), paths, places, &p);
    return info;
}

GrB_Info ftb_vertex_whole(FtB_Run r)
{
    const double start = ftb_seconds();
    if (r->over || !least_spreads(r))
        return GrB_SUCCESS;
    const bool joins = is_components(r);
    bool done = joins || is_paths(r);
    if (!done)
        return GrB_SUCCESS;
    GrB_Info info = ftb_progress(r->ctx, 0, 0, "supersteps");
    if (info == GrB_SUCCESS)
        info = joins ? components(r) : paths(r, &done);
    if (info == GrB_SUCCESS && done) {
        r->over = true;
        r->about = (FtB_Superstep){.round = 1,
                                   .active = r->nactive,
                                   .edges = ftb_vertex_entries(r),
                                   .applied = r->n,
                                   .way = FTB_WAY_WHOLE,
                                   .loop = "whole",
                                   .where = "host",
                                   .seconds = ftb_seconds() - start};
        r->why_here = "done at once";
        ftb_vertex_tell(r);
    }
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(r->ctx);
    return info;
}

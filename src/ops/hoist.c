/* Hoists what depends on one endpoint out of a message (hoist.h). */
#include "ops/hoist.h"

#include "ops/vertices.h"

static GrB_Info add_part(ftb_hoisted *h, const ftb_backend *device, const ftb_message *m, const ftb_pre *pre,
                         int64_t nrows)
{
    FtB_Block values = NULL;
    GrB_Info info = ftb_vertex_values_new(
        &values, device, &(ftb_vertex_values){.m = m, .expr = pre->expr, .side = pre->side, .nrows = nrows});
    if (info == GrB_SUCCESS)
        info = ftb_message_adopt(&h->core, pre->name, pre->side, values);
    if (info == GrB_SUCCESS)
        h->npre++;
    return info;
}

GrB_Info ftb_hoist(ftb_hoisted *h, const ftb_message *m, const ftb_pattern *p, bool reduce, bool arg,
                   bool types_only, const ftb_backend *device)
{
    const ftb_rewritten *r = &h->rewritten;
    GrB_Info info = ftb_rewrite(&h->rewritten, m, reduce, arg);
    h->npre = 0;
    if (info != GrB_SUCCESS)
        return info;
    h->core = *m;
    h->core.reducer = (ftb_reducer){.monoid = r->monoid};
    if (r->core)
        h->core.expr = r->core;
    for (int t = 0; t < r->npre && info == GrB_SUCCESS; t++) {
        int64_t nrows = r->pre[t].side == FTB_SIDE_ROW ? p->nrows : p->ncols;
        info = add_part(h, device, m, &r->pre[t], types_only ? 0 : nrows);
    }
    return info == GrB_SUCCESS ? ftb_message_types(&h->type, &h->core) : info;
}

void ftb_hoist_clear(ftb_hoisted *h)
{
    for (int t = 0; t < h->npre; t++)
        ftb_buffer_release(h->core.feeds[h->core.nfeeds - 1 - t].owner);
    ftb_rewritten_clear(&h->rewritten);
}

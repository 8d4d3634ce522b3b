/* Messages (y - dot(x, z)) x, by their trees (error_rows.h). */
#include "cpu/error_rows.h"

#include "cpu/kernels/heads.h"
#include "expr/tree.h"

enum { WIDEST = 256 }; /* in one piece of lanes (cpu/kernels/lanes.h) */

static const ftb_feed *feed_at(const ftb_message *m, int node)
{
    for (int n = 0; n < m->nfeeds; n++)
        if (ftb_tree_is_name(m->expr, node, m->feeds[n].name))
            return &m->feeds[n];
    return NULL;
}

static bool fits(const ftb_feed *feed, ftb_side side, FtB_Type type, int64_t width)
{
    return feed && feed->side == side && feed->data && !feed->whole && feed->type == type &&
           feed->width == width && (!feed->at || side == FTB_SIDE_EDGE);
}

ftb_error_rows ftb_error_rows_of(const ftb_message *m, const ftb_message_type *type, const ftb_pattern *p)
{
    const ftb_expr *e = m->expr;
    ftb_error_rows f = {.p = p, .width = type->width};
    if (!e || p->wide || m->heads != 1 || m->reducer.monoid != FTB_PLUS ||
        e->nodes[e->root].op != FTB_OP_MUL || (type->reduced != FTB_FP32 && type->reduced != FTB_FP64) ||
        type->message != type->reduced || f.width % FTB_LANES != 0 || f.width > WIDEST)
        return f;
    for (int turn = 0; turn < 4; turn++) { /* factors of both products, in either order */
        const int less = ftb_tree_arg(e, e->root, turn % 2), x = ftb_tree_arg(e, e->root, 1 - turn % 2);
        if (e->nodes[less].op != FTB_OP_SUB)
            continue;
        const int dot = ftb_tree_arg(e, less, 1);
        if (e->nodes[dot].op != FTB_OP_DOT || ftb_tree_arg(e, dot, turn / 2) != x)
            continue;
        const ftb_feed *source = feed_at(m, x), *entry = feed_at(m, ftb_tree_arg(e, less, 0)),
                       *receiver = feed_at(m, ftb_tree_arg(e, dot, 1 - turn / 2));
        if (!fits(source, FTB_SIDE_COL, type->reduced, f.width) ||
            !fits(receiver, FTB_SIDE_ROW, type->reduced, f.width) ||
            !fits(entry, FTB_SIDE_EDGE, type->reduced, 1))
            continue;
        f.run = FTB_PICK_REAL(ftb_error_sums, type->reduced);
        f.x = source->data;
        f.ldx = source->ld;
        f.y = entry->data;
        f.ldy = entry->ld;
        f.at = entry->at;
        f.z = receiver->data;
        f.ldz = receiver->ld;
    }
    return f;
}

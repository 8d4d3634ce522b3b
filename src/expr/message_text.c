/* A message's tree, copied with changes: what a name of its own, of another name, or left out becomes.
 *
 * Names are slices of the text; those that the text does not spell are put behind it. */
#include "expr/message_text.h"

#include "expr/tree.h"

typedef struct change {   /* of one node */
    int start, length;    /* of its new name, a leaf then; length 0: none */
    ftb_operator convert; /* around it; FTB_NOPERATORS: nothing */
    int same;             /* the node that stands for it; -1: none */
    bool live;            /* reached from the root */
} change;

static const char *const index_names[] = {"i", "j", "k", "e"};

const char *ftb_message_renamed(const char *name, const char *const *rename)
{
    for (int p = 0; rename && rename[p]; p += 2)
        if (strcmp(rename[p], name) == 0)
            return rename[p + 1];
    return name;
}

static change *new_changes(const ftb_expr *e)
{
    change *changes = ftb_new0(e->ctx, e->nnodes, sizeof *changes);
    for (int n = 0; changes && n < e->nnodes; n++)
        changes[n] = (change){.convert = FTB_NOPERATORS, .same = -1};
    return changes;
}

static void mark_live(const ftb_expr *e, change *changes)
{
    changes[e->root].live = true;
    for (int n = e->root; n >= 0; n--) {
        const change *c = &changes[n];
        if (!c->live || c->length > 0)
            continue;
        if (c->same >= 0)
            changes[c->same].live = true;
        else
            for (int a = 0; a < e->nodes[n].count; a++)
                changes[ftb_tree_arg(e, n, a)].live = true;
    }
}

/* Adds what becomes of node n; < 0 on failure. map: nodes of e to those of `to`. */
static int copy_node(ftb_expr *to, const ftb_expr *e, int n, const change *c, const int *map)
{
    ftb_node made = e->nodes[n];
    int args[64], count = c->length > 0 ? 0 : made.count;
    if (c->same >= 0)
        return map[c->same];
    if (c->length > 0) {
        made.op = FTB_OP_NAME;
        made.name.start = c->start;
        made.name.length = c->length;
    }
    for (int a = 0; a < count; a++)
        args[a] = map[ftb_tree_arg(e, n, a)];
    int node = ftb_tree_add(to, &made, count, args);
    if (node >= 0 && c->convert != FTB_NOPERATORS)
        node = ftb_tree_add(to, &(ftb_node){.op = c->convert, .column = made.column}, 1, &node);
    return node;
}

static GrB_Info copy_tree(ftb_expr **out, const ftb_expr *e, const char *text, change *changes)
{
    GrB_Info info = GrB_SUCCESS;
    ftb_expr *to = ftb_tree_new(e->ctx, text, e->what, e->column0);
    int *map = ftb_new(e->ctx, e->nnodes, sizeof *map);
    if (!to || !map) {
        info = ftb_nomem();
        goto done;
    }
    mark_live(e, changes);
    for (int n = 0; n <= e->root; n++) {
        map[n] = changes[n].live ? copy_node(to, e, n, &changes[n], map) : -1;
        if (changes[n].live && map[n] < 0) {
            info = map[n] == FTB_TREE_NOMEM ? ftb_nomem() : GrB_INVALID_VALUE;
            goto done;
        }
    }
    to->root = map[e->root];
    *out = to;
    to = NULL;
done:
    ftb_expr_release(to);
    ftb_delete(map);
    return info;
}

static ftb_operator conversion_to(FtB_Type type)
{
    static const ftb_operator to[] = {
        [FTB_BOOL] = FTB_OP_BOOL,     [FTB_INT8] = FTB_OP_INT8,     [FTB_INT16] = FTB_OP_INT16,
        [FTB_INT32] = FTB_OP_INT32,   [FTB_INT64] = FTB_OP_INT64,   [FTB_UINT8] = FTB_OP_UINT8,
        [FTB_UINT16] = FTB_OP_UINT16, [FTB_UINT32] = FTB_OP_UINT32, [FTB_UINT64] = FTB_OP_UINT64,
        [FTB_FP32] = FTB_OP_FP32,     [FTB_FP64] = FTB_OP_FP64};
    return (size_t)type < sizeof to / sizeof *to && type >= FTB_BOOL ? to[type] : FTB_NOPERATORS;
}

/* The name that a node gets, "" if it keeps what it is. */
static void new_name(char *name, size_t room, const struct FtB_Semiring_opaque *s, const ftb_expr *e,
                     int node, const char *const *rename)
{
    const ftb_node *n = &e->nodes[node];
    *name = '\0';
    if (n->op == FTB_OP_NAME) {
        for (int p = 0; rename && rename[p]; p += 2)
            if (ftb_tree_is_name(e, node, rename[p]))
                snprintf(name, room, "%s", rename[p + 1]);
        return;
    }
    if (n->op != FTB_OP_INDEX)
        return;
    for (int b = 0; b < s->nbound; b++)
        for (int x = 0; x < 4; x++) {
            const ftb_bound *bound = &s->bound[b];
            if (bound->block && ftb_tree_is_name(e, ftb_tree_arg(e, node, 0), bound->name) &&
                ftb_tree_is_name(e, ftb_tree_arg(e, node, 1), index_names[x]))
                snprintf(name, room, "%s[%s]", ftb_message_renamed(bound->name, rename),
                         ftb_message_renamed(index_names[x], rename));
        }
}

GrB_Info ftb_message_text(ftb_expr **out, const struct FtB_Semiring_opaque *s, const ftb_expr *e,
                          const char *const *rename)
{
    GrB_Info info = GrB_SUCCESS;
    size_t used = strlen(e->text);
    change *changes = new_changes(e);
    char *text = ftb_new(e->ctx, (int64_t)used + 1 + e->nnodes * (int64_t)FTB_NAME_LENGTH, 1);
    *out = NULL;
    if (!changes || !text) {
        info = ftb_nomem();
        goto done;
    }
    memcpy(text, e->text, used + 1);
    for (int n = 0; n < e->nnodes; n++) {
        char name[2 * FTB_NAME_LENGTH];
        new_name(name, sizeof name, s, e, n, rename);
        if (s->domain && (ftb_tree_is_name(e, n, "a") || ftb_tree_is_name(e, n, "b")))
            changes[n].convert = conversion_to(s->domain);
        if (!*name)
            continue;
        changes[n].length = (int)strlen(name);
        changes[n].start = (int)used + 1;
        text[used++] = ' ';
        memcpy(text + used, name, (size_t)changes[n].length + 1);
        used += (size_t)changes[n].length;
    }
    info = copy_tree(out, e, text, changes);
done:
    ftb_delete(changes);
    ftb_delete(text);
    return info;
}

GrB_Info ftb_message_plain(ftb_expr **out, const ftb_message *m)
{
    const ftb_expr *e = m->expr;
    *out = NULL;
    change *changes = new_changes(e);
    if (!changes)
        return ftb_nomem();
    bool some = false;
    for (int n = 0; n < e->nnodes; n++) {
        if (e->nodes[n].op >= FTB_NOPERATORS || ftb_operators[e->nodes[n].op].rule != FTB_RULE_CONVERT)
            continue;
        int argument = ftb_tree_arg(e, n, 0);
        for (int f = 0; f < m->nfeeds; f++)
            if (ftb_tree_is_name(e, argument, m->feeds[f].name) && !m->feeds[f].constant &&
                !m->feeds[f].whole && conversion_to(m->feeds[f].type) == e->nodes[n].op) {
                changes[n].same = argument;
                some = true;
            }
    }
    GrB_Info info = some ? copy_tree(out, e, e->text, changes) : GrB_SUCCESS;
    ftb_delete(changes);
    return info;
}

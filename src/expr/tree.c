/* Expression trees: making nodes, sharing equal ones, and what can be asked of a tree without types. */
#include "expr/tree.h"

static bool grow(ftb_expr *e)
{
    if (e->nnodes < e->room_nodes)
        return true;
    int room = e->room_nodes ? 2 * e->room_nodes : 16, size = 4 * room;
    if (!ftb_resize(e->ctx, (void **)&e->nodes, room, sizeof *e->nodes) ||
        !ftb_resize(e->ctx, (void **)&e->table, size, sizeof *e->table))
        return false;
    e->room_nodes = room;
    e->table_size = 0; /* rebuilt by rehash */
    return true;
}

static bool grow_args(ftb_expr *e, int count)
{
    if (count <= e->room_args - e->nargs)
        return true;
    int room = 2 * (e->nargs + count) + 16;
    if (!ftb_resize(e->ctx, (void **)&e->args, room, sizeof *e->args))
        return false;
    e->room_args = room;
    return true;
}

static uint64_t mix(uint64_t h, uint64_t value) { return (h ^ value) * UINT64_C(0x9e3779b97f4a7c15); }

static uint64_t node_hash(const ftb_expr *e, const ftb_node *node, const int *args)
{
    uint64_t h = mix(UINT64_C(0x243f6a8885a308d3), (uint64_t)node->op);
    if (node->op == FTB_OP_NAME)
        for (int c = 0; c < node->name.length; c++)
            h = mix(h, (unsigned char)e->text[node->name.start + c]);
    else if (node->op > FTB_OP_NAME)
        h = mix(h, (uint64_t)node->integer); /* of a real: its bits */
    for (int a = 0; a < node->count; a++)
        h = mix(h, (uint64_t)args[a]);
    return h ^ h >> 29;
}

static bool same(const ftb_expr *e, const ftb_node *x, const ftb_node *y, const int *y_args)
{
    if (x->op != y->op || x->count != y->count)
        return false;
    if (x->op == FTB_OP_NAME)
        return x->name.length == y->name.length &&
               memcmp(e->text + x->name.start, e->text + y->name.start, (size_t)x->name.length) == 0;
    if (x->op > FTB_OP_NAME)
        return x->integer == y->integer;
    return x->count == 0 || memcmp(e->args + x->first, y_args, (size_t)x->count * sizeof *y_args) == 0;
}

/* The table's place for a node: where its equal is, or the empty place where it belongs. */
static int *find(ftb_expr *e, const ftb_node *node, const int *args)
{
    unsigned at = (unsigned)node_hash(e, node, args), mask = (unsigned)e->table_size - 1;
    while (e->table[at & mask] && !same(e, &e->nodes[e->table[at & mask] - 1], node, args))
        at++;
    return &e->table[at & mask];
}

static void rehash(ftb_expr *e)
{
    e->table_size = 4 * e->room_nodes;
    memset(e->table, 0, (size_t)e->table_size * sizeof *e->table);
    for (int n = 0; n < e->nnodes; n++)
        *find(e, &e->nodes[n], e->args + e->nodes[n].first) = n + 1;
}

int ftb_tree_add(ftb_expr *e, const ftb_node *node, int count, const int *args)
{
    ftb_node made = *node;
    made.count = count;
    if (!grow(e) || !grow_args(e, count))
        return FTB_TREE_NOMEM;
    if (e->table_size == 0)
        rehash(e);
    int *place = find(e, &made, args);
    if (*place)
        return *place - 1;
    if (e->nnodes == FTB_MAX_NODES) {
        ftb_fail(GrB_INVALID_VALUE, "%s: more than %d different subexpressions at column %d", e->what,
                 FTB_MAX_NODES, e->column0 + made.column);
        return -1;
    }
    made.first = e->nargs;
    if (count > 0)
        memcpy(e->args + e->nargs, args, (size_t)count * sizeof *args);
    e->nargs += count;
    e->nodes[e->nnodes] = made;
    *place = ++e->nnodes;
    return e->nnodes - 1;
}

ftb_expr *ftb_tree_new(FtB_Context ctx, const char *text, const char *what, int column0)
{
    ftb_expr *e = ftb_new0(ctx, 1, sizeof *e);
    if (!e)
        return NULL;
    e->refs = 1;
    e->ctx = ftb_context_retain(ctx);
    e->column0 = column0;
    e->text = ftb_strdup(ctx, text);
    e->what = ftb_strdup(ctx, what);
    if (!e->text || !e->what) {
        ftb_expr_release(e);
        return NULL;
    }
    return e;
}

ftb_expr *ftb_expr_retain(ftb_expr *e)
{
    if (e)
        atomic_fetch_add(&e->refs, 1);
    return e;
}

void ftb_expr_release(ftb_expr *e)
{
    if (!e || atomic_fetch_sub(&e->refs, 1) > 1)
        return;
    FtB_Context ctx = e->ctx;
    ftb_delete(e->text);
    ftb_delete(e->what);
    ftb_delete(e->nodes);
    ftb_delete(e->args);
    ftb_delete(e->table);
    ftb_delete(e);
    ftb_context_release(ctx);
}

const char *ftb_expr_text(const ftb_expr *e) { return e->text; }

bool ftb_tree_is_name(const ftb_expr *e, int node, const char *name)
{
    const ftb_node *n = &e->nodes[node];
    return n->op == FTB_OP_NAME && strlen(name) == (size_t)n->name.length &&
           memcmp(e->text + n->name.start, name, (size_t)n->name.length) == 0;
}

/* Every node was part of the text, so a name is used if it has a node. */
bool ftb_expr_uses(const ftb_expr *e, const char *name)
{
    for (int n = 0; n < e->nnodes; n++)
        if (ftb_tree_is_name(e, n, name))
            return true;
    return false;
}

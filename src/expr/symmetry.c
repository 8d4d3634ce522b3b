/* Whether exchanging names leaves an expression's value alone, bit for bit.
 *
 * Two copies of the tree, one with the names exchanged, are added to one new tree in a normal form:
 * arguments of commutative operators in order of their nodes, > as <, >= as <=, and differences whose
 * sign does not matter (|x - y|, (x - y) * (x - y)) in order as well. Equal nodes are shared, so the two
 * are the same expression if and only if their roots are the same node. */
#include "expr/tree.h"

typedef struct mirror {
    const ftb_expr *e;
    ftb_expr *normal;
    const char *const *pairs; /* NULL: names stay */
    int *map;                 /* node of e -> node of normal */
} mirror;

static const char *partner(const ftb_expr *e, int node, const char *const *pairs)
{
    for (int p = 0; pairs && pairs[p] && pairs[p + 1]; p += 2) {
        if (ftb_tree_is_name(e, node, pairs[p]))
            return pairs[p + 1];
        if (ftb_tree_is_name(e, node, pairs[p + 1]))
            return pairs[p];
    }
    return NULL;
}

/* The normal tree's text is a list of all names, so that a name's place says which it is. */
static int add_name(mirror *m, int node)
{
    ftb_node name = m->e->nodes[node];
    const char *other = partner(m->e, node, m->pairs);
    if (other) {
        const char *place = m->normal->text + strlen(m->e->text) + 1;
        for (; strncmp(place, other, strlen(other)) != 0 || place[strlen(other)] != ' ';)
            place = strchr(place, ' ') + 1;
        name.name.start = (int)(place - m->normal->text);
        name.name.length = (int)strlen(other);
    }
    return ftb_tree_add(m->normal, &name, 0, NULL);
}

static void order(int *args)
{
    int low = ftb_min(args[0], args[1]), high = ftb_max(args[0], args[1]);
    args[0] = low;
    args[1] = high;
}

/* x - y and y - x as one node. */
static int unsigned_difference(mirror *m, int node)
{
    const ftb_node *n = &m->normal->nodes[node];
    if (n->op != FTB_OP_SUB)
        return node;
    int args[2] = {ftb_tree_arg(m->normal, node, 0), ftb_tree_arg(m->normal, node, 1)};
    order(args);
    ftb_node copy = *n;
    return ftb_tree_add(m->normal, &copy, 2, args);
}

static int add_normal(mirror *m, int node)
{
    ftb_node made = m->e->nodes[node];
    if (made.op == FTB_OP_NAME)
        return add_name(m, node);
    int args[64], count = made.count;
    for (int a = 0; a < count; a++)
        args[a] = m->map[ftb_tree_arg(m->e, node, a)];
    if (made.op == FTB_OP_ABS || (made.op == FTB_OP_MUL && args[0] == args[1])) {
        args[0] = unsigned_difference(m, args[0]);
        if (args[0] < 0)
            return args[0];
        if (count == 2)
            args[1] = args[0];
    }
    if (made.op == FTB_OP_GT || made.op == FTB_OP_GE) {
        made.op = made.op == FTB_OP_GT ? FTB_OP_LT : FTB_OP_LE;
        int swapped = args[0];
        args[0] = args[1];
        args[1] = swapped;
    }
    if (made.op < FTB_NOPERATORS && ftb_operators[made.op].commutes)
        order(args);
    return ftb_tree_add(m->normal, &made, count, args);
}

static bool add_all(mirror *m, const char *const *pairs)
{
    m->pairs = pairs;
    for (int n = 0; n < m->e->nnodes; n++) {
        m->map[n] = add_normal(m, n);
        if (m->map[n] < 0)
            return false;
    }
    return true;
}

/* The expression's text, a blank, and the names of the pairs, each followed by a blank. */
static char *names_text(const ftb_expr *e, const char *const *pairs)
{
    size_t bytes = strlen(e->text) + 2;
    for (int p = 0; pairs[p]; p++)
        bytes += strlen(pairs[p]) + 1;
    char *text = ftb_new(e->ctx, (int64_t)bytes, 1);
    if (!text)
        return NULL;
    char *at = text + snprintf(text, bytes, "%s ", e->text);
    for (int p = 0; pairs[p]; p++)
        at += snprintf(at, bytes - (size_t)(at - text), "%s ", pairs[p]);
    return text;
}

bool ftb_expr_swap(const ftb_expr *e, const char *const *pairs, int room, int *permutation)
{
    bool symmetric = false;
    const ftb_node *root = &e->nodes[e->root];
    int parts = root->op == FTB_OP_VECTOR ? root->count : 1;
    int *map = ftb_new(e->ctx, 2 * (int64_t)e->nnodes, sizeof *map);
    char *text = names_text(e, pairs);
    mirror m = {.e = e, .normal = text ? ftb_tree_new(e->ctx, text, e->what, 0) : NULL, .map = map};
    if (!map || !m.normal || parts > room || !add_all(&m, NULL))
        goto done;
    m.map = map + e->nnodes;
    if (!add_all(&m, pairs))
        goto done;
    symmetric = true;
    for (int p = 0; p < parts; p++) {
        int part = root->op == FTB_OP_VECTOR ? ftb_tree_arg(e, e->root, p) : e->root, q = 0;
        for (; q < parts; q++)
            if (m.map[part] == map[root->op == FTB_OP_VECTOR ? ftb_tree_arg(e, e->root, q) : e->root])
                break;
        symmetric = symmetric && q < parts;
        permutation[p] = q;
    }
done:
    ftb_expr_release(m.normal);
    ftb_delete(text);
    ftb_delete(map);
    return symmetric;
}

bool ftb_expr_symmetric(const ftb_expr *e, const char *const *pairs)
{
    int permutation[64];
    if (!ftb_expr_swap(e, pairs, 64, permutation))
        return false;
    const ftb_node *root = &e->nodes[e->root];
    for (int p = 0; root->op == FTB_OP_VECTOR && p < root->count; p++)
        if (permutation[p] != p)
            return false;
    return true;
}

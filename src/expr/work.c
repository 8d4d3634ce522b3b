/* Trees being rewritten: nodes, sides, shapes, and trees of their own made from them. */
#include "expr/work.h"

#include "core/words.h"

/* The message's text and the names that may be added, blanks between them. */
static char *pool_text(FtB_Context ctx, const char *text, int nextra, const char *const *extra)
{
    size_t bytes = strlen(text) + 1;
    for (int x = 0; x < nextra; x++)
        bytes += strlen(extra[x]) + 1;
    char *pool = ftb_new(ctx, (int64_t)bytes, 1);
    if (!pool)
        return NULL;
    size_t used = ftb_put_word(pool, bytes, text);
    for (int x = 0; x < nextra; x++) {
        used += ftb_put_word(pool + used, bytes - used, " ");
        used += ftb_put_word(pool + used, bytes - used, extra[x]);
    }
    return pool;
}

static void name_feeds(ftb_work *w, const ftb_message *m)
{
    for (int f = 0; f < m->nfeeds; f++) {
        const ftb_feed *feed = &m->feeds[f];
        w->side_of[f] = feed->side;
        w->names[f] = (ftb_name){.name = feed->name,
                                 .type = feed->type,
                                 .width = feed->width,
                                 .block = feed->whole != NULL,
                                 .rows = feed->whole,
                                 .later = true,
                                 .constant = feed->constant};
    }
    w->count = m->nfeeds;
}

GrB_Info ftb_work_begin(ftb_work *w, const ftb_message *m, int room, int nextra, const char *const *extra)
{
    const ftb_expr *e = m->expr;
    *w = (ftb_work){.ctx = m->ctx, .room = room, .integers_wide = m->wide};
    name_feeds(w, m);
    char *pool = pool_text(m->ctx, e->text, nextra, extra);
    w->tree = pool ? ftb_tree_new(m->ctx, pool, e->what, e->column0) : NULL;
    ftb_delete(pool);
    w->sides = ftb_new0(m->ctx, room, sizeof *w->sides);
    w->shapes = ftb_new0(m->ctx, room, sizeof *w->shapes);
    int *map = ftb_new(m->ctx, e->nnodes, sizeof *map);
    if (!w->tree || !w->sides || !w->shapes || !map)
        w->info = ftb_nomem();
    for (int n = 0; n < e->nnodes && w->info == GrB_SUCCESS; n++) {
        int args[64];
        for (int a = 0; a < e->nodes[n].count; a++)
            args[a] = map[ftb_tree_arg(e, n, a)];
        map[n] = ftb_work_node(w, &e->nodes[n], e->nodes[n].count, args);
        if (map[n] < 0 && w->info == GrB_SUCCESS)
            w->info = ftb_fail(GrB_INVALID_VALUE, "%s: too long for a gradient", e->what);
    }
    if (w->info == GrB_SUCCESS)
        w->tree->root = map[e->root];
    ftb_delete(map);
    return w->info;
}

void ftb_work_end(ftb_work *w)
{
    ftb_expr_release(w->tree);
    ftb_delete(w->sides);
    ftb_delete(w->shapes);
    *w = (ftb_work){0};
}

int ftb_work_find(const ftb_work *w, int node)
{
    if (ftb_work_at(w, node)->op != FTB_OP_NAME)
        return -1;
    for (int n = 0; n < w->count; n++)
        if (ftb_tree_is_name(w->tree, node, w->names[n].name))
            return n;
    return -1;
}

/* ---- nodes */

static uint8_t sides_of(const ftb_work *w, int node)
{
    const ftb_node *n = ftb_work_at(w, node);
    int name = ftb_work_find(w, node);
    unsigned sides = name >= 0 ? (unsigned)w->side_of[name] : 0;
    for (int a = 0; a < n->count; a++)
        sides |= w->sides[ftb_work_arg(w, node, a)];
    return (uint8_t)sides;
}

int ftb_work_node(ftb_work *w, const ftb_node *like, int count, const int *args)
{
    int before = w->tree->nnodes;
    for (int a = 0; a < count; a++)
        if (args[a] < 0)
            return -1;
    if (w->info != GrB_SUCCESS || before == w->room)
        return -1;
    int node = ftb_tree_add(w->tree, like, count, args);
    if (node == FTB_TREE_NOMEM)
        w->info = ftb_nomem();
    if (node < 0)
        return -1;
    if (node >= before)
        w->sides[node] = sides_of(w, node);
    return node;
}

int ftb_work_op(ftb_work *w, ftb_operator op, int x, int y)
{
    const int args[2] = {x, y};
    return x < 0 ? -1
                 : ftb_work_node(w, &(ftb_node){.op = op, .column = ftb_work_at(w, x)->column},
                                 ftb_operators[op].arity, args);
}

int ftb_work_integer(ftb_work *w, int64_t value)
{
    return ftb_work_node(w, &(ftb_node){.op = FTB_OP_LITERAL, .column = 1, .integer = value}, 0, NULL);
}

int ftb_work_real(ftb_work *w, double value)
{
    return ftb_work_node(w, &(ftb_node){.op = FTB_OP_REAL, .column = 1, .real = value}, 0, NULL);
}

static int add_name(ftb_work *w, const char *name, ftb_side side, const ftb_name *as)
{
    int at = 0;
    while (at < w->nadded && strcmp(w->added[at], name) != 0)
        at++;
    if (at == FTB_WORK_EXTRA)
        return -1;
    int slot = w->count - w->nadded + at;
    if (at == w->nadded) {
        ftb_put_word(w->added[at], sizeof w->added[at], name);
        w->nadded++;
        w->count++;
    }
    w->names[slot] = *as;
    w->names[slot].name = w->added[at];
    w->side_of[slot] = side;
    const char *text = w->tree->text, *place = text + strlen(text) - strlen(name);
    while (place > text && (strncmp(place, name, strlen(name)) != 0 || place[-1] != ' ' ||
                            (place[strlen(name)] != ' ' && place[strlen(name)] != '\0')))
        place--;
    ftb_node node = {.op = FTB_OP_NAME, .column = 1};
    node.name.start = (int)(place - text);
    node.name.length = (int)strlen(name);
    w->nshapes = 0;
    return ftb_work_node(w, &node, 0, NULL);
}

int ftb_work_name(ftb_work *w, const char *name, ftb_side side, FtB_Type type, int64_t width)
{
    return add_name(w, name, side, &(ftb_name){.type = type, .width = width});
}

int ftb_work_whole(ftb_work *w, const char *name, FtB_Type type, int64_t nrows, int64_t ncols)
{
    if (w->nadded == FTB_WORK_EXTRA)
        return -1;
    struct FtB_Block_opaque *rows = &w->whole[w->nadded];
    *rows = (struct FtB_Block_opaque){.type = type, .nrows = nrows, .ncols = ncols, .ld = ncols, .heads = 1};
    return add_name(w, name, FTB_SIDE_NONE,
                    &(ftb_name){.type = type, .width = ncols, .block = true, .rows = rows});
}

ftb_shape ftb_work_shape(ftb_work *w, int node)
{
    if (node >= w->nshapes && w->info == GrB_SUCCESS) {
        w->info = ftb_tree_shapes(w->shapes, w->ctx, w->tree, w->count, w->names, w->integers_wide);
        w->nshapes = w->info == GrB_SUCCESS ? w->tree->nnodes : 0;
    }
    return node >= 0 && node < w->nshapes ? w->shapes[node] : (ftb_shape){0};
}

/* ---- copies */

void ftb_work_mark(const ftb_work *w, int node, const int *by, uint8_t *needed)
{
    memset(needed, 0, (size_t)node + 1);
    needed[node] = 1;
    for (int n = node; n >= 0; n--)
        for (int a = 0; needed[n] && !(by && by[n] >= 0) && a < ftb_work_at(w, n)->count; a++)
            needed[ftb_work_arg(w, n, a)] = 1;
}

int ftb_work_replace(ftb_work *w, int node, const int *by)
{
    if (node < 0)
        return -1;
    int result = -1, *map = ftb_new(w->ctx, node + 1, sizeof *map);
    uint8_t *needed = ftb_new(w->ctx, node + 1, sizeof *needed);
    if (!map || !needed)
        w->info = ftb_nomem();
    else
        ftb_work_mark(w, node, by, needed);
    for (int n = 0; n <= node && w->info == GrB_SUCCESS; n++) {
        int args[64];
        const ftb_node like = *ftb_work_at(w, n);
        if (!needed[n])
            continue;
        for (int a = 0; by[n] < 0 && a < like.count; a++)
            args[a] = map[ftb_work_arg(w, n, a)];
        result = map[n] = by[n] >= 0 ? by[n] : ftb_work_node(w, &like, like.count, args);
    }
    ftb_delete(map);
    ftb_delete(needed);
    return w->info == GrB_SUCCESS ? result : -1;
}

GrB_Info ftb_work_extract(ftb_expr **out, const ftb_work *w, int node)
{
    GrB_Info info = GrB_SUCCESS;
    *out = NULL;
    int *map = ftb_new(w->ctx, node + 1, sizeof *map);
    uint8_t *needed = ftb_new(w->ctx, node + 1, sizeof *needed);
    ftb_expr *made = ftb_tree_new(w->ctx, w->tree->text, w->tree->what, w->tree->column0);
    if (!map || !needed || !made) {
        info = ftb_nomem();
        goto done;
    }
    ftb_work_mark(w, node, NULL, needed);
    for (int n = 0; n <= node; n++) {
        int args[64];
        const ftb_node *like = ftb_work_at(w, n);
        if (!needed[n])
            continue;
        for (int a = 0; a < like->count; a++)
            args[a] = map[ftb_work_arg(w, n, a)];
        map[n] = ftb_tree_add(made, like, like->count, args);
        if (map[n] < 0) {
            info = ftb_nomem();
            goto done;
        }
    }
    made->root = map[node];
    *out = made;
    made = NULL;
done:
    ftb_expr_release(made);
    ftb_delete(needed);
    ftb_delete(map);
    return info;
}

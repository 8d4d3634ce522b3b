/* Expressions made of another one: names that its text does not spell are put behind it (guard.h). */
#include "expr/guard.h"

#include "expr/tree.h"

#include <stdio.h>

/* The nodes of e, in a tree of its text with two names more; *map: what they became. */
static GrB_Info copy_nodes(ftb_expr **made, int **map, const ftb_expr *e, const char *when,
                           const char *otherwise)
{
    const size_t room = strlen(e->text) + strlen(when) + strlen(otherwise) + 3;
    char *text = ftb_new(e->ctx, (int64_t)room, 1);
    int args[64];
    GrB_Info info = GrB_SUCCESS;
    if (text)
        snprintf(text, room, "%s %s %s", e->text, when, otherwise);
    *made = text ? ftb_tree_new(e->ctx, text, e->what, e->column0) : NULL;
    *map = ftb_new(e->ctx, e->nnodes, sizeof **map);
    if (!*made || !*map)
        info = ftb_nomem();
    for (int n = 0; n < e->nnodes && info == GrB_SUCCESS; n++) {
        for (int a = 0; a < e->nodes[n].count; a++)
            args[a] = (*map)[ftb_tree_arg(e, n, a)];
        (*map)[n] = ftb_tree_add(*made, &e->nodes[n], e->nodes[n].count, args);
        if ((*map)[n] < 0)
            info = (*map)[n] == FTB_TREE_NOMEM ? ftb_nomem() : GrB_INVALID_VALUE;
    }
    ftb_delete(text);
    return info;
}

static GrB_Info finish(ftb_expr **made, int *map, int root, GrB_Info info)
{
    if (info == GrB_SUCCESS && root < 0)
        info = root == FTB_TREE_NOMEM ? ftb_nomem() : GrB_INVALID_VALUE;
    if (info == GrB_SUCCESS) {
        (*made)->root = root;
    } else {
        ftb_expr_release(*made);
        *made = NULL;
    }
    ftb_delete(map);
    return info;
}

GrB_Info ftb_expr_guard(ftb_expr **made, const ftb_expr *e, const char *when, const char *otherwise)
{
    int *map, root = -1;
    GrB_Info info = copy_nodes(made, &map, e, when, otherwise);
    if (info == GrB_SUCCESS) {
        const int start = (int)strlen(e->text) + 1, length = (int)strlen(when);
        const ftb_node first = {.op = FTB_OP_NAME, .column = 1, .name = {start, length}},
                       last = {.op = FTB_OP_NAME,
                               .column = 1,
                               .name = {start + length + 1, (int)strlen(otherwise)}};
        const int guard = ftb_tree_add(*made, &first, 0, NULL), other = ftb_tree_add(*made, &last, 0, NULL);
        const int args[] = {guard, map[e->root], other};
        root = guard < 0   ? guard
               : other < 0 ? other
                           : ftb_tree_add(*made, &(ftb_node){.op = FTB_OP_SELECT, .column = 1}, 3, args);
    }
    return finish(made, map, root, info);
}

GrB_Info ftb_expr_truth(ftb_expr **made, const ftb_expr *e)
{
    int *map, root = -1;
    GrB_Info info = copy_nodes(made, &map, e, "", "");
    if (info == GrB_SUCCESS) {
        const int zero = ftb_tree_add(*made, &(ftb_node){.op = FTB_OP_LITERAL, .column = 1}, 0, NULL);
        const int args[] = {map[e->root], zero};
        root = zero < 0 ? zero : ftb_tree_add(*made, &(ftb_node){.op = FTB_OP_NE, .column = 1}, 2, args);
    }
    return finish(made, map, root, info);
}

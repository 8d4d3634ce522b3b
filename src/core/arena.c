/* Every piece begins with a link to the one before it, in a cache line of its own. */
#include "core/arena.h"

#define HEAD 64 /* what follows is aligned as ftb_new aligns */

typedef struct ftb_arena_piece {
    struct ftb_arena_piece *before;
} piece;

/* `count` items and the head, in items. */
static int64_t with_head(int64_t count, size_t size)
{
    int64_t items;
    return __builtin_add_overflow(count, (int64_t)((HEAD + size - 1) / size), &items) ? INT64_MAX : items;
}

static void *keep(ftb_arena *arena, piece *made)
{
    if (!made)
        return NULL;
    made->before = arena->last;
    arena->last = made;
    return (char *)made + HEAD;
}

void *ftb_arena_new(ftb_arena *arena, int64_t count, size_t size)
{
    return keep(arena, ftb_new(arena->ctx, with_head(count, size), size));
}

void *ftb_arena_new0(ftb_arena *arena, int64_t count, size_t size)
{
    return keep(arena, ftb_new0(arena->ctx, with_head(count, size), size));
}

void ftb_arena_free(ftb_arena *arena)
{
    while (arena->last) {
        piece *before = arena->last->before;
        ftb_delete(arena->last);
        arena->last = before;
    }
}

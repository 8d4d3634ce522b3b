/* What hops of a sample know of the graph that they were picked of. */
#include "core/whole.h"

ftb_whole *ftb_whole_new(FtB_Context ctx, FtB_Matrix graph, ftb_buffer *vertices)
{
    ftb_whole *w = vertices ? ftb_new0(ctx, 1, sizeof *w) : NULL;
    if (!w) {
        ftb_buffer_release(vertices);
        return NULL;
    }
    atomic_init(&w->refs, 1);
    w->vertices = vertices;
    if (ftb_matrix_share(&w->graph, graph) == GrB_SUCCESS)
        return w;
    ftb_whole_release(w);
    return NULL;
}

ftb_whole *ftb_whole_retain(ftb_whole *w)
{
    atomic_fetch_add(&w->refs, 1);
    return w;
}

void ftb_whole_release(ftb_whole *w)
{
    if (!w || atomic_fetch_sub(&w->refs, 1) > 1)
        return;
    FtB_Matrix_free(&w->graph);
    ftb_buffer_release(w->vertices);
    ftb_delete(w);
}

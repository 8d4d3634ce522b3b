/* Numbers for the vertices that were picked: by marks where these are few beside the picks (relabel_marks.c),
 * else by a table (relabel_table.c). Both give the same. */
#include "cpu/sample/relabel_work.h"

#include "cpu/entries/keep_run.h"
#include "cpu/kernels/sort_row.h"

#define ROW_WORK 4 /* a pick costs as much as so many entries of other operations */

GrB_Info ftb_relabel_list(ftb_relabel_product *p, int64_t count, int threads)
{
    p->nfresh = count;
    p->vertices = ftb_new(p->ctx, p->nknown + count, sizeof *p->vertices);
    p->vertex_trees = p->trees ? ftb_new(p->ctx, p->nknown + count, sizeof *p->vertex_trees) : NULL;
    if (!p->vertices || (p->trees && !p->vertex_trees))
        return ftb_nomem();
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < p->nknown; i++) {
        p->vertices[i] = p->known[i];
        if (p->trees)
            p->vertex_trees[i] = p->trees[i];
    }
    return GrB_SUCCESS;
}

void ftb_relabel_sort(const ftb_relabel_product *p, int64_t first, int64_t end)
{
    for (int64_t r = first; r < end; r++)
        FTB_PICK(ftb_sort_row)
    (p->local + p->rowptr[r], p->entries ? p->entries + p->rowptr[r] : NULL, p->rowptr[r + 1] - p->rowptr[r]);
}

/* Every pick becomes a vertex. */
static GrB_Info keep_apart(ftb_relabel_product *p, int threads)
{
    GrB_Info info = ftb_relabel_list(p, p->rowptr[p->nrows], threads);
    if (info != GrB_SUCCESS)
        return info;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t r = 0; r < p->nrows; r++)
        for (int64_t e = p->rowptr[r]; e < p->rowptr[r + 1]; e++) {
            p->vertices[p->nknown + e] = (int64_t)ftb_relabel_column(p, e);
            p->local[e] = (int32_t)(p->nknown + e);
            if (p->trees)
                p->vertex_trees[p->nknown + e] = ftb_relabel_tree(p, r);
        }
    return GrB_SUCCESS;
}

GrB_Info ftb_relabel_run(ftb_relabel_product *p)
{
    const int64_t picks = p->rowptr[p->nrows];
    p->vertices = NULL;
    p->vertex_trees = NULL;
    p->nfresh = 0;
    if (p->nknown > INT32_MAX - picks)
        return ftb_fail(FTB_LIMIT, "%lld vertices and %lld picks; expected less than 2^31 together",
                        (long long)p->nknown, (long long)picks);
    const int threads = ftb_threads_for(p->ctx, ROW_WORK * (p->nknown + picks));
    const GrB_Info info = p->apart                         ? keep_apart(p, threads)
                          : ftb_relabel_by_few(p, threads) ? ftb_relabel_by_marks(p, threads)
                                                           : ftb_relabel_by_table(p, threads);
    if (p->work)
        *p->work += p->nknown + picks;
    if (info != GrB_SUCCESS) {
        ftb_delete(p->vertices);
        ftb_delete(p->vertex_trees);
        p->vertices = NULL;
        p->vertex_trees = NULL;
    }
    return info;
}

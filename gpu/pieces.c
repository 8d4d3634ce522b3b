/* Cuts rows into pieces (pieces.h): counted, then put where their length begins. Serial: a pattern's are made
 * once, in less time than they take on the bus. */
#include "gpu/pieces.h"

enum { NPIECES, NEMPTY, NCUTS, NSLOTS };

static const char kind; /* its address names what is made here */

typedef struct counts {
    int64_t of[FTB_GPU_PIECE + 1]; /* pieces of each length; then where the next of it goes */
    int64_t pieces, cuts, slots;
} counts;

static void count(counts *c, const ftb_pattern *p)
{
    for (int64_t i = 0; i < p->nrows; i++) {
        const int64_t length = p->rowptr[i + 1] - p->rowptr[i];
        const int64_t full = length > FTB_GPU_PIECE ? (length - 1) / FTB_GPU_PIECE : 0;
        c->of[FTB_GPU_PIECE] += full;
        c->of[length - full * FTB_GPU_PIECE]++;
        c->pieces += full + 1;
        c->cuts += full > 0;
        c->slots += full > 0 ? full + 1 : 0;
    }
}

static void place(counts *c, const ftb_pattern *p, ftb_spmm_piece *pieces, ftb_spmm_cut *cuts)
{
    int64_t before = 0, slot = 0, cut = 0;
    for (int length = FTB_GPU_PIECE; length >= 0; length--) {
        const int64_t many = c->of[length];
        c->of[length] = before;
        before += many;
    }
    for (int64_t i = 0; i < p->nrows; i++) {
        const int64_t begin = p->rowptr[i], end = p->rowptr[i + 1];
        const bool whole = end - begin <= FTB_GPU_PIECE;
        if (!whole)
            cuts[cut++] = (ftb_spmm_cut){.entries = end - begin,
                                         .row = (int)i,
                                         .slot = (int)slot,
                                         .count = (int)((end - begin - 1) / FTB_GPU_PIECE + 1)};
        for (int64_t e = begin; e == begin || e < end; e += FTB_GPU_PIECE) {
            const int64_t length = ftb_min(end - e, FTB_GPU_PIECE);
            pieces[c->of[length]++] = (ftb_spmm_piece){e, e + length, (int)i, whole ? -1 : (int)slot++};
        }
    }
}

static GrB_Info make(ftb_derived *to, ftb_pattern *p, const void *arg)
{
    counts *c = ftb_new0(p->ctx, 1, sizeof *c);
    (void)arg;
    if (c) {
        count(c, p);
        to->counts[NPIECES] = c->pieces;
        to->counts[NEMPTY] = c->of[0];
        to->counts[NCUTS] = c->cuts;
        to->counts[NSLOTS] = c->slots;
        to->buffers[0] = ftb_buffer_new(p->ctx, c->pieces, sizeof(ftb_spmm_piece));
        to->buffers[1] = ftb_buffer_new(p->ctx, c->cuts, sizeof(ftb_spmm_cut));
    }
    const bool well = c && to->buffers[0] && to->buffers[1];
    if (well)
        place(c, p, ftb_buffer_data(to->buffers[0]), ftb_buffer_data(to->buffers[1]));
    ftb_delete(c);
    return well ? GrB_SUCCESS : ftb_nomem();
}

GrB_Info ftb_gpu_pieces_here(const ftb_spmm_piece **pieces, int64_t *npieces, ftb_pattern *p)
{
    const ftb_derived *of;
    GrB_Info info = ftb_derived_ask(&of, p, &kind, 0, make, NULL);
    if (info == GrB_SUCCESS)
        info = ftb_buffer_ask(of->buffers[0], FTB_READ);
    if (info == GrB_SUCCESS) {
        *pieces = ftb_buffer_data(of->buffers[0]);
        *npieces = of->counts[NPIECES];
    }
    return info;
}

GrB_Info ftb_gpu_pieces_ask(ftb_gpu_pieces *to, ftb_pattern *p, const ftb_gpu_device *d)
{
    const ftb_derived *of;
    void *pieces = NULL, *cuts = NULL;
    GrB_Info info = ftb_derived_ask(&of, p, &kind, 0, make, NULL);
    if (info == GrB_SUCCESS)
        info = ftb_buffer_ask_at(of->buffers[0], &d->row, FTB_READ, &pieces);
    if (info == GrB_SUCCESS)
        info = ftb_buffer_ask_at(of->buffers[1], &d->row, FTB_READ, &cuts);
    if (info == GrB_SUCCESS)
        *to = (ftb_gpu_pieces){
            pieces, cuts, of->counts[NPIECES], of->counts[NEMPTY], of->counts[NCUTS], of->counts[NSLOTS]};
    return info;
}

GrB_Info ftb_gpu_rows_ask(ftb_gpu_pieces *to, const int **colidx, ftb_pattern *p, const ftb_gpu_device *d)
{
    const int64_t *rowptr;
    const void *columns = NULL;
    GrB_Info info = ftb_gpu_pieces_ask(to, p, d);
    if (info == GrB_SUCCESS)
        info = ftb_pattern_ask_at(p, &d->row, &rowptr, &columns);
    *colidx = columns;
    return info;
}

/* A grid's y is short. */
GrB_Info ftb_gpu_join_cuts(ftb_gpu_device *d, FtB_Context ctx, const ftb_gpu_pieces *p, const char *source,
                           const char *kernel, ftb_gpu_grid grid, void *arguments)
{
    GrB_Info info = GrB_SUCCESS;
    for (int64_t first = 0; first < p->ncuts && info == GrB_SUCCESS; first += FTB_GPU_MOST_Y) {
        const ftb_spmm_cut *cuts = p->cuts + first;
        grid.y = ftb_min(p->ncuts - first, FTB_GPU_MOST_Y);
        info = ftb_gpu_launch(d, ctx, source, kernel, grid, (void *[]){arguments, &cuts});
    }
    return info;
}

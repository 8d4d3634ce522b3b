/* Lists of entries on a GPU, and dropout of entries (entries.h). */
#include "gpu/entries.h"

#include "gpu/memory.h"
#include "verbs/attention_product.h"

static const char kind; /* its address names what is made here */

/* A pattern has one such list, that of whose transpose it is. */
static GrB_Info make(ftb_derived *to, ftb_pattern *p, const void *from)
{
    to->buffers[0] = ftb_buffer_wrap(p->ctx, from, p->nvals * (int64_t)sizeof(int64_t), false);
    return to->buffers[0] ? GrB_SUCCESS : ftb_nomem();
}

GrB_Info ftb_gpu_from_ask(const long long **to, ftb_pattern *transpose, const int64_t *from,
                          const ftb_gpu_device *d)
{
    const ftb_derived *of;
    void *data = NULL;
    GrB_Info info = ftb_derived_ask(&of, transpose, &kind, (int64_t)(intptr_t)from, make, from);
    if (info == GrB_SUCCESS)
        info = ftb_buffer_ask_at(of->buffers[0], &d->row, FTB_READ, &data);
    *to = data;
    return info;
}

GrB_Info ftb_gpu_sum_entries(ftb_gpu_device *d, FtB_Context ctx, const ftb_gpu_pieces *p,
                             ftb_entry_sums *sums, bool add, const char *source, const char *const kernels[2],
                             void *arguments)
{
    const int64_t bytes = p->nslots * sums->width * (int64_t)sizeof(double),
                  pieces = FTB_ENTRY_SUMS_BLOCK / 32;
    ftb_gpu_rooms rooms = {.d = d, .ctx = ctx};
    void *partial = NULL;
    GrB_Info info = ftb_gpu_room(&partial, &rooms, bytes);
    sums->npieces = p->npieces;
    sums->pieces = p->pieces;
    sums->partial = partial;
    if (info == GrB_SUCCESS)
        info = ftb_gpu_launch(d, ctx, source, kernels[0],
                              (ftb_gpu_grid){.x = (p->npieces + pieces - 1) / pieces,
                                             .y = (sums->width + 31) / 32,
                                             .threads = FTB_ENTRY_SUMS_BLOCK},
                              (void *[]){arguments});
    if (info == GrB_SUCCESS)
        info =
            ftb_gpu_half_done(ftb_gpu_join_cuts(d, ctx, p, source, kernels[1],
                                                (ftb_gpu_grid){.x = (sums->width + FTB_ENTRY_SUMS_BLOCK - 1) /
                                                                    FTB_ENTRY_SUMS_BLOCK,
                                                               .threads = FTB_ENTRY_SUMS_BLOCK},
                                                arguments),
                              add);
    ftb_gpu_rooms_free(&rooms);
    return info;
}

ftb_edge_dropout ftb_gpu_edge_dropout(double probability, uint64_t seed, const uint64_t *seed_at)
{
    return (ftb_edge_dropout){.below = ftb_dropped_below(probability),
                              .kept = (float)(1 / (1 - probability)),
                              .key = {(unsigned)seed, (unsigned)(seed >> 32)},
                              .key_at = (const unsigned *)seed_at};
}

ftb_gpu_spans ftb_gpu_spans_of(int64_t heads, int64_t width, bool vectors)
{
    if (!vectors)
        return width > 8   ? (ftb_gpu_spans){32, 32, 1}
               : heads > 1 ? (ftb_gpu_spans){32, 4, 1}
                           : (ftb_gpu_spans){4, 4, 1};
    if (width > 32)
        return (ftb_gpu_spans){32, 32, 4};
    if (heads == 1)
        return (ftb_gpu_spans){8, 8, 4};
    return (ftb_gpu_spans){32, width > 16 ? 8 : 4, 4};
}

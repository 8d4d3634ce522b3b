/* The verb `attention` on a GPU: dot products, and leaky_relu(src + dst), as scores, in FP32, fused
 * (kernels/attention.cu): what is stored beside the result is what pieces of rows that were cut have come to.
 * The host's plan has no say here. */
#include "gpu/entries.h"
#include "gpu/gpu_verbs.h"
#include "gpu/items.h"
#include "gpu/kernels/attention_rows.h"
#include "gpu/launch.h"
#include "gpu/pieces.h"

#include <limits.h>
#include <stdio.h>

#define SOURCE "gpu/kernels/attention.cu"

static bool fits_feed(const ftb_feed *x)
{
    return x->type == FTB_FP32 && !x->at && x->width > 0 && x->width <= INT_MAX;
}

bool ftb_gpu_attention_reads(const ftb_attention_product *s)
{
    return s->type == FTB_FP32 && s->kind != FTB_SCORE_ANY && fits_feed(&s->x) && fits_feed(&s->y) &&
           fits_feed(&s->v) && !s->p->wide && s->p->nrows <= INT_MAX;
}

bool ftb_gpu_attention_fits(const ftb_attention_product *s)
{
    if (!ftb_gpu_attention_reads(s) ||
        s->heads > FTB_GPU_MOST_Y / (s->value_width / 32 + 1)) /* which are blocks in y of the grid */
        return false;
    return ftb_gpu_load(ftb_gpu_of(ftb_device(s->ctx)), SOURCE) == GrB_SUCCESS;
}

static ftb_gpu_spans spans_of(const ftb_attention_product *s)
{
    const bool dot = s->kind == FTB_SCORE_DOT;
    const bool vectors =
        s->value_width % 4 == 0 && ftb_gpu_vectors(s->v.data, s->v.ld, sizeof(float)) &&
        ftb_gpu_vectors(s->out, s->ldo, sizeof(float)) &&
        (!dot || (s->x.width % 4 == 0 && ftb_gpu_vectors(s->x.data, s->x.ld, sizeof(float)) &&
                  ftb_gpu_vectors(s->y.data, s->y.ld, sizeof(float))));
    return ftb_gpu_spans_of(s->heads, dot ? ftb_max(s->x.width, s->value_width) : s->value_width, vectors);
}

static GrB_Info launch(ftb_gpu_device *d, ftb_attention_arguments *a, const ftb_attention_product *s,
                       const ftb_gpu_pieces *p)
{
    const ftb_gpu_spans of = spans_of(s);
    const int groups = FTB_ATTENTION_BLOCK / of.lanes, heads = of.lanes / of.span, tile = of.span * of.values;
    const int64_t tiles = (s->value_width + tile - 1) / tile, features = s->heads * s->value_width;
    char name[48];
    snprintf(name, sizeof name, "attention_f32_%s_%dx%dx%d", s->kind == FTB_SCORE_DOT ? "DOT" : "ADD",
             of.lanes, of.span, of.values);
    GrB_Info info = ftb_gpu_launch(d, s->ctx, SOURCE, name,
                                   (ftb_gpu_grid){.x = (a->npieces + groups - 1) / groups,
                                                  .y = (s->heads + heads - 1) / heads * tiles,
                                                  .threads = FTB_ATTENTION_BLOCK},
                                   (void *[]){a});
    if (info == GrB_SUCCESS)
        info =
            ftb_gpu_join_cuts(d, s->ctx, p, SOURCE, "attention_f32_merge",
                              (ftb_gpu_grid){.x = (features + FTB_ATTENTION_BLOCK - 1) / FTB_ATTENTION_BLOCK,
                                             .threads = FTB_ATTENTION_BLOCK},
                              a);
    return info;
}

GrB_Info ftb_gpu_attention(const ftb_attention_product *s, const ftb_sddmm_plan *plan)
{
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(s->ctx));
    const int *colidx;
    void *scratch = NULL;
    ftb_gpu_pieces p;
    (void)plan;
    GrB_Info info = ftb_gpu_rows_ask(&p, &colidx, s->p, d);
    if (info != GrB_SUCCESS)
        return info;
    const int64_t states = 2 * p.nslots * s->heads, sums = p.nslots * s->heads * s->value_width;
    const int64_t bytes = (sums + states) * (int64_t)sizeof(float);
    if (bytes > 0)
        info = ftb_device_room(&scratch, &d->row, s->ctx, bytes);
    if (info != GrB_SUCCESS)
        return info;
    ftb_attention_arguments a = {.npieces = p.npieces,
                                 .pieces = p.pieces,
                                 .colidx = colidx,
                                 .x = s->x.data,
                                 .y = s->y.data,
                                 .v = s->v.data,
                                 .out = s->out,
                                 .lse = s->lse,
                                 .partial = scratch,
                                 .state = scratch ? (float *)scratch + sums : NULL,
                                 .ldx = s->x.ld,
                                 .ldy = s->y.ld,
                                 .ldv = s->v.ld,
                                 .ldo = s->ldo,
                                 .heads = (int)s->heads,
                                 .width = (int)s->x.width,
                                 .value_width = (int)s->value_width,
                                 .headx = ftb_gpu_head_step(&s->x),
                                 .heady = ftb_gpu_head_step(&s->y),
                                 .headv = ftb_gpu_head_step(&s->v),
                                 .scale = (float)s->scale,
                                 .slope = (float)s->slope,
                                 .drop = ftb_gpu_edge_dropout(s->dropout, s->seed, s->seed_at)};
    info = launch(d, &a, s, &p);
    if (scratch)
        d->row.memory->free(&d->row, scratch, bytes);
    return info;
}

/* Where a batch's features come from (feature_rows.h). On the host, and on devices that do not read its
 * memory, FtB_gather picks them. A device that does plans: features that fit go there as a whole, by
 * FtB_gather, too; of others it keeps the rows that are wanted most. Where it cannot read the host's memory
 * after all, rows are picked there and sent with the batch. */
#include "sample/feature_rows.h"

#include "core/watch.h"
#include "cpu/block/gather_run.h"
#include "ops/backends.h"

#include <stdio.h>

/* The slots' macro is for callers: this is the function. */
#undef FtB_gather

GrB_Info ftb_features_new(ftb_feature_rows **made, const ftb_batches *of)
{
    ftb_feature_rows *f = ftb_new0(of->ctx, 1, sizeof *f);
    *made = f;
    if (!f)
        return ftb_nomem();
    pthread_mutex_init(&f->lock, NULL);
    return GrB_SUCCESS;
}

static const ftb_row_keeper *keeper_of(const ftb_backend *who)
{
    return who && who->verbs->limits ? who->verbs->limits->keeper : NULL;
}

static void forget(ftb_feature_rows *f)
{
    if (f->kept)
        keeper_of(f->where)->close(f->kept);
    f->kept = NULL;
    f->here = f->decided = false;
    f->gathered = 0;
    f->where = NULL;
    f->text[0] = '\0';
}

void ftb_features_delete(ftb_feature_rows *f)
{
    if (!f)
        return;
    forget(f);
    pthread_mutex_destroy(&f->lock);
    ftb_delete(f);
}

/* ---- decided */

/* What of the graph is still to go there. */
static int64_t coming(const ftb_pattern *p, const ftb_backend *who)
{
    const ftb_buffer *arrays[] = {p->rowptr_owner, p->colidx_owner};
    int64_t bytes = 0;
    for (int n = 0; n < 2; n++)
        if (arrays[n] && arrays[n]->where != who)
            bytes += arrays[n]->bytes;
    return bytes;
}

/* Rows are kept, or, where the device does not take that, none are. */
static GrB_Info keep(ftb_feature_rows *f, const ftb_batches *of, int64_t nkept)
{
    const FtB_Block X = of->features;
    const int64_t size = (int64_t)FtB_Type_size(X->type);
    const ftb_rows_of rows = {.ctx = of->ctx,
                              .buffer = X->owner,
                              .offset = X->offset,
                              .nrows = X->nrows,
                              .row_bytes = X->ncols * size,
                              .step = X->ld * size};
    int64_t *list = NULL, hits;
    GrB_Info info = ftb_buffer_lend(X->owner);
    if (info == GrB_SUCCESS && nkept > 0)
        info = ftb_features_rank(&list, of, nkept);
    if (info == GrB_SUCCESS)
        info = keeper_of(f->where)->open(&f->kept, f->where, &rows, list, nkept);
    if (info == GrB_SUCCESS)
        info = keeper_of(f->where)->count(f->kept, &nkept, &hits);
    ftb_delete(list);
    if (info == GrB_SUCCESS)
        snprintf(f->text, sizeof f->text,
                 "on %s: %lld of %lld rows of features are kept there (%.3g MiB), the others read from the "
                 "host's memory",
                 f->where->name, (long long)nkept, (long long)X->nrows,
                 0x1p-20 * (double)(nkept * rows.row_bytes));
    return info;
}

static void say_sent(ftb_feature_rows *f)
{
    f->here = true;
    snprintf(f->text, sizeof f->text,
             "features are gathered on the host and sent: %s does not read its memory", f->where->name);
}

static GrB_Info decide(ftb_feature_rows *f, const ftb_batches *of, const ftb_backend *who)
{
    const FtB_Block X = of->features;
    const int64_t row = X->ncols * (int64_t)FtB_Type_size(X->type);
    const FtB_Loader_options *o = &of->options;
    ftb_gpu_features_facts facts = {.nrows = X->nrows,
                                    .row_bytes = row,
                                    .coming = coming(of->A->pattern, who),
                                    .bytes = o->cache_bytes,
                                    .share = o->cache_share};
    ftb_gpu_features_plan plan = {.whole = true};
    const bool there = X->owner->where == who && X->owner->valid & FTB_VALID_DEVICE;
    forget(f);
    f->where = who;
    GrB_Info info = GrB_SUCCESS;
    if (keeper_of(who) && !there && row > 0 && X->nrows > 0)
        info = keeper_of(who)->plan(&plan, who, &facts);
    if (info == GrB_SUCCESS && !plan.whole)
        info = keep(f, of, plan.nkept);
    else if (info == GrB_SUCCESS && who)
        snprintf(f->text, sizeof f->text, "on %s: all rows of features are there", who->name);
    if (ftb_device_failed(info)) {
        say_sent(f);
        info = GrB_SUCCESS;
    }
    f->decided = info == GrB_SUCCESS;
    return info;
}

/* ---- gathered */

static GrB_Info gather_here(FtB_Block Y, const ftb_batches *of, const int64_t *rows, int64_t count)
{
    const FtB_Block X = of->features;
    ftb_gather_product g = {.ctx = of->ctx,
                            .rows = rows,
                            .count = count,
                            .ncols = X->ncols,
                            .ldx = X->ld,
                            .ldy = Y->ld,
                            .xtype = X->type,
                            .ytype = Y->type};
    const ftb_place places[] = {{.X = X, .read = &g.x}, {.X = Y, .write = &g.y, .whole = true}};
    GrB_Info info;
    FTB_RUN(info, NULL, gather, places, &g);
    return info;
}

static GrB_Info gather_kept(ftb_feature_rows *f, FtB_Block Y, const int64_t *rows, int64_t count)
{
    void *y;
    ftb_use use;
    ftb_use_begin(&use); /* Y's copy there does not give way to what is gathered with */
    GrB_Info info = ftb_buffer_ask_at(Y->owner, f->where, FTB_WRITE, &y);
    if (info == GrB_SUCCESS)
        info = keeper_of(f->where)->gather(f->kept, rows, count, y);
    if (info == GrB_SUCCESS)
        info = ftb_buffer_written(Y->owner);
    ftb_use_end(&use);
    return info;
}

GrB_Info ftb_features_gather(FtB_Block Y, const ftb_batches *of, const int64_t *rows, int64_t count)
{
    ftb_feature_rows *f = of->rows;
    const ftb_backend *who = ftb_device(of->ctx);
    GrB_Info info = GrB_SUCCESS;
    pthread_mutex_lock(&f->lock);
    if (!f->decided || f->where != who)
        info = decide(f, of, who);
    if (info == GrB_SUCCESS && f->kept) {
        info = gather_kept(f, Y, rows, count);
        f->gathered += info == GrB_SUCCESS ? count : 0;
        if (ftb_device_failed(info))
            info = gather_here(Y, of, rows, count);
    } else if (info == GrB_SUCCESS && f->here) {
        info = gather_here(Y, of, rows, count);
    } else if (info == GrB_SUCCESS) {
        info = FtB_gather(FTB_ARG(Y), FTB_ARG(of->features), rows, count);
        f->gathered += who && info == GrB_SUCCESS && Y->owner->valid & FTB_VALID_DEVICE ? count : 0;
    }
    pthread_mutex_unlock(&f->lock);
    return info;
}

GrB_Info ftb_features_count(ftb_feature_rows *f, int64_t nrows, int64_t *kept, int64_t *gathered,
                            int64_t *hits)
{
    GrB_Info info = GrB_SUCCESS;
    pthread_mutex_lock(&f->lock);
    *gathered = f->gathered;
    *kept = f->gathered > 0 ? nrows : 0;
    *hits = f->gathered;
    if (f->kept)
        info = keeper_of(f->where)->count(f->kept, kept, hits);
    pthread_mutex_unlock(&f->lock);
    return info;
}

void ftb_features_say(char to[FTB_FEATURES_TEXT], ftb_feature_rows *f)
{
    pthread_mutex_lock(&f->lock);
    memcpy(to, f->text, sizeof f->text);
    pthread_mutex_unlock(&f->lock);
}

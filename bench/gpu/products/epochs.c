/* What is more than a product: training epochs of models, and the statistics of a projection. */
#include "products.h"

#include "core/core.h"
#include "support/gnn.h"

#include <stdlib.h>
#include <string.h>

/* ---- epochs: the whole graph, cross-entropy, Adam */

typedef struct epochs {
    gnn_case what;
    gnn_task task;
    gnn_model model;
} epochs;

static bool make_task(products_who *who, epochs *e, const products_graph *g)
{
    gnn_task *t = &e->task;
    *t = (gnn_task){
        .what = &e->what, .n = g->g.nrows, .nfeatures = e->what.features, .nclasses = e->what.classes};
    t->labels = ftb_new(NULL, t->n, sizeof *t->labels);
    if (!t->labels || !products_ok(who, FtB_Matrix_like(&t->A, g->A, 0, FTB_FP32)) ||
        !products_ok(who, FtB_Block_new(&t->X, t->n, t->nfeatures, FTB_FP32)))
        return false;
    float *x = ftb_block_data(t->X);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < t->n; i++) {
        for (int64_t f = 0; f < t->nfeatures; f++)
            x[i * t->nfeatures + f] = bench_feature(i, f, 1);
        t->labels[i] = (int32_t)(((uint32_t)i * 2654435761u >> 8) % (uint32_t)t->nclasses);
    }
    return true;
}

static bool time_epochs(products_who *who, int calls, double *seconds)
{
    epochs *e = who->state;
    const double start = products_now();
    bool ok = true;
    for (int n = 0; ok && n < calls; n++) {
        ok = gnn_epoch(&e->model);
        if (!ok)
            products_say(who, "failed: %.200s", FtB_error());
    }
    ok = products_ok(who, products_wait()) && ok;
    *seconds = (products_now() - start) / calls;
    return ok;
}

static void end_epochs(void *state)
{
    epochs *e = state;
    gnn_model_free(&e->model);
    gnn_task_free(&e->task);
    free(e);
}

void products_epoch(products_result *r, const products_graph *g)
{
    products_who *who = products_add(r, "FeatBLAS");
    epochs *e = calloc(1, sizeof *e);
    const products_case *c = &r->of;
    if (!who || !e) {
        free(e);
        return;
    }
    const bool gat = c->what == PRODUCTS_GAT;
    e->what = (gnn_case){.name = products_name(c->what),
                         .graph = c->graph,
                         .model = gat ? "gat" : "gcn",
                         .layers = gat ? 2 : 3,
                         .heads = (int)c->heads,
                         .features = 128,
                         .hidden = c->d / c->heads,
                         .classes = 40,
                         .rate = 0.01};
    who->time = time_epochs;
    who->state = e;
    who->end = end_epochs;
    bool ok = make_task(who, e, g);
    if (ok && !gnn_model_new(&e->model, &e->task, false)) {
        products_say(who, "failed: %.200s", FtB_error());
        ok = false;
    }
    if (!ok || !time_epochs(who, 1, &r->first))
        who->time = NULL;
}

/* ---- a projection */

typedef struct projection {
    FtB_Matrix R;
} projection;

static bool time_projection(products_who *who, int calls, double *seconds)
{
    const projection *p = who->state;
    const double start = products_now();
    bool ok = true;
    for (int n = 0; ok && n < calls; n++) {
        FtB_Sink sink = NULL;
        ok = products_ok(who, FtB_Sink_stats(&sink)) &&
             products_ok(who, FtB_project(sink, p->R, "count", FTB_PROJECT_OPTIONS(.triangle = true)));
        FtB_Sink_free(&sink);
    }
    ok = products_ok(who, products_wait()) && ok;
    *seconds = (products_now() - start) / calls;
    return ok;
}

static void end_projection(void *state)
{
    projection *p = state;
    FtB_Matrix_free(&p->R);
    free(p);
}

/* Nothing goes to a device for a product of sparse matrices that has no verb there: then it is no time of a
 * GPU's. */
void products_projection(products_result *r, const products_graph *g)
{
    products_who *who = products_add(r, "FeatBLAS");
    projection *p = calloc(1, sizeof *p);
    int64_t before = 0, after = 0;
    if (!who || !p) {
        free(p);
        return;
    }
    who->time = time_projection;
    who->state = p;
    who->end = end_projection;
    FtB_Context_moved(NULL, NULL, &before);
    const bool ok = products_ok(who, gen_matrix(&p->R, &g->g)) && time_projection(who, 1, &r->first);
    FtB_Context_moved(NULL, NULL, &after);
    if (ok && after == before)
        products_say(who, "skipped: no verb, the host does it");
    if (!ok || after == before)
        who->time = NULL;
}

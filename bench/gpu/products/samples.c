/* Neighbourhoods of three hops on a GPU: all hops in one kernel beside hop by hop, and what the planner
 * takes. A call is a batch of its own, from seeds on the host to layers that are there and at home. Before
 * anything is timed, a batch is compared with the host's. */
#include "products.h"

#include "core/core.h"

#include <stdlib.h>
#include <string.h>

enum { HOPS = 3 };

typedef struct sampling {
    FtB_Matrix A;
    const char *plan;
    int64_t nseeds, fanouts[HOPS], batch;
    int64_t *seeds;
} sampling;

static GrB_Info draw(FtB_Sample *s, const sampling *c, int64_t batch)
{
    return FtB_sample(s, c->A, c->seeds, c->nseeds, c->fanouts, HOPS,
                      FTB_SAMPLE_OPTIONS(.seed = 1, .batch = batch, .structural = true, .plan = c->plan));
}

static bool time_samples(products_who *who, int calls, double *seconds)
{
    sampling *c = who->state;
    const double start = products_now();
    bool ok = true;
    for (int n = 0; ok && n < calls; n++) {
        FtB_Sample s = NULL;
        ok = products_ok(who, draw(&s, c, c->batch++));
        FtB_Sample_free(&s);
    }
    ok = products_ok(who, products_wait()) && ok;
    *seconds = (products_now() - start) / calls;
    return ok;
}

static void end_samples(void *state)
{
    sampling *c = state;
    free(c->seeds);
    free(c);
}

static bool same(FtB_Sample a, FtB_Sample b)
{
    const FtB_Ids v = FtB_Sample_vertices(a), w = FtB_Sample_vertices(b);
    bool equal = v.count == w.count && memcmp(v.at, w.at, (size_t)v.count * sizeof *v.at) == 0;
    for (int h = 0; equal && h < HOPS; h++) {
        const ftb_pattern *p = FtB_Sample_layer(a, h)->pattern, *q = FtB_Sample_layer(b, h)->pattern;
        equal = p->nrows == q->nrows && p->nvals == q->nvals &&
                memcmp(p->rowptr, q->rowptr, (size_t)(p->nrows + 1) * sizeof *p->rowptr) == 0 &&
                memcmp(p->colidx, q->colidx, (size_t)p->nvals * sizeof(int32_t)) == 0;
    }
    return equal;
}

/* The first batch is the host's, and was drawn as it says. */
static bool check(products_result *r, products_who *who, const sampling *c, const char *says)
{
    FtB_Sample gpu = NULL, host = NULL;
    const double start = products_now();
    bool ok = products_ok(who, draw(&gpu, c, 0)) && products_ok(who, products_wait());
    if (r->first <= 0)
        r->first = products_now() - start;
    ok = ok && products_ok(who, FtB_Context_set_device(NULL, "cpu")) && products_ok(who, draw(&host, c, 0)) &&
         products_ok(who, FtB_Context_set_device(NULL, "gpu"));
    if (ok && !same(gpu, host)) {
        products_say(who, "failed: the sample is not the host's");
        r->error = 1;
        ok = false;
    } else if (ok && !strstr(FtB_Sample_plan(gpu), says)) {
        products_say(who, "skipped: drawn otherwise: %.160s", FtB_Sample_plan(gpu));
        ok = false;
    } else if (ok) {
        r->error = r->error > 0 ? r->error : 0;
    }
    FtB_Sample_free(&gpu);
    FtB_Sample_free(&host);
    return ok;
}

void products_samples(products_result *r, const products_graph *g)
{
    static const struct {
        const char *name, *plan, *says;
    } ways[] = {{"FeatBLAS queue", "queue", "all hops in one kernel;"},
                {"FeatBLAS levels", "levels", "hop by hop;"},
                {"FeatBLAS planned", NULL, "on gpu"}};
    for (int n = 0; n < 3; n++) {
        products_who *who = products_add(r, ways[n].name);
        sampling *c = calloc(1, sizeof *c);
        if (!who || !c) {
            free(c);
            return;
        }
        *c = (sampling){.A = g->A, .plan = ways[n].plan, .nseeds = r->of.d, .batch = 1};
        c->seeds = malloc(sizeof *c->seeds * (size_t)(c->nseeds + 1));
        for (int h = 0; h < HOPS; h++)
            c->fanouts[h] = r->of.heads;
        for (int64_t t = 0; c->seeds && t < c->nseeds; t++) /* spread over the graph */
            c->seeds[t] = (int64_t)((uint64_t)t * 2654435761u % (uint64_t)g->g.nrows);
        who->time = time_samples;
        who->state = c;
        who->end = end_samples;
        if (!c->seeds || !check(r, who, c, ways[n].says))
            who->time = NULL;
    }
}

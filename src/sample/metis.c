/* Partitions by METIS: Karypis and Kumar, "A fast and high quality multilevel scheme for partitioning
 * irregular graphs", SIAM J. Sci. Comput. 20 (1998).
 *
 * The library is opened at run time, so its header is not at hand. That fixes two things by builds: the width
 * of numbers, which is asked for by a call that fills a known count of them; and the places of options, which
 * versions have differently, so that none is set: what it does without is to keep parts within 3 % of the
 * mean. It draws by the C library's rand(), and catches SIGABRT and SIGTERM while it works: calls of ours
 * wait for each other. Its memory is not counted. */
#include "sample/metis.h"

#include "core/draws.h"
#include "core/open_library.h"
#include "cpu/sample/cluster_run.h"
#include "sample/batch.h"

#include <stddef.h>
#include <stdio.h>

#define SONAME "libmetis.so.5"
#define VARIABLE "FEATBLAS_METIS" /* of the environment: another library, or, empty, none */
#define PACKAGE "libmetis5 on Debian and Ubuntu, metis on Fedora and of Homebrew"

enum { OPTIONS = 40, METIS_OK = 1, METIS_MEMORY = -3 }; /* as all versions from 5 on have them */

static const ftb_symbol symbols[] = {
    {"METIS_SetDefaultOptions", offsetof(ftb_metis_calls, METIS_SetDefaultOptions)},
    {"METIS_PartGraphKway", offsetof(ftb_metis_calls, METIS_PartGraphKway)},
    {NULL, 0}};

/* ---- found */

/* All options are -1 then: as many bytes of 255 as they take. */
static int width_of(const ftb_metis_calls *call)
{
    int64_t options[2 * OPTIONS] = {0}; /* room for more than any has */
    if (call->METIS_SetDefaultOptions(options) != METIS_OK)
        return 0;
    for (int bytes = 4; bytes <= 8; bytes += 4) {
        const unsigned char *at = (const unsigned char *)options;
        int count = 0;
        while (count < (int)sizeof options && at[count] == 255)
            count++;
        if (count == OPTIONS * bytes)
            return bytes;
    }
    return 0;
}

void ftb_metis_look(ftb_metis *m, const char *path)
{
    *m = (ftb_metis){.bytes = 0};
    if (!*path) {
        snprintf(m->why, sizeof m->why, VARIABLE " is empty, so that none is looked for");
        return;
    }
    const char *why, *missing = ftb_library_open(path, symbols, &m->call, &why);
    if (why)
        snprintf(m->why, sizeof m->why, "%s", why);
    else if (missing)
        snprintf(m->why, sizeof m->why, "%s has no function %s", path, missing);
    else if (!(m->bytes = width_of(&m->call)))
        snprintf(m->why, sizeof m->why, "%s does not say how wide its numbers are", path);
}

static ftb_metis here;

static void look_here(void)
{
    const char *path = ftb_getenv_code(VARIABLE);
    ftb_metis_look(&here, path ? path : SONAME);
}

const ftb_metis *ftb_metis_here(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look_here);
    return &here;
}

/* ---- asked */

typedef struct request {
    const ftb_metis *m;
    FtB_Context ctx;
    ftb_mutual graph;
    void *part;
} request;

/* Vertices in another order: place t of it has order[t], which is at place[order[t]]. */
static GrB_Info make_order(request *r, int64_t n, uint64_t seed)
{
    int64_t *order = ftb_new(r->ctx, n, sizeof *order), *place = ftb_new(r->ctx, n, sizeof *place);
    r->graph.order = order;
    r->graph.place = place;
    if (!order || !place)
        return ftb_nomem();
    const uint64_t key = ftb_random_mix(seed, 0, FTB_DRAW_CLUSTER);
    for (int64_t t = 0; t < n; t++) {
        order[t] = ftb_shuffled(key, n, t);
        place[order[t]] = t;
    }
    return GrB_SUCCESS;
}

static GrB_Info make_graph(request *r, ftb_pattern *p, uint64_t seed)
{
    ftb_pattern *t;
    const int64_t *from;
    GrB_Info info = seed ? make_order(r, p->nrows, seed) : GrB_SUCCESS;
    if (info == GrB_SUCCESS)
        info = ftb_pattern_transpose(p, &t, &from);
    if (info != GrB_SUCCESS)
        return info;
    r->graph.p = p;
    r->graph.t = t;
    r->graph.bytes = r->m->bytes;
    r->graph.ctx = r->ctx;
    info = ftb_mutual_run(&r->graph);
    if (info != GrB_SUCCESS || r->m->bytes == 8)
        return info;
    /* weights are summed from both ends */
    const int64_t most = ftb_max(r->graph.nvals, r->graph.weight ? 2 * p->nvals : 0);
    if (p->nrows < INT32_MAX && most <= INT32_MAX)
        return info;
    return ftb_fail(FTB_LIMIT,
                    "A has %lld vertices and %lld entries without directions; this METIS counts in 32 bits",
                    (long long)p->nrows, (long long)r->graph.nvals);
}

/* A number as it wants them. */
typedef union word {
    int32_t narrow;
    int64_t wide;
} word;

static word word_of(int bytes, int64_t value)
{
    word w = {.wide = value};
    if (bytes == 4)
        w = (word){.narrow = (int32_t)value};
    return w;
}

static GrB_Info ask(const request *r, int64_t nparts)
{
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    const int bytes = r->m->bytes;
    word n = word_of(bytes, r->graph.p->nrows), parts = word_of(bytes, nparts),
         one_weight = word_of(bytes, 1), cut = word_of(bytes, 0);
    pthread_mutex_lock(&one);
    const int status =
        r->m->call.METIS_PartGraphKway(&n, &one_weight, r->graph.rowptr, r->graph.column, NULL, NULL,
                                       r->graph.weight, &parts, NULL, NULL, NULL, &cut, r->part);
    pthread_mutex_unlock(&one);
    if (status == METIS_MEMORY)
        return ftb_fail(GrB_OUT_OF_MEMORY, "METIS has not enough memory");
    if (status != METIS_OK)
        return ftb_fail(GrB_PANIC, "METIS_PartGraphKway fails with %d", status);
    return GrB_SUCCESS;
}

GrB_Info ftb_metis_part(const ftb_metis *m, FtB_Context ctx, int32_t *labels, ftb_pattern *p, int64_t nparts,
                        uint64_t seed)
{
    request r = {.m = m, .ctx = ctx};
    GrB_Info info = GrB_SUCCESS;
    const int64_t n = p->nrows;
    if (!m->bytes)
        return ftb_fail(GrB_NOT_IMPLEMENTED, "METIS is not there: %s. It is the package " PACKAGE, m->why);
    FTB_CHECK(make_graph(&r, p, seed));
    r.part = ftb_new(ctx, n, (size_t)m->bytes);
    if (!r.part)
        FTB_CHECK(ftb_nomem());
    FTB_CHECK(ask(&r, nparts));
    for (int64_t t = 0; t < n; t++) {
        const int64_t part = m->bytes == 4 ? ((const int32_t *)r.part)[t] : ((const int64_t *)r.part)[t];
        if (part < 0 || part >= nparts)
            FTB_CHECK(
                ftb_fail(GrB_PANIC, "METIS gives part %lld of %lld", (long long)part, (long long)nparts));
        labels[r.graph.order ? r.graph.order[t] : t] = (int32_t)part;
    }
done:
    ftb_mutual_delete(&r.graph);
    ftb_delete(r.part);
    return info;
}

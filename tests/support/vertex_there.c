#include "support/vertex_there.h"

#include "support/check.h"

#include "core/backend.h"
#include "support/rng.h"

#include <math.h>
#include <stdlib.h>

#define TEXTS(...)                                                                                           \
    {                                                                                                        \
        .size = sizeof(FtB_Program_texts), __VA_ARGS__                                                       \
    }
#define PAGERANK                                                                                             \
    TEXTS(.send = "x / outdegree", .combine = "plus : message", .apply = "x = 0.15 / n + 0.85 * received",   \
          .until = "sum(abs(new.x - old.x)) < 1e-3")

const there_program there_programs[] = {
    {"ranks", PAGERANK, FTB_FP64, FTB_FP64, 1, .rest = 0.02, .sums = true},
    {"ranks of several columns", PAGERANK, FTB_FP32, FTB_FP64, 5, .first = 1, .sums = true},
    {"distances", TEXTS(.send = "x", .combine = "min : message + edge", .apply = "x = min(x, received)"),
     FTB_FP32, FTB_FP64, 6, true, .rounds = 60, .rest = INFINITY},
    {"distances, against the edges",
     TEXTS(.send = "x", .combine = "min : message + edge", .apply = "x = min(x, received)",
           .direction = FTB_IN),
     FTB_FP64, FTB_FP64, 1, true, .rounds = 60, .rest = INFINITY},
    {"levels",
     TEXTS(.send = "x == round - 1", .combine = "or : message", .apply = "x = x < 0 && received ? round : x",
           .settled = "x >= 0"),
     FTB_INT32, FTB_INT64, 7, true, .rest = -1},
    {"levels and parents",
     TEXTS(.send = "id", .combine = "min : message", .apply = "x = round; y = received", .settled = "x >= 0"),
     FTB_INT64, FTB_INT64, 1, true, .rest = -1},
    {"labels", TEXTS(.send = "x", .combine = "max : message", .apply = "x = max(x, received)"), FTB_UINT32,
     FTB_FP64, 1, .rest = NAN},
    {"heat",
     TEXTS(.send = "x", .combine = "plus : edge * message - dst.x",
           .apply = "x = x + c * received; y = max(y, old.x)",
           .active = "abs(new.x - old.x) > 0.01 || changed && id < 9", .rounds = 12),
     FTB_FP32, FTB_FP32, 3, .rest = NAN, .sums = true},
    {"all apply, few receive",
     TEXTS(.send = "x", .combine = "min : message", .apply = "x = received > 3 ? x - 1 : received + id / 8.0",
           .applies = FTB_APPLY_ALL, .until = "sum(received > 3) > 1e9", .rounds = 7),
     FTB_FP64, FTB_FP64, 2, true, .rest = NAN},
    {"messages that are no number",
     TEXTS(.send = "sqrt(0 - 1 - x)", .combine = "max : message",
           .apply = "x = received == received ? received / 2 : y - x", .rounds = 9),
     FTB_FP64, FTB_FP64, 1, true, .rest = NAN},
    {"both directions",
     TEXTS(.send = "x", .combine = "max : message", .apply = "x = max(x, received)", .direction = FTB_BOTH),
     FTB_INT64, FTB_FP64, 1, .rest = NAN},
    {"sums of both directions",
     TEXTS(.send = "x", .combine = "plus : edge * message",
           .apply = "x = 0.5 * x + received / n; y = indegree - outdegree + 0 * x", .direction = FTB_BOTH),
     FTB_FP64, FTB_FP64, 2, .rounds = 9, .rest = NAN, .sums = true},
    {"sums of both directions, some",
     TEXTS(.send = "x", .combine = "plus : message", .apply = "x = 0.5 * x + received / n",
           .active = "abs(new.x - old.x) > 0.5", .direction = FTB_BOTH),
     FTB_FP64, FTB_FP64, 1, .rounds = 9, .rest = NAN, .sums = true, .host = true},
    {"both directions, all apply",
     TEXTS(.send = "x", .combine = "min : message + edge", .apply = "x = min(x, received) + 1; y = received",
           .applies = FTB_APPLY_ALL, .direction = FTB_BOTH),
     FTB_FP32, FTB_FP32, 3, true, .rounds = 8, .rest = INFINITY},
    {"odd numbers of messages, both directions",
     TEXTS(.send = "x > 50", .combine = "xnor : message", .apply = "x = received ? x - 1 : x + 3",
           .active = "id < 20 || round == 3", .settled = "x < 2", .direction = FTB_BOTH),
     FTB_INT32, FTB_FP32, 2, .rounds = 8, .rest = NAN},
    {"the first sender",
     TEXTS(.send = "x", .combine = "any : message", .apply = "x = received + 1", .rounds = 3), FTB_FP64,
     FTB_FP64, 1, .rest = NAN, .host = true}};
const int there_count = sizeof there_programs / sizeof *there_programs;

FtB_Matrix there_graph(int64_t n, int64_t nvals, FtB_Type type)
{
    rng r = rng_case((int)(n + nvals));
    const FtB_Type stored = type ? type : FTB_FP32;
    FtB_Matrix A;
    int64_t *I = malloc((size_t)(nvals + 1) * sizeof *I), *J = malloc((size_t)(nvals + 1) * sizeof *J);
    char *w = malloc((size_t)(nvals + 1) * sizeof(double));
    for (int64_t e = 0; e < nvals; e++) {
        const double value = rng_unit(&r);
        I[e] = rng_below(&r, 1 + rng_below(&r, n));
        J[e] = rng_below(&r, 8) ? rng_below(&r, n) : I[e];
        ftb_cast(w + (size_t)e * FtB_Type_size(stored), stored, &value, FTB_FP64, 1);
    }
    assert_ok(
        FtB_Matrix_build(&A, stored, n, n, type != 0, nvals, I, J, type ? w : NULL, FTB_DUP_KEEP, NULL));
    free(I);
    free(J);
    free(w);
    return A;
}

static FtB_Block field(const there_program *p, FtB_Type type, int64_t n, bool x)
{
    FtB_Block X;
    assert_ok(FtB_Block_new(&X, n, p->ncols, type));
    char *data = ftb_block_data(X);
    for (int64_t t = 0; t < n * p->ncols; t++) {
        const int64_t v = t / p->ncols, c = t % p->ncols;
        const bool source = v == c * 7 % n && p->first == 0;
        const double value = !x               ? -2
                             : source         ? 0
                             : p->first > 0   ? (v == c * 7 % n) * p->first
                             : isnan(p->rest) ? (double)((t * 37) % 101)
                                              : p->rest;
        ftb_cast(data + (size_t)t * FtB_Type_size(type), type, &value, FTB_FP64, 1);
    }
    assert_ok(FtB_Block_changed(X));
    return X;
}

typedef struct ran {
    FtB_Block X, Y;
    FtB_Superstep about[80];
    int64_t steps;
} ran;

static ran run(const there_program *p, FtB_Matrix A, FtB_Way way, bool steps)
{
    const int64_t n = A->pattern->nrows;
    ran r = {.X = field(p, p->type, n, true), .Y = field(p, p->other, n, false)};
    FtB_Program program;
    int64_t start[16];
    for (int64_t c = 0; c < p->ncols; c++)
        start[c] = c * 7 % n;
    const FtB_Run_options o = {.size = sizeof o,
                               .way = way,
                               .rounds = p->rounds ? p->rounds : 70,
                               .supersteps = &r.steps,
                               .start = {p->some ? start : NULL, p->some ? p->ncols : 0}};
    assert_ok(FtB_Program_new(&program, &p->texts));
    const FtB_States states = FTB_STATE("x", r.X, "y", r.Y, "c", 0.1);
    if (steps) {
        FtB_Run run;
        bool more = true;
        assert_ok(FtB_Run_new(&run, program, A, states, &o));
        for (r.steps = 0; more; r.steps++) {
            assert_true(r.steps < 80);
            assert_ok(FtB_Run_step(run, &more));
            assert_ok(FtB_Run_about(run, &r.about[r.steps]));
        }
        FtB_Run_free(&run);
    } else {
        assert_ok(FtB_run(program, A, states, &o));
    }
    FtB_Program_free(&program);
    return r;
}

static void same_block(FtB_Block here, FtB_Block there, const char *name, FtB_Way way, double tolerance)
{
    const size_t size = FtB_Type_size(here->type);
    assert_ok(ftb_buffer_ask(there->owner, FTB_READ));
    const char *x = ftb_block_data(here), *y = ftb_block_data(there);
    for (int64_t t = 0; t < here->nrows * here->ncols; t++, x += size, y += size) {
        const double a = ftb_get_real(x, here->type, 0), b = ftb_get_real(y, here->type, 0);
        if (memcmp(x, y, size) != 0 && !(isnan(a) && isnan(b)) && !(fabs(a - b) <= tolerance * (1 + fabs(a))))
            fail_msg("%s, way %d: value %lld is %.17g, not %.17g", name, (int)way, (long long)t, b, a);
    }
}

int64_t there_compare(const there_program *p, FtB_Matrix A, FtB_Way way, bool steps, bool bits)
{
    const double tolerance = bits || !p->sums ? 0 : p->type == FTB_FP32 ? 1e-5 : 1e-13;
    const FtB_Context ctx = ftb_context();
    const ftb_backend *const device = ctx->device;
    int64_t did = 0;
    ran there = run(p, A, way, steps);
    ctx->device = NULL;
    ran here = run(p, A, FTB_WAY_AUTO, steps);
    ctx->device = device;
    if (there.steps != here.steps)
        fail_msg("%s, way %d: %lld supersteps, not %lld", p->name, (int)way, (long long)there.steps,
                 (long long)here.steps);
    for (int64_t t = 0; t < there.steps && steps; t++) {
        const FtB_Superstep *a = &there.about[t], *b = &here.about[t];
        if (a->active != b->active || a->edges != b->edges ||
            (a->applied != b->applied && strcmp(b->loop, "bits") != 0) || a->next != b->next)
            fail_msg("%s, way %d, superstep %lld: %lld sent along %lld, %lld applied, %lld are next; not "
                     "%lld, %lld, %lld, %lld",
                     p->name, (int)way, (long long)t + 1, (long long)a->active, (long long)a->edges,
                     (long long)a->applied, (long long)a->next, (long long)b->active, (long long)b->edges,
                     (long long)b->applied, (long long)b->next);
        did += strcmp(a->loop, "device") == 0;
        assert_true((strcmp(a->loop, "device") == 0) == (device && strcmp(a->where, device->name) == 0));
        assert_string_equal(b->where, "host");
    }
    same_block(here.X, there.X, p->name, way, tolerance);
    same_block(here.Y, there.Y, p->name, way, tolerance);
    FtB_Block *const all[] = {&here.X, &here.Y, &there.X, &there.Y};
    for (int b = 0; b < 4; b++)
        FtB_Block_free(all[b]);
    return did;
}

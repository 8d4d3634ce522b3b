/* Vertex programs: random ones against supersteps of forty lines, each way forced, on one to eight threads
 * with the same bits. */
#include "support/check.h"

#include "featblas_vertex.h"

#include "core/core.h"
#include "support/rng.h"
#include "support/vertex_graphs.h"

#include <math.h>
#include <stdlib.h>

/* ---- supersteps, slowly */

enum { MOST = 40, WIDTH = 3, ROUNDS = 12, STARTS = LARGE / 4 };

typedef struct graph { /* entries (from, to, w) in the order of rows */
    int64_t n, nvals;
    int64_t from[400], to[400];
    double w[400];
} graph;

typedef struct slow {
    const graph *g;
    int send, combine, apply, active, settled, priority;
    double delta;
    FtB_Direction direction;
    bool all_apply, weighted;
    int64_t k; /* columns */
    double x[MOST * WIDTH], y[MOST * WIDTH];
    bool on[MOST]; /* active: that send next, or, with priorities, wait */
    double bucket[MOST];
    int64_t round, sent, messages, applied, next;
} slow;

static const char *const sends[] = {
    "x", "x / (outdegree + 1)", "x + y * indegree", "x * 0 + id", "round - x", "y", "id", "round * c"};
static const char *const combines[] = {"min : message + edge",
                                       "max : message * edge",
                                       "min : message",
                                       "max : min(message, dst.y) - edge",
                                       "plus : message * edge",
                                       "plus : message + dst.x / n",
                                       "plus : int64(message * 4)",
                                       "or : message > edge * c",
                                       "any : message - edge",
                                       "any : message",
                                       "max : c"};
static const char *const applies[] = {"x = min(x, received)", "x = 0.5 * x + received / n; y = old.x",
                                      "y = (y + received + c) / 2 ; x = max(x, received);"};
static const char *const actives[] = {NULL, "changed && id != 3", "abs(new.x - old.x) > 0.25", "true",
                                      "received * round < 4 || new.y > x0"};
static const char *const settleds[] = {NULL,         "x > 0.5",       "-0.25 >= y",
                                       "x + y < -1", "indegree == 1", "y != x0"};
static const char *const priorities[] = {NULL,    "x", "-3 * y", "indegree - 2", "x > 0.5 ? nan : id - round",
                                         "x / 0", "x0"};
enum {
    SENDS = 8,
    COMBINES = 11,
    APPLIES = 3,
    ACTIVES = 5,
    SETTLEDS = 6,
    PRIORITIES = 7,
    PLUS_FIRST = 4,
    PLUS_LAST = 6
};
enum { OR = 7, ANY_FIRST = 8, ANY_LAST = 9, ALIKE = 10, ID = 6, SAME = 7 };
#define C 0.25
#define X0 0.5

static long double slow_message(const slow *s, int64_t u, int64_t f, int64_t out, int64_t in)
{
    const double x = s->x[u * s->k + f], y = s->y[u * s->k + f];
    switch (s->send) {
    case 0:
        return x;
    case 1:
        return x / (double)(out + 1);
    case 2:
        return x + y * (double)in;
    case 3:
        return x * 0 + (double)u;
    case 4:
        return (double)s->round - x;
    case 5:
        return y;
    case ID:
        return (double)u;
    default:
        return (double)s->round * C;
    }
}

static long double slow_combine(const slow *s, double m, double w, int64_t v, int64_t f)
{
    const double x = s->x[v * s->k + f], y = s->y[v * s->k + f];
    switch (s->combine) {
    case 0:
        return m + w;
    case 1:
        return m * w;
    case 2:
        return m;
    case 3:
        return (m < y ? m : y) - w;
    case 4:
        return m * w;
    case 5:
        return m + x / (double)s->g->n;
    case 6:
        return (double)(int64_t)(m * 4);
    case OR:
        return m > w * C;
    case ANY_FIRST:
        return m - w;
    case ANY_LAST:
        return m;
    default:
        return C;
    }
}

static bool slow_active(const slow *s, double x, double oldx, double y, bool changed, double received,
                        int64_t v)
{
    switch (s->active) {
    case 0:
        return changed || (s->combine >= PLUS_FIRST && s->combine <= PLUS_LAST);
    case 1:
        return changed && v != 3;
    case 2:
        return fabs(x - oldx) > 0.25;
    case 3:
        return true;
    default:
        return received * (double)s->round < 4 || y > X0;
    }
}

/* Before the superstep; of several columns, where it is true of all. */
static bool slow_settled(const slow *s, int64_t v, int64_t in)
{
    bool all = true;
    for (int64_t f = 0; f < s->k; f++) {
        const double x = s->x[v * s->k + f], y = s->y[v * s->k + f];
        const bool here[] = {false, x > 0.5, y <= -0.25, x + y < -1, in == 1, y != X0};
        all = all && here[s->settled];
    }
    return all;
}

/* The number of v's bucket, of the least of its columns. */
static double slow_bucket(const slow *s, int64_t v, int64_t in)
{
    const double zero = 0;
    double least = INFINITY;
    for (int64_t f = 0; f < s->k; f++) {
        const double x = s->x[v * s->k + f], y = s->y[v * s->k + f];
        const double here[] = {0,        x, -3 * y, (double)(in - 2), x > 0.5 ? NAN : (double)(v - s->round),
                               x / zero, X0};
        least = here[s->priority] < least ? here[s->priority] : least;
    }
    return floor(least / s->delta);
}

/* Who of the active ones sends: all, or those of the lowest bucket. */
static void slow_senders(slow *s, bool sender[MOST], const int64_t in[MOST])
{
    double lowest = INFINITY;
    s->sent = 0;
    for (int64_t v = 0; v < s->g->n && s->priority > 0; v++) {
        s->bucket[v] = s->round == 1 ? slow_bucket(s, v, in[v]) : s->bucket[v];
        lowest = s->on[v] && s->bucket[v] < lowest ? s->bucket[v] : lowest;
    }
    for (int64_t v = 0; v < s->g->n; v++) {
        sender[v] = s->on[v] && (s->priority == 0 || s->bucket[v] == lowest);
        s->on[v] = s->on[v] && !sender[v];
        s->sent += sender[v];
    }
}

/* v applies what it got. */
static void slow_apply(slow *s, int64_t v, const long double *got, int64_t in)
{
    bool changed = false;
    double oldx[WIDTH];
    s->applied++;
    for (int64_t f = 0; f < s->k; f++) {
        double *x = &s->x[v * s->k + f], *y = &s->y[v * s->k + f], wasy = *y, r = (double)got[f];
        oldx[f] = *x;
        *y = s->apply == 1 ? *x : s->apply == 2 ? (*y + r + C) / 2 : *y;
        *x = s->apply == 0   ? (r < *x ? r : *x)
             : s->apply == 1 ? 0.5 * *x + r / (double)s->g->n
             : r > *x        ? r
                             : *x;
        changed = changed || (memcmp(x, &oldx[f], sizeof *x) != 0 && !(isnan(*x) && isnan(oldx[f]))) ||
                  (memcmp(y, &wasy, sizeof *y) != 0 && !(isnan(*y) && isnan(wasy)));
    }
    for (int64_t f = 0; f < s->k; f++)
        s->on[v] |=
            slow_active(s, s->x[v * s->k + f], oldx[f], s->y[v * s->k + f], changed, (double)got[f], v);
    s->bucket[v] = slow_bucket(s, v, in);
}

static void slow_step(slow *s)
{
    const graph *g = s->g;
    long double got[MOST * WIDTH];
    bool hit[MOST] = {false}, sender[MOST], settled[MOST];
    int64_t out[MOST] = {0}, in[MOST] = {0};
    const bool sum = s->combine >= PLUS_FIRST && s->combine <= PLUS_LAST,
               least = s->combine == 0 || s->combine == 2;
    s->round++;
    s->messages = s->applied = 0;
    for (int64_t e = 0; e < g->nvals; e++) {
        out[g->from[e]]++;
        in[g->to[e]]++;
    }
    slow_senders(s, sender, in);
    const bool any = s->combine == ANY_FIRST || s->combine == ANY_LAST;
    for (int64_t v = 0; v < g->n; v++)
        settled[v] = slow_settled(s, v, in[v]);
    for (int64_t t = 0; t < g->n * s->k; t++)
        got[t] = s->combine == OR || sum || any ? 0 : least ? (long double)INFINITY : -(long double)INFINITY;
    for (int64_t e = 0; e < 2 * g->nvals; e++) {
        const int64_t at = e % g->nvals, u = e < g->nvals ? g->from[at] : g->to[at];
        const int64_t v = e < g->nvals ? g->to[at] : g->from[at];
        if ((e < g->nvals ? s->direction == FTB_IN : s->direction == FTB_OUT) || !sender[u])
            continue;
        s->messages++;
        for (int64_t f = 0; f < s->k; f++) {
            const long double m =
                slow_combine(s, (double)slow_message(s, u, f, out[u], in[u]), g->w[at], v, f);
            long double *to = &got[v * s->k + f];
            const bool wins =
                !hit[v] || (!any && (*to != *to || (least ? m < *to : m > *to))); /* NaN loses */
            *to = sum ? *to + m : wins ? m : *to;
        }
        hit[v] = true;
    }
    s->next = 0;
    for (int64_t v = 0; v < g->n; v++) {
        if (!settled[v] && (hit[v] || s->all_apply))
            slow_apply(s, v, &got[v * s->k], in[v]);
        s->next += s->on[v];
    }
}

/* ---- random cases */

static graph make_graph(rng *r, bool keep, FtB_Matrix *A, int64_t width)
{
    graph g = {.n = 1 + rng_below(r, MOST)};
    const int64_t nvals = rng_below(r, 4 * g.n + 1);
    int64_t perm[400];
    for (int64_t e = 0; e < nvals; e++) {
        g.from[e] = rng_below(r, 1 + rng_below(r, g.n));
        g.to[e] = rng_below(r, g.n);
        g.w[e] = width ? 2 * rng_unit(r) - 1 : 1;
    }
    assert_ok(FtB_Matrix_build(A, FTB_FP64, g.n, g.n, width, nvals, g.from, g.to, width ? g.w : NULL,
                               keep ? FTB_DUP_KEEP : FTB_DUP_FIRST, perm));
    const int64_t *rowptr;
    const void *colidx, *values;
    assert_ok(FtB_Matrix_csr(*A, &rowptr, &colidx, &values));
    for (int64_t i = 0; i < g.n; i++)
        for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++) {
            g.from[e] = i;
            g.to[e] = ((const int32_t *)colidx)[e];
            g.w[e] = width ? ((const double *)values)[e] : 1;
        }
    g.nvals = rowptr[g.n];
    return g;
}

typedef struct fast {
    double x[MOST * WIDTH], y[MOST * WIDTH];
    FtB_Superstep about[ROUNDS];
    int steps;
} fast;

static void run_fast(fast *to, const slow *s, FtB_Matrix A, FtB_Program program, const FtB_Run_options *o,
                     int threads)
{
    FtB_Block X, Y;
    FtB_Run run;
    FtB_Context ctx;
    bool more = true;
    memcpy(to->x, s->x, sizeof to->x);
    memcpy(to->y, s->y, sizeof to->y);
    const FtB_Context placed = ftb_context();
    assert_ok(FtB_Context_new(&ctx));
    ctx->device = placed->device; /* of FEATBLAS_PRETEND */
    assert_ok(FtB_Context_set_threads(ctx, threads));
    assert_ok(FtB_Context_engage(ctx));
    assert_ok(FtB_Block_wrap(&X, to->x, s->g->n, s->k, s->k, FTB_FP64));
    assert_ok(FtB_Block_wrap(&Y, to->y, s->g->n, s->k, s->k, FTB_FP64));
    assert_ok(FtB_Run_new(&run, program, A, FTB_STATE("x", X, "y", Y, "c", C, "x0", X0), o));
    for (to->steps = 0; more; to->steps++) {
        assert_ok(FtB_Run_step(run, &more));
        assert_ok(FtB_Run_about(run, &to->about[to->steps]));
    }
    FtB_Run_free(&run);
    FtB_Block_free(&X);
    FtB_Block_free(&Y);
    assert_ok(FtB_Context_engage(NULL));
    FtB_Context_free(&ctx);
}

static void close_enough(const double *got, const double *expected, int64_t count, bool exact, int c)
{
    for (int64_t t = 0; t < count; t++)
        if (isnan(got[t]) && isnan(expected[t]))
            continue;
        else if (exact ? memcmp(&got[t], &expected[t], sizeof *got) != 0 && !(got[t] == 0 && expected[t] == 0)
                       : !(fabs(got[t] - expected[t]) <= 1e-11 * (1 + fabs(expected[t]))))
            fail_msg("case %d, value %lld: %.17g; expected %.17g", c, (long long)t, got[t], expected[t]);
}

/* NaN is NaN: which one a reducer gives is not said. */
static void same_bits(const double *got, const double *expected, int64_t count, int c,
                      const FtB_Program_texts *t, int way)
{
    for (int64_t v = 0; v < count; v++)
        if (memcmp(&got[v], &expected[v], sizeof *got) != 0 && !(isnan(got[v]) && isnan(expected[v])))
            fail_msg("case %d (%s; %s; %s; %s), way %d: value %lld is %.17g, not %.17g", c, t->send,
                     t->combine, t->apply, t->active ? t->active : "", way, (long long)v, got[v],
                     expected[v]);
}

/* Superstep after superstep beside the slow one. */
static void check_steps(slow *s, const fast *first, int64_t rounds)
{
    const bool alike = s->combine == 2 || (!s->weighted && (s->combine < 2 || s->combine == OR));
    const bool decides = s->combine >= ANY_FIRST || (s->send == SAME && alike) ||
                         (s->combine == 2 && s->send == ID && s->direction != FTB_BOTH);
    const bool plain = (s->k == 1 || s->send >= ID) && (s->combine < 3 || s->combine == 4);
    for (int t = 0; t < first->steps; t++) {
        slow_step(s);
        assert_int_equal(first->about[t].round, s->round);
        assert_int_equal(first->about[t].active, s->sent);
        assert_int_equal(first->about[t].edges, s->messages);
        assert_int_equal(first->about[t].applied, s->applied);
        assert_int_equal(first->about[t].next, s->next);
        assert_string_equal(first->about[t].loop, strcmp(first->about[t].where, "host") != 0 ? "device"
                                                  : first->about[t].way >= FTB_WAY_ALL       ? "text"
                                                  : decides                                  ? "first"
                                                  : plain                                    ? "plain"
                                                                                             : "text");
        assert_int_equal(t + 1 == first->steps, s->next == 0 || s->round == rounds);
    }
}

/* A state, and who begins: so many, or -1, all. */
static int64_t random_state(slow *s, int64_t *start, rng *r)
{
    for (int64_t t = 0; t < s->g->n * s->k; t++) {
        s->x[t] = 4 * rng_unit(r) - 2;
        s->y[t] = 4 * rng_unit(r) - 2;
    }
    const int64_t nstart = rng_below(r, 4) ? rng_below(r, s->g->n + 1) : -1;
    for (int64_t t = 0; t < s->g->n; t++)
        s->on[t] = nstart < 0;
    for (int64_t t = 0; t < nstart; t++) {
        start[t] = rng_below(r, s->g->n);
        s->on[start[t]] = true;
    }
    return nstart;
}

static void random_case(int c)
{
    rng r = rng_case(c);
    FtB_Matrix A;
    FtB_Program program;
    const bool weighted = rng_below(&r, 4) > 0;
    const graph g = make_graph(&r, rng_below(&r, 2), &A, weighted);
    slow s = {.g = &g,
              .weighted = weighted,
              .send = (int)rng_below(&r, SENDS),
              .combine = (int)rng_below(&r, COMBINES),
              .apply = (int)rng_below(&r, APPLIES),
              .active = (int)rng_below(&r, ACTIVES),
              .settled = (int)rng_below(&r, SETTLEDS),
              .priority = rng_below(&r, 2) ? (int)rng_below(&r, PRIORITIES) : 0,
              .delta = rng_below(&r, 2) ? 0.5 : 1e-3,
              .direction = (FtB_Direction)rng_below(&r, 3),
              .k = 1 + rng_below(&r, WIDTH)};
    const bool sum = s.combine >= PLUS_FIRST && s.combine <= PLUS_LAST,
               exact = s.combine != 4 && s.combine != 5;
    const bool long_run = s.priority && s.combine != PLUS_LAST; /* whose whole numbers leave 64 bits */
    const int64_t rounds = 1 + rng_below(&r, long_run ? ROUNDS : 5);
    FtB_Program_texts texts = {.size = sizeof texts,
                               .send = sends[s.send],
                               .combine = combines[s.combine],
                               .apply = applies[s.apply],
                               .active = actives[s.active],
                               .settled = settleds[s.settled],
                               .priority = priorities[s.priority],
                               .delta = s.priority ? s.delta : 0,
                               .direction = s.direction,
                               .applies = (FtB_Appliers)rng_below(&r, 3)};
    if (s.send == ID && !sum) /* the identity of whole numbers is none of reals */
        texts.applies = FTB_APPLY_RECEIVERS;
    s.all_apply = texts.applies == FTB_APPLY_ALL || (texts.applies == FTB_APPLY_DEFAULT && sum);
    int64_t start[MOST];
    const int64_t nstart = random_state(&s, start, &r);
    FtB_Run_options o = {
        .size = sizeof o, .rounds = rounds, .start = {nstart < 0 ? NULL : start, nstart < 0 ? 0 : nstart}};
    assert_ok(FtB_Program_new(&program, &texts));
    fast first, other;
    run_fast(&first, &s, A, program, &o, 1);
    for (int way = FTB_WAY_AUTO; way <= FTB_WAY_SLICES; way++) {
        o.way = (FtB_Way)way;
        run_fast(&other, &s, A, program, &o, 1 + (c + way) % 8);
        assert_int_equal(other.steps, first.steps);
        same_bits(other.x, first.x, g.n * s.k, c, &texts, way);
        same_bits(other.y, first.y, g.n * s.k, c, &texts, way);
    }
    if (nstart != 0)
        check_steps(&s, &first, rounds);
    close_enough(first.x, s.x, g.n * s.k, exact, c);
    close_enough(first.y, s.y, g.n * s.k, exact, c);
    FtB_Program_free(&program);
    FtB_Matrix_free(&A);
}

static void random_programs(void **state)
{
    (void)state;
    const int cases = rng_cases(1500);
    for (int c = 0; c < cases; c++)
        random_case(c);
}

/* ---- as many edges as threads want */

/* x of the large graph, after 12 supersteps at most; returns how many. */
static int64_t run_large(double *x, FtB_Program program, FtB_Matrix A, FtB_Ids start, FtB_Way way,
                         int threads)
{
    FtB_Context ctx;
    FtB_Block X;
    int64_t taken;
    const FtB_Run_options o = {
        .size = sizeof o, .start = start, .rounds = 12, .way = way, .supersteps = &taken};
    const FtB_Context placed = ftb_context();
    assert_ok(FtB_Context_new(&ctx));
    ctx->device = placed->device; /* of FEATBLAS_PRETEND */
    assert_ok(FtB_Context_set_threads(ctx, threads));
    assert_ok(FtB_Context_engage(ctx));
    assert_ok(FtB_Block_wrap(&X, x, LARGE, 1, 1, FTB_FP64));
    assert_ok(FtB_run(program, A, FTB_STATE("x", X), &o));
    FtB_Block_free(&X);
    assert_ok(FtB_Context_engage(NULL));
    FtB_Context_free(&ctx);
    return taken;
}

static const FtB_Program_texts every_way[] = {{.size = sizeof *every_way,
                                               .send = "x",
                                               .combine = "min : message + edge",
                                               .apply = "x = min(x, received)"},
                                              {.size = sizeof *every_way,
                                               .send = "x / outdegree",
                                               .combine = "plus : message * edge",
                                               .apply = "x = 0.5 * x + received",
                                               .active = "abs(new.x - old.x) > 0.4",
                                               .until = "sum(abs(new.x - old.x)) < 1e-3",
                                               .direction = FTB_BOTH},
                                              {.size = sizeof *every_way,
                                               .send = "x",
                                               .combine = "max : abs(message - dst.x) * edge",
                                               .apply = "x = received",
                                               .active = "changed && id < n / 2",
                                               .direction = FTB_IN},
                                              {.size = sizeof *every_way,
                                               .send = "id + x",
                                               .combine = "any : message * edge - dst.x",
                                               .apply = "x = x > 0.9 ? x : received",
                                               .settled = "x > 0.9 || x < -0.9",
                                               .direction = FTB_BOTH},
                                              {.size = sizeof *every_way,
                                               .send = "id",
                                               .combine = "min : message",
                                               .apply = "x = received + 1",
                                               .settled = "x >= 1"}};

static void threads_and_ways(void **state)
{
    (void)state;
    FtB_Matrix A = large_graph();
    double *start = malloc(LARGE * sizeof *start), *first = malloc(LARGE * sizeof *first);
    double *x = malloc(LARGE * sizeof *x);
    int64_t ids[STARTS];
    for (int64_t v = 0; v < LARGE; v++)
        start[v] = cos((double)v);
    for (int64_t v = 0; v < STARTS; v++)
        ids[v] = LARGE - 1 - 2 * v;
    for (int p = 0; p < 5; p++) {
        int64_t steps = -1;
        FtB_Program program;
        assert_ok(FtB_Program_new(&program, &every_way[p]));
        for (int t = 0; t < 24; t++) {
            const int way = t / 8 + 1;
            memcpy(x, start, LARGE * sizeof *x);
            const int64_t taken =
                run_large(x, program, A, FtB_Ids_of(ids, p < 3 ? STARTS : 30), (FtB_Way)way, 1 + t % 8);
            if (t == 0)
                memcpy(first, x, LARGE * sizeof *x);
            steps = t == 0 ? taken : steps;
            assert_int_equal(taken, steps);
            same_bits(x, first, LARGE, p, &every_way[p], way);
        }
        if (steps <= 2)
            fail_msg("program %d: %lld steps", p, (long long)steps);
        FtB_Program_free(&program);
    }
    free(start);
    free(first);
    free(x);
    FtB_Matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs), cmocka_unit_test(threads_and_ways)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

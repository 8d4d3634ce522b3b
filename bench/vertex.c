/* Vertex programs: seconds of each. Usage: bench_vertex FILE [threads] [repeats] [row]...
 *
 * FILE is a square graph (featblas gen rmat --scale 20 --symmetric -o kron.csr). Medians over the repeats:
 * breadth-first search from one vertex that has edges, another in each repeat, and from 64 at once, without
 * parents and with them, beside 64 times one; shortest paths with whole lengths 1 to 255, from one, as a
 * text, and from 64; components; PageRank by GAP's definition, in all and a superstep of it, by sweeps, to
 * 1e-6, personalised for 64 vertices at once beside 64 times one, and after 10 links changed beside from
 * anew; the text of a user beside the program of the same meaning; triangles and clustering coefficients;
 * betweenness from one vertex and from 64; communities; and the topological order of the entries above the
 * diagonal. Rows by their first words: those alone. */
#include "support/calls.h"

#include "featblas_vertex.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 100
#define MANY 64
#define CHANGES 10 /* links */

typedef struct graph {
    FtB_Matrix A, lengths, upper, changed; /* changed: some entries of A lead somewhere else */
    int64_t n, nvals;
    const int64_t *rowptr;
    FtB_Block levels, parents, all, all_parents, dist, dists, labels, ranks, many, exact, start, counts,
        shares;
    FtB_Program own;
    int64_t sources[MANY], supersteps;
} graph;

static void pick_sources(graph *g)
{
    for (int64_t s = 0; s < MANY; s++)
        do
            g->sources[s] = (int64_t)(bench_bits() % (uint64_t)g->n);
        while (g->rowptr[g->sources[s] + 1] == g->rowptr[g->sources[s]]);
}

static void search_one(graph *g)
{
    bench_check(
        FtB_bfs(g->levels, g->parents, g->A, g->sources, 1, FTB_RUN_OPTIONS(.supersteps = &g->supersteps)));
}
static void search_many(graph *g)
{
    bench_check(FtB_bfs(g->all, NULL, g->A, g->sources, MANY, FTB_RUN_OPTIONS(.supersteps = &g->supersteps)));
}
static void search_many_parents(graph *g)
{
    if (!g->all_parents)
        bench_check(FtB_Block_new(&g->all_parents, g->n, MANY, FTB_INT64));
    bench_check(FtB_bfs(g->all, g->all_parents, g->A, g->sources, MANY,
                        FTB_RUN_OPTIONS(.supersteps = &g->supersteps)));
}
static void search_each(graph *g)
{
    for (int s = 0; s < MANY; s++)
        bench_check(
            FtB_bfs(g->levels, NULL, g->A, g->sources + s, 1, FTB_RUN_OPTIONS(.supersteps = &g->supersteps)));
}
static void paths(graph *g)
{
    bench_check(FtB_sssp(g->dist, g->lengths, g->sources, 1, FTB_RUN_OPTIONS(.supersteps = &g->supersteps)));
}
static void own_paths(graph *g)
{
    float *dist;
    bench_check(FtB_Block_shape(g->dist, NULL, NULL, NULL, NULL, (void **)&dist));
    for (int64_t v = 0; v < g->n; v++)
        dist[v] = v == g->sources[0] ? 0 : INFINITY;
    bench_check(FtB_Block_changed(g->dist));
    bench_check(FtB_run(g->own, g->lengths, FTB_STATE("d", g->dist),
                        FTB_RUN_OPTIONS(.start = {g->sources, 1}, .supersteps = &g->supersteps)));
}
static void paths_many(graph *g) { bench_check(FtB_sssp(g->dists, g->lengths, g->sources, MANY, NULL)); }
static void paths_each(graph *g)
{
    for (int s = 0; s < MANY; s++)
        bench_check(FtB_sssp(g->dist, g->lengths, g->sources + s, 1, NULL));
}
static void components(graph *g)
{
    bench_check(FtB_components(g->labels, g->A, FTB_RUN_OPTIONS(.supersteps = &g->supersteps)));
}
static void pagerank(graph *g)
{
    bench_check(FtB_pagerank(g->ranks, g->A, FTB_PAGERANK(.supersteps = &g->supersteps)));
}

static void pagerank_sweeps(graph *g)
{
    bench_check(FtB_pagerank(g->ranks, g->A,
                             FTB_PAGERANK(.method = FTB_PAGERANK_SWEEPS, .supersteps = &g->supersteps)));
}

/* Personalised: a column for each source. */
static void pagerank_many(graph *g)
{
    bench_check(FtB_pagerank(g->many, g->A,
                             FTB_PAGERANK(.sources = {g->sources, MANY}, .supersteps = &g->supersteps)));
}
static void pagerank_each(graph *g)
{
    for (int s = 0; s < MANY; s++)
        bench_check(FtB_pagerank(g->ranks, g->A,
                                 FTB_PAGERANK(.sources = {g->sources + s, 1}, .supersteps = &g->supersteps)));
}

/* CHANGES entries of A lead somewhere else; made once, for who wants it. */
static void change_links(graph *g)
{
    if (g->changed)
        return;
    int64_t *I = malloc((size_t)g->nvals * sizeof *I), *J = malloc((size_t)g->nvals * sizeof *J);
    const void *colidx;
    if (!I || !J)
        exit(1);
    bench_check(FtB_Matrix_csr(g->A, NULL, &colidx, NULL));
    for (int64_t i = 0; i < g->n; i++)
        for (int64_t e = g->rowptr[i]; e < g->rowptr[i + 1]; e++) {
            I[e] = i;
            J[e] = ((const int32_t *)colidx)[e];
        }
    for (int c = 0; c < CHANGES; c++)
        J[bench_bits() % (uint64_t)g->nvals] = (int64_t)(bench_bits() % (uint64_t)g->n);
    bench_check(
        FtB_Matrix_build(&g->changed, FTB_FP32, g->n, g->n, 0, g->nvals, I, J, NULL, FTB_DUP_FIRST, NULL));
    free(I);
    free(J);
    bench_check(FtB_Block_new(&g->exact, g->n, 1, FTB_FP64));
    bench_check(FtB_Block_new(&g->start, g->n, 1, FTB_FP64));
    bench_check(FtB_pagerank(g->start, g->A, FTB_PAGERANK(.tolerance = 1e-7)));
}

/* Of a graph some of whose links changed, to 1e-6: from nothing, and from the ranks before. */
static void pagerank_anew(graph *g)
{
    change_links(g);
    bench_check(
        FtB_pagerank(g->exact, g->changed, FTB_PAGERANK(.tolerance = 1e-6, .supersteps = &g->supersteps)));
}
static void pagerank_exactly(graph *g)
{
    change_links(g);
    bench_check(FtB_pagerank(
        g->exact, g->changed,
        FTB_PAGERANK(.tolerance = 1e-6, .method = FTB_PAGERANK_SWEEPS, .supersteps = &g->supersteps)));
}
static void pagerank_again(graph *g)
{
    change_links(g);
    bench_check(FtB_pagerank(g->exact, g->changed,
                             FTB_PAGERANK(.tolerance = 1e-6, .method = FTB_PAGERANK_CHANGES,
                                          .start = g->start, .supersteps = &g->supersteps)));
}

static void triangles(graph *g) { bench_check(FtB_triangles(NULL, g->counts, g->A)); }
static void clustering(graph *g) { bench_check(FtB_clustering(g->shares, g->A, NULL)); }
static void between_one(graph *g) { bench_check(FtB_betweenness(g->shares, g->A, g->sources, 1, NULL)); }
static void between_many(graph *g) { bench_check(FtB_betweenness(g->shares, g->A, g->sources, MANY, NULL)); }
static void communities(graph *g)
{
    bench_check(FtB_communities(g->labels, g->A, FTB_RUN_OPTIONS(.supersteps = &g->supersteps)));
}
static void topological(graph *g) { bench_check(FtB_topological(g->levels, NULL, g->upper)); }

static const struct {
    const char *what;
    void (*run)(graph *g);
} rows[] = {{"bfs, levels and parents", search_one},
            {"bfs from 64 at once", search_many},
            {"bfs from 64, and parents", search_many_parents},
            {"bfs from 64, one by one", search_each},
            {"sssp, lengths 1 to 255", paths},
            {"the same as a text", own_paths},
            {"lengths from 64 at once", paths_many},
            {"lengths from 64, one by one", paths_each},
            {"components", components},
            {"pagerank, GAP's", pagerank},
            {"pagerank by sweeps", pagerank_sweeps},
            {"pagerank to 1e-6, by sweeps", pagerank_exactly},
            {"pagerank for 64 at once", pagerank_many},
            {"pagerank for 64, one by one", pagerank_each},
            {"pagerank to 1e-6", pagerank_anew},
            {"pagerank after some changes", pagerank_again},
            {"triangles", triangles},
            {"clustering coefficients", clustering},
            {"betweenness from one", between_one},
            {"betweenness from 64", between_many},
            {"communities, 10 rounds", communities},
            {"topological order", topological}};

/* Whether a row begins with one of some words, or there are none. */
static bool is_wanted(const char *what, int count, char **words)
{
    for (int w = 0; w < count; w++)
        if (strncmp(what, words[w], strlen(words[w])) == 0)
            return true;
    return count < 1;
}

static void read_graph(graph *g, const char *path)
{
    float *length;
    FtB_Block values;
    bench_check(FtB_Matrix_read(&g->A, NULL, NULL, path, NULL));
    bench_check(FtB_Matrix_shape(g->A, &g->n, NULL, &g->nvals, NULL, NULL));
    bench_check(FtB_Matrix_csr(g->A, &g->rowptr, NULL, NULL));
    bench_check(FtB_Matrix_like(&g->lengths, g->A, 1, FTB_FP32));
    bench_check(FtB_Matrix_values(&values, g->lengths));
    bench_check(FtB_Block_shape(values, NULL, NULL, NULL, NULL, (void **)&length));
    for (int64_t e = 0; e < g->nvals; e++)
        length[e] = (float)(1 + bench_bits() % 255);
    bench_check(FtB_Block_changed(values));
    FtB_Block_free(&values);
    bench_check(FtB_Block_new(&g->levels, g->n, 1, FTB_INT32));
    bench_check(FtB_Block_new(&g->parents, g->n, 1, FTB_INT64));
    bench_check(FtB_Block_new(&g->all, g->n, MANY, FTB_INT32));
    bench_check(FtB_Block_new(&g->dist, g->n, 1, FTB_FP32));
    bench_check(FtB_Block_new(&g->dists, g->n, MANY, FTB_FP32));
    bench_check(FtB_Block_new(&g->labels, g->n, 1, FTB_INT32));
    bench_check(FtB_Block_new(&g->ranks, g->n, 1, FTB_FP32));
    bench_check(FtB_Block_new(&g->many, g->n, MANY, FTB_FP32));
    bench_check(FtB_Block_new(&g->counts, g->n, 1, FTB_INT64));
    bench_check(FtB_Block_new(&g->shares, g->n, 1, FTB_FP64));
    bench_check(FtB_Matrix_new(&g->upper, FTB_FP32, g->n, g->n, 1));
    bench_check(FtB_select(g->upper, NULL, NULL, "i < j", g->lengths, NULL));
    bench_check(FtB_Program_new(&g->own, FTB_PROGRAM(.send = "d", .combine = "min : message + edge",
                                                     .apply = "d = min(d, received)")));
}

int main(int argc, char **argv)
{
    graph g = {.n = 0};
    double seconds[sizeof rows / sizeof *rows][MOST];
    const int threads = argc > 2 ? atoi(argv[2]) : 1, repeats = argc > 3 ? atoi(argv[3]) : 5;
    if (argc < 2 || repeats < 1 || repeats > MOST) {
        fprintf(stderr, "usage: bench_vertex FILE [threads] [repeats, at most %d] [row]...\n", MOST);
        return 2;
    }
    bench_check(FtB_Context_set_threads(NULL, threads));
    read_graph(&g, argv[1]);
    printf("%s: %lld vertices, %lld edges, %d threads\n", argv[1], (long long)g.n, (long long)g.nvals,
           threads);
    if (g.nvals == 0)
        return 0;
    int64_t steps[sizeof rows / sizeof *rows] = {0};
    for (int t = 0; t <= repeats; t++) { /* in turn; the first of all makes what is kept with the graph */
        pick_sources(&g);
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
            if (!is_wanted(rows[r].what, argc - 4, argv + 4))
                continue;
            g.supersteps = 0;
            const double start = bench_seconds(threads);
            rows[r].run(&g);
            if (t > 0)
                seconds[r][t - 1] = bench_seconds(threads) - start;
            steps[r] = g.supersteps;
        }
    }
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        if (!is_wanted(rows[r].what, argc - 4, argv + 4))
            continue;
        const double median = bench_median(seconds[r], repeats);
        printf("%-28s %9.4f s", rows[r].what, median);
        if (steps[r] > 0)
            printf(" %4lld supersteps, %.5f s each", (long long)steps[r], median / (double)steps[r]);
        printf("\n");
    }
    return 0;
}

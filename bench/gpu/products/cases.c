/* What is timed, and what is wanted of it. The first cases of a graph tell most, so that a limit cuts off the
 * least. */
#include "products.h"

const char *products_name(products_what what)
{
    static const char *const names[] = {[PRODUCTS_SUM] = "sum",         [PRODUCTS_MAX] = "max",
                                        [PRODUCTS_MEAN] = "mean",       [PRODUCTS_WEIGHTED] = "weighted",
                                        [PRODUCTS_HEADS] = "heads",     [PRODUCTS_DOT] = "dot",
                                        [PRODUCTS_SOFTMAX] = "softmax", [PRODUCTS_ATTENTION] = "attention",
                                        [PRODUCTS_STAGED] = "staged",   [PRODUCTS_GCN] = "gcn",
                                        [PRODUCTS_GAT] = "gat",         [PRODUCTS_COUNT] = "count",
                                        [PRODUCTS_SAMPLE] = "sample",   [PRODUCTS_RANKS] = "pagerank",
                                        [PRODUCTS_LEVELS] = "bfs",      [PRODUCTS_LENGTHS] = "sssp"};
    return names[what];
}

/* Sums never under 0.95 of cuSPARSE's (and 1.5 in the mean: report.c); their kin within 1.3 of sums. */
#define SUMS(graph)                                                                                          \
    {graph, PRODUCTS_SUM, 128, 1, "cuSPARSE", 0.95}, {graph, PRODUCTS_SUM, 32, 1, "cuSPARSE", 0.95},         \
        {graph, PRODUCTS_SUM, 512, 1, "cuSPARSE", 0.95}, {graph, PRODUCTS_SUM, 64, 1, "cuSPARSE", 0.95},     \
    {                                                                                                        \
        graph, PRODUCTS_SUM, 256, 1, "cuSPARSE", 0.95                                                        \
    }
#define KIN(graph)                                                                                           \
    {graph, PRODUCTS_MAX, 128, 1, "FeatBLAS sum", 1 / 1.3},                                                  \
        {graph, PRODUCTS_MEAN, 128, 1, "FeatBLAS sum", 1 / 1.3},                                             \
        {graph, PRODUCTS_WEIGHTED, 128, 1, "FeatBLAS sum", 1 / 1.3},                                         \
    {                                                                                                        \
        graph, PRODUCTS_HEADS, 128, 8, "FeatBLAS sum", 1 / 1.3                                               \
    }
#define EDGES(graph, staged)                                                                                 \
    {graph, PRODUCTS_DOT, 128, 1, "cuSPARSE", 2}, {graph, PRODUCTS_DOT, 32, 1, "cuSPARSE", 2},               \
        {graph, PRODUCTS_DOT, 512, 1, "cuSPARSE", 2}, {graph, PRODUCTS_SOFTMAX, 128, 8, NULL, 0},            \
    {                                                                                                        \
        graph, PRODUCTS_ATTENTION, 128, 8, "FeatBLAS staged", staged                                         \
    }
#define EPOCHS(graph)                                                                                        \
    {graph, PRODUCTS_GCN, 256, 1, "PyG", 3}, { graph, PRODUCTS_GAT, 64, 8, "PyG", 3 }
/* All hops in one kernel: 1.5 x hop by hop where there are few seeds, nowhere slower. */
#define SAMPLES(graph)                                                                                       \
    {graph, PRODUCTS_SAMPLE, 1024, 10, "FeatBLAS levels", 1.5},                                              \
        {graph, PRODUCTS_SAMPLE, 1024, 15, "FeatBLAS levels", 1.5},                                          \
        {graph, PRODUCTS_SAMPLE, 1024, 20, "FeatBLAS levels", 1.5},                                          \
        {graph, PRODUCTS_SAMPLE, 4096, 15, "FeatBLAS levels", 0.95},                                         \
        {graph, PRODUCTS_SAMPLE, 10240, 10, "FeatBLAS levels", 0.95},                                        \
    {                                                                                                        \
        graph, PRODUCTS_SAMPLE, 10240, 20, "FeatBLAS levels", 0.95                                           \
    }
/* Beside the host, without a bar: nobody has measured what is to be had. */
#define PROGRAMS(graph)                                                                                      \
    {graph, PRODUCTS_RANKS, 1, 1, "FeatBLAS, host", 0},                                                      \
        {graph, PRODUCTS_LEVELS, 64, 1, "FeatBLAS, host", 0},                                                \
        {graph, PRODUCTS_LEVELS, 1, 1, "FeatBLAS, host", 0},                                                 \
        {graph, PRODUCTS_LENGTHS, 64, 1, "FeatBLAS, host", 0},                                               \
    {                                                                                                        \
        graph, PRODUCTS_LENGTHS, 1, 1, "FeatBLAS, host", 0                                                   \
    }
#define ALL(graph, staged) SUMS(graph), KIN(graph), EDGES(graph, staged)

static const products_case cases[] = {
    ALL("rand-100k", 0),     ALL("reddit-like", 2),    EPOCHS("reddit-like"),
    ALL("arxiv-like", 0),    EPOCHS("arxiv-like"),     ALL("proteins-like", 0),
    ALL("products-like", 0), SAMPLES("products-like"), {"movielens-20m", PRODUCTS_COUNT, 1, 1, NULL, 0.3},
    PROGRAMS("kron-20")};

const products_case *products_cases(int *count)
{
    *count = (int)(sizeof cases / sizeof *cases);
    return cases;
}

/* Benchmark graphs from a seed, the same bits on every machine: docs/generators.md has the formulas. */
#ifndef GEN_H
#define GEN_H

#include "featblas.h"

/* What a generator made: CSR arrays of its own. Columns ascend strictly in each row. */
typedef struct gen_graph {
    int64_t nrows, ncols, nvals;
    int64_t *rowptr; /* nrows + 1 */
    int32_t *colidx; /* nvals */
    float *values;   /* nvals, or NULL: pattern only */
} gen_graph;

typedef enum gen_values {
    GEN_PATTERN = 0, /* no values: every entry counts as 1 */
    GEN_RATINGS,     /* 0.5, 1.0, ... 5.0, as often as in MovieLens-20M */
    GEN_UNIFORM,     /* (0, 1), multiples of 2^-24 */
    GEN_COUNTS,      /* how often the edge was drawn; kinds made of drawn edges only */
    GEN_WEIGHTS      /* 1 to 255, whole; GAP's graphs only */
} gen_values;

/* What the kinds made of randomly drawn edges share. */
typedef struct gen_edges {
    int64_t count;  /* edges drawn; equal ones are merged, so that fewer entries may remain */
    bool symmetric; /* every edge also the other way round */
    bool loops;     /* keep edges from a vertex to itself */
    bool permute;   /* shuffle the vertices' numbers */
    gen_values values;
    const float *weight; /* GEN_WEIGHTS: of each edge drawn; of equal ones the least is kept */
} gen_edges;

/* Each row draws its columns without replacement, by a popularity; degrees are exact. */
typedef struct gen_bipartite {
    int64_t nrows, ncols, nvals;
    int64_t min_degree; /* of a row */
    bool uniform;       /* equal degrees and equal popularity, instead of skewed ones */
    gen_values values;
} gen_bipartite;

typedef struct gen_sbm {
    int64_t nvertices, nblocks;
    double mixing; /* share of the edges that leave their block, 0 to 1 */
    gen_edges edges;
} gen_sbm;

typedef struct gen_powerlaw {
    int64_t nvertices;
    double exponent; /* > 2: P(degree >= d) ~ d^(1 - exponent) */
    gen_edges edges;
} gen_powerlaw;

/* Both ends of an edge are drawn with the weight (rank + 1)^-exponent. */
typedef struct gen_chung_lu {
    int64_t nvertices;
    double exponent; /* 0 (all alike) to 1 */
    gen_edges edges;
} gen_chung_lu;

/* A square grid with a share of its edges; ids along its rows. */
typedef struct gen_road {
    int64_t nvertices;
    double mean_degree; /* 0 to 4, but for the grid's border */
    gen_values values;  /* not GEN_COUNTS */
} gen_road;
#define GEN_ROAD_DEGREE 2.4

typedef struct gen_rmat {
    int scale;      /* 2^scale vertices */
    double a, b, c; /* shares of the quadrants; d = 1 - a - b - c */
    gen_edges edges;
} gen_rmat;

/* A graph of the GAP benchmark suite: Kronecker, or uniform random. edges.permute means nothing: Kronecker
 * graphs are shuffled as GAP does it. Vertices end with the last that has an edge, also as in GAP. */
typedef struct gen_gap {
    int scale; /* 2^scale vertices to draw from */
    bool uniform;
    gen_edges edges;
} gen_gap;
#define GEN_GAP_SEED 27491095 /* which GAP has */

/* All fill *g, which is left untouched on failure; gen_error() then has the message. GrB_INVALID_VALUE or
 * GrB_OUT_OF_MEMORY. */
GrB_Info gen_make_movielens(gen_graph *g, uint64_t seed);
GrB_Info gen_make_rand100k(gen_graph *g, gen_values values, uint64_t seed);
GrB_Info gen_make_bipartite(gen_graph *g, const gen_bipartite *p, uint64_t seed);
GrB_Info gen_make_rmat(gen_graph *g, const gen_rmat *p, uint64_t seed);
GrB_Info gen_make_gap(gen_graph *g, const gen_gap *p, uint64_t seed);
GrB_Info gen_make_sbm(gen_graph *g, const gen_sbm *p, uint64_t seed);
GrB_Info gen_make_powerlaw(gen_graph *g, const gen_powerlaw *p, uint64_t seed);
GrB_Info gen_make_chung_lu(gen_graph *g, const gen_chung_lu *p, uint64_t seed);
GrB_Info gen_make_road(gen_graph *g, const gen_road *p, uint64_t seed);
/* "reddit-like", "proteins-like", "products-like", "arxiv-like" or "road-like"; nvertices 0: as many as its
 * model has, else scaled to so many, with the same mean degree. */
GrB_Info gen_make_like(gen_graph *g, const char *name, int64_t nvertices, gen_values values, uint64_t seed);
/* What that would be: vertices, and about how many entries. False: no such name. */
bool gen_like_size(const char *name, int64_t nvertices, int64_t *vertices, double *entries);

/* A matrix over the graph's arrays, which must outlive it. */
GrB_Info gen_matrix(FtB_Matrix *A, const gen_graph *g);
void gen_free(gen_graph *g);

/* Contextual stochastic block model: classes that edges and features both tell of (gen_csbm.c). */
typedef struct gen_csbm {
    int64_t nvertices, nclasses, nfeatures;
    double degree;     /* mean, of a vertex */
    double homophily;  /* h: an edge joins equal classes with probability (1 + (nclasses - 1) h) / nclasses */
    double mu, sigma;  /* a feature vector is its class's mean, of length mu, + sigma N(0, I) */
    double train, val; /* shares of the vertices; the rest is for testing */
    bool shuffled;     /* the edges join other vertices than they were drawn for: they tell nothing */
} gen_csbm;

/* Arrays of its own. Vertex v is of class v mod nclasses. */
typedef struct gen_labelled {
    gen_graph graph; /* both ways round, no values */
    int64_t nclasses, nfeatures;
    float *features;  /* nvertices x nfeatures, row by row */
    int32_t *labels;  /* nvertices */
    uint8_t *part[3]; /* masks of training, validation and test */
} gen_labelled;

GrB_Info gen_make_csbm(gen_labelled *s, const gen_csbm *p, uint64_t seed);
void gen_labelled_free(gen_labelled *s);
const char *gen_error(void);

/* ---- shared by the generators (gen_common.c) */

GrB_Info gen_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
GrB_Info gen_nomem(void);
/* Allocates rowptr and colidx (and values unless GEN_PATTERN) for `room` entries. */
GrB_Info gen_alloc(gen_graph *g, int64_t nrows, int64_t ncols, int64_t room, gen_values values);
/* Makes room for g->nvals entries where rows were counted first. */
GrB_Info gen_alloc_entries(gen_graph *g, gen_values values);
/* 0 .. count - 1 in random order. */
GrB_Info gen_permutation(int32_t **permutation, int64_t count, uint64_t seed, uint32_t stream);
void gen_fill_values(gen_graph *g, gen_values values, bool symmetric, uint64_t seed);

/* Draws 0 .. count - 1 in proportion to integer weights (gen_weighted.c). */
typedef struct gen_weighted {
    int64_t count;
    uint64_t total;
    uint64_t *sum;  /* count + 1: weights before each */
    int32_t *guide; /* 2^bits: where the search of a draw with these leading bits starts */
    int bits;
} gen_weighted;
GrB_Info gen_weighted_new(gen_weighted *w, int64_t count, const uint64_t *weights);
void gen_weighted_free(gen_weighted *w);
static inline int64_t gen_weighted_draw(const gen_weighted *w, uint64_t x)
{
    uint64_t at = (uint64_t)(((unsigned __int128)x * w->total) >> 64);
    int64_t r = w->guide[x >> (64 - w->bits)];
    while (w->sum[r + 1] <= at)
        r++;
    return r;
}
/* ln x and x^y for x > 0 from correctly rounded operations only; relative error below 1e-13. */
double gen_logarithm(double x);
double gen_power(double x, double y);
/* The standard normal number whose distribution function is (x + 1/2) / 2^32; error below 1e-12. */
double gen_normal(uint32_t x);

/* Fills each row with degree[i] distinct columns (gen_rows.c): drawn by `popularity` and renamed by
 * `name`, or uniformly when popularity is NULL. */
GrB_Info gen_rows(gen_graph *g, int64_t nrows, int64_t ncols, const int32_t *degree,
                  const gen_weighted *popularity, const int32_t *name, gen_values values, uint64_t seed);

/* The size and the number of edges are ones that gen_from_edges takes. */
GrB_Info gen_check_edges(int64_t nvertices, const gen_edges *edges);
/* Builds a graph from edges that are functions of their number (gen_edges.c). */
typedef void (*gen_edge_function)(const void *model, uint64_t seed, int64_t t, int64_t *i, int64_t *j);
GrB_Info gen_from_edges(gen_graph *g, int64_t nvertices, const gen_edges *edges, gen_edge_function edge,
                        const void *model, uint64_t seed);

#endif

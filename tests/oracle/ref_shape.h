/* What a graph's shape is, slowly and by the definitions: over all vertices, pairs and triples of a matrix of
 * what is there. */
#ifndef TESTS_REF_SHAPE_H
#define TESTS_REF_SHAPE_H

#include "featblas.h"

#include <stdbool.h>

/* Whether there is an entry (i, j): is[i * n + j]; and whether it is a loop's, (i, i). */
typedef struct ref_graph {
    int64_t n;
    bool *is, *loop;
} ref_graph;

ref_graph ref_graph_of(FtB_Matrix A); /* of few vertices */
void ref_graph_free(ref_graph *g);

int64_t ref_triangles(const ref_graph *g, int64_t *each); /* returns all */
/* LDBC Graphalytics, "local clustering coefficient"; undirected: of the graph that has all edges both ways.
 */
void ref_clustering(const ref_graph *g, bool undirected, double *coefficient);
/* Sums over pairs of a source and any vertex of the share of their shortest paths. */
void ref_betweenness(const ref_graph *g, const int64_t *sources, int64_t nsources, long double *sums);
/* LDBC Graphalytics, "community detection using label propagation". */
void ref_communities(const ref_graph *g, int64_t rounds, int64_t *label);
/* The most entries on a path to each vertex. false: there is a cycle. */
bool ref_levels(const ref_graph *g, int64_t *level);

#endif

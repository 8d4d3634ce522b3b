/* Graphs, made from a seed by the formulas of docs/generators.md: the same entries as `featblas gen NAME
 * --seed S`. */
#pragma once

#include "facts.cuh"

#include <cstdint>
#include <string>
#include <vector>

namespace facts
{

struct Graph {
    std::string name;
    int nrows = 0, ncols = 0;
    std::vector<int> rowptr, colidx; /* 32-bit offsets: every graph here has less than 2^31 entries */
    int64_t nvals() const { return static_cast<int64_t>(colidx.size()); }
};

/* The graphs that products with blocks are measured on, the most telling first. */
std::vector<std::string> graph_names();

/* By name: rand-100k, reddit-like, proteins-like, products-like, arxiv-like, movielens-20m. At toy size a
 * graph of the same kind with some hundred vertices. Read from options.graphs if it is there, else made and
 * kept. */
Graph load_graph(const std::string &name, const Options &options);

Graph transposed(const Graph &g);

/* `featblas gen`'s chung-lu with shuffled numbers, and rows of exact degree, at any size. */
Graph make_chung_lu(int64_t nvertices, int64_t edges, bool symmetric, uint64_t seed);
Graph make_rand(int nvertices, int every_fifth, int others, uint64_t seed);
Graph make_movielens(int nrows, int ncols, int64_t nvals, int min_degree, uint64_t seed);

struct DeviceGraph {
    explicit DeviceGraph(const Graph &g)
        : name(g.name), nrows(g.nrows), ncols(g.ncols), nvals(g.nvals()), rowptr(g.rowptr), colidx(g.colidx)
    {
    }
    std::string name;
    int nrows, ncols;
    int64_t nvals;
    Buffer<int> rowptr, colidx;
};

} // namespace facts

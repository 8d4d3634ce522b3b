/* What the programs that come with the library share: they are made of the public interface. */
#ifndef FTB_VERTEX_ALGORITHM_H
#define FTB_VERTEX_ALGORITHM_H

#include "core/core.h"
#include "featblas_vertex.h"

/* Refuses what is no n x n matrix. */
GrB_Info ftb_check_graph(FtB_Matrix A);
/* Refuses, by its name, an output that is no block of n x ncols of a type in `types`, a bit for each. */
GrB_Info ftb_check_result(FtB_Block X, const char *name, FtB_Matrix A, int64_t ncols, unsigned types);
#define FTB_TYPE_BIT(type) (1U << (unsigned)(type))
/* X, of one column, becomes these values. */
GrB_Info ftb_set_column(FtB_Block X, const void *values, FtB_Type type);
/* What programs of a graph's shape look at: A's pattern without loops and parallel entries, to be released.
 * Refuses 2^31 vertices and more. */
GrB_Info ftb_simple_graph(ftb_pattern **simple, FtB_Context ctx, FtB_Matrix A);
GrB_Info ftb_check_sources(FtB_Matrix A, const int64_t *sources, int64_t nsources);
/* All of X becomes `value`, then row sources[c] of column c `at_source`, or, with `own`, the source. */
GrB_Info ftb_set_sources(FtB_Block X, double value, double at_source, bool own, const int64_t *sources,
                         int64_t count);
/* The caller's options, but that `start` is the sources; no supersteps yet. */
GrB_Info ftb_start_at(FtB_Run_options *o, const FtB_Run_options *given, const int64_t *sources, int64_t count,
                      const char *call);

/* A vertex of a cycle that leads from v to before[v]; -1: there is none. mark: room for n. (cycle.c) */
int64_t ftb_find_cycle(const int64_t *before, int64_t *mark, int64_t n);
/* The cycle that v is on, the way round that edges lead, from its least vertex on. */
enum { FTB_CYCLE_TEXT = 640 };
void ftb_put_cycle(char text[FTB_CYCLE_TEXT], const int64_t *before, int64_t v);

/* A cycle of negative length among the edges that lead on from what is finite in column c of dist, as text;
 * "" if `passes` over the graph found none. (negative_cycle.c) */
GrB_Info ftb_negative_cycle(char **text, FtB_Matrix A, FtB_Block dist, int64_t c, double passes);

#endif

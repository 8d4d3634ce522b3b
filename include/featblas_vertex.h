/*
 * FeatBLAS for vertex programs: GraphMat's model, a program of a few texts that runs over all vertices at
 * once, superstep after superstep, until nothing changes.
 *
 * In a superstep every active vertex sends a message, which goes along its edges; what arrives at a vertex is
 * reduced by a semiring; vertices apply the result to their state; and those that changed are active in the
 * next.
 *
 *     FtB_Program_new(&sssp, FTB_PROGRAM(.send = "dist", .combine = "min : message + edge",
 *                                        .apply = "dist = min(dist, received)"));
 *     FtB_run(sssp, A, FTB_STATE("dist", D), NULL);
 *
 * The state is blocks that have names, a row per vertex; several columns are vectors: with k sources side by
 * side one run computes what k runs would. A superstep of few active vertices takes work and memory in
 * proportion to their edges. Bits depend on program, graph and state, not on threads, the memory limit, or
 * the way that a superstep is done.
 *
 * Sundaram et al., "GraphMat: high performance graph analytics made productive", VLDB 2015.
 * docs/vertex-programs.md.
 */
#ifndef FEATBLAS_VERTEX_H
#define FEATBLAS_VERTEX_H

#include "featblas.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct FtB_Program_opaque *FtB_Program; /**< a vertex program: texts that were read */
typedef struct FtB_Run_opaque *FtB_Run;         /**< a program on its way over a graph */

/** Along which edges messages go. */
typedef enum FtB_Direction {
    FTB_OUT = 0, /**< from i to j where A has (i, j) */
    FTB_IN,      /**< from j to i */
    FTB_BOTH     /**< both: of a pair that has (i, j) and (j, i), two messages each way */
} FtB_Direction;

/** Which vertices apply. */
typedef enum FtB_Appliers {
    FTB_APPLY_DEFAULT =
        0,               /**< receivers, where the reducer is idempotent (min, max, or, and, any); else all */
    FTB_APPLY_RECEIVERS, /**< those that receive a message */
    FTB_APPLY_ALL        /**< all: who receives none has the reducer's identity as `received` */
} FtB_Appliers;

/** How a superstep is done. */
typedef enum FtB_Way {
    FTB_WAY_AUTO = 0, /**< what is predicted to take less */
    FTB_WAY_PUSH,     /**< from a list of the active vertices, along their edges */
    FTB_WAY_PULL,     /**< over the edges of all destinations, from those that are active */
    FTB_WAY_ALL,      /**< every vertex is active: a product of the whole graph */
    FTB_WAY_SLICES,   /**< the same, slice by slice of the receivers, of which the values stay in L1 while all
                         that is sent goes by in order; of up to 16 bytes of values a vertex */
    FTB_WAY_WHOLE     /**< told, not asked for: the run was done at once, by an algorithm for its texts */
} FtB_Way;

/** The texts of a program; made by FTB_PROGRAM(.send = "dist", ...). docs/semirings.md is their language;
 * docs/vertex-programs.md says which names each knows. */
typedef struct FtB_Program_texts {
    size_t size;           /**< set by the macro */
    const char *send;      /**< the message of a vertex, over its state */
    const char *combine;   /**< "reducer : text" over message, edge and dst.FIELD, the receiver's state */
    FtB_Semiring semiring; /**< or a semiring in its place, also of a C function; it is copied */
    const char *apply;     /**< "FIELD = text; ..." over received and the old state: what changes */
    const char *active; /**< who sends next, of those that applied, over new.FIELD, old.FIELD, changed; NULL:
                           "changed", or "true" where a message sent twice counts twice (plus, times, xor) */
    const char
        *until; /**< ends the run where it is true, such as "sum(abs(new.rank - old.rank)) < 1e-6"; NULL */
    int64_t rounds;          /**< supersteps at most; 0: any */
    FtB_Direction direction; /**< along which edges */
    FtB_Appliers applies;    /**< which vertices apply */
    const char *settled;  /**< who takes no messages any more and applies nothing, such as "level >= 0", over
                             the state before the superstep; of several columns: where it is true of all. NULL:
                             nobody */
    const char *priority; /**< who sends first: of the active vertices only those of the lowest bucket do,
                             over the state as it is when a vertex becomes active, as `send` knows it, such as
                             "dist"; the others wait. Of several columns the least counts; NaN is last. NULL:
                             all send at once */
    double delta;         /**< the width of a bucket of priority, more than 0: its number is priority / delta,
                             rounded down */
} FtB_Program_texts;

/** Reads the texts of a program. Syntax, and names that no text may use, are refused here; what depends on
 * the state where it is run.
 *  @param[out] program the new one, NULL on failure. @param texts copied.
 *  @return GrB_NULL_POINTER, GrB_INVALID_VALUE (the message names the text and the column),
 * GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_Program_new(FtB_Program *program, const FtB_Program_texts *texts);

/** Releases a program; runs of it go on. @param[in,out] program set to NULL. @return GrB_SUCCESS. */
GrB_Info FtB_Program_free(FtB_Program *program);

/** The state of a run: names, and what they stand for; made by FTB_STATE("dist", D) or, of several,
 *  FTB_STATE("level", L, "parent", P). */
typedef struct FtB_States {
    const FtB_Binding
        *at;      /**< the first: an FtB_Block of a row per vertex; of one row, or a number: a constant */
    size_t count; /**< how many */
} FtB_States;

/** Options of runs; made by FTB_RUN_OPTIONS(.start = ids). Zero means the default. */
typedef struct FtB_Run_options {
    size_t size;         /**< set by the macro */
    FtB_Ids start;       /**< who sends in the first superstep, in any order; at NULL: all vertices */
    int64_t rounds;      /**< supersteps at most, beside the program's own; 0: any */
    FtB_Way way;         /**< taken where it can be; FTB_WAY_ALL, _SLICES: wherever all are active */
    FILE *explain;       /**< gets a line for every superstep; NULL: nobody wants to know */
    int64_t *supersteps; /**< [out] of FtB_run: how many there were; may be NULL */
    FtB_Vector frontier; /**< in place of start, a vector of n places: who has an entry there sends in the
                            first superstep, whatever its value; it is read once. NULL */
} FtB_Run_options;

/** What a superstep was. */
typedef struct FtB_Superstep {
    int64_t round;     /**< its number, from 1; 0: there was none yet */
    int64_t active;    /**< vertices that sent */
    int64_t edges;     /**< of theirs, along which messages go, whether they are looked at or not */
    int64_t applied;   /**< vertices that applied */
    int64_t next;      /**< that are active from now on */
    FtB_Way way;       /**< how it was done */
    double seconds;    /**< that it took */
    const char *loop;  /**< over the edges: "first", where the first message of a receiver decides and the
                          others are not looked at; "plain", of messages that are what was sent, or that
                          and the edge's value; "bits", of a search whose columns are bits, which counts as
                          `applied` those that something was new for; "text", of any program; "whole", where
                          the way is; "device", where one did all of it; "" before the first superstep */
    const char *where; /**< "host", or the name of the device that did it, as FtB_Context_set_device takes it;
                          "" before the first superstep */
} FtB_Superstep;

/** Runs a program until no vertex is active, its `until` is true, or its rounds are over. The state is that
 * of the last superstep that was completed, also on failure.
 *  @param program any. @param A n x n; an entry of width w is a vector, of width 0 it is 1. @param states all
 * names that the texts use; fields that apply changes must be writable and share no memory with others.
 *  @param options NULL for the defaults.
 *  @return GrB_NULL_POINTER, GrB_INVALID_VALUE (a name, or a run that could not end), GrB_DIMENSION_MISMATCH,
 *  GrB_DOMAIN_MISMATCH, GrB_INDEX_OUT_OF_BOUNDS (a vertex of start), GrB_OUT_OF_MEMORY, FTB_LIMIT,
 *  FTB_CANCELLED. */
GrB_Info FtB_run(FtB_Program program, FtB_Matrix A, FtB_States states, const FtB_Run_options *options);

/** The same, superstep by superstep: prepares the first. The caller may read the state in between, and write
 * it (FtB_Block_changed says so).
 *  @param[out] run the new one, NULL on failure. @param program any, which may be freed. @param A referenced;
 * its values may change in between. @param states referenced. @param options as of FtB_run. @return as
 * FtB_run. */
GrB_Info FtB_Run_new(FtB_Run *run, FtB_Program program, FtB_Matrix A, FtB_States states,
                     const FtB_Run_options *options);

/** Does a superstep, if there is one. @param run any. @param[out] more whether there is another.
 *  @return as FtB_run; after a failure the same superstep may be tried again. */
GrB_Info FtB_Run_step(FtB_Run run, bool *more);

/** The last superstep. @param run any. @param[out] about figures. @return GrB_NULL_POINTER. */
GrB_Info FtB_Run_about(FtB_Run run, FtB_Superstep *about);

/** Releases a run. @param[in,out] run set to NULL. @return GrB_SUCCESS. */
GrB_Info FtB_Run_free(FtB_Run *run);

/* ----------------------------------------------------------------------------------- spelling */

#define FTB_PROGRAM(...) FTB_OPTIONS_OF(FtB_Program_texts, __VA_ARGS__)
#define FTB_RUN_OPTIONS(...) FTB_OPTIONS_OF(FtB_Run_options, __VA_ARGS__)

/* FTB_STATE(name, x, ...): up to six pairs. */
#define FTB_STATE_2(n, x) FTB_BIND(n, x)
#define FTB_STATE_4(n, x, ...) FTB_BIND(n, x), FTB_STATE_2(__VA_ARGS__)
#define FTB_STATE_6(n, x, ...) FTB_BIND(n, x), FTB_STATE_4(__VA_ARGS__)
#define FTB_STATE_8(n, x, ...) FTB_BIND(n, x), FTB_STATE_6(__VA_ARGS__)
#define FTB_STATE_10(n, x, ...) FTB_BIND(n, x), FTB_STATE_8(__VA_ARGS__)
#define FTB_STATE_12(n, x, ...) FTB_BIND(n, x), FTB_STATE_10(__VA_ARGS__)
#define FTB_STATE_OF(a, b, c, d, e, f, g, h, i, j, k, l, name, ...) name
#define FTB_STATE_LIST(...)                                                                                  \
    FTB_STATE_OF(__VA_ARGS__, FTB_STATE_12, , FTB_STATE_10, , FTB_STATE_8, , FTB_STATE_6, , FTB_STATE_4, ,   \
                 FTB_STATE_2, , )                                                                            \
    (__VA_ARGS__)
#ifdef __cplusplus
} /* extern "C" */
/* The list lives until the end of the call that it stands in. */
static inline FtB_States FtB_states(std::initializer_list<FtB_Binding> list)
{
    FtB_States states;
    states.at = list.begin();
    states.count = list.size();
    return states;
}
#define FTB_STATE(...) FtB_states({FTB_STATE_LIST(__VA_ARGS__)})
#else
#define FTB_STATE(...)                                                                                       \
    ((FtB_States){((const FtB_Binding[]){FTB_STATE_LIST(__VA_ARGS__)}),                                      \
                  sizeof((const FtB_Binding[]){FTB_STATE_LIST(__VA_ARGS__)}) / sizeof(FtB_Binding)})
#endif

#include "featblas/algorithms.h"

#include "featblas/factorize.h"

#endif

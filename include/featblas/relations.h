/* Graphs of several types of vertices and relations between them. Part of featblas.h; docs/sampling.md. */
#ifndef FEATBLAS_RELATIONS_H
#define FEATBLAS_RELATIONS_H

#ifndef FEATBLAS_H
#error "include <featblas.h>, which brings this file in its order"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** A list of relations {name, source type, destination type, matrix}, with features of each type. */
typedef struct FtB_Relations_opaque *FtB_Relations;

/** An empty list. @param[out] relations the new object; NULL on failure. @return GrB_OUT_OF_MEMORY. */
GrB_Info FtB_Relations_new(FtB_Relations *relations);

/** Releases it. @param[in,out] relations set to NULL. @return GrB_SUCCESS. */
GrB_Info FtB_Relations_free(FtB_Relations *relations);

/** Adds a relation, whose number is how many there were; types are numbered as they first come, a relation's
 * destination before its source. @param relations the list. @param name such as "writes"; a name may come
 * again between other types. @param source the type of columns. @param destination the type of rows. @param A
 * row i has what vertex i of the destination aggregates. Its content as it is now is kept, and shared: who
 * writes its values says FtB_Matrix_changed. @return GrB_DIMENSION_MISMATCH (a type has another number of
 * vertices), GrB_INVALID_VALUE (the three names are there), GrB_NULL_POINTER, GrB_OUT_OF_MEMORY. */
GrB_Info FtB_Relations_add(FtB_Relations relations, const char *name, const char *source,
                           const char *destination, FtB_Matrix A);

/** Gives a type its features, in place of those before. @param relations the list. @param type one that a
 * relation has. @param X a row for each of its vertices, whose memory is shared; NULL: none. @return
 * GrB_INVALID_VALUE (no such type), GrB_DIMENSION_MISMATCH, GrB_OUT_OF_MEMORY. */
GrB_Info FtB_Relations_set_features(FtB_Relations relations, const char *type, FtB_Block X);

/** How many relations there are. @param relations the list. @return 0 for NULL. */
int FtB_Relations_count(FtB_Relations relations);
/** How many types. @param relations the list. @return 0 for NULL. */
int FtB_Relations_types(FtB_Relations relations);

/** What a relation is. @param relations the list. @param relation its number. @param[out] name @param[out]
 * source
 * @param[out] destination the list's own texts, @param[out] A its own matrix; each may be NULL.
 *  @return GrB_INVALID_INDEX. */
GrB_Info FtB_Relations_get(FtB_Relations relations, int relation, const char **name, const char **source,
                           const char **destination, FtB_Matrix *A);

/** What a type is. @param relations the list. @param type its number. @param[out] name the list's own text,
 * @param[out] count how many vertices, @param[out] X its features, the list's own block, NULL: none; each may
 * be NULL. @return GrB_INVALID_INDEX. */
GrB_Info FtB_Relations_type(FtB_Relations relations, int type, const char **name, int64_t *count,
                            FtB_Block *X);

/** The number of a type. @param relations the list. @param name its name. @return -1: there is none. */
int FtB_Relations_type_of(FtB_Relations relations, const char *name);

typedef struct FtB_Relation_sample_opaque *FtB_Relation_sample; /**< what FtB_Relations_sample drew */

/** Draws neighbourhoods over all relations, as FtB_sample does over one matrix: hop h picks of relation r
 * fanouts[r * nhops + h] entries of each row whose vertex was found so far. Vertices have numbers by type:
 * seeds in their order, then what each hop found by any relation, ascending. A relation's draws are those of
 * a key of its own, but for the first; one relation of a type with itself gives what FtB_sample gives. Lists
 * that have to do with entries or with seeds have those of all relations, or of all types, one after the
 * other, in their order.
 *  @param[out] sample the new object; NULL on failure. @param relations the list. @param seeds for each type,
 * in order. @param fanouts a number for each relation and hop; -1: all, 0: none. @param nhops how many.
 * @param options NULL for the defaults. `times`: of the relations' entries, those of relation r behind those
 * of the ones before it; `exclude`: places in that list; `until`: of the seeds of all types. `reverses`: of
 * excluded entries, which are then of relations from a type to itself. `self`: in relations from a type to
 * itself. `disjoint`: trees of all seeds, numbered through. `key` and `key_op` are for all relations.
 * @return as FtB_sample; GrB_NOT_IMPLEMENTED for induced, stack and plan. */
GrB_Info FtB_Relations_sample(FtB_Relation_sample *sample, FtB_Relations relations, const FtB_Ids *seeds,
                              const int64_t *fanouts, int nhops, const FtB_Sample_options *options);

/** Releases a sample. @param[in,out] sample set to NULL. @return GrB_SUCCESS. */
GrB_Info FtB_Relation_sample_free(FtB_Relation_sample *sample);

/** What a hop picked of a relation: row r is vertex r of the destinations found before the hop, column c
 * vertex c of the sources found with it. @param sample the sample. @param relation which. @param hop which.
 *  @return the sample's own matrix; NULL if there is no such one. */
FtB_Matrix FtB_Relation_sample_layer(FtB_Relation_sample sample, int relation, int hop);

/** Places in the relation's matrix of the layer's entries. @param sample made with .edges. @param relation
 * which. @param hop which. @return empty if they were not wanted. */
FtB_Ids FtB_Relation_sample_edges(FtB_Relation_sample sample, int relation, int hop);

/** The vertices of a type. @param sample the sample. @param type which. @return their numbers in the
 * relations' matrices. */
FtB_Ids FtB_Relation_sample_vertices(FtB_Relation_sample sample, int type);

/** Each vertex's tree, the place of its seed among those of all types. @param sample made with .disjoint.
 * @param type which. @return as many as there are vertices of the type; NULL without. */
const int32_t *FtB_Relation_sample_trees(FtB_Relation_sample sample, int type);

/** How many vertices of a type are new: the seeds, then for each hop. @param sample the sample. @param type
 * which. @return nhops + 1 numbers. */
FtB_Ids FtB_Relation_sample_vertex_counts(FtB_Relation_sample sample, int type);

/** How many entries each hop picked of a relation. @param sample the sample. @param relation which. @return
 * nhops numbers. */
FtB_Ids FtB_Relation_sample_edge_counts(FtB_Relation_sample sample, int relation);

#ifdef __cplusplus
}
#endif

#endif

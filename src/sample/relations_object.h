/* Relations between types of vertices, and what is sampled over them. */
#ifndef FTB_RELATIONS_H
#define FTB_RELATIONS_H

#include "core/core.h"

#define FTB_MAGIC_RELATIONS 0x46544272
#define FTB_MAGIC_RELATION_SAMPLE 0x46544252

typedef struct ftb_relation {
    char *name;
    int source, destination; /* types */
    FtB_Matrix A;            /* a handle of our own */
} ftb_relation;

typedef struct ftb_vertex_type {
    char *name;
    int64_t count; /* of its vertices */
    FtB_Block X;   /* a handle of our own; NULL: none */
} ftb_vertex_type;

struct FtB_Relations_opaque {
    uint32_t magic;
    FtB_Context ctx;
    int nrelations, ntypes;
    ftb_relation *relation;
    ftb_vertex_type *type;
};

/* A relation's share of a sample: its hops. */
typedef struct ftb_relation_hops {
    FtB_Matrix *layer;
    int64_t **edges; /* NULL where they are not kept */
    int64_t *picked;
} ftb_relation_hops;

typedef struct ftb_type_vertices {
    int64_t *vertices, count;
    int64_t *found; /* nhops + 1 */
    int32_t *trees; /* NULL: one */
} ftb_type_vertices;

struct FtB_Relation_sample_opaque {
    uint32_t magic;
    FtB_Context ctx;
    int nrelations, ntypes, nhops;
    ftb_relation_hops *relation;
    ftb_type_vertices *type;
};

GrB_Info ftb_relations_check(FtB_Relations relations);

#endif

/* How a superstep of a vertex program is done (rule_vertex.c). */
#ifndef FTB_VERTEX_PLAN_H
#define FTB_VERTEX_PLAN_H

#include "featblas_vertex.h"

typedef struct ftb_vertex_facts {
    int64_t n;
    int64_t nvals; /* that a pull looks through: of the graph, in both directions together where both count */
    int64_t active, edges; /* of this superstep */
    int threads;
    bool may_push;  /* words have room for a vertex and a message */
    bool pull_made; /* the patterns that a pull walks are there */
    double missed;  /* else nanoseconds that they would have saved so far */
    bool all;       /* every vertex is active */
    bool any_way;   /* then, too, bits are the same whatever is chosen */
    bool first;     /* a receiver's first message decides: a pull looks no further, and `all` says nothing */
    bool bits;      /* a search from several sources, a word each */
    bool words;     /* whose supersteps have no parents to write */
    bool plain;     /* messages that loops know */
    bool far;       /* a pull finds the values of edges all over the graph */
    int64_t open, left; /* vertices that may still receive, and their entries, more or less */
    FtB_Way wanted;     /* FTB_WAY_AUTO: none */
} ftb_vertex_facts;

/* Nanoseconds of the two, and of a pattern's transpose. */
typedef struct ftb_vertex_costs {
    double push, pull, transpose;
} ftb_vertex_costs;
ftb_vertex_costs ftb_vertex_costs_of(const ftb_vertex_facts *facts);

/* Where the state is, and what moves to have it elsewhere. */
typedef struct ftb_vertex_place {
    bool there;    /* on the device */
    int64_t state; /* bytes of the fields that change */
    int64_t entry; /* bytes that an entry takes there */
    double rate;   /* bytes a second that copies move; 0: not known */
} ftb_vertex_place;

/* Whether a device does the superstep. *lost: nanoseconds that it would have saved to be elsewhere, of this
 * stay; 0 at first. */
bool ftb_rule_vertex_there(const ftb_vertex_facts *facts, const ftb_vertex_place *place, double *lost);

/* *missed: nanoseconds that a pull would save if the patterns were there for which it was not chosen. */
FtB_Way ftb_rule_vertex(const ftb_vertex_facts *facts, double *missed);

#endif

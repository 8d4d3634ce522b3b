/* Messages along the entries of a matrix that meet those of a vector, reduced where they arrive, on the host:
 * by the push and the pull of vertex programs. */
#ifndef FTB_MXV_RUN_H
#define FTB_MXV_RUN_H

#include "core/vector/vector_forms.h"
#include "cpu/vertex/vertex_work.h"

/* A message without heads, of one value. Its rows are receivers, its columns senders, its entries the
 * matrix's; "src" is the vector. */
typedef struct ftb_mxv_product {
    FtB_Context ctx;
    const ftb_message *m;
    int64_t receivers, senders;
    const ftb_vector *u;    /* of as many places as there are senders */
    bool push;              /* the edges' rows are senders, else receivers */
    bool first;             /* of each receiver the first message decides */
    ftb_vertex_plain plain; /* or it is one that loops know, over */
    const void *values;     /* those of the matrix; NULL: no message reads them */
    ftb_vertex_edges edges; /* one pattern */
    /* Receivers that are not admitted may be left out, in a pull. */
    const ftb_vector *mask; /* NULL: there is none */
    ftb_mask admits;        /* with a mask */
    bool complement;
    int threads;
} ftb_mxv_product;

/* *T: a list, of the type that messages are reduced in. Its bits do not depend on `push`. */
GrB_Info ftb_mxv_run(ftb_vector *T, const ftb_mxv_product *p);
/* Of a pattern whose rows are senders: how many entries the vector meets. */
int64_t ftb_mxv_edges(FtB_Context ctx, const ftb_pattern *by_sender, const ftb_vector *u);
bool ftb_mxv_may_push(int64_t receivers, int64_t edges);

/* Around a product of all rows. list: the places that a mask admits; room for those that it lists, or, unless
 * it is a list, for all. Returns how many. A list is not complemented. */
int64_t ftb_mxv_admitted(int64_t *list, const ftb_vector *M, const ftb_mask *mask, bool complement);
/* A bitmap's entries: the rows that have some, of `count` that are listed, or (NULL) of all. */
void ftb_mxv_mark(ftb_vector *T, const ftb_pattern *rows, const int64_t *list, int64_t count);

#endif

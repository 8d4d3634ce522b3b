/* Ids of an edge list to consecutive numbers. */
#ifndef FTB_INTERN_H
#define FTB_INTERN_H

#include "core/core.h"

/* Texts, numbered in the order of their first appearance. */
typedef struct ftb_intern {
    FtB_Context ctx;
    uint64_t seed;  /* of the hash, so that no file can be made that collides everywhere */
    uint64_t *hash; /* by slot */
    int64_t *code;  /* by slot: number + 1, 0: free */
    int64_t nslots; /* a power of two */
    int64_t count, room;
    int64_t *offset; /* count + 1, into bytes */
    char *bytes;
    int64_t bytes_room;
} ftb_intern;

/* Room for `count` more texts of `bytes` in all. */
GrB_Info ftb_intern_reserve(ftb_intern *t, int64_t count, int64_t bytes);
/* The number of a text; there must be room. Does not allocate. */
int64_t ftb_intern_add(ftb_intern *t, const char *text, int64_t length);
/* The texts as labels; the table is left empty. */
GrB_Info ftb_intern_labels(FtB_Labels *labels, ftb_intern *t);
void ftb_intern_clear(ftb_intern *t);

/* Replaces each of ids[count] by its rank among the distinct ones; *distinct: how many those are, and
 * *labels, unless it is NULL: their decimal texts. */
GrB_Info ftb_rank_integers(FtB_Context ctx, int64_t *ids, int64_t count, int64_t *distinct,
                           FtB_Labels *labels);

#endif

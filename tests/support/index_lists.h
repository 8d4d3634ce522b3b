/* Lists of rows, columns and places for tests of extract and assign. */
#ifndef TESTS_INDEX_LISTS_H
#define TESTS_INDEX_LISTS_H

#include <GraphBLAS.h>

#include "support/rng.h"

typedef struct index_list {
    int64_t *at; /* NULL: all, `count` of them */
    int64_t count;
    FtB_Arg arg;
    GrB_Index *grb; /* GrB_ALL, or the same */
} index_list;

/* Of numbers below `extent`: all, or `most` at most, ascending or not, repeated or (`once`) not. */
index_list some_list(rng *r, int64_t extent, int64_t most, bool once);
static inline int64_t listed(const index_list *list, int64_t t) { return list->at ? list->at[t] : t; }
void free_list(index_list *list);

#endif

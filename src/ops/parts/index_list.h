/* Lists of rows, columns and places, as extract and assign take them. */
#ifndef FTB_INDEX_LIST_H
#define FTB_INDEX_LIST_H

#include "core/core.h"

typedef struct ftb_index_list {
    const int64_t *at;     /* the caller's; NULL: all */
    int64_t count;         /* of all, how many there are */
    const int64_t *sorted; /* ascending */
    const int64_t *from; /* where each of them stands in the list, equal ones in its order; NULL: the same */
    int64_t *own[2];
} ftb_index_list;

/* An FtB_Ids of numbers below `extent`, or an empty slot: all of them. ftb_index_list_clear must follow, on
 * failure, too. */
GrB_Info ftb_index_list_take(ftb_index_list *list, FtB_Context ctx, FtB_Arg arg, const char *name,
                             int64_t extent);
/* Refuses a number that is there twice. */
GrB_Info ftb_index_list_once(const ftb_index_list *list, const char *name);
void ftb_index_list_clear(ftb_index_list *list);

#endif

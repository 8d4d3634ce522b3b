/* Messages whose parts that depend on one endpoint were computed once per vertex: what rewrite.h finds, done.
 */
#ifndef FTB_HOIST_H
#define FTB_HOIST_H

#include "expr/rewrite.h"

struct ftb_backend;

typedef struct ftb_hoisted {
    ftb_rewritten rewritten;
    ftb_message core; /* the message's feeds, which it does not own, and after them npre of its own */
    int npre;
    ftb_message_type type; /* of the core */
} ftb_hoisted;

/* reduce, arg: as for ftb_rewrite. types_only: parts are of no rows, for their types. device: may compute
 * parts; NULL: the host does. On failure, too, ftb_hoist_clear() is wanted. */
GrB_Info ftb_hoist(ftb_hoisted *h, const ftb_message *m, const ftb_pattern *p, bool reduce, bool arg,
                   bool types_only, const struct ftb_backend *device);
void ftb_hoist_clear(ftb_hoisted *h);
#endif

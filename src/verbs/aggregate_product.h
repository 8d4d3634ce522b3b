/* Messages of any text, reduced into rows: what the verb `aggregate` computes. */
#ifndef FTB_AGGREGATE_PRODUCT_H
#define FTB_AGGREGATE_PRODUCT_H

#include "expr/message.h"

/* T(i,:) = reduce over the entries of row i of p of m: heads x width values. What its feeds are indexed by
 * (at, degrees) is the host's, as are the data of those without an owner, one value for all; it is no C
 * function. Of whole blocks, right of @, the feeds' data are asked for like any other's. Rows without entries
 * become 0.
 */
typedef struct ftb_aggregate_product {
    const ftb_message *m;
    ftb_pattern *p;
    void *out; /* row i at out + i * ldo, of the type that m reduces to */
    int64_t ldo;
    bool add;  /* rows with entries are added to out, the others stay; m is a sum */
    void *won; /* INT64, row i at won + i * ldwon: the entries of p that won, -1 for none; m is a least or
                  greatest. NULL: not wanted */
    int64_t ldwon;
} ftb_aggregate_product;

#endif

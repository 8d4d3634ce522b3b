/* Connected components: what the verb `components` computes. */
#ifndef FTB_COMPONENTS_PRODUCT_H
#define FTB_COMPONENTS_PRODUCT_H

#include "core/core.h"

/* labels(v) = the least of the labels of the vertices that v is connected with, along entries in either
 * direction. */
typedef struct ftb_components_product {
    FtB_Context ctx;
    ftb_pattern *p; /* n x n, of narrow columns */
    void *labels;   /* a row each */
    FtB_Type type;  /* INT32 or INT64 */
    int64_t ld;
} ftb_components_product;

#endif

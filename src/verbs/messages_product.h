/* Messages of any text, kept for the entries: what the verb `messages` computes. */
#ifndef FTB_MESSAGES_PRODUCT_H
#define FTB_MESSAGES_PRODUCT_H

#include "expr/message.h"

/* out(e,:) = m, for the entries e of p. A device is asked for feeds as ftb_aggregate_product has them. */
typedef struct ftb_messages_product {
    const ftb_message *m;
    ftb_pattern *p;
    void *out;          /* nvals x (heads * width), of the type of m */
    bool interruptible; /* out is scratch: what was begun may be left */
} ftb_messages_product;

#endif

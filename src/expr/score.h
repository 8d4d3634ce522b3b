/* Messages on edges that kernels know. */
#ifndef FTB_SCORE_H
#define FTB_SCORE_H

#include "expr/message.h"

typedef enum ftb_score_kind {
    FTB_SCORE_ANY, /* none of the below: the program runs */
    FTB_SCORE_DOT, /* scale * dot(x, y) */
    FTB_SCORE_ADD  /* x + y, or leaky_relu(x + y, slope), of one value per head */
} ftb_score_kind;

typedef struct ftb_score {
    ftb_score_kind kind;
    const ftb_feed *x, *y; /* of the message: of sides COL and ROW */
    double scale;
    double slope; /* 1: no leaky_relu */
} ftb_score;

/* The form of a message whose type is `type`; feeds point into m. */
ftb_score ftb_score_of(const ftb_message *m, const ftb_message_type *type);

#endif

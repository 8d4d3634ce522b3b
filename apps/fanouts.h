/* Picks of each hop as options have them: "15,10,5", "all". */
#ifndef APP_FANOUTS_H
#define APP_FANOUTS_H

#include <stdint.h>

enum { FANOUTS = 16 }; /* hops, at most */
/* What options call the selectors, in the order of FtB_Selector. */
#define FANOUTS_SAMPLERS "auto|uniform|weighted|topk|threshold|bernoulli|labor|fastgcn|ladies"

/* Reads a list into fanouts[0 .. *count - 1], all: -1. `name` begins messages: "--fanout". Returns an exit
 * code. */
int fanouts_parse(int64_t fanouts[FANOUTS], int *count, const char *name, const char *text);

#endif

/* A device whose verbs are slow and obvious: loops in double precision over what a product says, and nothing
 * else. It shows that products say all that there is to know, and that the host computes what they say. Its
 * memory lies apart from the host's. Texts run in the library's interpreter, which has an oracle of its own
 * (ref_expr.h).
 *
 * FEATBLAS_PRETEND=oracle in the environment places the work of any test on it. */
#ifndef TESTS_ORACLE_REF_DEVICE_H
#define TESTS_ORACLE_REF_DEVICE_H

#include "core/backend.h"
#include "verbs/verbs.h"

extern const ftb_backend ref_device;
extern const ftb_verbs ref_verbs; /* ref_verbs.c */

void ref_device_begin(void); /* adds it to the table, and places the default context's work on it */
void ref_device_end(void);

#endif

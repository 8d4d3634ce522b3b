/* The table of backends. */
#ifndef FTB_BACKENDS_H
#define FTB_BACKENDS_H

#include "core/backend.h"

/* Row n, the host's first; NULL behind the last. */
const ftb_backend *ftb_backend_at(int n);
/* A row of tests, which stays until it is taken out again. */
void ftb_backend_add(const ftb_backend *b);
void ftb_backend_remove(const ftb_backend *b);

#endif

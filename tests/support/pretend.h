/* A device that does not exist: its memory is mapped twice, at a public address that nothing can read, which
 * is what the library is given, and at one that only its verbs know, which run the host's own kernels there.
 * Copies to it are late: they are done when somebody waits, or now and then (of a seed). Memory of the host
 * that is no longer valid is spoiled. So every bit is the host's, and who reads a device's memory as if it
 * were the host's, does not ask, or does not say what it changed, is found out.
 *
 * FEATBLAS_PRETEND=seed in the environment places the work of any test on it, 7full on one that often has no
 * room; FEATBLAS_PRETEND=oracle on another one (oracle/ref_device.h), FEATBLAS_PRETEND=gpu on the driver's
 * first GPU. */
#ifndef TESTS_PRETEND_H
#define TESTS_PRETEND_H

#include "core/backend.h"

#define PRETEND_RATE 1e9 /* bytes a second that its copies are said to move */
extern const ftb_backend pretend_device;

void pretend_begin(uint64_t seed); /* adds it to the table, and places the default context's work on it */
void pretend_end(void);
/* The same around a test of cmocka. */
int pretend_setup(void **nothing);
int pretend_teardown(void **nothing);
/* Makes the device's copy of b the only valid one. NULL is allowed. */
void pretend_send(ftb_buffer *b);
/* A pattern as it is on the device, for its verbs: to be released; NULL on failure, and of NULL. */
ftb_pattern *pretend_pattern(ftb_pattern *p);
/* What the device holds where the library knows it as `device`. */
const void *pretend_memory(const void *device);
void pretend_fill(bool on);     /* from now on one allocation in three fails, or none does */
int64_t pretend_refusals(void); /* those that did */
int64_t pretend_pending(void);  /* copies that are not done yet */
int64_t pretend_products(void); /* verbs that it ran */
/* What FtB_Context_moved says of the default context, without the patterns, which go there once each. */
void pretend_moved(int64_t *home, int64_t *away);

/* For its verbs: late copies are done, and nothing moves until pretend_leave. */
void pretend_enter(void);
void pretend_leave(void);
/* The memory that can be read, of what the library knows as `device`; NULL is allowed. Between the two. */
void *pretend_own(const void *device);
/* Whether the last pattern found no room (this thread). */
bool pretend_refused(void);
extern const struct ftb_verbs pretend_verbs;

#endif

/* The Southern Women of Davis, Gardner, Gardner, "Deep South" (University of Chicago Press, 1941): which of
 * 18 women were at which of 14 social events of a summer in Natchez, Mississippi. */
#ifndef DAVIS_H
#define DAVIS_H

#include <stdint.h>

enum { DAVIS_WOMEN = 18, DAVIS_EVENTS = 14, DAVIS_NVALS = 89 };

extern const char *const davis_women[DAVIS_WOMEN];
extern const char *const davis_events[DAVIS_EVENTS];
extern const int64_t davis_rowptr[DAVIS_WOMEN + 1];
extern const int32_t davis_colidx[DAVIS_NVALS];

#endif

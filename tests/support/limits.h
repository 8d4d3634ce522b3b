/* Sizes in messages of memory limits. */
#ifndef TESTS_LIMITS_H
#define TESTS_LIMITS_H

#include <stdint.h>

/* The bytes of the size that follows `words` in FtB_error(), such as 57M or 12 bytes; 0 if there is none. */
int64_t limit_behind(const char *words);

#endif

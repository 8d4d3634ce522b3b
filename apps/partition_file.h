/* Files that say which part each vertex is in. */
#ifndef APP_PARTITION_FILE_H
#define APP_PARTITION_FILE_H

#include <stdint.h>

/* Reads n labels from 0 on, a number a line, or .npy. *nparts: they are below it; becomes the least number
 * that they are. Returns an exit code. */
int partition_read(int32_t *labels, int64_t n, int64_t *nparts, const char *path);
/* Writes them. Returns an exit code. */
int partition_write(const int32_t *labels, int64_t n, const char *path);

#endif

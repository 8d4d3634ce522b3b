/* Libraries that are opened when somebody first needs them, never when this one is loaded. */
#ifndef FTB_OPEN_LIBRARY_H
#define FTB_OPEN_LIBRARY_H

#include <stddef.h>

/* A function: its name, and where in a table its address goes. */
typedef struct ftb_symbol {
    const char *name;
    size_t offset;
} ftb_symbol;

/* Opens a library by its name or path, and fills a table with its functions; the symbols end with a NULL.
 * Returns the first that it does not have, whose place is NULL as the others' are; NULL: it has them all.
 * *why: NULL, or why it cannot be opened. It is never closed: such libraries have threads and handlers. */
const char *ftb_library_open(const char *name, const ftb_symbol *symbols, void *table, const char **why);

#endif

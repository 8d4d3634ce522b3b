/* Structs of options: the first field is their size, and 0 is every other's default. */
#ifndef FTB_OPTIONS_H
#define FTB_OPTIONS_H

#include "core/core.h"

#include <stddef.h>

/* Copies what the caller gives, NULL: nothing, over `to`, which holds `room` bytes of zeros. A program built
 * with an older version has less: whole words from the start. `macro` makes them: "FTB_INIT_OPTIONS". */
GrB_Info ftb_options_read(void *to, size_t room, const void *given, const char *call, const char *macro);

/* A field that only some rules of a kind read. */
typedef struct ftb_option {
    const char *name;
    size_t offset, size;
} ftb_option;
#define FTB_OPTION(type, field)                                                                              \
    {                                                                                                        \
#field, offsetof(type, field), sizeof(((type *)NULL)->field)                                         \
    }
/* Refuses a field that is set and not among the names of `reads`, "lr, momentum". who: "gcn". */
GrB_Info ftb_options_check_read(const void *options, const ftb_option *fields, size_t count,
                                const char *reads, const char *who);

#endif

/* Libraries of the toolkit. */
#ifndef FTB_GPU_LIBRARY_H
#define FTB_GPU_LIBRARY_H

#include "core/open_library.h"

#include <stdbool.h>

enum { FTB_LIBRARY_WHY = 512 }; /* bytes of a reason */

/* What the toolkit has in several versions: NVRTC, cuBLAS, cuSPARSE. */
typedef struct ftb_library {
    const char *name, *role; /* for people: "NVRTC", "compiler of kernels"; the same where the name says it */
    const char *variable;    /* of the environment, which names another one, or, empty, none */
    int least;               /* version that is needed: 1000 major + 10 minor */
    const ftb_symbol *symbols;
    const char *const *names; /* the newest first, then paths; ends with NULL */
    /* Whether it says of which version it is; the functions are there. */
    bool (*version)(const void *table, int *major, int *minor);
} ftb_library;

/* One of them that was looked for. */
typedef struct ftb_found {
    int version; /* 0: there is none, because of */
    char why[FTB_LIBRARY_WHY];
} ftb_found;

/* Opens one by its name or path, "" for none. */
void ftb_library_look(ftb_found *f, const ftb_library *l, const char *path, void *table);
/* Opens the first of a list, which ends with NULL, that is there and of no newer a major version than `cuda`,
 * a driver's, which loads nothing of a newer one; 0: of any. open(to, path) opens one into what `f` is of. */
void ftb_library_find(ftb_found *f, const ftb_library *l, const char *const *paths, int cuda,
                      void (*open)(void *to, const char *path), void *to);
/* This process's: what the environment names, or the first of the names. */
void ftb_library_find_here(ftb_found *f, const ftb_library *l, int cuda,
                           void (*open)(void *to, const char *path), void *to);

#endif

/* Finds libraries of the toolkit (library.h). Each thing that can be wrong has a sentence. */
#include "gpu/library.h"

#include "core/core.h"

#include <stdio.h>

/* One that is too old may lack functions because of that, so its version comes first. */
void ftb_library_look(ftb_found *f, const ftb_library *l, const char *path, void *table)
{
    int major = 0, minor = 0;
    *f = (ftb_found){.version = 0};
    if (!*path) {
        snprintf(f->why, sizeof f->why, "%s is empty, so that no %s is looked for", l->variable, l->role);
        return;
    }
    const char *why, *missing = ftb_library_open(path, l->symbols, table, &why);
    const bool asked = !why && l->version(table, &major, &minor);
    const int version = 1000 * major + 10 * minor;
    if (why)
        snprintf(f->why, sizeof f->why, "%s%s cannot be opened: %s", l->role == l->name ? "" : "the ",
                 l->role, why);
    else if (asked && version < l->least)
        snprintf(f->why, sizeof f->why, "%s is %d.%d; %d.%d or later is needed", l->name, major, minor,
                 l->least / 1000, l->least % 1000 / 10);
    else if (missing)
        snprintf(f->why, sizeof f->why, "%s has no function %s", path, missing);
    else if (!asked)
        snprintf(f->why, sizeof f->why, "%s does not say of which version it is", l->name);
    else
        f->version = version;
}

void ftb_library_find(ftb_found *f, const ftb_library *l, const char *const *paths, int cuda,
                      void (*open)(void *to, const char *path), void *to)
{
    ftb_found newer = {.version = 0};
    for (; *paths; paths++) {
        open(to, *paths);
        if (f->version && (!cuda || f->version / 1000 <= cuda / 1000))
            return;
        if (f->version && !newer.why[0])
            snprintf(newer.why, sizeof newer.why,
                     "%s %d.%d is newer than the driver, which is for CUDA %d.%d", l->name, f->version / 1000,
                     f->version % 1000 / 10, cuda / 1000, cuda % 1000 / 10);
        f->version = 0;
    }
    if (newer.why[0])
        *f = newer;
}

void ftb_library_find_here(ftb_found *f, const ftb_library *l, int cuda,
                           void (*open)(void *to, const char *path), void *to)
{
    const char *path = ftb_getenv_code(l->variable);
    if (path)
        open(to, path);
    else
        ftb_library_find(f, l, l->names, cuda, open, to);
}

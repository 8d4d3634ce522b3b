/* Opens libraries (open_library.h). */
#include "core/open_library.h"

#include <dlfcn.h>
#include <string.h>

const char *ftb_library_open(const char *name, const ftb_symbol *symbols, void *table, const char **why)
{
    const char *missing = NULL;
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    const char *error = library ? NULL : dlerror();
    *why = library ? NULL : error ? error : name;
    for (const ftb_symbol *s = symbols; s->name; s++) {
        void *symbol = library ? dlsym(library, s->name) : NULL;
        /* ISO C has no conversion between the two kinds of pointer. */
        memcpy((char *)table + s->offset, &symbol, sizeof symbol);
        if (!symbol && !missing)
            missing = s->name;
    }
    return missing;
}

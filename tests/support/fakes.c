#include "support/fakes.h"

#include "support/check.h"
#include "support/real_gpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

const char *fake_path(const char *name)
{
    enum { PATHS = 4 };
    static char path[PATHS][1024];
    static int next;
    const char *folder = getenv("FEATBLAS_FAKE_DRIVERS");
    assert_non_null(folder);
    char *to = path[next++ % PATHS];
    snprintf(to, sizeof path[0], "%s/%s.so", folder, name);
    return to;
}

void fake_find(const char *library, const char *function, void *to)
{
    if (real_gpu() && real_gpu_find(function, to))
        return;
    void *opened = dlopen(fake_path(library), RTLD_NOW | RTLD_LOCAL), *symbol;
    assert_non_null(opened);
    symbol = dlsym(opened, function);
    assert_non_null(symbol);
    memcpy(to, &symbol, sizeof symbol); /* ISO C has no conversion between the two kinds of pointer */
}

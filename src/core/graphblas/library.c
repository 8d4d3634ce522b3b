/* Finds GraphBLAS and its symbols at run time, so that programs that hand over none of its objects do not
 * load it.
 *
 * FEATBLAS_GRAPHBLAS is the name of the shared library this build was made for, such as libgraphblas.so.7;
 * without it, GraphBLAS is not known. No other file depends on it. */
#include "core/graphblas/bridge.h"

#ifdef FEATBLAS_GRAPHBLAS

#include <dlfcn.h>

static pthread_once_t open_once = PTHREAD_ONCE_INIT;
static void *library = RTLD_DEFAULT;
static char trouble[192]; /* why there is none */

/* A program that has an object of GraphBLAS has the library, nearly always where everyone sees it. Where
 * it does not (a module of an interpreter), the loader returns the copy that is there, by its name. */
static void open_library(void)
{
    if (dlsym(RTLD_DEFAULT, "GrB_init"))
        return;
    library = dlopen(FEATBLAS_GRAPHBLAS, RTLD_LAZY | RTLD_LOCAL);
    if (library)
        return;
    const char *why = dlerror();
    snprintf(trouble, sizeof trouble, "%s", why ? why : FEATBLAS_GRAPHBLAS);
}

GrB_Info ftb_grb_open(void)
{
    pthread_once(&open_once, open_library);
    if (*trouble)
        return ftb_fail(GrB_NOT_IMPLEMENTED, "GraphBLAS is not there: %s", trouble);
    return GrB_SUCCESS;
}

void *ftb_grb_symbol(const char *name) { return dlsym(library, name); }

#else

GrB_Info ftb_grb_open(void)
{
    return ftb_fail(GrB_NOT_IMPLEMENTED, "this FeatBLAS was built without GraphBLAS");
}

void *ftb_grb_symbol(const char *name)
{
    (void)name;
    return NULL;
}

#endif

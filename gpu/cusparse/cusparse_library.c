/* Opens cuSPARSE (cusparse.h). That of CUDA 13 is called as that of CUDA 12 is, so that its version does not
 * say which driver it needs: one that is too new for the driver gives no handle. */
#include "gpu/cusparse/cusparse.h"

#include <pthread.h>

static const ftb_symbol symbols[] = {
#define SYMBOL(name, arguments) {#name, offsetof(ftb_cusparse_calls, name)},
    FTB_CUSPARSE_CALLS(SYMBOL){NULL, 0}
#undef SYMBOL
};

/* Of one version each; then the toolkit's that nobody told the loader of. */
static const char *const names[] = {"libcusparse.so.13", "libcusparse.so.12",
                                    "/usr/local/cuda/lib64/libcusparse.so", NULL};

static bool version_of(const void *table, int *major, int *minor)
{
    const ftb_cusparse_calls *call = table;
    return call->cusparseGetProperty && call->cusparseGetProperty(FTB_CUSPARSE_MAJOR, major) == 0 &&
           call->cusparseGetProperty(FTB_CUSPARSE_MINOR, minor) == 0;
}

static const char name[] = "cuSPARSE";
static const ftb_library library = {.name = name,
                                    .role = name,
                                    .variable = "FEATBLAS_CUSPARSE",
                                    .least = 12000,
                                    .symbols = symbols,
                                    .names = names,
                                    .version = version_of};

static void open_one(void *to, const char *path)
{
    ftb_cusparse *c = to;
    ftb_library_look(&c->found, &library, path, &c->call);
}

void ftb_cusparse_open(ftb_cusparse *c, const char *path) { open_one(c, path); }

static ftb_cusparse here;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_here(void) { ftb_library_find_here(&here.found, &library, 0, open_one, &here); }

const ftb_cusparse *ftb_cusparse_here(void)
{
    pthread_once(&once, open_here);
    return &here;
}

/* Opens cuBLAS (cublas.h). */
#include "gpu/cublas.h"

#include "core/core.h"
#include "gpu/driver.h"
#include "gpu/library.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define LEAST_VERSION 12000

static const ftb_symbol symbols[] = {
#define SYMBOL(name, arguments) {#name, offsetof(ftb_cublas_calls, name)},
    FTB_CUBLAS_CALLS(SYMBOL){NULL, 0}
#undef SYMBOL
};

/* Of one version each; then the toolkit's that nobody told the loader of. */
static const char *const sonames[] = {"libcublas.so.13", "libcublas.so.12",
                                      "/usr/local/cuda/lib64/libcublas.so", NULL};

/* What is wrong with it goes to why. */
static void look_at(ftb_cublas *c, const char *library)
{
    const size_t room = sizeof c->why;
    int major = 0, minor = 0;
    const char *why, *missing = ftb_library_open(library, symbols, &c->call, &why);
    const bool asked = c->call.cublasGetProperty &&
                       c->call.cublasGetProperty(FTB_CUBLAS_MAJOR, &major) == 0 &&
                       c->call.cublasGetProperty(FTB_CUBLAS_MINOR, &minor) == 0;
    c->version = 1000 * major + 10 * minor;
    if (why)
        snprintf(c->why, room, "cuBLAS cannot be opened: %s", why);
    else if (asked && c->version < LEAST_VERSION)
        snprintf(c->why, room, "cuBLAS is %d.%d; %d.0 or later is needed", major, minor,
                 LEAST_VERSION / 1000);
    else if (missing)
        snprintf(c->why, room, "%s has no function %s", library, missing);
    else if (!asked)
        snprintf(c->why, room, "cuBLAS does not say of which version it is");
}

void ftb_cublas_open(ftb_cublas *c, const char *library)
{
    memset(c, 0, sizeof *c);
    if (*library)
        look_at(c, library);
    else
        snprintf(c->why, sizeof c->why, "FEATBLAS_CUBLAS is empty, so that no cuBLAS is looked for");
    if (c->why[0])
        c->version = 0;
}

void ftb_cublas_find(ftb_cublas *c, const char *const *libraries, int cuda)
{
    char newer[sizeof c->why] = "";
    for (; *libraries; libraries++) {
        ftb_cublas_open(c, *libraries);
        if (c->version && c->version / 1000 <= cuda / 1000)
            return;
        if (c->version)
            snprintf(newer, sizeof newer, "cuBLAS %d.%d is newer than the driver, which is for CUDA %d.%d",
                     c->version / 1000, c->version % 1000 / 10, cuda / 1000, cuda % 1000 / 10);
        c->version = 0;
    }
    if (newer[0])
        memcpy(c->why, newer, sizeof newer);
}

static ftb_cublas here;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_here(void)
{
    const char *library = ftb_getenv_code("FEATBLAS_CUBLAS");
    if (library)
        ftb_cublas_open(&here, library);
    else
        ftb_cublas_find(&here, sonames, ftb_driver_here()->version);
}

const ftb_cublas *ftb_cublas_here(void)
{
    pthread_once(&once, open_here);
    return &here;
}

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

static const struct {
    int major; /* of the CUDA that a driver must be made for */
    const char *name;
} sonames[] = {{13, "libcublas.so.13"}, {12, "libcublas.so.12"}};

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

static ftb_cublas here;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_here(void)
{
    const char *library = ftb_getenv_code("FEATBLAS_CUBLAS");
    if (library) {
        ftb_cublas_open(&here, library);
        return;
    }
    snprintf(here.why, sizeof here.why, "the driver is too old for it");
    for (size_t n = 0; n < sizeof sonames / sizeof *sonames && !here.version; n++)
        if (ftb_driver_here()->version >= 1000 * sonames[n].major)
            ftb_cublas_open(&here, sonames[n].name);
}

const ftb_cublas *ftb_cublas_here(void)
{
    pthread_once(&once, open_here);
    return &here;
}

/* Opens NVRTC, and asks which GPUs it compiles for (nvrtc.h). */
#include "gpu/nvrtc.h"

#include "core/core.h"
#include "gpu/library.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define LEAST_VERSION 12000

static const ftb_symbol symbols[] = {
#define SYMBOL(name, arguments) {#name, offsetof(ftb_nvrtc_calls, name)},
    FTB_NVRTC_CALLS(SYMBOL){NULL, 0}
#undef SYMBOL
};

/* Of one version each; then whichever a toolkit's own name stands for. */
static const char *const sonames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

/* What is wrong with it goes to why. */
static void look_at(ftb_nvrtc *n, const char *library)
{
    const size_t room = sizeof n->why;
    int major = 0, minor = 0;
    const char *why, *missing = ftb_library_open(library, symbols, &n->call, &why);
    const bool asked = n->call.nvrtcVersion && n->call.nvrtcVersion(&major, &minor) == 0;
    n->version = 1000 * major + 10 * minor;
    if (why)
        snprintf(n->why, room, "the compiler of kernels cannot be opened: %s", why);
    else if (asked && n->version < LEAST_VERSION)
        snprintf(n->why, room, "NVRTC is of CUDA %d.%d; %d.0 or later is needed", major, minor,
                 LEAST_VERSION / 1000);
    else if (missing)
        snprintf(n->why, room, "%s has no function %s", library, missing);
    else if (!asked || n->call.nvrtcGetNumSupportedArchs(&n->narchs) != 0 || n->narchs < 1 ||
             n->narchs > FTB_NVRTC_ARCHS || n->call.nvrtcGetSupportedArchs(n->archs) != 0)
        snprintf(n->why, room, "NVRTC does not say which GPUs it compiles for");
}

void ftb_nvrtc_open(ftb_nvrtc *n, const char *library)
{
    memset(n, 0, sizeof *n);
    if (*library)
        look_at(n, library);
    else
        snprintf(n->why, sizeof n->why,
                 "FEATBLAS_NVRTC is empty, so that no compiler of kernels is looked for");
    if (n->why[0])
        n->version = 0;
}

static ftb_nvrtc here;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_here(void)
{
    const char *library = ftb_getenv_code("FEATBLAS_NVRTC");
    if (library) {
        ftb_nvrtc_open(&here, library);
        return;
    }
    for (size_t n = 0; n < sizeof sonames / sizeof *sonames && !here.version; n++)
        ftb_nvrtc_open(&here, sonames[n]);
}

const ftb_nvrtc *ftb_nvrtc_here(void)
{
    pthread_once(&once, open_here);
    return &here;
}

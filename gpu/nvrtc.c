/* Opens NVRTC, and asks which GPUs it compiles for (nvrtc.h). */
#include "gpu/nvrtc.h"

#include "core/core.h"
#include "gpu/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LEAST_VERSION 12000

static const ftb_symbol symbols[] = {
#define SYMBOL(name, arguments) {#name, offsetof(ftb_nvrtc_calls, name)},
    FTB_NVRTC_CALLS(SYMBOL){NULL, 0}
#undef SYMBOL
};

/* Of one version each; then whichever a toolkit's own name stands for, and the toolkit that nobody told the
 * loader of. */
static const char *const sonames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
                                      "/usr/local/cuda/lib64/libnvrtc.so", NULL};

/* NVRTC finds what is built into it by its name alone, which fails where only a path led here: what is open
 * is found. */
static void open_builtins(const char *library, int major, int minor)
{
    const char *end = strrchr(library, '/');
    char path[1024];
    if (!end)
        return;
    snprintf(path, sizeof path, "%.*s/libnvrtc-builtins.so.%d.%d", (int)(end - library), library, major,
             minor);
    (void)dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

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
    else
        open_builtins(library, major, minor);
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

void ftb_nvrtc_find(ftb_nvrtc *n, const char *const *libraries, int cuda)
{
    char newer[sizeof n->why] = "";
    for (; *libraries; libraries++) {
        ftb_nvrtc_open(n, *libraries);
        if (n->version && (!cuda || n->version / 1000 <= cuda / 1000))
            return;
        if (n->version && !newer[0])
            snprintf(newer, sizeof newer,
                     "NVRTC %d.%d is newer than the driver, which is for CUDA %d.%d and loads nothing of it",
                     n->version / 1000, n->version % 1000 / 10, cuda / 1000, cuda % 1000 / 10);
        n->version = 0;
    }
    if (newer[0])
        memcpy(n->why, newer, sizeof newer);
}

static ftb_nvrtc here;
static bool looked;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

const ftb_nvrtc *ftb_nvrtc_here(int cuda)
{
    const char *library = ftb_getenv_code("FEATBLAS_NVRTC");
    pthread_mutex_lock(&lock);
    if (!looked && library)
        ftb_nvrtc_open(&here, library);
    else if (!looked)
        ftb_nvrtc_find(&here, sonames, cuda);
    looked = true;
    pthread_mutex_unlock(&lock);
    return &here;
}

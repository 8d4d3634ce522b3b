/* Opens NVRTC, and asks which GPUs it compiles for (nvrtc.h). */
#include "gpu/nvrtc.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const ftb_symbol symbols[] = {
#define SYMBOL(name, arguments) {#name, offsetof(ftb_nvrtc_calls, name)},
    FTB_NVRTC_CALLS(SYMBOL){NULL, 0}
#undef SYMBOL
};

/* Of one version each; then whichever a toolkit's own name stands for, and the toolkit that nobody told the
 * loader of. */
static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
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

static bool version_of(const void *table, int *major, int *minor)
{
    const ftb_nvrtc_calls *call = table;
    return call->nvrtcVersion && call->nvrtcVersion(major, minor) == 0;
}

static const ftb_library library = {.name = "NVRTC",
                                    .role = "compiler of kernels",
                                    .variable = "FEATBLAS_NVRTC",
                                    .least = 12000,
                                    .symbols = symbols,
                                    .names = names,
                                    .version = version_of};

static bool ask_archs(ftb_nvrtc *n)
{
    return n->call.nvrtcGetNumSupportedArchs(&n->narchs) == 0 && n->narchs >= 1 &&
           n->narchs <= FTB_NVRTC_ARCHS && n->call.nvrtcGetSupportedArchs(n->archs) == 0;
}

static void open_one(void *to, const char *path)
{
    ftb_nvrtc *n = to;
    memset(n, 0, sizeof *n);
    ftb_library_look(&n->found, &library, path, &n->call);
    if (n->found.version && ask_archs(n)) {
        open_builtins(path, n->found.version / 1000, n->found.version % 1000 / 10);
    } else if (n->found.version) {
        n->found.version = 0;
        snprintf(n->found.why, sizeof n->found.why, "NVRTC does not say which GPUs it compiles for");
    }
}

void ftb_nvrtc_open(ftb_nvrtc *n, const char *path) { open_one(n, path); }

void ftb_nvrtc_find(ftb_nvrtc *n, const char *const *paths, int cuda)
{
    ftb_library_find(&n->found, &library, paths, cuda, open_one, n);
}

static ftb_nvrtc here;
static bool looked;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

const ftb_nvrtc *ftb_nvrtc_here(int cuda)
{
    pthread_mutex_lock(&lock);
    if (!looked)
        ftb_library_find_here(&here.found, &library, cuda, open_one, &here);
    looked = true;
    pthread_mutex_unlock(&lock);
    return &here;
}

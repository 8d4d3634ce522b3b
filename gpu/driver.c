/* Opens the driver, checks every function and its version, and writes down what it says of its devices. Each
 * thing that can be missing has a sentence of its own: most people who read it only want to know which. */
#include "gpu/driver.h"

#include "core/core.h"
#include "gpu/compile.h"
#include "gpu/images.h"
#include "gpu/library.h"
#include "gpu/nvrtc.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SONAME "libcuda.so.1" /* of every version so far */
#define LEAST_VERSION 12000
#define NO_DEVICE 100 /* CUDA_ERROR_NO_DEVICE */

static const ftb_symbol symbols[] = {
#define SYMBOL(name, arguments) {#name, offsetof(ftb_cuda, name)},
    FTB_CUDA_CALLS(SYMBOL){NULL, 0}
#undef SYMBOL
};

/* ---- reasons */

__attribute__((format(printf, 2, 3))) static bool refuse(ftb_driver *d, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(d->why, sizeof d->why, format, arguments);
    va_end(arguments);
    return false;
}

static bool failed(ftb_driver *d, const char *call, unsigned error)
{
    const char *name = NULL, *text = NULL;
    if (d->call.cuGetErrorName(error, &name) != 0 || !name)
        return refuse(d, "%s fails with error %u", call, error);
    if (d->call.cuGetErrorString(error, &text) != 0 || !text)
        return refuse(d, "%s fails with %s", call, name);
    return refuse(d, "%s fails with %s, %s", call, name, text);
}

/* ---- the library */

/* A driver that is too old may lack functions because of that, so its version comes first. */
static bool load(ftb_driver *d, const char *name)
{
    const char *why, *missing = ftb_library_open(name, symbols, &d->call, &why);
    if (why)
        return refuse(d, "the driver cannot be opened: %s", why);
    const unsigned error = d->call.cuDriverGetVersion ? d->call.cuDriverGetVersion(&d->version) : 0;
    if (d->call.cuDriverGetVersion && !error && d->version < LEAST_VERSION)
        return refuse(d, "the driver is made for CUDA %d.%d; %d.0 or later is needed", d->version / 1000,
                      d->version % 1000 / 10, LEAST_VERSION / 1000);
    if (missing)
        return refuse(d, "%s has no function %s", name, missing);
    return !error || failed(d, "cuDriverGetVersion", error);
}

/* ---- its devices */

/* As bytes of another encoding, or of a terminal's commands, would reach people and JSON. */
static void make_printable(char *text, size_t room)
{
    text[room - 1] = '\0';
    for (; *text; text++)
        if (*text < ' ' || *text > '~')
            *text = '?';
}

static int attribute(const ftb_driver *d, int device, unsigned which)
{
    int value = 0;
    return d->call.cuDeviceGetAttribute(&value, which, device) == 0 && value > 0 ? value : 0;
}

__attribute__((format(printf, 2, 3))) static void add(ftb_gpu *g, const char *format, ...)
{
    const size_t used = strlen(g->about);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(g->about + used, sizeof g->about - used, format, arguments);
    va_end(arguments);
}

/* Where its kernels come from, and so what runs there. */
static void describe_kernels(ftb_gpu *g)
{
    char text[32];
    const ftb_nvrtc *n = ftb_nvrtc_here(g->cuda);
    const char *with = ftb_gpu_images_about(text, g);
    if (with)
        add(g, ", kernels built in for %s", with);
    if (n->found.version)
        add(g, ", NVRTC %d.%d%s", n->found.version / 1000, n->found.version % 1000 / 10,
            ftb_gpu_compiles(g) ? "" : ", which is for no such GPU");
    else
        add(g, ", no NVRTC");
    if (ftb_gpu_compiles(g))
        add(g, "; products, attention and training run there, the rest on the host");
    else if (with)
        add(g, "; products, attention and training run there, texts and the rest on the host");
    else
        add(g, "; values can be kept there, work runs on the host");
}

/* Whole numbers alone, which no locale writes in its own way. */
static void describe(const ftb_driver *d, ftb_gpu *g)
{
    const int64_t tenths = (g->memory >> 20) * 10 >> 10;
    add(g, "%s, compute capability %d.%d, %d.%d GiB", g->name, g->major, g->minor, (int)(tenths / 10),
        (int)(tenths % 10));
    if (g->memory_clock && g->memory_width)
        add(g, " at %d MHz x %d bits", g->memory_clock / 1000, g->memory_width);
    if (g->multiprocessors)
        add(g, ", %d multiprocessors", g->multiprocessors);
    if (g->multiprocessors && g->clock)
        add(g, " at %d MHz", g->clock / 1000);
    if (g->l2)
        add(g, ", L2 %d KiB", g->l2 >> 10);
    if (g->shared)
        add(g, ", shared memory %d KiB a block", g->shared >> 10);
    if (g->domain || g->bus || g->slot)
        add(g, ", bus %04x:%02x:%02x", (unsigned)g->domain, (unsigned)g->bus, (unsigned)g->slot);
    add(g, ", driver for CUDA %d.%d", d->version / 1000, d->version % 1000 / 10);
    describe_kernels(g);
}

static bool look_at(ftb_driver *d, int n)
{
    ftb_gpu *g = &d->gpu[n];
    const ftb_cuda *call = &d->call;
    int device = 0;
    size_t bytes = 0;
    unsigned error = call->cuDeviceGet(&device, n);
    if (error)
        return failed(d, "cuDeviceGet", error);
    error = call->cuDeviceGetName(g->name, sizeof g->name, device);
    if (error)
        return failed(d, "cuDeviceGetName", error);
    error = call->cuDeviceTotalMem_v2(&bytes, device);
    if (error)
        return failed(d, "cuDeviceTotalMem_v2", error);
    error = call->cuDeviceGetAttribute(&g->major, FTB_CUDA_MAJOR, device);
    if (!error)
        error = call->cuDeviceGetAttribute(&g->minor, FTB_CUDA_MINOR, device);
    if (error)
        return failed(d, "cuDeviceGetAttribute", error);
    make_printable(g->name, sizeof g->name);
    snprintf(g->label, sizeof g->label, "gpu:%d", n);
    g->handle = device;
    g->cuda = d->version;
    g->memory = (int64_t)bytes;
    g->multiprocessors = attribute(d, device, FTB_CUDA_MULTIPROCESSORS);
    g->clock = attribute(d, device, FTB_CUDA_CLOCK);
    g->memory_clock = attribute(d, device, FTB_CUDA_MEMORY_CLOCK);
    g->memory_width = attribute(d, device, FTB_CUDA_MEMORY_WIDTH);
    g->l2 = attribute(d, device, FTB_CUDA_L2);
    g->shared = attribute(d, device, FTB_CUDA_SHARED_OPTIN);
    g->domain = attribute(d, device, FTB_CUDA_DOMAIN);
    g->bus = attribute(d, device, FTB_CUDA_BUS);
    g->slot = attribute(d, device, FTB_CUDA_SLOT);
    describe(d, g);
    return true;
}

void ftb_driver_open(ftb_driver *d, const char *library)
{
    int count = 0;
    memset(d, 0, sizeof *d);
    if (!*library) {
        refuse(d, "FEATBLAS_CUDA_DRIVER is empty, so that no driver is looked for");
        return;
    }
    if (!load(d, library))
        return;
    unsigned error = d->call.cuInit(0);
    if (error && error != NO_DEVICE) {
        failed(d, "cuInit", error);
        return;
    }
    if (!error)
        error = d->call.cuDeviceGetCount(&count);
    if (error && error != NO_DEVICE) {
        failed(d, "cuDeviceGetCount", error);
        return;
    }
    if (error || count <= 0) {
        refuse(d, "the driver finds none");
        return;
    }
    count = count < FTB_GPUS ? count : FTB_GPUS;
    for (int n = 0; n < count; n++)
        if (!look_at(d, n))
            return;
    d->count = count;
}

/* ---- this process's */

static ftb_driver here;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_here(void)
{
    const char *library = ftb_getenv_code("FEATBLAS_CUDA_DRIVER");
    ftb_driver_open(&here, library ? library : SONAME);
}

const ftb_driver *ftb_driver_here(void)
{
    pthread_once(&once, open_here);
    return &here;
}

const ftb_gpu *ftb_gpu_named(const char *name, const char **why)
{
    *why = NULL;
    if (strncmp(name, "gpu", 3) != 0 || (name[3] && name[3] != ':'))
        return NULL;
    const ftb_driver *d = ftb_driver_here();
    *why = d->count ? NULL : d->why;
    for (int n = 0; n < d->count; n++)
        if (strcmp(d->gpu[n].label, name) == 0 || (n == 0 && !name[3]))
            return &d->gpu[n];
    return NULL;
}

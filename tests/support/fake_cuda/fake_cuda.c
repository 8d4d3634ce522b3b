/* A driver of GPUs that do not exist, built as a library of its own; fake_memory.c has its memory and
 * streams, fake_kernels.c what runs there. The environment says what it is:
 *
 *     FAKE_CUDA_DEVICES   how many GPUs (1)
 *     FAKE_CUDA_VERSION   of its CUDA (12040)
 *     FAKE_CUDA_NAME      of each GPU ("Fake GPU"); it fills its room, and no NUL follows, where it is longer
 *     FAKE_CUDA_INIT      the error of cuInit (0)
 *     FAKE_CUDA_FAILS     a call that fails with CUDA_ERROR_UNKNOWN, "name" or "name=700": with that error
 *     FAKE_CUDA_AT        only the n-th of these calls from then on fails, and the variable goes
 *     FAKE_CUDA_REAL      it stands for a real driver (support/real_gpu.h), and none of its calls fails
 *     FAKE_CUDA_QUIET     attributes beside the compute capability are errors
 *
 * Compiled with FAKE_CUDA_LACKS it has no cuDeviceTotalMem_v2. Called before cuInit, it fails as the driver
 * does. */
#include "fake_cuda.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_int inits, sticky;

int fake_cuda_inits(void) { return atomic_load(&inits); }

unsigned fake_begin(const char *call)
{
    const unsigned error = getenv("FAKE_CUDA_REAL") ? OK : fake_fails(call);
    if (error == ILLEGAL_ADDRESS)
        atomic_store(&sticky, ILLEGAL_ADDRESS);
    return error;
}

unsigned fake_begin_ready(const char *call)
{
    const unsigned error = atomic_load(&inits) == 0 ? NOT_INITIALIZED : fake_begin(call);
    return atomic_load(&sticky) ? (unsigned)atomic_load(&sticky) : error;
}

void fake_stick(unsigned error) { atomic_store(&sticky, (int)error); }

void fake_cuda_calm(void) { atomic_store(&sticky, OK); }

unsigned cuInit(unsigned flags)
{
    atomic_fetch_add(&inits, 1);
    return flags ? INVALID_VALUE : (unsigned)fake_number("FAKE_CUDA_INIT", OK);
}

unsigned cuDriverGetVersion(int *version)
{
    *version = fake_number("FAKE_CUDA_VERSION", 12040);
    return fake_begin("cuDriverGetVersion");
}

static const struct {
    unsigned error;
    const char *name, *text;
} errors[] = {
    {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "not permitted when stream is capturing"},
    {CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "failed due to a previous error"},
    {ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

/* The row of an error; -1: there is no such error. */
static int row_of(unsigned error)
{
    for (int n = 0; n < (int)(sizeof errors / sizeof *errors); n++)
        if (errors[n].error == error)
            return n;
    return -1;
}

unsigned cuGetErrorName(unsigned error, const char **name)
{
    const int row = row_of(error);
    *name = row < 0 ? NULL : errors[row].name;
    return row < 0 ? INVALID_VALUE : fake_begin("cuGetErrorName");
}

unsigned cuGetErrorString(unsigned error, const char **text)
{
    const int row = row_of(error);
    *text = row < 0 ? NULL : errors[row].text;
    return row < 0 ? INVALID_VALUE : fake_begin("cuGetErrorString");
}

unsigned cuDeviceGetCount(int *count)
{
    *count = fake_number("FAKE_CUDA_DEVICES", 1);
    return fake_begin_ready("cuDeviceGetCount");
}

/* Handles are no ordinals here. */
unsigned cuDeviceGet(int *device, int n)
{
    if (n < 0 || n >= fake_number("FAKE_CUDA_DEVICES", 1))
        return INVALID_DEVICE;
    *device = DEVICES + n;
    return fake_begin_ready("cuDeviceGet");
}

static unsigned begin_device(const char *call, int device)
{
    return device < DEVICES ? INVALID_DEVICE : fake_begin_ready(call);
}

unsigned cuDeviceGetName(char *name, int size, int device)
{
    const char *text = getenv("FAKE_CUDA_NAME");
    if (!text)
        text = "Fake GPU";
    const size_t room = (size_t)size, length = strlen(text) + 1;
    memcpy(name, text, length < room ? length : room);
    return begin_device("cuDeviceGetName", device);
}

#ifndef FAKE_CUDA_LACKS
unsigned cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    *bytes = (size_t)(device - DEVICES + 1) * ((size_t)3 << 29); /* 1.5 GiB, 3 GiB ... */
    return begin_device("cuDeviceTotalMem_v2", device);
}
#endif

unsigned cuDeviceGetAttribute(int *value, unsigned attribute, int device)
{
    static const struct {
        unsigned attribute;
        int value;
    } known[] = {
        {FTB_CUDA_MAJOR, 9},
        {FTB_CUDA_MINOR, 1},
        {FTB_CUDA_MULTIPROCESSORS, 14},
        {FTB_CUDA_CLOCK, 1750000},
        {FTB_CUDA_MEMORY_CLOCK, 2619000},
        {FTB_CUDA_MEMORY_WIDTH, 5120},
        {FTB_CUDA_L2, 50 << 20},
        {FTB_CUDA_SHARED_OPTIN, 227 << 10},
        {FTB_CUDA_BUS, 0x1b},
        {FTB_CUDA_SLOT, 2},
        {FTB_CUDA_DOMAIN, 0},
    };
    if (getenv("FAKE_CUDA_QUIET") && attribute != FTB_CUDA_MAJOR && attribute != FTB_CUDA_MINOR)
        return INVALID_VALUE;
    for (size_t n = 0; n < sizeof known / sizeof *known; n++)
        if (known[n].attribute == attribute) {
            *value = known[n].value;
            return begin_device("cuDeviceGetAttribute", device);
        }
    return INVALID_VALUE;
}

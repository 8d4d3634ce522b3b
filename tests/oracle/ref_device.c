#include "oracle/ref_device.h"

#include "ops/backends.h"

#include <stdlib.h>

static GrB_Info alloc(const ftb_backend *b, FtB_Context ctx, void **device, int64_t bytes)
{
    (void)b, (void)ctx;
    *device = malloc((size_t)bytes + 1);
    if (!*device)
        abort();
    memset(*device, 0xcb, (size_t)bytes);
    return GrB_SUCCESS;
}

static void release(const ftb_backend *b, void *device, int64_t bytes)
{
    (void)b, (void)bytes;
    free(device);
}

static GrB_Info put(const ftb_backend *b, FtB_Context ctx, void *device, const void *host, int64_t bytes)
{
    (void)b, (void)ctx;
    memcpy(device, host, (size_t)bytes);
    return GrB_SUCCESS;
}

static GrB_Info get(const ftb_backend *b, FtB_Context ctx, void *host, const void *device, int64_t bytes)
{
    (void)b, (void)ctx;
    memcpy(host, device, (size_t)bytes);
    return GrB_SUCCESS;
}

static GrB_Info finish(const ftb_backend *b, FtB_Context ctx)
{
    (void)b, (void)ctx;
    return GrB_SUCCESS;
}

static void spoil(void *host, int64_t bytes) { memset(host, 0xcb, (size_t)bytes); }

static int64_t size(const ftb_backend *b)
{
    (void)b;
    return INT64_C(1) << 30;
}

static const ftb_memory memory = {
    .size = size, .alloc = alloc, .free = release, .put = put, .get = get, .wait = finish, .spoil = spoil};
const ftb_backend ref_device = {
    .name = "oracle", .about = "loops in double precision", .memory = &memory, .verbs = &ref_verbs};

void ref_device_begin(void)
{
    ftb_backend_remove(&ref_device);
    ftb_backend_add(&ref_device);
    if (FtB_Context_set_device(NULL, "oracle") != GrB_SUCCESS)
        abort();
}

void ref_device_end(void)
{
    if (FtB_Context_set_device(NULL, NULL) != GrB_SUCCESS)
        abort();
    ftb_backend_remove(&ref_device);
}

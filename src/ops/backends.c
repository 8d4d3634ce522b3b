/* The table of backends: one row each. */
#include "ops/backends.h"

#include "cpu/cpu_backend.h"

#include <stdio.h>

#define MOST 8 /* rows, with those of tests */

static const ftb_backend *rows[MOST] = {&ftb_cpu};

const ftb_backend *ftb_backend_at(int n) { return n >= 0 && n < MOST ? rows[n] : NULL; }

void ftb_backend_add(const ftb_backend *b)
{
    for (int n = 0; n < MOST; n++)
        if (!rows[n]) {
            rows[n] = b;
            return;
        }
}

void ftb_backend_remove(const ftb_backend *b)
{
    int kept = 0;
    for (int n = 0; n < MOST; n++)
        if (rows[n] && rows[n] != b)
            rows[kept++] = rows[n];
    while (kept < MOST)
        rows[kept++] = NULL;
}

GrB_Info FtB_Context_set_device(FtB_Context ctx, const char *device)
{
    char names[128] = "";
    size_t used = 0;
    if (!ctx)
        ctx = ftb_context();
    for (int n = 0; ftb_backend_at(n); n++) {
        const ftb_backend *b = ftb_backend_at(n);
        if (!device || strcmp(device, b->name) == 0) {
            ctx->device = b->memory ? b : NULL;
            return GrB_SUCCESS;
        }
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", n ? ", " : "", b->name);
    }
    return ftb_fail(FTB_NO_DEVICE, "device: there is no '%.64s' here; expected %s", device, names);
}

GrB_Info FtB_Device_describe(int n, const char **name, const char **about, int64_t *memory)
{
    const ftb_backend *b = ftb_backend_at(n);
    if (!b)
        return ftb_fail(GrB_NO_VALUE, "FtB_Device_describe: there is no device %d", n);
    if (name)
        *name = b->name;
    if (about)
        *about = b->about;
    if (memory)
        *memory = b->memory ? b->memory->size(b) : 0;
    return GrB_SUCCESS;
}

GrB_Info FtB_Context_moved(FtB_Context ctx, int64_t *to_host, int64_t *to_device)
{
    if (!ctx)
        ctx = ftb_context();
    if (to_host)
        *to_host = atomic_load(&ctx->moved[FTB_TO_HOST]);
    if (to_device)
        *to_device = atomic_load(&ctx->moved[FTB_TO_DEVICE]);
    return GrB_SUCCESS;
}

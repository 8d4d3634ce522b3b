/* What the contestants share: the device, clocks, and how they say what went wrong. */
#include "products.h"

#include "core/backend.h"
#include "core/core.h"
#include "gpu/memory.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double products_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double products_median(const products_who *who)
{
    double sorted[PRODUCTS_ROUNDS];
    const int n = who->count;
    memcpy(sorted, who->seconds, sizeof sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, by_value);
    return n > 0 ? 0.5 * (sorted[n / 2] + sorted[(n - 1) / 2]) : 0;
}

void products_say(products_who *who, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(who->status, sizeof who->status, format, arguments);
    va_end(arguments);
}

bool products_ok(products_who *who, GrB_Info info)
{
    if (info != GrB_SUCCESS)
        products_say(who, "failed: %.200s", FtB_error());
    return info == GrB_SUCCESS;
}

products_who *products_add(products_result *r, const char *name)
{
    if (r->nwho == PRODUCTS_WHO)
        return NULL;
    products_who *who = &r->who[r->nwho++];
    *who = (products_who){.status = "ok"};
    snprintf(who->name, sizeof who->name, "%s", name);
    return who;
}

/* ---- its memory */

static const ftb_backend *device(void) { return ftb_device(ftb_context()); }

GrB_Info products_wait(void) { return device()->memory->wait(device(), ftb_context()); }

void *products_alloc(int64_t bytes)
{
    void *made = NULL;
    return device()->memory->alloc(device(), ftb_context(), &made, ftb_max(1, bytes)) == GrB_SUCCESS ? made
                                                                                                     : NULL;
}

void products_free(void *at, int64_t bytes)
{
    if (at)
        device()->memory->free(device(), at, ftb_max(1, bytes));
}

void products_trim(void) { (void)ftb_gpu_trim(device()); }

bool products_put(void *at, const void *host, int64_t bytes)
{
    return device()->memory->put(device(), ftb_context(), at, host, bytes) == GrB_SUCCESS;
}

bool products_get(void *host, const void *at, int64_t bytes)
{
    return device()->memory->get(device(), ftb_context(), host, at, bytes) == GrB_SUCCESS;
}

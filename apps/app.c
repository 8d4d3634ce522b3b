/* Set-up and figures that the subcommands share. */
#include "app.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

const char *app_program = "featblas";

int app_start(const common_values *common)
{
    if (common->tmpdir && access(common->tmpdir, W_OK | X_OK) != 0)
        return app_fail(APP_USAGE, "--tmpdir: %s is not a folder that can be written to", common->tmpdir);
    if (common->device && FtB_Context_set_device(NULL, common->device) != GrB_SUCCESS)
        return app_fail(APP_USAGE, "--%s", FtB_error());
    GrB_Info info = FtB_Context_set_threads(NULL, (int)common->threads);
    if (info == GrB_SUCCESS)
        info = FtB_Context_set_memory_limit(NULL, common->memory_limit);
    if (info == GrB_SUCCESS && common->tmpdir)
        info = FtB_Context_set_tmpdir(NULL, common->tmpdir);
    if (info == GrB_SUCCESS)
        info = FtB_Context_set_sync(NULL, !common->no_sync);
    if (info != GrB_SUCCESS)
        return app_library_error(info, APP_FAILURE);
    app_signals_catch();
    if (!common->quiet)
        app_progress_start();
    return APP_OK;
}

void app_end(void) { app_progress_clear(); }

double app_seconds(void)
{
    struct timespec now;
    static struct timespec start;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (start.tv_sec == 0)
        start = now;
    return (double)(now.tv_sec - start.tv_sec) + 1e-9 * (double)(now.tv_nsec - start.tv_nsec);
}

/* Not getrusage's: that begins with what the program was that started this one. */
int64_t app_peak_memory(void)
{
    long long kib = -1;
    char line[256];
    FILE *f = fopen("/proc/self/status", "r");
    while (f && kib < 0 && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %lld kB", &kib) != 1)
            kib = -1;
    if (f)
        fclose(f);
    if (kib >= 0)
        return kib * 1024;
    struct rusage usage; /* where there is no /proc */
    getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
    return usage.ru_maxrss;
#else
    return (int64_t)usage.ru_maxrss * 1024;
#endif
}

/* The number in a file such as memory.max; INT64_MAX where there is none. */
static int64_t number_in(const char *path)
{
    long long n = 0;
    FILE *f = fopen(path, "r");
    if (!f)
        return INT64_MAX;
    bool read = fscanf(f, "%lld", &n) == 1; /* "max" is not a number */
    fclose(f);
    return read && n > 0 ? n : INT64_MAX;
}

/* The smallest memory.max from this process's cgroup up to the root (cgroup v2), or v1's limit. */
static int64_t cgroup_limit(void)
{
    char line[512], path[1024], *group = NULL;
    int64_t limit = number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes");
    FILE *f = fopen("/proc/self/cgroup", "r");
    if (!f)
        return limit;
    while (!group && fgets(line, sizeof line, f))
        if (strncmp(line, "0::/", 4) == 0)
            group = line + 3;
    fclose(f);
    if (!group)
        return limit;
    group[strcspn(group, "\n")] = '\0';
    for (;;) {
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", group);
        int64_t here = number_in(path);
        limit = here < limit ? here : limit;
        char *slash = strrchr(group, '/');
        if (!slash)
            return limit;
        *slash = '\0';
    }
}

int64_t app_machine_memory(void)
{
    int64_t physical = (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE);
    int64_t limit = cgroup_limit();
    return physical < limit ? physical : limit;
}

char *app_thousands(char *buffer, int64_t n)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRId64, n), out = 0;
    for (int at = 0; at < length; at++) {
        buffer[out++] = digits[at];
        if (digits[at] != '-' && at + 1 < length && (length - at - 1) % 3 == 0)
            buffer[out++] = ',';
    }
    buffer[out] = '\0';
    return buffer;
}

char *app_scientific(char *buffer, double x, int digits)
{
    snprintf(buffer, 32, "%.*e", digits - 1, x);
    char *e = strchr(buffer, 'e'); /* NULL: infinite or NaN */
    if (e && e[1] == '+') {
        const char *exponent = e + 2 + (e[2] == '0');
        memmove(e + 1, exponent, strlen(exponent) + 1);
    }
    return buffer;
}

char *app_bytes(char *buffer, double bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
    int unit = 0;
    while (bytes >= 1023.5 && unit < 5) {
        bytes /= 1024;
        unit++;
    }
    snprintf(buffer, 32, "%.*f %s", unit >= 3 && bytes < 99.95 ? 1 : 0, bytes, units[unit]);
    return buffer;
}

int app_print_json(json_t *root)
{
    char *text = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(root);
    if (!text)
        return app_fail(APP_MEMORY, "out of memory, or a name that is not UTF-8");
    puts(text);
    free(text);
    return APP_OK;
}

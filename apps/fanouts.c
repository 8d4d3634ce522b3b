/* Lists of picks (fanouts.h). */
#include "fanouts.h"

#include "app.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int fanouts_parse(int64_t fanouts[FANOUTS], int *count, const char *name, const char *text)
{
    *count = 0;
    for (const char *at = text;; at++) {
        char *end;
        const bool all = strncmp(at, "all", 3) == 0;
        errno = 0;
        const long long k = all ? -1 : strtoll(at, &end, 10);
        if (all)
            end = (char *)(uintptr_t)(at + 3);
        if (end == at || (*end != ',' && *end != '\0') || (k < 0 && !all) || errno)
            return app_fail(APP_USAGE, "%s: '%s' is no list of numbers such as 15,10,5, or all", name, text);
        if (*count == FANOUTS)
            return app_fail(APP_USAGE, "%s: more than %d hops", name, FANOUTS);
        fanouts[(*count)++] = k;
        if (*end == '\0')
            return APP_OK;
        at = end;
    }
}

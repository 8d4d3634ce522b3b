#include "support/limits.h"

#include "support/check.h"

#include <stdlib.h>

int64_t limit_behind(const char *words)
{
    static const char units[] = "KMGTP";
    const char *at = strstr(FtB_error(), words);
    char *end;
    if (!at)
        return 0;
    const int64_t number = strtoll(at + strlen(words), &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (!unit && strncmp(end, " bytes", 6) != 0)
        fail_msg("no unit behind '%s' in '%s'", words, FtB_error());
    return unit ? number << 10 * (unit - units + 1) : number;
}

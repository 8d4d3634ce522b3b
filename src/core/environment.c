/* Variables of the environment that are not for everybody to set. */
#include "core/core.h"

#include <stdlib.h>
#include <unistd.h>

const char *ftb_getenv_code(const char *name)
{
#ifdef __linux__
    return secure_getenv(name); /* which knows of other privileges, too */
#else
    return getuid() == geteuid() && getgid() == getegid() ? getenv(name) : NULL;
#endif
}

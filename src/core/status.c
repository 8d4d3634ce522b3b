/* Messages of failed calls: one per thread. */
#include "core/core.h"
#include "core/locale.h"

#include <stdarg.h>
#include <stdio.h>

#define MESSAGE_SIZE 1024

static _Thread_local char message[MESSAGE_SIZE];

GrB_Info ftb_fail(GrB_Info info, const char *format, ...)
{
    va_list arguments;
    locale_t before = ftb_locale_enter();
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    ftb_locale_leave(before);
    return info;
}

GrB_Info ftb_wrap_error(GrB_Info info, const char *format, ...)
{
    char cause[MESSAGE_SIZE];
    memcpy(cause, message, sizeof cause);
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (length >= 0 && length < MESSAGE_SIZE)
        snprintf(message + length, sizeof message - (size_t)length, "%s", cause);
    return info;
}

const char *FtB_error(void) { return message; }

#define TEXT(x) #x
#define VERSION(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)

const char *FtB_version(void) { return VERSION(FTB_VERSION_MAJOR, FTB_VERSION_MINOR, FTB_VERSION_PATCH); }

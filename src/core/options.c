/* Structs of options, read whole or refused (options.h). */
#include "core/options.h"

GrB_Info ftb_options_read(void *to, size_t room, const void *given, const char *call, const char *macro)
{
    if (!given)
        return GrB_SUCCESS;
    const size_t size = *(const size_t *)given;
    if (size == 0 || size > room || size % sizeof size != 0)
        return ftb_fail(GrB_INVALID_VALUE,
                        "%s: options: size is %zu, which this version does not know; make them "
                        "with %s(...)",
                        call, size, macro);
    memcpy(to, given, size);
    return GrB_SUCCESS;
}

/* Whether a list of names, ", " between them, has this one. */
static bool has_name(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == '\0' || at[length] == ','))
            return true;
    return false;
}

GrB_Info ftb_options_check_read(const void *options, const ftb_option *fields, size_t count,
                                const char *reads, const char *who)
{
    for (size_t f = 0; f < count; f++) {
        const char *value = (const char *)options + fields[f].offset;
        bool set = false;
        for (size_t b = 0; b < fields[f].size; b++)
            set |= value[b] != 0;
        if (set && !has_name(reads, fields[f].name))
            return ftb_fail(GrB_INVALID_VALUE, "options: %s is set, which %s does not read; it reads %s",
                            fields[f].name, who, reads);
    }
    return GrB_SUCCESS;
}

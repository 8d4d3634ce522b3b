#include "support/headers.h"

#include "support/check.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

/* FtB_name( behind a type at the beginning of a line. */
static int in_header(const char *folder, const char *file, void (*f)(const char *file, const char *name))
{
    static const char letters[] = "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char path[1024], line[512];
    int found = 0;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *header = fopen(path, "r");
    assert_non_null(header);
    while (fgets(line, sizeof line, header)) {
        char *name = strstr(line, "FtB_"), *end = NULL;
        if (!isalpha((unsigned char)line[0]) || strncmp(line, "typedef", 7) == 0 ||
            strncmp(line, "static", 6) == 0)
            continue;
        while (name && *(end = name + strspn(name, letters)) != '(')
            name = strstr(end, "FtB_");
        if (!name)
            continue;
        *end = 0;
        f(file, name);
        found++;
    }
    fclose(header);
    return found;
}

static int in_folder(const char *folder, void (*f)(const char *file, const char *name))
{
    int found = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        if (strstr(e->d_name, ".h") && !strstr(e->d_name, "slots.h")) /* macros, and what they call */
            found += in_header(folder, e->d_name, f);
    closedir(d);
    return found;
}

int each_public_call(void (*f)(const char *file, const char *name))
{
    char folder[1000];
    const char *source = getenv("FEATBLAS_SOURCE_DIR");
    assert_non_null(source);
    snprintf(folder, sizeof folder, "%s/include", source);
    const int found = in_folder(folder, f);
    snprintf(folder, sizeof folder, "%s/include/featblas", source);
    return found + in_folder(folder, f);
}

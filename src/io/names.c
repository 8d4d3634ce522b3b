/* Names of files: what a path leads to, and whether two lead to one file. */
#include "io/io.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_LINKS 40 /* as Linux follows */

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *ftb_folder_of(const char *path)
{
    const size_t length = (size_t)(last_name(path) - path);
    return length > 0 ? strndup(path, length) : strdup(".");
}

static char *joined(char *folder, const char *name)
{
    char *whole = NULL;
    if (folder && asprintf(&whole, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, name) < 0) {
        whole = NULL;
        errno = ENOMEM;
    }
    free(folder);
    return whole;
}

/* Where the link at `path` leads to; NULL with errno set, EINVAL or ENOENT where there is no link. */
static char *target_of(const char *path)
{
    char text[PATH_MAX];
    const ssize_t length = readlink(path, text, sizeof text - 1);
    if (length < 0)
        return NULL;
    text[length] = '\0';
    return text[0] == '/' ? strdup(text) : joined(ftb_folder_of(path), text);
}

/* The folder is there, the file is not. */
static char *in_real_folder(const char *path)
{
    const char *name = last_name(path);
    if (!*name)
        return NULL; /* errno: ENOENT */
    char *folder = ftb_folder_of(path), *real = folder ? realpath(folder, NULL) : NULL;
    free(folder);
    return joined(real, name);
}

char *ftb_resolve(const char *path)
{
    char *at = strdup(path), *whole = NULL, *target = NULL;
    for (int links = 0; at && links < MOST_LINKS; links++) {
        whole = realpath(at, NULL);
        if (whole || errno != ENOENT)
            break;
        target = target_of(at);
        if (!target) {
            errno = ENOENT;
            whole = in_real_folder(at);
            break;
        }
        free(at); /* a link to what is not there */
        at = target;
    }
    const int error = errno;
    free(at);
    errno = error;
    return whole;
}

static bool same_inode(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool ftb_same_file(const char *a, const char *b)
{
    struct stat p, q;
    const bool here = stat(a, &p) == 0, there = stat(b, &q) == 0;
    if (here || there)
        return here && there && S_ISREG(p.st_mode) && same_inode(&p, &q);
    char *first = ftb_resolve(a), *second = ftb_resolve(b);
    bool same = false;
    if (first && second && strcmp(last_name(first), last_name(second)) == 0) {
        char *folder = ftb_folder_of(first), *other = ftb_folder_of(second);
        same = folder && other && stat(folder, &p) == 0 && stat(other, &q) == 0 && same_inode(&p, &q);
        free(folder);
        free(other);
    }
    free(first);
    free(second);
    return same;
}

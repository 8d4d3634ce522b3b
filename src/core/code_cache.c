/* The folder of compiled code (code_cache.h). */
#include "core/code_cache.h"

#include "core/core.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER_ROOM 1024
#define TAIL 8 /* bytes behind those of a file: their sum */

/* ---- keys */

static uint64_t hash(uint64_t h, const void *bytes, int64_t count)
{
    const unsigned char *at = bytes;
    for (int64_t n = 0; n < count; n++) {
        h = (h ^ at[n]) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 32;
    }
    return h;
}

static uint64_t key_of(uint64_t h, const char *const *texts, int count)
{
    for (int n = 0; n < count; n++)
        if (texts[n])
            h = hash(h, texts[n], (int64_t)strlen(texts[n]) + 1);
    return h;
}

void ftb_code_key(uint64_t key[2], const char *const *texts, int count)
{
    key[0] = key_of(UINT64_C(0x243f6a8885a308d3), texts, count);
    key[1] = key_of(UINT64_C(0x13198a2e03707344), texts, count);
}

/* ---- the folder */

static bool is_ours(const struct stat *info) { return info->st_uid == geteuid() && !(info->st_mode & 022); }

/* Makes it, and its parent; false where there is no place for it. */
static bool find_folder(char folder[FOLDER_ROOM])
{
    const char *cache = ftb_getenv_code("XDG_CACHE_HOME"), *home = ftb_getenv_code("HOME");
    const char *wanted = ftb_getenv_code("FEATBLAS_CACHE");
    size_t length;
    if (wanted && strcmp(wanted, "0") == 0)
        return false;
    if (cache && *cache == '/')
        length = (size_t)snprintf(folder, FOLDER_ROOM, "%s", cache);
    else if (home && *home == '/')
        length = (size_t)snprintf(folder, FOLDER_ROOM, "%s/.cache", home);
    else
        return false;
    if (length > FOLDER_ROOM / 2)
        return false;
    mkdir(folder, 0700);
    snprintf(folder + length, FOLDER_ROOM - length, "/featblas");
    struct stat info;
    mkdir(folder, 0700);
    return lstat(folder, &info) == 0 && S_ISDIR(info.st_mode) && is_ours(&info);
}

bool ftb_code_path(char path[FTB_CODE_PATH], const char *const *texts, int count, const char *ending)
{
    char folder[FOLDER_ROOM];
    uint64_t key[2];
    if (!find_folder(folder))
        return false;
    ftb_code_key(key, texts, count);
    snprintf(path, FTB_CODE_PATH, "%s/%016llx%016llx%s", folder, (unsigned long long)key[0],
             (unsigned long long)key[1], ending);
    return true;
}

/* ---- its files */

bool ftb_code_usable(const char *path)
{
    struct stat info;
    if (lstat(path, &info) != 0 || !S_ISREG(info.st_mode) || !is_ours(&info))
        return false;
    (void)utimensat(AT_FDCWD, path, NULL, 0);
    return true;
}

bool ftb_code_keep(const char *made, const char *path)
{
    if (rename(made, path) != 0) {
        unlink(made);
        return false;
    }
    ftb_code_trim(path, FTB_CODE_MOST);
    return true;
}

bool ftb_code_put(const char *path, const void *bytes, int64_t count, const void *tail, int64_t more)
{
    const int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    if (!file) {
        if (descriptor >= 0)
            close(descriptor);
        return false;
    }
    const bool written = fwrite(bytes, 1, (size_t)count, file) == (size_t)count &&
                         (more == 0 || fwrite(tail, 1, (size_t)more, file) == (size_t)more);
    const bool closed = fclose(file) == 0;
    if (!written || !closed)
        unlink(path);
    return written && closed;
}

void ftb_code_write(const char *path, const void *bytes, int64_t count)
{
    static atomic_int number;
    char made[FTB_CODE_PATH + 48];
    const uint64_t sum = hash((uint64_t)count, bytes, count);
    snprintf(made, sizeof made, "%s.%ld.%d", path, (long)getpid(), atomic_fetch_add(&number, 1));
    if (ftb_code_put(made, bytes, count, &sum, TAIL))
        ftb_code_keep(made, path);
}

void *ftb_code_read(const char *path, int64_t *count)
{
    struct stat info;
    uint64_t sum;
    FILE *file = ftb_code_usable(path) ? fopen(path, "rbe") : NULL;
    char *bytes = NULL;
    if (file && fstat(fileno(file), &info) == 0 && info.st_size >= TAIL)
        bytes = ftb_raw_new((size_t)info.st_size);
    bool well = bytes && fread(bytes, 1, (size_t)info.st_size, file) == (size_t)info.st_size;
    if (file)
        fclose(file);
    if (well) {
        *count = info.st_size - TAIL;
        memcpy(&sum, bytes + *count, TAIL);
        well = sum == hash((uint64_t)*count, bytes, *count);
        bytes[*count] = '\0';
    }
    if (!well) {
        ftb_raw_delete(bytes);
        return NULL;
    }
    return bytes;
}

/* ---- how much there is */

typedef struct oldest {
    int64_t bytes; /* of all files */
    char name[256];
    struct timespec used;
} oldest;

static bool is_before(struct timespec a, struct timespec b)
{
    return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

static oldest look_at(DIR *folder, const char *but)
{
    oldest found = {.bytes = 0};
    struct stat info;
    rewinddir(folder);
    for (const struct dirent *e; (e = readdir(folder));) {
        if (fstatat(dirfd(folder), e->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
            continue;
        found.bytes += info.st_size;
        if (strcmp(e->d_name, but) != 0 && (!found.name[0] || is_before(info.st_mtim, found.used))) {
            snprintf(found.name, sizeof found.name, "%s", e->d_name);
            found.used = info.st_mtim;
        }
    }
    return found;
}

void ftb_code_trim(const char *path, int64_t most)
{
    char name[FTB_CODE_PATH];
    snprintf(name, sizeof name, "%s", path);
    char *slash = strrchr(name, '/');
    if (!slash)
        return;
    *slash = '\0';
    DIR *folder = opendir(name);
    if (!folder)
        return;
    oldest o = look_at(folder, slash + 1);
    while (o.bytes > most && o.name[0] && unlinkat(dirfd(folder), o.name, 0) == 0)
        o = look_at(folder, slash + 1);
    closedir(folder);
}

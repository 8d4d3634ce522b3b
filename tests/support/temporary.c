#include "support/temporary.h"

#include "support/check.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

static char folder[64];
static int saved_stdout = -1;

static int each_file(void (*f)(const char *path))
{
    DIR *d = opendir(folder);
    int n = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[512];
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        n++;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (f)
            f(path);
    }
    if (d)
        closedir(d);
    return n;
}

static void remove_one(const char *path) { remove(path); }

static void remove_folder(void)
{
    each_file(remove_one);
    rmdir(folder);
}

const char *temp_path(const char *name)
{
    static char paths[8][256];
    static int next;
    if (!folder[0]) {
        strcpy(folder, "/tmp/featblas-test-XXXXXX");
        assert_non_null(mkdtemp(folder));
        atexit(remove_folder);
    }
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

void write_bytes(const char *name, const void *bytes, size_t count)
{
    remove(
        temp_path(name)); /* some file systems wait for the disk when a file is truncated and written anew */
    FILE *f = fopen(temp_path(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, count, f), count);
    assert_int_equal(fclose(f), 0);
}

void write_string(const char *name, const char *text) { write_bytes(name, text, strlen(text)); }

void write_gzip(const char *name, const void *bytes, size_t count)
{
    remove(temp_path(name));
    gzFile f = gzopen(temp_path(name), "wb");
    assert_non_null(f);
    assert_int_equal(gzwrite(f, bytes, (unsigned)count), count);
    assert_int_equal(gzclose(f), Z_OK);
}

char *read_bytes(const char *name, size_t *count)
{
    FILE *f = fopen(temp_path(name), "rb");
    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    size_t size = (size_t)ftell(f);
    rewind(f);
    char *bytes = malloc(size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, size, f), size);
    bytes[size] = '\0';
    if (count)
        *count = size;
    fclose(f);
    return bytes;
}

int count_files(void)
{
    temp_path("");
    return each_file(NULL);
}

void redirect_stdout(const char *name)
{
    fflush(stdout);
    saved_stdout = dup(STDOUT_FILENO);
    int fd = open(temp_path(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(saved_stdout >= 0 && fd >= 0);
    dup2(fd, STDOUT_FILENO);
    close(fd);
}

void restore_stdout(void)
{
    fflush(stdout);
    dup2(saved_stdout, STDOUT_FILENO);
    close(saved_stdout);
}

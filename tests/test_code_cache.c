/* The folder of compiled code: what is found again, and what is not used: files and folders that somebody
 * else owns or may write, links, damaged ones; what is dropped when there is too much; writers side by side.
 */
#include "support/check.h"

#include "core/code_cache.h"
#include "core/core.h"
#include "support/temporary.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char home[1024], folder[1100];

static int begin(void **state)
{
    (void)state;
    snprintf(home, sizeof home, "%s", temp_path("home"));
    snprintf(folder, sizeof folder, "%s/featblas", home);
    mkdir(home, 0700);
    setenv("XDG_CACHE_HOME", home, 1);
    unsetenv("FEATBLAS_CACHE");
    return 0;
}

/* How many files there are; with `most`, no more than those stay. */
static int files(bool drop)
{
    int count = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.') {
            count++;
            if (drop)
                unlinkat(dirfd(d), e->d_name, 0);
        }
    if (d)
        closedir(d);
    return count;
}

static int end(void **state)
{
    (void)state;
    chmod(folder, 0700);
    files(true);
    rmdir(folder);
    unlink(folder);
    rmdir(home);
    return 0;
}

static void path_of(char path[FTB_CODE_PATH], const char *text)
{
    assert_true(ftb_code_path(path, &text, 1, ".bin"));
}

static bool has(const char *path, const char *text)
{
    int64_t count = -1;
    char *read = ftb_code_read(path, &count);
    const bool same = read && count == (int64_t)strlen(text) && strcmp(read, text) == 0;
    ftb_raw_delete(read);
    return same;
}

static void keys(void **state)
{
    static const char *const lists[][3] = {{"ab", "c", NULL}, {"a", "bc", NULL}, {"abc", NULL, NULL},
                                           {"ab", "c", ""},   {"", "ab", "c"},   {"c", "ab", NULL}};
    enum { LISTS = sizeof lists / sizeof *lists };
    uint64_t key[LISTS][2];
    (void)state;
    for (int n = 0; n < LISTS; n++) {
        ftb_code_key(key[n], lists[n], 3);
        for (int other = 0; other < n; other++)
            assert_true(key[n][0] != key[other][0] && key[n][1] != key[other][1]);
    }
}

static void kept(void **state)
{
    char path[FTB_CODE_PATH], other[FTB_CODE_PATH];
    struct stat info;
    (void)state;
    path_of(path, "one");
    path_of(other, "two");
    assert_true(strcmp(path, other) != 0);
    assert_null(ftb_code_read(path, &(int64_t){0}));
    ftb_code_write(path, "code", 4);
    ftb_code_write(other, "", 0);
    assert_true(has(path, "code"));
    assert_true(has(other, ""));
    ftb_code_write(path, "newer", 5);
    assert_true(has(path, "newer"));
    assert_int_equal(files(false), 2);
    assert_int_equal(stat(folder, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
}

static void damaged(void **state)
{
    char path[FTB_CODE_PATH];
    struct stat info;
    (void)state;
    path_of(path, "one");
    ftb_code_write(path, "some code", 9);
    assert_int_equal(stat(path, &info), 0);
    for (off_t size = info.st_size - 1; size >= 0; size--) {
        assert_int_equal(truncate(path, size), 0);
        assert_false(has(path, "some code"));
        assert_null(ftb_code_read(path, &(int64_t){0}));
    }
    for (int at = 0; at < 17; at++) { /* the bytes, and their sum */
        ftb_code_write(path, "some code", 9);
        const int file = open(path, O_RDWR);
        char byte;
        assert_int_equal(pread(file, &byte, 1, at), 1);
        byte ^= 4;
        assert_int_equal(pwrite(file, &byte, 1, at), 1);
        close(file);
        assert_null(ftb_code_read(path, &(int64_t){0}));
    }
}

/* Others may write it, or it is somewhere else, or somebody else's (which takes root to try). */
static void untrusted(void **state)
{
    char path[FTB_CODE_PATH], elsewhere[FTB_CODE_PATH];
    (void)state;
    path_of(path, "one");
    path_of(elsewhere, "two");
    ftb_code_write(path, "code", 4);
    assert_true(ftb_code_usable(path));
    for (mode_t mode = 0620; mode; mode = mode == 0620 ? 0602 : 0) {
        assert_int_equal(chmod(path, mode), 0);
        assert_false(ftb_code_usable(path) || has(path, "code"));
    }
    assert_int_equal(chmod(path, 0600), 0);
    assert_true(has(path, "code"));
    assert_int_equal(rename(path, elsewhere), 0);
    assert_int_equal(symlink(elsewhere, path), 0);
    assert_false(ftb_code_usable(path) || has(path, "code"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_false(ftb_code_usable(path) || has(path, "code"));
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rename(elsewhere, path), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 12345, (gid_t)-1), 0);
        assert_false(ftb_code_usable(path) || has(path, "code"));
    }
}

static void untrusted_folders(void **state)
{
    char path[FTB_CODE_PATH], real[1100];
    const char *const text = "one";
    (void)state;
    path_of(path, text);
    for (mode_t mode = 0720; mode; mode = mode == 0720 ? 0702 : 0) {
        assert_int_equal(chmod(folder, mode), 0);
        assert_false(ftb_code_path(path, &text, 1, ".bin"));
    }
    assert_int_equal(chmod(folder, 0700), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(folder, 12345, (gid_t)-1), 0);
        assert_false(ftb_code_path(path, &text, 1, ".bin"));
        assert_int_equal(chown(folder, 0, (gid_t)-1), 0);
    }
    snprintf(real, sizeof real, "%s/other", home);
    assert_int_equal(rename(folder, real), 0);
    assert_int_equal(symlink(real, folder), 0);
    assert_false(ftb_code_path(path, &text, 1, ".bin"));
    assert_int_equal(unlink(folder), 0);
    assert_int_equal(rename(real, folder), 0);
    path_of(path, text);
    setenv("FEATBLAS_CACHE", "0", 1);
    assert_false(ftb_code_path(path, &text, 1, ".bin"));
    unsetenv("FEATBLAS_CACHE");
    setenv("XDG_CACHE_HOME", "/nonexistent/cache", 1);
    assert_false(ftb_code_path(path, &text, 1, ".bin"));
    setenv("XDG_CACHE_HOME", home, 1);
}

/* What was used longest ago goes first, and what was just made stays, be it too large alone. */
static void trimmed(void **state)
{
    enum { COUNT = 6, BYTES = 1000, EACH = BYTES + 8 };
    char path[COUNT][FTB_CODE_PATH], code[BYTES + 1];
    (void)state;
    memset(code, 'x', BYTES);
    code[BYTES] = '\0';
    for (int n = 0; n < COUNT; n++) {
        const char name[] = {(char)('a' + n), '\0'};
        path_of(path[n], name);
        ftb_code_write(path[n], code, BYTES);
        const struct timespec times[] = {{1000 + n, 0}, {1000 + n, 0}};
        assert_int_equal(utimensat(AT_FDCWD, path[n], times, 0), 0);
    }
    assert_true(has(path[0], code)); /* used now */
    ftb_code_trim(path[5], COUNT * EACH);
    assert_int_equal(files(false), COUNT);
    ftb_code_trim(path[5], 3 * EACH);
    assert_int_equal(files(false), 3);
    for (int n = 0; n < COUNT; n++)
        assert_int_equal(has(path[n], code), n == 0 || n >= 4);
    ftb_code_trim(path[4], 1);
    assert_int_equal(files(false), 1);
    assert_true(has(path[4], code));
}

static void side_by_side(void **state)
{
    enum { CHILDREN = 4, TIMES = 200, BYTES = 20000 };
    static char code[BYTES + 1];
    char path[FTB_CODE_PATH];
    pid_t child[CHILDREN];
    (void)state;
    memset(code, 'y', BYTES);
    path_of(path, "one");
    for (int c = 0; c < CHILDREN; c++) {
        child[c] = fork();
        if (child[c] != 0)
            continue;
        int bad = 0;
        for (int n = 0; n < TIMES; n++) {
            ftb_code_write(path, code, BYTES);
            bad += !has(path, code);
        }
        _exit(bad > 0);
    }
    for (int c = 0; c < CHILDREN; c++) {
        int status;
        assert_true(waitpid(child[c], &status, 0) == child[c]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    assert_int_equal(files(false), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(keys),
                                       cmocka_unit_test_setup_teardown(kept, begin, end),
                                       cmocka_unit_test_setup_teardown(damaged, begin, end),
                                       cmocka_unit_test_setup_teardown(untrusted, begin, end),
                                       cmocka_unit_test_setup_teardown(untrusted_folders, begin, end),
                                       cmocka_unit_test_setup_teardown(trimmed, begin, end),
                                       cmocka_unit_test_setup_teardown(side_by_side, begin, end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

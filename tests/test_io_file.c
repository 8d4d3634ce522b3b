/* Output files that appear whole or not at all. */
#include "support/check.h"
#include "support/rng.h"
#include "support/temporary.h"

#include "io/io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool exists(const char *name) { return access(temp_path(name), F_OK) == 0; }

static void expect_content(const char *name, const char *text)
{
    char *content = read_bytes(name, NULL);
    assert_non_null(content);
    assert_string_equal(content, text);
    free(content);
}

static void commit_and_discard(void **state)
{
    (void)state;
    ftb_file *f;
    int files = count_files();
    assert_ok(ftb_file_create(&f, ftb_context(), temp_path("a")));
    assert_ok(ftb_file_write(f, "hello ", 6));
    assert_ok(ftb_file_write(f, "world", 5));
    assert_ok(ftb_file_write_at(f, 0, "H", 1));
    assert_false(exists("a"));
    assert_int_equal(count_files(), files + 1); /* the temporary */
    assert_ok(ftb_file_commit(&f));
    assert_null(f);
    expect_content("a", "Hello world");
    assert_int_equal(count_files(), files + 1);

    chmod(temp_path("a"), 0640);
    assert_ok(ftb_file_create(&f, ftb_context(), temp_path("a")));
    assert_ok(ftb_file_write(f, "x", 1));
    ftb_file_discard(&f);
    expect_content("a", "Hello world");
    assert_ok(ftb_file_create(&f, ftb_context(), temp_path("a")));
    assert_ok(ftb_file_write(f, "new", 3));
    expect_content("a", "Hello world");
    assert_ok(ftb_file_commit(&f));
    expect_content("a", "new");
    struct stat st;
    assert_int_equal(stat(temp_path("a"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(count_files(), files + 1);
}

static void through_links(void **state)
{
    (void)state;
    ftb_file *f;
    write_string("target", "old");
    assert_int_equal(symlink(temp_path("target"), temp_path("link")), 0);
    assert_ok(ftb_file_create(&f, ftb_context(), temp_path("link")));
    assert_ok(ftb_file_write(f, "new", 3));
    assert_ok(ftb_file_commit(&f));
    expect_content("target", "new");
    struct stat st;
    assert_int_equal(lstat(temp_path("link"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
}

static void refused(void **state)
{
    (void)state;
    ftb_file *f = NULL;
    assert_fails(FTB_IO, "Is a directory", ftb_file_create(&f, ftb_context(), temp_path("")));
    assert_null(f);
    assert_fails(FTB_IO, "No such file or directory", ftb_file_create(&f, ftb_context(), "/nowhere/at/all"));
    assert_fails(FTB_IO, "cannot write", ftb_file_create(&f, ftb_context(), ""));
    if (access("/dev/full", W_OK) == 0) {
        char bytes[4096] = {0};
        assert_ok(ftb_file_create(&f, ftb_context(), "/dev/full"));
        assert_false(ftb_file_seekable(f));
        assert_fails(FTB_IO, "/dev/full: cannot write: No space left on device",
                     ftb_file_write(f, bytes, 4096));
        ftb_file_discard(&f);
        assert_int_equal(access("/dev/full", F_OK), 0); /* devices are neither replaced nor removed */
    }
}

static void closed_pipe(void **state)
{
    (void)state;
    int ends[2];
    char path[32];
    ftb_file *f;
    void (*old)(int) = signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    if (access(path, F_OK) == 0) {
        assert_ok(ftb_file_create(&f, ftb_context(), path));
        close(ends[0]);
        assert_fails(FTB_IO, "Broken pipe", ftb_file_write(f, "x", 1));
        ftb_file_discard(&f);
    }
    close(ends[1]);
    signal(SIGPIPE, old);
}

static void standard_output(void **state)
{
    (void)state;
    ftb_file *f;
    redirect_stdout("out");
    printf("before ");
    GrB_Info info = ftb_file_create(&f, ftb_context(), "-");
    bool seekable = info == GrB_SUCCESS && ftb_file_seekable(f);
    if (info == GrB_SUCCESS)
        info = ftb_file_write(f, "during ", 7);
    if (info == GrB_SUCCESS)
        info = ftb_file_commit(&f);
    printf("after");
    restore_stdout();
    assert_int_equal(info, GrB_SUCCESS);
    assert_false(seekable);
    expect_content("out", "before during after");
}

static void spools(void **state)
{
    (void)state;
    ftb_file *spool, *f;
    int files = count_files();
    FtB_Context ctx;
    assert_ok(FtB_Context_new(&ctx));
    assert_ok(FtB_Context_set_tmpdir(ctx, temp_path("")));
    assert_ok(ftb_file_spool(&spool, ctx));
    assert_int_equal(count_files(), files); /* nameless */
    assert_ok(ftb_file_write(spool, "0123456789", 10));
    assert_ok(ftb_file_write_at(spool, 0, "x", 1));
    assert_ok(ftb_file_create(&f, ctx, temp_path("sent")));
    assert_ok(ftb_file_write(f, "> ", 2));
    assert_ok(ftb_file_send(f, spool, 5));
    assert_ok(ftb_file_write(f, "!", 1));
    assert_ok(ftb_file_commit(&f));
    ftb_file_discard(&spool);
    expect_content("sent", "> x1234!");
    assert_ok(FtB_Context_set_tmpdir(ctx, "/nowhere"));
    assert_fails(FTB_IO, "/nowhere", ftb_file_spool(&spool, ctx));
    assert_ok(FtB_Context_free(&ctx));
}

static void gaps(void **state)
{
    (void)state;
    static const int64_t lengths[] = {0, 1, 5000, 9000000};
    for (size_t t = 0; t < 4; t++) {
        ftb_file *f;
        int64_t tail, n = lengths[t];
        char *bytes = malloc((size_t)n + 1);
        for (int64_t c = 0; c < n; c++)
            bytes[c] = (char)(c * 7 + c / 251);
        assert_ok(ftb_file_create(&f, ftb_context(), temp_path("gap")));
        assert_ok(ftb_file_write(f, "head", 4));
        assert_ok(ftb_file_reserve(f, INT64_MAX, &tail)); /* as far up as the file system goes */
        assert_true(tail > 1 << 20);
        assert_ok(ftb_file_write_at(f, tail, bytes, n));
        assert_ok(ftb_file_close_gap(f, 4, &tail, n));
        assert_true(tail <= 1 << 20);
        assert_ok(ftb_file_commit(&f));
        size_t size;
        char *content = read_bytes("gap", &size);
        assert_int_equal(size, tail + n);
        assert_memory_equal(content, "head", 4);
        assert_memory_equal(content + tail, bytes, (size_t)n);
        free(content);
        free(bytes);
    }
}

static char byte_of(int stream, int64_t at) { return (char)(at * 31 + at / 4093 + stream); }

/* Streams side by side, through the page cache and past it (where the file system can), in large blocks,
 * small ones, and none under a memory limit. */
static void streams_side_by_side(void **state)
{
    (void)state;
    enum { COUNT = 3, REGION = 11 << 20 };
    static const struct {
        int64_t large, limit;
    } cases[] = {{INT64_MAX, 0}, {0, 0}, {5000000, 0}, {5000000, 50 << 20}, {0, 1 << 20}};
    rng r = rng_new();
    char *bytes = malloc(1 << 20);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        FtB_Context ctx;
        ftb_file *f;
        ftb_stream stream[COUNT] = {{.at = 100}, {.at = REGION}, {.at = 2 * REGION + 4096}};
        ftb_stream *const all[] = {&stream[0], &stream[1], &stream[2]};
        assert_ok(FtB_Context_new(&ctx));
        assert_ok(FtB_Context_set_memory_limit(ctx, cases[c].limit));
        ftb_file_large = cases[c].large;
        assert_ok(ftb_file_create(&f, ctx, temp_path("streams")));
        assert_ok(ftb_file_write(f, "head", 4));
        for (int s = 0; stream[s].at < (s + 1) * (int64_t)REGION; s = (int)rng_below(&r, COUNT)) {
            int64_t n = rng_below(&r, 8) == 0 ? rng_below(&r, 1 << 20) : rng_below(&r, 5000);
            n = ftb_min(n, (s + 1) * (int64_t)REGION - stream[s].at);
            for (int64_t b = 0; b < n; b++)
                bytes[b] = byte_of(s, stream[s].at + b);
            assert_int_equal(ftb_file_append(f, &stream[s], bytes, n), 0);
        }
        assert_ok(ftb_file_settle(f, all, COUNT));
        assert_ok(ftb_file_write_at(f, 4, "!", 1));
        assert_ok(ftb_file_commit(&f));
        assert_ok(FtB_Context_free(&ctx));
        size_t size;
        char *content = read_bytes("streams", &size);
        assert_memory_equal(content, "head!", 5);
        const int64_t starts[] = {100, REGION, 2 * REGION + 4096};
        for (int s = 0; s < COUNT; s++)
            for (int64_t at = starts[s]; at < stream[s].at; at++)
                if (content[at] != byte_of(s, at))
                    fail_msg("case %zu: byte %lld of stream %d", c, (long long)at, s);
        free(content);
    }
    free(bytes);
    ftb_file_large = -1;
}

static void temporaries_removed(void **state)
{
    (void)state;
    ftb_file *f, *g;
    int files = count_files();
    assert_ok(ftb_file_create(&f, ftb_context(), temp_path("gone")));
    assert_ok(ftb_file_create(&g, ftb_context(), temp_path("gone too")));
    assert_int_equal(count_files(), files + 2);
    pid_t child = fork(); /* must leave its parent's files alone */
    if (child == 0) {
        ftb_file_remove_temporaries();
        _exit(0);
    }
    waitpid(child, NULL, 0);
    assert_int_equal(count_files(), files + 2);
    ftb_file_remove_temporaries();
    assert_int_equal(count_files(), files);
    assert_fails(FTB_IO, "No such file", ftb_file_commit(&f));
    ftb_file_discard(&g);
    assert_int_equal(count_files(), files);
    for (int n = 0; n < 200; n++) { /* names and slots come back */
        assert_ok(ftb_file_create(&f, ftb_context(), temp_path("again")));
        ftb_file_discard(&f);
    }
    assert_int_equal(count_files(), files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(commit_and_discard),
                                       cmocka_unit_test(through_links),
                                       cmocka_unit_test(refused),
                                       cmocka_unit_test(closed_pipe),
                                       cmocka_unit_test(standard_output),
                                       cmocka_unit_test(spools),
                                       cmocka_unit_test(gaps),
                                       cmocka_unit_test(streams_side_by_side),
                                       cmocka_unit_test(temporaries_removed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

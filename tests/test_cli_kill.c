/* The command under signals and failing outputs. However unlucky the moment: the output file is the old
 * one or a whole new one, no temporary file stays behind after SIGINT and SIGTERM, and the exit code says
 * what happened. The input is generated, so that a run takes long enough to be hit everywhere. */
#include "support/check.h"
#include "support/rng.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUNS rng_cases(30) /* per signal; FEATBLAS_CASES=n makes n */
#define LEAST_LIMIT 1024   /* of a file: as large as one that LLVM's OpenMP maps when it starts */

static char folder[] = "/tmp/featblas-kill-XXXXXX";
static const char *command;
static int64_t whole_size[2]; /* of the output in each format */
static const char *const outputs[2] = {"pairs.tsv", "pairs.npz"};
static double run_seconds;

typedef struct child_setup { /* what the child does before exec */
    int out;                 /* becomes standard output, -1: /dev/null */
    rlim_t max_file;         /* bytes, 0: no limit; the thread sanitizer's own file in TMPDIR would not fit */
} child_setup;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Starts the command in the folder, its messages in "err". */
static pid_t start(const child_setup *setup, char *const *arguments)
{
    pid_t child = fork();
    if (child != 0) {
        assert_true(child > 0);
        return child;
    }
    int out = setup->out >= 0 ? setup->out : open("/dev/null", O_WRONLY);
    int err = open("err", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    struct rlimit limit = {setup->max_file, setup->max_file};
    if (out < 0 || err < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0 ||
        (setup->max_file &&
         (setenv("TMPDIR", "/nonexistent", 1) != 0 || setrlimit(RLIMIT_FSIZE, &limit) != 0)))
        _exit(126);
    execv(command, arguments);
    _exit(127);
}

/* The exit code, or minus the signal that ended the child. */
static int finish(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        assert_int_equal(errno, EINTR);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static int64_t size_of(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 ? (int64_t)s.st_size : -1;
}

/* Counts the temporary files in the folder; removes them. */
static int temporaries(void)
{
    int count = 0;
    DIR *d = opendir(".");
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        if (strstr(e->d_name, ".tmp")) {
            count++;
            unlink(e->d_name);
        }
    closedir(d);
    return count;
}

static void say_what_was_said(void)
{
    char line[512];
    FILE *f = fopen("err", "r");
    while (f && fgets(line, sizeof line, f))
        print_message("%s", line);
    if (f)
        fclose(f);
}

/* The arguments of a run that writes to `output`. */
static char *const *project_to(const char *output)
{
    static char words[][12] = {"featblas", "project", "-q", "graph.mtx", "--weight", "jaccard", "-o"};
    static char path[64], *arguments[9];
    snprintf(path, sizeof path, "%s", output);
    for (int w = 0; w < 7; w++)
        arguments[w] = words[w];
    arguments[7] = path;
    return arguments;
}

static int set_up(void **state)
{
    (void)state;
    const child_setup plain = {.out = -1};
    char *const generate[] = {(char *)"featblas", (char *)"gen",    (char *)"bipartite", (char *)"--rows",
                              (char *)"4000",     (char *)"--cols", (char *)"700",       (char *)"--edges",
                              (char *)"40000",    (char *)"-o",     (char *)"graph.mtx", NULL};
    command = getenv("FEATBLAS_COMMAND");
    if (!command || !mkdtemp(folder) || chdir(folder) != 0 || finish(start(&plain, generate)) != 0)
        return -1;
    for (int f = 0; f < 2; f++) {
        double began = now();
        if (finish(start(&plain, project_to(outputs[f]))) != 0) {
            say_what_was_said();
            return -1;
        }
        run_seconds = now() - began;
        whole_size[f] = size_of(outputs[f]);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    static const char *const names[] = {"graph.mtx", "pairs.tsv", "pairs.npz", "err"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        unlink(names[n]);
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

/* Kills runs at random moments, `repeat` times 10 ms apart; `old` leaves an older output in the way. */
static void kill_runs(int signal_number, int repeat, bool old)
{
    const child_setup plain = {.out = -1};
    const int runs = RUNS;
    int interrupted = 0;
    for (int run = 0; run < runs; run++) {
        int f = run % 2;
        unlink(outputs[f]);
        if (old) {
            FILE *file = fopen(outputs[f], "w");
            assert_non_null(file);
            fputs("old", file);
            fclose(file);
        }
        double delay = 1.1 * run_seconds * (double)run / runs;
        pid_t child = start(&plain, project_to(outputs[f]));
        nanosleep(&(struct timespec){.tv_sec = (time_t)delay,
                                     .tv_nsec = (long)(1e9 * (delay - (double)(time_t)delay))},
                  NULL);
        for (int r = 0; r < repeat; r++) {
            kill(child, signal_number);
            if (r + 1 < repeat)
                nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        }
        int code = finish(child);
        int64_t size = size_of(outputs[f]);
        int left = temporaries();
        interrupted += code != 0;
        if (code != 0 && code != -signal_number && code != 128 + signal_number) {
            say_what_was_said();
            fail_msg("signal %d after %.3f s: exit code %d", signal_number, delay, code);
        }
        if (size != whole_size[f] && size != (old ? 3 : -1))
            fail_msg("signal %d after %.3f s left %lld bytes of %lld", signal_number, delay, (long long)size,
                     (long long)whole_size[f]);
        if (code == 0 && size != whole_size[f])
            fail_msg("exit code 0 without the output");
        if (left && signal_number != SIGKILL)
            fail_msg("signal %d after %.3f s left a temporary file", signal_number, delay);
    }
    assert_true(interrupted > 0);
}

static void test_interrupted(void **state)
{
    (void)state;
    kill_runs(SIGINT, 1, false);
    kill_runs(SIGINT, 1, true);
}

static void test_interrupted_twice(void **state)
{
    (void)state;
    kill_runs(SIGINT, 3, false);
}

static void test_terminated(void **state)
{
    (void)state;
    kill_runs(SIGTERM, 1, true);
}

static void test_killed(void **state)
{
    (void)state;
    kill_runs(SIGKILL, 1, true);
}

static void test_file_size_limit(void **state)
{
    (void)state;
    for (int f = 0; f < 2; f++)
        for (int step = 0; step < 8; step++) {
            const child_setup limited = {
                .out = -1, .max_file = (rlim_t)(LEAST_LIMIT + (whole_size[f] - LEAST_LIMIT) * step / 8)};
            unlink(outputs[f]);
            int code = finish(start(&limited, project_to(outputs[f])));
            if (code != 5) {
                say_what_was_said();
                fail_msg("limit %lld: exit code %d instead of 5", (long long)limited.max_file, code);
            }
            assert_int_equal(size_of(outputs[f]), -1);
            assert_int_equal(temporaries(), 0);
        }
}

static void test_full_device(void **state)
{
    (void)state;
    int full = open("/dev/full", O_WRONLY);
    if (full < 0) {
        print_message("no /dev/full here: skipped\n");
        skip();
    }
    const child_setup to_full = {.out = full}, plain = {.out = -1};
    assert_int_equal(finish(start(&to_full, project_to("-"))), 5);
    assert_true(size_of("err") > 0);
    assert_int_equal(finish(start(&plain, project_to("/dev/full"))), 5);
    char *const version[] = {(char *)"featblas", (char *)"--version", NULL};
    assert_int_equal(finish(start(&to_full, version)), 5);
    close(full);
}

static void test_closed_pipe(void **state)
{
    (void)state;
    for (int wanted = 0; wanted < 100000; wanted = 10 * wanted + 1) { /* bytes read before closing */
        int ends[2];
        char byte;
        assert_int_equal(pipe(ends), 0);
        fcntl(ends[0], F_SETFD, FD_CLOEXEC);
        const child_setup piped = {.out = ends[1]};
        pid_t child = start(&piped, project_to("-"));
        close(ends[1]);
        for (int at = 0; at < wanted; at++)
            assert_int_equal(read(ends[0], &byte, 1), 1);
        close(ends[0]);
        assert_int_equal(finish(child), 5);
        assert_int_equal(size_of("err"), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interrupted),     cmocka_unit_test(test_interrupted_twice),
        cmocka_unit_test(test_terminated),      cmocka_unit_test(test_killed),
        cmocka_unit_test(test_file_size_limit), cmocka_unit_test(test_full_device),
        cmocka_unit_test(test_closed_pipe),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

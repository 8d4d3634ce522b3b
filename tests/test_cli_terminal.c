/* The progress line is drawn on a terminal only, is gone at the end, and -q silences it. */
#include "support/check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/featblas-terminal-XXXXXX";
static char said[65536]; /* by the last run, on standard error */

/* Runs the command with standard error on a terminal (or a pipe); returns the seconds of processor time that
 * it took: elapsed time also passes while the machine does something else. */
static double run_program(bool terminal, const char *program, char *const *arguments)
{
    int ends[2];
    if (terminal) {
        ends[0] = posix_openpt(O_RDWR | O_NOCTTY);
        if (ends[0] < 0 || grantpt(ends[0]) != 0 || unlockpt(ends[0]) != 0)
            skip();
        ends[1] = open(ptsname(ends[0]), O_RDWR | O_NOCTTY);
    } else
        assert_int_equal(pipe(ends), 0);
    assert_true(ends[1] >= 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        execv(program, arguments);
        _exit(127);
    }
    close(ends[1]);
    size_t length = 0;
    ssize_t got;
    while (length < sizeof said - 1 && (got = read(ends[0], said + length, sizeof said - 1 - length)) > 0)
        length += (size_t)got;
    said[length] = '\0';
    close(ends[0]);
    int status;
    struct rusage used;
    assert_int_equal(wait4(child, &status, 0, &used), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("status %d: %s", status, said);
    return (double)used.ru_utime.tv_sec + 1e-6 * (double)used.ru_utime.tv_usec;
}

static double run(bool terminal, char *const *arguments)
{
    return run_program(terminal, getenv("FEATBLAS_COMMAND"), arguments);
}

static char words[][13] = {"featblas", "project",  "graph.mtx", "-o",           "pairs.tsv", "--threads",
                           "1",        "--weight", "pearson",   "--min-weight", "0.99",      "-q"};
static char *project[14]; /* the words; the last one only when quiet */

static int set_up(void **state)
{
    (void)state;
    char *const generate[] = {(char *)"featblas", (char *)"gen",    (char *)"bipartite", (char *)"--rows",
                              (char *)"20000",    (char *)"--cols", (char *)"4000",      (char *)"--edges",
                              (char *)"800000",   (char *)"-o",     (char *)"graph.mtx", NULL};
    if (!getenv("FEATBLAS_COMMAND") || !mkdtemp(folder) || chdir(folder) != 0)
        return -1;
    for (int w = 0; w < 11; w++)
        project[w] = words[w];
    run(false, generate);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink("graph.mtx");
    unlink("pairs.tsv");
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

static void test_terminal(void **state)
{
    (void)state;
    double seconds = run(true, project);
    if (seconds < 1)
        print_message("only %.1f s: perhaps too quick for a progress line\n", seconds);
    else {
        assert_non_null(strstr(said, "] "));
        assert_non_null(strstr(said, "ETA "));
    }
    assert_non_null(strstr(said, "planning the projection"));
    assert_non_null(strstr(said, "pairs.tsv: "));
    assert_null(strstr(strstr(said, "pairs.tsv: "), "ETA"));
}

/* An input that halts for a second when most of its first half has been taken: the line is due. */
static void test_slow_input(void **state)
{
    (void)state;
    char script[] = "(head -c 3000000 graph.mtx; sleep 1; tail -c +3000001 graph.mtx) |"
                    " \"$FEATBLAS_COMMAND\" project - --threads 1 --min-weight 99 -o pairs.tsv";
    char *const shell[] = {(char *)"sh", (char *)"-c", script, NULL};
    run_program(true, "/bin/sh", shell);
    assert_non_null(strstr(said, " bytes/s"));
    assert_non_null(strstr(said, "pairs.tsv: "));
}

static void test_pipe(void **state)
{
    (void)state;
    run(false, project);
    assert_null(strchr(said, '\r'));
    assert_null(strchr(said, '\033'));
    assert_non_null(strstr(said, "projecting 20,000 x 4,000, 800,000 entries onto 4,000 columns"));
}

static void test_quiet(void **state)
{
    (void)state;
    project[11] = words[11];
    run(true, project);
    assert_string_equal(said, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_terminal), cmocka_unit_test(test_slow_input),
                                       cmocka_unit_test(test_pipe), cmocka_unit_test(test_quiet)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

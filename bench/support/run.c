/* Taking measurements: in this process, in a program of ours, in a peer. */
#include "bench.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double bench_cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void bench_touch(void)
{
    const size_t bytes = (size_t)5 << 30;
    char *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return;
#ifdef MADV_HUGEPAGE
    madvise(pages, bytes, MADV_HUGEPAGE);
#endif
    memset(pages, 1, bytes);
    munmap(pages, bytes);
}

const char *bench_path(const bench_settings *s, const char *name, const char *ending)
{
    static char paths[4][BENCH_PATH];
    static int turn;
    char *path = paths[turn++ % 4];
    snprintf(path, BENCH_PATH, "%s/%s%s", s->work, name, ending);
    return path;
}

double bench_file_size(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (double)st.st_size : 0;
}

/* In the child: never returns. */
static void become(const char *const *arguments, const char *out)
{
    int to = open(out ? out : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (to < 0 || dup2(to, STDOUT_FILENO) < 0)
        _exit(126);
    execv(arguments[0], (char *const *)(uintptr_t)arguments);
    _exit(127);
}

bool bench_spawn(const char *const *arguments, const char *out, bench_result *result)
{
    int status = 0;
    struct rusage usage;
    fflush(NULL);
    double start = bench_now();
    pid_t child = fork();
    if (child == 0)
        become(arguments, out);
    if (child < 0 || wait4(child, &status, 0, &usage) < 0)
        return false;
    result->seconds = bench_now() - start;
    result->cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                  1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    result->peak = 1024.0 * (double)usage.ru_maxrss;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool bench_peer(const bench_settings *s, const bench_measure *m, bench_result *result)
{
    char threads[16];
    const char *out = bench_path(s, "peer", ".json");
    bench_result process = {0};
    if (!s->python)
        return false;
    snprintf(threads, sizeof threads, "%d", m->threads);
    const char *arguments[] = {s->python,   s->peers, bench_path(s, m->input, ".npz"),
                               m->argument, threads,  NULL};
    if (!bench_spawn(arguments, out, &process))
        return false;
    json_t *line = json_load_file(out, 0, NULL);
    json_t *seconds = json_object_get(line, "seconds");
    if (!seconds)
        fprintf(stderr, "%s: skipped: %s\n", m->name, json_string_value(json_object_get(line, "skipped")));
    result->seconds = json_number_value(seconds);
    result->cpu = json_number_value(json_object_get(line, "cpu"));
    result->check = json_number_value(json_object_get(line, "check"));
    result->bytes = json_number_value(json_object_get(line, "bytes"));
    result->setup = json_number_value(json_object_get(line, "setup"));
    json_t *peak = json_object_get(line, "run_peak"); /* without what loading took */
    result->peak = peak ? json_number_value(peak) : process.peak;
    bool ok = seconds != NULL;
    json_decref(line);
    return ok;
}

void bench_reset_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file)
        return;
    fputs("5", file);
    fclose(file);
}

/* VmHWM of this process. */
static double peak_here(void)
{
    char line[128];
    double peak = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmHWM:", 6) == 0)
            peak = 1024.0 * strtod(line + 6, NULL);
    if (file)
        fclose(file);
    return peak;
}

bool bench_apart(const bench_settings *s, const bench_measure *m, bench_result *result)
{
    char threads[16];
    const char *out = bench_path(s, "apart", ".bin");
    bench_result process;
    snprintf(threads, sizeof threads, "%d", m->threads);
    const char *arguments[] = {"/proc/self/exe", "--work",    s->work, "--apart",
                               m->argument,      "--threads", threads, NULL};
    if (!bench_spawn(arguments, out, &process))
        return false;
    FILE *file = fopen(out, "rb");
    bool ok = file && fread(result, sizeof *result, 1, file) == 1;
    if (file)
        fclose(file);
    return ok;
}

bool bench_apart_here(bench_function run, const bench_settings *s)
{
    bench_result result = {0};
    const bench_measure m = {.name = s->apart, .argument = s->apart, .threads = s->threads};
    bool ok = run(s, &m, &result);
    result.peak = peak_here();
    return ok && fwrite(&result, sizeof result, 1, stdout) == 1 && fflush(stdout) == 0;
}

static void take(const bench_settings *s, const bench_measure *m, bench_runs *runs)
{
    bench_result result = {0};
    if (!m->run(s, m, &result)) {
        runs->failed = true;
        return;
    }
    runs->cpu[runs->count] = result.cpu;
    runs->seconds[runs->count++] = result.seconds;
    runs->last = result;
    fprintf(stderr, "%-48s %d thread%s %10.4f s, CPU %10.4f s\n", m->name, m->threads,
            m->threads == 1 ? " " : "s", result.seconds, result.cpu);
}

bool bench_wanted(const bench_settings *s, const char *name)
{
    return (!s->only || strstr(name, s->only)) && !(s->without && strstr(name, s->without));
}

void bench_run(const bench_settings *s, int count, const bench_measure *measures, bench_runs *runs)
{
    for (int repeat = 0; repeat < s->repeats; repeat++)
        for (int i = 0; i < count; i++)
            if (!runs[i].failed && !(repeat && measures[i].once) && bench_wanted(s, measures[i].name))
                take(s, &measures[i], &runs[i]);
}

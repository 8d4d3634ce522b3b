/* What the subcommands share: exit codes, messages, set-up, progress, signals. */
#ifndef APP_H
#define APP_H

#include "command_options.h"
#include "featblas.h"

/* Exit codes; docs/command-line.md lists them. */
enum {
    APP_OK = 0,
    APP_FAILURE = 1,
    APP_USAGE = 2,
    APP_INPUT = 3,   /* the input cannot be read, or is wrong */
    APP_MEMORY = 4,  /* the memory limit, or the memory, is too small */
    APP_OUTPUT = 5,  /* the output cannot be written */
    APP_SIGNAL = 128 /* + the signal's number: 130 after SIGINT */
};

/* Every cmd_<name>.c defines its row; featblas.c lists them. */
extern const command command_project, command_info, command_plan, command_gen, command_draw, command_demo,
    command_train, command_predict, command_sample, command_run, command_partition;

/* The command as the user would call it: "featblas", or the path that it was started by. */
extern const char *app_program;

/* Prints what may hold bytes of data, with those that a terminal would act on as \x1b; a line end is the last
 * character of `format`, or not meant as one. */
void app_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints "featblas: ..." on standard error, as app_print does, and returns `code`. */
int app_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same with "; did you mean 'x'?" where one of the words is close to `word`. `hint` follows in
 * brackets; may be NULL. */
int app_unknown(const char *what, const char *word, int count, const char *const *words, const char *hint);
/* Says what a failed call of the library said, and gives its exit code. Memory, format and file errors have
 * codes of their own; others get `stage`: APP_INPUT while reading, APP_USAGE where only the options can be
 * wrong, APP_OUTPUT while working and writing (then they are failures). Quiet where the reader of standard
 * output has gone. */
int app_library_error(GrB_Info info, int stage);

/* Applies --threads, --memory-limit, --tmpdir, --device, --no-sync; catches signals; shows progress where it
 * may. */
int app_start(const common_values *common);
void app_end(void); /* clears the progress line; call before printing anything */

void app_signals_catch(void);
int app_signal(void);             /* the signal that asked us to stop, or 0 */
void app_signals_hold(bool hold); /* true: the first signal is noted and no more; work ends where it looks */
void app_progress_start(void);    /* a line on standard error, if that is a terminal */
void app_progress_clear(void);
void app_progress_stop(void); /* no progress of the library is shown from now on */
/* A line of the caller's own in its place, at most ten a second; on a terminal only, and not when quiet.
 * `eta`: seconds that are left, < 0: not known. */
void app_progress_note(double eta, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Call before output goes to `path`: if that is "-" and a terminal, the progress line would be in its way. */
void app_progress_yield(const char *path);

double app_seconds(void);         /* since the process started */
int64_t app_peak_memory(void);    /* most bytes resident so far */
int64_t app_machine_memory(void); /* physical memory, or this process's cgroup limit if smaller */

/* 1234567 as "1,234,567"; buffer of at least 32. Returns buffer. */
char *app_thousands(char *buffer, int64_t n);
/* Prints and releases a JSON value; NULL says that it could not be made. */
struct json_t;
int app_print_json(struct json_t *root);
/* x with so many digits as "1.1e8"; buffer of at least 32. Returns buffer. */
char *app_scientific(char *buffer, double x, int digits);
/* Bytes as "41 MiB", "35.6 GiB"; limits are said as they are given, "41M" (ftb_bytes_text); buffer of at
 * least 32. Returns buffer. */
char *app_bytes(char *buffer, double bytes);

#endif

/* What a benchmark is made of: measurements, taken in turn so that a busy machine slows them alike, and bars,
 * which compare medians. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>

#define BENCH_REPEATS 15 /* at most */
#define BENCH_PATH 512

typedef struct bench_settings {
    int repeats;
    const char *only;    /* measurements whose names contain this; NULL: all */
    const char *without; /* not those whose names contain this; NULL: all */
    const char *python;  /* of the peers' environment; NULL: no peers */
    const char *peers;   /* peers.py */
    const char *command; /* the program featblas */
    const char *work;    /* folder for inputs and outputs */
    const char *json;    /* file for the results; NULL: none */
    const char *apart;   /* of a process of its own: the argument of its measurement; NULL: none */
    int threads;         /* of that */
} bench_settings;

/* What one run of a measurement says. */
typedef struct bench_result {
    double seconds;
    double cpu;   /* of all threads */
    double check; /* a sum of the result, to compare with the peers' */
    double bytes; /* read or written; for rates */
    double peak;  /* resident bytes of the process; for limits */
    double setup; /* seconds of what is prepared once and kept: partitions, MKL's optimize */
} bench_result;

typedef struct bench_measure bench_measure;
/* Runs once and fills *result; false, after saying why on standard error, if it cannot. */
typedef bool (*bench_function)(const bench_settings *s, const bench_measure *m, bench_result *result);

struct bench_measure {
    const char *name; /* "count triangle" */
    int threads;
    bench_function run;   /* bench_peer for another library's */
    const char *input;    /* which graph */
    const char *argument; /* for run: a peer's case, a weight, ... */
    bool once;            /* too long to repeat */
};

/* What has been measured so far. */
typedef struct bench_runs {
    int count;
    bool failed;
    double seconds[BENCH_REPEATS];
    double cpu[BENCH_REPEATS];
    bench_result last;
} bench_runs;

typedef enum bench_kind {
    BENCH_RATIO,   /* seconds of `against` / seconds of `name`, at least `bar` */
    BENCH_RATE,    /* bytes / seconds / 1e6, at least `bar` */
    BENCH_MEMORY,  /* resident bytes of `against` / those of `name`, at least `bar` */
    BENCH_SHARE,   /* bytes / seconds of `name` over that of `against`, at least `bar` */
    BENCH_SECONDS, /* at most `bar` */
    BENCH_PEAK     /* resident bytes, at most `bar` */
} bench_kind;

typedef struct bench_bar {
    const char *text;
    bench_kind kind;
    const char *name;
    int threads;
    const char *against;
    int against_threads;
    double bar;
} bench_bar;

/* Reads the options that all benchmarks have; false, after saying so, where they are wrong. */
bool bench_parse(bench_settings *s, int count, char **words);
/* Whether --only and --without leave a measurement. */
bool bench_wanted(const bench_settings *s, const char *name);
/* Takes every measurement `repeats` times, in turn, into runs[], which starts zeroed. */
void bench_run(const bench_settings *s, int count, const bench_measure *measures, bench_runs *runs);
/* Prints both tables and writes the JSON file; the number of bars that were missed. */
int bench_report(const bench_settings *s, int count, const bench_measure *measures, const bench_runs *runs,
                 int nbars, const bench_bar *bars);

bool bench_peer(const bench_settings *s, const bench_measure *m, bench_result *result);
/* Runs the measurement in this program's image started anew, so that result->peak is its memory alone: all of
 * the process's, or since bench_reset_peak. (A forked process would have to do without OpenMP's threads.) */
bool bench_apart(const bench_settings *s, const bench_measure *m, bench_result *result);
/* There: runs s->apart and hands over what it says. */
bool bench_apart_here(bench_function run, const bench_settings *s);
/* From here on the peak counts anew, from what is resident now. */
void bench_reset_peak(void);
/* Runs a program (arguments end with NULL), standard output into the file `out` (NULL: dropped); seconds,
 * peak. False if it fails. */
bool bench_spawn(const char *const *arguments, const char *out, bench_result *result);
double bench_now(void);
double bench_cpu(void); /* of this process so far */
/* Touches 3 GiB of fresh pages and gives them back. A virtual machine's host may have taken pages that lay
 * idle (measured: the first touch of 2 GiB takes 0.3 s where they are there, 5.8 s where not), which would be
 * charged to whoever comes first. bench/peers/peers.py does the same. */
void bench_touch(void);
/* The path of a file in the work folder; one of a few static buffers. */
const char *bench_path(const bench_settings *s, const char *name, const char *ending);
double bench_file_size(const char *path);

#endif

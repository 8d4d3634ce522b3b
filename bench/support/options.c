/* The options that all benchmarks have. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: bench --work FOLDER [--command FEATBLAS] [--python PYTHON --peers PEERS.PY]\n"
    "             [--repeats N] [--only TEXT] [--without TEXT] [--json FILE]\n";

static bool set(bench_settings *s, const char *name, const char *value)
{
    const struct {
        const char *name;
        const char **field;
    } texts[] = {{"--work", &s->work},   {"--command", &s->command}, {"--python", &s->python},
                 {"--peers", &s->peers}, {"--only", &s->only},       {"--without", &s->without},
                 {"--json", &s->json},   {"--apart", &s->apart}};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        if (strcmp(texts[t].name, name) == 0) {
            *texts[t].field = value;
            return true;
        }
    int *number = strcmp(name, "--repeats") == 0   ? &s->repeats
                  : strcmp(name, "--threads") == 0 ? &s->threads
                                                   : NULL;
    if (number)
        *number = (int)strtol(value, NULL, 10);
    return number != NULL;
}

bool bench_parse(bench_settings *s, int count, char **words)
{
    bool ok = count % 2 == 0;
    for (int i = 0; ok && i < count; i += 2)
        ok = set(s, words[i], words[i + 1]);
    ok = ok && s->work && s->repeats >= 1 && s->repeats <= BENCH_REPEATS && (!s->python || s->peers);
    if (!ok)
        fputs(usage, stderr);
    return ok;
}

/* Mutated models and states of training: `predict --load` and `train --resume` end by themselves, in little
 * memory, with a message and an exit code of their own, whatever the file says. FEATBLAS_CASES=n tries n
 * files in place of a few hundred, FEATBLAS_SEED=n others; the seed is printed, and a file that was not borne
 * is left in /tmp. */
#include "support/check.h"
#include "support/command.h"
#include "support/rng.h"
#include "support/temporary.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define CASES rng_cases(240)
#define ROOM (1 << 16)

enum { KINDS = 64 }; /* at most */
static char kinds[KINDS][32];
static int nkinds;

typedef struct model {
    char bytes[ROOM];
    size_t size;
} model;

static model saved[KINDS];

static char folder[4096];

static void make_data(void)
{
    char text[4096] = "", path[4200];
    snprintf(folder, sizeof folder, "%s", temp_path("data"));
    assert_int_equal(mkdir(folder, 0777), 0);
    static const char *const names[] = {"edges.tsv", "features.tsv", "labels.txt", "split.txt"};
    for (int n = 0; n < 4; n++) {
        size_t at = 0;
        for (int v = 0; v < 12; v++)
            at += (size_t)(n == 0 ? snprintf(text + at, sizeof text - at, "%d\t%d\n%d\t%d\n", v, (v + 1) % 12,
                                             v, (v + 5) % 12)
                           : n == 1 ? snprintf(text + at, sizeof text - at, "0.%d\t-0.%d\t%d\n", v, 9 - v % 9,
                                               v % 2)
                           : n == 2 ? snprintf(text + at, sizeof text - at, "%d\n", v % 3)
                                    : snprintf(text + at, sizeof text - at, "%s\n",
                                               v < 6   ? "train"
                                               : v < 9 ? "val"
                                                       : "test"));
        snprintf(path, sizeof path, "data/%s", names[n]);
        write_string(path, text);
    }
}

static void save_models(void)
{
    for (int k = 0; k < nkinds; k++) {
        char path[4096];
        size_t size;
        snprintf(path, sizeof path, "%s", temp_path("saved"));
        const char *const arguments[] = {"featblas", "train", folder, "--model", kinds[k], "--epochs", "2",
                                         "--hidden", "4",     "-q",   "--save",  path,     NULL};
        int code = command_run(arguments);
        if (code != 0) {
            char *said = read_bytes("said", &size);
            fail_msg("train %s: %d, %s", kinds[k], code, said ? said : "");
        }
        char *bytes = read_bytes("saved", &size);
        assert_true(bytes && size < ROOM);
        memcpy(saved[k].bytes, bytes, size);
        saved[k].size = size;
        free(bytes);
    }
}

/* ---- mutations */

static void put_at(model *m, size_t at, size_t removed, const char *bytes, size_t count)
{
    removed = removed < m->size - at ? removed : m->size - at;
    if (m->size - removed + count > ROOM)
        return;
    memmove(m->bytes + at + count, m->bytes + at + removed, m->size - at - removed);
    memcpy(m->bytes + at, bytes, count);
    m->size += count - removed;
}

static uint64_t head_size(const model *m)
{
    uint64_t size = 0;
    for (int b = 7; b >= 0; b--)
        size = size << 8 | (uint8_t)m->bytes[b];
    return size;
}

/* Another value for one that the head's JSON holds, of a text or of a number; the head's length is set
 * right, so that more than its first line is read. */
static void put_value(model *m, rng *r)
{
    static const char *const values[] = {"0",
                                         "-1",
                                         "1",
                                         "2",
                                         "1000000000",
                                         "1e9",
                                         "999999",
                                         "64",
                                         "63",
                                         "1024",
                                         "1000",
                                         "100000000",
                                         "nan",
                                         "inf",
                                         "-inf",
                                         "1e308",
                                         "-0",
                                         "0.5",
                                         "9999999999999999999",
                                         "4294967296",
                                         "1.5",
                                         "",
                                         "gcn",
                                         "appnp",
                                         "sgc",
                                         "relu",
                                         "none",
                                         "yes",
                                         "classes",
                                         "binary",
                                         "one-hot",
                                         "degree",
                                         "mean",
                                         "0x10",
                                         "7 ",
                                         "F64"};
    const uint64_t head = head_size(m);
    if (head < 3 || head > m->size - 8)
        return;
    size_t at = 8 + (size_t)rng_below(r, (int64_t)head), end = 8 + (size_t)head;
    while (at < end && !(m->bytes[at] == ':' || m->bytes[at] == '[' || m->bytes[at] == ','))
        at++;
    size_t from = at + 1 + (at + 1 < end && m->bytes[at + 1] == '"'), to = from;
    while (to < end && !strchr("\",]}[{:", m->bytes[to]))
        to++;
    if (from >= end)
        return;
    const char *value = values[rng_below(r, sizeof values / sizeof *values)];
    const size_t before = m->size;
    put_at(m, from, to - from, value, strlen(value));
    const uint64_t now = head + m->size - before;
    for (int b = 0; b < 8; b++)
        m->bytes[b] = (char)(now >> (8 * b));
}

static void put_float(model *m, rng *r)
{
    static const float values[] = {0, -1, 1e30f, -1e30f, 1e-40f, 0x1p24f};
    const uint64_t head = head_size(m);
    if (head > m->size - 8 || m->size - 8 - head < 4)
        return;
    float value = values[rng_below(r, sizeof values / sizeof *values)];
    uint32_t bits = (uint32_t)rng_bits(r);
    memcpy(m->bytes + 8 + head + (size_t)rng_below(r, (int64_t)((m->size - 8 - head) / 4)) * 4,
           rng_below(r, 2) ? (const void *)&value : &bits, 4);
}

static void mutate(model *m, rng *r)
{
    size_t at = (size_t)rng_below(r, (int64_t)m->size);
    switch (rng_below(r, 10)) {
    case 0:
        m->bytes[at] ^= (char)(1 << rng_below(r, 8));
        break;
    case 1:
        m->bytes[at] = (char)rng_bits(r);
        break;
    case 2:
        m->size = rng_below(r, 3) ? m->size : at + 1;
        break;
    case 3:
        put_at(m, at, (size_t)rng_below(r, 9), "", 0);
        break;
    case 4:
        put_float(m, r);
        break;
    default:
        put_value(m, r);
    }
}

/* ---- the check */

static void try_model(const model *m, bool resume, int number)
{
    char path[4096];
    write_bytes("mutated", m->bytes, m->size);
    snprintf(path, sizeof path, "%s", temp_path("mutated"));
    const char *const predict[] = {"featblas",  "predict", folder,           "--load", path, "-q",
                                   "--threads", "1",       "--memory-limit", "256M",   NULL},
                      *const train[] = {
                          "featblas", "train",    folder, "--resume",       path,   "-q", "--threads",
                          "1",        "--epochs", "3",    "--memory-limit", "256M", NULL};
    command_bears(resume ? train : predict, "mutated", number);
}

/* The files as they are, so that mutations are of something that works. */
static void as_they_are(void **state)
{
    (void)state;
    for (int k = 0; k < nkinds; k++)
        for (int resume = 0; resume < 2; resume++) {
            try_model(&saved[k], resume, -k);
            size_t size;
            char *said = read_bytes("said", &size);
            if (size > 0)
                fail_msg("%s: %s", kinds[k], said);
            free(said);
        }
}

static void mutated(void **state)
{
    (void)state;
    const int cases = CASES;
    rng r = rng_new();
    for (int c = 0; c < cases; c++) {
        model m = saved[rng_below(&r, nkinds)];
        for (int64_t times = 1 + rng_below(&r, 3); times > 0 && m.size > 16; times--)
            mutate(&m, &r);
        try_model(&m, rng_below(&r, 2), c);
    }
}

/* Every number that a text holds, far beyond what the option of the same meaning allows. */
static void large_numbers(void **state)
{
    static const char *const keys[] = {"layers",       "features", "outputs",  "hidden",        "heads",
                                       "output-heads", "hops",     "teleport", "output-hidden", "dropout"},
                             *const values[] = {"1000000000", "1e300", "-1", "nan", "0.5"};
    (void)state;
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            char key[64];
            model m = saved[strcmp(keys[k], "teleport") == 0 ? 6 : strstr(keys[k], "heads") ? 1 : 5];
            snprintf(key, sizeof key, "\"featblas.%s\":\"", keys[k]);
            m.bytes[m.size < ROOM ? m.size : ROOM - 1] = '\0';
            char *at = memmem(m.bytes, m.size, key, strlen(key));
            assert_non_null(at);
            const size_t from = (size_t)(at - m.bytes) + strlen(key), before = m.size, head = head_size(&m);
            const size_t length =
                (size_t)((char *)memchr(m.bytes + from, '"', m.size - from) - m.bytes) - from;
            put_at(&m, from, length, values[v], strlen(values[v]));
            for (int b = 0; b < 8; b++)
                m.bytes[b] = (char)((head + m.size - before) >> (8 * b));
            for (int resume = 0; resume < 2; resume++)
                try_model(&m, resume, (int)(1000 + k));
        }
}

/* All that the command knows. */
static void find_kinds(void)
{
    assert_int_equal(command_run((const char *const[]){"featblas", "help", "--models", NULL}), 0);
    char *rows = read_bytes("wrote", NULL), *rest = rows;
    for (const char *row; (row = strsep(&rest, "\n")) && nkinds < KINDS;)
        nkinds += sscanf(row, "| `%31[a-z0-9]`", kinds[nkinds]) == 1;
    free(rows);
    assert_true(nkinds >= 9);
}

static int start(void **state)
{
    (void)state;
    command_setup();
    find_kinds();
    make_data();
    save_models();
    return 0;
}

static int stop(void **state)
{
    static const char *const names[] = {"edges.tsv", "features.tsv", "labels.txt", "split.txt"};
    (void)state;
    for (int n = 0; n < 4; n++) {
        char path[64];
        snprintf(path, sizeof path, "data/%s", names[n]);
        remove(temp_path(path));
    }
    rmdir(folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_they_are), cmocka_unit_test(large_numbers),
                                       cmocka_unit_test(mutated)};
    if (!getenv("FEATBLAS_COMMAND"))
        return 77;
    return cmocka_run_group_tests(tests, start, stop);
}

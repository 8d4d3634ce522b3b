/* Mutated texts that the command reads beside graphs: tables of labels, lists of vertices, descriptions of
 * machines, wisdom. The command ends by itself, in little memory, with a message and an exit code of its own.
 * FEATBLAS_CASES=n tries n of each, FEATBLAS_SEED=n others; a file that was not borne is left in /tmp. */
#include "support/check.h"
#include "support/command.h"
#include "support/mutate.h"
#include "support/temporary.h"

#include <stdio.h>
#include <stdlib.h>

#define CASES rng_cases(24)

static char graph[512], mutated_path[512], labels[600];
static input wisdom_seed, machine_seed;

enum { LABELS, SOURCES, TARGETS, MACHINE, WISDOM, DESCRIBED, KINDS };
static const char *const kinds[KINDS] = {"labels", "sources", "targets", "machine", "wisdom", "describe"};

#define PROJECT "featblas", "project", "-q", graph, "--threads", "1", "--memory-limit", "64M"
#define PLAN "featblas", "plan", "--op", "spmm", "--graph", graph, "--dim", "8", "--threads", "1"
static const char *const arguments[KINDS][16] = {
    [LABELS] = {PROJECT, "--labels", labels, NULL},
    [SOURCES] = {PROJECT, "--sources", mutated_path, NULL},
    [TARGETS] = {PROJECT, "--targets", mutated_path, NULL},
    [MACHINE] = {PLAN, "--machine", mutated_path, NULL},
    [WISDOM] = {PLAN, "--wisdom", mutated_path, NULL},
    [DESCRIBED] = {"featblas", "plan", "--describe", "--machine", mutated_path, NULL},
};

static void put_seed(input *in, rng *r, int kind)
{
    static const char *const tables[] = {"id,name\n10,ten\n20,\"twen,\"\"ty\"\n30,thirty\n",
                                         "name;id\nten;10\n\"a\nb\";20\nc;30\n",
                                         "10\tten\n20\ttwenty\n30\t\n"},
                             *const lists[] = {"10\n20\n", "30\r\n\r\n10\r\n", " 20\t\n"};
    if (kind == LABELS)
        put_text(in, tables[rng_below(r, 3)]);
    else if (kind == SOURCES || kind == TARGETS)
        put_text(in, lists[rng_below(r, 3)]);
    else
        *in = kind == WISDOM ? wisdom_seed : machine_seed;
}

static void mutated(int kind)
{
    static const char *const columns[] = {"id,name", "1,2", "2,1"};
    static input in;
    const int cases = CASES;
    int accepted = 0;
    for (int number = 0; number < cases; number++) {
        rng r = rng_case(number);
        put_seed(&in, &r, kind);
        for (int64_t n = rng_below(&r, 4); n > 0; n--)
            mutate(&in, &r, true);
        if (rng_below(&r, 8) == 0)
            write_gzip("mutated", in.bytes, in.size);
        else
            write_bytes("mutated", in.bytes, in.size);
        snprintf(labels, sizeof labels, "%s:%s", mutated_path, columns[rng_below(&r, 3)]);
        accepted += command_bears(arguments[kind], "mutated", number) == 0;
    }
    print_message("%s: %d of %d cases were accepted\n", kinds[kind], accepted, cases);
    assert_true(accepted > cases / 100);
}

static void tables_of_labels(void **state)
{
    (void)state;
    mutated(LABELS);
}

static void lists_of_vertices(void **state)
{
    (void)state;
    mutated(SOURCES);
    mutated(TARGETS);
}

static void machines(void **state)
{
    (void)state;
    mutated(MACHINE);
    mutated(DESCRIBED);
}

static void wisdom(void **state)
{
    (void)state;
    mutated(WISDOM);
}

static void take(input *in, const char *name)
{
    char *bytes = read_bytes(name, &in->size);
    assert_true(bytes && in->size > 0 && in->size < INPUT_ROOM);
    memcpy(in->bytes, bytes, in->size);
    free(bytes);
}

static int start(void **state)
{
    (void)state;
    command_setup();
    write_string("graph.tsv", "1\t10\n1\t20\n2\t10\n2\t30\n3\t20\n3\t30\n3\t10\n4\t20\n");
    snprintf(graph, sizeof graph, "%s", temp_path("graph.tsv"));
    snprintf(mutated_path, sizeof mutated_path, "%s", temp_path("mutated"));
    const char *const measure[] = {PLAN, "--measure", "--wisdom", temp_path("wisdom"), NULL},
                      *const describe[] = {"featblas", "plan", "--describe", NULL};
    assert_int_equal(command_run(measure), 0);
    take(&wisdom_seed, "wisdom");
    assert_int_equal(command_run(describe), 0);
    take(&machine_seed, "wrote");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables_of_labels),
                                       cmocka_unit_test(lists_of_vertices), cmocka_unit_test(machines),
                                       cmocka_unit_test(wisdom)};
    if (!getenv("FEATBLAS_COMMAND"))
        return 77;
    return cmocka_run_group_tests(tests, start, NULL);
}

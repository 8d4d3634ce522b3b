/* The command: finds the subcommand, parses its options by its table, runs it. */
#include "app.h"
#include "file_names.h"
#include "learn/model.h"
#include "ops/ops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* In the order in which help lists them. */
static const command *const commands[] = {
    &command_project, &command_info,   &command_plan, &command_gen,       &command_draw, &command_train,
    &command_predict, &command_sample, &command_run,  &command_partition, &command_demo, NULL};

static const command *find(const char *name)
{
    for (const command *const *c = commands; *c; c++)
        if (strcmp((*c)->name, name) == 0)
            return *c;
    return NULL;
}

static int unknown_command(const char *name)
{
    const char *words[sizeof commands / sizeof *commands + 2];
    int count = 0;
    for (const command *const *c = commands; *c; c++)
        words[count++] = (*c)->name;
    words[count++] = "help";
    words[count++] = "version";
    return app_unknown("command", name, count, words, "featblas --help lists them");
}

static int version(void)
{
    printf("featblas %s\n", FtB_version());
    return APP_OK;
}

/* help | help COMMAND | help --man [COMMAND] | help --completion SHELL | help --commands |
 * help --models */
/* Words that stand for the overview: help itself and version are no commands with options. */
static bool is_overview(const char *word)
{
    static const char *const words[] = {"help", "version", "--help", "-h"};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        if (strcmp(word, words[w]) == 0)
            return true;
    return false;
}

static int help(int argc, char **argv)
{
    bool man = argc > 0 && strcmp(argv[0], "--man") == 0;
    if (argc == 2 && strcmp(argv[0], "--completion") == 0)
        return completion_print(stdout, argv[1], commands);
    if (argc == 1 && strcmp(argv[0], "--commands") == 0) { /* for scripts, one name a line */
        for (const command *const *c = commands; *c; c++)
            puts((*c)->name);
        return APP_OK;
    }
    if (argc == 1 && strcmp(argv[0], "--models") == 0) { /* for docs/nn.md, and for scripts */
        model_table(stdout);
        return APP_OK;
    }
    argc -= man;
    argv += man;
    argc -= argc == 1 && is_overview(argv[0]);
    if (argc > 1 || (argc == 1 && argv[0][0] == '-'))
        return app_fail(APP_USAGE,
                        "usage: featblas help [--man] [COMMAND] | help --completion bash|zsh|fish");
    if (argc == 0) {
        (man ? man_overview : help_overview)(stdout, commands);
        return APP_OK;
    }
    const command *c = find(argv[0]);
    if (!c)
        return unknown_command(argv[0]);
    (man ? man_print : help_print)(stdout, c);
    return APP_OK;
}

static int run(const command *c, int argc, char **argv)
{
    int operands = 0, code;
    void *values = calloc(1, c->size);
    if (!values)
        return app_fail(APP_MEMORY, "out of memory");
    if (c->defaults)
        memcpy(values, c->defaults, c->size);
    code = options_parse(c, values, argc, argv, &operands);
    if (code == APP_OK && ((const common_values *)values)->help)
        help_print(stdout, c);
    else if (code == APP_OK) {
        code = files_check(c, values, operands, argv);
        if (code == APP_OK && (code = app_start(values)) == APP_OK) {
            code = c->run(values, operands, argv);
            app_end();
        }
    }
    free(values);
    return code;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        help_overview(stderr, commands);
        return APP_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0)
        return version();
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        help_overview(stdout, commands);
        return APP_OK;
    }
    if (strcmp(name, "help") == 0)
        return help(argc - 2, argv + 2);
    const command *c = find(name);
    if (c)
        return run(c, argc - 2, argv + 2);
    if (name[0] == '-')
        return app_fail(APP_USAGE,
                        "unknown option '%s'; options follow a command (featblas --help lists them)", name);
    return unknown_command(name);
}

int main(int argc, char **argv)
{
    app_seconds(); /* starts the clock */
    if (argc > 0 && strchr(argv[0], '/'))
        app_program = argv[0];
    int code = dispatch(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout))
        code = code != APP_OK   ? code
               : errno == EPIPE ? APP_OUTPUT
                                : app_fail(APP_OUTPUT, "standard output: %s", strerror(errno));
    return app_signal() ? APP_SIGNAL + app_signal() : code;
}

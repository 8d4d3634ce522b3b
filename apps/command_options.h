/* Options as tables. A subcommand is one `command` row: its name, texts, option table and function.
 * Parsing, --help, the man page and the shells' completion are all read from that row.
 *
 * To add a subcommand `foo`, write apps/cmd_foo.c with
 *
 *     typedef struct foo_values {
 *         common_values common;      // must come first: -q, -v, --threads, ... are parsed into it
 *         const char *output;
 *         int64_t seed;
 *     } foo_values;
 *
 *     static const option foo_options[] = {
 *         {.heading = "Output"},     // starts a group in the help
 *         {.name = "output", .letter = 'o', .kind = OPTION_FILE, .offset = offsetof(foo_values, output),
 *          .argument = "FILE", .help = "Write to FILE."},
 *         {.name = "seed", .kind = OPTION_INTEGER, .offset = offsetof(foo_values, seed), .argument = "N",
 *          .low = 0, .help = "Seed of everything random."},
 *         {.name = NULL}};           // ends the table
 *
 *     static int run_foo(const void *values, int count, char *const *operands) {...return APP_OK;}
 *
 *     const command command_foo = {.name = "foo", .operands = "KIND", .min_operands = 1, .max_operands = 1,
 *         .summary = "...", .options = foo_options, .size = sizeof(foo_values), .run = run_foo, ...};
 *
 * and add command_foo to app.h and to the table in featblas.c. */
#ifndef APP_OPTIONS_H
#define APP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What an option's argument is, and the type of the field that it sets. */
typedef enum option_kind {
    OPTION_SET,     /* none; int: becomes `value` */
    OPTION_INTEGER, /* int64_t within low..high */
    OPTION_REAL,    /* double, not NaN (so that NaN can be the default that says "not given") */
    OPTION_SIZE,    /* int64_t: bytes such as 2G, 512M (powers of 1024), or 50% of this machine's memory */
    OPTION_CHOICE,  /* int: position in `choices`, or in `words` */
    OPTION_TEXT,    /* const char *; `choices` are offered by completion only */
    OPTION_FILE,  /* const char *; file_names.h looks at those that are read or `written`. Where the argument
                     is FILE alone, it must be there */
    OPTION_TABLE, /* const char *: FILE:COLUMN,COLUMN, a file that is read */
    OPTION_TEXTS, /* option_texts: the option may be given again */
    OPTION_DIRECTORY, /* const char * */
} option_kind;

/* What a file or folder that is written is, which is checked before anything is read: its name's ending, and
 * that its folder can be written to. */
typedef enum option_form {
    FORM_UNKNOWN, /* it is not checked */
    FORM_ANY,     /* any ending */
    FORM_MATRIX,  /* a format of matrices, or no ending */
    FORM_BLOCK,   /* a format of blocks, or no ending */
    FORM_PICTURE, /* .svg or .png */
    FORM_FOLDER,  /* which is there, or is made */
} option_form;

/* What an option was given, each time. */
enum { OPTION_TEXTS_MOST = 64 };
typedef struct option_texts {
    int count;
    const char *at[OPTION_TEXTS_MOST];
} option_texts;

typedef struct option {
    const char *heading; /* not an option but the title of those that follow */
    const char *name;    /* long name without dashes */
    char letter;         /* short name, or 0 */
    option_kind kind;
    size_t offset;                           /* of the field in the values */
    const char *argument;                    /* what help calls the argument; NULL for OPTION_SET */
    int value;                               /* OPTION_SET: what the field becomes */
    int64_t low, high;                       /* OPTION_INTEGER; high 0: none */
    const char *choices;                     /* "text|json" */
    const char *const *(*words)(int *count); /* or a list made at run time */
    bool written;                            /* OPTION_FILE: the file is written, or may be */
    const char *rewrites; /* written: the option whose file it may be, which is read before; NULL: none */
    option_form form;     /* of what is written */
    option_form (*form_of)(const void *values,
                           const char *operand); /* or by what else was given: operand 0 */
    const char *help;                            /* sentences; {} stands for what `list` says */
    const char *(*list)(void);                   /* NULL: none */
} option;

/* The options that every subcommand has; the first member of each values struct. */
typedef struct common_values {
    int help;
    int quiet, verbose, no_sync;
    int64_t threads;      /* 0: all cores */
    int64_t memory_limit; /* bytes, 0: none */
    const char *tmpdir;
    const char *device; /* NULL: the host */
} common_values;

/* The options of a subcommand that reads a matrix (`reads`): then this comes first. */
typedef struct reader_values {
    common_values common;
    const char *columns, *delimiter;
    int adjacency, header, duplicates, format;
} reader_values;

typedef struct command {
    const char *name;
    const char *operands;           /* as help shows them: "INPUT|-"; files, but for operand_words */
    int min_operands, max_operands; /* how many there may be */
    const char *operand_words;      /* completion of the first operand: "a|b"; NULL: files */
    const char *summary;            /* one line, no full stop */
    const char *description;        /* paragraphs, separated by an empty line */
    const char *examples;           /* lines as typed, each "$ ..." or indented output */
    bool reads;                     /* has the input options; values begin with reader_values */
    bool writes;                    /* files: has --no-sync */
    const option *shared;           /* rows that come before, of several commands; NULL: none */
    const option *options;          /* ends with a row without heading and name */
    size_t size;                    /* of the values struct */
    const void *defaults;           /* values before parsing; NULL: zeros */
    int (*run)(const void *values, int count, char *const *operands); /* returns an exit code */
} command;

/* Walks over a command's rows, headings included: input options, shared ones, its own, --no-sync where it
 * writes, common ones. NULL starts, and ends. */
const option *options_next(const command *c, const option *previous);

/* Parses what follows the subcommand's name. Operands are gathered, in order, at the front of argv.
 * Returns APP_OK, or APP_USAGE after saying what is wrong. */
int options_parse(const command *c, void *values, int argc, char **argv, int *operands);

/* Bytes from text such as "2G", "512M", "50%"; -1 if it is none. */
int64_t options_parse_size(const char *text);
/* Calls visit for each word of "a|b|c"; returns how many there are. */
int options_split(const char *choices, void (*visit)(const char *word, size_t length, int at, void *arg),
                  void *arg);

/* The option's help, with its list in place. */
#define OPTION_HELP 2048
const char *options_help(char buffer[OPTION_HELP], const option *o);

void help_print(FILE *out, const command *c);                  /* --help */
void help_overview(FILE *out, const command *const *commands); /* featblas --help */
void man_print(FILE *out, const command *c);                   /* featblas-NAME.1 */
void man_overview(FILE *out, const command *const *commands);  /* featblas.1 */
int completion_print(FILE *out, const char *shell, const command *const *commands);

#endif

/* The options that subcommands share, and the walk over all of a subcommand's. */
#include "command_options.h"

#include "format_words.h"

#include <string.h>

#define READER(name) .offset = offsetof(reader_values, name)

static const option reader_options[] = {
    {.heading = "Input"},
    {.name = "columns",
     .kind = OPTION_TEXT,
     READER(columns),
     .argument = "ROW,COL[,VALUE]",
     .help =
         "Edge lists: the columns of the row id, the column id and the value, by name or by number from 1. "
         "Default: 1,2,3; without a third one every entry is 1."},
    {.name = "adjacency",
     .kind = OPTION_SET,
     READER(adjacency),
     .value = 1,
     .help = "A line is a row and all its columns, 'user item item ...', instead of an edge."},
    {.name = "header",
     .kind = OPTION_SET,
     READER(header),
     .value = 1,
     .help = "Edge lists: the first line names the columns. Default: guessed; with --adjacency it does not."},
    {.name = "no-header",
     .kind = OPTION_SET,
     READER(header),
     .value = -1,
     .help = "Edge lists: the first line is an edge."},
    {.name = "delimiter",
     .kind = OPTION_TEXT,
     READER(delimiter),
     .argument = "CHAR",
     .choices = "tab|comma|semicolon|space",
     .help = "Edge lists: what separates columns: a character, or tab, comma, semicolon, space. Default: "
             "guessed."},
    {.name = "duplicates",
     .kind = OPTION_CHOICE,
     READER(duplicates),
     .argument = "RULE",
     .choices = "sum|max|min|first|last|count|error",
     .help =
         "What becomes of entries with the same row and column: sum, max, min, first, last, count (how many "
         "there are), or error. Default: sum."},
    {.name = "input-format",
     .kind = OPTION_CHOICE,
     READER(format),
     .argument = "FORMAT",
     .words = formats_read,
     .list = formats_read_list,
     .help = "What the input is: {}; tsv and csv are edge lists. Default: auto, by content; gzip is always "
             "found by content."},
    {.name = NULL},
};

static const option writer_options[] = {
    {.heading = "Files"},
    {.name = "no-sync",
     .kind = OPTION_SET,
     .offset = offsetof(common_values, no_sync),
     .value = 1,
     .help =
         "Do not wait until what is written is on the disk: faster, but a file may be lost, the old one as "
         "well, if the power fails within the next minute or so."},
    {.name = NULL},
};

static const option common_options[] = {
    {.heading = "Resources"},
    {.name = "threads",
     .kind = OPTION_INTEGER,
     .offset = offsetof(common_values, threads),
     .argument = "N",
     .low = 0,
     .high = 4096,
     .help = "Use N threads. Default: one per core. Results do not depend on it."},
    {.name = "memory-limit",
     .kind = OPTION_SIZE,
     .offset = offsetof(common_values, memory_limit),
     .argument = "SIZE",
     .help = "Hold no more than SIZE of memory, such as 2G, 512M (powers of 1024) or 50% of this machine's "
             "memory. Work is cut into pieces that fit; a limit that `project` or `run` cannot meet is "
             "refused before the work starts. Default: none."},
    {.name = "tmpdir",
     .kind = OPTION_DIRECTORY,
     .offset = offsetof(common_values, tmpdir),
     .argument = "DIR",
     .help = "Keep temporary files in DIR. Default: beside the output, else $TMPDIR, else /tmp."},
    {.name = "device",
     .kind = OPTION_TEXT,
     .offset = offsetof(common_values, device),
     .argument = "NAME",
     .help = "Place the work on the device NAME, which \"featblas info --devices\" lists. "
             "What the device cannot do is done on the processor. Default: cpu."},
    {.heading = "Messages"},
    {.name = "quiet",
     .letter = 'q',
     .kind = OPTION_SET,
     .offset = offsetof(common_values, quiet),
     .value = 1,
     .help = "Say nothing but errors."},
    {.name = "verbose",
     .letter = 'v',
     .kind = OPTION_SET,
     .offset = offsetof(common_values, verbose),
     .value = 1,
     .help = "Say more about what is done."},
    {.name = "help",
     .letter = 'h',
     .kind = OPTION_SET,
     .offset = offsetof(common_values, help),
     .value = 1,
     .help = "Print this help."},
    {.name = NULL},
};

static const option *end_of(const option *table)
{
    while (table->heading || table->name)
        table++;
    return table;
}

/* A table whose end is reached gives way to the next that has rows. */
const option *options_next(const command *c, const option *previous)
{
    const option *const tables[] = {c->reads ? reader_options : NULL, c->shared, c->options,
                                    c->writes ? writer_options : NULL, common_options};
    const option *o = previous ? previous + 1 : NULL;
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        if (!tables[t] || (o && o != end_of(tables[t])))
            continue;
        o = o ? NULL : tables[t];
        if (o && o == end_of(o))
            o = NULL;
    }
    return o;
}

const char *options_help(char buffer[OPTION_HELP], const option *o)
{
    const char *place = o->list ? strstr(o->help, "{}") : NULL;
    if (!place)
        return o->help;
    snprintf(buffer, OPTION_HELP, "%.*s%s%s", (int)(place - o->help), o->help, o->list(), place + 2);
    return buffer;
}

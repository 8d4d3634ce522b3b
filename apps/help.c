/* --help, from a command's table. */
#include "app.h"

#include <string.h>

#define LINE 88   /* help is wrapped at this column */
#define INDENT 26 /* and its texts start at this one */

/* Prints text wrapped at LINE; the cursor stands at `column`, later lines start at `indent`. */
static void wrap(FILE *out, const char *text, int column, int indent)
{
    bool first = true;
    while (*text) {
        int length = (int)strcspn(text, " \n");
        if (!first && column + 1 + length > LINE) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
            first = true;
        }
        fprintf(out, "%s%.*s", first ? "" : " ", length, text);
        column += length + (first ? 0 : 1);
        first = false;
        text += length;
        if (text[0] == '\n' && text[1] == '\n') {
            fprintf(out, "\n\n%*s", indent, "");
            column = indent;
            first = true;
        }
        text += strspn(text, " \n");
    }
    fputc('\n', out);
}

static void print_option(FILE *out, const option *o)
{
    char left[96], help[OPTION_HELP];
    int n = o->letter ? snprintf(left, sizeof left, "  -%c, --%s", o->letter, o->name)
                      : snprintf(left, sizeof left, "      --%s", o->name);
    if (o->argument)
        n += snprintf(left + n, sizeof left - (size_t)n, " %s", o->argument);
    fputs(left, out);
    if (n + 2 > INDENT)
        fprintf(out, "\n%*s", INDENT, "");
    else
        fprintf(out, "%*s", INDENT - n, "");
    wrap(out, options_help(help, o), INDENT, INDENT);
}

void help_print(FILE *out, const command *c)
{
    fprintf(out, "usage: featblas %s [OPTION]...%s%s\n\n", c->name, c->operands ? " " : "",
            c->operands ? c->operands : "");
    wrap(out, c->description ? c->description : c->summary, 0, 0);
    for (const option *o = options_next(c, NULL); o; o = options_next(c, o)) {
        if (o->heading)
            fprintf(out, "\n%s:\n", o->heading);
        else
            print_option(out, o);
    }
    if (c->examples)
        fprintf(out, "\nExamples:\n%s", c->examples);
}

void help_overview(FILE *out, const command *const *commands)
{
    fputs("usage: featblas COMMAND [OPTION]... [OPERAND]...\n\n", out);
    wrap(out, "Products of sparse matrices whose entries carry features.", 0, 0);
    fputs("\nCommands:\n", out);
    for (; *commands; commands++) {
        fprintf(out, "  %-12s", (*commands)->name);
        wrap(out, (*commands)->summary, 14, 14);
    }
    fputs("  help        print help: featblas help COMMAND, help --man [COMMAND],\n"
          "              help --completion bash|zsh|fish\n"
          "  version     print the version (also --version)\n\n"
          "featblas COMMAND --help lists a command's options.\n",
          out);
}

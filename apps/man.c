/* Manual pages (roff, man macros), from a command's table. */
#include "app.h"

#include <string.h>
#include <strings.h>

/* One line of text with what roff would read as a request or an escape made literal. */
static void escape(FILE *out, const char *text, size_t length)
{
    if (length && (text[0] == '.' || text[0] == '\''))
        fputs("\\&", out);
    for (size_t at = 0; at < length; at++) {
        if (text[at] == '\\')
            fputs("\\e", out);
        else if (text[at] == '-')
            fputs("\\-", out);
        else if (text[at] == '\'')
            fputs("\\(aq", out);
        else if (text[at] == '^')
            fputs("\\(ha", out);
        else if (text[at] == '~')
            fputs("\\(ti", out);
        else if (text[at] == '`')
            fputs("\\(ga", out);
        else
            fputc(text[at], out);
    }
}

static void escape_all(FILE *out, const char *text) { escape(out, text, strlen(text)); }

/* Paragraphs separated by an empty line. */
static void paragraphs(FILE *out, const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        if (length)
            escape(out, text, length);
        else
            fputs(".PP", out);
        fputc('\n', out);
        text += length + (text[length] == '\n');
    }
}

static void print_option(FILE *out, const option *o)
{
    char help[OPTION_HELP];
    fputs(".TP\n", out);
    if (o->letter)
        fprintf(out, "\\fB\\-%c\\fR, ", o->letter);
    fputs("\\fB\\-\\-", out);
    escape_all(out, o->name);
    fputs("\\fR", out);
    if (o->argument) {
        fputs(" \\fI", out);
        escape_all(out, o->argument);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    paragraphs(out, options_help(help, o));
}

static void title(FILE *out, const char *name)
{
    fputs(".TH ", out);
    for (const char *p = name; *p; p++)
        fputc(*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p, out);
    fprintf(out, " 1 \"\" \"FeatBLAS %s\" \"FeatBLAS manual\"\n", FtB_version());
}

/* "exit codes", the same for all commands. */
static void exit_status(FILE *out)
{
    static const char *const rows[][2] = {
        {"0", "Done."},
        {"1", "The work failed, or \\-\\-check found a difference."},
        {"2", "Wrong usage: an unknown option, weight or column."},
        {"3", "The input cannot be read or is wrong; the message has file, line and column."},
        {"4", "The memory limit is too small; the message has one that would do, or what was lacking."},
        {"5", "The output cannot be written."},
        {"130", "Interrupted (SIGINT); 143 after SIGTERM. The output is then as it was before."},
    };
    fputs(".SH EXIT STATUS\n", out);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        fprintf(out, ".TP\n%s\n%s\n", rows[r][0], rows[r][1]);
}

void man_print(FILE *out, const command *c)
{
    char name[64];
    snprintf(name, sizeof name, "featblas-%s", c->name);
    title(out, name);
    fprintf(out, ".SH NAME\nfeatblas\\-%s \\- ", c->name);
    escape_all(out, c->summary);
    fprintf(out, "\n.SH SYNOPSIS\n\\fBfeatblas %s\\fR [\\fIOPTION\\fR]...", c->name);
    if (c->operands) {
        fputs(" \\fI", out);
        escape_all(out, c->operands);
        fputs("\\fR", out);
    }
    fputs("\n.SH DESCRIPTION\n", out);
    paragraphs(out, c->description ? c->description : c->summary);
    fputs(".SH OPTIONS\n", out);
    for (const option *o = options_next(c, NULL); o; o = options_next(c, o)) {
        if (o->heading) {
            fputs(".SS ", out);
            escape_all(out, o->heading);
            fputc('\n', out);
        } else
            print_option(out, o);
    }
    exit_status(out);
    if (c->examples) {
        fputs(".SH EXAMPLES\n.nf\n", out);
        paragraphs(out, c->examples);
        fputs(".fi\n", out);
    }
    fputs(".SH SEE ALSO\n\\fBfeatblas\\fR(1)\n", out);
}

void man_overview(FILE *out, const command *const *commands)
{
    title(out, "featblas");
    fputs(".SH NAME\nfeatblas \\- products of sparse matrices whose entries carry features\n"
          ".SH SYNOPSIS\n\\fBfeatblas\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIOPERAND\\fR]...\n"
          ".br\n\\fBfeatblas help\\fR [\\fB\\-\\-man\\fR] [\\fICOMMAND\\fR]\n"
          ".br\n\\fBfeatblas help \\-\\-completion\\fR bash|zsh|fish\n"
          ".SH COMMANDS\n",
          out);
    for (const command *const *c = commands; *c; c++) {
        fprintf(out, ".TP\n\\fBfeatblas\\-%s\\fR(1)\n", (*c)->name);
        escape_all(out, (*c)->summary);
        fputs(".\n", out);
    }
    exit_status(out);
    fputs(".SH SEE ALSO\n", out);
    for (const command *const *c = commands; *c; c++)
        fprintf(out, "\\fBfeatblas\\-%s\\fR(1)%s\n", (*c)->name, c[1] ? "," : "");
}

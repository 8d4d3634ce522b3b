/* Completion for bash, zsh and fish, from the commands' tables. */
#include "app.h"

#include <string.h>

static const char *const shells[] = {"bash", "zsh", "fish"};

static void put_word(const char *word, size_t length, int at, void *arg)
{
    FILE *out = arg;
    fprintf(out, "%s%.*s", at ? " " : "", (int)length, word);
}

/* The words that may follow an option, separated by blanks. zsh and fish would read the brackets in
 * w1/(w1+w2), so those are quoted. */
static void put_words(FILE *out, const option *o)
{
    int count = 0;
    options_split(o->choices, put_word, out);
    const char *const *words = o->words ? o->words(&count) : NULL;
    for (int w = 0; w < count; w++) {
        fputs(w ? " " : "", out);
        for (const char *p = words[w]; *p; p++)
            fprintf(out, "%s%c", strchr("()", *p) ? "\\" : "", *p);
    }
}

static void put_commands(FILE *out, const command *const *commands)
{
    for (; *commands; commands++)
        fprintf(out, "%s ", (*commands)->name);
    fputs("help version", out);
}

/* One line of help, up to the first full stop, without what the shells would read. */
static void put_brief(FILE *out, const char *help)
{
    for (const char *p = help; *p && !(p[0] == '.' && (p[1] == ' ' || !p[1])); p++)
        if (!strchr("'\"[]`$\\", *p))
            fputc(*p == ':' ? ',' : *p, out);
}

/* ---- bash: one case per option that takes an argument, one per command */

static void bash_options(FILE *out, const command *c)
{
    fprintf(out, "    %s)\n        case $previous in\n", c->name);
    for (const option *o = options_next(c, NULL); o; o = options_next(c, o)) {
        if (o->heading || o->kind == OPTION_SET)
            continue;
        fputs("        ", out);
        if (o->letter)
            fprintf(out, "-%c|", o->letter);
        fprintf(out, "--%s) ", o->name);
        if (o->kind == OPTION_FILE)
            fputs("COMPREPLY=($(compgen -f -- \"$current\"))", out);
        else if (o->kind == OPTION_DIRECTORY)
            fputs("COMPREPLY=($(compgen -d -- \"$current\"))", out);
        else if (o->choices || o->words) {
            fputs("COMPREPLY=($(compgen -W '", out);
            put_words(out, o);
            fputs("' -- \"$current\"))", out);
        } else
            fputs("COMPREPLY=()", out);
        fputs("; return ;;\n", out);
    }
    fputs("        esac\n        words='", out);
    for (const option *o = options_next(c, NULL); o; o = options_next(c, o))
        if (o->name)
            fprintf(out, "--%s ", o->name);
    fputs("'\n        operands='", out);
    options_split(c->operand_words, put_word, out);
    fputs("' ;;\n", out);
}

static void bash(FILE *out, const command *const *commands)
{
    fputs("# Completion of featblas for bash.\n"
          "_featblas() {\n"
          "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words='' "
          "operands=''\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        COMPREPLY=($(compgen -W '",
          out);
    put_commands(out, commands);
    fputs(" --help --version' -- \"$current\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n",
          out);
    for (const command *const *c = commands; *c; c++)
        bash_options(out, *c);
    fputs("    help)\n        if [ \"$previous\" = --completion ]; then words='bash zsh fish'; else "
          "words='--man --completion ",
          out);
    put_commands(out, commands);
    fputs("'; fi\n        COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n        return ;;\n    esac\n"
          "    if [ \"${current#-}\" != \"$current\" ]; then\n"
          "        COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
          "    elif [ -n \"$operands\" ]; then\n"
          "        COMPREPLY=($(compgen -W \"$operands\" -- \"$current\"))\n"
          "    else\n"
          "        COMPREPLY=($(compgen -f -- \"$current\"))\n"
          "    fi\n}\n"
          "complete -o filenames -F _featblas featblas\n",
          out);
}

/* ---- zsh: _arguments of each command */

static void zsh_option(FILE *out, const option *o)
{
    char help[OPTION_HELP];
    for (int form = o->letter ? 0 : 1; form < 2; form++) {
        fputs("        '", out);
        if (form == 0)
            fprintf(out, "-%c", o->letter);
        else
            fprintf(out, "--%s%s", o->name, o->kind == OPTION_SET ? "" : "=");
        fputc('[', out);
        put_brief(out, options_help(help, o));
        fputc(']', out);
        if (o->kind != OPTION_SET)
            fputs(":argument:", out);
        if (o->kind == OPTION_FILE)
            fputs("_files", out);
        else if (o->kind == OPTION_DIRECTORY)
            fputs("_files -/", out);
        else if (o->choices || o->words) {
            fputc('(', out);
            put_words(out, o);
            fputc(')', out);
        }
        fputs("' \\\n", out);
    }
}

static void zsh(FILE *out, const command *const *commands)
{
    fputs("#compdef featblas\n_featblas() {\n    if (( CURRENT == 2 )); then\n        compadd -- ", out);
    put_commands(out, commands);
    fputs(" --help --version\n        return\n    fi\n    local command=$words[2]\n"
          "    shift words\n    (( CURRENT-- ))\n    case $command in\n",
          out);
    for (const command *const *c = commands; *c; c++) {
        fprintf(out, "    %s)\n        _arguments -s \\\n", (*c)->name);
        for (const option *o = options_next(*c, NULL); o; o = options_next(*c, o))
            if (o->name)
                zsh_option(out, o);
        if ((*c)->operand_words) {
            fputs("        '1:operand:(", out);
            options_split((*c)->operand_words, put_word, out);
            fputs(")' \\\n", out);
        }
        fputs("        '*:file:_files' ;;\n", out);
    }
    fputs("    help) compadd -- --man --completion bash zsh fish ", out);
    put_commands(out, commands);
    fputs(" ;;\n    esac\n}\n_featblas \"$@\"\n", out);
}

/* ---- fish: one complete line per option */

static void fish_option(FILE *out, const command *c, const option *o)
{
    char help[OPTION_HELP];
    fprintf(out, "complete -c featblas -n '__fish_seen_subcommand_from %s' -l %s", c->name, o->name);
    if (o->letter)
        fprintf(out, " -s %c", o->letter);
    if (o->kind == OPTION_FILE)
        fputs(" -r -F", out);
    else if (o->kind == OPTION_DIRECTORY)
        fputs(" -x -a '(__fish_complete_directories)'", out);
    else if (o->choices || o->words) {
        fputs(" -x -a '", out);
        put_words(out, o);
        fputc('\'', out);
    } else if (o->kind != OPTION_SET)
        fputs(" -x", out);
    fputs(" -d '", out);
    put_brief(out, options_help(help, o));
    fputs("'\n", out);
}

static void fish(FILE *out, const command *const *commands)
{
    fputs("# Completion of featblas for fish.\n", out);
    for (const command *const *c = commands; *c; c++) {
        fprintf(out, "complete -c featblas -n __fish_use_subcommand -f -a %s -d '", (*c)->name);
        put_brief(out, (*c)->summary);
        fputs("'\n", out);
        for (const option *o = options_next(*c, NULL); o; o = options_next(*c, o))
            if (o->name)
                fish_option(out, *c, o);
        if ((*c)->operand_words) {
            fprintf(out, "complete -c featblas -n '__fish_seen_subcommand_from %s' -a '", (*c)->name);
            options_split((*c)->operand_words, put_word, out);
            fputs("'\n", out);
        }
    }
    fputs("complete -c featblas -n __fish_use_subcommand -f -a 'help version'\n"
          "complete -c featblas -n '__fish_seen_subcommand_from help' -f -l man -d 'Print the manual page'\n"
          "complete -c featblas -n '__fish_seen_subcommand_from help' -l completion -x -a 'bash zsh fish'\n",
          out);
}

int completion_print(FILE *out, const char *shell, const command *const *commands)
{
    if (strcmp(shell, "bash") == 0)
        bash(out, commands);
    else if (strcmp(shell, "zsh") == 0)
        zsh(out, commands);
    else if (strcmp(shell, "fish") == 0)
        fish(out, commands);
    else
        return app_unknown("shell", shell, 3, shells, "bash, zsh and fish are known");
    return APP_OK;
}

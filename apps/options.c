/* Parsing of options by a command's table, in GNU style: --name VALUE, --name=VALUE, -n VALUE, -nVALUE,
 * -qv, options and operands in any order, -- ends the options. The last of repeated options wins.
 * Abbreviations are not accepted: a script that uses one would break when an option is added. */
#include "command_options.h"

#include "app.h"
#include "ops/ops.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int options_split(const char *choices, void (*visit)(const char *word, size_t length, int at, void *arg),
                  void *arg)
{
    int count = 0;
    for (const char *word = choices; word && *word; count++) {
        size_t length = strcspn(word, "|");
        visit(word, length, count, arg);
        word += length + (word[length] == '|');
    }
    return count;
}

int64_t options_parse_size(const char *text)
{
    static const char units[] = "BKMGTP";
    char *end;
    double number = strtod(text, &end);
    if (end == text || !isfinite(number) || number < 0 || !strchr("0123456789.", text[0]))
        return -1;
    if (end[0] == '%')
        return end[1] || number > 100 ? -1 : (int64_t)(number / 100 * (double)app_machine_memory());
    if (*end) {
        const char *unit = strchr(units, *end & ~0x20);
        if (!unit)
            return -1;
        number = ldexp(number, 10 * (int)(unit - units));
        end++;
        if (unit != units && (strcasecmp(end, "b") == 0 || strcasecmp(end, "ib") == 0))
            end += strlen(end);
    }
    return *end || number >= 0x1p62 ? -1 : (int64_t)number;
}

/* The words that a CHOICE may be, gathered for comparing and for "did you mean". */
#define MAX_WORDS 96
typedef struct word_list {
    int count;
    char *words[MAX_WORDS];
} word_list;

static void gather(const char *word, size_t length, int at, void *arg)
{
    word_list *list = arg;
    if (at < MAX_WORDS && (list->words[at] = strndup(word, length)) != NULL)
        list->count = at + 1;
}

static void gather_all(word_list *list, const option *o)
{
    int count = 0;
    const char *const *words = o->words ? o->words(&count) : NULL;
    options_split(o->choices, gather, list);
    for (int w = 0; w < count; w++)
        gather(words[w], strlen(words[w]), w, list);
}

static void forget(word_list *list)
{
    for (int w = 0; w < list->count; w++)
        free(list->words[w]);
}

static int set_choice(const option *o, int *field, const char *text)
{
    word_list list = {0};
    gather_all(&list, o);
    int found = -1;
    for (int w = 0; w < list.count; w++)
        if (strcmp(list.words[w], text) == 0)
            found = w;
    if (found >= 0)
        *field = found;
    else {
        char what[64], hint[256] = "known: ";
        snprintf(what, sizeof what, "value of --%s", o->name);
        for (int w = 0; w < list.count; w++) {
            const size_t at = strlen(hint);
            snprintf(hint + at, sizeof hint - at, "%s%s", w > 0 ? "|" : "", list.words[w]);
        }
        app_unknown(what, text, list.count, (const char *const *)list.words, hint);
    }
    forget(&list);
    return found >= 0 ? APP_OK : APP_USAGE;
}

static int set_integer(const option *o, int64_t *field, const char *text)
{
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    if (end == text || *end)
        return app_fail(APP_USAGE, "--%s: '%s' is not a whole number", o->name, text);
    if (errno == ERANGE || n < o->low || (o->high && n > o->high)) {
        if (o->high)
            return app_fail(APP_USAGE, "--%s: %s is outside %" PRId64 "..%" PRId64, o->name, text, o->low,
                            o->high);
        return app_fail(APP_USAGE, "--%s: %s is %s", o->name, text, n < o->low ? "too small" : "too large");
    }
    *field = n;
    return APP_OK;
}

static int set_real(const option *o, double *field, const char *text)
{
    char *end;
    double x = strtod(text, &end);
    if (end == text || *end || isnan(x))
        return app_fail(APP_USAGE, "--%s: '%s' is not a number", o->name, text);
    *field = x;
    return APP_OK;
}

static int set_size(const option *o, int64_t *field, const char *text)
{
    int64_t bytes = options_parse_size(text);
    if (bytes < 0)
        return app_fail(APP_USAGE, "--%s: '%s' is not a size such as 2G, 512M or 50%%", o->name, text);
    if (bytes == 0)
        return app_fail(APP_USAGE, "--%s: the limit must be at least one byte", o->name);
    *field = bytes;
    return APP_OK;
}

static int add_text(const option *o, option_texts *field, const char *text)
{
    if (field->count == OPTION_TEXTS_MOST)
        return app_fail(APP_USAGE, "--%s: given more than %d times", o->name, OPTION_TEXTS_MOST);
    field->at[field->count++] = text;
    return APP_OK;
}

static int set(const option *o, void *values, const char *text)
{
    void *field = (char *)values + o->offset;
    switch (o->kind) {
    case OPTION_SET:
        *(int *)field = o->value;
        return APP_OK;
    case OPTION_INTEGER:
        return set_integer(o, field, text);
    case OPTION_REAL:
        return set_real(o, field, text);
    case OPTION_SIZE:
        return set_size(o, field, text);
    case OPTION_CHOICE:
        return set_choice(o, field, text);
    case OPTION_TEXTS:
        return add_text(o, field, text);
    case OPTION_TEXT:
    case OPTION_FILE:
    case OPTION_TABLE:
    case OPTION_DIRECTORY:
        *(const char **)field = text;
        return APP_OK;
    }
    return APP_FAILURE;
}

static const option *find_long(const command *c, const char *name, size_t length)
{
    for (const option *o = options_next(c, NULL); o; o = options_next(c, o))
        if (o->name && strlen(o->name) == length && memcmp(o->name, name, length) == 0)
            return o;
    return NULL;
}

static const option *find_short(const command *c, char letter)
{
    for (const option *o = options_next(c, NULL); o; o = options_next(c, o))
        if (o->name && o->letter && o->letter == letter)
            return o;
    return NULL;
}

static int unknown_option(const command *c, const char *name, size_t length)
{
    const char *words[MAX_WORDS];
    char word[64], hint[96];
    int count = 0;
    for (const option *o = options_next(c, NULL); o; o = options_next(c, o))
        if (o->name && count < MAX_WORDS)
            words[count++] = o->name;
    snprintf(word, sizeof word, "%.*s", (int)(length < 60 ? length : 60), name);
    snprintf(hint, sizeof hint, "featblas %s --help lists them", c->name);
    return app_unknown("option --", word, count, words, hint);
}

/* "--name", "--name=text", "--name text". *at moves past a separate argument. */
static int parse_long(const command *c, void *values, int argc, char **argv, int *at)
{
    const char *name = argv[*at] + 2;
    size_t length = strcspn(name, "=");
    const option *o = find_long(c, name, length);
    if (!o)
        return unknown_option(c, name, length);
    if (o->kind == OPTION_SET)
        return name[length] ? app_fail(APP_USAGE, "--%s takes no argument", o->name) : set(o, values, NULL);
    if (name[length])
        return set(o, values, name + length + 1);
    if (*at + 1 >= argc)
        return app_fail(APP_USAGE, "--%s needs an argument: %s", o->name, o->argument);
    return set(o, values, argv[++*at]);
}

/* "-q", "-qv", "-ofile", "-o file". */
static int parse_short(const command *c, void *values, int argc, char **argv, int *at)
{
    for (const char *p = argv[*at] + 1; *p; p++) {
        const option *o = find_short(c, *p);
        if (!o)
            return app_fail(APP_USAGE, "unknown option '-%c' (featblas %s --help lists them)", *p, c->name);
        if (o->kind == OPTION_SET) {
            set(o, values, NULL);
            continue;
        }
        if (p[1])
            return set(o, values, p + 1);
        if (*at + 1 >= argc)
            return app_fail(APP_USAGE, "-%c needs an argument: %s", *p, o->argument);
        return set(o, values, argv[++*at]);
    }
    return APP_OK;
}

int options_parse(const command *c, void *values, int argc, char **argv, int *operands)
{
    int count = 0;
    bool literal = false;
    for (int at = 0; at < argc; at++) {
        char *word = argv[at];
        int code = APP_OK;
        if (literal || word[0] != '-' || !word[1])
            argv[count++] = word; /* count <= at: never overtakes the reading */
        else if (strcmp(word, "--") == 0)
            literal = true;
        else if (word[1] == '-')
            code = parse_long(c, values, argc, argv, &at);
        else
            code = parse_short(c, values, argc, argv, &at);
        if (code != APP_OK)
            return code;
    }
    *operands = count;
    if (((const common_values *)values)->help)
        return APP_OK;
    if (count < c->min_operands)
        return app_fail(APP_USAGE, "%s needs %s (featblas %s --help)", c->name, c->operands, c->name);
    if (count > c->max_operands)
        return app_fail(APP_USAGE, "unexpected operand '%s' (featblas %s --help)", argv[c->max_operands],
                        c->name);
    return APP_OK;
}

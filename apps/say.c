/* Messages. What is printed may hold bytes of files and names: those that a terminal would act on are shown
 * as \x1b and the like. */
#include "app.h"

#include "core/words.h"

#include <ctype.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what a terminal may see */

/* Bytes of the character at p: printable ASCII, or UTF-8 that is no control character (U+0080 to U+009F);
 * 0: neither. */
static int printable(const unsigned char *p)
{
    if (*p < 0x80)
        return *p >= 0x20 && *p != 0x7f;
    const int length = *p >= 0xf5 || *p < 0xc2 ? 0 : *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : 2;
    for (int c = 1; c < length; c++)
        if ((p[c] & 0xc0) != 0x80)
            return 0;
    return *p == 0xc2 && p[1] < 0xa0 ? 0 : length;
}

static void put_escaped(FILE *out, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        const int length = printable(p);
        if (length > 0)
            fwrite(p, 1, (size_t)length, out);
        else
            fprintf(out, "\\x%02x", *p);
        p += length > 0 ? length : 1;
    }
}

/* A line end of `format` itself is its last character. */
static void print(FILE *out, const char *format, va_list args)
{
    const size_t length = strlen(format);
    const bool line = length > 0 && format[length - 1] == '\n';
    char *text = NULL;
    const int size = vasprintf(&text, format, args);
    if (size >= 0) {
        text[size - line] = '\0';
        put_escaped(out, text);
        free(text);
    }
    if (line)
        fputc('\n', out);
}

void app_print(FILE *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print(out, format, args);
    va_end(args);
}

/* ---- errors */

int app_fail(int code, const char *format, ...)
{
    va_list args;
    app_progress_clear();
    fputs("featblas: ", stderr);
    va_start(args, format);
    print(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return code;
}

int app_unknown(const char *what, const char *word, int count, const char *const *words, const char *hint)
{
    const char *close = ftb_closest(word, count, words);
    size_t n = strlen(what);
    bool dashes = n > 2 && strcmp(what + n - 2, "--") == 0; /* "option --": the dashes belong to the word */
    const char *dash = dashes ? "--" : "";
    n = dashes ? n - 3 : n;
    if (close)
        return app_fail(APP_USAGE, "unknown %.*s '%s%s'; did you mean '%s%s'?%s%s%s", (int)n, what, dash,
                        word, dash, close, hint ? " (" : "", hint ? hint : "", hint ? ")" : "");
    return app_fail(APP_USAGE, "unknown %.*s '%s%s'%s%s%s", (int)n, what, dash, word, hint ? " (" : "",
                    hint ? hint : "", hint ? ")" : "");
}

/* Whether whoever read our standard output has gone away. */
static bool reader_gone(void)
{
    struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&p, 1, 0) == 1 && (p.revents & POLLERR);
}

/* ---- what the library says of its function's arguments, as one says it of the command's options */

/* "top_k" as "--top-k"; returns what is behind it. */
static const char *put_option(FILE *out, const char *name)
{
    fputs("--", out);
    for (; islower((unsigned char)*name) || *name == '_'; name++)
        fputc(*name == '_' ? '-' : *name, out);
    return name;
}

/* Whether a message begins with an argument's name that is an option's as well: "top_k: ", "options: p is ".
 */
static bool begins_with_argument(const char *p)
{
    static const char *const names[] = {"semiring", "weight", "epilogue", "where",  "min_weight",
                                        "top_k",    "send",   "combine",  "apply",  "active",
                                        "settled",  "until",  "priority", "options"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        if (strncmp(p, names[n], strlen(names[n])) == 0 && strncmp(p + strlen(names[n]), ": ", 2) == 0)
            return true;
    return false;
}

static const char *put_start(FILE *out, const char *p)
{
    static const char options[] = "options: ", *const rows[][2] = {
                                                   {"states: ", "--init: "},
                                                   {"key: operator: ", "--key: "},
                                                   {"key is NULL; ", "--key is missing: "},
                                               };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        if (strncmp(p, rows[r][0], strlen(rows[r][0])) == 0) {
            fputs(rows[r][1], out);
            return p + strlen(rows[r][0]);
        }
    if (!begins_with_argument(p))
        return p;
    return put_option(out, p + (strncmp(p, options, strlen(options)) == 0 ? strlen(options) : 0));
}

/* Prints what stands for the words at p, and returns what is behind them; p: they are none of these. */
static const char *put_words(FILE *out, const char *p)
{
    static const char *const rows[][2] = {{"`until`", "--until"},
                                          {"`rounds`", "--rounds"},
                                          {"lower rate", "lower --rate"},
                                          {"larger lambda", "larger --lambda"},
                                          {"which apply changes", "which --apply changes"},
                                          {"has no number of picks, expected -1", "takes --fanout all"},
                                          {", which FtB_Block_read reads", ""}};
    static const char field[] = "options.", sampler[] = "FTB_SAMPLE_";
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        if (strncmp(p, rows[r][0], strlen(rows[r][0])) == 0) {
            fputs(rows[r][1], out);
            return p + strlen(rows[r][0]);
        }
    if (strncmp(p, field, strlen(field)) == 0) {
        static const char *const fields[] = {"columns", "header",     "delimiter", "type",
                                             "format",  "duplicates", "adjacency", "plan"};
        const char *name = p + strlen(field);
        for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) /* else it is a file's name */
            if (strncmp(name, fields[f], strlen(fields[f])) == 0 &&
                !isalnum((unsigned char)name[strlen(fields[f])]))
                return put_option(out, name);
    }
    if (strncmp(p, sampler, strlen(sampler)) != 0)
        return p;
    fputs("--sampler ", out);
    for (p += strlen(sampler); isupper((unsigned char)*p); p++)
        fputc(tolower((unsigned char)*p), out);
    return p;
}

/* free()d by the caller; NULL: out of memory. Messages of files hold their words, which stay. */
static char *of_options(GrB_Info info, const char *message)
{
    char *text = NULL;
    size_t size = 0;
    const size_t name = strncmp(message, "FtB_", 4) == 0 ? strcspn(message, ":") : 0;
    const char *p = name > 0 && strncmp(message + name, ": ", 2) == 0 ? message + name + 2 : message;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    p = info == FTB_IO || info == FTB_FORMAT ? p : put_start(out, p);
    while (*p) {
        const bool inside = p > message && isalnum((unsigned char)p[-1]) && isalnum((unsigned char)*p);
        const char *behind = inside ? p : put_words(out, p);
        if (behind == p)
            fputc(*p++, out);
        p = behind > p ? behind : p;
    }
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

int app_library_error(GrB_Info info, int stage)
{
    if (info == GrB_SUCCESS)
        return APP_OK;
    if (app_signal()) {
        app_progress_clear();
        return APP_SIGNAL + app_signal();
    }
    if (info == FTB_IO && stage == APP_OUTPUT && reader_gone())
        return APP_OUTPUT;
    int code = stage == APP_OUTPUT ? APP_FAILURE : stage;
    if (info == FTB_LIMIT || info == GrB_OUT_OF_MEMORY)
        code = APP_MEMORY;
    else if (info == FTB_FORMAT)
        code = APP_INPUT;
    else if (info == FTB_IO)
        code = stage == APP_INPUT ? APP_INPUT : APP_OUTPUT;
    char *text = of_options(info, FtB_error());
    app_fail(code, "%s", text ? text : FtB_error());
    free(text);
    return code;
}

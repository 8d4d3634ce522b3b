/* The files that a command line names: which are one, which are there, and which
 * can be written. */
#include "file_names.h"

#include "app.h"
#include "format_words.h"
#include "io/io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_FILES 64 /* that a command line names */

typedef struct named_file {
    const option *o; /* NULL: an operand, or a standard stream */
    char name[64];   /* for messages */
    char *path;      /* "-": standard input or output */
    bool written;
} named_file;

typedef struct file_list {
    named_file file[MOST_FILES];
    int count;
} file_list;

/* false: out of memory. */
static bool add(file_list *list, const option *o, const char *name, const char *path, size_t length,
                bool written)
{
    named_file *f = &list->file[list->count];
    if (list->count == MOST_FILES)
        return true;
    *f = (named_file){.o = o, .written = written, .path = strndup(path, length)};
    snprintf(f->name, sizeof f->name, "%s", name);
    list->count += f->path != NULL;
    return f->path != NULL;
}

static bool add_operand(file_list *list, const command *c, const char *path)
{
    char name[64]; /* "INPUT" of "INPUT|-" */
    const size_t length = strlen(c->operands),
                 dash = length > 2 && strcmp(c->operands + length - 2, "|-") == 0;
    snprintf(name, sizeof name, "%.*s", (int)(length - 2 * dash), c->operands);
    return add(list, NULL, strcmp(path, "-") == 0 ? "standard input" : name, path, strlen(path), false);
}

static bool add_option(file_list *list, const option *o, const void *values)
{
    char name[64];
    const char *path, *colon;
    if (!o->name || (o->kind != OPTION_FILE && o->kind != OPTION_TABLE))
        return true;
    memcpy(&path, (const char *)values + o->offset, sizeof path);
    if (!path || !*path || (o->written && strcmp(path, "-") == 0))
        return true;
    snprintf(name, sizeof name, "--%.60s", o->name);
    colon = o->kind == OPTION_TABLE ? strrchr(path, ':') : NULL;
    return add(list, o, name, path, colon ? (size_t)(colon - path) : strlen(path), o->written);
}

/* A standard stream and a file. */
static bool same_as_stream(const named_file *stream, const named_file *other)
{
    struct stat a, b;
    return fstat(stream->written ? STDOUT_FILENO : STDIN_FILENO, &a) == 0 && S_ISREG(a.st_mode) &&
           (strcmp(other->path, "-") == 0 ? fstat(other->written ? STDOUT_FILENO : STDIN_FILENO, &b)
                                          : stat(other->path, &b)) == 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static bool collide(const named_file *a, const named_file *b)
{
    const named_file *written = a->written ? a : b, *other = a->written ? b : a;
    if (!written->written)
        return false;
    if (written->o && other->o && written->o->rewrites && strcmp(written->o->rewrites, other->o->name) == 0)
        return false;
    if (strcmp(written->path, "-") == 0) /* standard output */
        return !other->written && same_as_stream(written, other);
    if (strcmp(other->path, "-") == 0)
        return !other->written && same_as_stream(other, written);
    return ftb_same_file(a->path, b->path);
}

/* Compares all files of the command line, and one more unless it is NULL. */
static int check(const command *c, const void *values, int count, char *const *operands, const char *what,
                 const char *path)
{
    file_list list = {.count = 0};
    bool complete = true;
    int code = APP_OK;
    for (int n = 0; n < count && !c->operand_words; n++)
        complete = complete && add_operand(&list, c, operands[n]);
    for (const option *o = options_next(c, NULL); o; o = options_next(c, o))
        complete = complete && add_option(&list, o, values);
    complete = complete && add(&list, NULL, "standard output", "-", 1, true);
    complete = complete && (!path || add(&list, NULL, what, path, strlen(path), true));
    if (!complete)
        code = app_fail(APP_MEMORY, "out of memory");
    for (int a = 0; a < list.count && code == APP_OK; a++)
        for (int b = a + 1; b < list.count && code == APP_OK; b++)
            if (collide(&list.file[a], &list.file[b]))
                code =
                    app_fail(APP_USAGE, "%s and %s name the same file, %s", list.file[a].name,
                             list.file[b].name, list.file[strcmp(list.file[a].path, "-") == 0 ? b : a].path);
    for (int n = 0; n < list.count; n++)
        free(list.file[n].path);
    return code;
}

int files_check_beside(const command *c, const void *values, int count, char *const *operands,
                       const char *what, const char *path)
{
    return check(c, values, count, operands, what, path);
}

/* ---- what is read is there, what is written can be */

static bool ends_with(const char *path, const char *ending)
{
    const size_t length = strlen(path), end = strlen(ending);
    return length > end && strcasecmp(path + length - end, ending) == 0;
}

bool files_is_stdout(const char *path)
{
    return path &&
           (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0 || strcmp(path, "/dev/fd/1") == 0);
}

bool files_is_png(const char *path) { return ends_with(path, ".png"); }

/* The endings that the name of such a file may have; NULL: this one's is one of them. */
static const char *other_endings(option_form form, const char *path)
{
    const bool matrix = form == FORM_MATRIX;
    if (form == FORM_PICTURE)
        return ends_with(path, ".svg") || files_is_png(path) ? NULL : ".svg or .png";
    if (!matrix && form != FORM_BLOCK)
        return NULL;
    const ftb_format *f = ftb_format_of(format_of_output(path, FTB_TSV));
    if (f && ftb_format_can(f, matrix ? FTB_WRITE_MATRIX : FTB_WRITE_BLOCK))
        return NULL;
    return matrix ? formats_written_endings() : formats_block_endings();
}

/* The folder that `path` is in can be written to. */
static int check_folder(const char *path)
{
    char *real = ftb_resolve(path), *folder = ftb_folder_of(real ? real : path);
    int code = APP_OK;
    if (!folder)
        code = app_fail(APP_MEMORY, "out of memory");
    else if (access(folder, F_OK) != 0 && errno == ENOENT)
        code = app_fail(APP_OUTPUT, "%s: there is no folder %s", path, folder);
    else if (access(folder, W_OK | X_OK) != 0)
        code = app_fail(APP_OUTPUT, "%s: the folder %s cannot be written to", path, folder);
    free(real);
    free(folder);
    return code;
}

int files_check_folder(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return check_folder(path);
    if (!S_ISDIR(st.st_mode))
        return app_fail(APP_OUTPUT, "%s: is a file; expected a folder, or none", path);
    return access(path, W_OK | X_OK) == 0 ? APP_OK
                                          : app_fail(APP_OUTPUT, "%s: the folder cannot be written to", path);
}

int files_check_output(const char *name, const char *path, option_form form)
{
    struct stat st;
    if (!path || form == FORM_UNKNOWN || (form != FORM_FOLDER && strcmp(path, "-") == 0))
        return APP_OK;
    if (!*path)
        return app_fail(APP_USAGE, "--%s: the name is empty", name);
    const bool exists = stat(path, &st) == 0, folder = exists && S_ISDIR(st.st_mode);
    const char *endings = folder ? NULL : other_endings(form, path);
    if (endings)
        return app_fail(APP_USAGE, "--%s: %s: the name's ending is none of %s", name, path, endings);
    if (form == FORM_FOLDER)
        return files_check_folder(path);
    if (folder)
        return app_fail(APP_OUTPUT, "%s: is a folder; --%s names a file", path, name);
    if (exists && !S_ISREG(st.st_mode)) /* pipes, devices: no file beside them */
        return APP_OK;
    return check_folder(path);
}

int files_check_input(const char *name, const char *path)
{
    if (!path || strcmp(path, "-") == 0)
        return APP_OK;
    if (!*path)
        return app_fail(APP_USAGE, "--%s: the name is empty", name);
    if (access(path, R_OK) != 0)
        return app_fail(APP_INPUT, "%s: cannot read: %s", path, strerror(errno));
    return APP_OK;
}

/* What may be something else than a file is left to who reads it. */
static int check_input(const option *o, const char *path)
{
    if (o->kind != OPTION_TABLE)
        return strcmp(o->argument, "FILE") == 0 ? files_check_input(o->name, path) : APP_OK;
    const char *colon = strrchr(path, ':');
    if (!colon)
        return app_fail(APP_USAGE, "--%s: '%s' is not %s", o->name, path, o->argument);
    char *file = strndup(path, (size_t)(colon - path));
    const int code = file ? files_check_input(o->name, file) : app_fail(APP_MEMORY, "out of memory");
    free(file);
    return code;
}

static int check_file(const option *o, const void *values, const char *operand, bool written)
{
    const bool file = o->kind == OPTION_FILE || o->kind == OPTION_TABLE || o->form == FORM_FOLDER;
    const char *path = NULL;
    if (o->name && file && written == (o->written || o->form == FORM_FOLDER))
        memcpy(&path, (const char *)values + o->offset, sizeof path);
    if (!path)
        return APP_OK;
    if (written)
        return files_check_output(o->name, path, o->form_of ? o->form_of(values, operand) : o->form);
    return check_input(o, path);
}

int files_check(const command *c, const void *values, int count, char *const *operands)
{
    int code = check(c, values, count, operands, NULL, NULL);
    for (int written = 1; written >= 0; written--)
        for (const option *o = options_next(c, NULL); o && code == APP_OK; o = options_next(c, o))
            code = check_file(o, values, count > 0 ? operands[0] : NULL, written != 0);
    return code;
}

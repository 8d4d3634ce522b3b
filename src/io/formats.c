/* The table of formats: rows of FTB_FORMATS with their codecs, looked up by value, name, ending and content.
 */
#include "io/format.h"

#include <stdio.h>
#include <strings.h>

#define ROW(constant, name, endings, title) {constant, #name, endings, title, &ftb_codec_##name},
static const ftb_format formats[] = {FTB_FORMATS(ROW)};
#undef ROW
enum { COUNT = sizeof formats / sizeof *formats };

const ftb_format *ftb_format_next(const ftb_format *f)
{
    f = f ? f + 1 : formats;
    return f < formats + COUNT ? f : NULL;
}

const ftb_format *ftb_format_of(FtB_Format format)
{
    return (unsigned)format - 1u < COUNT ? &formats[format - 1] : NULL;
}

bool ftb_format_can(const ftb_format *f, ftb_format_use use)
{
    const ftb_codec *c = f->codec;
    switch (use) {
    case FTB_READ_MATRIX:
        return c->matrix != NULL;
    case FTB_WRITE_MATRIX:
        return c->sink != NULL;
    case FTB_READ_BLOCK:
        return c->block || c->matrix;
    case FTB_WRITE_BLOCK:
        return c->write_block != NULL;
    }
    return false;
}

bool ftb_format_has_ids(const ftb_format *f) { return f->codec->ids; }
int ftb_format_base(const ftb_format *f) { return f->codec->base; }
int ftb_format_rank(const ftb_format *f) { return f->codec->rank; }
bool ftb_format_text(const ftb_format *f) { return f->codec->text; }

/* ---- by ending */

const char *ftb_ending_next(const ftb_format *f, const char *ending, size_t *length)
{
    ending = ending ? ending + *length : f->endings;
    ending += strspn(ending, " ");
    *length = strcspn(ending, " ");
    return *length > 0 ? ending : NULL;
}

size_t ftb_format_ending(const ftb_format **found, const char *path)
{
    const size_t whole = strlen(path);
    size_t length = 0;
    for (const ftb_format *f = ftb_format_next(NULL); f; f = ftb_format_next(f))
        for (const char *e = ftb_ending_next(f, NULL, &length); e; e = ftb_ending_next(f, e, &length))
            if (whole > length && strncasecmp(path + whole - length, e, length) == 0) {
                *found = f;
                return length;
            }
    *found = NULL;
    return 0;
}

FtB_Format ftb_format_by_ending(const char *path)
{
    const ftb_format *f;
    if (strcmp(path, "-") == 0)
        return FTB_TSV;
    ftb_format_ending(&f, path);
    return f ? f->value : FTB_FORMAT_AUTO;
}

/* ---- lists */

static void add(char *text, const char *word, size_t length, bool last, const char *conjunction)
{
    const size_t at = strlen(text);
    snprintf(text + at, FTB_FORMAT_LIST - at, "%s%.*s",
             at == 0 ? ""
             : last  ? conjunction
                     : ", ",
             (int)length, word);
}

char *ftb_format_list(char text[FTB_FORMAT_LIST], ftb_format_use use, bool endings, const char *conjunction)
{
    const char *word = NULL; /* which is only added once another one, or none, has come behind it */
    size_t length = 0, next = 0;
    text[0] = '\0';
    for (const ftb_format *f = ftb_format_next(NULL); f; f = ftb_format_next(f)) {
        if (!ftb_format_can(f, use))
            continue;
        for (const char *e = endings ? ftb_ending_next(f, NULL, &next) : f->name; e;
             e = endings ? ftb_ending_next(f, e, &next) : NULL) {
            if (word)
                add(text, word, length, false, conjunction);
            word = e;
            length = endings ? next : strlen(e);
        }
    }
    if (word)
        add(text, word, length, true, conjunction);
    return text;
}

GrB_Info ftb_format_choose(const ftb_format **f, const char *path, FtB_Format wanted, ftb_format_use use,
                           const char *what)
{
    char list[FTB_FORMAT_LIST];
    *f = ftb_format_of(wanted ? wanted : ftb_format_by_ending(path));
    if (*f && ftb_format_can(*f, use))
        return GrB_SUCCESS;
    ftb_format_list(list, use, true, " or ");
    if (*f)
        return ftb_fail(GrB_INVALID_VALUE, "path '%s': %s are not written as %s; expected %s", path, what,
                        (*f)->name, list);
    if (wanted)
        return ftb_fail(GrB_INVALID_VALUE, "format is %d, which is no FtB_Format", (int)wanted);
    return ftb_fail(GrB_INVALID_VALUE, "path '%s' does not say its format: expected %s", path, list);
}

/* ---- by content */

static bool starts(const char *bytes, int64_t count, const char *magic)
{
    const size_t length = strlen(magic);
    return count >= (int64_t)length && memcmp(bytes, magic, length) == 0;
}

const ftb_format *ftb_format_guess(const ftb_input *in)
{
    int64_t count;
    const char *bytes = ftb_input_peek(in, &count);
    const int64_t mark = starts(bytes, count, FTB_UTF8_MARK) ? (int64_t)strlen(FTB_UTF8_MARK) : 0;
    for (const ftb_format *f = ftb_format_next(NULL); f; f = ftb_format_next(f)) {
        const int64_t skip = f->codec->text ? mark : 0;
        for (int m = 0; m < 2 && f->codec->magic[m]; m++)
            if (starts(bytes + skip, count - skip, f->codec->magic[m]))
                return f;
        if (f->codec->tells && f->codec->tells(in))
            return f;
    }
    return ftb_format_of(FTB_CSV); /* a text of lines, whose reader finds out the delimiter */
}

bool ftb_format_is_block(const ftb_format *f, const ftb_input *in)
{
    int64_t count;
    const char *bytes = ftb_input_peek(in, &count);
    return f->codec->block && (!f->codec->is_block || f->codec->is_block(bytes, count));
}

GrB_Info ftb_format_open(ftb_input **in, const ftb_format **f, FtB_Context ctx, const char *path,
                         FtB_Format wanted)
{
    int64_t count;
    GrB_Info info = ftb_input_open(in, ctx, path);
    if (info != GrB_SUCCESS)
        return info;
    ftb_input_peek(*in, &count);
    if (count == 0)
        return ftb_fail(FTB_FORMAT, "%s: is empty", ftb_input_name(*in));
    *f = wanted ? ftb_format_of(wanted) : ftb_format_guess(*in);
    if (!wanted && (*f)->value == FTB_CSV) {
        const ftb_format *named = ftb_format_of(ftb_format_by_ending(path));
        *f = named && !named->codec->text ? named : *f;
    }
    return GrB_SUCCESS;
}

GrB_Info ftb_format_check(const char *call, FtB_Format format, ftb_format_use use, FtB_Type type)
{
    const ftb_format *f = ftb_format_of(format);
    if (format != FTB_FORMAT_AUTO && !(f && ftb_format_can(f, use)))
        return ftb_fail(GrB_INVALID_VALUE, "%s: options.format is %d, which is no FtB_Format%s", call,
                        (int)format, f ? " of it" : "");
    if (type != 0 && !ftb_type_valid(type))
        return ftb_fail(GrB_INVALID_VALUE, "%s: options.type is %d, which is no FtB_Type", call, (int)type);
    return GrB_SUCCESS;
}

/* File formats in options; see format_words.h. */
#include "format_words.h"

#include "io/io.h"

#include <string.h>

enum { MOST = 64 };

static const char *const *words(const char *list[MOST], ftb_format_use use, int *count)
{
    *count = 0;
    list[(*count)++] = "auto";
    for (const ftb_format *f = ftb_format_next(NULL); f && *count < MOST; f = ftb_format_next(f))
        if (ftb_format_can(f, use))
            list[(*count)++] = f->name;
    return list;
}

const char *const *formats_read(int *count)
{
    static const char *list[MOST];
    return words(list, FTB_READ_MATRIX, count);
}

const char *const *formats_written(int *count)
{
    static const char *list[MOST];
    return words(list, FTB_WRITE_MATRIX, count);
}

FtB_Format format_of_word(const char *const *(*list)(int *count), int at)
{
    int count;
    const char *word = list(&count)[at];
    for (const ftb_format *f = ftb_format_next(NULL); f; f = ftb_format_next(f))
        if (strcmp(f->name, word) == 0)
            return f->value;
    return FTB_FORMAT_AUTO;
}

const char *formats_read_list(void)
{
    static char text[FTB_FORMAT_LIST];
    return ftb_format_list(text, FTB_READ_MATRIX, false, " or ");
}

const char *formats_written_list(void)
{
    static char text[FTB_FORMAT_LIST];
    return ftb_format_list(text, FTB_WRITE_MATRIX, false, " or ");
}

const char *formats_written_endings(void)
{
    static char text[FTB_FORMAT_LIST];
    return ftb_format_list(text, FTB_WRITE_MATRIX, true, " or ");
}

const char *formats_block_endings(void)
{
    static char text[FTB_FORMAT_LIST];
    return ftb_format_list(text, FTB_WRITE_BLOCK, true, " or ");
}

FtB_Format format_of_output(const char *path, FtB_Format plain)
{
    const char *slash = strrchr(path, '/');
    return strchr(slash ? slash : path, '.') ? ftb_format_by_ending(path) : plain;
}

/* Reading the input of a subcommand by the input options. */
#include "app.h"

#include <string.h>

int reader_delimiter(const char *word, char *delimiter)
{
    static const char *const words[] = {"tab", "comma", "semicolon", "space", "\\t"};
    static const char characters[] = "\t,; \t";
    *delimiter = 0;
    if (!word)
        return APP_OK;
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        if (strcmp(words[w], word) == 0)
            *delimiter = characters[w];
    if (!*delimiter && word[0] && !word[1])
        *delimiter = word[0];
    if (*delimiter)
        return APP_OK;
    return app_unknown("delimiter", word, 4, words, "or a single character");
}

int reader_read(const reader_values *v, const char *path, FtB_Matrix *R, FtB_Labels *rows, FtB_Labels *cols,
                FtB_Format *found)
{
    char delimiter;
    int code = reader_delimiter(v->delimiter, &delimiter);
    if (code != APP_OK)
        return code;
    GrB_Info info = FtB_Matrix_read(R, rows, cols, path,
                                    FTB_READ_OPTIONS(.format = (FtB_Format)v->format, .columns = v->columns,
                                                     .delimiter = delimiter, .header = v->header,
                                                     .duplicates = (FtB_Dup)v->duplicates, .found = found));
    return app_library_error(info, APP_INPUT);
}

/* File formats in options, from the library's table. */
#ifndef APP_FORMAT_WORDS_H
#define APP_FORMAT_WORDS_H

#include "featblas.h"

/* Words of options that choose a format of matrices: "auto", then names. */
const char *const *formats_read(int *count);
const char *const *formats_written(int *count);
/* The format of the word at a position of either; "auto" is FTB_FORMAT_AUTO. */
FtB_Format format_of_word(const char *const *(*words)(int *count), int at);
/* Lists for help and messages: "mtx, tsv or csv", or endings, ".mtx, .tsv, .txt or .csv". */
const char *formats_read_list(void);
const char *formats_written_list(void);
const char *formats_written_endings(void);
const char *formats_block_endings(void); /* of blocks that are written */
/* The format that an output's name says: `plain`, that of standard output, where it has no ending ("-",
 * "/dev/stdout", "out.d/pairs"), FTB_FORMAT_AUTO where its ending is unknown. */
FtB_Format format_of_output(const char *path, FtB_Format plain);

#endif

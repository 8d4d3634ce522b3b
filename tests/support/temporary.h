/* Files of a test, in a folder of its own that is removed when the test program ends. */
#ifndef TESTS_FILES_H
#define TESTS_FILES_H

#include <stddef.h>

const char *temp_path(const char *name); /* in the folder; valid until the eighth call from now */
void write_bytes(const char *name, const void *bytes, size_t count);
void write_string(const char *name, const char *text);
void write_gzip(const char *name, const void *bytes, size_t count);
char *read_bytes(const char *name, size_t *count); /* malloc()ed, a NUL behind; NULL: there is no such file */
int count_files(void);                             /* in the folder, hidden ones too */
/* Runs the rest with standard output going to a file in the folder, until restore_stdout. */
void redirect_stdout(const char *name);
void restore_stdout(void);

#endif

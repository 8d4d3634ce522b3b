/* The files that a command line names. */
#ifndef APP_FILES_H
#define APP_FILES_H

#include "command_options.h"

/* No file that is written is another one of the command line: the operands, the options' files, standard
 * input; nor is standard output one that is read. Compared by name, device and inode, also where the file is
 * not there yet. Returns an exit code after saying which two are one. */
int files_check(const command *c, const void *values, int count, char *const *operands);
/* The same for a file that is written beside one that an option names; `what` it is, for the message. */
int files_check_beside(const command *c, const void *values, int count, char *const *operands,
                       const char *what, const char *path);
/* The file that option --name writes, NULL or "-" if it does not: its name is not empty, and its folder can
 * be written to. Better known before the work than after it. Returns an exit code. */
int files_check_output(const char *name, const char *path);

#endif

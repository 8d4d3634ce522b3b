/* The files that a command line names. */
#ifndef APP_FILES_H
#define APP_FILES_H

#include "command_options.h"

/* No file that is written is another one of the command line: the operands, the options' files, standard
 * input; nor is standard output one that is read. Compared by name, device and inode, also where the file is
 * not there yet. What options read is there, and what they write can be (files_check_output). Returns an exit
 * code after saying what is wrong. */
int files_check(const command *c, const void *values, int count, char *const *operands);
/* The same for a file that is written beside one that an option names; `what` it is, for the message. */
int files_check_beside(const command *c, const void *values, int count, char *const *operands,
                       const char *what, const char *path);
/* The file or folder that option --name writes, NULL or "-" if it does not: its name is not empty and ends as
 * its form says, and its folder can be written to. Better known before the work than after it. Returns an
 * exit code. */
int files_check_output(const char *name, const char *path, option_form form);
/* The same of a folder that an operand names. */
int files_check_folder(const char *path);
/* The file that option --name reads, NULL or "-" for none, is there. Returns an exit code. */
int files_check_input(const char *name, const char *path);
bool files_is_stdout(const char *path); /* "-" and its other names; NULL: no */
bool files_is_png(const char *path);    /* else .svg, of a picture */

#endif

/* The command on files that are not what they should be. */
#ifndef TESTS_COMMAND_H
#define TESTS_COMMAND_H

#include <stddef.h>

/* Before the first run: what sanitizers find ends the command with a code of its own. */
void command_setup(void);
/* Runs FEATBLAS_COMMAND; arguments end with NULL. Its exit code, or minus the signal that ended it; standard
 * output goes to "wrote", what it says to "said", files of support/temporary.h. */
int command_run(const char *const *arguments);
/* Runs it. Fails, and leaves `file` as /tmp/featblas-hostile-NUMBER, unless the command ends by itself with a
 * code of its own, and with a message where that is not 0. Returns the code. */
int command_bears(const char *const *arguments, const char *file, int number);

#endif

/* Edge lists and adjacency lists, from a text to what is read of it. */
#ifndef TESTS_LISTS_H
#define TESTS_LISTS_H

#include "featblas.h"

/* Reads `text` from a file named "list": the matrix with its labels, as the CSV writer has it, is `csv`. */
void expect_read(const char *text, const FtB_Read_options *options, const char *csv, FtB_Type type);
/* It is refused with `code` and a message that contains `message`, and all outputs are NULL. */
void expect_read_error(GrB_Info code, const char *message, const char *text, const FtB_Read_options *options);

#endif

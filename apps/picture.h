/* Pictures for the subcommands: a matrix as the drawing module wants it, and the file that it makes. */
#ifndef APP_PICTURE_H
#define APP_PICTURE_H

#include "draw/draw.h"
#include "featblas.h"

/* Whether the name of a picture, NULL for none, ends with .svg or .png. Returns an exit code. */
int picture_check_name(const char *path);
/* Draws into a file, whole or not at all; its ending, .svg or .png, tells the format. An exit code, after
 * saying what is wrong. */
int picture_write(draw_request *request, const char *path);

/* A matrix's arrays as a picture's; what is copied for it is released by picture_release. Labels may be
 * NULL; where `base` >= 0, rows and columns of small matrices without labels are named by number from there.
 */
int picture_matrix(draw_matrix *m, FtB_Matrix A, FtB_Labels rows, FtB_Labels cols, int64_t base);
void picture_release(draw_matrix *m);

#endif

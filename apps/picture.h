/* Pictures for the subcommands: a matrix as the drawing module wants it, and the file that it makes. */
#ifndef APP_PICTURE_H
#define APP_PICTURE_H

#include "draw/draw.h"
#include "graph_names.h"

/* Draws into a file, whole or not at all; a PNG where its name ends so, else an SVG. An exit code, after
 * saying what is wrong. */
int picture_write(draw_request *request, const char *path);

/* A matrix's arrays as a picture's; what is copied for it is released by picture_release. Rows and
 * columns of small matrices have names; without labels, and where the base is not -1, numbers.
 */
int picture_matrix(draw_matrix *m, FtB_Matrix A, const graph_names *names);
void picture_release(draw_matrix *m);

#endif

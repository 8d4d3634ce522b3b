/* The functions that the public headers declare. */
#ifndef TESTS_HEADERS_H
#define TESTS_HEADERS_H

/* Calls f for each, with the header's name; returns how many there are. FTB_LAYERS' FtB_gcn and its like are
 * not among them. */
int each_public_call(void (*f)(const char *file, const char *name));

#endif

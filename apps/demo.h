/* A part of `featblas demo` in a file of its own. */
#ifndef APP_DEMO_H
#define APP_DEMO_H

/* Trains a graph convolutional network on Zachary's karate club from four labels, says how it learned, draws
 * what it learned into an .svg or .png file. An exit code. */
int demo_learn(const char *picture);

#endif

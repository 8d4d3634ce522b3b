/* Names of weights in options, from the library's table. */
#ifndef APP_WEIGHT_WORDS_H
#define APP_WEIGHT_WORDS_H

const char *const *weight_words(int *count);
/* That there is a weight of this name. Returns an exit code. */
int weight_check(const char *name);

#endif
